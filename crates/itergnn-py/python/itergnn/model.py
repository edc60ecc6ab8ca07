"""Trained networks."""

from __future__ import annotations

import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .convert import Names, graph, graphs, node_index
from .sampling import task_settings

__all__ = ["Model", "Prediction", "Solution", "Trace", "evaluate", "load"]


@dataclass(frozen=True)
class Prediction:
    """What a model says about a graph."""

    values: np.ndarray
    """`[1, outputs]`; of models of that level one row per node, or per edge in the order given. Of models that point,
    per node the number of the incoming edge it chooses, or -1 for itself."""
    iterations: int
    """Steps of all blocks."""
    capped: bool
    """Whether a cap ended a loop: then the values are not the model's own last word."""

    def __float__(self) -> float:
        return float(self.values.item())


@dataclass(frozen=True)
class Solution:
    """A path that a model found by nothing but predicted lengths."""

    path: list | None
    """Nodes as the graph names them; `None` where the predictions led nowhere."""
    length: float | None
    """The path's true length."""
    predicted_length: float
    iterations: int
    """Of the prediction for source and target."""
    predictions: int
    """How many the walk needed."""


@dataclass(frozen=True)
class Trace:
    """One block of a network, step by step."""

    steps: np.ndarray
    """`[steps]`, counted from 1."""
    confidence: np.ndarray
    """`[steps]`, or `[steps, nodes]` where nodes have their own; empty for a stack."""
    remaining: np.ndarray
    """The probability left after each step, shaped like `confidence`."""
    change: np.ndarray
    """`[steps]`: the largest change of any number in the state."""
    states: np.ndarray
    """`[steps, nodes, channels]`: the state of every node after each step."""


class Model:
    """A network with its weights: ask it, keep it, look inside.

    `itergnn.load` reads one, `itergnn.train` makes one.
    """

    def __init__(self, inner: _core.Model) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The preset it was made of, such as `iter-homo-path`."""
        return self._inner.card["name"]

    @property
    def task(self) -> str:
        """The task it was trained on."""
        return self._inner.card["task"]

    @property
    def card(self) -> dict[str, Any]:
        """Where it comes from: name, task, seed, training."""
        return self._inner.card

    @property
    def config(self) -> dict[str, Any]:
        """The network's settings, as its file has them."""
        return self._inner.config

    def describe(self) -> str:
        """The architecture in one line."""
        return self._inner.describe()

    def parameters(self) -> dict[str, np.ndarray]:
        """The weights by name; a linear map has `[inputs, outputs]`."""
        return self._inner.parameters()

    def save(self, path: str | os.PathLike) -> None:
        """Writes a `.safetensors` file that `itergnn.load` and the command line read."""
        self._inner.save(os.fspath(path))

    def predict(self, source: Any, *, max_iterations: int | None = None, **options: Any) -> Any:
        """A `Prediction` for a graph, or a list of them for a list; graphs may be of any library that `itergnn.graph`
        reads, and `options` are its. Many graphs are computed together, in parallel."""
        made, single = graphs(source, **options)
        answers = [Prediction(*answer) for answer in self._inner.predict(made, max_iterations)]
        return answers[0] if single else answers

    def solve(self, source: Any, start: Any, target: Any, *, weight: Names = "weight") -> Solution:
        """A path from `start` to `target`, named as the graph names its nodes, found by walking along predicted
        lengths. The model never sees an exact answer; `itergnn.exact.shortest_path` tells how good the path is."""
        made = graph(source, edge_attributes=weight)
        found = self._inner.solve(made, node_index(made, start), node_index(made, target))
        path, predicted, iterations, predictions = found
        if path is None:
            return Solution(None, None, predicted, iterations, predictions)
        nodes = path[0] if made.names is None else [made.names[node] for node in path[0]]
        return Solution(nodes, path[1], predicted, iterations, predictions)

    def trace(
        self,
        source: Any,
        *,
        channels: list[int] | None = None,
        max_iterations: int | None = None,
        **options: Any,
    ) -> list[Trace]:
        """Every step of every block on one graph, as arrays.

        States are kept for all channels, or for those asked for; every channel is one more run of the network.
        """
        made = graph(source, **options)
        if channels is None:
            channels = list(range(self.config.get("hidden_width", 1)))
        runs = [self._inner.trace(made, channel, max_iterations) for channel in channels or [0]]
        return [self._block([run[block] for run in runs]) for block in range(len(runs[0]))]

    @staticmethod
    def _block(runs: list[dict[str, Any]]) -> Trace:
        first = runs[0]
        confidence, remaining = (np.array(first[name], dtype=np.float64) for name in ("confidence", "remaining"))
        if confidence.ndim == 2 and confidence.shape[1] == 1:
            confidence, remaining = confidence[:, 0], remaining[:, 0]
        states = np.stack([np.array(run["channel"], dtype=np.float32) for run in runs], axis=-1)
        return Trace(np.array(first["step"]), confidence, remaining, np.array(first["change"]), states)

    def to_torch(self) -> Any:
        """The network as a `torch.nn.Module` in pure PyTorch, with the same weights: `module(x, edge_index, edge_attr)`
        predicts for one graph, `module(x, edge_index, edge_attr, batch)` for a batch as in PyTorch Geometric. See
        `itergnn.torch`."""
        from .torch import module

        return module(self.config, self.parameters())

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "model.safetensors")
            self.save(file)
            return _of_bytes, (file.read_bytes(),)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, task={self.task!r})"


def _of_bytes(content: bytes) -> Model:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "model.safetensors")
        file.write_bytes(content)
        return load(file)


def load(path: str | os.PathLike) -> Model:
    """The model of a `.safetensors` file, or the best one of a run directory."""
    return Model(_core.Model.load(os.fspath(path)))


def evaluate(
    model: Model | str | os.PathLike,
    *,
    task: str | None = None,
    count: int = 100,
    seed: int = 0,
    success: bool = False,
    max_iterations: int | None = None,
    device: str = "cpu",
    **settings: Any,
) -> dict[str, Any]:
    """How good a model is on test samples: what `itergnn eval --json` prints, as a dictionary.

    `task` is the model's own unless given; `generator`, `size`, `weights` and other settings are those of
    `itergnn.sample`, on top of what the model was trained on. With `success` paths are walked and counted. `device` is
    cpu or cuda.
    """
    found = model if isinstance(model, Model) else load(model)
    trained = found.card.get("training") or {}
    base = dict((trained.get("config") or {}).get("task") or {}) if task in (None, found.task) else {}
    asked = task_settings(task or found.task, **settings)
    return found._inner.evaluate({**base, **asked}, count, seed, success, max_iterations, device)
