"""The networks in PyTorch against the engine's. Needs PyTorch; says so where it is not installed."""

import numpy as np
import pytest

import itergnn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: to_torch is not tested here")

# Sums of 64 products in 32 bits, in another order, over some tens of steps.
TOLERANCE = 2e-4

NETWORKS = [
    ("shortest-path", {"name": "iter-homo-path"}),
    ("shortest-path", {"name": "iter-homo-path-settle"}),
    ("shortest-path", {"name": "iter-path", "aggregation": "attention"}),
    ("shortest-path", {"name": "iter-homo-path", "aggregation": "attention", "layer": "path"}),
    ("shortest-path", {"name": "iter-homo-path", "layer": "mpnn-max"}),
    ("shortest-path", {"name": "path"}),
    ("shortest-path", {"name": "homo-path"}),
    ("shortest-path", {"name": "shared-homo-path"}),
    ("component-count", {"name": "iter-homo-path"}),
    ("newton-balls", {"name": "iter-homo-path"}),
]


@pytest.mark.parametrize(("task", "model"), NETWORKS, ids=lambda value: value if isinstance(value, str) else "-".join(value.values()))
def test_pytorch_and_the_engine_agree(task, model):
    run = itergnn.train(task=task, size=(4, 9), model={**model, "hidden_width": 8}, epochs=1, samples=32, validation=4,
                        progress=False)
    network, module = run.model, run.model.to_torch()
    samples = itergnn.sample(task, 6, size=(4, 12), split="test")
    expected = network.predict(samples, max_iterations=40)
    for sample, prediction in zip(samples, expected, strict=True):
        graph = sample.graph
        x, index, attr = (torch.from_numpy(part) for part in (graph.x, graph.edge_index, graph.edge_attr))
        with torch.no_grad():
            found = module(x, index, attr, max_iterations=40).numpy()
        np.testing.assert_allclose(found, prediction.values, rtol=TOLERANCE, atol=TOLERANCE)
        assert abs(int(module.iterations[0]) - prediction.iterations) <= 1


def test_a_batch_is_its_graphs_and_gradients_flow():
    run = itergnn.train(task="shortest-path", size=(4, 9), model={"name": "iter-homo-path", "hidden_width": 8}, epochs=1,
                        samples=32, validation=4, progress=False)
    module = run.model.to_torch()
    graphs = [sample.graph for sample in itergnn.sample("shortest-path", 3, size=6)]
    offsets = np.cumsum([0] + [graph.num_nodes for graph in graphs])
    x = torch.from_numpy(np.concatenate([graph.x for graph in graphs]))
    index = torch.from_numpy(np.concatenate([graph.edge_index + at for graph, at in zip(graphs, offsets)], axis=1))
    attr = torch.from_numpy(np.concatenate([graph.edge_attr for graph in graphs]))
    batch = torch.repeat_interleave(torch.arange(3), torch.tensor([graph.num_nodes for graph in graphs]))
    together = module(x, index, attr, batch, max_iterations=20)
    expected = [float(answer) for answer in run.model.predict(graphs, max_iterations=20)]
    np.testing.assert_allclose(together.detach()[:, 0], expected, rtol=TOLERANCE, atol=TOLERANCE)
    together.sum().backward()
    assert all(weights.grad is not None and torch.isfinite(weights.grad).all() for weights in module.parameters())


def test_networks_that_are_not_written_for_pytorch_say_so():
    run = itergnn.train(task="shortest-path", size=(4, 9), model="max-plus", epochs=1, samples=32, validation=4, progress=False)
    with pytest.raises(ValueError, match="max-plus networks are not written for PyTorch"):
        run.model.to_torch()
