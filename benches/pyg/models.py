"""The paper's training step in PyTorch + PyG, written to be as fast as we know how.

Three spellings of each message-passing step:

- `stock`: gather with index_select, concatenate, one MLP over all edges, PyG's scatter. What a PyG user writes.
- `split`: the first linear layer is applied to nodes before the gather (W [h_s; e] = W_s h_s + W_e e), so it has fewer rows; the part of
  the inputs, which do not change from step to step, is computed once.
- compiled: either of them through torch.compile.

All run the 30 iterations of training without an early end, as the fused engine does in the worst case it is compared with.
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch_geometric.nn import GCNConv
from torch_geometric.utils import scatter, softmax

HIDDEN, INPUTS, SLOPE, ITERATIONS, DECAY = 64, 3, 0.01, 30, 0.9999
# Receivers whose scores differ by less than this share of the largest one are taken as equal (see the scale-invariant softmax in docs).
EQUAL = 1e-4


def leaky(x):
    return F.leaky_relu(x, SLOPE)


def scale_invariant_softmax(score, receivers, nodes):
    high = scatter(score, receivers, 0, nodes, "max")
    low = scatter(score, receivers, 0, nodes, "min")
    largest = scatter(score.abs(), receivers, 0, nodes, "max")
    span = high - low
    span = torch.where(span < EQUAL * largest, torch.full_like(span, float("inf")), span)
    return softmax((score - high.index_select(0, receivers)) / span.index_select(0, receivers), receivers, num_nodes=nodes)


class PathStep(nn.Module):
    """`path-sim` or `path`, bias-free, with maximum or attention."""

    def __init__(self, kind, aggregation, split):
        super().__init__()
        self.kind, self.aggregation, self.split = kind, aggregation, split
        node = INPUTS + HIDDEN
        self.node = node
        width = node + 1 if kind == "path-sim" else 2 * node + 1
        middle = (width + HIDDEN) // 2
        self.first = nn.Linear(width, middle, bias=False)
        self.second = nn.Linear(middle, HIDDEN, bias=False)
        self.score = nn.Linear(2 * node + 1, 1, bias=False) if aggregation == "attention" else None

    def constant(self, x, senders, receivers, edges):
        """What the inputs add to the first layer (and to the score), the same at every step."""
        if not self.split:
            return None, None
        def part(linear):
            weight = linear.weight
            total = F.linear(x, weight[:, :INPUTS]).index_select(0, senders) + F.linear(edges, weight[:, -1:])
            if weight.size(1) > self.node + 1:
                total = total + F.linear(x, weight[:, self.node:self.node + INPUTS]).index_select(0, receivers)
            return total
        return part(self.first), part(self.score) if self.score is not None else None

    def apply_first(self, linear, constant, h, senders, receivers):
        weight = linear.weight
        total = constant + F.linear(h, weight[:, INPUTS:self.node]).index_select(0, senders)
        if weight.size(1) > self.node + 1:
            total = total + F.linear(h, weight[:, self.node + INPUTS:2 * self.node]).index_select(0, receivers)
        return total

    def forward(self, x, h, senders, receivers, edges, constant):
        if self.split:
            message = self.apply_first(self.first, constant[0], h, senders, receivers)
            score = self.score and self.apply_first(self.score, constant[1], h, senders, receivers)
        else:
            v = torch.cat([x, h], 1)
            both = None
            if self.kind == "path" or self.score is not None:
                both = torch.cat([v.index_select(0, senders), v.index_select(0, receivers), edges], 1)
            inputs = both if self.kind == "path" else torch.cat([v.index_select(0, senders), edges], 1)
            message = self.first(inputs)
            score = self.score and self.score(both)
        message = leaky(self.second(leaky(message)))
        nodes = h.size(0)
        if self.score is None:
            pooled = scatter(message, receivers, 0, nodes, "max")
        else:
            pooled = scatter(scale_invariant_softmax(score, receivers, nodes) * message, receivers, 0, nodes, "sum")
        return torch.maximum(h, pooled)


class IterHomoPath(nn.Module):
    """Embedding, 30 iterations with a confidence each, decay, maximum readout, linear head."""

    def __init__(self, kind, aggregation, split):
        super().__init__()
        middle = (INPUTS + HIDDEN) // 2
        self.embedding = nn.Sequential(nn.Linear(INPUTS, middle, bias=False), nn.LeakyReLU(SLOPE),
                                       nn.Linear(middle, HIDDEN, bias=False), nn.LeakyReLU(SLOPE))
        self.step = PathStep(kind, aggregation, split)
        self.confidence = nn.Linear(HIDDEN, 1, bias=False)
        self.head = nn.Linear(HIDDEN, 1, bias=False)

    def forward(self, x, senders, receivers, edges, graph, graphs):
        h = self.embedding(x)
        constant = self.step.constant(x, senders, receivers, edges)
        left = torch.ones(graphs, 1, device=h.device)
        output = torch.zeros_like(h)
        for _ in range(ITERATIONS):
            h = self.step(x, h, senders, receivers, edges, constant)
            confidence = torch.sigmoid(self.confidence(scatter(h, graph, 0, graphs, "max")))
            output = DECAY * output + (left * confidence).index_select(0, graph) * h
            left = DECAY * (1 - confidence) * left
        return self.head(scatter(output, graph, 0, graphs, "max"))


class Gcn(nn.Module):
    """30 GCN layers with their own weights, PyG's GCNConv with its normalisation computed once."""

    def __init__(self):
        super().__init__()
        middle = (INPUTS + HIDDEN) // 2
        self.embedding = nn.Sequential(nn.Linear(INPUTS, middle), nn.LeakyReLU(SLOPE), nn.Linear(middle, HIDDEN), nn.LeakyReLU(SLOPE))
        self.layers = nn.ModuleList(GCNConv(INPUTS + HIDDEN, HIDDEN, cached=True) for _ in range(ITERATIONS))
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, x, senders, receivers, edges, graph, graphs):
        h = self.embedding(x)
        index = torch.stack([senders, receivers])
        for layer in self.layers:
            h = leaky(layer(torch.cat([x, h], 1), index))
        return self.head(scatter(h, graph, 0, graphs, "max"))
