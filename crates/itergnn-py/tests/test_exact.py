"""The exact solvers against NetworkX, SciPy and brute force."""

from itertools import permutations

import numpy as np
import pytest

import itergnn

networkx = pytest.importorskip("networkx")


@pytest.mark.parametrize("seed", range(5))
def test_shortest_paths_are_networkxs(seed):
    graph = networkx.gnp_random_graph(30, 0.15, seed=seed, directed=True)
    random = np.random.default_rng(seed)
    for _, _, data in graph.edges(data=True):
        data["weight"] = float(random.uniform(0.5, 1.5))
    found = itergnn.exact.shortest_path(graph, 0, 29)
    if not networkx.has_path(graph, 0, 29):
        assert found is None
        return
    assert found.length == pytest.approx(networkx.shortest_path_length(graph, 0, 29, weight="weight"), rel=1e-15)
    assert networkx.path_weight(graph, found.nodes, "weight") == pytest.approx(found.length, rel=1e-15)


def test_weights_keep_64_bits():
    # In 32 bits both ways have the same length.
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 1.0 + 1e-12), (1, 3, 1.0), (0, 2, 1.0), (2, 3, 1.0)])
    assert itergnn.exact.shortest_path(graph, 0, 3).nodes == [0, 2, 3]


def test_a_negative_weight_is_refused():
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", weight=-1.0)
    with pytest.raises(ValueError, match="edge 0 has weight -1"):
        itergnn.exact.shortest_path(graph, "a", "b")


def test_components_are_networkxs():
    graph = networkx.gnp_random_graph(60, 0.02, seed=3)
    labels = itergnn.exact.components(graph)
    assert labels.max() + 1 == networkx.number_connected_components(graph)
    for part in networkx.connected_components(graph):
        assert len({labels[node] for node in part}) == 1


def test_tours_are_brute_forces():
    points = np.random.default_rng(5).uniform(0, 10, (8, 2))
    found = itergnn.exact.tour(points)
    length = lambda order: sum(np.linalg.norm(points[a] - points[b]) for a, b in zip(order, order[1:] + order[:1]))
    best = min(length([0, *rest]) for rest in permutations(range(1, 8)))
    assert found.proven and found.length == pytest.approx(best, abs=1e-5)
    assert length(found.order) == pytest.approx(found.length, abs=1e-5)
    distances = np.array([[0, 2, 9], [2, 0, 6], [9, 6, 0]])
    assert itergnn.exact.tour(distances=distances).length == 17


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either points or distances"),
        ({"points": np.zeros((3, 3))}, r"shape \[n, 2\]"),
        ({"points": np.array([[0.0, np.nan]])}, "finite"),
        ({"distances": np.array([[0, 1], [2, 0]])}, "1|2"),
        ({"distances": np.zeros((2, 3), dtype=int)}, "square"),
    ],
)
def test_bad_tours_are_value_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        itergnn.exact.tour(**arguments)
