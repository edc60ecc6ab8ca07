"""Shortest paths, components, diameters, triangulations and nearest neighbours by networkx and scipy.

Writes one JSON object to stdout. Graphs are small and awkward on purpose: several components, directed, zero weights, a hub, a long line.
"""

import json

import networkx as nx
import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import bellman_ford, dijkstra
from scipy.spatial import Delaunay, KDTree

rng = np.random.default_rng(20)


def weighted(nodes, pairs):
    """A simple directed graph (no parallel edges, no loops) with weights in quarters, some of them 0."""
    edges = sorted({(int(a), int(b)) for a, b in pairs if a != b})
    weights = [float(rng.integers(0, 41)) / 4 for _ in edges]
    return {"nodes": nodes, "edges": [list(edge) for edge in edges], "weights": weights}


def graphs():
    yield "sparse directed", weighted(30, rng.integers(0, 30, (50, 2)))
    yield "dense directed", weighted(15, rng.integers(0, 15, (150, 2)))
    yield "hub", weighted(40, [(0, i) for i in range(1, 40)] + [(i, 0) for i in range(1, 40, 3)])
    yield "long line", weighted(60, [(i, i + 1) for i in range(59)] + [(i + 1, i) for i in range(59)])
    yield "several components", weighted(24, [(8 * c + a, 8 * c + b) for c in range(3) for a, b in rng.integers(0, 7, (12, 2))])
    tree = nx.random_labeled_tree(35, seed=3)
    yield "tree", weighted(35, [(a, b) for a, b in tree.edges] + [(b, a) for a, b in tree.edges])


def solve(graph):
    nodes = graph["nodes"]
    directed = nx.DiGraph()
    directed.add_nodes_from(range(nodes))
    directed.add_weighted_edges_from((a, b, w) for (a, b), w in zip(graph["edges"], graph["weights"]))
    distances = []
    for source in range(nodes):
        found = nx.single_source_dijkstra_path_length(directed, source)
        distances.append([found.get(target) for target in range(nodes)])
    # scipy drops explicit zeros of dense input; a sparse matrix keeps them.
    rows, columns = zip(*graph["edges"])
    matrix = csr_matrix((graph["weights"], (rows, columns)), shape=(nodes, nodes))
    for method in (dijkstra, bellman_ford):
        other = method(matrix, directed=True)
        for source in range(nodes):
            for target in range(nodes):
                mine = distances[source][target]
                assert mine == other[source][target] or (mine is None and np.isinf(other[source][target]))
    hops = dict(nx.all_pairs_shortest_path_length(directed))
    undirected = directed.to_undirected()
    parts = list(nx.connected_components(undirected))
    return {
        "distances": distances,
        "components": len(parts),
        "directed_hop_diameter": max(max(row.values()) for row in hops.values()),
        "undirected_hop_diameter": max(nx.diameter(undirected.subgraph(part)) for part in parts),
    }


def points(count, dimension):
    return [[float(x) for x in row] for row in rng.random((count, dimension)).round(6)]


def geometry():
    plane = points(60, 2)
    triangles = Delaunay(np.array(plane)).simplices
    edges = sorted({(int(min(a, b)), int(max(a, b))) for t in triangles for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))})
    nearest = []
    for dimension in (1, 2, 3):
        cloud = points(50, dimension)
        _, index = KDTree(np.array(cloud)).query(np.array(cloud), k=9)
        nearest.append({"points": cloud, "neighbours": [sorted(int(j) for j in row[1:]) for row in index]})
    return {"delaunay": {"points": plane, "edges": [list(edge) for edge in edges]}, "nearest": nearest}


cases = [{"name": name, **graph, **solve(graph)} for name, graph in graphs()]
print(json.dumps({"networkx": nx.__version__, "numpy": np.__version__, "cases": cases, **geometry()}, separators=(",", ":")))
