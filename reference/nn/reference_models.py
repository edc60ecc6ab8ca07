"""Independent readouts, controllers and whole models for the golden values, one graph (or node) at a time where that is the plainest form.

The controllers here treat every graph of a batch on its own and never drop anything from a batch, so they cannot share a mistake with the
batched loops of the Rust crate.
"""

import torch
from torch import nn
from torch_geometric.utils import scatter, softmax

from reference_layers import Mlp, linear_parameters, scale_invariant


class Readout(nn.Module):
    def __init__(self, kind, input_width, hidden_width, homogeneous):
        super().__init__()
        self.kind, self.homogeneous = kind, homogeneous
        self.score = nn.Linear(input_width + hidden_width, 1, bias=False) if kind == "attention" else None

    def forward(self, graph, x, h):
        owner, count = graph.batch, graph.num_graphs
        if self.kind in ("max", "min", "mean", "sum"):
            return scatter(h, owner, 0, count, self.kind)
        if self.kind == "attention":
            scores = self.score(torch.cat([x, h], 1))
            if self.homogeneous:
                scores = scale_invariant(scores, owner, count)
            return scatter(softmax(scores, owner, num_nodes=count) * h, owner, 0, count, "sum")
        if self.kind == "head-tail":
            first = [int((owner == g).nonzero().min()) for g in range(count)]
            last = [int((owner == g).nonzero().max()) for g in range(count)]
            return torch.cat([h[first], h[last]], 1)
        return h

    def rust_parameters(self, prefix):
        if self.score is not None:
            yield from linear_parameters(self.score, f"{prefix}.score")


class Confidence(nn.Module):
    def __init__(self, scope, pooling, input_width, hidden_width, homogeneous, bias, scale_free):
        super().__init__()
        self.readout = Readout(pooling, input_width, hidden_width, homogeneous) if scope == "graph" else None
        features = 2 * hidden_width if scope == "graph" and pooling == "head-tail" else hidden_width
        self.linear = nn.Linear(features, 1, bias=bias)
        self.scale_free = scale_free

    def forward(self, graph, x, h):
        features = self.readout(graph, x, h) if self.readout is not None else h
        if self.scale_free:
            features = features / features.abs().sum(1, keepdim=True)
        return torch.sigmoid(self.linear(features))

    def rust_parameters(self, prefix):
        if self.readout is not None:
            yield from self.readout.rust_parameters(f"{prefix}.readout")
        yield from linear_parameters(self.linear, f"{prefix}.linear")


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, graph, x, h, training):
        for layer in self.layers:
            h = layer(graph, x, h)
        return h, [len(self.layers)] * graph.num_graphs, None

    def rust_parameters(self, prefix):
        for index, layer in enumerate(self.layers):
            yield from layer.rust_parameters(f"{prefix}.layers.{index}")


class Shared(nn.Module):
    def __init__(self, layer, steps):
        super().__init__()
        self.layer, self.steps = layer, steps

    def forward(self, graph, x, h, training):
        for _ in range(self.steps):
            h = self.layer(graph, x, h)
        return h, [self.steps] * graph.num_graphs, None

    def rust_parameters(self, prefix):
        yield from self.layer.rust_parameters(f"{prefix}.layer")


class Loop(nn.Module):
    """Keeps every state and confidence, then sums them up for each graph or node by the definition."""

    def __init__(self, layer, confidence, scope, training_cap):
        super().__init__()
        self.layer, self.confidence, self.scope, self.training_cap = layer, confidence, scope, training_cap

    def forward(self, graph, x, h, training):
        cap = self.training_cap if training else 1000
        states, confidences = [], []
        for _ in range(cap):
            h = self.layer(graph, x, h)
            states.append(h)
            confidences.append(self.confidence(graph, x, h))
        elements = graph.num_graphs if self.scope == "graph" else h.size(0)
        outputs, steps, charges = [], [], []
        for element in range(elements):
            cs = [c[element, 0] for c in confidences]
            rows = graph.batch == element if self.scope == "graph" else slice(element, element + 1)
            weights, charge = self.weigh(cs, cap, training)
            outputs.append(sum(w * states[k][rows] for k, w in enumerate(weights)))
            steps.append(len(weights))
            charges.append(charge)
        charge = sum(charges) / elements if charges[0] is not None else None
        return torch.cat(outputs), steps, charge

    def rust_parameters(self, prefix):
        yield from self.layer.rust_parameters(f"{prefix}.layer")
        yield from self.confidence.rust_parameters(f"{prefix}.confidence")


class Iter(Loop):
    def __init__(self, layer, confidence, scope, training_cap, epsilon, decay, normalised, settle):
        super().__init__(layer, confidence, scope, training_cap)
        self.epsilon, self.decay, self.normalised, self.settle = epsilon, decay, normalised, settle

    def weigh(self, cs, cap, training):
        """p_j = c_j prod_{i<j} (1 - c_i), all times decay^(K-1); K is the first step with decay^K prod (1 - c) <= epsilon."""
        left, p, last = torch.ones_like(cs[0]), [], 0
        for k, c in enumerate(cs):
            p.append(left * c)
            left = left * (1 - c)
            last = k + 1
            if not self.decay ** last * left > self.epsilon:
                break
        charge = torch.zeros_like(cs[0]) if self.settle is not None and training else None
        if self.settle is not None and training and last == cap:
            before = torch.ones_like(cs[0])
            for c in cs[: last - 1]:
                before = before * (1 - c)
            p[-1] = before
            charge = self.settle * before * self.decay ** (last - 1)
        w = [self.decay ** (last - 1) * q for q in p]
        if self.normalised:
            total = sum(w)
            w = [q / total for q in w]
        return w, charge


