"""Graph generators: the paper's four and the regular ones.

The same seed gives the same graph on every platform. With `count` a list is drawn in parallel; graph i of a seed is the
same however many are drawn, and without `count` it is graph 0.

>>> import itergnn
>>> itergnn.generators.lobster(100, seed=7).num_nodes
125
>>> len(itergnn.generators.er(10, count=5))
5
"""

from __future__ import annotations

from typing import Any

from ._core import Graph, generate

__all__ = ["complete", "cycle", "er", "grid", "knn", "line", "lobster", "planar", "regular", "tree"]


def _draw(name: str, size: int, count: int | None, seed: int, **settings: Any) -> Any:
    drawn = generate(name, size, 1 if count is None else count, seed, **settings)
    return drawn[0] if count is None else drawn


def er(n: int, p: float = 0.5, *, directed: bool = True, seed: int = 0, count: int | None = None) -> Any:
    """Erdos-Renyi: every edge with probability `p`; both directions apart if `directed`."""
    return _draw("er", n, count, seed, p=p, directed=directed)


def knn(n: int, dimension: int = 1, k: int = 8, *, seed: int = 0, count: int | None = None) -> Any:
    """Uniform points in the unit cube, edges from each to its `k` nearest; `x` has the points."""
    return _draw("knn", n, count, seed, dimension=dimension, k=k)


def planar(n: int, *, seed: int = 0, count: int | None = None) -> Any:
    """The Delaunay triangulation of uniform points; `x` has the points."""
    return _draw("planar", n, count, seed)


def lobster(n: int, p1: float = 0.2, p2: float = 0.2, *, seed: int = 0, count: int | None = None) -> Any:
    """A line of `n` nodes with leaves (`p1` per node) and leaves of those (`p2` per leaf)."""
    return _draw("lobster", n, count, seed, p1=p1, p2=p2)


def tree(n: int, *, seed: int = 0, count: int | None = None) -> Any:
    """A uniform random tree."""
    return _draw("tree", n, count, seed)


def regular(n: int, degree: int = 3, *, seed: int = 0, count: int | None = None) -> Any:
    """A random graph in which every node has `degree` neighbours."""
    return _draw("regular", n, count, seed, degree=degree)


def grid(side: int) -> Graph:
    """A square of `side` by `side` nodes with four neighbours each."""
    return generate("grid", side, 1, 0)[0]


def line(n: int) -> Graph:
    """A line."""
    return generate("line", n, 1, 0)[0]


def cycle(n: int) -> Graph:
    """A cycle."""
    return generate("cycle", n, 1, 0)[0]


def complete(n: int) -> Graph:
    """An edge between any two nodes."""
    return generate("complete", n, 1, 0)[0]
