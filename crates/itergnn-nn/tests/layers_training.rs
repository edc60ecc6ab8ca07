//! Training in single precision: layers with scale-invariant attention stay finite and learn.
//!
//! Unweighted graphs with symmetries give scores that differ by rounding only, where a careless softmax ends training
//! in NaN. What happens at such a range is tested in `ops/precision.rs`; this is the whole chain with an optimiser.

use burn::module::Module;
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_graph::{Attributes, Graph, GraphBatch};
use itergnn_nn::layers::{Aggregation, LayerConfig, LayerKind, MessagePassing};
use itergnn_nn::ops::segment_max;
use itergnn_nn::{GraphTensors, InitRng, Layer, Mlp, MlpConfig};

const HIDDEN: usize = 16;
const ITERATIONS: usize = 12;
const STEPS: usize = 20;

/// Embedding, one layer repeated, maximum over the nodes, linear head; all without biases.
#[derive(Module, Debug)]
struct Network {
    embedding: Mlp,
    layer: Layer,
    head: Linear,
}

impl Network {
    fn new(kind: LayerKind, aggregation: Aggregation, device: &Device) -> Self {
        let mut rng = InitRng::new(1);
        let config = LayerConfig::new(kind, 3, HIDDEN, 1).with_homogeneous(true).with_aggregation(aggregation);
        Self {
            embedding: MlpConfig::new(3, HIDDEN, 2).with_bias(false).init(device, &mut rng),
            layer: Layer::new(&config, device, &mut rng).expect("the settings are consistent"),
            head: rng.linear(HIDDEN, 1, false, device),
        }
    }

    fn forward(&self, graph: &GraphTensors) -> Tensor<2> {
        let input = graph.node_attributes();
        let mut hidden = self.embedding.forward(input.clone());
        for _ in 0..ITERATIONS {
            hidden = self.layer.forward(graph, input.clone(), hidden);
        }
        self.head.forward(segment_max(hidden, graph.node_segments()))
    }
}

/// Unweighted square grids from a source (first corner) to a target (last corner), and the distances between them.
///
/// The symmetry of a square gives every node on its diagonal neighbours with equal states, in threes and fours. (Two
/// neighbours would not do: the scale-invariant softmax of two scores depends on their order only.)
fn grids(device: &Device) -> (GraphTensors, Tensor<2>) {
    let sides = [2_u32, 3, 4, 5];
    let grid = |&side: &u32| {
        let nodes = side * side;
        let right = (0..nodes).filter(|node| node % side + 1 < side).map(|node| [node, node + 1]);
        let down = (0..nodes - side).map(|node| [node, node + side]);
        let pairs: Vec<[u32; 2]> = right.chain(down).collect();
        let kind = |node: u32| if node == 0 { 0 } else { 2 - u32::from(node == nodes - 1) };
        let one_hot = (0..nodes).flat_map(|node| (0..3).map(move |index| f32::from(index == kind(node)))).collect();
        Graph::undirected(nodes as usize, &pairs)
            .and_then(|graph| graph.with_node_attributes(Attributes::new(3, one_hot)))
            .and_then(|graph| graph.with_edge_attributes(Attributes::new(1, vec![1.0; 2 * pairs.len()])))
            .expect("a grid is a graph")
    };
    let graphs: Vec<Graph> = sides.iter().map(grid).collect();
    let batch = GraphBatch::new(&graphs).expect("grids have the same attributes");
    let targets: Vec<f32> = sides.iter().map(|&side| 2.0 * (side as f32 - 1.0)).collect();
    let targets = Tensor::from_data(TensorData::new(targets, [sides.len(), 1]), device);
    (GraphTensors::from_batch(&batch, device), targets)
}

#[test]
fn homogeneous_attention_trains_without_nan() {
    let device = Device::flex().autodiff();
    let (graph, targets) = grids(&device);
    for (kind, aggregation) in [
        (LayerKind::Path, Aggregation::Attention),
        (LayerKind::PathSim, Aggregation::Attention),
        (LayerKind::Path, Aggregation::Sparsemax),
        (LayerKind::Gat, Aggregation::Attention),
    ] {
        let mut network = Network::new(kind, aggregation, &device);
        let mut optimizer = AdamConfig::new().init();
        let mut losses = Vec::new();
        for _ in 0..STEPS {
            let loss = (network.forward(&graph) - targets.clone()).square().mean();
            losses.push(loss.clone().into_scalar::<f32>());
            let gradients = GradientsParams::from_grads(loss.backward(), &network);
            network = optimizer.step(3e-3, network, gradients);
        }
        assert!(losses.iter().all(|loss| loss.is_finite()), "{kind} {aggregation}: {losses:?}");
        assert!(losses[STEPS - 1] < losses[0], "{kind} {aggregation} learns: {losses:?}");
    }
}
