//! A GIN layer with batch normalisation, once or iterated, as an operation of the tensor framework.

use std::any::Any;
use std::sync::{Arc, Mutex};

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::module::RunningState;
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};
use itergnn_kernels::block::Stops;
use itergnn_kernels::gin::{Gin, GinConfig, GinGradients, GinInputs, GinTape};
use itergnn_kernels::settings::IterConfig;
use itergnn_kernels::{GraphStructure, Isa, KernelError};

use super::call::lock;
use super::clock::KernelClock;
use super::engine::{EngineChoice, EngineUse};
use super::fault::FaultLog;
use super::parameters::push;
use crate::controllers::{ControllerOutput, Mode, RunOptions, Scope};
use crate::layers::GinConv;
use crate::ops::{FlexElement, with_float};
use crate::{Error, GraphTensors};

/// The modules of a GIN block.
pub(crate) struct FusedGin<'a> {
    pub(crate) layer: &'a GinConv,
    /// The iterative module and the map of its confidence, where the layer is iterated.
    pub(crate) iteration: Option<(IterConfig, &'a Linear)>,
}

/// Runs a block with the fused engine; [`choose`](super::choose) must have chosen it. In training the running
/// statistics of the layer move.
///
/// # Shapes
/// `states` is `[nodes, input]`, the output's state `[nodes, hidden]`.
///
/// # Errors
/// [`Error::Config`] with what the kernels refuse, such as a graph without nodes.
pub(crate) fn run_gin(
    block: &FusedGin<'_>,
    graph: &GraphTensors,
    states: Tensor<2>,
    options: &RunOptions,
) -> Result<ControllerOutput, Error> {
    let refused = |error: KernelError| Error::config("fused engine", error.to_string());
    let layer = block.layer;
    let config = GinConfig {
        input_width: states.dims()[1],
        hidden_width: layer.norms.last().map_or(0, |norm| norm.gamma.dims()[0]),
        iteration: block.iteration.as_ref().map(|(iteration, _)| *iteration),
    };
    let training = options.mode == Mode::Training && graph.device().is_autodiff();
    let run = Run {
        config,
        isa: Isa::from_environment().map_err(refused)?,
        structure: graph.structure().clone(),
        training,
        statistics: Mutex::new(statistics(layer).flat_map(|part| host(part.value_sync())).collect()),
        stops: Mutex::new(Ok(Stops::default())),
        kept: Mutex::new(None),
        clock: KernelClock::default(),
    };
    let call = GinCall(Arc::new(run));
    let parameters = flatten(layer, block.iteration.as_ref().map(|(_, confidence)| *confidence));
    let output = Dispatch::fused_gin(states.into_dispatch(), parameters.into_dispatch(), call.clone());
    let stops = std::mem::replace(&mut *lock(&call.0.stops), Ok(Stops::default())).map_err(refused)?;
    if training {
        call.move_statistics(layer);
    }
    Ok(ControllerOutput {
        hidden: Tensor::from_dispatch(output),
        scope: Scope::Graph,
        stops,
        auxiliary_loss: None,
        trace: None,
        engine: EngineUse {
            choice: EngineChoice::Fused,
            faults: FaultLog::default(),
            clock: call.0.clock.clone(),
            active_shares: Vec::new(),
        },
    })
}

/// The weights in the order of the kernels' [`GinLayout`](itergnn_kernels::gin::GinLayout).
fn flatten(layer: &GinConv, confidence: Option<&Linear>) -> Tensor<1> {
    let mut parts = Vec::new();
    for (map, norm) in layer.mlp.layers.iter().zip(&layer.norms) {
        push(&mut parts, map, |weight| weight);
        parts.extend([norm.gamma.val(), norm.beta.val()]);
    }
    if let Some(confidence) = confidence {
        push(&mut parts, confidence, |weight| weight);
    }
    Tensor::cat(parts, 0)
}

