//! Networks and recipes as plain data.

use itergnn_kernels::block::{BlockConfig, ParameterKind, ParameterLayout};
use itergnn_kernels::settings::{LayerKind, ReadoutKind};

use crate::CudaError;
use crate::layout::{PerceptronNumbers, RecipeNumbers};

/// Most affine maps of an embedding or head.
const MAX_MAPS: usize = 5;

/// Affine maps with LeakyReLU (0.01) between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perceptron {
    /// The width before and after every map.
    pub widths: Vec<usize>,
    /// Whether the maps have biases.
    pub biased: bool,
    /// Whether LeakyReLU follows the last map too.
    pub final_activation: bool,
}

impl Perceptron {
    /// Number of parameters: weight and bias of every map, in order.
    pub fn parameters(&self) -> usize {
        self.widths.windows(2).map(|pair| (pair[0] + usize::from(self.biased)) * pair[1]).sum()
    }

    /// Numbers that the maps give for one row, all together.
    pub(crate) fn values(&self) -> usize {
        self.widths.iter().skip(1).sum()
    }

    pub(crate) fn widest(&self) -> usize {
        self.widths.iter().copied().max().unwrap_or(0)
    }

    /// With parameters from `parameter` on and outputs, of `rows` rows each, from `output` on.
    pub(crate) fn numbers(&self, mut parameter: usize, mut output: usize, rows: usize) -> PerceptronNumbers {
        let mut numbers = PerceptronNumbers {
            layers: self.widths.len() as i32 - 1,
            biased: i32::from(self.biased),
            final_activation: i32::from(self.final_activation),
            ..PerceptronNumbers::default()
        };
        for (index, &width) in self.widths.iter().enumerate() {
            numbers.widths[index] = width as i32;
        }
        for (index, pair) in self.widths.windows(2).enumerate() {
            (numbers.parameters[index], numbers.outputs[index]) = (parameter as i32, output as i32);
            parameter += (pair[0] + usize::from(self.biased)) * pair[1];
            output += rows * pair[1];
        }
        numbers
    }
}

/// How node states become what the head reads; the numbers are those of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readout {
    /// Elementwise maximum; among equal values the first node wins.
    Max = 0,
    /// Elementwise minimum.
    Min = 1,
    /// Mean.
    Mean = 2,
    /// Sum.
    Sum = 3,
    /// The first node.
    First = 4,
    /// One prediction for each of the nodes that have targets: first and last.
    HeadTail = 5,
    /// One prediction per node.
    Node = 6,
    /// One prediction per edge.
    Edge = 7,
    /// One score per choice of a node: its incoming edges, in order, then the node itself.
    Pointer = 8,
}

/// Embedding, blocks, readout and head.
///
/// The parameters of a network lie one after the other: the embedding's maps (weight `[inputs, outputs]`, then bias),
/// the blocks' as [`ParameterLayout`] has them, the maps of the readout, the head's.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Node inputs to initial states.
    pub embedding: Perceptron,
    /// The blocks, in order; the same up to their weights.
    pub blocks: Vec<BlockConfig>,
    /// How states are read out.
    pub readout: Readout,
    /// What makes the vector of an edge from `[sender, receiver, features]`, for edges and pointers, then that of a
    /// node that points at itself, for pointers.
    pub ends: Vec<Perceptron>,
    /// What makes predictions of what was read out.
    pub head: Perceptron,
}

/// What training minimises, averaged over all numbers of a batch's targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Squared error.
    Mse = 0,
    /// Squared relative error.
    Relative = 1,
    /// Cross-entropy of class scores; the target of a graph is its class.
    CrossEntropy = 2,
}

/// The numbers of training that are not part of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// What is minimised.
    pub loss: Loss,
    /// Price of a unit's unspent mass, where the controller settles.
    pub price: f64,
    /// Adam's decay of the first moment.
    pub beta_1: f64,
    /// Adam's decay of the second moment.
    pub beta_2: f64,
    /// Adam's epsilon.
    pub epsilon: f64,
    /// Decay of the weights, added to the gradient.
    pub weight_decay: f64,
    /// The longest gradient, if there is a limit.
    pub clip_norm: Option<f64>,
}

/// One model of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// The network.
    pub network: Network,
    /// How it learns.
    pub recipe: Recipe,
    /// Its parameters at the start.
    pub parameters: Vec<f32>,
}

