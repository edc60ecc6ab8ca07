"""Writes golden-blocks.json: outputs and all gradients of the graph network block, GIN with batch normalisation and the grid CNN.

Double precision. The block is PyG's MetaLayer, GIN is PyG's GINConv, convolutions and batch normalisation are torch's. Run with the packages of
requirements.txt: `python make_golden_blocks.py`.
"""

import json
from pathlib import Path

import torch
import torch_geometric
from torch import nn
from torch_geometric.nn import GINConv, MetaLayer
from torch_geometric.utils import scatter

SLOPE = 0.01
NODE, EDGE, GLOBAL = 3, 2, 2
NODE_OUT, EDGE_OUT, GLOBAL_OUT = 5, 4, 3
# A hub with a self-loop and parallel edges, an isolated node, and a second and a third graph, the last of one node. Sorted by receiver.
EDGES = [(1, 0), (2, 0), (3, 0), (0, 0), (0, 1), (1, 3), (1, 3), (5, 6), (6, 5)]
EDGES.sort(key=lambda edge: edge[1])
GRAPH_SIZES = [5, 2, 1]


def perceptron(inputs, outputs):
    middle = int(inputs + (outputs - inputs) / 2)
    return nn.Sequential(nn.Linear(inputs, middle), nn.LeakyReLU(SLOPE), nn.Linear(middle, outputs), nn.LeakyReLU(SLOPE))


class EdgeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = perceptron(2 * NODE + EDGE + GLOBAL, EDGE_OUT)

    def forward(self, src, dst, edge_attr, u, batch):
        return self.mlp(torch.cat([src, dst, edge_attr, u[batch]], 1))


class NodeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = perceptron(EDGE_OUT + NODE + GLOBAL, NODE_OUT)

    def forward(self, x, edge_index, edge_attr, u, batch):
        messages = scatter(edge_attr, edge_index[1], 0, x.size(0), "mean")
        return self.mlp(torch.cat([messages, x, u[batch]], 1))


class GlobalModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.mlp = perceptron(EDGE_OUT + NODE_OUT + GLOBAL, GLOBAL_OUT)

    def forward(self, x, edge_index, edge_attr, u, batch):
        edges = scatter(edge_attr, batch[edge_index[1]], 0, u.size(0), "sum")
        nodes = scatter(x, batch, 0, u.size(0), "max")
        return self.mlp(torch.cat([edges, nodes, u], 1))


def plain(tensor):
    return {"shape": list(tensor.shape), "values": tensor.detach().flatten().tolist()}


def maps(sequence):
    return [module for module in sequence if isinstance(module, nn.Linear)]


def linear_values(linear):
    return {"weight": plain(linear.weight.t()), "bias": plain(linear.bias)}


def linear_gradients(linear):
    return {"weight": plain(linear.weight.grad.t()), "bias": plain(linear.bias.grad)}


def probe(tensor):
    """Fixed weights of the outputs in the loss, so that every output has its own gradient."""
    return torch.linspace(-1, 1, tensor.numel(), dtype=tensor.dtype).reshape(tensor.shape)


def batch():
    nodes = sum(GRAPH_SIZES)
    index = torch.tensor(EDGES).t()
    graph_of_node = torch.repeat_interleave(torch.arange(len(GRAPH_SIZES)), torch.tensor(GRAPH_SIZES))
    return nodes, index, graph_of_node


def block_case():
    nodes, index, graph_of_node = batch()
    block = MetaLayer(EdgeModel(), NodeModel(), GlobalModel())
    inputs = {
        "nodes": torch.randn(nodes, NODE, requires_grad=True),
        "edges": torch.randn(len(EDGES), EDGE, requires_grad=True),
        "globals": torch.randn(len(GRAPH_SIZES), GLOBAL, requires_grad=True),
    }
    x, e, u = block(inputs["nodes"], index, inputs["edges"], inputs["globals"], graph_of_node)
    ((x * probe(x)).sum() + (e * probe(e)).sum() + (u * probe(u)).sum()).backward()
    models = {"edge": block.edge_model, "node": block.node_model, "global": block.global_model}
    return {
        "inputs": {name: plain(value) for name, value in inputs.items()},
        "input_gradients": {name: plain(value.grad) for name, value in inputs.items()},
        "outputs": {"nodes": plain(x), "edges": plain(e), "globals": plain(u)},
        "maps": {name: [linear_values(linear) for linear in maps(model.mlp)] for name, model in models.items()},
        "map_gradients": {name: [linear_gradients(linear) for linear in maps(model.mlp)] for name, model in models.items()},
    }


def gin_case():
    nodes, index, _ = batch()
    middle, hidden = 4, 5
    mlp = nn.Sequential(nn.Linear(NODE, middle), nn.BatchNorm1d(middle), nn.ReLU(),
                        nn.Linear(middle, hidden), nn.BatchNorm1d(hidden), nn.ReLU())
    norms = [module for module in mlp if isinstance(module, nn.BatchNorm1d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.uniform_(norm.bias, -0.5, 0.5)
    conv = GINConv(mlp, eps=0.25)
    x = torch.randn(nodes, NODE, requires_grad=True)
    y = conv(x, index)
    (y * probe(y)).sum().backward()
    conv.eval()
    return {
        "eps": 0.25,
        "input": plain(x),
        "input_gradient": plain(x.grad),
        "training_output": plain(y),
        "inference_output": plain(conv(x, index)),
        "maps": [linear_values(linear) for linear in maps(mlp)],
        "map_gradients": [linear_gradients(linear) for linear in maps(mlp)],
        "norms": [{"gamma": plain(n.weight), "beta": plain(n.bias)} for n in norms],
        "norm_gradients": [{"gamma": plain(n.weight.grad), "beta": plain(n.bias.grad)} for n in norms],
        "running_mean": [plain(n.running_mean) for n in norms],
    }


def cnn_case(kernel, depth):
    channels = [2] + [3] * depth
    convolutions = [nn.Conv2d(a, b, kernel, padding="same") for a, b in zip(channels, channels[1:])]
    image = torch.randn(2, 2, 4, 5, requires_grad=True)
    y = image
    for convolution in convolutions:
        y = nn.functional.leaky_relu(convolution(y), SLOPE)
    (y * probe(y)).sum().backward()
    return {
        "kernel": kernel,
        "depth": depth,
        "image": plain(image),
        "image_gradient": plain(image.grad),
        "output": plain(y),
        "maps": [{"weight": plain(c.weight), "bias": plain(c.bias)} for c in convolutions],
        "map_gradients": [{"weight": plain(c.weight.grad), "bias": plain(c.bias.grad)} for c in convolutions],
    }


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    golden = {
        "versions": {"torch": torch.__version__.split("+")[0], "torch_geometric": torch_geometric.__version__},
        "edges": EDGES,
        "graph_sizes": GRAPH_SIZES,
        "block": block_case(),
        "gin": gin_case(),
        "cnn": [cnn_case(3, 2), cnn_case(5, 1), cnn_case(7, 1)],
    }
    path = Path(__file__).parent / "golden-blocks.json"
    path.write_text(json.dumps(golden, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
