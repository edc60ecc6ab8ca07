//! Parameters of a one-tree model, and its forward pass.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_kernels::block::Stops;

use super::OneTreeConfig;
use super::ascent::{AscentStep, Ended, FEATURES, Steering, ascend};
use super::lengths::Lengths;
use super::memory::POWERS;
use super::number::{Dual, Number, STEERING};
use crate::architecture::{Architecture, Settings};
use crate::controllers::{ControllerOutput, GraphStep, Mode, RunOptions, SAFETY_CAP, Scope, Trace};
use crate::fused::EngineUse;
use crate::{Error, GraphTensors, InitRng, ModelOutput};

/// Where the steering starts, drawn uniformly between two values: a first step of .1 to .4 mean edges that shrinks by
/// 3% to 10% a step, a tenth to a half of the last direction, a memory of 4 to 20 trees, and a stop when the step is
/// down to .01 to .05 mean edges.
const FIRST_STEERING: [(f64, f64); STEERING] = [(-2.3, -0.9), (-3.5, -2.3), (-2.2, 0.0), (-3.0, -1.0), (-4.6, -3.0)];

/// The largest initial share of the indecision.
const FIRST_CORRECTION: f64 = 0.01;

/// Numbers of a graph that have derivatives: features, expected steps, what remains.
const COLUMNS: usize = FEATURES + 2;

/// Prices on nodes that rise until a cheapest 1-tree is nearly a tour, and a learned remainder.
///
/// A step finds the cheapest 1-tree `T` under the prices `p` (length of an edge plus the prices of its ends), sees by
/// `d_v`, the degree of `v` in `T` minus two, who has too many edges and who too few, and changes the prices:
/// ```text
/// p_v   <- p_v + s tau (d_v + inertia (d_v of the last step - d_v))
/// bound  = largest of  sum over T of w + sum over v of p_v d_v,  never above the length of a tour
/// x_e    = how often e was in T lately
/// y_o    = bound + sum over e of w_e x_e (1 - x_e) (A_0o + A_1o x_e + A_2o x_e^2)
/// ```
/// with `s` the mean edge of the first tree and `tau` a step that shrinks geometrically. `c = sigmoid(10 (stop - ln
/// tau))` is the confidence, and a 1-tree that is a tour ends the steps at once (that tour is optimal; the prediction
/// is its length). Bound and `x` are blended over the steps by `c_k prod_{i<k} (1 - c_i)`.
///
/// Learned: five numbers that steer (first step, decay, inertia, memory, stop) and `A`. The derivatives are exact: with
/// respect to the steering by forward differentiation on the host (the trees themselves are constant almost
/// everywhere), with respect to `A` by the tensor framework.
///
/// Positively homogeneous of degree 1 in the edge attributes, its confidence of degree 0
/// (`predictions_scale_and_iterations_do_not` in `tests/one_tree.rs`); the bound is a sum over nodes and edges, so
/// nothing depends on the number of nodes. The prediction does not depend on the order of the nodes unless two trees
/// cost exactly the same.
///
/// # Shapes
/// Node attributes `[nodes, node width]` (not read), edge attributes `[edges, 1]` of at least 0, output `[graphs,
/// output]`.
///
/// # Complexity
/// Time `nodes^2` a step and graph, memory `nodes^2`.
#[derive(Module, Debug)]
pub struct OneTreeModel {
    steering: Param<Tensor<1>>,
    correction: Param<Tensor<2>>,
    #[module(skip)]
    config: OneTreeConfig,
}

impl Architecture for OneTreeModel {
    type Settings = OneTreeConfig;

    fn new(config: &OneTreeConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let steering = FIRST_STEERING
            .map(|(least, most)| (least + most) / 2.0 + f64::from(rng.symmetric((most - least) / 2.0)))
            .to_vec();
        Ok(Self {
            steering: Param::from_data(TensorData::new(steering, [STEERING]), device),
            correction: rng.uniform([POWERS, config.output_width], FIRST_CORRECTION, device),
            config: config.clone(),
        })
    }

    /// Runs the model on a batch.
    ///
    /// # Errors
    /// [`Error::Graph`] for edge attributes that are no lengths, and for graphs that are not connected or too large.
    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        match options.mode {
            Mode::Training => self.run::<Dual>(graph, options.cap.unwrap_or(self.config.training_cap), options),
            Mode::Inference => self.run::<f64>(graph, options.cap.unwrap_or(SAFETY_CAP), options),
        }
    }
}

