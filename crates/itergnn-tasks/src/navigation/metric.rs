//! Whether a walk keeps to free pixels and is a shortest one.

use itergnn_graph::Path;

use crate::{
    Sample, TaskError,
    shortest_path::{DistanceOracle, is_shortest, walk_to},
};

/// Whether every pixel of a path can be entered.
///
/// # Errors
/// [`TaskError::Setting`] if the sample does not say which heights are blocked.
pub fn is_walkable(sample: &Sample, path: &Path) -> Result<bool, TaskError> {
    let Some(threshold) = sample.fields.blocked_above else {
        let (what, why) = ("a sample".to_owned(), "does not say which heights are blocked".to_owned());
        return Err(TaskError::Setting { task: sample.task, what, why });
    };
    Ok(path.nodes.iter().all(|&pixel| sample.graph.node_attributes().row(pixel as usize)[0] <= threshold))
}

/// Whether the walk steered by an oracle from source to target keeps to free pixels and is as short as possible.
///
/// The oracle is asked about blocked pixels too, since the walk does not know them; a good one answers with something
/// large.
///
/// # Errors
/// [`TaskError::Setting`] if this is no navigation sample.
pub fn succeeds(sample: &Sample, oracle: &mut impl DistanceOracle) -> Result<bool, TaskError> {
    let (Some(source), Some(target)) = (sample.fields.source, sample.fields.target_node) else {
        let (what, why) = ("a sample".to_owned(), "without source and target has no path".to_owned());
        return Err(TaskError::Setting { task: sample.task, what, why });
    };
    match walk_to(&sample.graph, &sample.weights()?, source, target, oracle)? {
        Some(path) => Ok(is_walkable(sample, &path)? && is_shortest(&path, f64::from(sample.target[0]))),
        None => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sampler, navigation::NavigationSpec};
    use itergnn_graph::solvers::{
        bfs,
        grid::{CellGrid, Connectivity},
    };

    #[test]
    fn exact_distances_succeed_and_those_that_ignore_obstacles_often_do_not() {
        let sampler =
            NavigationSpec { size: crate::SizeRange::exactly(16).unwrap(), ..Default::default() }.sampler().unwrap();
        let mut ignorant = 0;
        for index in 0..30 {
            let sample = sampler.sample(2, index).unwrap();
            let open = sample.graph.node_attributes().rows().map(|row| row[0] <= 0.8).collect();
            let cells = CellGrid::new(16, 16, open).unwrap();
            let mut exact = |from: u32, to: u32| {
                cells
                    .shortest_path(from, to, Connectivity::Four)
                    .unwrap()
                    .map_or(f32::INFINITY, |path| path.length as f32)
            };
            assert!(succeeds(&sample, &mut exact).unwrap());
            let mut through_walls = |from: u32, to: u32| bfs::hops_to(&sample.graph, to).unwrap()[from as usize] as f32;
            ignorant += u32::from(succeeds(&sample, &mut through_walls).unwrap());
        }
        assert!(ignorant < 25, "{ignorant} of 30");
    }
}
