"""The Python package beside what its users have now: NetworkX, and PyTorch with PyG. One run, on an idle machine.

    pip install target/wheels/itergnn-*.whl networkx pandas -r benches/pyg/requirements.txt    # wheel: cargo xtask wheel
    python benches/python/compare.py --threads 2

Four rows: 10,000 lobsters drawn; an epoch of training; a prediction on a lobster of about 1,000,000 nodes; and what the
Python layer adds to an epoch. PyG's side is `benches/pyg/models.py`, the same network with our weights, in its two
spellings (what a user writes, and one that multiplies before it gathers); the faster one counts. Its batches are made
beforehand, ours within the time. Both sides are checked to predict the same. `--smoke` runs everything in small, to see
that it runs: its numbers mean nothing.
"""

import argparse
import os
import pathlib
import platform
import random
import sys
import time

import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[1] / "pyg"))
TRAINING, ASKING = 30, 4  # iterations


def timed(work, repeats):
    """The least of a few times, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def networkx_lobster(networkx, n, p1, p2):
    """The paper's lobster, drawn as the generator draws it: networkx.random_lobster has another distribution."""
    graph = networkx.path_graph(n)
    leaves = sum(random.random() < p1 for _ in range(n))
    first = range(n, n + leaves)
    for leaf in first:
        graph.add_edge(random.randrange(n), leaf)
    for leaf in range(n + leaves, n + leaves + sum(random.random() < p2 for _ in range(leaves))):
        graph.add_edge(random.choice(first), leaf)
    return graph


def sampling(itergnn, count):
    import networkx

    ours, _ = timed(lambda: itergnn.generators.lobster(34, count=count), 3)
    theirs, _ = timed(lambda: [networkx_lobster(networkx, 34, 0.2, 0.2) for _ in range(count)], 1)
    return f"{count:,} lobsters of size 34", ours, "NetworkX", theirs


class PythonsShare:
    """How long a training spends in Python: before and after the engine, and in the callbacks that it makes."""

    def __init__(self, itergnn):
        self.core, self.inside = itergnn.training._core, 0.0

    def __enter__(self):
        self.train_run = self.core.train_run
        self.core.train_run = self.timed
        self.began = time.perf_counter()
        return self

    def timed(self, *arguments):
        told = arguments[5]

        def callback(record):
            started = time.perf_counter()
            told(record)
            self.inside -= time.perf_counter() - started

        started = time.perf_counter()
        result = self.train_run(*arguments[:5], callback, *arguments[6:])
        self.inside += time.perf_counter() - started
        return result

    def __exit__(self, *_):
        self.wall = time.perf_counter() - self.began
        self.core.train_run = self.train_run


def spellings(models, torch, model):
    """PyG's network with the weights of ours."""
    weights = {name: torch.from_numpy(value.T.astype(np.float32)) for name, value in model.parameters().items()}
    places = {
        "embedding.0": "network.embedding.layers.0",
        "embedding.2": "network.embedding.layers.1",
        "step.first": "network.blocks.0.layer.message.layers.0",
        "step.second": "network.blocks.0.layer.message.layers.1",
        "confidence": "network.blocks.0.confidence.linear",
        "head": "network.head.layers.0",
    }
    for name, split in (("stock", False), ("split", True)):
        network = models.IterHomoPath("path-sim", "max", split)
        network.load_state_dict({f"{theirs}.weight": weights[f"{ours}.weight"] for theirs, ours in places.items()})
        yield name, network


def union(torch, graphs):
    """Graphs as PyG batches them, edges by receiver, which its scatter likes best."""
    counts = [graph.num_nodes for graph in graphs]
    offsets = np.cumsum([0] + counts)
    index = np.concatenate([graph.edge_index + at for graph, at in zip(graphs, offsets)], axis=1)
    edges = np.concatenate([graph.edge_attr for graph in graphs])
    order = np.argsort(index[1], kind="stable")
    x, senders, receivers, edges = (
        torch.from_numpy(part)
        for part in (np.concatenate([graph.x for graph in graphs]), index[0][order], index[1][order], edges[order])
    )
    of_graph = torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor(counts))
    return x, senders, receivers, edges, of_graph, len(graphs)


