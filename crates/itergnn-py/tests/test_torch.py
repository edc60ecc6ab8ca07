"""The networks in PyTorch against the engine's. Needs PyTorch; says so where it is not installed."""

import pathlib

import numpy as np
import pytest

import itergnn

torch = pytest.importorskip("torch", reason="PyTorch is not installed: to_torch is not tested here")

MODELS = pathlib.Path(__file__).parents[3] / "models"

# Sums of 64 products in 32 bits, in another order, over some tens of steps.
TOLERANCE = 2e-4

NETWORKS = [
    ("shortest-path", {"name": "iter-homo-path"}),
    ("shortest-path", {"name": "iter-homo-path-settle"}),
    ("shortest-path", {"name": "iter-path", "aggregation": "attention"}),
    ("shortest-path", {"name": "iter-path", "aggregation": "sparsemax"}),
    ("shortest-path", {"name": "iter-homo-path", "aggregation": "sparsemax", "layer": "path"}),
    ("shortest-path", {"name": "iter-homo-path", "aggregation": "attention", "layer": "path"}),
    ("shortest-path", {"name": "iter-homo-path", "layer": "mpnn-max"}),
    ("shortest-path", {"name": "path"}),
    ("shortest-path", {"name": "homo-path"}),
    ("shortest-path", {"name": "shared-homo-path"}),
    ("shortest-path", {"name": "act-homo-path"}),
    ("shortest-path", {"name": "act-graves-homo-path"}),
    ("shortest-path", {"name": "iter-path", "controller": {"kind": "act", "scope": "node"}}),
    ("shortest-path", {"name": "gcn", "controller": {"kind": "stack", "layers": 4}}),
    ("shortest-path", {"name": "gat", "controller": {"kind": "stack", "layers": 4}}),
    ("shortest-path", {"name": "iter-homo-gcn"}),
    ("shortest-path", {"name": "iter-homo-gat"}),
    ("shortest-path", {"name": "iter-homo-gat-settle"}),
    ("shortest-path", {"name": "path", "layer": "gin", "controller": {"kind": "stack", "layers": 3}}),
    ("shortest-path", {"name": "path", "layer": "gn-block", "aggregation": "attention",
                       "controller": {"kind": "stack", "layers": 3}}),
    ("shortest-path", {"name": "pointnet"}),
    ("shortest-path", {"name": "iter-path", "readout": "attention"}),
    ("shortest-path", {"name": "iter-homo-path", "readout": "attention"}),
    ("shortest-path", {"name": "iter-homo-path", "controller": {"kind": "iter", "scale_free": True, "pooling": "mean"}}),
    ("component-count", {"name": "iter-homo-path"}),
    ("newton-balls", {"name": "iter-homo-path"}),
    ("tsp", {"name": "iter-homo-path"}),
]


def named(value) -> str:
    return value if isinstance(value, str) else "-".join(str(part) for part in value.values())


def small(task: str, model: dict) -> itergnn.Run:
    return itergnn.train(task=task, size=(4, 9), model={"hidden_width": 8, **model}, epochs=1, samples=32, validation=4,
                         progress=False)


def tensors(graph: itergnn.Graph) -> tuple:
    return tuple(torch.from_numpy(part) for part in (graph.x, graph.edge_index, graph.edge_attr))


def union(graphs: list) -> tuple:
    """Graphs as PyTorch Geometric batches them."""
    counts = [graph.num_nodes for graph in graphs]
    offsets = np.cumsum([0] + counts)
    x, attr = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*((graph.x, graph.edge_attr) for graph in graphs)))
    index = torch.from_numpy(np.concatenate([graph.edge_index + at for graph, at in zip(graphs, offsets)], axis=1))
    return x, index, attr, torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor(counts))


def agree(found, expected) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE * scale)


