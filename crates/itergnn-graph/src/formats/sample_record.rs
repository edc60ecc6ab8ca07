//! The JSON object of one sample.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Map, Value};

use super::{
    edge_rows::node_limit,
    json_links::{JsonEdges, JsonNodes},
    json_values::{BoundedValue, NumberList, Rows, WeightRows},
};
use crate::{Attributes, Graph, GraphError};

/// A sample as JSON has it: a graph in the order in which its edges were given, a target, and whatever else its task
/// needs.
///
/// ```json
/// {"task": "shortest-path", "node_attributes": [[1,0,0],[0,1,0]], "edges": [[0,1],[1,0]], "edge_attributes": [[2.5],[2.5]],
///  "target": [2.5], "source": 0, "target_node": 1}
/// ```
///
/// Only `edges` must be there. `nodes` is needed where there are no node attributes; `target` may be a bare number or
/// have rows. `weights`, one number for each edge, stand for edge attributes of width 1. The names of PyTorch Geometric
/// are understood too: `edge_index` (two lists), `num_nodes`, `x`, `edge_attr`, `y`. Unknown members land in `fields`,
/// at most about a million values of them. Numbers must be finite as `f32`.
///
/// # Example
/// ```
/// use itergnn_graph::formats::SampleRecord;
/// let record: SampleRecord = serde_json::from_str(r#"{"nodes": 3, "edges": [[0, 2]], "target": 1.5, "source": 0}"#)?;
/// assert_eq!(record.fields["source"], 0);
/// assert_eq!(record.graph()?.senders_of(2), &[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleRecord {
    /// The name of the task.
    pub task: Option<String>,
    /// Number of nodes; `None` where the node attributes tell it.
    pub nodes: Option<usize>,
    /// One row per node.
    pub node_attributes: Attributes,
    /// `[sender, receiver]` pairs.
    pub edges: Vec<[u32; 2]>,
    /// One row per edge, in the order of `edges`.
    pub edge_attributes: Attributes,
    /// Attributes of the graph as a whole.
    pub global_attributes: Vec<f32>,
    /// What is to be predicted.
    pub target: Vec<f32>,
    /// Fields of the task, such as `source` and `target_node`.
    pub fields: Map<String, Value>,
}

impl SampleRecord {
    /// The record of a graph, with its edges in the order in which they were given.
    pub fn new(graph: &Graph, target: Vec<f32>) -> Self {
        Self {
            task: None,
            nodes: (graph.node_attributes().width() == 0).then(|| graph.nodes()),
            node_attributes: graph.node_attributes().clone(),
            edges: graph.edge_list(),
            edge_attributes: graph.edge_attributes_in_original_order(),
            global_attributes: graph.global_attributes().to_vec(),
            target,
            fields: Map::new(),
        }
    }

    /// The graph of the record.
    ///
    /// # Errors
    /// A [`GraphError`] says what does not fit together. A graph without nodes, or with far more nodes than attributes
    /// and edges bear out, is refused.
    pub fn graph(&self) -> Result<Graph, GraphError> {
        let nodes = self.nodes.unwrap_or(self.node_attributes.len());
        let refuse = |why: String| Err(GraphError::Parameter { what: "nodes", why });
        if nodes == 0 {
            return refuse("expected at least 1, by \"nodes\" or by rows of \"node_attributes\"".into());
        }
        if self.node_attributes.is_empty() && nodes as u64 > node_limit(self.edges.len()) {
            return refuse(format!("{nodes} nodes without attributes and only {} edges", self.edges.len()));
        }
        self.node_attributes.check("node attributes", nodes)?;
        Graph::new(nodes, &self.edges)?
            .with_node_attributes(self.node_attributes.clone())?
            .with_edge_attributes(self.edge_attributes.clone())?
            .with_global_attributes(self.global_attributes.clone())
    }
}