impl Network {
    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        let ends: usize = self.ends.iter().map(Perceptron::parameters).sum();
        self.embedding.parameters() + self.blocks.len() * self.block_parameters() + ends + self.head.parameters()
    }

    /// The block that stands for all of them.
    pub(crate) fn block(&self) -> &BlockConfig {
        &self.blocks[0]
    }

    pub(crate) fn block_parameters(&self) -> usize {
        ParameterLayout::new(self.block()).len()
    }

    /// Parameters of one layer of a block.
    pub(crate) fn layer_parameters(&self) -> usize {
        let layout = ParameterLayout::new(self.block());
        let sizes = layout.slots().iter().filter(|slot| {
            slot.layer == 0 && !matches!(slot.kind, ParameterKind::ConfidenceWeight | ParameterKind::ConfidenceBias)
        });
        sizes.map(|slot| slot.range().len()).sum()
    }

    /// Width of the edge features as the kernels read them: one weight per edge for GCN, none for a GAT that does not
    /// look at edges.
    pub(crate) fn edge_width(&self) -> usize {
        let block = self.block();
        match block.layer.kind {
            LayerKind::Gcn => 1,
            LayerKind::Gat if !block.convolves_edges() => 0,
            _ => block.edge_width(),
        }
    }

    /// Whether predictions belong to nodes.
    pub fn is_node_level(&self) -> bool {
        matches!(self.readout, Readout::Node | Readout::HeadTail)
    }

    /// Refuses what the kernels do not cover.
    ///
    /// # Errors
    /// [`CudaError::Unsupported`] says what.
    pub fn validate(&self) -> Result<(), CudaError> {
        let refused = |why: &str| Err(CudaError::Unsupported(why.to_owned()));
        let Some(first) = self.blocks.first() else { return refused("a network without blocks") };
        first.validate().map_err(|error| CudaError::Unsupported(error.to_string()))?;
        if self.blocks.iter().any(|block| block != first) {
            return refused("blocks that differ");
        }
        if first.max_iterations() == 0 {
            return refused("a block without iterations");
        }
        for net in [&self.embedding, &self.head].into_iter().chain(&self.ends) {
            if net.widths.len() < 2 || net.widths.len() > MAX_MAPS + 1 {
                return refused("an embedding, readout or head of fewer than one or more than five maps");
            }
        }
        let (input, hidden) = (self.embedding.widths[0], first.hidden_width());
        let mut fits = self.embedding.widths.last() == Some(&hidden) && self.head.widths[0] == hidden;
        fits &= self.ends.iter().all(|net| net.widths.last() == Some(&hidden));
        let ends: Vec<usize> = self.ends.iter().map(|net| net.widths[0]).collect();
        fits &= match (self.readout, ends.as_slice()) {
            (Readout::Edge, [edge]) => *edge >= 2 * hidden,
            (Readout::Pointer, [edge, own]) => {
                *edge >= 2 * hidden && *own == hidden && self.head.widths.last() == Some(&1)
            }
            (readout, []) => !matches!(readout, Readout::Edge | Readout::Pointer),
            _ => false,
        };
        if !fits || ![0, input].contains(&first.input_width()) {
            return refused("widths that do not follow from each other");
        }
        Ok(())
    }

    /// What distinguishes the kernels of this network from those of others.
    pub(crate) fn settings(&self) -> Vec<(&'static str, usize)> {
        let block = self.block();
        let controller = match block.iterative() {
            Some(_) => 2,
            None => usize::from(!block.is_stack()),
        };
        let iterative = block.iterative().copied().unwrap_or_default();
        let layer = match (block.layer.kind, block.has_score()) {
            (LayerKind::Gcn, _) => 2,
            (LayerKind::Gat, _) => 3,
            (_, scored) => usize::from(scored),
        };
        let pooling = match iterative.pooling {
            ReadoutKind::Mean => 1,
            ReadoutKind::Sum => 2,
            _ => 0,
        };
        vec![
            ("LAYER", layer),
            ("SCALE_INVARIANT", usize::from(block.scale_invariant())),
            ("HIDDEN", block.hidden_width()),
            ("INPUT", block.input_width()),
            ("EDGE", self.edge_width()),
            ("MESSAGE", block.message_width()),
            ("USES_RECEIVER", usize::from(block.uses_receiver())),
            ("BIASED", usize::from(block.biased())),
            ("CONTROLLER", controller),
            ("NODE_WISE", usize::from(block.node_wise())),
            ("CONFIDENCE_READOUT", pooling),
            ("CONFIDENCE_BIAS", usize::from(block.biased_confidence())),
            ("SCALE_FREE", usize::from(iterative.scale_free)),
            ("READOUT", self.readout as usize),
        ]
    }

    /// Whether one launch can run both; depths may differ, except of stacks, whose depth is part of the parameters.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.settings() == other.settings()
            && (&self.embedding, &self.ends, &self.head) == (&other.embedding, &other.ends, &other.head)
            && self.blocks.len() == other.blocks.len()
            && self.parameters() == other.parameters()
    }

    /// The numbers of the network and its recipe; `cap` replaces that of the block, and only training settles.
    pub(crate) fn numbers(&self, recipe: Option<&Recipe>, cap: Option<usize>, settles: bool) -> RecipeNumbers {
        let block = self.block();
        let iterative = block.iterative().copied().unwrap_or_default();
        let mut numbers = RecipeNumbers {
            epsilon: iterative.epsilon as f32,
            decay: iterative.decay as f32,
            cap: cap.filter(|_| !block.is_stack()).unwrap_or(block.max_iterations()) as i32,
            normalised: i32::from(iterative.normalised),
            settle: i32::from(iterative.settle.is_some() && settles),
            slope: block.layer.negative_slope as f32,
            output_slope: block.layer.output_activation.negative_slope() as f32,
            ..RecipeNumbers::default()
        };
        if let Some(recipe) = recipe {
            numbers.price = recipe.price as f32;
            numbers.loss = recipe.loss as i32;
            numbers.clip = recipe.clip_norm.unwrap_or(0.0) as f32;
            numbers.beta_1 = recipe.beta_1 as f32;
            numbers.beta_2 = recipe.beta_2 as f32;
            numbers.adam_epsilon = recipe.epsilon as f32;
            numbers.weight_decay = recipe.weight_decay as f32;
        }
        numbers
    }
}
