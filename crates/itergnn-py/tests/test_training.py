"""Training, its numbers, its interruptions."""

import json
import signal
import time

import numpy as np
import pytest
from conftest import SMALL, in_time

import itergnn
from itergnn.training import run_config

pandas = pytest.importorskip("pandas")


def small(**changes):
    settings = {"task": "shortest-path", "size": (4, 8), "model": SMALL, "epochs": 2, "samples": 32, "validation": 8}
    return itergnn.train(**{**settings, "progress": False, **changes})


def test_a_run_has_a_model_and_numbers(run):
    assert run.seeds[0].status == "finished" and run.seeds[0].steps == 4
    assert list(run.metrics.epoch) == [1, 2] and (run.metrics.train_loss > 0).all()
    assert "validation_relative_loss" in run.metrics
    assert (run.directory / "config.toml").exists()
    assert run.model.task == "shortest-path" and run.model.name == "iter-homo-path"


def test_the_same_settings_give_the_same_weights(run):
    first, again = small(seed=3), small(seed=3)
    assert first.model.parameters().keys() == again.model.parameters().keys()
    for name, weights in first.model.parameters().items():
        assert (weights == again.model.parameters()[name]).all(), name


def test_several_seeds(tmp_path):
    several = small(seeds=2, out=tmp_path / "runs")
    assert [seed.seed for seed in several.seeds] == [0, 1]
    assert set(several.models()) == {0, 1} and set(several.metrics.seed) == {0, 1}
    assert several.best.best_value == min(seed.best_value for seed in several.seeds)
    # One after the other gives the same numbers.
    alone = small(seed=1)
    assert alone.best.best_value == several.seeds[1].best_value


def test_a_callback_sees_every_record_and_can_end_the_run():
    seen = []
    run = small(callback=seen.append, log_every=1)
    assert [record["kind"] for record in seen].count("step") == 2 and run.records == seen
    assert len(run.steps) == 2

    def refuse(record):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        small(callback=refuse)


def test_stopping_and_resuming_gives_the_same_weights(tmp_path):
    settings = {"epochs": 3, "log_every": 1, "seed": 5}
    whole = small(**settings)

    class Enough(Exception):
        pass

    def stop(record):
        if record["step"] == 2:
            raise Enough

    with pytest.raises(Enough):
        small(**settings, out=tmp_path / "run", callback=stop)
    resumed = small(**settings, out=tmp_path / "run", resume=True)
    for name, weights in whole.model.parameters().items():
        assert (weights == resumed.model.parameters()[name]).all(), name


def test_ctrl_c_saves_the_state(tmp_path, started):
    runs = []

    def interrupt():
        runs.append(tmp_path / f"run-{len(runs)}")
        process = started(f"""
            import itergnn
            def told(record):
                print(record["step"], flush=True)
            try:
                itergnn.train(task="shortest-path", size=(4, 34), epochs=500, samples=320, validation=8, out={str(runs[-1])!r},
                              model={SMALL!r}, callback=told, log_every=1, progress=False)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        """)
        for _ in range(4):
            assert process.stdout.readline().strip().isdigit()
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert any(line == "interrupted\n" for line in iter(process.stdout.readline, ""))
        took = time.monotonic() - sent
        assert process.wait(10) == 0
        assert any(runs[-1].rglob("*checkpoint*"))
        return took

    assert in_time(interrupt)
    first = []

    class Enough(Exception):
        pass

    def look(record):
        first.append(record["step"])
        raise Enough

    config = run_config({"task": "shortest-path", "size": "4..34"}, SMALL, epochs=500, samples=320, validation=8, log_every=1)
    with pytest.raises(Enough):
        itergnn.train(config=config, out=runs[-1], resume=True, progress=False, callback=look)
    # It goes on behind what was told before the interrupt.
    assert first[0] >= 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "iter-homo-paths"}, "iter-homo-path"),
        ({"epochs": 0}, "epochs: must be at least 1"),
        ({"task": "shortest-paths"}, "shortest-path"),
        ({"optimizer": {}}, "optimizer"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"task": None}, "give data, a task or a config"),
    ],
)
def test_bad_settings_are_value_errors(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)


