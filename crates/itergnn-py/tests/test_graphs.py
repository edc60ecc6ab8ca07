"""Graphs of other libraries, in and out."""

import pickle
import tracemalloc

import numpy as np
import pytest

import itergnn
from itergnn import Graph, InputError
from itergnn.convert import array, node_index

networkx = pytest.importorskip("networkx")


def triangle() -> "networkx.Graph":
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", 1.5), ("a", "c", 4.0)])
    return graph


def edges_of(graph: Graph) -> set:
    return set(zip(*graph.edge_index.tolist(), graph.edge_attr[:, 0].tolist(), strict=True))


def test_arrays_come_back_in_the_order_given():
    index = np.array([[2, 0, 1], [1, 1, 0]])
    weights, x = np.array([0.5, 1.5, 2.5]), np.arange(6.0).reshape(3, 2)
    graph = itergnn.graph((index, weights, x))
    np.testing.assert_array_equal(graph.edge_index, index)
    np.testing.assert_array_equal(graph.edge_attr[:, 0], weights)
    np.testing.assert_array_equal(graph.x, x)
    assert (graph.num_nodes, graph.num_edges, len(graph)) == (3, 3, 3)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint32, np.int16])
def test_every_whole_number_is_an_index(dtype):
    index = np.array([[0, 1], [1, 2]], dtype=dtype)
    assert itergnn.graph((index,)).num_nodes == 3
    # Strided views are read where they are.
    turned = np.array([[0, 1], [1, 2]], dtype=dtype).T
    np.testing.assert_array_equal(itergnn.graph((turned.T,)).edge_index, index)


def test_undirected_networkx_graphs_have_both_directions_and_keep_their_names():
    graph = itergnn.graph(triangle())
    assert graph.names == ["a", "b", "c"]
    assert edges_of(graph) == {(0, 1, 1.0), (1, 0, 1.0), (1, 2, 1.5), (2, 1, 1.5), (0, 2, 4.0), (2, 0, 4.0)}
    directed = itergnn.graph(networkx.DiGraph([(0, 1), (1, 2)]))
    assert directed.names is None and edges_of(directed) == {(0, 1, 1.0), (1, 2, 1.0)}


def test_networkx_there_and_back():
    source = triangle().to_directed()
    back = itergnn.graph(source).to_networkx()
    assert networkx.utils.graphs_equal(networkx.DiGraph(source), back)
    parallel = itergnn.graph((np.array([[0, 0], [1, 1]]), np.array([1.0, 2.0])))
    assert parallel.to_networkx().number_of_edges(0, 1) == 2


