"""Sweeps and the paper's tables on a Ray cluster.

Every cell (a configuration and a seed, or an experiment of a table and a seed) is one Ray task with its share of CPUs.
Its files go to `storage`, which all nodes must see: what is done is not done again, and a cell whose worker was lost
goes on from its last checkpoint on another. Scheduling is Ray's.

    python -m itergnn.ray reproduce summary --address auto --storage /shared/itergnn --quick
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _core
from .errors import InputError, RunError

__all__ = ["reproduce", "sweep"]

# How often a cell is begun again after its worker was lost; checkpoints make that cheap.
_RETRIES = 100


def sweep(
    configs: Sequence[dict[str, Any]],
    seeds: Sequence[int] = (0,),
    *,
    storage: str | os.PathLike,
    address: str | None = None,
    cpus: float = 1,
    gpus: float = 0,
    evaluate: dict[str, Any] | None = None,
    progress: bool = True,
    on_result: Callable[[dict[str, Any]], None] | None = None,
) -> Any:
    """Trains every configuration (see `itergnn.training.run_config`) with every seed; returns a pandas frame.

    A row has `config` (its number), `seed`, `status`, `steps`, `best_epoch`, `best_value`, `directory`, and the numbers
    of `itergnn.evaluate(model, **evaluate)` if asked for. Rows are also given to `on_result` as they come. `storage`
    must be a folder that every node of the cluster sees; calling again with the same storage goes on. Every cell takes
    `cpus` of the cluster; with `gpus`, such as 0.25, that share of a card, on which it is trained.
    """
    import pandas

    folder = pathlib.Path(storage).absolute()
    cells = [
        {"config": {**config, "seed": int(seed)}, "number": number, "directory": os.fspath(_cell(folder, config, seed))}
        for number, config in enumerate(configs)
        for seed in seeds
    ]
    device = "cuda" if gpus else "cpu"
    work = [(cell, evaluate, device) for cell in cells]
    rows = _run(_train_cell, work, address, cpus, gpus, progress, on_result)
    frame = pandas.DataFrame(rows)
    return frame.sort_values(["config", "seed"], ignore_index=True) if len(frame) else frame


def reproduce(
    table: str,
    *,
    storage: str | os.PathLike,
    seeds: Sequence[int] = (0,),
    quick: bool = False,
    samples: int | None = None,
    epochs: int | None = None,
    experiments: Sequence[str] | None = None,
    address: str | None = None,
    cpus: float = 1,
    gpus: float = 0,
    progress: bool = True,
    on_result: Callable[[dict[str, Any]], None] | None = None,
) -> Any:
    """A table of the paper: every experiment and seed is a task; returns a pandas frame of its cells, ours beside the
    paper's. Results are the files that `itergnn reproduce` writes. `experiments` picks some by their names."""
    import pandas

    folder = os.fspath(pathlib.Path(storage).absolute())
    budget = {"quick": quick, "samples": samples, "epochs": epochs}
    jobs = _core.table_jobs(table, list(seeds), **budget)
    if experiments is not None:
        unknown = set(experiments) - {job["experiment"] for job in jobs}
        if unknown:
            raise InputError(f"table '{table}' has no experiment '{sorted(unknown)[0]}'")
        jobs = [job for job in jobs if job["experiment"] in set(experiments)]
    cell = {**budget, "device": "cuda" if gpus else "cpu"}
    work = [(table, job["experiment"], job["seed"], folder, cell) for job in jobs]
    results = _run(_table_cell, work, address, cpus, gpus, progress, on_result)
    done = [result for result in results if result is not None]
    cells = pandas.DataFrame(_core.table_cells(table, json.dumps(done), **budget))
    return cells if experiments is None else cells[cells.seeds + cells.failed > 0].reset_index(drop=True)


def _cell(folder: pathlib.Path, config: dict[str, Any], seed: int) -> pathlib.Path:
    """The folder of a cell: the same settings have the same one, whatever their place in the sweep."""
    text = json.dumps({**config, "seed": None}, sort_keys=True)
    return folder / hashlib.sha256(text.encode()).hexdigest()[:16] / f"seed-{int(seed)}"


def _train_cell(cell: dict[str, Any], evaluate: dict[str, Any] | None, device: str) -> dict[str, Any]:
    # Absolute: run as a script this function travels without its package.
    from itergnn.model import evaluate as judge
    from itergnn.training import train

    run = train(config=cell["config"], out=cell["directory"], resume=True, device=device, progress=False)
    seed = run.seeds[0]
    row = {
        "config": cell["number"],
        "seed": seed.seed,
        "status": seed.status,
        "steps": seed.steps,
        "best_epoch": seed.best_epoch,
        "best_value": seed.best_value,
        "directory": cell["directory"],
    }
    if evaluate is not None:
        report = judge(run.model, **evaluate)
        row.update({name: report[name] for name in ("relative_loss", "success_rate", "accuracy", "mse")})
    return row


def _table_cell(table: str, experiment: str, seed: int, folder: str, settings: dict[str, Any]) -> Any:
    return _core.run_job(table, experiment, seed, folder, **settings)


def _run(
    cell: Callable[..., Any],
    work: Sequence[tuple],
    address: str | None,
    cpus: float,
    gpus: float,
    progress: bool,
    on_result: Callable[[dict[str, Any]], None] | None,
) -> list[Any]:
    try:
        import ray
    except ImportError:
        raise RunError("Ray is not installed: pip install ray") from None
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    # A lost worker is Ray's to replace; what the library refuses would be refused again.
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=_RETRIES)(cell)
    waiting = [remote.remote(*arguments) for arguments in work]
    results: list[Any] = []
    for done in _as_they_come(ray, waiting):
        result = ray.get(done)
        results.append(result)
        if on_result:
            on_result(result)
        if progress and sys.stderr.isatty():
            print(f"\r{len(results)}/{len(work)} cells", end="", file=sys.stderr, flush=True)
    return results


def _as_they_come(ray: Any, waiting: list[Any]) -> Iterator[Any]:
    while waiting:
        done, waiting = ray.wait(waiting, num_returns=1)
        yield from done


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m itergnn.ray", description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    table = commands.add_parser("reproduce", help="run the cells of a table of the paper")
    table.add_argument("table", help="summary, lobsters, ablation, iterations or regular-graphs")
    table.add_argument("--address", help="an existing cluster (auto, or ray://HOST:PORT); this machine unless given")
    table.add_argument("--storage", required=True, help="a folder that every node sees")
    table.add_argument("--seeds", type=int, default=1, help="how many seeds")
    table.add_argument("--quick", action="store_true", help="the short version")
    table.add_argument("--samples", type=int, help="training samples")
    table.add_argument("--epochs", type=int, help="epochs")
    table.add_argument("--experiment", action="append", help="only this one; may be given several times")
    table.add_argument("--cpus", type=float, default=1, help="CPUs per cell")
    table.add_argument("--gpus", type=float, default=0, help="share of a GPU per cell, which then is trained there")
    given = parser.parse_args(arguments)
    try:
        cells = reproduce(
            given.table,
            storage=given.storage,
            seeds=range(given.seeds),
            quick=given.quick,
            samples=given.samples,
            epochs=given.epochs,
            experiments=given.experiment,
            address=given.address,
            cpus=given.cpus,
            gpus=given.gpus,
        )
    except InputError as error:
        print(f"itergnn.ray: {error}", file=sys.stderr)
        return 2
    print(cells.to_string(index=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
