//! Batches that fit in memory.

use std::ops::Range;

use itergnn_graph::Graph;
use itergnn_nn::controllers::RunOptions;
use rayon::prelude::*;

use super::{EvalOptions, Predicted, Predictor};
use crate::TrainError;

/// Most graphs in a batch on the CPU: beyond it a batch only gets too large for the caches.
pub(super) const LARGEST_BATCH: usize = 32;

/// Cuts graphs that need the given numbers of bytes into runs of at most `largest` that need at most `budget`; one that
/// needs more is alone.
pub(crate) fn cut_by_memory(bytes: impl IntoIterator<Item = u64>, budget: u64, largest: usize) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut used = 0_u64;
    for (index, needed) in bytes.into_iter().enumerate() {
        match cuts.last_mut() {
            Some(last) if used.saturating_add(needed) <= budget && last.len() < largest => {
                last.end = index + 1;
                used += needed;
            }
            _ => {
                cuts.push(index..index + 1);
                used = needed;
            }
        }
    }
    cuts
}

/// Predictions for graphs that are made when their batch is due, in order; batches run side by side on the threads of
/// the current pool.
///
/// `sizes` are the numbers of nodes and edges, `make` gives graph number `index`.
pub(crate) fn predict_all<'a, G: AsRef<Graph> + Send>(
    predictor: &dyn Predictor,
    sizes: &[(usize, usize)],
    make: impl Fn(usize) -> Result<G, TrainError> + Sync + 'a,
    options: &RunOptions,
    memory: u64,
) -> Result<Predicted, TrainError> {
    let budget = memory / rayon::current_num_threads().max(1) as u64;
    let bytes = sizes.iter().map(|&(nodes, edges)| predictor.bytes(nodes, edges));
    // Few graphs are shared out evenly: a walk asks for a handful of them at a time.
    let largest = predictor.largest_batch().min(sizes.len().div_ceil(rayon::current_num_threads().max(1)).max(1));
    let parts = cut_by_memory(bytes, budget, largest).into_par_iter().map(|range| {
        let graphs = range.map(&make).collect::<Result<Vec<G>, _>>()?;
        let graphs: Vec<&Graph> = graphs.iter().map(AsRef::as_ref).collect();
        predictor.predict(&graphs, options)
    });
    let mut all = Predicted::default();
    for part in parts.collect::<Vec<_>>() {
        let part = part?;
        all.values.extend(part.values);
        all.loops.iterations.extend(part.loops.iterations);
        all.loops.capped.extend(part.loops.capped);
        all.overflows.extend(part.overflows);
    }
    Ok(all)
}

/// Predictions for graphs that are in memory, in order, in batches as the options allow.
///
/// # Errors
/// As [`Predictor::predict`].
pub fn predict_graphs(
    predictor: &dyn Predictor,
    graphs: &[&Graph],
    options: &EvalOptions,
) -> Result<Predicted, TrainError> {
    let mut run = RunOptions::inference().with_engine(options.engine);
    run.cap = options.cap;
    let sizes: Vec<_> = graphs.iter().map(|graph| (graph.nodes(), graph.edges())).collect();
    predict_all(predictor, &sizes, |index| Ok(graphs[index]), &run, options.memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_keep_to_the_budget_and_cover_everything() {
        assert_eq!(cut_by_memory([4, 4, 4, 20, 1, 9], 10, LARGEST_BATCH), [0..2, 2..3, 3..4, 4..6]);
        assert!(cut_by_memory([], 10, LARGEST_BATCH).is_empty());
        let many = cut_by_memory(vec![0; 100], 0, LARGEST_BATCH);
        assert!(many.iter().all(|run| run.len() <= LARGEST_BATCH) && many.last().unwrap().end == 100);
    }
}
