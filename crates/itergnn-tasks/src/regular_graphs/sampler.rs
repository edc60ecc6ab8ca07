//! Drawing one of two regular graphs.

use itergnn_graph::{Attributes, Graph, rng};
use rand::RngExt;

use super::RegularGraphsSpec;
use crate::{Fields, Sample, Sampler, Task, TaskError};

/// Draws one of two graphs, each with probability one half, and random node attributes.
#[derive(Debug, Clone)]
pub struct RegularGraphsSampler {
    spec: RegularGraphsSpec,
    graphs: [Graph; 2],
}

impl RegularGraphsSampler {
    /// A sampler of the given settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] without attributes.
    pub fn new(spec: RegularGraphsSpec) -> Result<Self, TaskError> {
        if spec.attributes == 0 {
            let (what, why) = ("attributes 0".to_owned(), "leaves nothing to tell nodes apart by".to_owned());
            return Err(TaskError::Setting { task: Task::RegularGraphs, what, why });
        }
        let mut graphs = spec.pair.graphs()?;
        for graph in &mut graphs {
            let ones = vec![1.0; graph.edges()];
            *graph = graph.clone().with_edge_attributes(Attributes::new(1, ones))?;
        }
        Ok(Self { spec, graphs })
    }

    /// The settings.
    pub fn spec(&self) -> &RegularGraphsSpec {
        &self.spec
    }
}

impl Sampler for RegularGraphsSampler {
    fn task(&self) -> Task {
        Task::RegularGraphs
    }

    fn sample(&self, split_seed: u64, index: u64) -> Result<Sample, TaskError> {
        let mut rng = rng::sample(split_seed, index);
        let class = rng.random_range(0..2_u32);
        let graph = self.graphs[class as usize].clone();
        let values =
            (0..graph.nodes() * self.spec.attributes).map(|_| if self.spec.random { rng.random::<f32>() } else { 1.0 });
        let values = values.collect();
        let graph = graph.with_node_attributes(Attributes::new(self.spec.attributes, values))?;
        let size = graph.nodes() as u32;
        let mut sample = Sample::graph_level(Task::RegularGraphs, size, graph, vec![class as f32]);
        sample.fields = Fields { class: Some(class), ..Fields::default() };
        Ok(sample)
    }

    fn largest(&self) -> usize {
        self.graphs[0].nodes() + self.graphs[0].edges()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regular_graphs::GraphPair;
    use itergnn_graph::solvers::components;

    #[test]
    fn the_class_is_the_graph() {
        let sampler = RegularGraphsSpec::default().sampler().unwrap();
        let mut seen = [0_u32; 2];
        for index in 0..200 {
            let sample = sampler.sample(2, index).unwrap();
            let class = sample.fields.class.unwrap();
            assert_eq!(components::count(&sample.graph), 1 + class as usize);
            assert_eq!(sample.target, [class as f32]);
            seen[class as usize] += 1;
        }
        // Five standard deviations of 200 fair throws are 35.
        assert!(seen[0].abs_diff(100) < 35, "{seen:?}");
    }

    #[test]
    fn attributes_lie_in_the_unit_interval() {
        let spec = RegularGraphsSpec { pair: GraphPair::Cubic, attributes: 3, ..Default::default() };
        let sample = spec.sampler().unwrap().sample(0, 0).unwrap();
        assert_eq!(sample.graph.node_attributes().width(), 3);
        assert!(sample.graph.node_attributes().values().iter().all(|value| (0.0..1.0).contains(value)));
        let plain = RegularGraphsSpec { random: false, ..Default::default() }.sampler().unwrap().sample(0, 0).unwrap();
        assert!(plain.graph.node_attributes().values().iter().all(|&value| value == 1.0));
        assert!(RegularGraphsSpec { attributes: 0, ..Default::default() }.sampler().is_err());
    }
}
