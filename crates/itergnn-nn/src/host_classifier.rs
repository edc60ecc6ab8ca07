//! Classifiers trained on the host, without tensors.

use std::collections::BTreeMap;
use std::ops::Range;

use burn::module::Module;
use itergnn_graph::GraphBatch;
use itergnn_kernels::Isa;
use itergnn_kernels::classifier::{AffineRanges, Classifier, ClassifierBatch, ClassifierLayout};

use crate::architecture::GnnConfig;
use crate::batch::structure_of;
use crate::jumping_knowledge::{JumpingKnowledgeConfig, vote_dropout};
use crate::named_tensors::{NamedTensor, named_tensors, replace_tensors};
use crate::{Error, GnnModel};

/// The weights of a [`JumpingKnowledgeModel`](crate::JumpingKnowledgeModel) as one slice, with the fused training step
/// of [`itergnn_kernels::classifier`].
///
/// A step of GIN is a hundred small operations, of Iter-GIN a thousand; as tensor operations most of their time is
/// overhead. Loss, gradient, running statistics and scores agree with the model's own (`tests/host_classifier.rs`).
///
/// # Example
/// ```
/// use burn::tensor::Device;
/// use itergnn_graph::{Attributes, Graph, GraphBatch};
/// use itergnn_nn::{HostClassifier, InitRng, TaskWidths, preset};
/// let model = preset("iter-gin", &TaskWidths::graph(1, 0, 2))?.init(&Device::flex(), &mut InitRng::new(3))?;
/// let line = Graph::undirected(3, &[[0, 1], [1, 2]])?.with_node_attributes(Attributes::new(1, vec![1.0, 2.0, 1.0]))?;
/// let batch = GraphBatch::new(&[&line, &line])?;
/// let mut classifier = HostClassifier::new(&model)?;
/// let step = classifier.loss_and_gradient(&batch, &[0, 1], 7)?;
/// assert_eq!(step.gradient.len(), classifier.parameters().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HostClassifier {
    kernel: Classifier<f32>,
    config: JumpingKnowledgeConfig,
    model: GnnModel,
    places: Vec<Place>,
    parameters: Vec<f32>,
    statistics: Vec<f32>,
}

/// What a step found; the update is the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct HostStep {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Its gradient, in the order of [`HostClassifier::parameters`].
    pub gradient: Vec<f32>,
    /// Iterations of every graph, over all blocks.
    pub iterations: Vec<usize>,
}

/// Where a named tensor of the model is.
#[derive(Debug, Clone)]
struct Place {
    name: String,
    shape: Vec<usize>,
    range: Range<usize>,
    /// In the statistics rather than the parameters.
    running: bool,
}

impl HostClassifier {
    /// Takes over the weights of a model.
    ///
    /// # Errors
    /// [`Error::Config`] if it is not a GIN or Iter-GIN classifier as [`preset`](crate::preset) makes them.
    pub fn new(model: &GnnModel) -> Result<Self, Error> {
        let GnnConfig::JumpingKnowledge(config) = model.config() else {
            return Err(Error::config("classifier", "only gin and iter-gin run on the host"));
        };
        let isa = Isa::from_environment().map_err(|error| Error::config("classifier", error.to_string()))?;
        let kernel = Classifier::new(*config, isa);
        let kernel = kernel.map_err(|error| Error::config("classifier", error.to_string()))?;
        let places = places(kernel.layout());
        let mut classifier = Self {
            parameters: vec![0.0; kernel.layout().parameters],
            statistics: vec![0.0; kernel.layout().statistics],
            kernel,
            config: *config,
            model: model.valid(),
            places,
        };
        let named = named_tensors(&classifier.model);
        if named.len() != classifier.places.len() {
            let problem = format!("{} tensors, expected {}", named.len(), classifier.places.len());
            return Err(Error::config("classifier", problem));
        }
        classifier.load(&named)?;
        Ok(classifier)
    }

    /// Takes over weights and running statistics by name.
    ///
    /// # Errors
    /// [`Error::Config`] names a tensor that is missing or of another shape.
    pub fn load(&mut self, named: &BTreeMap<String, NamedTensor>) -> Result<(), Error> {
        for place in &self.places {
            let tensor = named.get(&place.name).filter(|tensor| tensor.shape == place.shape);
            let missing =
                || Error::config("classifier", format!("there is no `{}` of shape {:?}", place.name, place.shape));
            let values = &tensor.ok_or_else(missing)?.values;
            let target = if place.running { &mut self.statistics } else { &mut self.parameters };
            target[place.range.clone()].iter_mut().zip(values).for_each(|(to, &from)| *to = from as f32);
        }
        Ok(())
    }

