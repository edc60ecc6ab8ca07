//! Random node attributes, which let a network tell nodes apart that look alike.

use burn::tensor::{Tensor, TensorData};
use rand::Rng;

use crate::GraphTensors;

/// The batch with `width` fresh node attributes drawn from U[0, 1) after (or instead of, if there are none) its own.
///
/// Every forward pass should draw anew; the generator decides what is drawn, and its state is all the randomness there
/// is. Nodes are served in the order of the batch, row by row.
///
/// # Shapes
/// Node attributes `[nodes, node width]` become `[nodes, node width + width]`.
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_graph::{Graph, rng};
/// use itergnn_nn::{GraphTensors, with_random_attributes};
/// let triangle = Graph::undirected(3, &[[0, 1], [1, 2], [2, 0]]).expect("the edges exist");
/// let batch = GraphTensors::from_graph(&triangle, &Device::flex());
/// assert_eq!(with_random_attributes(batch, 4, &mut rng::seeded(7)).node_attributes().dims(), [3, 4]);
/// ```
///
/// # Paper
/// Random initialisation of node attributes, used for component counting and regular graphs.
pub fn with_random_attributes(graph: GraphTensors, width: usize, generator: &mut impl Rng) -> GraphTensors {
    let nodes = graph.nodes();
    // 24 random bits: the numbers of [0, 1) that a f32 mantissa holds exactly, the same in f64.
    let values: Vec<f32> =
        (0..nodes * width).map(|_| (generator.next_u32() >> 8) as f32 / (1_u32 << 24) as f32).collect();
    let drawn = Tensor::from_data(TensorData::new(values, [nodes, width]), &graph.device());
    let attributes = graph.node_attributes();
    let attributes = if attributes.dims()[1] == 0 { drawn } else { Tensor::cat(vec![attributes, drawn], 1) };
    graph.with_node_attributes(attributes)
}
