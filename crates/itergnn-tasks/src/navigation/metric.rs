//! Whether a walk keeps to free pixels.

use crate::{Sample, TaskError};

/// Whether every pixel of a walk can be entered.
///
/// # Errors
/// [`TaskError::Setting`] if the sample does not say which heights are blocked.
pub fn is_walkable(sample: &Sample, pixels: &[u32]) -> Result<bool, TaskError> {
    let Some(threshold) = sample.fields.blocked_above else {
        let (what, why) = ("a sample".to_owned(), "does not say which heights are blocked".to_owned());
        return Err(TaskError::Setting { task: sample.task, what, why });
    };
    Ok(pixels.iter().all(|&pixel| sample.graph.node_attributes().row(pixel as usize)[0] <= threshold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Sampler, Score,
        navigation::NavigationSpec,
        shortest_path::{Walk, WalkRule},
    };
    use itergnn_graph::solvers::{
        bfs,
        grid::{CellGrid, Connectivity},
    };

    fn walkable(sample: &Sample, predict: impl Fn(u32, u32) -> f32) -> f64 {
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let weights = sample.weights().unwrap();
        let walk = Walk::new(&sample.graph, &weights, source, target, WalkRule::AsWritten).unwrap().follow(predict);
        let mut score = Score::default();
        score.add_walk(sample, &walk).unwrap();
        score.walkable_success_rate_as_written.unwrap()
    }

    #[test]
    fn exact_distances_succeed_and_those_that_ignore_obstacles_often_do_not() {
        let sampler =
            NavigationSpec { size: crate::SizeRange::exactly(16).unwrap(), ..Default::default() }.sampler().unwrap();
        let mut ignorant = 0.0;
        for index in 0..30 {
            let sample = sampler.sample(2, index).unwrap();
            let open = sample.graph.node_attributes().rows().map(|row| row[0] <= 0.8).collect();
            let cells = CellGrid::new(16, 16, open).unwrap();
            let exact = |from: u32, to: u32| {
                cells
                    .shortest_path(from, to, Connectivity::Four)
                    .unwrap()
                    .map_or(f32::INFINITY, |path| path.length as f32)
            };
            assert_eq!(walkable(&sample, exact), 1.0);
            let through_walls = |from: u32, to: u32| bfs::hops_to(&sample.graph, to).unwrap()[from as usize] as f32;
            ignorant += walkable(&sample, through_walls);
        }
        assert!(ignorant < 25.0, "{ignorant} of 30");
    }
}
