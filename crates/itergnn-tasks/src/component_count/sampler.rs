//! Drawing graphs with a known number of components.

use itergnn_graph::{
    Attributes, Graph,
    generators::{Generator, disjoint_union},
    rng,
    solvers::components,
};
use rand::{Rng, RngExt};

use super::ComponentCountSpec;
use crate::{Sample, Sampler, Task, TaskError, generator_setting};

/// How often a part is drawn until it is connected. The least likely Erdos-Renyi part at p = 0.5 (three or four nodes)
/// is connected with probability above one half.
const DRAWS_A_PART: u32 = 1_000;

/// Draws graphs made of connected parts and counts their components by union-find.
#[derive(Debug, Clone)]
pub struct ComponentCountSampler {
    spec: ComponentCountSpec,
}

impl ComponentCountSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for a directed generator, one that takes a side instead of a number of nodes, counts
    /// of 0, or a range outside (0, 1].
    pub fn new(mut spec: ComponentCountSpec) -> Result<Self, TaskError> {
        let refuse = |what: &str, why: &str| {
            Err(TaskError::Setting { task: Task::ComponentCount, what: what.to_owned(), why: why.to_owned() })
        };
        if let Generator::Er { directed, .. } = &mut spec.generator {
            *directed = false;
        }
        match spec.generator {
            Generator::Knn { .. } => {
                return refuse("generator knn", "is directed; components are those of undirected graphs");
            }
            Generator::Grid => return refuse("generator grid", "cannot make parts of any number of nodes"),
            Generator::Regular { .. } => {
                return refuse("generator regular", "cannot make parts of any number of nodes");
            }
            _ => {}
        }
        if spec.components == 0 || spec.attributes == 0 {
            return refuse("components and attributes", "must be at least 1");
        }
        if !(spec.narrowest > 0.0 && spec.narrowest <= 1.0) {
            return refuse("narrowest", "must be above 0, and at most 1");
        }
        Ok(Self { spec })
    }

    /// The settings, with the generator made undirected.
    pub fn spec(&self) -> &ComponentCountSpec {
        &self.spec
    }

    fn draw(&self, rng: &mut impl Rng) -> Result<Sample, TaskError> {
        let size = self.spec.size.draw(rng);
        let count = rng.random_range(1..=self.spec.components.min(size));
        let mut parts = Vec::with_capacity(count as usize);
        for nodes in cut(size, count, rng) {
            parts.push(self.connected_part(nodes, rng)?);
        }
        let graph = disjoint_union(&parts)?;
        let found = components::count(&graph);
        assert_eq!(found, count as usize, "union-find counts the parts that were joined");
        let range = self.range(rng);
        let numbers = (0..graph.nodes() * self.spec.attributes).map(|_| 1.0 - range * (1.0 - rng.random::<f32>()));
        let numbers = numbers.collect();
        let ones = vec![1.0; graph.edges()];
        let graph = graph
            .with_node_attributes(Attributes::new(self.spec.attributes, numbers))?
            .with_edge_attributes(Attributes::new(1, ones))?;
        Ok(Sample::graph_level(Task::ComponentCount, size, graph, vec![found as f32]))
    }

    /// How far below 1 the random numbers of a graph may lie.
    fn range(&self, rng: &mut impl Rng) -> f32 {
        if self.spec.narrowest == 1.0 { 1.0 } else { libm::powf(self.spec.narrowest, rng.random()) }
    }

    /// A connected graph without attributes.
    fn connected_part(&self, nodes: u32, rng: &mut impl Rng) -> Result<Graph, TaskError> {
        for _ in 0..DRAWS_A_PART {
            let part = self.spec.generator.generate(nodes as usize, rng)?.with_node_attributes(Attributes::none())?;
            // Lobsters and the rest are connected by construction; checking costs no more than drawing them.
            if components::count(&part) == 1 {
                return Ok(part);
            }
        }
        let why = format!("{} of {nodes} nodes is never connected", self.spec.generator);
        Err(TaskError::Exhausted { task: Task::ComponentCount, attempts: DRAWS_A_PART, why })
    }
}

