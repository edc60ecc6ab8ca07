"""The networks in pure PyTorch, with the weights of a trained model.

For programs that go on training there, or that check the engine against plain PyTorch. Covered: the networks of the
paper's own family (path, path-sim and mpnn-max layers under every controller but adaptive computation time).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .errors import InputError

__all__ = ["GraphModule"]

_SLOPES = {"identity": 1.0, "relu": 0.0, "leaky-relu": 0.01}
# A range of scores below this share of the largest score is rounding noise; the engine treats it as zero too.
_NOISE = 1e-4
_SAFETY_CAP = 100_000


def _take(parameters: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name[len(prefix) :]: value for name, value in parameters.items() if name.startswith(prefix)}


def _linear(parameters: dict[str, np.ndarray]) -> nn.Linear:
    weight = parameters["weight"]
    map = nn.Linear(weight.shape[0], weight.shape[1], bias="bias" in parameters)
    with torch.no_grad():
        map.weight.copy_(torch.as_tensor(weight.T.copy()))
        if "bias" in parameters:
            map.bias.copy_(torch.as_tensor(parameters["bias"]))
    return map


class Mlp(nn.Module):
    """Affine maps with an activation after each; after the last one only if `final`."""

    def __init__(self, parameters: dict[str, np.ndarray], activation: str = "leaky-relu", final: bool = True) -> None:
        super().__init__()
        count = 1 + max(int(name.split(".")[1]) for name in parameters if name.startswith("layers."))
        self.layers = nn.ModuleList(_linear(_take(parameters, f"layers.{index}.")) for index in range(count))
        self.slope, self.final = _SLOPES[activation], final

    def forward(self, state: Tensor) -> Tensor:
        for index, map in enumerate(self.layers):
            state = map(state)
            if index < len(self.layers) - 1 or self.final:
                state = nn.functional.leaky_relu(state, self.slope)
        return state


def _pool(values: Tensor, groups: Tensor, count: int, how: str) -> Tensor:
    """Rows of a group as one row; zero for a group without rows."""
    reduce = {"max": "amax", "min": "amin", "mean": "mean", "sum": "sum"}[how]
    index = groups[:, None].expand_as(values)
    empty = values.new_zeros(count, values.shape[1])
    return empty.scatter_reduce(0, index, values, reduce, include_self=False)


def _softmax(scores: Tensor, groups: Tensor, count: int, scale_invariant: bool) -> Tensor:
    highest = _pool(scores, groups, count, "max")
    if scale_invariant:
        spread = highest - _pool(scores, groups, count, "min")
        largest = _pool(scores.abs(), groups, count, "max")
        spread = torch.where(spread <= _NOISE * largest, torch.ones_like(spread), spread)
        shifted = (scores - highest[groups]) / spread[groups]
    else:
        shifted = scores - highest[groups]
    weights = shifted.exp()
    return weights / _pool(weights, groups, count, "sum")[groups]


class Layer(nn.Module):
    """One step of message passing: `path`, `path-sim` or `mpnn-max`."""

    def __init__(self, config: dict[str, Any], parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.kind = config["kind"]
        self.aggregation = "max" if self.kind == "mpnn-max" else config.get("aggregation", "attention")
        if self.kind not in ("path", "path-sim", "mpnn-max") or self.aggregation == "sparsemax":
            raise InputError(f"to_torch: {self.kind} layers with {self.aggregation} are not among those written for PyTorch")
        final = config.get("final_activation", True)
        self.message = Mlp(_take(parameters, "message."), config.get("activation", "leaky-relu"), final)
        score = _take(parameters, "aggregator.score.")
        self.score = _linear(score) if score else None
        self.homogeneous = config.get("homogeneous", False)
        self.reads_input = config["input_width"] > 0
        self.receiver_first = config.get("edge_order") == "receiver-first"
        self.keeps_max = config.get("update", "keep-max") == "keep-max"
        self.keeps_isolated = config.get("isolated", "keep") == "keep"

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        nodes = torch.cat([input, hidden], 1) if self.reads_input else hidden
        senders, receivers = edge_index
        ends = (nodes[receivers], nodes[senders]) if self.receiver_first else (nodes[senders], nodes[receivers])
        both = torch.cat([*ends, edge_attr], 1)
        read = torch.cat([nodes[senders], edge_attr], 1) if self.kind == "path-sim" else both
        messages, count = self.message(read), len(hidden)
        if self.aggregation == "attention":
            weights = _softmax(self.score(both), receivers, count, self.homogeneous)
            gathered = _pool(weights * messages, receivers, count, "sum")
        else:
            gathered = _pool(messages, receivers, count, self.aggregation)
        changed = torch.maximum(hidden, gathered) if self.keeps_max else gathered
        if not self.keeps_isolated:
            return changed
        hears = torch.zeros(count, 1, dtype=torch.bool, device=hidden.device)
        hears[receivers] = True
        return torch.where(hears, changed, hidden)


class Block(nn.Module):
    """Layers and the rule that composes them."""

    def __init__(self, config: dict[str, Any], parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        self.controller = dict(config["controller"])
        self.kind = self.controller["kind"]
        if self.kind == "act":
            raise InputError("to_torch: adaptive computation time is not written for PyTorch")
        if self.kind == "stack":
            count = self.controller.get("layers", 30)
            found = [_take(parameters, f"layers.{index}.") for index in range(count)]
        else:
            found = [_take(parameters, "layer.")]
        self.layers = nn.ModuleList(Layer(config["layer"], weights) for weights in found)
        if self.kind in ("iter", "iter-decay"):
            self.confidence = _linear(_take(parameters, "confidence.linear."))
            self.pooling = self.controller.get("pooling", "max")
            if self.controller.get("scope", "graph") == "graph" and self.pooling not in ("max", "min", "mean", "sum"):
                raise InputError(f"to_torch: confidences pooled by {self.pooling} are not written for PyTorch")

    def forward(
        self, input: Tensor, hidden: Tensor, edges: tuple[Tensor, Tensor], batch: Tensor, graphs: int, cap: int | None
    ) -> tuple[Tensor, Tensor]:
        if self.kind == "stack":
            for layer in self.layers:
                hidden = layer(input, hidden, *edges)
            return hidden, torch.full((graphs,), len(self.layers))
        if self.kind == "shared":
            steps = cap or self.controller.get("inference_steps") or self.controller.get("steps", 30)
            for _ in range(steps):
                hidden = self.layers[0](input, hidden, *edges)
            return hidden, torch.full((graphs,), steps)
        return self._iterate(input, hidden, edges, batch, graphs, cap)

    def _iterate(
        self, input: Tensor, hidden: Tensor, edges: tuple[Tensor, Tensor], batch: Tensor, graphs: int, cap: int | None
    ) -> tuple[Tensor, Tensor]:
        rule = self.controller
        decay = rule.get("decay", 0.9999) if self.kind == "iter-decay" else 1.0
        epsilon, by_node = rule.get("epsilon", 1e-7), rule.get("scope", "graph") == "node"
        elements = len(hidden) if by_node else graphs
        of_node = torch.arange(len(hidden), device=hidden.device) if by_node else batch
        left, spent = hidden.new_ones(elements, 1), hidden.new_zeros(elements, 1)
        running = torch.ones(elements, 1, dtype=torch.bool, device=hidden.device)
        total, steps = torch.zeros_like(hidden), torch.zeros(elements, dtype=torch.long)
        for step in range(1, (cap or rule.get("inference_cap") or _SAFETY_CAP) + 1):
            hidden = self.layers[0](input, hidden, *edges)
            features = hidden if by_node else _pool(hidden, batch, graphs, self.pooling)
            if rule.get("scale_free", False):
                norm = features.abs().sum(1, keepdim=True)
                features = features / torch.where(norm == 0, torch.ones_like(norm), norm)
            confidence = torch.sigmoid(self.confidence(features))
            weight = left * confidence
            steps[running[:, 0].cpu()] = step
            total = torch.where(running[of_node], decay * total + weight[of_node] * hidden, total)
            spent = torch.where(running, decay * spent + weight, spent)
            left = torch.where(running, decay * (1 - confidence) * left, left)
            running = running & (left > epsilon)
            if not running.any():
                break
        if rule.get("normalised", False):
            total = total / torch.where(spent == 0, torch.ones_like(spent), spent)[of_node]
        if by_node:
            steps = torch.zeros(graphs, dtype=torch.long).scatter_reduce(0, batch.cpu(), steps, "amax")
        return total, steps


class GraphModule(nn.Module):
    """Embedding, blocks, readout and head of a model, in PyTorch.

    `forward(x, edge_index, edge_attr, batch)` gives `[graphs, outputs]`, or `[nodes, outputs]` for node-level models;
    `batch` says which graph a node belongs to, as in PyTorch Geometric. `iterations` then has the steps per graph.
    """

    def __init__(self, config: dict[str, Any], parameters: dict[str, np.ndarray]) -> None:
        super().__init__()
        if config.get("architecture") != "graph":
            raise InputError(f"to_torch: {config.get('architecture')} networks are not written for PyTorch")
        weights = _take(parameters, "network.")
        self.embedding = Mlp(_take(weights, "embedding."), final=config.get("embedding_final_activation", True))
        blocks = enumerate(config["blocks"])
        self.blocks = nn.ModuleList(Block(block, _take(weights, f"blocks.{index}.")) for index, block in blocks)
        self.readout = config.get("readout", "max")
        if self.readout not in ("max", "min", "mean", "sum", "node", "first", "head-tail"):
            raise InputError(f"to_torch: the readout {self.readout} is not written for PyTorch")
        self.head = Mlp(_take(weights, "head."), final=config.get("head_final_activation", False))
        self.iterations: Tensor | None = None

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        batch: Tensor | None = None,
        max_iterations: int | None = None,
    ) -> Tensor:
        batch = torch.zeros(len(x), dtype=torch.long, device=x.device) if batch is None else batch
        graphs = int(batch.max()) + 1 if len(batch) else 0
        edge_attr = edge_attr[:, None] if edge_attr.ndim == 1 else edge_attr
        hidden, self.iterations = self.embedding(x), torch.zeros(graphs, dtype=torch.long)
        for block in self.blocks:
            hidden, steps = block(x, hidden, (edge_index, edge_attr), batch, graphs, max_iterations)
            self.iterations = self.iterations + steps
        if self.readout == "node":
            return self.head(hidden)
        if self.readout in ("first", "head-tail"):
            counts = torch.bincount(batch, minlength=graphs)
            last = counts.cumsum(0) - 1
            first = last - counts + 1
            if self.readout == "first":
                return self.head(hidden[first])
            return torch.cat([self.head(hidden[first]), self.head(hidden[last])], 1)
        return self.head(_pool(hidden, batch, graphs, self.readout))
