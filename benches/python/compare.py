"""The Python package beside what its users have now: NetworkX, and PyTorch with PyG's layout of graphs. One run, on an
idle machine.

    pip install target/wheels/itergnn-*.whl networkx torch pandas    # the wheel of `cargo xtask wheel`
    python benches/python/compare.py --threads 2 --out benches/python/results.md

Four rows: 10,000 lobsters drawn; an epoch of training; a prediction on a lobster of about 1,000,000 nodes; and what the
Python layer adds to an epoch (wall time of `itergnn.train` against the seconds that the engine counts itself). The
PyTorch network is `Model.to_torch`, the same network with the same weights; both sides are checked to agree first.
`--smoke` runs everything in small, to see that it runs: its numbers mean nothing.
"""

import argparse
import os
import platform
import random
import time


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


def torch_batch(torch, samples):
    import numpy as np

    graphs = [sample.graph for sample in samples]
    counts = [graph.num_nodes for graph in graphs]
    offsets = np.cumsum([0] + counts)
    index = np.concatenate([graph.edge_index + at for graph, at in zip(graphs, offsets)], axis=1)
    parts = [np.concatenate([graph.x for graph in graphs]), index, np.concatenate([graph.edge_attr for graph in graphs])]
    targets = np.concatenate([sample.target for sample in samples])
    batch = torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor(counts))
    return [torch.from_numpy(part) for part in parts] + [batch], torch.from_numpy(targets)


def epoch(itergnn, torch, samples, run):
    """An epoch of batches of 32: forward, backward, Adam."""
    module = run.model.to_torch()
    for block in module.blocks:
        block.controller["inference_cap"] = 30
    batches = [torch_batch(torch, samples[at : at + 32]) for at in range(0, len(samples), 32)]
    adam = torch.optim.Adam(module.parameters(), lr=1e-3, eps=1e-5)

    def theirs():
        for (x, index, attr, batch), targets in batches:
            adam.zero_grad()
            torch.nn.functional.mse_loss(module(x, index, attr, batch), targets).backward()
            adam.step()

    slow, _ = timed(theirs, 1)
    epochs = run.metrics.seconds.diff().dropna()
    return f"an epoch of {len(samples):,} samples", float(epochs.min()), "PyTorch", slow


def prediction(itergnn, torch, model, size):
    import numpy as np

    graph = itergnn.generators.lobster(size, seed=1)
    marks = np.zeros((graph.num_nodes, 3), dtype=np.float32)
    marks[:, 2] = 1
    marks[0], marks[size - 1] = (1, 0, 0), (0, 1, 0)
    graph = graph.with_attributes(x=marks, edge_attr=np.ones((graph.num_edges, 1), dtype=np.float32))
    module = model.to_torch()
    parts = [torch.from_numpy(part) for part in (graph.x, graph.edge_index, graph.edge_attr)]
    ours, answer = timed(lambda: model.predict(graph, max_iterations=30), 2)
    with torch.no_grad():
        theirs, found = timed(lambda: module(*parts, max_iterations=30), 1)
    np.testing.assert_allclose(found.numpy(), answer.values, rtol=1e-3, atol=1e-3)
    return f"predict, {graph.num_nodes:,} nodes, 30 iterations", ours, "PyTorch", theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--smoke", action="store_true", help="in small, to see that it runs")
    parser.add_argument("--out", help="write the table here")
    given = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(given.threads)
    import itergnn

    small = given.smoke
    count, samples, size = (100, 64, 1_000) if small else (10_000, 10_000, 810_000)
    rows = [sampling(itergnn, count)]
    began = time.perf_counter()
    run = itergnn.train(task="shortest-path", size=(4, 34), weights=(0.5, 1.5), epochs=3, samples=samples,
                        validation=32, progress=False)
    wall = time.perf_counter() - began
    engine = run.seeds[0].seconds
    try:
        import torch

        torch.set_num_threads(given.threads)
        torch.set_flush_denormal(True)
        drawn = itergnn.sample("shortest-path", samples, size=(4, 34), weights=(0.5, 1.5))
        rows += [epoch(itergnn, torch, drawn, run), prediction(itergnn, torch, run.model, size)]
    except ImportError:
        print("PyTorch is not installed: no rows against it")
    lines = ["| what | itergnn | others | ratio |", "|---|---|---|---|"]
    for what, ours, who, theirs in rows:
        lines.append(f"| {what} | {ours:.3f} s | {who} {theirs:.3f} s | {theirs / ours:.1f} |")
    heading = f"{platform.machine()}, {given.threads} threads, Python {platform.python_version()}"
    text = "\n".join([("SMOKE RUN, numbers mean nothing. " if small else "") + heading, "", *lines, ""])
    text += f"\n`itergnn.train` took {wall:.2f} s, of which the engine counts {engine:.2f} s: "
    text += f"{100 * (wall - engine) / wall:.1f}% is Python, validation data and files.\n"
    print(text)
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            file.write("# The Python package beside NetworkX and PyTorch\n\n" + text)


if __name__ == "__main__":
    main()