@pytest.mark.parametrize(("task", "model"), NETWORKS, ids=named)
def test_pytorch_and_the_engine_agree(task, model):
    network = small(task, model).model
    module = network.to_torch()
    # As many numbers as the file has, in the same shapes up to the order of a matrix.
    ours = sorted(tuple(sorted(value.shape)) for value in network.parameters().values())
    assert sorted(tuple(sorted(value.shape)) for value in module.state_dict().values()) == ours
    samples = itergnn.sample(task, 6, size=(4, 12), split="test")
    expected = network.predict(samples, max_iterations=40)
    for sample, prediction in zip(samples, expected, strict=True):
        with torch.no_grad():
            found = module(*tensors(sample.graph), max_iterations=40).numpy()
        agree(found, prediction.values)
        assert abs(int(module.iterations[0]) - prediction.iterations) <= 1


def random_graph(seed: int, nodes: int, width: int, loops: bool = True) -> itergnn.Graph:
    """A directed graph with loops, parallel edges and nodes that hear nobody."""
    random = np.random.default_rng(seed)
    index = random.integers(0, nodes, (2, 2 * nodes))
    index = index if loops else index[:, index[0] != index[1]]
    attributes = random.uniform(0.5, 1.5, (index.shape[1], 1))
    return itergnn.graph((index, attributes, random.normal(size=(nodes, width))))


@pytest.mark.parametrize("level", ["graph", "node", "edge", "pointer"])
@pytest.mark.parametrize("name", ["iter-path", "gcn", "gat"])
def test_every_level_and_odd_graphs(level, name):
    graphs = [random_graph(seed, 5 + seed, 2) for seed in range(12)]
    rows = {"graph": lambda _: 1, "node": len, "edge": lambda graph: graph.num_edges, "pointer": len}[level]
    targets = [[-1.0 if level == "pointer" else 1.0] * rows(graph) for graph in graphs]
    model = {"name": name, "hidden_width": 4}
    if name != "iter-path":
        model["controller"] = {"kind": "stack", "layers": 2}
    run = itergnn.train(list(zip(graphs, targets, strict=True)), level=level, model=model, epochs=1, progress=False)
    module = run.model.to_torch()
    for graph, answer in zip(graphs, run.model.predict(graphs, max_iterations=20), strict=True):
        with torch.no_grad():
            found = module(*tensors(graph), max_iterations=20).numpy()
        if level != "pointer":
            agree(found, answer.values)
            continue
        edges, own = found[: graph.num_edges, 0], found[graph.num_edges :, 0]
        for node, chosen in enumerate(answer.values[:, 0].astype(int)):
            incoming = edges[graph.edge_index[1] == node]
            best = own[node] if chosen == -1 else edges[chosen]
            agree(best, max([own[node], *incoming]))


@pytest.mark.parametrize("name", ["graph-classification-proteins-gin", "graph-classification-ptc-iter-gin"])
def test_classifiers(name):
    network = itergnn.load(MODELS / f"{name}.safetensors")
    module = network.to_torch()
    graphs = [random_graph(seed, 4 + seed, network.config["node_width"], loops=False) for seed in range(5)]
    expected = network.predict(graphs)
    with torch.no_grad():
        together = module(*union(graphs))
        one = module(*tensors(graphs[3]))
    agree(together.numpy(), np.concatenate([answer.values for answer in expected]))
    agree(one.numpy(), expected[3].values)
    # Steps are counted for the whole batch as for each graph alone.
    assert int(module.iterations[0]) == expected[3].iterations


def test_images():
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
    from itergnn.gym import Agent

    agent = {"warm_up_steps": 8, "replay": 64, "batch_size": 8}
    run = itergnn.train(task={"task": "pacman", "size": 5, "dots": 2, "walls": 0, "wall_length": 1}, steps=16, layers=2,
                        model={"name": "cnn", "hidden_width": 4}, agent=agent, validation={"games": 1}, progress=False)
    module, player = run.model.to_torch(), Agent(run.model)
    for seed in range(4):
        game = itergnn.Pacman(size=5, dots=2, walls=0, wall_length=1, seed=seed)
        with torch.no_grad():
            agree(module(torch.from_numpy(game.image())[None])[0].numpy(), player.values(game))


