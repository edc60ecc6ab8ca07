"""Labels and metrics of component counting, Newton's balls and regular graphs, by networkx and an own simulation.

Reads what `itergnn sample` draws, finds every label again without looking at it, and writes one JSON object to stdout:

    itergnn sample component-count --generator er --size 4..34 --seed 20 --count 12 > er.jsonl
    itergnn sample component-count --generator lobster --size 60 --seed 20 --count 8 > lobster.jsonl
    itergnn sample newton-balls --size 4..60 --seed 20 --count 24 > balls.jsonl
    itergnn sample regular-graphs --seed 20 --count 12 > regular.jsonl
    python make.py er.jsonl lobster.jsonl balls.jsonl regular.jsonl > values.json
"""

import json
import sys

import networkx as nx
import numpy as np

RADIUS = 0.1


def samples(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def graph_of(sample):
    graph = nx.Graph()
    graph.add_nodes_from(range(len(sample["node_attributes"])))
    graph.add_edges_from(map(tuple, sample["edges"]))
    return graph


def fingerprint(sample):
    """Enough to know that a sample is the same one."""
    return {"nodes": len(sample["node_attributes"]), "edges": len(sample["edges"]),
            "sum": sum(31 * sender + receiver for sender, receiver in sample["edges"])}


def push(positions, speeds, duration, radius):
    """Equal balls on a line, from contact to contact: the next pair that meets swaps its speeds."""
    x, v = np.array(positions, dtype=float), np.array(speeds, dtype=float)
    time = 0.0
    while True:
        closing = v[:-1] - v[1:]
        room = np.maximum(x[1:] - x[:-1] - 2 * radius, 0.0)
        # What touches up to the rounding of f32 positions touches.
        room[room < 1e-5] = 0.0
        meeting = np.where(closing > 1e-12, room / np.where(closing > 1e-12, closing, 1.0), np.inf)
        pair = int(np.argmin(meeting))
        if time + meeting[pair] >= duration:
            return x + v * (duration - time), v
        x += v * meeting[pair]
        time += meeting[pair]
        v[pair], v[pair + 1] = v[pair + 1], v[pair]


def balls(sample):
    rows = sample["node_attributes"]
    x, v = push([row[0] for row in rows], [row[1] for row in rows], 1.0, RADIUS)
    return [float(x[0]), float(v[0]), float(x[-1]), float(v[-1])]


def kinds():
    """The graphs of the two pairs under their usual names."""
    ring, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    cube, ladder = nx.convert_node_labels_to_integers(nx.hypercube_graph(3)), nx.circulant_graph(8, [1, 4])
    return {"cycles": [ring, triangles], "cubic": [cube, ladder]}


def describe(graph):
    return {"graph6": nx.to_graph6_bytes(graph, header=False).decode().strip(), "components": nx.number_connected_components(graph),
            "diameter": max(nx.diameter(graph.subgraph(part)) for part in nx.connected_components(graph)),
            "edges": sorted(map(sorted, graph.edges))}


def main():
    er, lobster, newton, regular = map(samples, sys.argv[1:])
    pairs = kinds()
    isomorphic = lambda sample: [nx.is_isomorphic(graph_of(sample), kind) for kind in pairs["cycles"]].index(True)
    rng = np.random.default_rng(20)
    targets = rng.integers(1, 7, 40).astype(float)
    guesses = np.round(targets + rng.normal(0, 0.45, 40), 3)
    rounded = np.floor(guesses + 0.5)
    print(json.dumps({
        "er": [{**fingerprint(sample), "components": nx.number_connected_components(graph_of(sample))} for sample in er],
        "lobster": [{**fingerprint(sample), "components": nx.number_connected_components(graph_of(sample))} for sample in lobster],
        "balls": [{**fingerprint(sample), "target": balls(sample)} for sample in newton],
        "regular": [{**fingerprint(sample), "class": isomorphic(sample)} for sample in regular],
        "pairs": {name: [describe(graph) for graph in both] for name, both in pairs.items()},
        "metrics": {"targets": targets.tolist(), "guesses": guesses.tolist(), "right": int((rounded == targets).sum()),
                    "mse": float(np.mean((targets - guesses) ** 2))},
    }))


main()
