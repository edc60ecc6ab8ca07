"""Labels of the algorithmic data sets, by networkx and plain readings of the algorithms.

Reads what the example `algorithm_samples` writes, finds every label again without looking at it, and writes one JSON
object to stdout, one entry per line read:

    cargo run -p itergnn-tasks --example algorithm_samples > samples.jsonl
    python make.py samples.jsonl > values.json
"""

import json
import sys

import networkx as nx


def graph_of(sample):
    graph = nx.Graph()
    graph.add_nodes_from(range(len(sample["node_attributes"])))
    for (a, b), (weight,) in zip(sample["edges"], sample["edge_attributes"]):
        graph.add_edge(a, b, weight=weight)
    return graph


def bfs(graph, sample):
    """networkx visits neighbours in the order given; the first to discover a node is its parent."""
    level = nx.single_source_shortest_path_length(graph, sample["source"])
    parent = lambda v: min((u for u in graph[v] if level[u] == level[v] - 1), default=-1)
    return [parent(v) for v in graph]


def dfs(graph, sample):
    ordered = lambda neighbours: iter(sorted(neighbours))
    parents = {child: node for node, child in nx.dfs_edges(graph, sample["source"], sort_neighbors=ordered)}
    return [parents.get(v, -1) for v in graph]


def dijkstra(graph, sample):
    predecessors, _ = nx.dijkstra_predecessor_and_distance(graph, sample["source"])
    assert all(len(found) <= 1 for found in predecessors.values()), "random weights have no ties"
    return [predecessors[v][0] if predecessors[v] else -1 for v in graph]


def prim(graph, sample):
    """The minimum spanning tree is unique, so it does not matter who finds it; parents lead to the source."""
    tree = nx.minimum_spanning_tree(graph, algorithm="kruskal")
    parents = {child: node for node, child in nx.bfs_edges(tree, sample["source"])}
    return [parents.get(v, -1) for v in graph]


def eccentricity(graph, sample):
    return [nx.eccentricity(graph, sample["source"])]


def mis(graph, sample):
    """By rounds, not one by one: who has the highest priority among undecided neighbours joins, neighbours leave."""
    priority = [row[2] for row in sample["node_attributes"]]
    undecided, members = set(graph), set()
    while undecided:
        wins = lambda v: all(priority[v] > priority[u] for u in graph[v] if u in undecided)
        winners = {v for v in undecided if wins(v)}
        members |= winners
        undecided -= winners | {u for v in winners for u in graph[v]}
    return [int(v in members) for v in graph]


def reachability(graph, sample):
    reached = nx.node_connected_component(graph, sample["source"])
    return [int(v in reached) for v in graph]


def widest_path(graph, sample):
    """On the maximum spanning tree the path between two nodes is a widest one."""
    tree = nx.maximum_spanning_tree(graph)
    paths = nx.single_source_shortest_path(tree, sample["source"])
    width = lambda path: min((tree[a][b]["weight"] for a, b in zip(path, path[1:])), default=1.0)
    return [width(paths[v]) for v in graph]


def bipartiteness(graph, sample):
    return [int(nx.is_bipartite(graph))]


ANSWERS = {"bfs": bfs, "dfs": dfs, "dijkstra": dijkstra, "prim": prim, "eccentricity": eccentricity, "mis": mis,
           "reachability": reachability, "widest-path": widest_path, "bipartiteness": bipartiteness}

with open(sys.argv[1]) as file:
    samples = [json.loads(line) for line in file]
entries = [{"algorithm": sample["task"], "edges": len(sample["edges"]),
            "sum": sum(31 * a + b for a, b in sample["edges"]),
            "answer": ANSWERS[sample["task"]](graph_of(sample), sample)} for sample in samples]
print(json.dumps({"networkx": nx.__version__, "entries": entries}))
