"""Both walks of the post-processing, written down once more in plain Python.

Writes one JSON object to stdout: random weighted graphs (directed and undirected) with two ends, a table of
predicted lengths for every pair that a walk may ask about, the nodes each walk enters, the length it has walked, and
whether that counts as success. networkx gives the true lengths.
"""

import json

import networkx as nx
import numpy as np

rng = np.random.default_rng(14)


def released(edges, weights, table, source, target):
    """Backwards from the target; `table[v]` is the predicted length from the source to v."""
    here, current, length, walked, visited = target, table[target], 0.0, [target], {target}
    while True:
        incoming = [(edges[k][0], weights[k]) for k in range(len(edges)) if edges[k][1] == here]
        direct = [weight for sender, weight in incoming if sender == source]
        if direct:
            return walked + [source], length + min(direct)
        candidates = [(v, w) for v, w in incoming if table[v] < current]
        if not candidates:
            candidates = [(v, w) for v, w in incoming if v not in visited]
        if not candidates:
            return walked, length
        errors = [abs(table[v] + w - current) for v, w in candidates]
        here, weight = candidates[errors.index(min(errors))]
        current, length = table[here], length + weight
        walked.append(here)
        visited.add(here)
        if current <= 1e-7:
            return walked, length


def as_written(edges, weights, table, source, target):
    """Forwards from the source; `table[v]` is the predicted length from v to the target. No zero weights."""
    distance = lambda node: 0.0 if node == target else table[node]
    walked, length = [source], 0.0
    while walked[-1] != target:
        here = walked[-1]
        outgoing = [(edges[k][1], weights[k]) for k in range(len(edges)) if edges[k][0] == here]
        limit = distance(here) + 2 * 2.0**-23 * abs(distance(here))
        fits = [(v, w) for v, w in outgoing if v not in walked and distance(v) + w <= limit]
        if not fits:
            return walked, length
        node, weight = min(fits, key=lambda f: (abs(distance(f[0]) + f[1] - distance(here)), distance(f[0]), f[0]))
        walked.append(node)
        length += weight
    return walked, length


def case(nodes, directed, noise):
    while True:
        pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a < b and rng.random() < 2.5 / nodes]
        weights = [float(w) / 4 for w in rng.integers(1, 9, len(pairs))]
        if directed:
            edges = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        else:
            edges, weights = pairs + [pair[::-1] for pair in pairs], weights * 2
        order = rng.permutation(len(edges))
        edges, weights = [edges[k] for k in order], [weights[k] for k in order]
        graph = nx.DiGraph()
        graph.add_nodes_from(range(nodes))
        graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges, weights))
        source, target = (int(x) for x in rng.choice(nodes, 2, replace=False))
        if nx.has_path(graph, source, target):
            break
    from_source = nx.single_source_dijkstra_path_length(graph, source)
    to_target = nx.single_source_dijkstra_path_length(graph.reverse(), target)
    perturbed = lambda known, node: float(np.float32(known.get(node, 50.0) * (1 + noise * rng.normal())))
    tables = {
        "released": [perturbed(from_source, node) for node in range(nodes)],
        "as-written": [perturbed(to_target, node) for node in range(nodes)],
    }
    shortest = from_source[target]
    walks = {}
    for rule, walk in (("released", released), ("as-written", as_written)):
        walked, length = walk(edges, weights, tables[rule], source, target)
        arrived = walked[-1] == (source if rule == "released" else target)
        equal = abs(length - shortest) < 1e-4 if rule == "released" else arrived and abs(length - shortest) < 1e-6
        walks[rule] = {"table": tables[rule], "nodes": walked, "length": length, "success": bool(equal)}
    return {"nodes": nodes, "edges": edges, "weights": weights, "source": source, "target": target,
            "shortest": shortest, "walks": walks}


cases = [case(nodes, directed, noise) for nodes in (6, 12, 30) for directed in (False, True)
         for noise in (0.0, 0.02, 0.3) for _ in range(4)]
print(json.dumps({"networkx": nx.__version__, "numpy": np.__version__, "cases": cases}))
