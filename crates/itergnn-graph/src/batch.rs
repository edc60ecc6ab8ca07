//! Several graphs as one.

use serde::{Deserialize, Serialize};

use crate::{Attributes, Graph, GraphError};

/// A disjoint union of graphs that remembers where each one lies.
///
/// Nodes and edges of graph `g` are `node_offsets[g] .. node_offsets[g + 1]` and `edge_offsets[g] .. edge_offsets[g +
/// 1]` of the union. Since edges are sorted by receiver, the union's edges are simply those of the graphs one after the
/// other.
///
/// # Example
/// ```
/// use itergnn_graph::{Graph, GraphBatch};
/// let pair = Graph::undirected(2, &[[0, 1]])?;
/// let triangle = Graph::undirected(3, &[[0, 1], [1, 2], [2, 0]])?;
/// let batch = GraphBatch::new(&[pair.clone(), triangle.clone()])?;
/// assert_eq!(batch.node_offsets(), &[0, 2, 5]);
/// assert_eq!(batch.unbatch(), vec![pair, triangle]);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Graph>", into = "Vec<Graph>")]
pub struct GraphBatch {
    union: Graph,
    globals: Attributes,
    node_offsets: Vec<u32>,
    edge_offsets: Vec<u32>,
}

impl GraphBatch {
    /// The disjoint union of graphs, in order. No graphs at all give an empty batch.
    ///
    /// # Errors
    /// [`GraphError::BatchWidth`] names the first graph whose attributes are not as wide as the first one's;
    /// [`GraphError::TooLarge`].
    pub fn new<G: AsRef<Graph>>(graphs: &[G]) -> Result<Self, GraphError> {
        let batch_widths = common_widths(graphs)?;
        let mut node_offsets = Vec::with_capacity(graphs.len() + 1);
        let mut edge_offsets = Vec::with_capacity(graphs.len() + 1);
        let (mut nodes, mut edges) = (0_usize, 0_usize);
        for graph in graphs {
            let graph = graph.as_ref();
            node_offsets.push(nodes as u32);
            edge_offsets.push(edges as u32);
            nodes += graph.nodes();
            edges += graph.edges();
            let limit = u32::MAX as usize - 1;
            for (what, found) in [("nodes", nodes), ("edges", edges)] {
                if found > limit {
                    return Err(GraphError::TooLarge { what, found, limit });
                }
            }
        }
        node_offsets.push(nodes as u32);
        edge_offsets.push(edges as u32);

        let mut union = Graph {
            offsets: Vec::with_capacity(nodes + 1),
            senders: Vec::with_capacity(edges),
            receivers: Vec::with_capacity(edges),
            original_edges: Vec::with_capacity(edges),
            node_attributes: Attributes::new(batch_widths[0], Vec::with_capacity(nodes * batch_widths[0])),
            edge_attributes: Attributes::new(batch_widths[1], Vec::with_capacity(edges * batch_widths[1])),
            global_attributes: Vec::new(),
        };
        let mut globals = Attributes::new(batch_widths[2], Vec::new());
        for ((graph, &node_start), &edge_start) in graphs.iter().zip(&node_offsets).zip(&edge_offsets) {
            let graph = graph.as_ref();
            union.offsets.extend(graph.offsets[..graph.nodes()].iter().map(|&offset| offset + edge_start));
            union.senders.extend(graph.senders.iter().map(|&sender| sender + node_start));
            union.receivers.extend(graph.receivers.iter().map(|&receiver| receiver + node_start));
            union.original_edges.extend(graph.original_edges.iter().map(|&edge| edge + edge_start));
            union.node_attributes.extend(graph.node_attributes.values());
            union.edge_attributes.extend(graph.edge_attributes.values());
            globals.extend(&graph.global_attributes);
        }
        union.offsets.push(edges as u32);
        Ok(Self { union, globals, node_offsets, edge_offsets })
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All graphs as one graph (without global attributes: see [`GraphBatch::global_attributes`]).
    pub fn union(&self) -> &Graph {
        &self.union
    }

    /// One row per graph.
    pub fn global_attributes(&self) -> &Attributes {
        &self.globals
    }

    /// Where each graph's nodes begin; one more than there are graphs.
    pub fn node_offsets(&self) -> &[u32] {
        &self.node_offsets
    }

    /// Where each graph's edges begin; one more than there are graphs.
    pub fn edge_offsets(&self) -> &[u32] {
        &self.edge_offsets
    }

    /// Graph `index` on its own again.
    ///
    /// # Panics
    /// If there is no such graph.
    pub fn graph(&self, index: usize) -> Graph {
        let (node_start, node_end) = (self.node_offsets[index], self.node_offsets[index + 1]);
        let (edge_start, edge_end) = (self.edge_offsets[index], self.edge_offsets[index + 1]);
        let nodes = node_start as usize..node_end as usize;
        let edges = edge_start as usize..edge_end as usize;
        let union = &self.union;
        let shifted = |values: &[u32], by: u32| values.iter().map(|&value| value - by).collect::<Vec<_>>();
        let global_attributes = if self.globals.width() == 0 { Vec::new() } else { self.globals.row(index).to_vec() };
        Graph {
            offsets: shifted(&union.offsets[nodes.start..=nodes.end], edge_start),
            senders: shifted(&union.senders[edges.clone()], node_start),
            receivers: shifted(&union.receivers[edges.clone()], node_start),
            original_edges: shifted(&union.original_edges[edges.clone()], edge_start),
            node_attributes: union.node_attributes.slice(nodes.start, nodes.end),
            edge_attributes: union.edge_attributes.slice(edges.start, edges.end),
            global_attributes,
        }
    }

    /// The graphs the batch was made of.
    pub fn unbatch(&self) -> Vec<Graph> {
        (0..self.len()).map(|index| self.graph(index)).collect()
    }
}

/// The widths of node, edge and global attributes that all graphs share.
///
/// A graph without edges need not know how wide its edge attributes would be (a file cannot tell), and likewise one
/// without nodes.
fn common_widths<G: AsRef<Graph>>(graphs: &[G]) -> Result<[usize; 3], GraphError> {
    let columns = |graph: &Graph| {
        let (node, edge) = (graph.node_attributes.width(), graph.edge_attributes.width());
        let known = [graph.nodes() > 0 || node > 0, graph.edges() > 0 || edge > 0, true];
        ([node, edge, graph.global_attributes.len()], known)
    };
    let mut common = [None; 3];
    for (index, graph) in graphs.iter().enumerate() {
        let (widths, known) = columns(graph.as_ref());
        for (column, what) in ["node attributes", "edge attributes", "global attributes"].into_iter().enumerate() {
            let found = widths[column];
            let expected = common[column].unwrap_or(found);
            if known[column] && found != expected {
                return Err(GraphError::BatchWidth { graph: index, what, expected, found });
            }
            common[column] = common[column].or(known[column].then_some(found));
        }
    }
    Ok(common.map(Option::unwrap_or_default))
}

impl AsRef<Graph> for Graph {
    fn as_ref(&self) -> &Graph {
        self
    }
}

impl TryFrom<Vec<Graph>> for GraphBatch {
    type Error = GraphError;

