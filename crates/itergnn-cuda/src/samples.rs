//! Graphs with targets.

mod device;
mod edges;

use itergnn_kernels::block::BatchView;

use crate::convolution::{Convolved, convolved};
#[cfg(test)]
use crate::layout::{EdgeAddresses, SampleAddresses};
use crate::{CudaError, Network, Readout};

pub(crate) use device::DeviceSamples;
use edges::{Edges, append_offsets};

/// One graph with its targets. Lists count from the graph's own first node and edge; edges are sorted by receiver.
#[derive(Debug, Clone, Copy)]
pub struct SampleView<'a> {
    /// `[nodes, node width]`.
    pub nodes: &'a [f32],
    /// `[nodes + 1]`: where the edges that reach each node begin.
    pub incoming: &'a [u32],
    /// `[edges]`: the node each edge leaves.
    pub senders: &'a [u32],
    /// `[edges, edge width]`.
    pub edges: &'a [f32],
    /// Targets, row after row; may be empty for inference.
    pub targets: &'a [f32],
    /// At node level the nodes that the rows of the targets belong to. At the others it is empty: there is a row for
    /// the graph or for every edge, or, for pointers, a number for every node: which of its choices is right.
    pub target_rows: &'a [u32],
}

impl SampleView<'_> {
    /// Refuses a graph without nodes, of other widths (edges may have any where none is given), or that contradicts
    /// itself.
    pub(crate) fn check(&self, node_width: usize, edge_width: Option<usize>) -> Result<(), CudaError> {
        let wrong = |why: String| Err(CudaError::Input(why));
        let count = self.incoming.len().saturating_sub(1);
        if count == 0 {
            return wrong("a graph without nodes".to_owned());
        }
        let edges_fit = edge_width.is_none_or(|width| self.edges.len() == self.senders.len() * width);
        if self.nodes.len() != count * node_width || !edges_fit {
            let edge = edge_width.unwrap_or(0);
            return wrong(format!("a graph does not have node width {node_width} and edge width {edge}"));
        }
        let (nodes, edges) = ([0, count as u32], [0, self.senders.len() as u32]);
        let view = BatchView::new(&nodes, &edges, self.senders, self.incoming);
        view.validate().map_err(|error| CudaError::Input(error.to_string()))?;
        match self.target_rows.iter().find(|&&row| row as usize >= count) {
            Some(row) => wrong(format!("a target belongs to node {row} of {count}")),
            None => Ok(()),
        }
    }
}

/// Many graphs side by side.
#[derive(Debug, Clone)]
pub struct Samples {
    node_width: usize,
    edge_width: usize,
    node_offsets: Vec<u32>,
    target_offsets: Vec<u32>,
    row_offsets: Vec<u32>,
    nodes: Vec<f32>,
    targets: Vec<f32>,
    target_rows: Vec<u32>,
    /// What messages go along.
    edges: Edges,
    /// What the head answers about, where that are other edges.
    asked: Option<Edges>,
    largest_degree: usize,
}

impl Samples {
    /// No sample yet.
    pub fn new(node_width: usize, edge_width: usize) -> Self {
        Self {
            node_width,
            edge_width,
            node_offsets: vec![0],
            target_offsets: vec![0],
            row_offsets: vec![0],
            nodes: Vec::new(),
            targets: Vec::new(),
            target_rows: Vec::new(),
            edges: Edges::default(),
            asked: None,
            largest_degree: 0,
        }
    }

