"""What goes wrong. Every exception of the library is an `ItergnnError`; its message is the library's own."""


class ItergnnError(Exception):
    """The base of all exceptions of this package."""


class InputError(ItergnnError, ValueError):
    """Something is wrong with what was given: a graph, a file, a setting. The message says what and where."""


class RunError(ItergnnError, RuntimeError):
    """A run failed for another reason: it diverged, a disk is full, or the library itself is at fault."""
