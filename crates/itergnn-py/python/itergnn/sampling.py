"""Labelled samples of the paper's tasks."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Sample

__all__ = ["sample"]


def task_settings(
    task: str,
    *,
    generator: str | None = None,
    size: int | str | tuple[int, int] | None = None,
    weights: str | tuple[float, float] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """A task's settings as a configuration file has them. A pair is a range without its end."""
    settings: dict[str, Any] = {"task": task, **others}
    if generator is not None:
        settings["generator"] = generator
    if size is not None:
        single = task == "pacman" and isinstance(size, int)
        settings["size"] = size if single else _range(size)
    if weights is not None:
        settings["weights"] = _range(weights)
    return settings


def _range(value: Any) -> str:
    return "..".join(str(end) for end in value) if isinstance(value, tuple) else str(value)


def sample(
    task: str,
    count: int = 10,
    *,
    generator: str | None = None,
    size: int | str | tuple[int, int] | None = None,
    weights: str | tuple[float, float] | None = None,
    seed: int = 0,
    split: str = "train",
    **settings: Any,
) -> list[Sample]:
    """Labelled samples, as `itergnn sample` writes them: drawn in parallel, the same on every machine.

    `task` is shortest-path, component-count, tsp, newton-balls, pacman, navigation, graph-classification or
    regular-graphs; `size` a number or a range such as `(4, 34)`, which ends before 34; further settings are those of
    the task's table in a configuration file (`dots=10, walls=8` of pacman).

    >>> import itergnn
    >>> first, = itergnn.sample("shortest-path", 1, generator="lobster", size=20, weights=(0.5, 1.5))
    >>> first.graph.x.shape[1], first.target.shape
    (3, (1, 1))
    >>> sorted(first.fields)
    ['scale', 'source', 'target_node']
    """
    settings = task_settings(task, generator=generator, size=size, weights=weights, **settings)
    return _core.sample(settings, count, seed, split)
