"""Graphs of other libraries, in and out.

`graph` takes NetworkX, PyTorch Geometric, SciPy, igraph and NumPy; no library is imported unless its object is there.
Arrays and CPU tensors are read where they are (DLPack, NumPy's own interface), without a copy on the Python side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._core import Graph, Sample
from .errors import InputError

Names = str | Sequence[str] | None

__all__ = ["graph", "graphs", "from_networkx", "to_networkx", "node_index"]


def graph(source: Any, *, edge_attributes: Names = "weight", node_attributes: Names = None) -> Graph:
    """The graph of an object of this or another library.

    - a `Graph` or `Sample` as it is;
    - a NetworkX graph: attributes by name, nodes keep their names; an edge without `weight` weighs 1, as in NetworkX;
    - a PyTorch Geometric `Data`, or a `HeteroData` with one type of nodes and one of edges: `edge_index`, `edge_attr`
      (or `edge_weight`), `x`;
    - a SciPy sparse matrix: entry [s, r] is the weight of the edge from s to r;
    - an igraph `Graph`: attributes by name;
    - a tuple `(edge_index, edge_attr, x)` or a dictionary with these keys, of NumPy arrays or CPU tensors.

    Undirected graphs become graphs with both directions of every edge.

    >>> import networkx, itergnn
    >>> roads = networkx.Graph()
    >>> roads.add_edge("home", "work", weight=3.5)
    >>> itergnn.graph(roads)
    Graph(nodes=2, edges=2, x=[2, 0], edge_attr=[2, 1])
    >>> itergnn.graph(roads).names
    ['home', 'work']
    """
    return _convert(source, edge_attributes, node_attributes)[0]


def graphs(source: Any, **options: Any) -> tuple[list[Graph], bool]:
    """A list of graphs from one object or many, and whether it was one."""
    if _is_many(source):
        return [graph(one, **options) for one in source], False
    return [graph(source, **options)], True


def from_networkx(source: Any, *, edge_attributes: Names = "weight", node_attributes: Names = None) -> Graph:
    """The graph of a NetworkX graph; see `graph`."""
    return _from_networkx(source, edge_attributes, node_attributes)[0]


def to_networkx(source: Graph) -> Any:
    """A NetworkX `DiGraph` (`MultiDiGraph` where edges are parallel) of a graph.

    >>> import itergnn
    >>> itergnn.generators.line(3).to_networkx().number_of_edges()
    4
    """
    import networkx

    names = source.names or list(range(source.num_nodes))
    index, attributes = source.edge_index, source.edge_attr
    parallel = len(set(zip(*index.tolist(), strict=True))) < source.num_edges
    result = networkx.MultiDiGraph() if parallel else networkx.DiGraph()
    x = source.x
    result.add_nodes_from((name, {"x": x[node]} if x.shape[1] else {}) for node, name in enumerate(names))
    for edge, (sender, receiver) in enumerate(zip(*index.tolist(), strict=True)):
        values = attributes[edge]
        data = {} if len(values) == 0 else {"weight": float(values[0])} if len(values) == 1 else {"edge_attr": values}
        result.add_edge(names[sender], names[receiver], **data)
    return result


def node_index(source: Graph, name: Any) -> int:
    """The number of a node that is named as the graph's source names it."""
    names = source.names
    if names is None:
        return int(name)
    try:
        return names.index(name)
    except ValueError:
        raise InputError(f"node {name!r} does not exist in the graph") from None


def with_exact_weights(source: Any, edge_attributes: Names) -> tuple[Graph, np.ndarray | None]:
    """The graph and its first edge attribute in 64 bits, where the source has that precision; graphs keep 32."""
    return _convert(source, edge_attributes, None)


def _is_many(source: Any) -> bool:
    if isinstance(source, list):
        return True
    if isinstance(source, (tuple, dict, str, np.ndarray)) or hasattr(source, "edge_index") or _library(source):
        return False
    return isinstance(source, Iterable) and not isinstance(source, (Graph, Sample))


def _library(source: Any) -> str:
    for base in type(source).__mro__:
        top = base.__module__.split(".")[0]
        if top in ("networkx", "igraph", "scipy"):
            return top
    return ""


def _convert(source: Any, edge_attributes: Names, node_attributes: Names) -> tuple[Graph, np.ndarray | None]:
    if isinstance(source, Graph):
        return source, None
    if isinstance(source, Sample):
        return source.graph, None
    library = _library(source)
    if library == "networkx":
        return _from_networkx(source, edge_attributes, node_attributes)
    if library == "igraph":
        return _from_igraph(source, edge_attributes, node_attributes)
    if library == "scipy":
        return _from_scipy(source)
    if hasattr(source, "node_types") and hasattr(source, "edge_types"):
        return _from_hetero(source)
    if hasattr(source, "edge_index"):
        return _from_data(source, getattr(source, "num_nodes", None))
    if isinstance(source, dict):
        known = {"edge_index", "edge_attr", "x", "num_nodes"}
        if "edge_index" not in source or set(source) - known:
            raise InputError(f"graph: a dictionary needs edge_index and may have {sorted(known - {'edge_index'})}")
        return _from_arrays(source["edge_index"], source.get("edge_attr"), source.get("x"), source.get("num_nodes"))
    if isinstance(source, tuple) and 1 <= len(source) <= 3:
        return _from_arrays(*source)
    raise InputError(
        f"graph: cannot read a {type(source).__module__}.{type(source).__qualname__}; give a NetworkX, igraph or "
        "PyTorch Geometric graph, a SciPy sparse matrix, or (edge_index, edge_attr, x)"
    )