/// The running statistics in the order of the kernels: for each map mean and variance of every step.
fn statistics(layer: &GinConv) -> impl Iterator<Item = &RunningState<Tensor<1>>> {
    let maps = layer.norms.len();
    layer.norms.iter().enumerate().flat_map(move |(map, norm)| {
        let later = layer.later_statistics.iter().skip(map).step_by(maps);
        let later = later.flat_map(|statistics| [&statistics.running_mean, &statistics.running_var]);
        [&norm.running_mean, &norm.running_var].into_iter().chain(later)
    })
}

fn host(tensor: Tensor<1>) -> Vec<f64> {
    tensor.into_data().convert::<f64>().iter::<f64>().collect()
}

/// One run of the kernels, without its tensors. A clone speaks of the same run.
#[derive(Debug, Clone)]
pub(crate) struct GinCall(Arc<Run>);

#[derive(Debug)]
struct Run {
    config: GinConfig,
    isa: Isa,
    structure: GraphStructure,
    training: bool,
    statistics: Mutex<Vec<f64>>,
    stops: Mutex<Result<Stops, KernelError>>,
    /// What the way back needs: a [`GinTape`].
    kept: Mutex<Option<Box<dyn Any + Send>>>,
    clock: KernelClock,
}

impl GinCall {
    fn forward<T: FlexElement>(&self, states: &[T], parameters: &[T]) -> Vec<T> {
        let run = &*self.0;
        match run.clock.time_forward(|| self.compute(states, parameters)) {
            Ok((output, stops)) => {
                *lock(&run.stops) = Ok(stops);
                output
            }
            Err(error) => {
                *lock(&run.stops) = Err(error);
                vec![T::from_f64(f64::NAN); run.structure.incoming().len() * run.config.hidden_width]
            }
        }
    }

    fn compute<T: FlexElement>(&self, states: &[T], parameters: &[T]) -> Result<(Vec<T>, Stops), KernelError> {
        let run = &*self.0;
        let gin = Gin::<T>::new(run.config, run.isa)?;
        let inputs = GinInputs { structure: &run.structure, states, parameters };
        let mut statistics = lock(&run.statistics);
        let mut own: Vec<T> = statistics.iter().map(|&value| T::from_f64(value)).collect();
        if !run.training {
            let output = gin.infer(&inputs, &own)?;
            return Ok((output.states, output.stops));
        }
        let (output, tape) = gin.forward(&inputs, &mut own)?;
        *statistics = own.into_iter().map(|value| value.to_f64()).collect();
        *lock(&run.kept) = Some(Box::new(tape));
        Ok((output.states, output.stops))
    }

    /// The gradients; NaN throughout where the run had no result.
    fn backward<T: FlexElement>(&self, parameters: &[T], gradient: &[T], wanted: bool) -> GinGradients<T> {
        let run = &*self.0;
        let kept = lock(&run.kept);
        let tape = kept.as_ref().and_then(|kept| kept.downcast_ref::<GinTape<T>>());
        let back = |tape| Gin::<T>::new(run.config, run.isa)?.backward(parameters, tape, gradient, wanted);
        let nodes = run.structure.incoming().len();
        let undefined = |count| vec![T::from_f64(f64::NAN); count];
        match tape.map(|tape| run.clock.time_backward(|| back(tape))) {
            Some(Ok(gradients)) => gradients,
            _ => GinGradients {
                parameters: undefined(parameters.len()),
                states: undefined(if wanted { nodes * run.config.input_width } else { 0 }),
            },
        }
    }

    /// Hands the statistics after the run to the layer.
    fn move_statistics(&self, layer: &GinConv) {
        let all = lock(&self.0.statistics);
        let mut rest = all.as_slice();
        for part in statistics(layer) {
            let old = part.value();
            let (own, later) = rest.split_at(old.dims()[0].min(rest.len()));
            rest = later;
            part.update(Tensor::from_data(TensorData::new(own.to_vec(), [own.len()]), (&old.device(), old.dtype())));
        }
    }
}

