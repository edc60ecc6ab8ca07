"""Time to make one graph of 10,000 nodes, networkx (with scipy where networkx has no generator of its own) against itergnn, one table.

    cargo build --release -p itergnn-graph --example time_generators
    python3 -m venv .venv && .venv/bin/pip install -r benches/networkx/requirements.txt
    .venv/bin/python benches/networkx/compare.py [path of the example binary]

networkx gets its best: the fast G(n, p) algorithm, scipy's KD-tree and Qhull for the geometry, and edges added in one call. Its lobster is its own
`random_lobster`, which grows about the same number of leaves.
"""

import json
import statistics
import subprocess
import sys
import time

import networkx as nx
import numpy as np
from scipy.spatial import Delaunay, KDTree

NODES = 10_000
REPETITIONS = 15


def er(seed):
    return nx.fast_gnp_random_graph(NODES, 0.001, seed=seed, directed=True)


def knn(seed, dimension):
    points = np.random.default_rng(seed).random((NODES, dimension))
    _, index = KDTree(points).query(points, k=9)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    centres = np.repeat(np.arange(NODES), 8)
    graph.add_edges_from(zip(centres.tolist(), index[:, 1:].ravel().tolist()))
    return graph


def planar(seed):
    points = np.random.default_rng(seed).random((NODES, 2))
    triangles = Delaunay(points).simplices
    graph = nx.Graph()
    graph.add_nodes_from(range(NODES))
    for a, b in ((0, 1), (1, 2), (2, 0)):
        graph.add_edges_from(zip(triangles[:, a].tolist(), triangles[:, b].tolist()))
    return graph


def lobster(seed):
    return nx.random_lobster_graph(NODES, 0.17, 0.17, seed=seed)


def median_seconds(make):
    seconds = []
    for seed in range(REPETITIONS):
        started = time.perf_counter()
        make(seed)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


binary = sys.argv[1] if len(sys.argv) > 1 else "target/release/examples/time_generators"
ours = json.loads(subprocess.run([binary], check=True, capture_output=True, text=True).stdout)
print(f"| generator, {NODES:,} nodes | networkx {nx.__version__} | itergnn | ratio |")
print("|---|---|---|---|")
cases = {
    "er": er,
    "knn-d1": lambda seed: knn(seed, 1),
    "knn-d2": lambda seed: knn(seed, 2),
    "planar": planar,
    "lobster": lobster,
}
for name, make in cases.items():
    theirs = median_seconds(make)
    print(f"| {name} | {1e3 * theirs:.1f} ms | {1e3 * ours[name]:.2f} ms | {theirs / ours[name]:.0f}x |")
