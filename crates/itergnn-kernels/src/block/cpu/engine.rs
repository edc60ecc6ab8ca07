//! The entry points of the fused engine.

use std::time::Instant;

use super::backward::{BackwardScratch, Targets};
use super::forward::{ForwardScratch, Job};
use super::packed::{PackedWeights, WayBack, unpack_gradient};
use super::plan::GraphPlan;
use super::tape::{Memory, Tape};
use super::threads;
use crate::block::batch::{BatchView, BlockInputs, expect_length};
use crate::block::config::BlockConfig;
use crate::block::output::{BlockGradients, BlockOutput, OutputGradients, Wanted};
use crate::block::parameters::{ParameterKind, ParameterLayout};
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::kernels::{AddAssign, Peak};
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::Isa;

/// Groups of graphs whose gradients are summed apart. More would balance more threads and cost more memory.
const GROUPS: usize = 16;
/// The same where every layer has its own gradients.
const STACK_GROUPS: usize = 8;

/// Which instruction set to run on. The threads are those of the rayon pool that the caller is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Engine {
    isa: Isa,
}

impl Engine {
    /// The instruction set the environment asks for, else the best of this processor.
    ///
    /// # Errors
    /// As [`Isa::from_environment`].
    pub fn new() -> Result<Self, KernelError> {
        Ok(Self { isa: Isa::from_environment()? })
    }

    /// A given instruction set.
    ///
    /// # Errors
    /// [`KernelError::IsaUnavailable`] if this processor does not offer it.
    pub fn with_isa(isa: Isa) -> Result<Self, KernelError> {
        if isa.is_available() { Ok(Self { isa }) } else { Err(KernelError::IsaUnavailable(isa)) }
    }

    /// The most `f32` multiply-adds of one thread with this instruction set, in GFLOP/s, as measured now in a few
    /// milliseconds.
    ///
    /// What the share of a computation is taken of; a busy machine gives too little.
    pub fn peak_gflops(self) -> f64 {
        let args = std::hint::black_box(Peak { rounds: 1 << 17, factor: 0.999_f32, addend: 1e-3 });
        let rate = || {
            let start = Instant::now();
            // SAFETY: the table belongs to this processor.
            let (operations, value) = unsafe { (f32::kernels(self.isa).peak)(&args) };
            std::hint::black_box(value);
            operations as f64 / start.elapsed().as_secs_f64() * 1e-9
        };
        (0..10).map(|_| rate()).fold(0.0, f64::max)
    }

    /// The instruction set in use.
    pub fn isa(self) -> Isa {
        self.isa
    }
}

pub(super) fn costs(batch: &BatchView<'_>) -> Vec<usize> {
    (0..batch.graphs())
        .map(|graph| GraphPlan::cost(batch.node_range(graph).len(), batch.edge_range(graph).len()))
        .collect()
}

/// Cuts a slice of `[nodes, width]` or `[edges, width]` into the rows of each graph.
pub(super) fn per_graph<'a, T>(mut values: &'a mut [T], offsets: &[u32], width: usize) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(offsets.len());
    for ends in offsets.windows(2) {
        let (part, rest) = values.split_at_mut((ends[1] - ends[0]) as usize * width);
        parts.push(part);
        values = rest;
    }
    parts
}