def epoch(models, torch, samples, run):
    """An epoch of batches of 32: forward, backward, Adam."""
    parts = [samples[at : at + 32] for at in range(0, len(samples), 32)]
    batches = [
        (union(torch, [sample.graph for sample in part]), torch.from_numpy(np.concatenate([sample.target for sample in part])))
        for part in parts
    ]
    times = {}
    for name, network in spellings(models, torch, run.model):
        adam = torch.optim.Adam(network.parameters(), lr=1e-3, eps=1e-5)

        def work():
            for inputs, targets in batches:
                adam.zero_grad()
                torch.nn.functional.mse_loss(network(*inputs), targets).backward()
                adam.step()

        times[name], _ = timed(work, 1)
    best = min(times, key=times.get)
    epochs = run.metrics.seconds.diff().dropna()
    return f"an epoch of {len(samples):,} samples, at most {TRAINING} iterations", float(epochs.min()), f"PyG ({best})", times[best]


def prediction(itergnn, models, torch, model, size):
    graph = itergnn.generators.lobster(size, seed=1)
    marks = np.zeros((graph.num_nodes, 3), dtype=np.float32)
    marks[:, 2] = 1
    marks[0], marks[size - 1] = (1, 0, 0), (0, 1, 0)
    graph = graph.with_attributes(x=marks, edge_attr=np.ones((graph.num_edges, 1), dtype=np.float32))
    ours, answer = timed(lambda: model.predict(graph, max_iterations=ASKING), 2)
    inputs, times = union(torch, [graph]), {}
    models.ITERATIONS = ASKING
    for name, network in spellings(models, torch, model):
        with torch.no_grad():
            times[name], found = timed(lambda: network(*inputs), 1)
        if not np.allclose(found.numpy(), answer.values, rtol=1e-3, atol=1e-3):
            raise SystemExit(f"the two sides differ: PyG {found.numpy()}, itergnn {answer.values}")
    models.ITERATIONS = TRAINING
    best = min(times, key=times.get)
    return f"predict, {graph.num_nodes:,} nodes, {ASKING} iterations", ours, f"PyG ({best})", times[best]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--smoke", action="store_true", help="in small, to see that it runs")
    given = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(given.threads)
    import itergnn

    small = given.smoke
    count, samples, size = (100, 64, 1_000) if small else (10_000, 320, 810_000)
    print(("SMOKE RUN, numbers mean nothing. " if small else "") + f"{platform.machine()}, {given.threads} threads, "
          f"Python {platform.python_version()}\n\n| what | itergnn | others | ratio |\n|---|---|---|---|")
    tell(sampling(itergnn, count))
    with PythonsShare(itergnn) as share:
        run = itergnn.train(task="shortest-path", size=(4, 34), weights=(0.5, 1.5), epochs=3, samples=samples,
                            validation=32, progress=False)
    python = share.wall - share.inside
    try:
        import torch
        import torch_geometric

        import models
    except ImportError as error:
        print(f"\nno rows against PyTorch Geometric: {error}")
    else:
        torch.set_num_threads(given.threads)
        torch.set_flush_denormal(True)
        drawn = itergnn.sample("shortest-path", samples, size=(4, 34), weights=(0.5, 1.5))
        tell(epoch(models, torch, drawn, run))
        tell(prediction(itergnn, models, torch, run.model, size))
        print(f"\nPyTorch {torch.__version__}, PyG {torch_geometric.__version__}")
    print(f"\n`itergnn.train`, 3 epochs: {share.wall:.2f} s, of which Python took {1000 * python:.1f} ms, "
          f"{100 * python / share.wall:.2f}%.")


def tell(row):
    what, ours, who, theirs = row
    print(f"| {what} | {ours:.3f} s | {who} {theirs:.3f} s | {theirs / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