def array(value: Any) -> np.ndarray:
    """An array over the memory of an array or CPU tensor; a copy only where the memory is on another device."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):
        value = value.detach()
        if getattr(value.device, "type", "cpu") != "cpu":
            value = value.cpu()
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _rows(value: Any) -> np.ndarray | None:
    """Attributes as `[rows, width]` of 32- or 64-bit floats."""
    if value is None:
        return None
    rows = array(value)
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float32)
    return rows[:, None] if rows.ndim == 1 else rows


def _from_arrays(
    edge_index: Any, edge_attr: Any = None, x: Any = None, nodes: int | None = None
) -> tuple[Graph, np.ndarray | None]:
    index = array(edge_index)
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"edge_index: expected the shape [2, edges], found {list(index.shape)}")
    if index.dtype not in (np.int64, np.int32, np.uint32):
        if not np.issubdtype(index.dtype, np.integer) and index.size:
            raise InputError(f"edge_index: expected whole numbers, found {index.dtype}")
        index = index.astype(np.int64)
    attributes, features = _rows(edge_attr), _rows(x)
    if nodes is None:
        nodes = len(features) if features is not None else int(index.max()) + 1 if index.size else 0
    made = Graph(int(nodes), index, attributes, features)
    exact = attributes is not None and attributes.dtype == np.float64 and attributes.shape[1] > 0
    return made, np.ascontiguousarray(attributes[:, 0]) if exact else None


def _from_data(data: Any, nodes: int | None) -> tuple[Graph, np.ndarray | None]:
    return _from_arrays(data.edge_index, _lengths(data), getattr(data, "x", None), nodes)


def _lengths(edges: Any) -> Any:
    """The attributes of edges, under either of PyTorch Geometric's names."""
    attributes = getattr(edges, "edge_attr", None)
    return getattr(edges, "edge_weight", None) if attributes is None else attributes


def _from_hetero(data: Any) -> tuple[Graph, np.ndarray | None]:
    if len(data.node_types) != 1 or len(data.edge_types) != 1:
        found = f"{len(data.node_types)} types of nodes and {len(data.edge_types)} of edges"
        raise InputError(f"HeteroData: expected one type of nodes and one of edges, found {found}")
    nodes, edges = data[data.node_types[0]], data[data.edge_types[0]]
    return _from_arrays(edges.edge_index, _lengths(edges), getattr(nodes, "x", None), nodes.num_nodes)


def _from_scipy(matrix: Any) -> tuple[Graph, np.ndarray | None]:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"a sparse matrix of shape {matrix.shape}: expected a square one")
    entries = matrix.tocoo()
    index = np.stack([entries.row, entries.col]).astype(np.int64, copy=False)
    return _from_arrays(index, entries.data.astype(np.float64, copy=False), None, matrix.shape[0])


def _from_networkx(source: Any, edge_attributes: Names, node_attributes: Names) -> tuple[Graph, np.ndarray | None]:
    names = list(source.nodes)
    number = {name: node for node, name in enumerate(names)}
    edges = list(source.edges(data=True))
    pairs = [(number[sender], number[receiver]) for sender, receiver, _ in edges]
    found = [dict(data) for _, _, data in edges]
    if node_attributes is None and names and all("x" in data for _, data in source.nodes(data=True)):
        node_attributes = "x"
    nodes = _named("node", node_attributes, [data for _, data in source.nodes(data=True)], names)
    # Named by their numbers already: then there is nothing to translate.
    kept = None if names == list(range(len(names))) else names
    labels = [f"{sender!r} to {receiver!r}" for sender, receiver, _ in edges]
    return _assembled(len(names), pairs, _named("edge", edge_attributes, found, labels), nodes, source.is_directed(), kept)


def _from_igraph(source: Any, edge_attributes: Names, node_attributes: Names) -> tuple[Graph, np.ndarray | None]:
    pairs = source.get_edgelist()
    found = [edge.attributes() for edge in source.es]
    names = source.vs["name"] if "name" in source.vs.attributes() else None
    labels = [f"{sender} to {receiver}" for sender, receiver in pairs]
    nodes = _named("node", node_attributes, [node.attributes() for node in source.vs], range(source.vcount()))
    edges = _named("edge", edge_attributes, found, labels)
    return _assembled(source.vcount(), pairs, edges, nodes, source.is_directed(), names)


def _assembled(
    nodes: int,
    pairs: list[tuple[int, int]],
    edges: np.ndarray | None,
    features: np.ndarray | None,
    directed: bool,
    names: list | None,
) -> tuple[Graph, np.ndarray | None]:
    index = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    if not directed:
        index = np.concatenate([index, index[::-1]], axis=1)
        edges = None if edges is None else np.concatenate([edges, edges])
    made = Graph(nodes, index, edges, features, names)
    return made, np.ascontiguousarray(edges[:, 0]) if edges is not None and edges.shape[1] else None


def _named(kind: str, names: Names, data: Sequence[dict], labels: Sequence[Any]) -> np.ndarray | None:
    """The attributes of the given names side by side; each may be a number or a list of numbers."""
    if names is None:
        return None
    columns = []
    for name in [names] if isinstance(names, str) else names:
        rows = []
        for item, label in zip(data, labels, strict=True):
            value = item.get(name)
            if value is None and name == "weight":
                value = 1.0
            if value is None:
                raise InputError(f"{kind} {label} has no attribute '{name}'")
            rows.append(np.atleast_1d(np.asarray(value, dtype=np.float64)))
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise InputError(f"{kind} attribute '{name}' has {sorted(widths)} numbers; expected as many on every {kind}")
        columns.append(np.stack(rows) if rows else np.zeros((0, 1)))
    return np.concatenate(columns, axis=1) if columns else None