/// Runs a block and keeps what [`backward`] needs.
///
/// `wanted` says which gradients [`backward`] will compute.
///
/// # Errors
/// [`KernelError::Length`], [`KernelError::Batch`] or [`KernelError::Config`] for inputs that do not fit together;
/// [`KernelError::NonFinite`] when a value overflows, with the first graph of the batch and its first iteration at
/// which that happened.
///
/// # Complexity
/// Per iteration `O(nodes hidden message + edges message hidden)` work; memory `O(iterations (nodes (hidden + message) + edges))`.
///
/// # Example
/// ```
/// use itergnn_kernels::block::*;
/// use itergnn_kernels::settings::*;
///
/// let layer = LayerConfig::new(LayerKind::PathSim, 1, 4, 1).with_aggregation(Aggregation::Max).with_homogeneous(true);
/// let config = BlockConfig { layer, controller: ControllerConfig::shared(2) };
/// // Two nodes, one edge each way.
/// let batch =
///     BatchView::new(&[0, 2], &[0, 2], &[1, 0], &[0, 1, 2]);
/// let parameters = vec![0.1_f32; ParameterLayout::new(&config).len()];
/// let inputs = BlockInputs {
///     batch,
///     node_inputs: &[1.0, 0.0],
///     hidden: &[0.0; 8],
///     edge_features: &[1.0, 1.0],
///     parameters: &parameters,
/// };
/// let engine = Engine::new()?;
/// let (output, tape) = forward(engine, &config, &inputs, Wanted::default())?;
/// assert_eq!(output.stops.steps, [2]);
/// let gradient = OutputGradients { output: &[1.0; 8], unspent: None };
/// let gradients = backward(engine, &inputs, &output, &tape, &gradient)?;
/// assert_eq!(gradients.parameters.len(), parameters.len());
/// # Ok::<(), itergnn_kernels::KernelError>(())
/// ```
pub fn forward<T: Real>(
    engine: Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    wanted: Wanted,
) -> Result<(BlockOutput<T>, Tape<T>), KernelError> {
    inputs.validate(config)?;
    let layout = ParameterLayout::new(config);
    let weights = PackedWeights::new(config, &layout, inputs.parameters, WayBack::Yes);
    let kernels = T::kernels(engine.isa);
    let job = Job { kernels, config, layout: &layout, inputs, weights: &weights, wanted };
    let batch = &inputs.batch;
    let width = config.hidden_width();
    let mut output = vec![T::ZERO; inputs.hidden.len()];
    let mut parts: Vec<_> = per_graph(&mut output, batch.node_offsets, width).into_iter().map(Some).collect();
    let order = threads::largest_first(&costs(batch));
    let items = order.iter().filter_map(|&graph| Some((graph, parts[graph].take()?))).collect();
    let mut by_graph = threads::for_each(items, |(graph, output), scratch: &mut ForwardScratch<T>| {
        (graph, job.forward(graph, scratch, Memory::Everything, output))
    });
    by_graph.sort_by_key(|result| result.0);
    let (mut stops, mut graphs) = (Stops::default(), Vec::with_capacity(by_graph.len()));
    for (_, outcome) in by_graph {
        let (tape, units) = outcome?;
        stops.extend(units);
        graphs.push(tape);
    }
    let output = BlockOutput { output, stops, active_shares: Vec::new() };
    Ok((output, Tape { config: *config, wanted, layout, weights, graphs }))
}

