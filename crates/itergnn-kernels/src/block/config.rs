//! What a block computes: layer, aggregation and controller.

use super::convolution::Convolution;
use crate::error::KernelError;

/// Which messages a layer sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerKind {
    /// `message = MLP(v_s, v_r, e)`, aggregated by maximum only.
    MpnnMax,
    /// `message = MLP(v_s, v_r, e)`.
    Path,
    /// `message = MLP(v_s, e)`: the receiver's own state does not matter.
    PathSim,
    /// GCN, GAT or GIN: messages are linear in the sender's vector, and the new state replaces the old one.
    Convolution(Convolution),
}

/// How the messages that reach a node become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// Elementwise maximum; among equal messages the first edge wins.
    Max,
    /// Sum weighted by `softmax(score)`, `score = linear(v_s, v_r, e)`.
    Attention,
    /// Sum weighted by `softmax(score / (max score - min score))`: the weights do not change when all scores are multiplied by a positive number.
    ///
    /// A range of at most [`RANGE_TOLERANCE`] times the largest `|score|` of a receiver is rounding noise and counts as zero: then all weights are
    /// equal and no gradient reaches the scores. The test is relative, so the invariance stays exact.
    ScaleInvariantAttention,
    /// Sum with weights that depend on the graph alone: GCN and GIN, which have no other.
    Sum,
}

/// Ranges of scores below this share of the largest `|score|` count as zero in [`Aggregation::ScaleInvariantAttention`].
///
/// In `f32` the range of equal scores near 0.2 is about 1e-8 of noise, and dividing by it gives undefined gradients within a few steps.
pub const RANGE_TOLERANCE: f64 = 1e-4;

/// How node states become the vector that the confidence is predicted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConfidenceReadout {
    /// Elementwise maximum over the nodes; among equal values the first node wins.
    #[default]
    Max,
    /// Mean over the nodes.
    Mean,
    /// Sum over the nodes.
    Sum,
}

/// The iterative module (Algorithm 1, and its form with decay) and its options.
///
/// With `left = 1` at the start, iteration `k` computes `c = sigmoid(linear(readout(h)))`, then
/// `output <- decay output + left c h` and `left <- decay (1 - c) left`, while `left > epsilon` and fewer than `max_iterations` were done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterative {
    /// A graph (or node) is done when its remaining mass is at most this.
    pub epsilon: f64,
    /// Cap on the number of iterations.
    pub max_iterations: usize,
    /// The factor lambda; 1 is the module without decay.
    pub decay: f64,
    /// One confidence per node, predicted from its own state, instead of one per graph. All nodes of a graph go on exchanging messages until the
    /// last of them is done; a node that is done adds nothing more to its output.
    pub node_wise: bool,
    /// Readout in front of the confidence; node-wise iteration has none.
    pub readout: ConfidenceReadout,
    /// Whether the confidence has a bias.
    pub confidence_bias: bool,
    /// Divide the output by the sum of its weights.
    pub normalised: bool,
    /// Give all mass that reaches the last allowed step to that step, whatever its confidence. For training only.
    pub settle: bool,
    /// Divide the pooled vector by its L1 norm in front of the confidence, so that the confidence does not change when all states are scaled.
    pub scale_free: bool,
}

impl Default for Iterative {
    /// The paper's training setting: `epsilon = 1e-7`, 30 iterations, `decay = 0.9999`, maximum readout, no bias.
    fn default() -> Self {
        Self {
            epsilon: 1e-7,
            max_iterations: 30,
            decay: 0.9999,
            node_wise: false,
            readout: ConfidenceReadout::Max,
            confidence_bias: false,
            normalised: false,
            settle: false,
            scale_free: false,
        }
    }
}

/// How often the layer runs and what the block returns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Controller {
    /// One layer, repeated; the output is the last state.
    Shared {
        /// Number of repetitions.
        iterations: usize,
    },
    /// Layers with their own weights, one after the other; the output is the last state.
    Stack {
        /// Number of layers.
        layers: usize,
    },
    /// One layer, repeated until the iterative module stops; the output is the weighted sum of the states.
    Iterative(Iterative),
}