/// Cuts `nodes` into `count` parts at uniformly drawn, different positions; gives the sizes of the parts.
fn cut(nodes: u32, count: u32, rng: &mut impl Rng) -> Vec<u32> {
    let mut cuts = Vec::with_capacity(count as usize + 1);
    cuts.push(0);
    // Floyd's method: each set of positions in 1..nodes is equally likely, with one draw a cut.
    for highest in nodes - count + 1..nodes {
        let position = rng.random_range(1..=highest);
        cuts.push(if cuts.contains(&position) { highest } else { position });
    }
    cuts.push(nodes);
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| ends[1] - ends[0]).collect()
}

impl Sampler for ComponentCountSampler {
    fn task(&self) -> Task {
        Task::ComponentCount
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        self.draw(&mut rng::sample(split_seed, index))
    }

    fn largest(&self) -> usize {
        generator_setting::magnitude(&self.spec.generator, self.spec.size.largest() as usize)
    }

    fn largest_nodes(&self) -> usize {
        generator_setting::nodes(&self.spec.generator, self.spec.size.largest() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SizeRange;

    #[test]
    fn every_set_of_cuts_is_equally_likely() {
        let mut rng = rng::seeded(5);
        let mut seen = std::collections::BTreeMap::new();
        const DRAWS: u32 = 6_000;
        for _ in 0..DRAWS {
            *seen.entry(cut(5, 3, &mut rng)).or_insert(0) += 1;
        }
        // Two of the four positions: six sets. Five standard deviations of a binomial(6000, 1/6) are 144.
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&times: &i32| (times - 1_000).abs() < 144), "{seen:?}");
    }

    #[test]
    fn parts_are_never_empty_and_add_up() {
        let mut rng = rng::seeded(6);
        for nodes in 1..12 {
            for count in 1..=nodes {
                let parts = cut(nodes, count, &mut rng);
                assert_eq!((parts.len() as u32, parts.iter().sum::<u32>()), (count, nodes));
                assert!(parts.iter().all(|&part| part > 0));
            }
        }
    }

    #[test]
    fn counts_are_uniform_up_to_six() {
        let sampler = ComponentCountSpec::default().sampler().unwrap();
        let mut seen = [0; 7];
        for index in 0..600 {
            let sample = sampler.sample(8, index).unwrap();
            if sample.size >= 6 {
                seen[sample.target[0] as usize] += 1;
            }
        }
        assert_eq!(seen[0], 0);
        // About 93 of each; five standard deviations are 44.
        assert!(seen[1..].iter().all(|&times| times > 49), "{seen:?}");
    }

    #[test]
    fn narrow_numbers_lie_close_below_one() {
        let spec = ComponentCountSpec { narrowest: 0.01, ..Default::default() };
        let sampler = spec.clone().sampler().unwrap();
        let lowest: Vec<f32> = (0..200)
            .map(|index| sampler.sample(8, index).unwrap().graph.node_attributes().values().to_vec())
            .map(|numbers| numbers.into_iter().fold(1.0, f32::min))
            .collect();
        assert!(lowest.iter().all(|lowest| (0.0..1.0).contains(lowest)));
        // Half of the ranges are below .1; five standard deviations of a binomial(200, 1/2) are 36.
        let narrow = lowest.iter().filter(|lowest| **lowest > 0.9).count();
        assert!((64..=150).contains(&narrow), "{narrow}");
        for narrowest in [0.0, 1.5, f32::NAN] {
            assert!(ComponentCountSpec { narrowest, ..spec.clone() }.sampler().is_err());
        }
    }

    #[test]
    fn unsuitable_generators_are_refused() {
        for generator in [Generator::KNN, Generator::Grid, Generator::Regular { degree: 3 }] {
            assert!(ComponentCountSpec { generator, ..Default::default() }.sampler().is_err());
        }
        let nothing = Generator::Er { p: 0.0, directed: true };
        let size = SizeRange::exactly(40).unwrap();
        let sampler = ComponentCountSpec { generator: nothing, size, ..Default::default() }.sampler().unwrap();
        assert!(matches!(sampler.sample(0, 0), Err(TaskError::Exhausted { .. })));
    }
}
