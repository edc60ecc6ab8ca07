"""What every call promises: panics and interrupts become exceptions, other threads run meanwhile."""

import pathlib
import re
import signal
import threading
import time

import pytest
from conftest import in_time

import itergnn

MODELS = pathlib.Path(__file__).parents[3] / "models"


@pytest.mark.parametrize("long", [True, False])
def test_a_panic_is_an_exception(long, capfd):
    with pytest.raises(RuntimeError, match="please report it: as the test asked") as caught:
        itergnn._core._panic_for_tests(long)
    assert isinstance(caught.value, itergnn.RunError)


def exposed(text):
    """Every function of a source file that Python can call, with the beginning of its body."""
    functions = r"#\[pyfunction\]\n(?:#\[.*\n)*pub\(crate\) fn (\w+)"
    for start in re.finditer(functions, text):
        yield start[1], text[start.end() :].split("{\n", 1)[1]
    for block in re.finditer(r"#\[pymethods\]\nimpl \w+ \{\n(.*?)\n\}", text, re.S):
        for start in re.finditer(r"^    fn (\w+)", block[1], re.M):
            yield start[1], block[1][start.end() :].split("{\n", 1)[1]


def test_every_call_is_guarded():
    """A panic becomes an exception in `guarded` alone, so every body must stand in it, from its first word on."""
    sources = pathlib.Path(__file__).parents[1] / "src"
    bodies = [(file.stem, *call) for file in sorted(sources.glob("*.rs")) for call in exposed(file.read_text())]
    unguarded = [f"{file}::{name}" for file, name, body in bodies if not body.lstrip().startswith("guarded(")]
    assert not unguarded
    core = itergnn._core
    classes = [value for value in vars(core).values() if isinstance(value, type)]
    functions = [value for value in vars(core).values() if callable(value) and not isinstance(value, type)]
    methods = [name for kind in classes for name in vars(kind) if not name.startswith("__")]
    # None was overlooked by the reader above; it sees the special methods, too.
    assert len(bodies) >= len(functions) + len(methods) and len(functions) >= 10 and len(methods) >= 35


def test_other_threads_run_during_a_long_call():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    itergnn.sample("shortest-path", 2000, size=100)
    ended = time.monotonic()
    done.set()
    thread.join()
    # With the lock held the other thread would stand still for the whole call.
    assert sum(began < at < ended for at in ticks) >= 3


# Each would take minutes. A lattice of points is the hardest case of the exact solver: many tours of the same length.
LONG = {
    "tour": "itergnn.exact.tour(np.stack(np.meshgrid(np.arange(15.0), np.arange(15.0)), -1).reshape(-1, 2))",
    "sample": "itergnn.sample('shortest-path', 100_000_000, size=(4, 34))",
    "predict": "model.predict(graph)",
    "predict-many": "model.predict([graph] * 1000, max_iterations=1000)",
    "trace": "model.trace(graph)",
    "evaluate": "itergnn.evaluate(model, size=2000, count=100_000)",
    "generate": "itergnn.generators.lobster(1_000, count=100_000_000)",
}


@pytest.mark.parametrize("call", LONG.values(), ids=LONG.keys())
def test_ctrl_c_ends_a_long_call_within_a_second(call, started):
    program = f"""
        import numpy as np, itergnn
        model = itergnn.load({str(MODELS / "lobster-iter-homo-path.safetensors")!r})
        graph = itergnn.generators.lobster(100_000)
        # From one end of the line to the other: as many steps as there are.
        marks = np.tile([0.0, 0.0, 1.0], (graph.num_nodes, 1))
        marks[0], marks[99_999] = [1, 0, 0], [0, 1, 0]
        graph = graph.with_attributes(x=marks, edge_attr=np.ones((graph.num_edges, 1)))
        print("begun", flush=True)
        try:
            {call}
            print("done", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """

    def interrupt():
        process = started(program)
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        took = time.monotonic() - sent
        # What was going on does not keep the interpreter alive.
        assert process.wait(10) == 0
        return took

    assert in_time(interrupt)