    fn try_from(graphs: Vec<Graph>) -> Result<Self, GraphError> {
        Self::new(&graphs)
    }
}

impl From<GraphBatch> for Vec<Graph> {
    fn from(batch: GraphBatch) -> Self {
        batch.unbatch()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_must_agree() {
        let plain = Graph::new(1, &[]).unwrap();
        let wide = plain.clone().with_node_attributes(Attributes::new(3, vec![0.0; 3])).unwrap();
        let error = GraphBatch::new(&[plain, wide]).unwrap_err();
        assert_eq!(error.to_string(), "graph 1 of the batch has node attributes of width 3, the first has 0");
    }

    #[test]
    fn a_graph_without_edges_fits_in_any_batch() {
        let alone = Graph::new(1, &[]).unwrap();
        let pair = Graph::new(2, &[[0, 1]]).unwrap().with_edge_attributes(Attributes::new(1, vec![2.0])).unwrap();
        let batch = GraphBatch::new(&[alone, pair]).unwrap();
        assert_eq!(batch.union().edge_attributes(), &Attributes::new(1, vec![2.0]));
    }

    #[test]
    fn empty_batches_and_empty_graphs_are_fine() {
        assert!(GraphBatch::new::<Graph>(&[]).unwrap().is_empty());
        let nothing = Graph::new(0, &[]).unwrap();
        let one = Graph::new(1, &[[0, 0]]).unwrap();
        let batch = GraphBatch::new(&[nothing.clone(), one.clone(), nothing.clone()]).unwrap();
        assert_eq!(batch.unbatch(), vec![nothing.clone(), one, nothing]);
    }
}
