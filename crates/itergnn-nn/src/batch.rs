//! A batch of graphs on a device.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Int, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};

use crate::GraphStructure;
use crate::error::Error;
use crate::index::index_tensor;
use crate::ops::Segments;
use crate::self_loops::SelfLoops;

/// A disjoint union of graphs on a device: what every layer, controller and readout works on.
///
/// | field | shape | meaning |
/// |---|---|---|
/// | `node_attributes` | `[nodes, node width]` | x_v, the nodes of each graph contiguous |
/// | `edge_attributes` | `[edges, edge width]` | x_e, edges sorted by receiver |
/// | `senders`, `receivers` | `[edges]` | the end points of every edge, counted over the whole batch |
/// | `node_graph` | `[nodes]` | the graph of every node |
/// | `globals` | `[graphs, global width]` | u, optional |
///
/// Connectivity is kept on the host as well ([`structure`](Self::structure)), where the segment kernels read it. A
/// clone shares everything.
#[derive(Clone, Debug)]
pub struct GraphTensors {
    node_attributes: Tensor<2>,
    edge_attributes: Tensor<2>,
    globals: Option<Tensor<2>>,
    structure: GraphStructure,
    indices: Arc<Indices>,
}

/// Connectivity as tensors, made when somebody asks: the fused engine does not.
#[derive(Debug, Default)]
struct Indices {
    senders: OnceLock<Tensor<1, Int>>,
    receivers: OnceLock<Tensor<1, Int>>,
    node_graph: OnceLock<Tensor<1, Int>>,
    self_loops: OnceLock<SelfLoops>,
}

impl GraphTensors {
    /// A batch from its parts; the device is the one of the attributes.
    ///
    /// # Errors
    ///
    /// When the attributes do not have one row per node and one per edge of `structure`.
    pub fn from_parts(
        structure: GraphStructure,
        node_attributes: Tensor<2>,
        edge_attributes: Tensor<2>,
    ) -> Result<Self, Error> {
        let (nodes, edges) = (structure.incoming().len(), structure.senders().len());
        check_rows("node attributes", &node_attributes, "nodes", nodes)?;
        check_rows("edge attributes", &edge_attributes, "edges", edges)?;
        Ok(Self { globals: None, node_attributes, edge_attributes, structure, indices: Arc::default() })
    }

    /// A batch of one graph.
    pub fn from_graph(graph: &Graph, device: &Device) -> Self {
        let nodes = Segments::from_lengths([graph.nodes()]);
        let globals = (!graph.global_attributes().is_empty()).then(|| graph.global_attributes().to_vec());
        Self::from_union(graph, nodes, device).with_optional_globals(globals, device)
    }

    /// A batch on a device, attributes in the device's float type.
    pub fn from_batch(batch: &GraphBatch, device: &Device) -> Self {
        let nodes = Segments::from_offsets(batch.node_offsets());
        let globals = (batch.global_attributes().width() > 0).then(|| batch.global_attributes().values().to_vec());
        Self::from_union(batch.union(), nodes, device).with_optional_globals(globals, device)
    }

    fn from_union(union: &Graph, node_segments: Segments, device: &Device) -> Self {
        let node_attributes = attribute_tensor(union.node_attributes(), union.nodes(), device);
        let edge_attributes = attribute_tensor(union.edge_attributes(), union.edges(), device);
        Self::from_parts(union_structure(union, node_segments), node_attributes, edge_attributes)
            .expect("a graph has one row per node and per edge")
    }

    fn with_optional_globals(self, globals: Option<Vec<f32>>, device: &Device) -> Self {
        let Some(globals) = globals else { return self };
        let (graphs, width) = (self.graphs(), globals.len() / self.graphs());
        self.with_globals(Tensor::from_data(TensorData::new(globals, [graphs, width]), device))
    }

    /// The same batch on another device, or with autodiff turned on or off. Gradients do not flow back to this one.
    #[must_use]
    pub fn to_device(&self, device: &Device) -> Self {
        let moved = |tensor: &Tensor<2>| Tensor::from_data(tensor.to_data(), device);
        Self {
            node_attributes: moved(&self.node_attributes),
            edge_attributes: moved(&self.edge_attributes),
            globals: self.globals.as_ref().map(moved),
            structure: self.structure.clone(),
            indices: Arc::default(),
        }
    }

    /// The same batch with other node attributes, such as hidden states or random features.
    ///
    /// # Panics
    ///
    /// When there is not one row per node.
    #[must_use]
    pub fn with_node_attributes(mut self, node_attributes: Tensor<2>) -> Self {
        assert_eq!(node_attributes.dims()[0], self.nodes(), "one row of attributes per node");
        self.node_attributes = node_attributes;
        self
    }

    /// The same batch with other edge attributes.
    ///
    /// # Panics
    ///
    /// When there is not one row per edge.
    #[must_use]
    pub fn with_edge_attributes(mut self, edge_attributes: Tensor<2>) -> Self {
        assert_eq!(edge_attributes.dims()[0], self.edges(), "one row of attributes per edge");
        self.edge_attributes = edge_attributes;
        self
    }

    /// The same batch with a global attribute per graph.
    ///
    /// # Panics
    ///
    /// When there is not one row per graph.
    #[must_use]
    pub fn with_globals(mut self, globals: Tensor<2>) -> Self {
        assert_eq!(globals.dims()[0], self.graphs(), "one row of globals per graph");
        self.globals = Some(globals);
        self
    }

