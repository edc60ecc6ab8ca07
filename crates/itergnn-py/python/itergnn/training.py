"""Training."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._core import Graph, Sample
from .convert import array, graph
from .errors import InputError
from .model import Model, load
from .sampling import task_settings

__all__ = ["Run", "SeedRun", "run_config", "train"]


@dataclass(frozen=True)
class SeedRun:
    """How the training of one seed ended."""

    seed: int
    directory: pathlib.Path
    status: str
    """finished, stopped early, stopped (resume goes on), or failed."""
    error: str | None
    steps: int
    best_epoch: int | None
    best_value: float | None
    seconds: float


@dataclass
class Run:
    """A training: its model, its numbers, its directory."""

    directory: pathlib.Path
    seeds: list[SeedRun]
    records: list[dict[str, Any]] = field(repr=False)
    """What the run said about itself: the lines of its `metrics.jsonl`."""
    _kept: Any = field(default=None, repr=False)

    @property
    def best(self) -> SeedRun:
        """The seed with the best validation."""
        done = [seed for seed in self.seeds if seed.best_value is not None]
        if not done:
            raise InputError(f"{self.directory}: no epoch was finished, so there is no model yet")
        return min(done, key=lambda seed: seed.best_value)

    @property
    def model(self) -> Model:
        """The model of the best epoch of the best seed."""
        return load(self.best.directory)

    def models(self) -> dict[int, Model]:
        """The model of every seed that has one."""
        return {seed.seed: load(seed.directory) for seed in self.seeds if seed.best_value is not None}

    @property
    def metrics(self) -> Any:
        """A pandas frame with one row per epoch (or per report of a run that plays), validation numbers flattened."""
        import pandas

        kept = [record for record in self.records if record["kind"] != "step"]
        return pandas.json_normalize(kept, sep="_").drop(columns="kind", errors="ignore")

    @property
    def steps(self) -> Any:
        """A pandas frame with one row per recorded step: loss, gradient norm, learning rate, speed."""
        import pandas

        kept = [record for record in self.records if record["kind"] == "step"]
        return pandas.DataFrame(kept).drop(columns="kind", errors="ignore")


def run_config(
    task: str | dict[str, Any],
    model: str | dict[str, Any] = "iter-homo-path",
    *,
    epochs: int | None = None,
    samples: int | None = None,
    validation: int | dict[str, Any] | None = None,
    seed: int = 0,
    **settings: Any,
) -> dict[str, Any]:
    """A run's configuration, with the names of a configuration file.

    `task` is a name or a table with settings (`{"task": "shortest-path", "size": "4..34"}`); `model` a preset or a
    table with changes to one; further settings stand where a file has them (`batch_size=32, optimiser={"learning_rate":
    1e-3}`).

    >>> from itergnn.training import run_config
    >>> run_config("tsp", "path", epochs=2, batch_size=8)["epochs"]
    2
    """
    config = {
        "task": {"task": task} if isinstance(task, str) else dict(task),
        "model": {"name": model} if isinstance(model, str) else dict(model),
        "seed": seed,
        **settings,
    }
    if epochs is not None:
        config["epochs"] = epochs
    if isinstance(validation, dict):
        # Runs that play judge themselves by games, not by samples.
        config["validation"], validation = validation, None
    counts = {"train": samples, "validation": validation}
    counts = {name: count for name, count in counts.items() if count is not None}
    if counts:
        config["data"] = {**config.get("data", {}), **counts}
    return config


def train(
    data: Any = None,
    *,
    validation_data: Any = None,
    level: str = "graph",
    classes: int | None = None,
    task: str | dict[str, Any] | None = None,
    model: str | dict[str, Any] = "iter-homo-path",
    config: dict[str, Any] | None = None,
    generator: str | None = None,
    size: int | str | tuple[int, int] | None = None,
    weights: str | tuple[float, float] | None = None,
    epochs: int | None = None,
    samples: int | None = None,
    validation: int | dict[str, Any] | None = None,
    seed: int = 0,
    seeds: int | Sequence[int] | None = None,
    device: str = "cpu",
    out: str | os.PathLike | None = None,
    resume: bool = False,
    workers: int | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
    progress: bool = True,
    **settings: Any,
) -> Run:
    """Trains a network on a task or on own labelled graphs; see `run_config` for the settings, or give a `config`.

    `data` is a list of `(graph, target)` pairs, of `Sample`s, or of PyTorch Geometric `Data` with `y` (any iterable of
    them, such as a dataset); graphs may be of any library that `itergnn.graph` reads. `level` says what targets belong
    to: graph, node, edge (in the order of the edges) or pointer (per node the number of an incoming edge, or -1). With
    `classes` they are classes, counted from 0. Without `validation_data` a tenth is held out to choose the best epoch.

    The run's files go to `out` (a temporary folder unless given): models, numbers, and a checkpoint from which
    `resume=True` goes on to the bit. Ctrl-C saves the state first. With `seeds` (a number or a list) the training is
    repeated, `workers` at a time. `callback` is called with every record of the log, a dictionary; what it raises ends
    the run. On `device="cuda"` all seeds are trained side by side on the first card.

    >>> import itergnn
    >>> run = itergnn.train(task="shortest-path", size=(4, 8), epochs=1, samples=16, validation=4,
    ...                     model={"name": "iter-homo-path", "hidden_width": 4}, progress=False)
    >>> run.seeds[0].status, list(run.metrics.epoch)
    ('finished', [1])
    >>> run.model.predict(itergnn.sample("shortest-path", 1, size=5)[0], max_iterations=50).values.shape
    (1, 1)
    """
    if data is not None and (task is not None or config is not None):
        raise InputError("train: give data, a task or a config, one of the three")
    if data is not None:
        task = {"task": "own", "level": level} | ({} if classes is None else {"classes": classes})
    if config is None:
        if task is None:
            raise InputError("train: give data, a task or a config")
        spec = task_settings(task, generator=generator, size=size, weights=weights) if isinstance(task, str) else task
        config = run_config(
            spec, model, epochs=epochs, samples=samples, validation=validation, seed=seed, **settings
        )
    kept = None if out else tempfile.TemporaryDirectory(prefix="itergnn-")
    directory = pathlib.Path(out or kept.name)
    records: list[dict[str, Any]] = []
    bar = _Bar(config) if progress else None

    def told(record: dict[str, Any]) -> None:
        records.append(record)
        if bar:
            bar.show(record)
        if callback:
            callback(record)

    several = list(range(seeds)) if isinstance(seeds, int) else None if seeds is None else list(seeds)
    ended = _core.train_run(
        json.dumps(config),
        os.fspath(directory),
        several,
        resume,
        workers or os.cpu_count() or 1,
        told,
        None if data is None else labelled(data),
        None if validation_data is None else labelled(validation_data),
        device,
    )
    if bar:
        bar.close()
    runs = [SeedRun(**{**one, "directory": pathlib.Path(one["directory"])}) for one in ended]
    return Run(directory, runs, records, kept)


def labelled(data: Any) -> list[tuple[Graph, list[float]]]:
    """Graphs with their targets, row after row, from pairs, samples or objects with `y`."""
    pairs = []
    for place, one in enumerate(data):
        if isinstance(one, Sample):
            source, target = one.graph, one.target
        elif isinstance(one, tuple) and len(one) == 2:
            source, target = one
        elif getattr(one, "y", None) is not None:
            source, target = one, one.y
        else:
            raise InputError(f"data: item {place} is no (graph, target) pair and has no `y`")
        numbers = np.asarray(array(target), dtype=np.float32).reshape(-1)
        pairs.append((graph(source), numbers.tolist()))
    return pairs


class _Bar:
    """One line on stderr that says where the run is; silent where stderr is no terminal."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.epochs = config.get("epochs")
        self.visible = sys.stderr.isatty()

    def show(self, record: dict[str, Any]) -> None:
        if not self.visible:
            return
        where = f"epoch {record['epoch']}" if "epoch" in record else f"step {record['step']}"
        loss = record.get("loss", record.get("train_loss"))
        text = f"seed {record['seed']}, {where}" + (f"/{self.epochs}" if self.epochs and "epoch" in record else "")
        print(f"\r{text}, loss {loss:.3e}" if loss is not None else f"\r{text}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.visible:
            print(file=sys.stderr)