    /// The trainable numbers.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// Hands every parameter to `update`: its name, its values and its part of a gradient of all of them.
    pub fn update(&mut self, gradient: &[f32], mut update: impl FnMut(&str, &mut [f32], &[f32])) {
        for place in self.places.iter().filter(|place| !place.running) {
            update(&place.name, &mut self.parameters[place.range.clone()], &gradient[place.range.clone()]);
        }
    }

    /// Weights and running statistics by the names that the model has for them.
    pub fn named(&self) -> BTreeMap<String, NamedTensor> {
        let part = |place: &Place| if place.running { &self.statistics } else { &self.parameters };
        self.places.iter().map(|place| (place.name.clone(), place.tensor(part(place)))).collect()
    }

    /// The model with the present weights and statistics.
    pub fn model(&self) -> GnnModel {
        replace_tensors(self.model.clone(), &self.named())
    }

    /// Loss and gradient of a batch in training mode; moves the running statistics. `seed` fixes the dropout.
    ///
    /// # Errors
    /// [`Error::Graph`] if the graphs do not have the model's width, or a class does not exist.
    pub fn loss_and_gradient(&mut self, batch: &GraphBatch, classes: &[u32], seed: u64) -> Result<HostStep, Error> {
        let dropout = vote_dropout(&self.config, batch.len(), seed).concat();
        let (structure, features) = (structure_of(batch), batch.union().node_attributes().values());
        let batch = ClassifierBatch { structure: &structure, features, classes, dropout: &dropout };
        let outcome = self.kernel.step(&self.parameters, &mut self.statistics, &batch);
        let outcome = outcome.map_err(|error| Error::Graph(error.to_string()))?;
        Ok(HostStep { loss: outcome.loss, gradient: outcome.gradient, iterations: outcome.steps })
    }

    /// Class scores of every graph.
    ///
    /// # Errors
    /// [`Error::Graph`] if the graphs do not have the model's width.
    pub fn scores(&self, batch: &GraphBatch) -> Result<Vec<Vec<f32>>, Error> {
        let (structure, features) = (structure_of(batch), batch.union().node_attributes().values());
        let batch = ClassifierBatch { structure: &structure, features, classes: &[], dropout: &[] };
        let scores = self.kernel.scores(&self.parameters, &self.statistics, &batch);
        let scores = scores.map_err(|error| Error::Graph(error.to_string()))?;
        Ok(scores.chunks_exact(self.config.output_width).map(<[f32]>::to_vec).collect())
    }
}

impl Place {
    fn tensor(&self, flat: &[f32]) -> NamedTensor {
        let values = flat[self.range.clone()].iter().map(|&value| f64::from(value)).collect();
        NamedTensor { shape: self.shape.clone(), values }
    }
}

/// The names that the model gives the parts of the layout.
fn places(layout: &ClassifierLayout) -> Vec<Place> {
    let mut places = Vec::new();
    let mut place = |name: String, shape: Vec<usize>, range: &Range<usize>, running: bool| {
        places.push(Place { name, shape, range: range.clone(), running });
    };
    let mut affine = |name: String, ranges: &AffineRanges| {
        place(format!("{name}.weight"), vec![ranges.inputs, ranges.outputs], &ranges.weight, false);
        place(format!("{name}.bias"), vec![ranges.outputs], &ranges.bias, false);
    };
    if let Some(embedding) = &layout.embedding {
        affine("network.embedding.layers.0".to_owned(), embedding);
    }
    for (layer, vote) in layout.votes.iter().enumerate() {
        affine(format!("network.votes.{layer}"), vote);
    }
    let base = |index: usize, iterated: bool| {
        if iterated { format!("network.iterated.{index}.layer") } else { format!("network.blocks.{index}") }
    };
    for (index, block) in layout.blocks.iter().enumerate() {
        let base = base(index, block.confidence.is_some());
        for (number, map) in block.maps.iter().enumerate() {
            affine(format!("{base}.mlp.layers.{number}"), &map.affine);
        }
        if let Some(confidence) = &block.confidence {
            affine(format!("network.iterated.{index}.confidence.linear"), confidence);
        }
    }
    for (index, block) in layout.blocks.iter().enumerate() {
        let base = base(index, block.confidence.is_some());
        for (number, map) in block.maps.iter().enumerate() {
            let shape = vec![map.affine.outputs];
            place(format!("{base}.norms.{number}.gamma"), shape.clone(), &map.scale, false);
            place(format!("{base}.norms.{number}.beta"), shape.clone(), &map.shift, false);
            for (step, running) in map.running.iter().enumerate() {
                // Both maps of the second step, then of the third, and so on.
                let name = match step {
                    0 => format!("{base}.norms.{number}"),
                    later => format!("{base}.later_statistics.{}", (later - 1) * block.maps.len() + number),
                };
                place(format!("{name}.running_mean"), shape.clone(), &running.mean, true);
                place(format!("{name}.running_var"), shape.clone(), &running.variance, true);
            }
        }
    }
    places
}
