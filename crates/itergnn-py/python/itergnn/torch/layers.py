"""One step of message passing, in every form that the engine has."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..errors import InputError
from .parts import Aggregator, Mlp, Weights, activate, attention, pool, take, weights

__all__ = ["Gin", "layer"]


class Layer(nn.Module):
    """`forward(input, hidden, edge_index, edge_attr, step)` gives the new hidden state; `step` counts from 1."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.config = config

    def nodes(self, input: Tensor, hidden: Tensor) -> Tensor:
        """What a layer sees of a node: its attributes beside its state, where the layer reads them."""
        return torch.cat([input, hidden], 1) if self.config["input_width"] else hidden


class Path(Layer):
    """Path, path-sim and mpnn-max: messages by an MLP, the larger of old state and aggregate."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        rule = "max" if config["kind"] == "mpnn-max" else config["aggregation"]
        self.message = Mlp(take(parameters, "message."), config["activation"], config["final_activation"])
        self.aggregator = Aggregator(rule, config["homogeneous"], take(parameters, "aggregator."))

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        nodes, (senders, receivers) = self.nodes(input, hidden), edge_index
        ends = [nodes[senders], nodes[receivers]]
        both = torch.cat([*(ends[::-1] if self.config["edge_order"] == "receiver-first" else ends), edge_attr], 1)
        read = torch.cat([ends[0], edge_attr], 1) if self.config["kind"] == "path-sim" else both
        gathered = self.aggregator(self.message(read), both, receivers, len(hidden))
        changed = torch.maximum(hidden, gathered) if self.config["update"] == "keep-max" else gathered
        if self.config["isolated"] != "keep":
            return changed
        hears = torch.zeros(len(hidden), 1, dtype=torch.bool, device=hidden.device)
        hears[receivers] = True
        return torch.where(hears, changed, hidden)


class Gcn(Layer):
    """Graph convolution: PyG's `GCNConv`."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        self.weight = weights(parameters["weight"])
        self.bias = weights(parameters["bias"]) if "bias" in parameters else None

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        count, ones = len(hidden), hidden.new_ones(edge_index.shape[1], 1)
        edges = edge_attr if self.config["use_edge_attributes"] else ones
        if self.config["add_self_loops"]:
            # An old loop keeps its weight, a new one weighs 1.
            old = edge_index[0] == edge_index[1]
            loops = hidden.new_ones(count, 1).index_put((edge_index[0, old],), edges[old])
            edge_index, edges = _with_loops(edge_index, count), torch.cat([edges[~old], loops])
        senders, receivers = edge_index
        degree = pool(edges, receivers, count, "sum")
        # A node that hears nobody sends with weight 0.
        scale = torch.where(degree == 0, degree, torch.where(degree == 0, torch.ones_like(degree), degree).rsqrt())
        sent = (self.nodes(input, hidden) @ self.weight)[senders] * (scale[senders] * edges * scale[receivers])
        return _finished(self, pool(sent, receivers, count, "sum"))


