"""Independent layers for the golden values: PyG's own where PyG has them, otherwise written with torch operations.

Every layer maps (graph, input, hidden) to the next hidden state and names its parameters as the Rust crate does; `rust_parameters` gives them
in the layout of the Rust crate (weights [inputs, outputs]).
"""

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, GINConv
from torch_geometric.utils import scatter, softmax

SLOPE = 0.01


def widths(inputs, outputs, layers):
    return np.linspace(inputs, outputs, layers + 1, dtype=int).tolist()


class Mlp(nn.Module):
    """Affine maps with an activation after each (the last one optional)."""

    def __init__(self, inputs, outputs, layers=2, bias=True, final=True, activation="leaky-relu", sizes=None):
        super().__init__()
        sizes = sizes or widths(inputs, outputs, layers)
        self.maps = nn.ModuleList(nn.Linear(a, b, bias=bias) for a, b in zip(sizes, sizes[1:]))
        self.final = final
        self.activation = {"leaky-relu": nn.LeakyReLU(SLOPE), "relu": nn.ReLU()}[activation]

    def forward(self, x):
        for index, linear in enumerate(self.maps):
            x = linear(x)
            if index + 1 < len(self.maps) or self.final:
                x = self.activation(x)
        return x

    def rust_parameters(self, prefix):
        for index, linear in enumerate(self.maps):
            yield from linear_parameters(linear, f"{prefix}.layers.{index}")


def linear_parameters(linear, prefix):
    yield f"{prefix}.weight", linear.weight, lambda w: w.t()
    if linear.bias is not None:
        yield f"{prefix}.bias", linear.bias, lambda b: b


def keep(x):
    return x


def scale_invariant(scores, index, count):
    """Scores divided by their range per segment, where the range is not zero."""
    high = scatter(scores, index, 0, count, "max")
    low = scatter(scores, index, 0, count, "min")
    largest = scatter(scores.abs(), index, 0, count, "max")
    span = high - low
    span = torch.where(span < 1e-4 * largest, torch.full_like(span, float("inf")), span)
    return (scores - high[index]) / span[index]


def sparsemax(scores, index, count):
    """Euclidean projection of each segment's scores to the simplex, one segment at a time."""
    pieces = torch.zeros_like(scores)
    for segment in range(count):
        rows = (index == segment).nonzero().flatten()
        if len(rows) == 0:
            continue
        z = scores[rows, 0]
        ordered, _ = torch.sort(z, descending=True)
        sums = torch.cumsum(ordered, 0)
        ks = torch.arange(1, len(rows) + 1, dtype=z.dtype)
        support = int((1 + ks * ordered > sums).sum())
        threshold = (sums[support - 1] - 1) / support
        pieces = pieces.index_put((rows, torch.zeros_like(rows)), torch.clamp(z - threshold, min=0))
    return pieces


def weights(scores, index, count, rule, homogeneous):
    if homogeneous:
        scores = scale_invariant(scores, index, count)
    return sparsemax(scores, index, count) if rule == "sparsemax" else softmax(scores, index, num_nodes=count)


class PathFamily(nn.Module):
    """mpnn-max, path and path-sim, with every aggregation and the authors' variations."""

    def __init__(self, kind, input_width, hidden_width, edge_width, homogeneous=False, aggregation="attention",
                 update="keep-max", isolated="keep", edge_order="sender-first", mlp_layers=2):
        super().__init__()
        node = input_width + hidden_width
        both = 2 * node + edge_width
        self.kind, self.aggregation, self.homogeneous = kind, "max" if kind == "mpnn-max" else aggregation, homogeneous
        self.update, self.isolated, self.edge_order = update, isolated, edge_order
        message_width = node + edge_width if kind == "path-sim" else both
        self.message = Mlp(message_width, hidden_width, mlp_layers, bias=not homogeneous)
        scored = self.aggregation in ("attention", "sparsemax")
        self.score = nn.Linear(both, 1, bias=not homogeneous) if scored else None

    def forward(self, graph, x, h):
        v = torch.cat([x, h], 1)
        s, r = graph.edge_index
        ends = [v[s], v[r]] if self.edge_order == "sender-first" else [v[r], v[s]]
        both = torch.cat(ends + [graph.edge_attr], 1)
        messages = self.message(torch.cat([v[s], graph.edge_attr], 1) if self.kind == "path-sim" else both)
        count = h.size(0)
        if self.score is not None:
            w = weights(self.score(both), r, count, self.aggregation, self.homogeneous)
            aggregated = scatter(w * messages, r, 0, count, "sum")
        else:
            aggregated = scatter(messages, r, 0, count, self.aggregation)
        new = torch.maximum(h, aggregated) if self.update == "keep-max" else aggregated
        if self.isolated == "keep":
            degree = scatter(torch.ones_like(r), r, 0, count, "sum")
            new = torch.where(degree[:, None] == 0, h, new)
        return new

    def rust_parameters(self, prefix):
        yield from self.message.rust_parameters(f"{prefix}.message")
        if self.score is not None:
            yield from linear_parameters(self.score, f"{prefix}.aggregator.score")