def test_attributes_by_name():
    graph = networkx.DiGraph()
    graph.add_node("a", height=1.0, kind=[0.0, 1.0])
    graph.add_node("b", height=2.0, kind=[1.0, 0.0])
    graph.add_edge("a", "b", length=3.0, slope=0.5)
    made = itergnn.graph(graph, edge_attributes=["length", "slope"], node_attributes=["height", "kind"])
    np.testing.assert_array_equal(made.edge_attr, [[3.0, 0.5]])
    np.testing.assert_array_equal(made.x, [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    with pytest.raises(InputError, match="edge 'a' to 'b' has no attribute 'toll'"):
        itergnn.graph(graph, edge_attributes="toll")


def test_scipy_matrices():
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scipy.csr_array(np.array([[0.0, 2.5], [0.0, 0.0]]))
    assert edges_of(itergnn.graph(matrix)) == {(0, 1, 2.5)}
    with pytest.raises(InputError, match="square"):
        itergnn.graph(scipy.csr_array(np.ones((2, 3))))


def test_igraph_graphs():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList([("a", "b", 2.0), ("b", "c", 3.0)], weights=True)
    made = itergnn.graph(graph)
    assert made.names == ["a", "b", "c"] and made.num_edges == 4
    assert itergnn.exact.shortest_path(graph, "a", "c").length == 5.0


class Data:
    """What PyTorch Geometric's `Data` looks like, without PyTorch."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def test_data_objects_are_read_by_their_fields():
    data = Data(edge_index=np.array([[0], [1]]), edge_attr=np.array([[1.0, 2.0]]), x=np.ones((4, 1)), num_nodes=4)
    graph = itergnn.graph(data)
    assert (graph.num_nodes, graph.edge_attr.shape, graph.x.shape) == (4, (1, 2), (4, 1))
    weighted = Data(edge_index=np.array([[0], [1]]), edge_attr=None, edge_weight=np.array([3.0]), num_nodes=2)
    assert itergnn.graph(weighted).edge_attr.tolist() == [[3.0]]


class Foreign:
    """Memory of another library, which only DLPack opens: what a CPU tensor is to NumPy."""

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory

    def __dlpack__(self, **options):
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._memory.__dlpack_device__()


class Interface:
    """Memory that only NumPy's own interface opens."""

    def __init__(self, memory: np.ndarray) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__


@pytest.mark.parametrize("library", [Foreign, Interface, lambda memory: memory], ids=["dlpack", "interface", "numpy"])
def test_memory_of_others_is_read_where_it_is(library):
    nodes, edges = 200_000, 1_000_000
    index = np.random.default_rng(0).integers(0, nodes, (2, edges))
    lengths, x = np.ones((edges, 2), dtype=np.float32), np.ones((nodes, 3), dtype=np.float32)
    for memory in (index, lengths, x):
        assert np.shares_memory(array(library(memory)), memory)
    parts = tuple(library(memory) for memory in (index, lengths, x))
    tracemalloc.start()
    graph = itergnn.graph(parts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # NumPy reports what it allocates: a copy of the smallest of the three would be 2.4 MB.
    assert peak < 100_000
    np.testing.assert_array_equal(graph.edge_index, index)


def test_torch_tensors_and_geometric_data_are_not_copied():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.arange(6).reshape(2, 3)
    assert array(tensor).__array_interface__["data"][0] == tensor.data_ptr()
    graph = itergnn.graph((torch.tensor([[0, 1], [1, 2]]), torch.ones(2), torch.zeros(3, 2, requires_grad=True)))
    assert (graph.num_nodes, graph.x.shape) == (3, (3, 2))


def test_geometric_data_of_one_type_and_datasets():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    geometric = pytest.importorskip("torch_geometric.data", reason="PyTorch Geometric is not installed")
    data = geometric.Data(edge_index=torch.tensor([[0], [1]]), x=torch.ones(3, 2), y=torch.tensor([1.0]))
    assert itergnn.graph(data).num_nodes == 3
    hetero = geometric.HeteroData()
    hetero["atom"].x = torch.ones(2, 1)
    hetero["atom", "bond", "atom"].edge_index = torch.tensor([[0], [1]])
    assert itergnn.graph(hetero).num_edges == 1
    hetero["site"].x = torch.ones(1, 1)
    with pytest.raises(InputError, match="one type"):
        itergnn.graph(hetero)
    data.edge_attr = torch.ones(1, 1)
    batches = geometric.Batch.from_data_list([data] * 8)
    run = itergnn.train(batches.to_data_list(), model={"name": "iter-path", "hidden_width": 4}, epochs=1, progress=False)
    assert run.model.predict(data, max_iterations=9).values.shape == (1, 1)


class Store(dict):
    """What PyTorch Geometric keeps of a type, without PyTorch."""

    __getattr__ = dict.get


class Hetero(Store):
    """What PyTorch Geometric's `HeteroData` looks like, without PyTorch."""

    node_types = property(lambda self: [name for name in self if isinstance(name, str)])
    edge_types = property(lambda self: [name for name in self if isinstance(name, tuple)])


def test_heterogeneous_data_of_one_type_without_pytorch():
    bond = ("atom", "bond", "atom")
    data = Hetero({"atom": Store(x=np.ones((3, 2)), num_nodes=3), bond: Store(edge_index=np.array([[0, 1], [1, 2]]))})
    graph = itergnn.graph(data)
    assert (graph.num_nodes, graph.num_edges, graph.x.shape) == (3, 2, (3, 2))
    data[bond]["edge_weight"] = np.array([2.0, 3.0])
    assert itergnn.graph(data).edge_attr[:, 0].tolist() == [2.0, 3.0]
    data["site"] = Store(num_nodes=1)
    with pytest.raises(InputError, match="expected one type of nodes and one of edges, found 2 types of nodes and 1"):
        itergnn.graph(data)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ((np.array([[0, 5], [1, 1]]), None, np.zeros((2, 1))), "edge 1 names sender 5, but the graph has 2 nodes"),
        ((np.array([[0], [-1]]),), "edge 0 names receiver -1, which is no node number"),
        ((np.array([[0], [1]]), np.ones((3, 1))), "edge attributes: expected 1 rows, found 3"),
        ((np.array([[0], [1]]), np.array([np.nan])), "not|finite"),
        ((np.array([0, 1]),), r"expected the shape \[2, edges\]"),
        ((np.array([[0.5], [1.0]]),), "expected whole numbers"),
        ("a string", "cannot read a builtins.str"),
        ({"edges": []}, "needs edge_index"),
    ],
)
def test_bad_graphs_are_value_errors_with_the_librarys_message(source, message):
    with pytest.raises(ValueError, match=message) as caught:
        itergnn.graph(source)
    assert isinstance(caught.value, itergnn.ItergnnError)


def test_graphs_pickle_compare_and_know_their_nodes():
    graph = itergnn.graph(triangle())
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph and again.names == graph.names
    assert graph != itergnn.generators.line(3)
    assert node_index(graph, "c") == 2
    with pytest.raises(InputError, match="'d' does not exist"):
        node_index(graph, "d")
    changed = graph.with_attributes(x=np.ones((3, 2), dtype=int))
    assert changed.x.shape == (3, 2) and changed.names == graph.names and graph.x.shape == (3, 0)
    with pytest.raises(InputError, match=r"expected the shape \(rows, width\), found \(3,\)"):
        graph.with_attributes(x=[1, 2, 3])
