"""Exact solvers: what the networks are judged by. Graphs may be of any library that `itergnn.graph` reads.

Weights stay in 64 bits where the graph's source has them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from .convert import Names, array, node_index, with_exact_weights
from .errors import InputError

__all__ = ["Path", "Tour", "components", "shortest_path", "tour"]

# Real distances enter as fixed-point numbers, so that "proven" is exact for what is solved.
_SCALE = 1e6


class Path(NamedTuple):
    """A path: its nodes as the graph names them, and its length."""

    nodes: list
    length: float


class Tour(NamedTuple):
    """A round trip: the order of visit, its length, a bound that no tour can be below, and whether they are equal."""

    order: list[int]
    length: float
    lower_bound: float
    proven: bool


def shortest_path(graph: Any, source: Any, target: Any, *, weight: Names = "weight") -> Path | None:
    """A shortest path by Dijkstra's algorithm, or `None` where there is none.

    >>> import networkx, itergnn
    >>> roads = networkx.Graph()
    >>> roads.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 1.5), ("a", "c", 4.0)])
    >>> itergnn.exact.shortest_path(roads, "a", "c")
    Path(nodes=['a', 'b', 'c'], length=2.5)
    """
    made, weights = with_exact_weights(graph, weight)
    found = _core.shortest_path(made, node_index(made, source), node_index(made, target), weights)
    if found is None:
        return None
    nodes, length = found
    return Path(nodes if made.names is None else [made.names[node] for node in nodes], length)


def components(graph: Any) -> np.ndarray:
    """The component of every node, counted from 0 in the order of their smallest nodes; directions are ignored.

    >>> import itergnn, numpy as np
    >>> itergnn.exact.components((np.array([[0, 3], [2, 4]]),))
    array([0, 1, 0, 2, 2])
    """
    return _core.components(with_exact_weights(graph, None)[0])


def tour(points: Any = None, *, distances: Any = None, node_limit: int | None = None) -> Tour:
    """A shortest round trip with proof, through points `[n, 2]` or by a symmetric matrix of distances `[n, n]`.

    Real distances are rounded to millionths first. With a `node_limit` the proof may be given up; `lower_bound` then
    says how far off the tour can be.

    >>> import itergnn
    >>> itergnn.exact.tour([[0, 0], [0, 1], [1, 1], [1, 0]])
    Tour(order=[0, 1, 2, 3], length=4.0, lower_bound=4.0, proven=True)
    """
    if (points is None) == (distances is None):
        raise InputError("tour: give either points or distances")
    if points is not None:
        places = np.asarray(array(points), dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 2:
            raise InputError(f"points: expected the shape [n, 2], found {list(places.shape)}")
        matrix = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    else:
        matrix = array(distances)
    if not np.isfinite(matrix).all():
        raise InputError("tour: a coordinate or distance is not a finite number")
    scale = 1.0 if np.issubdtype(matrix.dtype, np.integer) else _SCALE
    whole = matrix.astype(np.int64) if scale == 1.0 else np.rint(matrix * scale).astype(np.int64)
    order, length, bound, proven = _core.tour(whole, node_limit)
    return Tour(order, length / scale, bound / scale, proven)
