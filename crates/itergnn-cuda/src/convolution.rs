//! Graphs as GCN and GAT see them.

use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::LayerKind;

use crate::SampleView;

/// The edges of a convolution.
pub(crate) struct Convolved {
    pub(crate) incoming: Vec<u32>,
    pub(crate) senders: Vec<u32>,
    pub(crate) edges: Vec<f32>,
}

/// The edges of a graph as a convolution has them: its loop is the last edge to a node. GCN's edges carry their
/// normalised weights, GAT's the features that it reads.
pub(crate) fn convolved(block: &BlockConfig, graph: &SampleView<'_>, width: usize) -> Convolved {
    let (loops, reads_edges) = (block.has_loops(), block.convolves_edges());
    let count = graph.incoming.len() - 1;
    let (mut incoming, mut senders, mut features) = (vec![0], Vec::new(), Vec::new());
    for node in 0..count as u32 {
        let (first, mut own) = (senders.len(), None);
        for edge in graph.incoming[node as usize] as usize..graph.incoming[node as usize + 1] as usize {
            if loops && graph.senders[edge] == node {
                own = Some(edge);
            } else {
                senders.push(graph.senders[edge]);
                features.push(graph.edges[edge * width..(edge + 1) * width].to_vec());
            }
        }
        if loops {
            let others = &features[first..];
            features.push(match (block.layer.kind, own) {
                (LayerKind::Gcn, Some(edge)) => graph.edges[edge * width..(edge + 1) * width].to_vec(),
                (LayerKind::Gcn, None) => vec![1.0; width],
                _ => {
                    let sum = |place: usize| others.iter().map(|row| f64::from(row[place])).sum::<f64>();
                    (0..width).map(|place| (sum(place) / others.len().max(1) as f64) as f32).collect()
                }
            });
            senders.push(node);
        }
        incoming.push(senders.len() as u32);
    }
    let edges = match block.layer.kind {
        LayerKind::Gcn => normalised(&incoming, &senders, &features, reads_edges),
        _ if reads_edges => features.concat(),
        _ => Vec::new(),
    };
    Convolved { incoming, senders, edges }
}

/// GCN's weights of edges: `w / sqrt(d_s d_r)` with the sum `d` of incoming weights; a node without any sends nothing.
fn normalised(incoming: &[u32], senders: &[u32], features: &[Vec<f32>], weighed: bool) -> Vec<f32> {
    let weight = |edge: usize| if weighed { f64::from(features[edge][0]) } else { 1.0 };
    let range = |node: usize| incoming[node] as usize..incoming[node + 1] as usize;
    let scale = |node: usize| {
        let degree: f64 = range(node).map(weight).sum();
        if degree == 0.0 { 0.0 } else { 1.0 / degree.sqrt() }
    };
    let scales: Vec<f64> = (0..incoming.len() - 1).map(scale).collect();
    let of_edge = |receiver: usize, edge: usize| scales[senders[edge] as usize] * weight(edge) * scales[receiver];
    let nodes = 0..incoming.len() - 1;
    nodes
        .flat_map(|node| range(node).map(move |edge| (node, edge)))
        .map(|(node, edge)| of_edge(node, edge) as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use itergnn_kernels::settings::{ControllerConfig, LayerConfig};

    use super::*;

    /// Two nodes: an edge of weight 2 from the first to the second, which has a loop of weight 3.
    fn edges(kind: LayerKind, change: impl FnOnce(&mut LayerConfig)) -> Convolved {
        let mut layer = LayerConfig { use_edge_attributes: true, ..LayerConfig::new(kind, 1, 4, 1) };
        change(&mut layer);
        let block = BlockConfig { layer, controller: ControllerConfig::shared(1) };
        let (nodes, incoming, senders, edges) = ([0.0; 2], [0, 0, 2], [1, 0], [3.0, 2.0]);
        let (targets, target_rows) = (&[][..], &[][..]);
        let graph =
            SampleView { nodes: &nodes, incoming: &incoming, senders: &senders, edges: &edges, targets, target_rows };
        convolved(&block, &graph, 1)
    }

    #[test]
    fn every_node_has_one_loop_and_it_comes_last() {
        let gcn = edges(LayerKind::Gcn, |_| {});
        assert_eq!((&gcn.incoming[..], &gcn.senders[..]), (&[0, 1, 3][..], &[0, 0, 1][..]));
        // The sums of incoming weights are 1, of the new loop, and 5.
        let expected = [1.0, 2.0 / 5_f32.sqrt(), 3.0 / 5.0];
        assert!(gcn.edges.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        // A loop of GAT has the mean of the other edges to its node, or zeros.
        assert_eq!(edges(LayerKind::Gat, |_| {}).edges, [0.0, 2.0, 2.0]);
        assert!(edges(LayerKind::Gat, |layer| layer.use_edge_attributes = false).edges.is_empty());
    }

    #[test]
    fn without_loops_the_edges_stay_and_a_node_that_nothing_reaches_sends_nothing() {
        let gcn = edges(LayerKind::Gcn, |layer| layer.add_self_loops = false);
        assert_eq!((&gcn.incoming[..], &gcn.senders[..]), (&[0, 0, 2][..], &[1, 0][..]));
        assert!((gcn.edges[0] - 0.6).abs() < 1e-6 && gcn.edges[1] == 0.0, "{:?}", gcn.edges);
    }
}