/// All gradients of a block, from the gradients of what [`forward`] returned.
///
/// `inputs` and `output` are those of the forward call; the tape may be used any number of times. The bits of the
/// result depend neither on the number of threads nor on which of them did what.
///
/// # Errors
/// [`KernelError::Length`] when a slice does not fit the tape; [`KernelError::NonFiniteGradient`] when a gradient
/// overflows.
pub fn backward<T: Real>(
    engine: Engine,
    inputs: &BlockInputs<'_, T>,
    output: &BlockOutput<T>,
    tape: &Tape<T>,
    gradients: &OutputGradients<'_, T>,
) -> Result<BlockGradients<T>, KernelError> {
    let (config, wanted) = (&tape.config, tape.wanted);
    inputs.validate(config)?;
    let batch = &inputs.batch;
    gradients.validate(config, batch)?;
    expect_length("output", &output.output, inputs.hidden.len())?;
    expect_length("tape", &tape.graphs, batch.graphs())?;
    for (graph, kept) in tape.graphs.iter().enumerate() {
        if kept.plan.nodes != batch.node_range(graph).len() || kept.plan.edges != batch.edge_range(graph).len() {
            return Err(KernelError::Batch { what: "tape", position: graph, problem: "it belongs to another batch" });
        }
    }
    let Tape { layout, weights, .. } = tape;
    let kernels = T::kernels(engine.isa);
    let job = Job { kernels, config, layout, inputs, weights, wanted };
    let (gradient_len, layers) = (weights.sections.gradient_len, config.layers());

    let mut result = BlockGradients {
        parameters: vec![T::ZERO; layout.len()],
        hidden: vec![T::ZERO; inputs.hidden.len()],
        node_inputs: vec![T::ZERO; if wanted.node_inputs { inputs.node_inputs.len() } else { 0 }],
        edge_features: vec![T::ZERO; if wanted.edge_features { inputs.edge_features.len() } else { 0 }],
    };
    let node_input_width = if wanted.node_inputs { config.input_width() } else { 0 };
    let edge_width = if wanted.edge_features { config.edge_width() } else { 0 };
    let mut parts: Vec<_> = per_graph(&mut result.hidden, batch.node_offsets, config.hidden_width())
        .into_iter()
        .zip(per_graph(&mut result.node_inputs, batch.node_offsets, node_input_width))
        .zip(per_graph(&mut result.edge_features, batch.edge_offsets, edge_width))
        .map(Some)
        .collect();
    let most = if config.is_stack() { STACK_GROUPS } else { GROUPS };
    let mut items = Vec::new();
    for group in threads::groups(&costs(batch), most) {
        let parts: Vec<_> = group.iter().filter_map(|&graph| Some((graph, parts[graph].take()?))).collect();
        items.push(parts);
    }
    let sums = threads::for_each(items, |group, scratch: &mut BackwardScratch<T>| {
        let mut layer_sum = Buffer::<T>::new(layers * gradient_len);
        layer_sum.as_mut_slice().fill(T::ZERO);
        let mut confidence_sum = vec![T::ZERO; config.hidden_width() + 1];
        for (graph, ((hidden, node_inputs), edge_features)) in group {
            let mut targets = Targets {
                layers: layer_sum.as_mut_slice(),
                confidence: &mut confidence_sum,
                hidden,
                node_inputs,
                edge_features,
            };
            job.backward(&tape.graphs[graph], gradients, &output.output, scratch, &mut targets)?;
        }
        Ok((layer_sum, confidence_sum))
    });
    let sums = sums.into_iter().collect::<Result<Vec<_>, KernelError>>()?;
    let totals = threads::for_each((0..layers).collect(), |layer, (): &mut ()| {
        let mut total = Buffer::<T>::new(gradient_len);
        total.as_mut_slice().fill(T::ZERO);
        for (layer_sum, _) in &sums {
            let source = layer_sum.as_slice()[layer * gradient_len..(layer + 1) * gradient_len].as_ptr();
            // SAFETY: both hold the gradient of a layer, whose length is padded to whole vectors.
            unsafe {
                (kernels.add_assign)(&AddAssign { len: gradient_len, source, target: total.as_mut_ptr() });
            }
        }
        total
    });
    for (layer, total) in totals.iter().enumerate() {
        unpack_gradient(config, layout, layer, inputs.parameters, total.as_slice(), &mut result.parameters);
    }
    let mut total = vec![T::ZERO; config.hidden_width() + 1];
    for (_, confidence_sum) in &sums {
        total.iter_mut().zip(confidence_sum).for_each(|(total, &value)| *total += value);
    }
    if let Some(range) = layout.range(0, ParameterKind::ConfidenceWeight) {
        result.parameters[range].copy_from_slice(&total[..config.hidden_width()]);
    }
    if let Some(range) = layout.range(0, ParameterKind::ConfidenceBias) {
        result.parameters[range].copy_from_slice(&total[config.hidden_width()..]);
    }
    Ok(result)
}
