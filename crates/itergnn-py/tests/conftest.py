"""A small trained model that several tests use."""

import subprocess
import sys
import textwrap
import threading

import pytest

import itergnn

SMALL = {"name": "iter-homo-path", "hidden_width": 8}


def in_time(attempt, limit=1.0):
    """Whether one of three attempts, each of which says how long it took, keeps the second that is promised for Ctrl-C:
    a busy machine holds up one or two, a fault all."""
    took = []
    while len(took) < 3:
        took.append(attempt())
        if took[-1] < limit:
            return True
    pytest.fail(f"not within {limit} s: {took}")


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> itergnn.Run:
    """A network of the paper that has seen a few graphs."""
    return itergnn.train(
        task="shortest-path",
        size=(4, 10),
        model=SMALL,
        epochs=2,
        samples=64,
        validation=16,
        out=tmp_path_factory.mktemp("run") / "small",
        progress=False,
    )


@pytest.fixture
def started():
    """Starts a program that hears Ctrl-C, also where the tests themselves run in the background, which do not; one that
    hangs is ended."""
    timers = []

    def start(program):
        hears = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        command = [sys.executable, "-c", hears + textwrap.dedent(program)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        timers.append(threading.Timer(120, process.kill))
        timers[-1].start()
        return process

    yield start
    for timer in timers:
        timer.cancel()
