//! A set of labelled graphs with node tags.

use crate::{Attributes, Graph, GraphError};

/// What the one-hot node attributes of a graph stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeFeature {
    /// The node's tag. Columns are tags in order of first appearance in the file.
    Tag,
    /// The node's degree, for sets without meaningful tags (IMDB). Columns are the degrees that occur in the set,
    /// ascending.
    Degree,
}

/// One graph of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct GinGraph {
    /// The graph, both directions of every edge; node attributes are the file's continuous ones, mostly none.
    pub graph: Graph,
    /// The class: an index into [`GinDataset::label_values`].
    pub label: usize,
    /// The tag of each node: an index into [`GinDataset::tag_values`].
    pub tags: Vec<u32>,
}

/// A graph classification set.
///
/// Labels and tags of the file may be any whole numbers (MUTAG's classes are 0 and 2). Both are numbered anew in order
/// of first appearance, as the GIN paper's code does; the originals are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct GinDataset {
    /// The graphs in the order of the file.
    pub graphs: Vec<GinGraph>,
    /// The file's label of each class.
    pub label_values: Vec<i64>,
    /// The file's tag of each tag index.
    pub tag_values: Vec<i64>,
    /// The degrees that occur, ascending.
    pub degree_values: Vec<u32>,
    /// What was changed in reading, one sentence each.
    pub warnings: Vec<String>,
}

/// The most numbers that one-hot attributes of one graph may have (a quarter of a gigabyte): tags that all differ would
/// make it quadratic.
const ONE_HOT_LIMIT: usize = 1 << 26;

impl GinDataset {
    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.label_values.len()
    }

    /// The number of one-hot columns.
    pub fn feature_width(&self, feature: NodeFeature) -> usize {
        match feature {
            NodeFeature::Tag => self.tag_values.len(),
            NodeFeature::Degree => self.degree_values.len(),
        }
    }

    /// A graph of the set with one-hot node attributes, followed by the file's continuous ones where it has any.
    ///
    /// # Errors
    /// [`GraphError::Parameter`] where the attributes would need more than a quarter of a gigabyte.
    ///
    /// # Panics
    /// If there is no such graph.
    pub fn one_hot(&self, index: usize, feature: NodeFeature) -> Result<Graph, GraphError> {
        let GinGraph { graph, tags, .. } = &self.graphs[index];
        let columns = self.feature_width(feature);
        let width = columns + graph.node_attributes().width();
        if width.saturating_mul(graph.nodes()) > ONE_HOT_LIMIT {
            let why = format!("{} nodes with {width} attributes, more than {ONE_HOT_LIMIT} numbers", graph.nodes());
            return Err(GraphError::Parameter { what: "one-hot node attributes", why });
        }
        let mut values = vec![0.0; width * graph.nodes()];
        for (node, row) in values.chunks_exact_mut(width).enumerate() {
            let column = match feature {
                NodeFeature::Tag => tags[node] as usize,
                NodeFeature::Degree => {
                    let degree = graph.incoming_positions(node as u32).len() as u32;
                    self.degree_values.partition_point(|&value| value < degree)
                }
            };
            row[column] = 1.0;
            row[columns..].copy_from_slice(graph.node_attributes().row(node));
        }
        graph.clone().with_node_attributes(Attributes::new(width, values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::parse_gin;

    #[test]
    fn attributes_are_one_hot_by_tag_or_degree() {
        let set = parse_gin(&b"1\n3 7\n5 1 1 0.5\n4 2 0 2 1.5\n5 1 1 2.5\n"[..], "t").unwrap();
        let by_tag = set.one_hot(0, NodeFeature::Tag).unwrap();
        assert_eq!(by_tag.node_attributes().values(), [1.0, 0.0, 0.5, 0.0, 1.0, 1.5, 1.0, 0.0, 2.5]);
        let by_degree = set.one_hot(0, NodeFeature::Degree).unwrap();
        assert_eq!(by_degree.node_attributes().row(1), [0.0, 1.0, 1.5]);
    }

    #[test]
    fn quadratic_attributes_are_refused() {
        let mut text = String::from("1\n10000 0\n");
        (0..10_000).for_each(|tag| text.push_str(&format!("{tag} 0\n")));
        let set = parse_gin(text.as_bytes(), "t").unwrap();
        assert!(set.one_hot(0, NodeFeature::Tag).is_err());
        assert_eq!(set.one_hot(0, NodeFeature::Degree).unwrap().node_attributes().width(), 1);
    }
}