class Act(Loop):
    def __init__(self, layer, confidence, scope, training_cap, ponder_cost, epsilon):
        super().__init__(layer, confidence, scope, training_cap)
        self.ponder_cost, self.epsilon = ponder_cost, epsilon

    def weigh(self, cs, cap, training):
        total, w = torch.zeros_like(cs[0]), []
        for k, c in enumerate(cs):
            if float(total + c) >= 1 - self.epsilon or k + 1 == cap:
                remainder = 1 - total
                return w + [remainder], self.ponder_cost * (k + 1 + remainder)
            w.append(c)
            total = total + c
        raise AssertionError("the cap ends the loop")


class Model(nn.Module):
    def __init__(self, embedding, blocks, readout, head):
        super().__init__()
        self.embedding, self.blocks, self.readout, self.head = embedding, nn.ModuleList(blocks), readout, head

    def forward(self, graph, training):
        x = graph.x
        h, steps, charge = self.embedding(x), [], None
        for block in self.blocks:
            h, used, extra = block(graph, x, h, training)
            steps.append(used)
            charge = extra if charge is None else charge if extra is None else charge + extra
        if self.readout.kind == "head-tail":
            return self.readout(graph, x, self.head(h)), steps, charge
        return self.head(self.readout(graph, x, h)), steps, charge

    def rust_parameters(self, prefix):
        yield from self.embedding.rust_parameters(f"{prefix}.embedding")
        for index, block in enumerate(self.blocks):
            yield from block.rust_parameters(f"{prefix}.blocks.{index}")
        yield from self.readout.rust_parameters(f"{prefix}.readout")
        yield from self.head.rust_parameters(f"{prefix}.head")


class JumpingKnowledge(nn.Module):
    """GIN classifier: inputs -> hidden -> hidden with batch norm and ReLU in each block, every layer's pooled state votes."""

    def __init__(self, node_width, hidden, classes, blocks):
        super().__init__()
        self.blocks = nn.ModuleList()
        for index in range(blocks):
            mlp = Mlp(0, 0, sizes=[node_width if index == 0 else hidden, hidden, hidden], activation="relu")
            norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(2))
            for norm in norms:
                nn.init.uniform_(norm.weight, 0.5, 1.5)
                nn.init.uniform_(norm.bias, -0.5, 0.5)
            self.blocks.append(nn.ModuleDict({"mlp": mlp, "norms": norms}))
        self.votes = nn.ModuleList(nn.Linear(w, classes) for w in [node_width] + [hidden] * blocks)

    def forward(self, graph, training):
        s, r = graph.edge_index
        h, states = graph.x, [graph.x]
        for block in self.blocks:
            h = h + scatter(h[s], r, 0, h.size(0), "sum")
            for linear, norm in zip(block["mlp"].maps, block["norms"]):
                h = torch.relu(norm(linear(h)))
            states.append(h)
        pooled = [scatter(state, graph.batch, 0, graph.num_graphs, "sum") for state in states]
        return sum(vote(p) for vote, p in zip(self.votes, pooled)), [], None

    def rust_parameters(self, prefix):
        for index, block in enumerate(self.blocks):
            yield from block["mlp"].rust_parameters(f"{prefix}.blocks.{index}.mlp")
            for number, norm in enumerate(block["norms"]):
                yield f"{prefix}.blocks.{index}.norms.{number}.gamma", norm.weight, lambda w: w
                yield f"{prefix}.blocks.{index}.norms.{number}.beta", norm.bias, lambda b: b
        for index, vote in enumerate(self.votes):
            yield from linear_parameters(vote, f"{prefix}.votes.{index}")


class Grid(nn.Module):
    def __init__(self, channels, hidden, outputs, kernel, depth):
        super().__init__()
        self.embedding = Mlp(channels, hidden)
        self.convolutions = nn.ModuleList(nn.Conv2d(hidden, hidden, kernel, padding="same") for _ in range(depth))
        self.head = nn.Linear(hidden, outputs)

    def forward(self, images):
        h = self.embedding(images.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        for convolution in self.convolutions:
            h = nn.functional.leaky_relu(convolution(h), 0.01)
        return self.head(h.amax((2, 3)))

    def rust_parameters(self, prefix):
        yield from self.embedding.rust_parameters(f"{prefix}.embedding")
        for index, convolution in enumerate(self.convolutions):
            yield f"{prefix}.convolutions.convolutions.{index}.weight", convolution.weight, lambda w: w
            yield f"{prefix}.convolutions.convolutions.{index}.bias", convolution.bias, lambda b: b
        yield from linear_parameters(self.head, f"{prefix}.head")
