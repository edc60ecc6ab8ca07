"""Layers and the rule that composes them: stacked, shared, or iterated until the network is sure."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .layers import layer
from .parts import Readout, Weights, linear, pool, take

__all__ = ["Block", "Outcome"]

_SAFETY_CAP = 100_000


class Outcome(NamedTuple):
    """What a block computed."""

    hidden: Tensor
    steps: Tensor
    """Per graph; of the slowest node where nodes stop on their own."""
    charge: Tensor
    """What the block adds to the loss in training."""


class Block(nn.Module):
    """A controller with its layers."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__()
        self.rule = rule = config["controller"]
        self.kind, self.by_node = rule["kind"], rule.get("scope") == "node"
        self.feeds_back = rule.get("feeds_back", False)
        prefixes = [f"layers.{index}." for index in range(rule["layers"])] if self.kind == "stack" else ["layer."]
        self.layers = nn.ModuleList(layer(config["layer"], take(parameters, prefix)) for prefix in prefixes)
        if self.kind in ("stack", "shared"):
            return
        self.confidence = linear(take(parameters, "confidence.linear."))
        readout = take(parameters, "confidence.readout.")
        homogeneous = config["layer"]["homogeneous"]
        self.readout = None if self.by_node else Readout(rule["pooling"], homogeneous, readout)

    def forward(
        self, input: Tensor, hidden: Tensor, edges: tuple[Tensor, Tensor], batch: Tensor, graphs: int, cap: int | None
    ) -> Outcome:
        if self.kind in ("stack", "shared"):
            layers = list(self.layers) if self.kind == "stack" else [self.layers[0]] * self._most_steps(cap)
            for layer in layers:
                hidden = layer(input, hidden, *edges, 1)
            return Outcome(hidden, torch.full((graphs,), len(layers)), hidden.new_zeros(()))
        return self._iterate(input, hidden, edges, batch, graphs, self._most_steps(cap))

    def _most_steps(self, cap: int | None) -> int:
        rule, shared = self.rule, self.kind == "shared"
        if cap is not None:
            return cap
        if self.training:
            return rule["steps" if shared else "training_cap"]
        given = rule["inference_steps" if shared else "inference_cap"]
        return given if given is not None else rule["steps"] if shared else _SAFETY_CAP

    def _sure(self, input: Tensor, hidden: Tensor, batch: Tensor, graphs: int) -> Tensor:
        """The probability of stopping now, per graph or per node."""
        features = hidden if self.readout is None else self.readout(input, hidden, batch, graphs)
        if self.rule["scale_free"]:
            norm = features.abs().sum(1, keepdim=True)
            features = features / torch.where(norm == 0, torch.ones_like(norm), norm)
        return torch.sigmoid(self.confidence(features))

    def _weigh(self, left: Tensor, sure: Tensor, step: int, capped: bool) -> tuple[Tensor, Tensor, Tensor]:
        """The weight of a step, the probability left after it, and what it costs."""
        rule, nothing = self.rule, torch.zeros_like(left)
        if self.kind == "act":
            after = left - sure
            stops = after <= rule["epsilon"]
            ends = torch.ones_like(stops) if capped else stops
            cost = rule["ponder_cost"] * (left if self.feeds_back else left + step)
            return torch.where(ends, left, sure), torch.where(stops, nothing, after), torch.where(ends, cost, nothing)
        after = rule["decay"] * (1 - sure) * left
        if capped and self.training and rule["settle"] is not None:
            return left, after, rule["settle"] * left
        return left * sure, after, nothing

    def _iterate(
        self, input: Tensor, hidden: Tensor, edges: tuple[Tensor, Tensor], batch: Tensor, graphs: int, cap: int
    ) -> Outcome:
        rule, act, count = self.rule, self.kind == "act", len(hidden)
        decay = 1.0 if act else rule["decay"]
        elements = count if self.by_node else graphs
        of_node = torch.arange(count, device=hidden.device) if self.by_node else batch
        left, spent = hidden.new_ones(elements, 1), hidden.new_zeros(elements, 1)
        running = torch.ones(elements, 1, dtype=torch.bool, device=hidden.device)
        total = hidden if self.feeds_back else torch.zeros_like(hidden)
        charge = hidden.new_zeros(())
        steps = torch.zeros(elements, dtype=torch.long, device=hidden.device)
        for step in range(1, cap + 1):
            hidden = self.layers[0](input, total if self.feeds_back else hidden, *edges, step)
            sure = self._sure(input, hidden, batch, graphs)
            weight, after, cost = self._weigh(left, sure, step, step == cap)
            steps = torch.where(running[:, 0], step, steps)
            charge = charge + torch.where(running, cost, torch.zeros_like(cost)).sum()
            moving = running
            if not act and rule["decay_finished"] and self.by_node:
                # Nodes that are done go on shrinking until their graph is done, as in the authors' code.
                moving = pool(running.to(hidden.dtype), batch, graphs, "max")[batch] > 0
            total = torch.where(moving[of_node], decay * total + weight[of_node] * hidden, total)
            spent = torch.where(moving, decay * spent + weight, spent)
            left = torch.where(moving, after, left)
            running = running & (left > rule["epsilon"])
            if not running.any():
                break
        if not act and rule["normalised"]:
            total = total / torch.where(spent == 0, torch.ones_like(spent), spent)[of_node]
        if self.by_node:
            slowest = torch.zeros(graphs, dtype=torch.long, device=steps.device)
            steps = slowest.scatter_reduce(0, batch, steps, "amax")
        return Outcome(total, steps.cpu(), charge / max(elements, 1))
