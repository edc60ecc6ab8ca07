//! Whether a path that was found is a shortest one.

use itergnn_graph::Path;

use super::{DistanceOracle, walk_to};
use crate::{Sample, TaskError};

/// Two lengths are equal if they differ by no more than this, relative to the shorter.
///
/// Paths of equal length can sum their weights in different orders; in `f64` a sum of a million terms then differs by
/// about 1e-10, and the label was rounded to `f32` (6e-8). With random weights a second-best path within one millionth
/// of the best is not worth calling wrong.
pub const LENGTH_TOLERANCE: f64 = 1e-6;

/// Whether a path is as short as the shortest one.
pub fn is_shortest(path: &Path, shortest: f64) -> bool {
    (path.length - shortest).abs() <= LENGTH_TOLERANCE * shortest.abs()
}

/// Whether the walk steered by an oracle from a sample's source to its target is a shortest path.
///
/// The oracle predicts for the sample's graph; [`mark_ends`](super::mark_ends) prepares a model's input for each pair.
///
/// # Errors
/// [`TaskError::Setting`] if the sample has no source and target; [`TaskError::Graph`] if it has no weights.
pub fn succeeds(sample: &Sample, oracle: &mut impl DistanceOracle) -> Result<bool, TaskError> {
    let (Some(source), Some(target)) = (sample.fields.source, sample.fields.target_node) else {
        let (what, why) = ("a sample".to_owned(), "without source and target has no path".to_owned());
        return Err(TaskError::Setting { task: sample.task, what, why });
    };
    let path = walk_to(&sample.graph, &sample.weights()?, source, target, oracle)?;
    Ok(path.is_some_and(|path| is_shortest(&path, f64::from(sample.target[0]))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sampler, shortest_path::ShortestPathSpec};
    use itergnn_graph::solvers::bfs;

    #[test]
    fn lengths_that_differ_by_rounding_are_equal() {
        let path = |length| Path { nodes: vec![0], length };
        assert!(is_shortest(&path(1000.0), f64::from(1000.0001_f32)));
        assert!(!is_shortest(&path(1000.0), 999.0));
        assert!(!is_shortest(&path(f64::NAN), 999.0));
    }

    #[test]
    fn hops_find_shortest_paths_and_a_constant_does_not() {
        let sampler = ShortestPathSpec::default().sampler().unwrap();
        let mut blind = 0;
        for index in 0..20 {
            let sample = sampler.sample(3, index).unwrap();
            let mut exact = |from: u32, to: u32| bfs::hops_to(&sample.graph, to).unwrap()[from as usize] as f32;
            assert!(succeeds(&sample, &mut exact).unwrap());
            blind += u32::from(succeeds(&sample, &mut |_, _| 1.0).unwrap());
        }
        // Only neighbours are found when everything seems one step away.
        assert!(blind < 10, "{blind} of 20");
    }
}