/// The operation; implemented for Flex and for autodiff over it.
#[backend_extension(Flex, Autodiff)]
pub(crate) trait GinBackend: Backend {
    /// Runs the layer that `call` describes: `[nodes, hidden width]` from `[nodes, input width]` and `[parameters]`.
    fn fused_gin(states: FloatTensor<Self>, parameters: FloatTensor<Self>, call: GinCall) -> FloatTensor<Self>;
}

/// The way back of [`GinBackend`].
pub(crate) trait GinGradient: GinBackend {
    /// The gradients with respect to states, where they are `wanted`, and parameters.
    fn fused_gin_backward(
        parameters: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        call: GinCall,
        wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 2];
}

fn forward<T: FlexElement>(
    states: &FloatTensor<Flex>,
    parameters: &FloatTensor<Flex>,
    call: &GinCall,
) -> FloatTensor<Flex> {
    let values = call.forward(T::elements(states), T::elements(parameters));
    let shape = [call.0.structure.incoming().len(), call.0.config.hidden_width];
    FloatTensor::<Flex>::from_data(TensorData::new(values, shape))
}

fn backward<T: FlexElement>(
    parameters: &FloatTensor<Flex>,
    gradient: &FloatTensor<Flex>,
    call: &GinCall,
    wanted: bool,
) -> [Option<FloatTensor<Flex>>; 2] {
    let gradients = call.backward(T::elements(parameters), T::elements(gradient), wanted);
    let tensor = |values: Vec<T>, shape: Vec<usize>| FloatTensor::<Flex>::from_data(TensorData::new(values, shape));
    let shape = vec![call.0.structure.incoming().len(), call.0.config.input_width];
    let count = gradients.parameters.len();
    [wanted.then(|| tensor(gradients.states, shape)), Some(tensor(gradients.parameters, vec![count]))]
}

impl GinBackend for Flex {
    fn fused_gin(states: FloatTensor<Self>, parameters: FloatTensor<Self>, call: GinCall) -> FloatTensor<Self> {
        let (states, parameters) = (states.to_contiguous(), parameters.to_contiguous());
        with_float!(parameters, F => forward::<F>(&states, &parameters, &call))
    }
}

impl GinGradient for Flex {
    fn fused_gin_backward(
        parameters: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        call: GinCall,
        wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 2] {
        let (parameters, gradient) = (parameters.to_contiguous(), gradient.to_contiguous());
        with_float!(gradient, F => backward::<F>(&parameters, &gradient, &call, wanted))
    }
}

/// The recorded way back of [`GinBackend::fused_gin`].
#[derive(Debug)]
struct FusedGinStep;

impl<B: GinGradient> Backward<B, 2> for FusedGinStep {
    type State = (FloatTensor<B>, GinCall, bool);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (parameters, call, wanted) = ops.state;
        let gradient = grads.consume::<B>(&ops.node);
        let gradients = B::fused_gin_backward(parameters, gradient, call, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some((parent, gradient)) = parent.zip(gradient) {
                grads.register::<B>(parent.id, gradient);
            }
        }
    }
}

impl<B: GinGradient, C: CheckpointStrategy> GinBackend for Autodiff<B, C> {
    fn fused_gin(states: FloatTensor<Self>, parameters: FloatTensor<Self>, call: GinCall) -> FloatTensor<Self> {
        let wanted = states.is_tracked();
        let nodes = [states.node(), parameters.node()];
        let (states, parameters) = (states.into_primitive(), parameters.into_primitive());
        match FusedGinStep.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(step) => {
                let output = B::fused_gin(states, parameters.clone(), call.clone());
                step.finish((parameters, call, wanted), output)
            }
            OpsKind::UnTracked(step) => step.finish(B::fused_gin(states, parameters, call)),
        }
    }
}