class Gcn(nn.Module):
    def __init__(self, input_width, hidden_width, homogeneous=False, leaky=False, edge_weight=False, add_self_loops=True):
        super().__init__()
        self.conv = GCNConv(input_width + hidden_width, hidden_width, bias=not homogeneous, add_self_loops=add_self_loops)
        self.leaky, self.edge_weight = leaky, edge_weight
        if self.conv.bias is not None:
            nn.init.uniform_(self.conv.bias, -0.3, 0.3)

    def forward(self, graph, x, h):
        edge_weight = graph.edge_attr.flatten() if self.edge_weight else None
        y = self.conv(torch.cat([x, h], 1), graph.edge_index, edge_weight)
        return nn.functional.leaky_relu(y, SLOPE) if self.leaky else y

    def rust_parameters(self, prefix):
        yield f"{prefix}.weight", self.conv.lin.weight, lambda w: w.t()
        if self.conv.bias is not None:
            yield f"{prefix}.bias", self.conv.bias, keep


class HomogeneousGat(GATConv):
    """PyG's GATConv with the scale-invariant softmax."""

    def edge_update(self, alpha_j, alpha_i, edge_attr, index, ptr, dim_size):
        alpha = nn.functional.leaky_relu(alpha_j + alpha_i, self.negative_slope)
        return softmax(scale_invariant(alpha, index, dim_size), index, num_nodes=dim_size)


class Gat(nn.Module):
    def __init__(self, input_width, hidden_width, homogeneous=False, leaky=False, heads=1, concat=True, edge_dim=None):
        super().__init__()
        make = HomogeneousGat if homogeneous else GATConv
        self.conv = make(input_width + hidden_width, hidden_width // heads if concat else hidden_width, heads=heads,
                         concat=concat, bias=not homogeneous, edge_dim=edge_dim)
        self.leaky, self.edge_dim = leaky, edge_dim
        if self.conv.bias is not None:
            nn.init.uniform_(self.conv.bias, -0.3, 0.3)

    def forward(self, graph, x, h):
        attributes = graph.edge_attr if self.edge_dim else None
        y = self.conv(torch.cat([x, h], 1), graph.edge_index, attributes)
        return nn.functional.leaky_relu(y, SLOPE) if self.leaky else y

    def rust_parameters(self, prefix):
        yield f"{prefix}.weight", self.conv.lin.weight, lambda w: w.t()
        yield f"{prefix}.sender_attention", self.conv.att_src, lambda a: a[0]
        yield f"{prefix}.receiver_attention", self.conv.att_dst, lambda a: a[0]
        if self.edge_dim:
            yield f"{prefix}.edge.weight", self.conv.lin_edge.weight, lambda w: w.t()
            yield f"{prefix}.edge.attention", self.conv.att_edge, lambda a: a[0]
        if self.conv.bias is not None:
            yield f"{prefix}.bias", self.conv.bias, keep


class Gin(nn.Module):
    def __init__(self, input_width, hidden_width, homogeneous=False, eps=0.0, train_eps=False):
        super().__init__()
        self.mlp = Mlp(input_width + hidden_width, hidden_width, bias=not homogeneous)
        self.conv = GINConv(self.mlp, eps=eps, train_eps=train_eps)
        self.train_eps = train_eps

    def forward(self, graph, x, h):
        return self.conv(torch.cat([x, h], 1), graph.edge_index)

    def rust_parameters(self, prefix):
        yield from self.mlp.rust_parameters(f"{prefix}.mlp")
        if self.train_eps:
            yield f"{prefix}.learned_eps", self.conv.eps, lambda e: e.reshape(1)


class PointNet(nn.Module):
    def __init__(self, input_width, hidden_width, homogeneous=False):
        super().__init__()
        self.node = Mlp(input_width + hidden_width, hidden_width, bias=not homogeneous)

    def forward(self, graph, x, h):
        return self.node(torch.cat([x, h], 1))

    def rust_parameters(self, prefix):
        yield from self.node.rust_parameters(f"{prefix}.node")
