//! What walks add to a score.

use super::{Walk, WalkRule};
use crate::{Sample, Score, Task, TaskError, navigation};

impl Score {
    /// Adds whether a walk on a sample's graph found a shortest path, by the walk's own rule; for navigation also
    /// whether it then kept to free pixels.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a navigation sample does not say which heights are blocked.
    pub fn add_walk(&mut self, sample: &Sample, walk: &Walk<'_>) -> Result<(), TaskError> {
        let rate = |success: bool| Some(f64::from(u8::from(success)));
        let success = walk.succeeds(f64::from(sample.target[0]));
        let walkable = match sample.task {
            Task::Navigation => rate(success && navigation::is_walkable(sample, walk.nodes())?),
            _ => None,
        };
        match walk.rule() {
            WalkRule::Released => (self.success_rate, self.walkable_success_rate) = (rate(success), walkable),
            WalkRule::AsWritten => {
                (self.success_rate_as_written, self.walkable_success_rate_as_written) = (rate(success), walkable);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sampler, shortest_path::ShortestPathSpec};
    use itergnn_graph::solvers::bfs;

    fn score(sample: &Sample, predict: impl Fn(u32, u32) -> f32 + Copy) -> [f64; 2] {
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let (weights, mut score) = (sample.weights().unwrap(), Score::default());
        for rule in [WalkRule::Released, WalkRule::AsWritten] {
            let walk = Walk::new(&sample.graph, &weights, source, target, rule).unwrap().follow(predict);
            score.add_walk(sample, &walk).unwrap();
        }
        [score.success_rate.unwrap(), score.success_rate_as_written.unwrap()]
    }

    #[test]
    fn hops_find_shortest_paths_and_a_constant_does_not() {
        let sampler = ShortestPathSpec::default().sampler().unwrap();
        let (mut blind, mut percent) = ([0.0; 2], [0.0; 2]);
        for index in 0..20 {
            let sample = sampler.sample(3, index).unwrap();
            let exact = |from: u32, to: u32| bfs::hops_to(&sample.graph, to).unwrap()[from as usize] as f32;
            assert_eq!(score(&sample, exact), [1.0, 1.0]);
            let add = |sum: &mut [f64; 2], score: [f64; 2]| (0..2).for_each(|rule| sum[rule] += score[rule]);
            add(&mut blind, score(&sample, |_, _| 1.0));
            add(&mut percent, score(&sample, |from, to| 0.99 * exact(from, to)));
        }
        // As written only neighbours are found when everything seems one step away; backwards a line is followed too.
        assert!(blind[1] < 10.0 && blind[0] < 20.0, "{blind:?} of 20");
        // One percent too little breaks the written walk, and not the released one.
        assert!(percent[0] == 20.0 && percent[1] < 10.0, "{percent:?} of 20");
    }
}
