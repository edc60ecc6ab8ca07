"""A port of the module structure of the authors' PyTorch code (https://github.com/haotang1995/IterGNN), so that checkpoints have their names.

Only names, order of operations and numbers follow theirs; it runs on current PyTorch and PyG. Each graph is run alone.
"""

import copy

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv
from torch_geometric.utils import scatter, softmax


def perceptron(inputs, outputs, layers, bias, last=nn.LeakyReLU):
    sizes = np.linspace(inputs, outputs, layers + 1, dtype="int").tolist()
    acts = [nn.LeakyReLU] * (layers - 1) + [last]
    return nn.Sequential(*(nn.Sequential(nn.Linear(a, b, bias=bias), act()) for a, b, act in zip(sizes, sizes[1:], acts)))


def range_softmax(scores, index, count):
    span = (scatter(scores, index, 0, count, "max") - scatter(scores, index, 0, count, "min"))[index]
    return softmax(scores / torch.where(span == 0, torch.ones_like(span), span), index, num_nodes=count)


class Message(nn.Module):
    """PathConv, PathSimConv and MPNNMaxConv."""

    def __init__(self, name, node, out, edge, homo):
        super().__init__()
        self.name = name
        inputs = (node if name == "PathSimConv" else 2 * node) + edge
        self.edge_embedding_module = perceptron(inputs, out, 2, not homo)

    def forward(self, v, graph):
        s, r = graph.edge_index
        parts = {"PathConv": [v[s], v[r]], "PathSimConv": [v[s]], "MPNNMaxConv": [v[r], v[s]]}[self.name]
        messages = self.edge_embedding_module(torch.cat(parts + [graph.edge_attr], 1))
        candidates = scatter(messages, r, 0, v.size(0), "max")
        if self.name == "MPNNMaxConv":
            return candidates
        return torch.max(candidates, v[:, -candidates.size(1):])


class RangeGat(GATConv):
    def edge_update(self, alpha_j, alpha_i, edge_attr, index, ptr, dim_size):
        return range_softmax(nn.functional.leaky_relu(alpha_j + alpha_i, self.negative_slope), index, dim_size)


class Classical(nn.Module):
    """GCNConv, GATConv and GINConv of PyG, one level deeper than the message layers."""

    def __init__(self, name, node, out, edge, homo):
        super().__init__()
        self.module = {
            "GCNConv": lambda: GCNConv(node, out, bias=not homo),
            "GATConv": lambda: RangeGat(node, out, bias=False) if homo else GATConv(node, out),
            "GINConv": lambda: GINConv(perceptron(node, out, 2, not homo)),
        }[name]()

    def forward(self, v, graph):
        return self.module(v, graph.edge_index)


class Inner(nn.Module):
    def __init__(self, name, node, out, edge, homo):
        super().__init__()
        kind = Classical if name in ("GCNConv", "GATConv", "GINConv") else Message
        self.gnn_module = kind(name, node, out, edge, homo)


class Layer(nn.Module):
    def __init__(self, *args):
        super().__init__()
        self.module = Inner(*args)

    def forward(self, graph, x, h):
        return self.module.gnn_module(torch.cat([x, h], 1), graph)


class Attention(nn.Module):
    def __init__(self, keys, homo):
        super().__init__()
        self.score_module = perceptron(keys, 1, 1, True, nn.Identity)
        self.homo = homo

    def forward(self, keys, values, owner, count):
        scores = self.score_module(keys)
        weights = range_softmax(scores, owner, count) if self.homo else softmax(scores, owner, num_nodes=count)
        return scatter(weights * values, owner, 0, count, "sum")


class Aggregation(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module


class Readout(nn.Module):
    def __init__(self, name, keys, homo):
        super().__init__()
        self.name = name
        self.module = Aggregation(Attention(keys, homo) if name == "Attention" else nn.Identity())

    def forward(self, x, h):
        owner = torch.zeros(h.size(0), dtype=torch.long)
        if self.name == "Attention":
            return self.module.module(torch.cat([x, h], 1), h, owner, 1)
        if self.name == "HeadTail":
            return torch.cat([h[:1], h[-1:]], 1)
        return scatter(h, owner, 0, 1, self.name.lower())


class Controller(nn.Module):
    def __init__(self, architecture, steps, layer, readout, confidence):
        super().__init__()
        self.architecture, self.layer_num = architecture, steps
        if architecture == "DeepGNN":
            self.layers = nn.ModuleList(copy.deepcopy(layer) for _ in range(steps))
            return
        self.gnn_layer_module = layer
        if architecture != "SharedDeepGNN":
            self.readout_module, self.confidence_module = readout, confidence

    def forward(self, graph, x, h):
        if self.architecture == "DeepGNN":
            for layer in self.layers:
                h = layer(graph, x, h)
            return h, self.layer_num
        if self.architecture == "SharedDeepGNN":
            for _ in range(self.layer_num):
                h = self.gnn_layer_module(graph, x, h)
            return h, self.layer_num
        ratio = 1 - 1e-4 if "Dec" in self.architecture else 1.0
        left, total, used = torch.ones_like(h[:, :1]), torch.zeros_like(h), 0
        for _ in range(self.layer_num):
            if left.max().item() <= 1e-7:
                break
            h = self.gnn_layer_module(graph, x, h)
            sure = self.confidence_module(h if "Node" in self.architecture else self.readout_module(x, h))
            total = ratio * total + left * sure * h
            left = left * (1.0 - sure) * ratio
            used += 1
        return total, used


class AuthorsModel(nn.Module):
    def __init__(self, architecture, steps, homo, layer, readout, modules, node, edge, out, hidden):
        super().__init__()
        core, other = homo != "", homo == "Homo"
        self.pointwise = readout == "HeadTail"
        self.embedding_module = perceptron(node, hidden, 2, not other)
        self.readout_module = Readout(readout, node + hidden, core)
        features = 2 * hidden if self.pointwise and "Node" not in architecture else hidden
        confidences, layers, controllers = [], [], []
        for _ in range(modules):
            confidences.append(perceptron(features, 1, 1, not other, nn.Sigmoid))
            layers.append(Layer(layer, node + hidden, hidden, edge, core))
            controllers.append(Controller(architecture, steps, layers[-1], self.readout_module, confidences[-1]))
        self.confidence_module_list = nn.ModuleList(confidences)
        self.gnn_layer_list = nn.ModuleList(layers)
        self.gnn_module_list = nn.ModuleList(controllers)
        self.head_module = perceptron(hidden, out // 2 if self.pointwise else out, 1, not other)

    def forward(self, graph):
        x = graph.x
        h, steps = self.embedding_module(x), 0
        for controller in self.gnn_module_list:
            h, used = controller(graph, x, h)
            steps += used
        if self.pointwise:
            return self.readout_module(x, self.head_module(h)), steps
        return self.head_module(self.readout_module(x, h)), steps