impl Serialize for SampleRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(task) = &self.task {
            map.serialize_entry("task", task)?;
        }
        if let Some(nodes) = self.nodes {
            map.serialize_entry("nodes", &nodes)?;
        }
        map.serialize_entry("node_attributes", &self.node_attributes)?;
        map.serialize_entry("edges", &self.edges)?;
        map.serialize_entry("edge_attributes", &self.edge_attributes)?;
        if !self.global_attributes.is_empty() {
            map.serialize_entry("global_attributes", &self.global_attributes)?;
        }
        map.serialize_entry("target", &self.target)?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for SampleRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = JsonGraph::deserialize(deserializer)?;
        if document.listed.is_some() || !document.links.names.is_empty() {
            return Err(de::Error::custom("edges are pairs [sender, receiver] in samples, not objects"));
        }
        Ok(document.record)
    }
}

/// A JSON document with a graph: a sample, or the node-link form.
pub(crate) struct JsonGraph {
    /// All but what follows.
    pub(crate) record: SampleRecord,
    /// The first edge attribute as the text has it.
    pub(crate) weights: Vec<f64>,
    /// Edges that are objects; their pairs are moved to the record.
    pub(crate) links: JsonEdges,
    /// Nodes that are listed by name.
    pub(crate) listed: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for JsonGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = JsonGraph;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with edges")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonGraph, A::Error> {
        /// Reads a member into a place that must still be empty.
        macro_rules! once {
            ($place:ident, $name:literal, $kind:ty) => {{
                if $place.replace(map.next_value::<$kind>()?).is_some() {
                    return Err(de::Error::duplicate_field($name));
                }
            }};
        }
        let (mut task, mut nodes, mut node_rows, mut edges) = (None, None, None, None);
        let (mut edge_rows, mut weights, mut global, mut target) = (None, None, None, None);
        let mut listed = None;
        let mut fields = Map::new();
        let mut budget = FIELD_VALUE_LIMIT;
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "task" => once!(task, "task", Option<String>),
                "num_nodes" => once!(nodes, "nodes", Option<usize>),
                "nodes" => match map.next_value()? {
                    JsonNodes::Count(count) if nodes.is_none() => nodes = Some(count),
                    JsonNodes::Names(names) if listed.is_none() => listed = Some(names),
                    _ => return Err(de::Error::duplicate_field("nodes")),
                },
                "node_attributes" | "x" => once!(node_rows, "node_attributes", Rows),
                "edges" | "links" => once!(edges, "edges", JsonEdges),
                "edge_index" => {
                    let [senders, receivers] = map.next_value::<[Vec<u32>; 2]>()?;
                    if senders.len() != receivers.len() {
                        return Err(de::Error::custom("edge_index has lists of different length"));
                    }
                    let pairs = senders.into_iter().zip(receivers).map(|(sender, receiver)| [sender, receiver]);
                    if edges.replace(JsonEdges::from_pairs(pairs.collect())).is_some() {
                        return Err(de::Error::duplicate_field("edges"));
                    }
                }
                "edge_attributes" | "edge_attr" => once!(edge_rows, "edge_attributes", WeightRows),
                "weights" => once!(weights, "weights", WeightRows),
                "global_attributes" => once!(global, "global_attributes", NumberList),
                "target" | "y" => once!(target, "target", NumberList),
                _ => {
                    let value = map.next_value_seed(BoundedValue(&mut budget))?;
                    if fields.insert(name.clone(), value).is_some() {
                        return Err(de::Error::custom(format_args!("the member \"{name}\" occurs twice")));
                    }
                }
            }
        }
        let node_rows = node_rows.unwrap_or_default();
        // Rows without columns still count the nodes.
        let counted = (node_rows.attributes.width() == 0 && node_rows.count > 0).then_some(node_rows.count);
        let edge_rows = match (edge_rows, weights) {
            (Some(_), Some(_)) => return Err(de::Error::custom("both \"weights\" and \"edge_attributes\"")),
            (None, Some(WeightRows(weights))) if weights.attributes.width() > 1 => {
                return Err(de::Error::custom(
                    "\"weights\" has rows: several numbers for an edge are \"edge_attributes\"",
                ));
            }
            (rows, weights) => rows.or(weights).unwrap_or_default().0,
        };
        let mut links: JsonEdges = edges.ok_or_else(|| de::Error::missing_field("edges"))?;
        let record = SampleRecord {
            task: task.flatten(),
            nodes: nodes.flatten().or(counted),
            node_attributes: node_rows.attributes,
            edges: std::mem::take(&mut links.pairs),
            edge_attributes: edge_rows.attributes,
            global_attributes: global.unwrap_or_default().0,
            target: target.unwrap_or_default().0,
            fields,
        };
        Ok(JsonGraph { record, weights: edge_rows.first, links, listed })
    }
}