impl OneTreeModel {
    fn run<N: Number>(&self, graph: &GraphTensors, cap: usize, options: &RunOptions) -> Result<ModelOutput, Error> {
        let device = graph.device();
        let numbers: Vec<f64> = host(self.steering.val().detach());
        let steering = Steering(std::array::from_fn(|index| numbers[index]));
        let ended: Vec<Ended<N>> =
            lengths(graph).map(|lengths| Ok(ascend(&lengths?, steering, cap))).collect::<Result<_, Error>>()?;

        let graphs = ended.len();
        let columns = self.with_derivatives(&ended, &device);
        let bound = columns.clone().narrow(1, 0, 1);
        let indecision = columns.clone().narrow(1, 1, POWERS);
        let values = bound.repeat_dim(1, self.config.output_width) + indecision.matmul(self.correction.val());
        let charge = (options.mode == Mode::Training && graphs > 0).then(|| {
            let expected = columns.clone().narrow(1, FEATURES, 1).mean();
            let remaining = columns.narrow(1, FEATURES + 1, 1).mean();
            expected * self.config.ponder + remaining * self.config.settle
        });

        let prices = ended.iter().flat_map(|end| end.prices.iter().copied()).collect::<Vec<_>>();
        let hidden = Tensor::from_data(TensorData::new(prices, [graph.nodes(), 1]), &device);
        let block = ControllerOutput {
            hidden: hidden.clone(),
            scope: Scope::Graph,
            stops: Stops {
                steps: ended.iter().map(|end| end.steps).collect(),
                confidences: ended.iter().map(|end| end.confidence).collect(),
                remaining: ended.iter().map(|end| end.remaining.value()).collect(),
                capped: ended.iter().map(|end| end.capped).collect(),
                ..Stops::before_the_first(ended.len())
            },
            auxiliary_loss: charge.clone(),
            trace: options.trace.then(|| trace(&ended)),
            engine: EngineUse::plain(),
        };
        Ok(ModelOutput { values, hidden: Some(hidden), blocks: vec![block], auxiliary_loss: charge })
    }

    /// The numbers of every graph, `[graphs, COLUMNS]`, as a tensor with the derivatives that were computed on the
    /// host: a constant plus their product with a zero that depends on the steering.
    fn with_derivatives<N: Number>(&self, ended: &[Ended<N>], device: &Device) -> Tensor<2> {
        let numbers = ended.iter().flat_map(|end| end.features.into_iter().chain([end.expected, end.remaining]));
        let values: Vec<f64> = numbers.clone().map(Number::value).collect();
        let slopes: Vec<f64> = numbers.flat_map(Number::slopes).collect();
        let values = Tensor::from_data(TensorData::new(values, [ended.len(), COLUMNS]), device);
        let slopes = Tensor::<2>::from_data(TensorData::new(slopes, [ended.len() * COLUMNS, STEERING]), device);
        let steering = self.steering.val();
        let zero = (steering.clone() - steering.detach()).reshape([STEERING, 1]);
        values + slopes.matmul(zero).reshape([ended.len(), COLUMNS])
    }
}

/// The lengths of every graph of a batch.
fn lengths(graph: &GraphTensors) -> impl Iterator<Item = Result<Lengths, Error>> {
    let attributes: Vec<f64> = host(graph.edge_attributes().detach());
    let width = graph.edge_attributes().dims()[1].max(1);
    let (senders, receivers) = (graph.structure().senders(), graph.incoming().ids());
    graph.node_segments().iter().zip(graph.edge_segments().iter()).map(move |(nodes, edges)| {
        let place = |node: u32| node as usize - nodes.start;
        let edge = |edge: usize| (place(senders[edge]), place(receivers[edge]), attributes[edge * width]);
        Lengths::new(nodes.len(), edges.map(edge))
    })
}

fn trace<N: Number>(ended: &[Ended<N>]) -> Trace {
    let rows = ended.iter().enumerate().flat_map(|(graph, end)| {
        let row = move |(step, at): (usize, &AscentStep)| GraphStep {
            graph,
            step: step + 1,
            change: at.change,
            changed: at.changed,
            confidence: at.confidence,
            remaining: at.remaining,
            nodes: None,
        };
        end.trace.iter().enumerate().map(row)
    });
    Trace::of_graphs(rows)
}

/// The numbers of a tensor.
fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().expect("the device gives its tensors back")
}
