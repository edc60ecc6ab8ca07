"""Trained models: predictions, paths, traces, files."""

import pickle

import numpy as np
import pytest

import itergnn

networkx = pytest.importorskip("networkx")


def test_predictions_for_one_graph_or_many(run):
    samples = itergnn.sample("shortest-path", 5, size=6)
    model = run.model
    many = model.predict(samples, max_iterations=40)
    one = model.predict(samples[2], max_iterations=40)
    assert isinstance(one, itergnn.Prediction) and one.values.shape == (1, 1)
    np.testing.assert_allclose(many[2].values, one.values, rtol=1e-5)
    assert (many[2].iterations, many[2].capped) == (one.iterations, one.capped)
    assert float(one) == one.values[0, 0]
    assert model.predict([]) == []


def test_arrays_and_graphs_are_the_same_to_a_model(run):
    graph = itergnn.sample("shortest-path", 1, size=6)[0].graph
    arrays = (graph.edge_index, graph.edge_attr, graph.x)
    assert float(run.model.predict(arrays, max_iterations=9)) == float(run.model.predict(graph, max_iterations=9))


def test_a_graph_that_does_not_fit_is_a_value_error(run):
    with pytest.raises(ValueError, match="node attributes of width 0, the model expects 3"):
        run.model.predict(itergnn.generators.line(4))


def test_traces_are_arrays(run):
    graph = itergnn.sample("shortest-path", 1, size=6)[0].graph
    prediction = run.model.predict(graph, max_iterations=12)
    (block,) = run.model.trace(graph, max_iterations=12)
    steps = prediction.iterations
    assert block.steps.tolist() == list(range(1, steps + 1))
    assert block.confidence.shape == block.remaining.shape == block.change.shape == (steps,)
    assert block.states.shape == (steps, graph.num_nodes, 8)
    assert (np.diff(block.remaining) <= 0).all() and ((0 <= block.confidence) & (block.confidence <= 1)).all()
    # The state only grows: the layer keeps the larger of old and new.
    assert (np.diff(block.states, axis=0) >= 0).all()
    largest = np.abs(np.diff(block.states, axis=0)).max(axis=(1, 2))
    np.testing.assert_allclose(block.change[1:], largest, rtol=1e-4, atol=1e-6)
    assert run.model.trace(graph, channels=[3], max_iterations=12)[0].states.shape[2] == 1


def test_files_and_pickles_keep_the_model(run, tmp_path):
    sample = itergnn.sample("shortest-path", 1, size=6)[0]
    expected = float(run.model.predict(sample, max_iterations=20))
    run.model.save(tmp_path / "model.safetensors")
    for again in (itergnn.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(run.model))):
        assert float(again.predict(sample, max_iterations=20)) == expected
        assert again.name == "iter-homo-path" and again.config == run.model.config
    assert repr(again) == "Model('iter-homo-path', task='shortest-path')"


def test_a_file_that_is_no_model_is_a_value_error(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"no model")
    with pytest.raises(ValueError, match="model.safetensors"):
        itergnn.load(tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="nothing"):
        itergnn.load(tmp_path / "nothing")


def test_evaluation_is_that_of_the_command_line(run):
    report = itergnn.evaluate(run.model, size=8, count=10, max_iterations=30)
    assert report["task"] == "shortest-path" and report["count"] == 10 and report["relative_loss"] > 0
    assert report["success_rate"] is None
    assert itergnn.evaluate(run.directory, size=8, count=10, max_iterations=30)["relative_loss"] == report["relative_loss"]
    with pytest.raises(ValueError, match="dots"):
        itergnn.evaluate(run.model, dots=3)


def test_paths_by_predicted_lengths():
    # The task-aligned network is exact after a minute part; the walk must then find shortest paths far beyond its sizes.
    run = itergnn.train(task="shortest-path", size=(4, 20), model="max-plus", epochs=2, samples=256, validation=16,
                        progress=False)
    town = networkx.Graph()
    lobster = itergnn.generators.lobster(60, seed=4)
    town.add_edges_from((f"n{a}", f"n{b}") for a, b in lobster.edge_index.T.tolist())
    found, exact = run.model.solve(town, "n0", "n40"), itergnn.exact.shortest_path(town, "n0", "n40")
    assert found.path is not None and found.path[0] == "n0" and found.path[-1] == "n40"
    assert all(town.has_edge(a, b) for a, b in zip(found.path, found.path[1:]))
    assert found.length == exact.length and found.predictions > 0
    with pytest.raises(ValueError, match="'n999' does not exist"):
        run.model.solve(town, "n0", "n999")
