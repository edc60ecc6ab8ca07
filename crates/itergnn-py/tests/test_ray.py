"""Sweeps on Ray: two nodes on this machine, one of them killed in the middle. Needs Ray; says so where it is not."""

import subprocess
import sys
import threading
import time

import pytest
from conftest import SMALL

import itergnn
from itergnn.training import run_config

ray = pytest.importorskip("ray", reason="Ray is not installed: sweeps are not tested here")
import itergnn.ray  # noqa: E402


def config(model: str, epochs: int) -> dict:
    task = {"task": "shortest-path", "size": "4..10"}
    checkpoint = {"every_steps": 1}
    return run_config(task, {**SMALL, "name": model}, epochs=epochs, samples=64, validation=8, checkpoint=checkpoint)


@pytest.fixture
def cluster(monkeypatch):
    """A head without CPUs for tasks, and two workers as processes of their own, so that one can be killed."""
    from ray.cluster_utils import Cluster

    # Ray runs its workers with low priority, and beside anything else these tests would not end.
    monkeypatch.setenv("RAY_worker_niceness", "0")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    workers = [made.add_node(num_cpus=1, object_store_memory=100 * 2**20) for _ in range(2)]
    made.wait_for_nodes()
    yield made, workers
    ray.shutdown()
    made.shutdown()


def test_a_killed_node_loses_nothing(cluster, tmp_path):
    made, workers = cluster
    configs = [config("iter-homo-path", 150), config("iter-path", 150)]
    shared, results, killed = tmp_path / "shared", [], []

    def kill_one():
        # Two cells have left checkpoints, so both nodes are in the middle of one.
        while len({file.parts[-4:-2] for file in shared.glob("*/*/checkpoints/*")}) < 2:
            time.sleep(0.01)
        made.remove_node(workers[0], allow_graceful=False)
        killed.append(len(results))

    killer = threading.Thread(target=kill_one)
    killer.start()
    frame = itergnn.ray.sweep(configs, seeds=[0, 1], storage=shared, address=made.address, on_result=results.append,
                              progress=False)
    killer.join()
    assert killed == [0], "the node died too late: a cell was done before"
    assert list(frame.status) == ["finished"] * 4
    assert list(zip(frame.config, frame.seed, strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for number, settings in enumerate(configs):
        for seed in (0, 1):
            alone = itergnn.train(config={**settings, "seed": seed}, progress=False)
            row = frame[(frame.config == number) & (frame.seed == seed)].iloc[0]
            assert (row.best_value, row.steps) == (alone.best.best_value, alone.best.steps)
    # What is done is not done again.
    ages = {file: file.stat().st_mtime_ns for file in shared.rglob("*.safetensors")}
    again = itergnn.ray.sweep(configs, seeds=[0, 1], storage=shared, progress=False)
    assert (again.best_value == frame.best_value).all()
    assert ages == {file: file.stat().st_mtime_ns for file in shared.rglob("*.safetensors")}


def test_a_table_of_the_paper(cluster, tmp_path):
    made, _ = cluster
    command = [sys.executable, "-m", "itergnn.ray", "reproduce", "summary", "--address", made.address, "--quick",
               "--storage", str(tmp_path), "--samples", "8", "--epochs", "1"]
    jobs = itergnn._core.table_jobs("summary", [0], quick=True, samples=8, epochs=1)
    command += ["--experiment", min(job["experiment"] for job in jobs if job["experiment"].endswith("/gcn"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    heading, line = done.stdout.splitlines()
    assert heading.split()[:4] == ["model", "column", "quantity", "paper"] and line.split()[0] == "GCN"
    assert list((tmp_path / "results").glob("*gcn--seed-0.json"))


def test_a_table_that_does_not_exist_is_named(tmp_path):
    done = subprocess.run([sys.executable, "-m", "itergnn.ray", "reproduce", "lobster", "--storage", str(tmp_path)],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "there is no table 'lobster', only summary" in done.stderr
