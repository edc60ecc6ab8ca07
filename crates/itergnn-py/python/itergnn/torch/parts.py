"""What layers and networks are made of: maps, and sums, maxima and attention over groups of rows."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

SLOPES = {"identity": 1.0, "relu": 0.0, "leaky-relu": 0.01}
# A range of scores below this share of the largest score is rounding noise; the engine treats it as zero too.
_NOISE = 1e-4
# Halves the bracket of a threshold to less than the spacing of 32-bit numbers.
_HALVINGS = 40

Weights = dict[str, np.ndarray]


def take(parameters: Weights, prefix: str) -> Weights:
    """The parameters below a prefix, by the rest of their names."""
    return {name[len(prefix) :]: value for name, value in parameters.items() if name.startswith(prefix)}


def weights(value: np.ndarray) -> nn.Parameter:
    """A parameter of these numbers."""
    return nn.Parameter(torch.tensor(value, dtype=torch.float32))


def linear(parameters: Weights) -> nn.Linear:
    """An affine map; ours are `[inputs, outputs]`, PyTorch's the other way round."""
    weight, bias = parameters["weight"], parameters.get("bias")
    map = nn.Linear(weight.shape[0], weight.shape[1], bias=bias is not None)
    map.weight = weights(weight.T)
    if bias is not None:
        map.bias = weights(bias)
    return map


def activate(values: Tensor, activation: str) -> Tensor:
    """An activation by its name."""
    return nn.functional.leaky_relu(values, SLOPES[activation])


class Mlp(nn.Module):
    """Affine maps with an activation after each; after the last one only if `final`."""

    def __init__(self, parameters: Weights, activation: str = "leaky-relu", final: bool = True) -> None:
        super().__init__()
        count = 1 + max(int(name.split(".")[1]) for name in parameters if name.startswith("layers."))
        self.layers = nn.ModuleList(linear(take(parameters, f"layers.{index}.")) for index in range(count))
        self.activation, self.final = activation, final

    def activated(self, state: Tensor, index: int) -> Tensor:
        """The output of a map after its activation, where it has one."""
        return activate(state, self.activation) if index < len(self.layers) - 1 or self.final else state

    def forward(self, state: Tensor) -> Tensor:
        for index, map in enumerate(self.layers):
            state = self.activated(map(state), index)
        return state


def pool(values: Tensor, groups: Tensor, count: int, how: str) -> Tensor:
    """Rows of a group as one row; zero for a group without rows."""
    reduce = {"max": "amax", "min": "amin", "mean": "mean", "sum": "sum"}[how]
    index = groups[:, None].expand_as(values)
    empty = values.new_zeros(count, values.shape[1])
    return empty.scatter_reduce(0, index, values, reduce, include_self=False)


def attention(scores: Tensor, groups: Tensor, count: int, scale_invariant: bool, sparse: bool = False) -> Tensor:
    """Weights that sum to 1 over each group: softmax or sparsemax, of scores without their scale if asked for."""
    highest = pool(scores, groups, count, "max")
    shifted = scores - highest[groups]
    if scale_invariant:
        spread = highest - pool(scores, groups, count, "min")
        largest = pool(scores.abs(), groups, count, "max")
        spread = torch.where(spread <= _NOISE * largest, torch.ones_like(spread), spread)
        shifted = shifted / spread[groups]
    if sparse:
        return _sparsemax(shifted, groups, count)
    powers = shifted.exp()
    return powers / pool(powers, groups, count, "sum")[groups]


def _sparsemax(shifted: Tensor, groups: Tensor, count: int) -> Tensor:
    """`max(score - threshold, 0)`, where the threshold makes the sum 1; the largest score of a group is 0."""
    fixed = shifted.detach()
    high, low = fixed.new_zeros(count, fixed.shape[1]), fixed.new_full((count, fixed.shape[1]), -1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        heavy = pool((fixed - middle[groups]).clamp(min=0), groups, count, "sum") > 1
        low, high = torch.where(heavy, middle, low), torch.where(heavy, high, middle)
    # The bisection tells who has any weight; the threshold of these is a formula with a gradient.
    inside = (fixed > low[groups]).to(shifted.dtype)
    members = pool(inside, groups, count, "sum").clamp(min=1)
    threshold = (pool(shifted * inside, groups, count, "sum") - 1) / members
    return (shifted - threshold[groups]).clamp(min=0)


class Aggregator(nn.Module):
    """Messages to a node as one vector, with a learned score where the rule has one."""

    def __init__(self, rule: str, scale_invariant: bool, parameters: Weights) -> None:
        super().__init__()
        self.rule, self.scale_invariant = rule, scale_invariant
        self.score = linear(take(parameters, "score.")) if rule in ("attention", "sparsemax") else None

    def forward(self, messages: Tensor, keys: Tensor, receivers: Tensor, count: int) -> Tensor:
        if self.score is None:
            return pool(messages, receivers, count, self.rule)
        shares = attention(self.score(keys), receivers, count, self.scale_invariant, self.rule == "sparsemax")
        return pool(shares * messages, receivers, count, "sum")


class Readout(nn.Module):
    """Node states as a graph's."""

    def __init__(self, kind: str, scale_invariant: bool, parameters: Weights) -> None:
        super().__init__()
        self.kind, self.scale_invariant = kind, scale_invariant
        self.score = linear(take(parameters, "score.")) if kind == "attention" else None

    def forward(self, input: Tensor, hidden: Tensor, batch: Tensor, graphs: int) -> Tensor:
        if self.score is not None:
            shares = attention(self.score(torch.cat([input, hidden], 1)), batch, graphs, self.scale_invariant)
            return pool(shares * hidden, batch, graphs, "sum")
        if self.kind in ("first", "head-tail"):
            counts = torch.bincount(batch, minlength=graphs)
            last = counts.cumsum(0) - 1
            first = hidden[last - counts + 1]
            return first if self.kind == "first" else torch.cat([first, hidden[last]], 1)
        return pool(hidden, batch, graphs, self.kind)