def test_a_card_is_used_or_the_librarys_line_says_why_not(tmp_path):
    try:
        run = small(device="cuda", seeds=2, out=tmp_path / "run")
    except itergnn.RunError as error:
        # No card, or no driver.
        assert "\n" not in str(error) and "CUDA" in str(error)
        with pytest.raises(itergnn.RunError, match="CUDA"):
            itergnn.evaluate(small().model, size=6, count=4, device="cuda", max_iterations=30)
        with pytest.raises(itergnn.RunError, match="CUDA"):
            itergnn.train(labelled_lines(4), device="cuda", progress=False)
    else:
        assert [seed.status for seed in run.seeds] == ["finished"] * 2
        settings = {"size": 6, "count": 20, "max_iterations": 30}
        there, here = (itergnn.evaluate(run.model, device=device, **settings)["relative_loss"] for device in ("cuda", "cpu"))
        assert there == pytest.approx(here, rel=1e-3)
        own = itergnn.train(labelled_lines(4), device="cuda", epochs=1, progress=False)
        assert [seed.status for seed in own.seeds] == ["finished"]
    with pytest.raises(ValueError):
        small(device="cuda", model="max-plus")


def test_a_directory_that_holds_a_run_is_not_overwritten(run):
    with pytest.raises(ValueError, match="small"):
        small(out=run.directory)


def test_configurations_have_the_names_of_the_files():
    config = run_config({"task": "tsp", "size": "5"}, {"name": "path"}, epochs=3, samples=7, data={"validation": 2})
    assert json.dumps(config)
    assert config["data"] == {"validation": 2, "train": 7}


def labelled_lines(count: int) -> list:
    """Lines of two and more nodes, and how many edges they have."""
    lines = [itergnn.generators.line(nodes) for nodes in range(2, count + 2)]
    return [(line.with_attributes(x=np.ones((len(line), 1))), [len(line) - 1.0]) for line in lines]


def test_own_graphs():
    run = itergnn.train(labelled_lines(24), model={"name": "iter-path", "hidden_width": 8}, epochs=3, progress=False)
    assert run.seeds[0].status == "finished" and len(run.metrics) == 3
    assert run.model.predict(labelled_lines(3)[2][0], max_iterations=30).values.shape == (1, 1)


@pytest.mark.parametrize("level", ["node", "edge", "pointer"])
def test_own_graphs_at_every_level(level):
    lines = [line for line, _ in labelled_lines(16)]
    # A node should point at its first incoming edge; nodes and edges have their place as a target.
    first = lambda line: [int(np.flatnonzero(line.edge_index[1] == node)[0]) for node in range(len(line))]
    targets = {"node": lambda line: range(len(line)), "edge": lambda line: range(line.num_edges), "pointer": first}
    data = [(line, list(targets[level](line))) for line in lines]
    run = itergnn.train(data, level=level, model={"name": "iter-path", "hidden_width": 4}, epochs=1, progress=False)
    line = lines[5]
    values = run.model.predict(line, max_iterations=20).values
    assert values.shape == (line.num_edges if level == "edge" else len(line), 1)
    if level == "pointer":
        for node, chosen in enumerate(values[:, 0].astype(int)):
            assert chosen == -1 or line.edge_index[1, chosen] == node


def test_own_data_that_makes_no_sense_is_a_value_error():
    with pytest.raises(ValueError, match="item 0 is no"):
        itergnn.train([itergnn.generators.line(3)], progress=False)
    with pytest.raises(ValueError, match="sample 1"):
        itergnn.train(labelled_lines(4)[:1] + [(labelled_lines(1)[0][0], [1.0, 2.0])] * 3, validation_data=labelled_lines(2),
                      progress=False, model="iter-path")
    with pytest.raises(ValueError, match="one of the three"):
        small(data=labelled_lines(4))