/// Everything about a block except its numbers.
///
/// One step, with `v = [input x ; hidden h]`: messages by [`LayerKind`] from a two-layer perceptron with LeakyReLU (0.01) after each layer, one vector
/// per receiver by [`Aggregation`], then `h' = max(h, aggregate)` elementwise (on a tie `h` wins). A node without incoming edges keeps `h`.
/// A [`Convolution`] says itself what its step is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockConfig {
    /// Which messages are sent.
    pub layer: LayerKind,
    /// How they are aggregated.
    pub aggregation: Aggregation,
    /// How often, and what comes out.
    pub controller: Controller,
    /// Whether the message perceptron and the score have biases.
    pub biased: bool,
    /// Width of the node inputs x, which are the same at every iteration.
    pub input_width: usize,
    /// Width of the node states h and of the messages.
    pub hidden_width: usize,
    /// Width of the edge features.
    pub edge_width: usize,
}

impl BlockConfig {
    /// Width of `v = [x ; h]`.
    pub fn node_width(&self) -> usize {
        self.input_width + self.hidden_width
    }

    /// Whether messages depend on the receiver's state.
    pub fn uses_receiver(&self) -> bool {
        matches!(self.layer, LayerKind::MpnnMax | LayerKind::Path)
    }

    /// Whether there is a score per edge.
    pub fn has_score(&self) -> bool {
        matches!(self.aggregation, Aggregation::Attention | Aggregation::ScaleInvariantAttention)
    }

    /// The convolution, where the layer is one.
    pub fn convolution(&self) -> Option<&Convolution> {
        match &self.layer {
            LayerKind::Convolution(convolution) => Some(convolution),
            _ => None,
        }
    }

    /// Input width of the message perceptron: rows `[x_s ; h_s ; e]` or `[x_s ; h_s ; x_r ; h_r ; e]`; `[x ; h]` for a convolution.
    pub fn message_input_width(&self) -> usize {
        if self.convolution().is_some() {
            return self.node_width();
        }
        self.node_width() * if self.uses_receiver() { 2 } else { 1 } + self.edge_width
    }

    /// Width between the two layers of the message perceptron: the integer part of the mean of its input and output widths. Width of what GCN and
    /// GAT sum, which have one linear map only.
    pub fn message_width(&self) -> usize {
        match self.convolution() {
            Some(Convolution::Gcn { .. } | Convolution::Gat { .. }) => self.hidden_width,
            _ => (self.message_input_width() + self.hidden_width) / 2,
        }
    }

    /// Number of layers that have their own weights.
    pub fn layers(&self) -> usize {
        match self.controller {
            Controller::Stack { layers } => layers,
            _ => 1,
        }
    }

    /// The most iterations a graph can take.
    pub fn max_iterations(&self) -> usize {
        match self.controller {
            Controller::Shared { iterations } => iterations,
            Controller::Stack { layers } => layers,
            Controller::Iterative(iterative) => iterative.max_iterations,
        }
    }

    /// The iterative module, where the controller has one.
    pub fn iterative(&self) -> Option<&Iterative> {
        match &self.controller {
            Controller::Iterative(iterative) => Some(iterative),
            _ => None,
        }
    }

    /// Refuses what no layer of the paper has.
    ///
    /// # Errors
    /// [`KernelError::Config`] says what.
    pub fn validate(&self) -> Result<(), KernelError> {
        let problem = if self.hidden_width == 0 {
            Some("the hidden width is zero")
        } else if self.layer == LayerKind::MpnnMax && self.aggregation != Aggregation::Max {
            Some("mpnn-max aggregates by maximum only")
        } else if !self
            .convolution()
            .map_or(self.aggregation != Aggregation::Sum, |layer| layer.takes(self.aggregation))
        {
            Some("the layer does not have this aggregation")
        } else if self.convolution().is_some_and(|layer| layer.weighs_edges()) && self.edge_width != 1 {
            Some("edge weights need one edge feature")
        } else if matches!(self.convolution(), Some(Convolution::Gat { reads_edges: true, .. })) && self.edge_width == 0
        {
            Some("attention on edge features needs at least one of them")
        } else if let Some(iterative) = self.iterative() {
            if !(iterative.decay > 0.0 && iterative.decay <= 1.0) {
                Some("the decay is not in (0, 1]")
            } else if iterative.epsilon.is_nan() || iterative.epsilon < 0.0 {
                Some("epsilon is negative or undefined")
            } else {
                None
            }
        } else {
            None
        };
        problem.map_or(Ok(()), |problem| Err(KernelError::Config(problem)))
    }
}