@pytest.mark.parametrize("homogeneous", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_weighted_layers_are_those_of_pytorch_geometric(loops, homogeneous):
    geometric = pytest.importorskip("torch_geometric.nn", reason="PyTorch Geometric is not installed")
    from itergnn.torch.layers import layer

    torch.manual_seed(0)
    graph = random_graph(1, 9, 4)
    x, index, attr = tensors(graph)
    index, attr = index[:, :-3].unique(dim=1), attr[: index[:, :-3].unique(dim=1).shape[1]]
    config = {"input_width": 0, "global_width": 0, "use_edge_attributes": True, "add_self_loops": loops,
              "output_activation": "identity", "homogeneous": homogeneous, "heads": 2, "concat": True, "negative_slope": 0.2}
    if not homogeneous:
        theirs = geometric.GCNConv(4, 6, add_self_loops=loops)
        ours = {"weight": theirs.lin.weight.detach().numpy().T, "bias": theirs.bias.detach().numpy()}
        found = layer({**config, "kind": "gcn"}, ours)(x[:, :0], x, index, attr, 1)
        agree(found.detach().numpy(), theirs(x, index, attr[:, 0]).detach().numpy())
    theirs = geometric.GATConv(4, 3, heads=2, edge_dim=1, add_self_loops=loops, fill_value="mean", bias=not homogeneous)
    numbers = {name: value.detach().numpy() for name, value in theirs.named_parameters()}
    ours = {"weight": numbers.get("lin.weight", numbers.get("lin_src.weight")).T, "edge.weight": numbers["lin_edge.weight"].T}
    parts = {"sender_attention": "att_src", "receiver_attention": "att_dst", "edge.attention": "att_edge"}
    ours |= {name: numbers[part][0] for name, part in parts.items()}
    if homogeneous:
        # Without its scale a softmax is another one; here only that scaling everything scales the answer.
        scaled = layer({**config, "kind": "gat"}, ours)
        agree(scaled(x[:, :0], 3 * x, index, 3 * attr, 1).detach().numpy(),
              3 * scaled(x[:, :0], x, index, attr, 1).detach().numpy())
        return
    ours["bias"] = numbers["bias"]
    found = layer({**config, "kind": "gat"}, ours)(x[:, :0], x, index, attr, 1)
    agree(found.detach().numpy(), theirs(x, index, attr).detach().numpy())


def test_a_batch_is_its_graphs_and_gradients_flow():
    run = small("shortest-path", {"name": "iter-homo-path"})
    module = run.model.to_torch()
    graphs = [sample.graph for sample in itergnn.sample("shortest-path", 3, size=6)]
    together = module(*union(graphs), max_iterations=20)
    agree(together.detach()[:, 0].numpy(), [float(answer) for answer in run.model.predict(graphs, max_iterations=20)])
    together.sum().backward()
    assert all(weights.grad is not None and torch.isfinite(weights.grad).all() for weights in module.parameters())


@pytest.mark.parametrize(
    "model",
    [
        {"name": "act-homo-path"},
        {"name": "iter-homo-path-settle"},
        {"name": "iter-path", "aggregation": "sparsemax", "readout": "attention"},
    ],
    ids=named,
)
def test_training_goes_on_there(model):
    module = small("shortest-path", model).model.to_torch().train()
    samples = itergnn.sample("shortest-path", 32, size=6)
    batch = union([sample.graph for sample in samples])
    targets = torch.from_numpy(np.concatenate([sample.target for sample in samples]))
    adam, losses = torch.optim.Adam(module.parameters(), lr=3e-3), []
    for _ in range(30):
        adam.zero_grad()
        loss = torch.nn.functional.mse_loss(module(*batch), targets) + module.auxiliary_loss
        loss.backward()
        adam.step()
        losses.append(float(loss.detach()))
    assert int(module.iterations.max()) <= 30, "loops are capped as in training"
    assert losses[-1] < losses[0]
    # The price of a step of adaptive computation time, or of what is left at the cap.
    module(*batch, max_iterations=2)
    assert (float(module.auxiliary_loss) > 0) == (model["name"] != "iter-path")


def test_networks_that_are_not_written_for_pytorch_say_so():
    run = small("shortest-path", {"name": "max-plus"})
    with pytest.raises(ValueError, match="max-plus networks are not written for PyTorch"):
        run.model.to_torch()