/// How many JSON values the members beyond the graph may hold: a generic value takes up to fifty times the memory of
/// its text.
const FIELD_VALUE_LIMIT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<SampleRecord, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn a_graph_survives_with_its_edge_order() {
        let graph = Graph::new(3, &[[2, 1], [0, 1], [1, 0]])
            .unwrap()
            .with_edge_attributes(Attributes::new(1, vec![0.1, 0.2, 0.3]))
            .unwrap();
        let mut record = SampleRecord::new(&graph, vec![1.5]);
        record.task = Some("shortest-path".into());
        record.fields.insert("source".into(), 2.into());
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(
            text,
            r#"{"task":"shortest-path","nodes":3,"node_attributes":[],"edges":[[2,1],[0,1],[1,0]],"edge_attributes":[[0.1],[0.2],[0.3]],"target":[1.5],"source":2}"#
        );
        let back = read(&text).unwrap();
        assert_eq!(back, record);
        assert_eq!(back.graph().unwrap(), graph);
    }

    #[test]
    fn weights_and_the_names_of_pytorch_geometric_are_understood() {
        let ours =
            read(r#"{"nodes":2,"edges":[[0,1]],"edge_attributes":[[2.5]],"node_attributes":[[1],[2]],"target":[3]}"#);
        let weights = read(r#"{"nodes":2,"edges":[[0,1]],"weights":[2.5],"node_attributes":[[1],[2]],"target":3}"#);
        let theirs = read(r#"{"num_nodes":2,"edge_index":[[0],[1]],"edge_attr":[2.5],"x":[[1],[2]],"y":3}"#);
        let ours = ours.unwrap();
        assert_eq!((&weights.unwrap(), &theirs.unwrap()), (&ours, &ours));
    }

    #[test]
    fn faults_are_named() {
        let faults = [
            ("[]", "invalid type: sequence, expected an object with edges"),
            ("{}", "missing field `edges`"),
            (r#"{"edges":[[0,1,2]]}"#, "an edge has two ends; weights stand in \"weights\""),
            (r#"{"edges":[[0,1]],"weights":[1],"edge_attributes":[[1]]}"#, "both \"weights\" and"),
            (r#"{"edges":[{"source":0,"target":1}]}"#, "edges are pairs [sender, receiver] in samples"),
            (r#"{"edge_index":[[0,1],[1]]}"#, "edge_index has lists of different length"),
            (r#"{"edges":[[0,-1]]}"#, "invalid value: integer `-1`, expected u32"),
            (r#"{"edges":[],"edges":[]}"#, "duplicate field `edges`"),
            (r#"{"edges":[],"a":1,"a":2}"#, "the member \"a\" occurs twice"),
            (r#"{"edges":[],"node_attributes":[[1],[2,3]]}"#, "row 1 has 2 values, expected 1"),
            (r#"{"edges":[],"edge_attributes":[[1e39]]}"#, "1e39 does not fit f32"),
            (r#"{"edges":[],"edge_attributes":[[NaN]]}"#, "expected value"),
        ];
        for (text, message) in faults {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_that_the_record_does_not_bear_out_are_refused() {
        assert!(read(r#"{"edges":[]}"#).unwrap().graph().is_err());
        assert!(read(r#"{"nodes":4000000000,"edges":[]}"#).unwrap().graph().is_err());
        assert!(read(r#"{"nodes":2,"edges":[[0,2]]}"#).unwrap().graph().is_err());
        assert_eq!(read(r#"{"node_attributes":[[],[]],"edges":[]}"#).unwrap().graph().unwrap().nodes(), 2);
        let flood = format!(r#"{{"edges":[],"z":[{}0]}}"#, "0,".repeat(FIELD_VALUE_LIMIT));
        assert!(read(&flood).unwrap_err().to_string().contains("more than"));
    }
}
