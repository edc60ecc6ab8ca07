"""Whole networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from .controllers import Block
from .layers import Gin
from .parts import Mlp, Readout, Weights, activate, linear, take, weights

__all__ = ["ClassifierModule", "GraphModule", "ImageModule"]


class _OfGraphs(nn.Module):
    """What modules on graphs share.

    `forward(x, edge_index, edge_attr, batch)` takes tensors as PyTorch Geometric has them: `batch` says which graph a
    node belongs to, and may be left out for a single graph. `iterations` then has the steps per graph, `auxiliary_loss`
    what the controllers charge in training.
    """

    iterations: Tensor | None = None
    auxiliary_loss: Tensor | None = None

    def _begin(self, x: Tensor, batch: Tensor | None) -> tuple[Tensor, int]:
        batch = torch.zeros(len(x), dtype=torch.long, device=x.device) if batch is None else batch
        graphs = int(batch.max()) + 1 if len(batch) else 0
        self.iterations, self.auxiliary_loss = torch.zeros(graphs, dtype=torch.long), x.new_zeros(())
        return batch, graphs

    def _run(self, block: Block, *arguments: Any) -> Tensor:
        hidden, steps, charge = block(*arguments)
        self.iterations, self.auxiliary_loss = self.iterations + steps, self.auxiliary_loss + charge
        return hidden


class GraphModule(_OfGraphs):
    """Embedding, blocks, readout and head of a model, in PyTorch.

    The result is `[graphs, outputs]`; `[nodes, outputs]` or `[edges, outputs]` (in the order of `edge_index`) for
    models of that level. A model that points gives scores `[edges + nodes, 1]`: of every edge to be chosen by its
    receiver, then of every node to be chosen by itself.
    """

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__()
        found, self.level, self.unit = take(parameters, "network."), config["readout"], config.get("unit", 1.0)
        self.embedding = Mlp(take(found, "embedding."), final=config["embedding_final_activation"])
        blocks = enumerate(config["blocks"])
        self.blocks = nn.ModuleList(Block(block, take(found, f"blocks.{index}.")) for index, block in blocks)
        self.head = Mlp(take(found, "head."), final=config["head_final_activation"])
        readout = take(found, "readout.")
        if self.level in ("edge", "pointer"):
            self.edge = Mlp(take(readout, "edge."))
        if self.level == "pointer":
            self.own = Mlp(take(readout, "own."))
        self.pooling = Readout(self.level, config["prior"] != "none", readout)

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor,
        batch: Tensor | None = None,
        max_iterations: int | None = None,
    ) -> Tensor:
        batch, graphs = self._begin(x, batch)
        edge_attr = edge_attr[:, None] if edge_attr.ndim == 1 else edge_attr
        x, edge_attr = x / self.unit, edge_attr / self.unit
        hidden = self.embedding(x)
        for block in self.blocks:
            hidden = self._run(block, x, hidden, (edge_index, edge_attr), batch, graphs, max_iterations)
        return self._read(x, hidden, edge_index, edge_attr, batch, graphs) * self.unit

    def _read(
        self, x: Tensor, hidden: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor, graphs: int
    ) -> Tensor:
        if self.level == "node":
            return self.head(hidden)
        if self.level == "head-tail":
            # Each end is predicted for itself, so the head comes first.
            return self.pooling(x, self.head(hidden), batch, graphs)
        if self.level in ("edge", "pointer"):
            senders, receivers = edge_index
            edges = self.edge(torch.cat([hidden[senders], hidden[receivers], edge_attr], 1))
            return self.head(edges if self.level == "edge" else torch.cat([edges, self.own(hidden)]))
        return self.head(self.pooling(x, hidden, batch, graphs))


class ClassifierModule(_OfGraphs):
    """GIN or Iter-GIN with jumping knowledge: the pooled states of all blocks vote. `[graphs, classes]`."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__()
        found, controller, self.dropout = take(parameters, "network."), config["controller"], config["dropout"]
        # What the engine's classifiers are made of: sum, two maps with normalisation and ReLU.
        iterated = controller is not None and controller["kind"] in ("iter", "iter-decay")
        gin = {
            "kind": "gin",
            "input_width": 0,
            "global_width": 0,
            "activation": "relu",
            "final_activation": True,
            "batch_norm": True,
            "homogeneous": False,
            "eps": 0.0,
            "norm_steps": controller["training_cap"] if iterated else 1,
        }
        count, embedding = range(config["blocks"]), take(found, "embedding.")
        self.embedding = Mlp(embedding, "relu") if embedding else None
        if controller is None:
            blocks = [Gin(gin, take(found, f"blocks.{index}.")) for index in count]
        else:
            block = {"layer": gin, "controller": controller}
            blocks = [Block(block, take(found, f"iterated.{index}.")) for index in count]
        self.blocks = nn.ModuleList(blocks)
        self.votes = nn.ModuleList(linear(take(found, f"votes.{index}.")) for index in range(config["blocks"] + 1))
        self.pooling = Readout(config["pooling"], False, {})

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_attr: Tensor | None = None,
        batch: Tensor | None = None,
        max_iterations: int | None = None,
    ) -> Tensor:
        batch, graphs = self._begin(x, batch)
        hidden = x if self.embedding is None else self.embedding(x)
        edges, states = (edge_index, x.new_zeros(edge_index.shape[1], 0)), [x]
        for block in self.blocks:
            if isinstance(block, Gin):
                hidden = block(x, hidden, *edges, 1)
            else:
                hidden = self._run(block, x, hidden, edges, batch, graphs, max_iterations)
            states.append(hidden)
        votes = (vote(self.pooling(x, state, batch, graphs)) for vote, state in zip(self.votes, states, strict=True))
        return sum(nn.functional.dropout(vote, self.dropout, self.training) for vote in votes)


class ImageModule(nn.Module):
    """A convolutional network: `forward(images)` takes `[images, channels, height, width]` and gives `[images,
    outputs]`."""

    def __init__(self, config: dict[str, Any], parameters: Weights) -> None:
        super().__init__()
        found, hidden, kernel = take(parameters, "network."), config["hidden_width"], config["kernel"]
        self.embedding = Mlp(take(found, "embedding."))
        self.convolutions = nn.ModuleList()
        for index in range(config["depth"]):
            convolution = nn.Conv2d(hidden, hidden, kernel, padding="same")
            given = take(found, f"convolutions.convolutions.{index}.")
            convolution.weight, convolution.bias = weights(given["weight"]), weights(given["bias"])
            self.convolutions.append(convolution)
        self.head = linear(take(found, "head."))

    def forward(self, images: Tensor) -> Tensor:
        state = self.embedding(images.movedim(1, 3)).movedim(3, 1)
        for convolution in self.convolutions:
            state = activate(convolution(state), "leaky-relu")
        return self.head(state.flatten(2).amax(2))
