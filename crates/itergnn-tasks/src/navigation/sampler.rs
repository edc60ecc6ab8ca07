//! Drawing pictures with a source and a target.

use itergnn_graph::{
    Attributes, Graph, generators, rng,
    solvers::grid::{CellGrid, Connectivity},
};
use rand::{Rng, RngExt};

use super::NavigationSpec;
use crate::{Fields, Sample, Sampler, Task, TaskError};

/// Pairs tried on one picture before another is drawn.
const PAIRS_A_PICTURE: u32 = 16;

/// Pictures tried before giving up.
const PICTURES: u32 = 256;

/// The largest side: 16 million pixels.
const LARGEST: u32 = 4_096;

/// Draws pictures with a source and a target that are free and connected, and labels them by an exact search over free
/// pixels.
#[derive(Debug, Clone)]
pub struct NavigationSampler {
    spec: NavigationSpec,
}

impl NavigationSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a picture has a single pixel, is too large, or the threshold is not between 0 and 1.
    pub fn new(spec: NavigationSpec) -> Result<Self, TaskError> {
        let refuse =
            |what: String, why: &str| Err(TaskError::Setting { task: Task::Navigation, what, why: why.to_owned() });
        if spec.size.smallest() < 2 || spec.size.largest() > LARGEST {
            return refuse(format!("size {}", spec.size), "is not between 2 and 4096");
        }
        if !(spec.blocked_above > 0.0 && spec.blocked_above <= 1.0) {
            return refuse(format!("threshold {}", spec.blocked_above), "is not between 0 and 1");
        }
        Ok(Self { spec })
    }

    /// The settings.
    pub fn spec(&self) -> &NavigationSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut impl Rng) -> Result<Sample, TaskError> {
        let size = self.spec.size.draw(rng);
        let side = size as usize;
        for _ in 0..PICTURES {
            let heights: Vec<f32> = (0..side * side).map(|_| rng.random()).collect();
            let open: Vec<bool> = heights.iter().map(|&height| height <= self.spec.blocked_above).collect();
            let free: Vec<u32> = (0..size * size).filter(|&pixel| open[pixel as usize]).collect();
            if free.len() < 2 {
                continue;
            }
            let cells = CellGrid::new(side, side, open)?;
            for _ in 0..PAIRS_A_PICTURE {
                let first = rng.random_range(0..free.len() as u32);
                // Uniform over the other free pixels: skip over the first.
                let other = rng.random_range(0..free.len() as u32 - 1);
                let second = other + u32::from(other >= first);
                let (source, target) = (free[first as usize], free[second as usize]);
                if let Some(path) = cells.shortest_path(source, target, Connectivity::Four)? {
                    return self.label(size, &heights, &cells, (source, target), path.length);
                }
            }
        }
        let why = format!("no two free pixels of a picture of side {size} are connected");
        Err(TaskError::Exhausted { task: Task::Navigation, attempts: PICTURES * PAIRS_A_PICTURE, why })
    }

    fn label(
        &self,
        size: u32,
        heights: &[f32],
        cells: &CellGrid,
        (source, target): (u32, u32),
        length: f64,
    ) -> Result<Sample, TaskError> {
        let side = size as usize;
        let graph = generators::grid(side, side)?;
        let ones = vec![1.0; graph.edges()];
        let graph = graph
            .with_node_attributes(Attributes::new(1, heights.to_vec()))?
            .with_edge_attributes(Attributes::new(1, ones))?;
        let graph = mark_ends(graph, source, target)?;
        let symbol = |pixel: u32| match pixel {
            _ if pixel == source => 'S',
            _ if pixel == target => 'T',
            _ if cells.is_free(pixel) => '.',
            _ => '#',
        };
        let map = (0..size).map(|row| (row * size..(row + 1) * size).map(symbol).collect()).collect();
        let mut sample = Sample::graph_level(Task::Navigation, size, graph, vec![length as f32]);
        sample.fields = Fields {
            source: Some(source),
            target_node: Some(target),
            blocked_above: Some(self.spec.blocked_above),
            map: Some(map),
            ..Fields::default()
        };
        Ok(sample)
    }
}

/// Sets the one-hot columns (source, target, other) behind the height of every pixel, which is the first node
/// attribute.
///
/// This is how the same picture is shown to a model for another pair of pixels.
///
/// # Errors
/// [`TaskError::Graph`] if a node does not exist; [`TaskError::Setting`] if the nodes have no heights.
pub fn mark_ends(graph: Graph, source: u32, target: u32) -> Result<Graph, TaskError> {
    graph.check_node(source)?;
    graph.check_node(target)?;
    if graph.node_attributes().width() == 0 {
        let (what, why) = ("a picture".to_owned(), "without heights cannot be marked".to_owned());
        return Err(TaskError::Setting { task: Task::Navigation, what, why });
    }
    let mut values: Vec<f32> = graph.node_attributes().rows().flat_map(|row| [row[0], 0.0, 0.0, 1.0]).collect();
    for (node, kind) in [(source, 1), (target, 2)] {
        values[4 * node as usize + kind] = 1.0;
        values[4 * node as usize + 3] = 0.0;
    }
    Ok(graph.with_node_attributes(Attributes::new(4, values))?)
}

impl Sampler for NavigationSampler {
    fn task(&self) -> Task {
        Task::Navigation
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        self.draw(&mut rng::sample(split_seed, index))
    }

    fn largest(&self) -> usize {
        let side = self.spec.size.largest() as usize;
        5 * side * side
    }

    fn largest_nodes(&self) -> usize {
        self.largest() / 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeRange;

    #[test]
    fn the_map_shows_what_the_heights_say() {
        let sample = NavigationSpec::default().sampler().unwrap().sample(1, 0).unwrap();
        let symbols: Vec<char> = sample.fields.map.iter().flatten().flat_map(|row| row.chars()).collect();
        assert_eq!(symbols.len(), sample.graph.nodes());
        for (pixel, row) in sample.graph.node_attributes().rows().enumerate() {
            let expected = match symbols[pixel] {
                'S' => [1.0, 0.0, 0.0],
                'T' => [0.0, 1.0, 0.0],
                _ => [0.0, 0.0, 1.0],
            };
            assert_eq!(row[1..], expected);
            assert_eq!(row[0] > 0.8, symbols[pixel] == '#');
        }
    }

    #[test]
    fn marking_again_moves_the_ends_and_keeps_heights() {
        let sample = NavigationSpec::default().sampler().unwrap().sample(1, 1).unwrap();
        let (source, target) = (sample.fields.source.unwrap(), sample.fields.target_node.unwrap());
        let there_and_back = mark_ends(mark_ends(sample.graph.clone(), 0, 1).unwrap(), source, target).unwrap();
        assert_eq!(there_and_back, sample.graph);
        assert!(mark_ends(sample.graph, 0, 1_000_000).is_err());
    }

    #[test]
    fn pictures_of_rock_are_given_up() {
        let rock = NavigationSpec { size: SizeRange::exactly(4).unwrap(), blocked_above: 1e-6 };
        assert!(matches!(rock.sampler().unwrap().sample(0, 0), Err(TaskError::Exhausted { .. })));
        assert!(NavigationSpec { blocked_above: 0.0, ..Default::default() }.sampler().is_err());
        assert!(NavigationSpec { size: SizeRange::exactly(1).unwrap(), ..Default::default() }.sampler().is_err());
        assert!(NavigationSpec { size: SizeRange::exactly(5_000).unwrap(), ..Default::default() }.sampler().is_err());
    }
}