    /// Adds a graph; returns its number.
    ///
    /// # Errors
    /// [`CudaError::Input`] if the graph has no node or contradicts itself.
    pub fn push(&mut self, sample: &SampleView<'_>) -> Result<u32, CudaError> {
        sample.check(self.node_width, Some(self.edge_width))?;
        let count = sample.incoming.len() - 1;
        let number = self.len() as u32;
        let degree = sample.incoming.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0);
        self.largest_degree = self.largest_degree.max(degree);
        self.edges.push(sample.incoming, sample.senders, sample.edges);
        self.nodes.extend_from_slice(sample.nodes);
        self.targets.extend_from_slice(sample.targets);
        self.target_rows.extend_from_slice(sample.target_rows);
        self.node_offsets.push(self.node_offsets[number as usize] + count as u32);
        self.target_offsets.push(self.targets.len() as u32);
        self.row_offsets.push(self.target_rows.len() as u32);
        Ok(number)
    }

    /// Adds all graphs of others; returns the number that their first one has now.
    pub fn append(&mut self, others: Self) -> u32 {
        let first = self.len() as u32;
        append_offsets(&mut self.node_offsets, &others.node_offsets);
        append_offsets(&mut self.target_offsets, &others.target_offsets);
        append_offsets(&mut self.row_offsets, &others.row_offsets);
        self.nodes.extend(others.nodes);
        self.targets.extend(others.targets);
        self.target_rows.extend(others.target_rows);
        self.edges.append(others.edges);
        self.largest_degree = self.largest_degree.max(others.largest_degree);
        first
    }

    /// Graph number `sample` as it was given.
    fn view(&self, sample: usize) -> SampleView<'_> {
        let range = |offsets: &[u32]| offsets[sample] as usize..offsets[sample + 1] as usize;
        let (nodes, edges) = (range(&self.node_offsets), self.edges.range(sample));
        SampleView {
            nodes: &self.nodes[nodes.start * self.node_width..nodes.end * self.node_width],
            incoming: &self.edges.incoming[nodes.start + sample..nodes.end + sample + 1],
            senders: &self.edges.senders[edges.clone()],
            edges: &self.edges.features[edges.start * self.edge_width..edges.end * self.edge_width],
            targets: &self.targets[range(&self.target_offsets)],
            target_rows: &self.target_rows[range(&self.row_offsets)],
        }
    }

    /// The graphs as the kernels of a network read them: for a convolution with its loops, and with its features per
    /// edge; its head still answers about the edges that were given.
    pub(crate) fn read_by(self, network: &Network) -> Result<Self, CudaError> {
        let block = network.block();
        if !block.is_convolution() {
            return Ok(self);
        }
        let mut result = Self::new(self.node_width, network.edge_width());
        for sample in 0..self.len() {
            let view = self.view(sample);
            let Convolved { incoming, senders, edges } = convolved(block, &view, self.edge_width);
            result.push(&SampleView { incoming: &incoming, senders: &senders, edges: &edges, ..view })?;
        }
        result.asked = (!network.ends.is_empty()).then_some(self.edges);
        Ok(result)
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes of a graph.
    pub fn node_count(&self, sample: u32) -> usize {
        (self.node_offsets[sample as usize + 1] - self.node_offsets[sample as usize]) as usize
    }

    /// Edges of a graph: those that messages go along, or that are asked about if these are more.
    pub fn edge_count(&self, sample: u32) -> usize {
        self.edges.count(sample as usize).max(self.asked().count(sample as usize))
    }

    fn asked(&self) -> &Edges {
        self.asked.as_ref().unwrap_or(&self.edges)
    }

    /// Numbers in the targets of a graph.
    pub(crate) fn target_count(&self, sample: u32) -> usize {
        (self.target_offsets[sample as usize + 1] - self.target_offsets[sample as usize]) as usize
    }

    /// The rows of a network's answers that belong to a graph, among those of all.
    pub(crate) fn answers(&self, readout: Readout, sample: usize) -> std::ops::Range<usize> {
        let nodes = self.node_offsets[sample] as usize..self.node_offsets[sample + 1] as usize;
        let edges = self.asked().range(sample);
        match readout {
            Readout::Node | Readout::HeadTail => nodes,
            Readout::Edge => edges,
            Readout::Pointer => nodes.start + edges.start..nodes.end + edges.end,
            _ => sample..sample + 1,
        }
    }

    /// Bytes of the lists.
    fn bytes(&self) -> u64 {
        let integers = [&self.node_offsets, &self.target_offsets, &self.target_rows];
        let numbers = integers.iter().map(|list| list.len()).sum::<usize>() + self.nodes.len() + self.targets.len();
        4 * numbers as u64 + self.edges.bytes() + self.asked.as_ref().map_or(0, Edges::bytes)
    }

    /// Most edges that reach one node.
    pub(crate) fn largest_degree(&self) -> usize {
        self.largest_degree
    }

    pub(crate) fn check(&self, network: &Network) -> Result<(), CudaError> {
        let expected = (network.embedding.widths[0], network.block().edge_width());
        // A block that reads no edge features may be given some; a head that reads them reads all.
        let mut fits = self.node_width == expected.0 && (self.edge_width == expected.1 || expected.1 == 0);
        if let Some(net) = network.ends.first() {
            fits &= net.widths[0] == 2 * network.block().hidden_width() + self.edge_width;
        }
        if self.is_empty() || !fits {
            let (node, edge) = (self.node_width, self.edge_width);
            return Err(CudaError::Input(format!(
                "{} graphs of node width {node} and edge width {edge} for a network that reads {} and {}",
                self.len(),
                expected.0,
                expected.1
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
impl Samples {
    /// Where the lists are in the processor's memory, for kernels that are emulated there.
    pub(crate) fn host_addresses(&self) -> SampleAddresses {
        let integers = |list: &[u32]| list.as_ptr() as u64;
        let floats = |list: &[f32]| list.as_ptr() as u64;
        let edges = |edges: &Edges| EdgeAddresses {
            offsets: integers(&edges.offsets),
            incoming: integers(&edges.incoming),
            outgoing: integers(&edges.outgoing),
            senders: integers(&edges.senders),
            departures: integers(&edges.departures),
            features: floats(&edges.features),
        };
        SampleAddresses {
            node_offsets: integers(&self.node_offsets),
            target_offsets: integers(&self.target_offsets),
            nodes: floats(&self.nodes),
            targets: floats(&self.targets),
            target_rows: integers(&self.target_rows),
            edges: edges(&self.edges),
            asked: edges(self.asked()),
        }
    }
}
