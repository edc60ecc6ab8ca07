//! The graphs of a set as samples.

use itergnn_graph::{
    Attributes,
    formats::{GinDataset, NodeFeature, read_folds, read_gin},
};

use super::{Folds, GraphClassificationSpec};
use crate::{Fields, Sample, Sampler, Task, TaskError};

/// Gives out the graphs of a set in the order of its file.
///
/// Nothing is drawn: sample `i` is graph `i` whatever the seed, and there are as many as the set has. Training and test
/// data come from [`GraphClassificationSampler::folds`].
#[derive(Debug, Clone)]
pub struct GraphClassificationSampler {
    spec: GraphClassificationSpec,
    set: GinDataset,
    feature: NodeFeature,
}

impl GraphClassificationSampler {
    /// Reads the set.
    ///
    /// # Errors
    /// [`TaskError::MissingDataSet`] if it is not there, [`TaskError::DataSet`] if it cannot be read.
    pub fn new(spec: GraphClassificationSpec) -> Result<Self, TaskError> {
        let path = spec.file();
        if !path.is_file() {
            return Err(TaskError::MissingDataSet { name: spec.dataset.to_string(), path });
        }
        let set = read_gin(&path)?;
        // Where all tags are the same they say nothing; the GIN paper then takes degrees.
        let feature = if set.tag_values.len() > 1 { NodeFeature::Tag } else { NodeFeature::Degree };
        Ok(Self { spec, set, feature })
    }

    /// The settings.
    pub fn spec(&self) -> &GraphClassificationSpec {
        &self.spec
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.set.classes()
    }

    /// The class of each graph.
    pub fn labels(&self) -> Vec<u32> {
        self.set.graphs.iter().map(|graph| graph.label as u32).collect()
    }

    /// What the node attributes stand for.
    pub fn feature(&self) -> NodeFeature {
        self.feature
    }

    /// Stratified folds of the set.
    ///
    /// # Errors
    /// As [`Folds::stratified`].
    pub fn folds(&self, count: usize, seed: u64) -> Result<Folds, TaskError> {
        Folds::stratified(&self.labels(), count, seed)
    }

    /// The folds published with the set.
    ///
    /// # Errors
    /// [`TaskError::DataSet`] if the fold files cannot be read, or [`TaskError::Setting`] if a graph is tested twice.
    pub fn published_folds(&self) -> Result<Folds, TaskError> {
        let graphs = self.set.graphs.len();
        let folds = read_folds(&self.spec.fold_directory(), graphs)?;
        Folds::from_tests(graphs, folds.into_iter().map(|fold| fold.test).collect())
    }
}

impl Sampler for GraphClassificationSampler {
    fn task(&self) -> Task {
        Task::GraphClassification
    }

    fn sample(&self, _: u64, index: u64) -> Result<Sample, TaskError> {
        let count = self.set.graphs.len();
        let Some(entry) = usize::try_from(index).ok().and_then(|index| self.set.graphs.get(index)) else {
            return Err(TaskError::NoSuchSample { task: Task::GraphClassification, index, count });
        };
        let graph = self.set.one_hot(index as usize, self.feature)?;
        let ones = vec![1.0; graph.edges()];
        let graph = graph.with_edge_attributes(Attributes::new(1, ones))?;
        let (size, class) = (graph.nodes() as u32, entry.label as u32);
        let mut sample = Sample::graph_level(Task::GraphClassification, size, graph, vec![class as f32]);
        sample.fields = Fields { class: Some(class), ..Fields::default() };
        Ok(sample)
    }

    fn largest(&self) -> usize {
        let width = self.set.feature_width(self.feature);
        self.set.graphs.iter().map(|entry| entry.graph.nodes() * width + entry.graph.edges()).max().unwrap_or(0)
    }

    fn count(&self) -> Option<u64> {
        Some(self.set.graphs.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, text: &str) -> (tempfile::TempDir, GraphClassificationSpec) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(name)).unwrap();
        std::fs::write(directory.path().join(name).join(format!("{name}.txt")), text).unwrap();
        let spec = GraphClassificationSpec { data: directory.path().to_owned(), dataset: name.parse().unwrap() };
        (directory, spec)
    }

    #[test]
    fn labels_are_counted_from_zero_and_tags_are_one_hot() {
        let (_directory, spec) = write("MUTAG", "3\n2 2\n0 1 1\n3 1 0\n1 0\n3 0\n1 2\n0 0\n");
        let sampler = spec.sampler().unwrap();
        assert_eq!((sampler.count(), sampler.classes(), sampler.labels()), (Some(3), 2, vec![0, 1, 0]));
        let first = sampler.sample(7, 0).unwrap();
        assert_eq!(first.graph.node_attributes().values(), &[1.0, 0.0, 0.0, 1.0]);
        assert_eq!((first.target.as_slice(), first.fields.class), (&[0.0][..], Some(0)));
        assert!(matches!(sampler.sample(7, 3), Err(TaskError::NoSuchSample { index: 3, count: 3, .. })));
    }

    #[test]
    fn a_set_with_one_tag_is_described_by_degrees() {
        let (_directory, spec) = write("IMDBBINARY", "1\n3 0\n0 2 1 2\n0 1 0\n0 1 0\n");
        let sampler = spec.sampler().unwrap();
        assert_eq!(sampler.feature(), NodeFeature::Degree);
        assert_eq!(sampler.sample(0, 0).unwrap().graph.node_attributes().values(), &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_missing_set_is_explained() {
        let spec = GraphClassificationSpec { data: "nowhere".into(), dataset: "PTC".parse().unwrap() };
        let message = spec.sampler().unwrap_err().to_string();
        assert!(message.contains("DIRECTORY/PTC/PTC.txt") && message.contains("powerful-gnns"), "{message}");
    }

    #[test]
    fn a_broken_set_is_reported_with_its_line() {
        let (_directory, spec) = write("PTC", "2\n1 0\n0 0\n");
        assert!(matches!(spec.sampler(), Err(TaskError::DataSet(_))));
    }
}
