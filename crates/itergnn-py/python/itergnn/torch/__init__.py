"""The networks in pure PyTorch, with the weights of a trained model.

For programs that go on training there, or that check the engine against plain PyTorch. Covered: every network of the
paper (path, path-sim, mpnn-max, GCN, GAT, GIN, PointNet and general layers; stacked, shared, iterated with or without
decay, adaptive computation time; every readout), GIN classifiers with jumping knowledge, and convolutional networks.
The task-aligned families (max-plus, waves, one-tree) are not networks of layers and are refused.

In `eval()` mode, in which `Model.to_torch` gives it, a module predicts as the engine does. In `train()` mode loops are
capped as in the engine's training, normalisations learn, votes are dropped, and `module.auxiliary_loss` has what the
controllers charge; it belongs to the loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .networks import ClassifierModule, GraphModule, ImageModule

__all__ = ["ClassifierModule", "GraphModule", "ImageModule", "module"]

_KINDS = {"graph": GraphModule, "jumping-knowledge": ClassifierModule, "grid": ImageModule}


def module(config: dict[str, Any], parameters: dict[str, np.ndarray]) -> Any:
    """The module of a model's settings and weights, as `Model.config` and `Model.parameters` have them."""
    kind = _KINDS.get(config["architecture"])
    if kind is None:
        raise InputError(f"to_torch: {config['architecture']} networks are not written for PyTorch")
    return kind(config, parameters).eval()