class Gat(Layer):
    """Graph attention: PyG's `GATConv`."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        self.weight = weights(parameters["weight"])
        self.of_sender = weights(parameters["sender_attention"])
        self.of_receiver = weights(parameters["receiver_attention"])
        self.bias = weights(parameters["bias"]) if "bias" in parameters else None
        edge = config["use_edge_attributes"]
        self.edge_weight = weights(parameters["edge.weight"]) if edge else None
        self.of_edge = weights(parameters["edge.attention"]) if edge else None

    def _heads(self, values: Tensor) -> Tensor:
        return values.reshape(len(values), *self.of_sender.shape)

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        count = len(hidden)
        if self.config["add_self_loops"]:
            # The attribute of a loop is the mean of the other incoming ones.
            kept = edge_index[0] != edge_index[1]
            means = pool(edge_attr[kept], edge_index[1, kept], count, "mean")
            edge_index, edge_attr = _with_loops(edge_index, count), torch.cat([edge_attr[kept], means])
        senders, receivers = edge_index
        nodes = self._heads(self.nodes(input, hidden) @ self.weight)
        scores = (nodes * self.of_sender).sum(2)[senders] + (nodes * self.of_receiver).sum(2)[receivers]
        if self.of_edge is not None:
            scores = scores + (self._heads(edge_attr @ self.edge_weight) * self.of_edge).sum(2)
        scores = nn.functional.leaky_relu(scores, self.config["negative_slope"])
        shares = attention(scores, receivers, count, self.config["homogeneous"])
        sent = nodes[senders] * shares[:, :, None]
        output = self._heads(pool(sent.reshape(len(sent), -1), receivers, count, "sum"))
        return _finished(self, output.reshape(count, -1) if self.config["concat"] else output.mean(1))


class Gin(Layer):
    """The graph isomorphism layer: PyG's `GINConv`, with batch normalisation between maps and activations if asked for.

    Where it is iterated, every step has running statistics of its own; steps beyond the last share those.
    """

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        self.mlp = Mlp(take(parameters, "mlp."), config["activation"], config["final_activation"])
        self.eps = weights(parameters["learned_eps"]) if "learned_eps" in parameters else config["eps"]
        self.gammas, self.betas, self.steps = nn.ParameterList(), nn.ParameterList(), 0
        if config["batch_norm"]:
            maps = range(len(self.mlp.layers))
            self.gammas.extend(weights(parameters[f"norms.{map}.gamma"]) for map in maps)
            self.betas.extend(weights(parameters[f"norms.{map}.beta"]) for map in maps)
            self.steps = config["norm_steps"]
        for step in range(self.steps):
            for map in range(len(self.mlp.layers)):
                place = (step - 1) * len(self.mlp.layers) + map
                found = take(parameters, f"later_statistics.{place}." if step else f"norms.{map}.")
                for name in ("running_mean", "running_var"):
                    numbers = torch.tensor(found[name], dtype=torch.float32)
                    self.register_buffer(f"{name}_{step + 1}_{map}", numbers)

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        nodes, (senders, receivers) = self.nodes(input, hidden), edge_index
        state = nodes * (1 + self.eps) + pool(nodes[senders], receivers, len(nodes), "sum")
        if not self.steps:
            return self.mlp(state)
        for index, map in enumerate(self.mlp.layers):
            place = f"{min(step, self.steps)}_{index}"
            mean, variance = getattr(self, f"running_mean_{place}"), getattr(self, f"running_var_{place}")
            gamma, beta, learns = self.gammas[index], self.betas[index], self.training and len(state) > 1
            state = nn.functional.batch_norm(map(state), mean, variance, gamma, beta, learns)
            state = self.mlp.activated(state, index)
        return state


class PointNet(Layer):
    """Every node for itself."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        self.node = Mlp(take(parameters, "node."), config["activation"], config["final_activation"])

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        return self.node(self.nodes(input, hidden))


class GnBlock(Layer):
    """The general block without a global attribute: edges, then nodes are updated."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__(config)
        settings = config["activation"], config["final_activation"]
        self.edge, self.node = (Mlp(take(parameters, f"{name}."), *settings) for name in ("edge", "node"))
        aggregator = take(parameters, "edge_to_node.")
        self.aggregator = Aggregator(config["aggregation"], config["homogeneous"], aggregator)

    def forward(self, input: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, step: int) -> Tensor:
        nodes, (senders, receivers) = self.nodes(input, hidden), edge_index
        both = torch.cat([nodes[senders], nodes[receivers], edge_attr], 1)
        gathered = self.aggregator(self.edge(both), both, receivers, len(nodes))
        return self.node(torch.cat([gathered, nodes], 1))


def _with_loops(edge_index: Tensor, count: int) -> Tensor:
    """Edges without their loops, then one loop per node."""
    kept = edge_index[:, edge_index[0] != edge_index[1]]
    return torch.cat([kept, torch.arange(count, device=kept.device).expand(2, -1)], 1)


def _finished(layer: Gcn | Gat, output: Tensor) -> Tensor:
    """With bias and activation."""
    output = output if layer.bias is None else output + layer.bias
    return activate(output, layer.config["output_activation"])


_KINDS = {
    "path": Path,
    "path-sim": Path,
    "mpnn-max": Path,
    "gcn": Gcn,
    "gat": Gat,
    "gin": Gin,
    "point-net": PointNet,
    "gn-block": GnBlock,
}


def layer(config: dict[str, Any], parameters: Weights) -> Layer:
    """The layer of these settings and weights."""
    if config["global_width"]:
        raise InputError("to_torch: layers with a global attribute are not written for PyTorch")
    return _KINDS[config["kind"]](config, parameters)
