//! One labelled graph.

use itergnn_graph::{Attributes, EdgeWeights, Graph, GraphError};
use serde::{Serialize, Serializer};

use crate::Task;

/// A graph with attributes, what a model should say about it, and what the task knows besides.
///
/// Serialised as one JSON object: `task`, `size`, `nodes`, `node_attributes`, `edges`, `edge_attributes`, `target`,
/// then the [`Fields`] that apply. Edges and their attributes stand in the order in which they were generated.
///
/// # Shapes
/// | field | shape |
/// |---|---|
/// | `target`, graph level (`target_nodes` empty) | `[outputs]` |
/// | `target`, node level | `[target_nodes.len(), outputs]`, flat, one row for each of `target_nodes` |
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The task it belongs to.
    pub task: Task,
    /// The size that was drawn: the generator's n, not the number of nodes.
    pub size: u32,
    /// The model's input.
    pub graph: Graph,
    /// What the model should predict, row after row.
    pub target: Vec<f32>,
    /// The nodes that the rows of the target belong to; empty when the target belongs to the whole graph.
    pub target_nodes: Vec<u32>,
    /// What else is known; a model does not see it.
    pub fields: Fields,
}

/// What a task knows about a sample besides input and target. Each task fills what applies to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Fields {
    /// Where the path begins (shortest path, navigation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<u32>,
    /// Where the path ends (shortest path, navigation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_node: Option<u32>,
    /// The factor on the one-hot node attributes (shortest path).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f32>,
    /// The class, counted from 0 (graph classification, regular graphs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<u32>,
    /// An optimal tour (TSP).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tour: Option<Vec<u32>>,
    /// Pixels higher than this cannot be entered (navigation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_above: Option<f32>,
    /// The map as text, one string per row (Pacman, navigation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<Vec<String>>,
    /// How many dots can be reached (Pacman).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable_dots: Option<u32>,
}

impl Sample {
    /// A sample with a target for the graph as a whole and no further fields.
    pub fn graph_level(task: Task, size: u32, graph: Graph, target: Vec<f32>) -> Self {
        Self { task, size, graph, target, target_nodes: Vec::new(), fields: Fields::default() }
    }

    /// Numbers in one row of the target: the width of a model's output.
    pub fn outputs(&self) -> usize {
        self.target.len() / self.target_nodes.len().max(1)
    }

    /// The first edge attribute as weights, which is where every task puts them.
    ///
    /// # Errors
    /// [`GraphError::Weight`] where the attribute is no weight (Newton's balls have signed distances there).
    pub fn weights(&self) -> Result<EdgeWeights, GraphError> {
        EdgeWeights::from_attribute(&self.graph, 0)
    }

    /// The sample as a JSON value; `serde_json::to_writer` on the sample itself is the faster way to a file.
    ///
    /// # Errors
    /// None occur in practice: every part of a sample has a JSON form.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }

    /// A 64-bit fingerprint of graph, attributes and target (FNV-1a), equal on every platform.
    ///
    /// It covers the size, both ends of every edge by position, the bits of all attributes and of the target, and the
    /// target nodes, in this order.
    pub fn digest(&self) -> u64 {
        let mut hash = Fnv1a::default();
        hash.word(self.size);
        hash.word(self.graph.nodes() as u32);
        for list in [self.graph.senders(), self.graph.receivers()] {
            list.iter().for_each(|&node| hash.word(node));
        }
        for list in [self.graph.node_attributes().values(), self.graph.edge_attributes().values(), &self.target] {
            list.iter().for_each(|value| hash.word(value.to_bits()));
        }
        self.target_nodes.iter().for_each(|&node| hash.word(node));
        hash.0
    }
}

/// The FNV-1a hash with 64 bits; offset basis and prime as published by Fowler, Noll and Vo.
struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    fn word(&mut self, word: u32) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The order and the names of the JSON object.
#[derive(Serialize)]
struct Record<'a> {
    task: Task,
    size: u32,
    nodes: usize,
    node_attributes: &'a Attributes,
    edges: Vec<[u32; 2]>,
    edge_attributes: Attributes,
    target: &'a [f32],
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    target_nodes: &'a [u32],
    #[serde(flatten)]
    fields: &'a Fields,
}

impl Serialize for Sample {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = Record {
            task: self.task,
            size: self.size,
            nodes: self.graph.nodes(),
            node_attributes: self.graph.node_attributes(),
            edges: self.graph.edge_list(),
            edge_attributes: self.graph.edge_attributes_in_original_order(),
            target: &self.target,
            target_nodes: &self.target_nodes,
            fields: &self.fields,
        };
        record.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::formats::SampleRecord;

    fn pair() -> Sample {
        let graph = Graph::new(2, &[[1, 0], [0, 1]])
            .unwrap()
            .with_node_attributes(Attributes::new(1, vec![1.0, 2.0]))
            .unwrap()
            .with_edge_attributes(Attributes::new(1, vec![3.0, 4.0]))
            .unwrap();
        Sample::graph_level(Task::ShortestPath, 2, graph, vec![4.0])
    }

    #[test]
    fn the_json_form_has_the_names_of_the_command_line() {
        let mut sample = pair();
        sample.fields = Fields { source: Some(0), target_node: Some(1), ..Fields::default() };
        assert_eq!(
            serde_json::to_string(&sample).unwrap(),
            concat!(
                r#"{"task":"shortest-path","size":2,"nodes":2,"node_attributes":[[1.0],[2.0]],"edges":[[1,0],[0,1]],"#,
                r#""edge_attributes":[[3.0],[4.0]],"target":[4.0],"source":0,"target_node":1}"#
            )
        );
    }

    #[test]
    fn the_json_form_is_a_record_of_the_file_formats() {
        let mut sample = pair();
        sample.fields.source = Some(1);
        let record: SampleRecord = serde_json::from_str(&serde_json::to_string(&sample).unwrap()).unwrap();
        assert_eq!(record.graph().unwrap(), sample.graph);
        assert_eq!((record.task.as_deref(), record.target), (Some("shortest-path"), sample.target));
        assert_eq!(record.fields["source"], 1);
    }

    #[test]
    fn node_level_targets_have_rows() {
        let mut sample = pair();
        sample.target = vec![1.0, 2.0];
        assert_eq!(sample.outputs(), 2);
        sample.target_nodes = vec![0, 1];
        assert_eq!(sample.outputs(), 1);
    }

    #[test]
    fn the_digest_sees_every_part() {
        let sample = pair();
        let mut others = vec![sample.clone(); 4];
        others[0].target[0] = 5.0;
        others[1].target_nodes = vec![0];
        others[2].size = 3;
        others[3].graph = sample.graph.clone().with_node_attributes(Attributes::new(1, vec![1.0, -2.0])).unwrap();
        for other in others {
            assert_ne!(other.digest(), sample.digest());
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published test vector of the 64-bit FNV-1a for the four bytes "foob".
        let mut hash = Fnv1a::default();
        hash.word(u32::from_le_bytes(*b"foob"));
        assert_eq!(hash.0, 0xdd12_0e79_0c25_12af);
    }
}
