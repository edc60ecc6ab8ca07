//! From the modules of a classifier to what it computed.

use burn::backend::{Dispatch, DispatchTensor};
use burn::module::{Module, ModuleMapper, Param, RunningState};
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};
use itergnn_kernels::KernelError;
use itergnn_kernels::settings::JumpingKnowledgeConfig;

use super::call::{GinCall, GinTask};
use super::operation::{GinBackend, MOST_FOLLOWED};
use super::tensors::Tensors;
use crate::controllers::{ControllerOutput, Mode, RunOptions, Scope};
use crate::fused::engine::{EngineChoice, EngineUse};
use crate::fused::fault::FaultLog;
use crate::graph_model::ModelOutput;
use crate::layers::GinConv;
use crate::{Error, GraphTensors};

/// The modules of a classifier.
pub(crate) struct FusedGin<'a> {
    pub(crate) config: &'a JumpingKnowledgeConfig,
    /// Every block, with the map of its confidence where it is iterated.
    pub(crate) blocks: Vec<(&'a GinConv, Option<&'a Linear>)>,
    /// What the attributes and the states after each block vote by.
    pub(crate) votes: &'a [Linear],
}

/// Runs a classifier with the fused engine; [`choose`](crate::fused::choose) must have chosen it. In training the
/// running statistics of its layers move. States come without gradients: only the scores are followed.
///
/// `states` are what the first block reads, `[nodes, hidden]`, where blocks are iterated; `factors` are those of the
/// scores of every layer, `[layers, graphs, classes]`, or none.
///
/// # Errors
/// [`Error::Config`] with what the kernels refuse, such as a graph without nodes.
pub(crate) fn run_gin(
    model: &FusedGin<'_>,
    graph: &GraphTensors,
    states: Option<Tensor<2>>,
    factors: Vec<f32>,
    options: &RunOptions,
) -> Result<ModelOutput, Error> {
    let refused = |error: KernelError| Error::config("fused engine", error.to_string());
    let attributes = graph.node_attributes();
    let (device, float) = (attributes.device(), attributes.dtype());
    let training = options.mode == Mode::Training && device.is_autodiff();
    let task = GinTask { config: *model.config, structure: graph.structure().clone(), training, factors };
    let call = GinCall::new(task).map_err(refused)?;
    let mut followed = vec![attributes.into_dispatch()];
    followed.extend(states.map(Tensor::into_dispatch));
    let places = MOST_FOLLOWED - followed.len();
    followed.extend(model.parameters(places));
    let statistics = model.statistics().map(|part| part.value_sync().into_dispatch()).collect();
    let scores = Dispatch::fused_gin(Tensors(followed), Tensors(statistics), call.clone());
    let outcome = call.outcome().map_err(refused)?;
    if training {
        model.move_statistics(&outcome.statistics);
    }
    let states = outcome.states.into_iter().map(|states| Tensor::from_data(states, (&device, float)));
    let states: Vec<Tensor<2>> = states.collect();
    let hidden = states.last().cloned();
    let engine = EngineUse {
        choice: EngineChoice::Fused,
        faults: FaultLog::default(),
        clock: call.clock(),
        active_shares: Vec::new(),
    };
    let iterated = model.config.iteration().map(|_| outcome.stops.into_iter().zip(states)).into_iter().flatten();
    let blocks = iterated.map(|(stops, hidden)| ControllerOutput {
        hidden,
        scope: Scope::Graph,
        stops,
        auxiliary_loss: None,
        trace: None,
        engine: engine.clone(),
    });
    Ok(ModelOutput { values: Tensor::from_dispatch(scores), hidden, auxiliary_loss: None, blocks: blocks.collect() })
}

/// A parameter of either rank.
enum Parameter<'a> {
    Matrix(&'a Param<Tensor<2>>),
    Vector(&'a Param<Tensor<1>>),
}

/// Adds the weight of a map and its bias.
fn push<'a>(parts: &mut Vec<Parameter<'a>>, map: &'a Linear) {
    parts.push(Parameter::Matrix(&map.weight));
    parts.extend(map.bias.as_ref().map(Parameter::Vector));
}

impl FusedGin<'_> {
    /// The weights in the order of the kernels' [`GinLayout`](itergnn_kernels::gin::GinLayout): each a tensor of its
    /// own, or all as one where there are more than `places`.
    fn parameters(&self, places: usize) -> Vec<DispatchTensor> {
        let mut parts = Vec::new();
        for (layer, confidence) in &self.blocks {
            for (map, norm) in layer.mlp.layers.iter().zip(&layer.norms) {
                push(&mut parts, map);
                parts.extend([&norm.gamma, &norm.beta].map(Parameter::Vector));
            }
            confidence.iter().for_each(|&map| push(&mut parts, map));
        }
        self.votes.iter().for_each(|map| push(&mut parts, map));
        if parts.len() <= places {
            let tensor = |part| match part {
                Parameter::Matrix(matrix) => Param::val(matrix).into_dispatch(),
                Parameter::Vector(vector) => Param::val(vector).into_dispatch(),
            };
            return parts.into_iter().map(tensor).collect();
        }
        let flat = |part| match part {
            Parameter::Matrix(matrix) => Param::val(matrix).flatten(0, 1),
            Parameter::Vector(vector) => Param::val(vector),
        };
        vec![Tensor::<1>::cat(parts.into_iter().map(flat).collect(), 0).into_dispatch()]
    }

    /// The running statistics in the order of the kernels: block by block, for each map mean and variance of every
    /// step.
    fn statistics(&self) -> impl Iterator<Item = &RunningState<Tensor<1>>> {
        self.blocks.iter().flat_map(|&(layer, _)| {
            let maps = layer.norms.len();
            layer.norms.iter().enumerate().flat_map(move |(map, norm)| {
                let later = layer.later_statistics.iter().skip(map).step_by(maps);
                let later = later.flat_map(|statistics| [&statistics.running_mean, &statistics.running_var]);
                [&norm.running_mean, &norm.running_var].into_iter().chain(later)
            })
        })
    }

    /// Hands the statistics after a run to the layers.
    fn move_statistics(&self, all: &[f64]) {
        let mut rest = Replace(all);
        for part in self.statistics() {
            // A clone shares its value. To map it replaces the value at once; `update` would first divide it by the
            // number of threads that had one, a tensor operation each.
            let _ = part.clone().map(&mut rest);
        }
    }
}

/// Gives every tensor that it maps the next of these numbers.
struct Replace<'a>(&'a [f64]);

impl ModuleMapper for Replace<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| {
            let shape = old.shape();
            let (own, later) = self.0.split_at(shape.num_elements());
            self.0 = later;
            Tensor::from_data(TensorData::new(own.to_vec(), shape), (&old.device(), old.dtype()))
        })
    }
}
