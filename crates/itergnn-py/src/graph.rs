//! The graph class.

use std::sync::Arc;

use itergnn::graph::{Attributes, EdgeWeights, Graph as Inner};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList, PyTuple, PyType},
};

use crate::{
    arrays::{Nodes, Rows, table},
    errors::Fault,
    work::guarded,
};

/// A directed graph with attributes on nodes and edges, as the library keeps it.
///
/// An undirected graph holds both directions of every edge. Graphs cannot be changed; `itergnn.graph` makes them of
/// other libraries' objects.
///
/// >>> import numpy as np
/// >>> from itergnn import Graph
/// >>> line = Graph(3, np.array([[0, 1], [1, 2]]), edge_attr=np.array([[1.0], [2.0]]))
/// >>> line
/// Graph(nodes=3, edges=2, x=[3, 0], edge_attr=[2, 1])
/// >>> line.edge_index
/// array([[0, 1],
///        [1, 2]])
#[pyclass(frozen, module = "itergnn", eq)]
pub(crate) struct Graph {
    pub(crate) inner: Arc<Inner>,
    /// A list with one name per node, where the graph came with names.
    names: Option<Py<PyList>>,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Graph {
    /// A graph of the library, without names.
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), names: None }
    }

    /// Weights by position from weights in the order of the edges; the first edge attribute unless given, 1 where there
    /// is none.
    pub(crate) fn weights(&self, given: Option<PyReadonlyArray1<'_, f64>>) -> Result<EdgeWeights, Fault> {
        let Some(given) = given else { return EdgeWeights::from_attribute(&self.inner, 0).map_err(Fault::input) };
        let given = given.as_array();
        if given.len() != self.inner.edges() {
            return Err(Fault::input(format!("weights: {} for {} edges", given.len(), self.inner.edges())));
        }
        let by_position = self.inner.original_edges().iter().map(|&edge| given[edge as usize]).collect();
        EdgeWeights::new(&self.inner, by_position).map_err(Fault::input)
    }
}

/// The graph with these attributes of edges and nodes; what is not given stays.
fn attributed(mut graph: Inner, edges: Option<Attributes>, nodes: Option<Attributes>) -> Result<Inner, Fault> {
    if let Some(rows) = edges {
        graph = graph.with_edge_attributes(rows).map_err(Fault::input)?;
    }
    match nodes {
        Some(rows) => graph.with_node_attributes(rows).map_err(Fault::input),
        None => Ok(graph),
    }
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (nodes, edge_index, edge_attr=None, x=None, names=None))]
    fn from_arrays(
        nodes: usize,
        edge_index: &Bound<'_, PyAny>,
        edge_attr: Option<Rows<'_>>,
        x: Option<Rows<'_>>,
        names: Option<Bound<'_, PyList>>,
    ) -> Result<Self, Fault> {
        guarded(|| {
            let (senders, receivers): (Nodes<'_>, Nodes<'_>) =
                (edge_index.get_item(0)?.extract()?, edge_index.get_item(1)?.extract()?);
            let (senders, receivers) = (senders.indices("sender")?, receivers.indices("receiver")?);
            if senders.len() != receivers.len() {
                return Err(Fault::input(format!(
                    "edge_index: {} senders, {} receivers",
                    senders.len(),
                    receivers.len()
                )));
            }
            let edges: Vec<[u32; 2]> = senders.into_iter().zip(receivers).map(Into::into).collect();
            let read = |rows: Option<Rows<'_>>| rows.map(|rows| rows.attributes()).filter(|rows| rows.width() > 0);
            let inner = attributed(Inner::new(nodes, &edges).map_err(Fault::input)?, read(edge_attr), read(x))?;
            if let Some(found) = names.as_ref().map(|names| names.len()).filter(|&found| found != nodes) {
                return Err(Fault::input(format!("names: {found} for {nodes} nodes")));
            }
            Ok(Self { inner: Arc::new(inner), names: names.map(Bound::unbind) })
        })
    }

    /// Makes a graph of a NetworkX graph; see `itergnn.graph`.
    #[classmethod]
    #[pyo3(signature = (graph, **options))]
    fn from_networkx<'py>(
        _class: &Bound<'py, PyType>,
        graph: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| graph.py().import("itergnn.convert")?.call_method("from_networkx", (graph,), options))
    }

    /// A NetworkX `DiGraph` with the attributes `x` of nodes and `weight` (one number) or `edge_attr` (several) of
    /// edges, under the names that the graph came with.
    fn to_networkx<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        guarded(|| slf.py().import("itergnn.convert")?.call_method1("to_networkx", (slf,)))
    }

    /// Number of nodes.
    #[getter]
    fn num_nodes(&self) -> PyResult<usize> {
        guarded(|| Ok(self.inner.nodes()))
    }

    /// Number of directed edges.
    #[getter]
    fn num_edges(&self) -> PyResult<usize> {
        guarded(|| Ok(self.inner.edges()))
    }

    /// Senders and receivers, `[2, edges]`, in the order in which the edges were given.
    #[getter]
    fn edge_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        guarded(|| {
            let edges = self.inner.edge_list();
            let ends = |end: usize| edges.iter().map(move |edge| i64::from(edge[end]));
            table(py, 2, edges.len(), ends(0).chain(ends(1)).collect())
        })
    }

    /// Edge attributes, `[edges, width]`, in the order in which the edges were given.
    #[getter]
    fn edge_attr<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        guarded(|| {
            let attributes = self.inner.edge_attributes_in_original_order();
            table(py, self.inner.edges(), attributes.width(), attributes.values().to_vec())
        })
    }

    /// Node attributes, `[nodes, width]`.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        guarded(|| {
            let attributes = self.inner.node_attributes();
            table(py, self.inner.nodes(), attributes.width(), attributes.values().to_vec())
        })
    }

    /// The nodes' names in the object that the graph was made of; `None` where they are their numbers.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        guarded(|| Ok(self.names.as_ref().map(|names| names.bind(py).clone())))
    }

    /// The graph with other attributes; what is not given stays.
    #[pyo3(signature = (*, edge_attr=None, x=None))]
    fn with_attributes(&self, py: Python<'_>, edge_attr: Option<Rows<'_>>, x: Option<Rows<'_>>) -> Result<Self, Fault> {
        guarded(|| {
            let read = |rows: Option<Rows<'_>>| rows.map(|rows| rows.attributes());
            let inner = attributed(Inner::clone(&self.inner), read(edge_attr), read(x))?;
            Ok(Self { inner: Arc::new(inner), names: self.names.as_ref().map(|names| names.clone_ref(py)) })
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        guarded(|| Ok(self.inner.nodes()))
    }

    fn __repr__(&self) -> PyResult<String> {
        guarded(|| {
            let (nodes, edges) = (self.inner.nodes(), self.inner.edges());
            let (x, attr) = (self.inner.node_attributes().width(), self.inner.edge_attributes().width());
            Ok(format!("Graph(nodes={nodes}, edges={edges}, x=[{nodes}, {x}], edge_attr=[{edges}, {attr}])"))
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        guarded(|| {
            let (py, graph) = (slf.py(), slf.get());
            let arguments =
                (graph.inner.nodes(), graph.edge_index(py)?, graph.edge_attr(py)?, graph.x(py)?, graph.names(py)?);
            (slf.get_type(), arguments).into_pyobject(py)
        })
    }
}
