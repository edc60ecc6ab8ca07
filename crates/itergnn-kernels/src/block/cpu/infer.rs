//! A block that is run for its results only.

use super::engine::{Engine, costs, per_graph};
use super::forward::{ForwardScratch, Job};
use super::large::{LargeOutcome, Strategy};
use super::packed::PackedWeights;
use super::tape::Memory;
use super::threads;
use crate::block::batch::BlockInputs;
use crate::block::config::BlockConfig;
use crate::block::output::{Inference, Wanted};
use crate::block::parameters::ParameterLayout;
use crate::error::KernelError;
use crate::memory::prefer_large_pages;
use crate::real::Real;

/// What [`infer_with`] may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InferOptions {
    /// How iterations on large graphs are done.
    pub strategy: Strategy,
    /// Whether [`Inference::last_hidden`] is wanted.
    pub last_hidden: bool,
}

/// Runs a block and keeps nothing of its iterations: memory does not grow with their number (but for four bytes each in
/// [`Inference::active_shares`]).
///
/// The results are those of [`forward`](super::forward) up to rounding, and the same bits on any number of threads.
///
/// # Errors
/// As [`forward`](super::forward).
///
/// # Complexity
/// Per iteration, with aggregation by maximum, work in proportion to the edges between nodes that changed and their receivers; with attention to all edges of
/// these receivers. Graphs of fewer than a thousand nodes, and attention, also look at every node once per iteration.
pub fn infer<T: Real>(
    engine: Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
) -> Result<Inference<T>, KernelError> {
    infer_with(engine, config, inputs, InferOptions::default())
}

/// [`infer`] with options.
///
/// # Errors
/// As [`forward`](super::forward).
pub fn infer_with<T: Real>(
    engine: Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    options: InferOptions,
) -> Result<Inference<T>, KernelError> {
    inputs.validate(config)?;
    let layout = ParameterLayout::new(config);
    let weights = PackedWeights::new(config, &layout, inputs.parameters);
    let kernels = T::kernels(engine.isa());
    let job = Job { kernels, config, layout: &layout, inputs, weights: &weights, wanted: Wanted::default() };
    let batch = &inputs.batch;
    let width = config.hidden_width();
    let last_width = if options.last_hidden { width } else { 0 };
    let mut output = vec![T::ZERO; batch.nodes() * width];
    let mut last_hidden = vec![T::ZERO; batch.nodes() * last_width];
    prefer_large_pages(output.as_mut_ptr(), size_of_val(output.as_slice()));
    prefer_large_pages(last_hidden.as_mut_ptr(), size_of_val(last_hidden.as_slice()));
    let mut parts: Vec<_> = per_graph(&mut output, batch.node_offsets, width)
        .into_iter()
        .zip(per_graph(&mut last_hidden, batch.node_offsets, last_width))
        .map(Some)
        .collect();
    let order = threads::largest_first(&costs(batch));
    let items = order.iter().filter_map(|&graph| Some((graph, parts[graph].take()?))).collect();
    let mut outcomes = threads::for_each(items, |(graph, (output, last_hidden)), scratch: &mut ForwardScratch<T>| {
        let outcome = if job.is_large(graph) {
            job.infer_large(graph, options.strategy, output, last_hidden)
        } else {
            job.forward(graph, scratch, Memory::Last, output, last_hidden)
                .map(|(_, units)| LargeOutcome { units, active_shares: scratch.active_shares.clone() })
        };
        (graph, outcome)
    });
    outcomes.sort_by_key(|outcome| outcome.0);
    let mut result = Inference {
        output,
        last_hidden,
        iterations: Vec::new(),
        remaining: Vec::new(),
        unspent: Vec::new(),
        capped: Vec::new(),
        last_confidences: Vec::new(),
        active_shares: Vec::new(),
    };
    for (_, outcome) in outcomes {
        let LargeOutcome { units, active_shares } = outcome?;
        result.iterations.extend(units.iterations);
        result.remaining.extend(units.remaining);
        result.unspent.extend(units.unspent);
        result.capped.extend(units.capped);
        result.last_confidences.extend(units.last_confidences);
        result.active_shares.push(active_shares);
    }
    Ok(result)
}
