//! A block that is run for its results only.

use super::engine::{Engine, costs, per_graph};
use super::forward::{ForwardScratch, Job};
use super::large::Strategy;
use super::packed::{PackedWeights, WayBack};
use super::tape::Memory;
use super::threads;
use crate::block::batch::BlockInputs;
use crate::block::config::BlockConfig;
use crate::block::output::{BlockOutput, Wanted};
use crate::block::parameters::ParameterLayout;
use crate::block::stops::Stops;
use crate::error::KernelError;
use crate::memory::prefer_large_pages;
use crate::real::Real;

/// Runs a block and keeps nothing of its iterations: memory does not grow with their number (but for four bytes each in
/// [`BlockOutput::active_shares`]).
///
/// The results are those of [`forward`](super::forward) up to rounding, and the same bits on any number of threads.
///
/// # Errors
/// As [`forward`](super::forward).
///
/// # Complexity
/// Per iteration, with aggregation by maximum, work in proportion to the edges between nodes that changed and their
/// receivers; with attention to all edges of these receivers. Graphs of fewer than a thousand nodes, and attention,
/// also look at every node once per iteration.
pub fn infer<T: Real>(
    engine: Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
) -> Result<BlockOutput<T>, KernelError> {
    infer_with(engine, config, inputs, Strategy::default())
}

/// [`infer`] with a way to do iterations on large graphs.
///
/// # Errors
/// As [`forward`](super::forward).
pub fn infer_with<T: Real>(
    engine: Engine,
    config: &BlockConfig,
    inputs: &BlockInputs<'_, T>,
    strategy: Strategy,
) -> Result<BlockOutput<T>, KernelError> {
    inputs.validate(config)?;
    let layout = ParameterLayout::new(config);
    let weights = PackedWeights::new(config, &layout, inputs.parameters, WayBack::No);
    let kernels = T::kernels(engine.isa());
    let job = Job { kernels, config, layout: &layout, inputs, weights: &weights, wanted: Wanted::default() };
    let batch = &inputs.batch;
    let width = config.hidden_width();
    let mut output = vec![T::ZERO; batch.nodes() * width];
    prefer_large_pages(output.as_mut_ptr(), size_of_val(output.as_slice()));
    let mut parts: Vec<_> = per_graph(&mut output, batch.node_offsets, width).into_iter().map(Some).collect();
    let order = threads::largest_first(&costs(batch));
    let items = order.iter().filter_map(|&graph| Some((graph, parts[graph].take()?))).collect();
    let mut outcomes = threads::for_each(items, |(graph, output), scratch: &mut ForwardScratch<T>| {
        let outcome = if job.is_large(graph) {
            job.infer_large(graph, strategy, output)
        } else {
            let outcome = job.forward(graph, scratch, Memory::Last, output);
            outcome.map(|(_, stops)| (stops, scratch.active_shares.clone()))
        };
        (graph, outcome)
    });
    outcomes.sort_by_key(|outcome| outcome.0);
    let (mut stops, mut active_shares) = (Stops::default(), Vec::new());
    for (_, outcome) in outcomes {
        let (units, shares) = outcome?;
        stops.extend(units);
        active_shares.push(shares);
    }
    Ok(BlockOutput { output, stops, active_shares })
}