    /// The union of the graphs in `keep`, in that order: how finished graphs drop out of a batch.
    ///
    /// Gradients flow through to the attributes of this batch.
    ///
    /// # Panics
    ///
    /// When an index is not a graph of this batch.
    pub fn select_graphs(&self, keep: &[usize]) -> Self {
        let device = self.device();
        let structure = self.structure.select_graphs(keep);
        let edges = index_tensor(keep.iter().flat_map(|&graph| range_u32(self.edge_segments(), graph)), &device);
        Self {
            node_attributes: self.node_attributes.clone().select(0, self.node_indices(keep)),
            edge_attributes: self.edge_attributes.clone().select(0, edges),
            globals: self
                .globals
                .clone()
                .map(|globals| globals.select(0, index_tensor(keep.iter().map(|&graph| graph as u32), &device))),
            structure,
            indices: Arc::default(),
        }
    }

    /// The nodes of the graphs in `keep`, in that order: selects the rows of a state that belong to
    /// [`select_graphs`](Self::select_graphs)`(keep)`.
    pub fn node_indices(&self, keep: &[usize]) -> Tensor<1, Int> {
        index_tensor(keep.iter().flat_map(|&graph| range_u32(self.node_segments(), graph)), &self.device())
    }

    /// The values of the senders of every edge: `[nodes, width] -> [edges, width]`.
    pub fn at_senders(&self, node_values: Tensor<2>) -> Tensor<2> {
        node_values.select(0, self.senders())
    }

    /// The values of the receivers of every edge: `[nodes, width] -> [edges, width]`.
    pub fn at_receivers(&self, node_values: Tensor<2>) -> Tensor<2> {
        node_values.select(0, self.receivers())
    }

    /// The values of the graph of every node: `[graphs, width] -> [nodes, width]`.
    pub fn at_nodes(&self, graph_values: Tensor<2>) -> Tensor<2> {
        graph_values.select(0, self.node_graph())
    }

    /// Number of graphs.
    pub fn graphs(&self) -> usize {
        self.structure.node_segments().len()
    }

    /// Number of nodes in all graphs.
    pub fn nodes(&self) -> usize {
        self.structure.incoming().len()
    }

    /// Number of directed edges in all graphs.
    pub fn edges(&self) -> usize {
        self.structure.senders().len()
    }

    /// The device of the tensors.
    pub fn device(&self) -> Device {
        self.node_attributes.device()
    }

    /// Node attributes, `[nodes, node width]`.
    pub fn node_attributes(&self) -> Tensor<2> {
        self.node_attributes.clone()
    }

    /// Edge attributes, `[edges, edge width]`.
    pub fn edge_attributes(&self) -> Tensor<2> {
        self.edge_attributes.clone()
    }

    /// The global attribute of every graph, `[graphs, global width]`.
    pub fn globals(&self) -> Option<Tensor<2>> {
        self.globals.clone()
    }

    /// The sender of every edge, `[edges]`.
    pub fn senders(&self) -> Tensor<1, Int> {
        let senders = || index_tensor(self.structure.senders().iter().copied(), &self.device());
        self.indices.senders.get_or_init(senders).clone()
    }

    /// The receiver of every edge, `[edges]`, ascending.
    pub fn receivers(&self) -> Tensor<1, Int> {
        self.indices.receivers.get_or_init(|| index_tensor(self.incoming().ids(), &self.device())).clone()
    }

    /// The graph of every node, `[nodes]`, ascending.
    pub fn node_graph(&self) -> Tensor<1, Int> {
        self.indices.node_graph.get_or_init(|| index_tensor(self.node_segments().ids(), &self.device())).clone()
    }

    /// The incoming edges of every node.
    pub fn incoming(&self) -> &Segments {
        self.structure.incoming()
    }

    /// The nodes of every graph.
    pub fn node_segments(&self) -> &Segments {
        self.structure.node_segments()
    }

    /// The edges of every graph.
    pub fn edge_segments(&self) -> &Segments {
        self.structure.edge_segments()
    }

    /// Connectivity on the host.
    pub fn structure(&self) -> &GraphStructure {
        &self.structure
    }

    /// The edges with exactly one self-loop per node; computed once and shared by all clones.
    pub(crate) fn self_loops(&self) -> &SelfLoops {
        self.indices.self_loops.get_or_init(|| SelfLoops::new(&self.structure, &self.device()))
    }
}

fn union_structure(union: &Graph, node_segments: Segments) -> GraphStructure {
    GraphStructure::new(union.senders(), Segments::from_offsets(union.offsets()), node_segments)
        .expect("a graph and a batch are checked when they are made")
}

fn range_u32(segments: &Segments, index: usize) -> std::ops::Range<u32> {
    segments.offsets()[index]..segments.offsets()[index + 1]
}

fn check_rows(name: &str, tensor: &Tensor<2>, rows_name: &str, rows: usize) -> Result<(), Error> {
    let found = tensor.dims()[0];
    if found == rows { Ok(()) } else { Err(Error::Graph(format!("{found} rows of {name} for {rows} {rows_name}"))) }
}

/// Attributes as a `[rows, width]` tensor.
fn attribute_tensor(attributes: &Attributes, rows: usize, device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(attributes.values().to_vec(), [rows, attributes.width()]), device)
}
