//! What a block computes: a layer and the controller that composes it.

use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::settings::{
    Activation, Aggregation, ControllerConfig, IterConfig, LayerConfig, LayerKind, Mode, ReadoutKind, Scope, Update,
};

/// Ranges of scores below this share of the largest `|score|` of a receiver count as zero in scale-invariant attention:
/// then all weights are equal and no gradient reaches the scores. The test is relative, so the invariance stays exact.
///
/// In `f32` the range of equal scores near 0.2 is about 1e-8 of noise, and dividing by it gives undefined gradients
/// within a few steps.
pub const RANGE_TOLERANCE: f64 = 1e-4;

/// A layer and the controller that composes it: everything about a block except its numbers.
///
/// One step, with `v = [input x ; hidden h]`: messages by [`LayerKind`] from a two-layer perceptron with LeakyReLU
/// (0.01) after each layer, one vector per receiver by [`Aggregation`], then `h' = max(h, aggregate)` elementwise (on a
/// tie `h` wins). A node without incoming edges keeps `h`. GCN and GAT have a linear map instead of the perceptron, and
/// their result replaces `h`:
///
/// ```text
/// gcn   h'_j = f(sum over k of w_k / sqrt(d_s d_j) v_s W + b)      d: sum of incoming weights; a node with d = 0 sends nothing
/// gat   h'_j = f(sum over k of softmax(score)_k v_s W + b)         score_k = LeakyReLU(a_s . v_s W + a_r . v_j W + a_e . e_k W_e)
/// ```
/// Their *loops* are exactly one edge from every node to itself: those of the graph are left out and one per node is
/// added as its last incoming edge, for GCN with the weight of the graph's (last) loop at the node, else 1, for GAT
/// with the mean of the features of the other incoming edges.
///
/// The kernels run the training form of a controller, [`resolved`](Self::resolved) for what is asked: an iterative
/// block stops after `training_cap` steps, and with `settle` the mass that reaches the last of them is spent there. The
/// weights of a layer come with the sender first, whatever `edge_order` says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockConfig {
    /// The layer.
    pub layer: LayerConfig,
    /// The controller.
    pub controller: ControllerConfig,
}

impl BlockConfig {
    /// The block as one run does it; see [`ControllerConfig::resolved`].
    #[must_use]
    pub fn resolved(self, mode: Mode, cap: Option<usize>) -> Self {
        Self { controller: self.controller.resolved(mode, cap), ..self }
    }

    /// Width of the node inputs x, which are the same at every iteration.
    pub fn input_width(&self) -> usize {
        self.layer.input_width
    }

    /// Width of the node states h and of the messages.
    pub fn hidden_width(&self) -> usize {
        self.layer.hidden_width
    }

    /// Width of the edge features.
    pub fn edge_width(&self) -> usize {
        self.layer.edge_width
    }

    /// Width of `v = [x ; h]`.
    pub fn node_width(&self) -> usize {
        self.layer.node_width()
    }

    /// Whether maps and scores have biases.
    pub fn biased(&self) -> bool {
        !self.layer.homogeneous
    }

    /// Whether the layer is GCN or GAT.
    pub fn is_convolution(&self) -> bool {
        matches!(self.layer.kind, LayerKind::Gcn | LayerKind::Gat)
    }

    /// Whether messages are aggregated by maximum; among equal messages the first edge wins.
    pub fn aggregates_by_max(&self) -> bool {
        match self.layer.kind {
            LayerKind::MpnnMax => true,
            LayerKind::Path | LayerKind::PathSim => self.layer.aggregation == Aggregation::Max,
            _ => false,
        }
    }

    /// Whether attention is `softmax(score / (max score - min score))`, which does not change when all scores are
    /// multiplied by a positive number.
    pub fn scale_invariant(&self) -> bool {
        self.layer.homogeneous
    }

    /// Whether messages depend on the receiver's state.
    pub fn uses_receiver(&self) -> bool {
        matches!(self.layer.kind, LayerKind::MpnnMax | LayerKind::Path)
    }

    /// Whether there is a score per edge.
    pub fn has_score(&self) -> bool {
        match self.layer.kind {
            LayerKind::Gat => true,
            LayerKind::Path | LayerKind::PathSim => self.layer.aggregation == Aggregation::Attention,
            _ => false,
        }
    }

    /// Whether GCN weighs edges by their one feature, or GAT reads edge features in its score.
    pub fn convolves_edges(&self) -> bool {
        self.is_convolution() && self.layer.use_edge_attributes
    }

    /// Whether every node hears itself.
    pub fn has_loops(&self) -> bool {
        self.is_convolution() && self.layer.add_self_loops
    }

    /// Input width of the message perceptron: rows `[x_s ; h_s ; e]` or `[x_s ; h_s ; x_r ; h_r ; e]`; `[x ; h]` for a
    /// convolution.
    pub fn message_input_width(&self) -> usize {
        if self.is_convolution() {
            return self.node_width();
        }
        self.node_width() * if self.uses_receiver() { 2 } else { 1 } + self.edge_width()
    }

    /// Width between the two layers of the message perceptron: the integer part of the mean of its input and output
    /// widths. Width of what GCN and GAT sum, which have one linear map only.
    pub fn message_width(&self) -> usize {
        if self.is_convolution() {
            return self.hidden_width();
        }
        (self.message_input_width() + self.hidden_width()) / 2
    }

    /// Number of layers that have their own weights.
    pub fn layers(&self) -> usize {
        match self.controller {
            ControllerConfig::Stack(config) => config.layers,
            _ => 1,
        }
    }

    /// Whether every step has weights of its own.
    pub fn is_stack(&self) -> bool {
        matches!(self.controller, ControllerConfig::Stack(_))
    }

    /// The most iterations a graph can take.
    pub fn max_iterations(&self) -> usize {
        self.controller.most_steps(Mode::Training, None)
    }

    /// The iterative module, where the controller has one.
    pub fn iterative(&self) -> Option<&IterConfig> {
        match &self.controller {
            ControllerConfig::Iter(iterative) | ControllerConfig::IterDecay(iterative) => Some(iterative),
            _ => None,
        }
    }

    /// Whether there is one confidence per node, predicted from its own state. All nodes of a graph go on exchanging
    /// messages until the last of them is done; a node that is done adds nothing more to its output.
    pub fn node_wise(&self) -> bool {
        self.iterative().is_some_and(|iterative| iterative.scope == Scope::Node)
    }

    /// Whether the confidence has a bias.
    pub fn biased_confidence(&self) -> bool {
        self.iterative().is_some_and(|iterative| iterative.confidence_bias.unwrap_or(self.biased()))
    }

    /// Why the kernels do not cover a block, if they do not.
    pub fn uncovered(&self) -> Option<String> {
        let layer = &self.layer;
        let edges = layer.edge_width;
        match layer.kind {
            LayerKind::Gin | LayerKind::PointNet | LayerKind::GnBlock => Some(format!("the layer is {}", layer.kind)),
            LayerKind::Gcn if layer.use_edge_attributes && edges != 1 => Some(one_feature(edges)),
            LayerKind::Gat if layer.use_edge_attributes && edges == 0 => {
                Some("attention on edge features needs at least one of them".to_owned())
            }
            LayerKind::Gat if layer.heads != 1 => Some(format!("there are {} attention heads", layer.heads)),
            LayerKind::Gcn | LayerKind::Gat => None,
            LayerKind::MpnnMax | LayerKind::Path | LayerKind::PathSim => self.uncovered_messages(),
        }
        .or_else(|| (layer.hidden_width == 0).then(|| "the hidden width is zero".to_owned()))
        .or_else(|| match &self.controller {
            ControllerConfig::Act(_) => Some("the controller is act".to_owned()),
            ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => uncovered_iteration(config),
            ControllerConfig::Stack(_) | ControllerConfig::Shared(_) => None,
        })
    }

    fn uncovered_messages(&self) -> Option<String> {
        let LayerConfig { kind, aggregation, .. } = self.layer;
        let two_maps =
            self.layer.mlp_layers == 2 && self.layer.activation == Activation::LeakyRelu && self.layer.final_activation;
        if kind != LayerKind::MpnnMax && !matches!(aggregation, Aggregation::Max | Aggregation::Attention) {
            Some(format!("the aggregation is {aggregation}"))
        } else if !two_maps {
            Some("the message function is not two maps with LeakyReLU after each".to_owned())
        } else if self.layer.update != Update::KeepMax {
            Some("the aggregate replaces the state".to_owned())
        } else {
            None
        }
    }

    /// Refuses what the kernels do not cover.
    ///
    /// # Errors
    /// [`KernelError::Config`] says what.
    pub fn validate(&self) -> Result<(), KernelError> {
        self.uncovered().map_or(Ok(()), |reason| Err(KernelError::Config(reason)))
    }
}

fn one_feature(found: usize) -> String {
    format!("edge weights need one edge feature, found {found}")
}

fn uncovered_iteration(config: &IterConfig) -> Option<String> {
    let node_wise = config.scope == Scope::Node;
    let pools = matches!(config.pooling, ReadoutKind::Max | ReadoutKind::Mean | ReadoutKind::Sum);
    if !(config.decay > 0.0 && config.decay <= 1.0) {
        Some("the decay is not in (0, 1]".to_owned())
    } else if config.epsilon.is_nan() || config.epsilon < 0.0 {
        Some("epsilon is negative or undefined".to_owned())
    } else if config.decay_finished && node_wise && config.decay != 1.0 {
        // Graphs that are done leave the batch, and without decay there is nothing to go on with.
        Some("finished nodes go on decaying".to_owned())
    } else if !node_wise && !pools {
        Some(format!("the confidence pools with {}", config.pooling))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(change: impl FnOnce(&mut BlockConfig)) -> String {
        let layer = LayerConfig::new(LayerKind::Path, 1, 4, 1);
        let mut block = BlockConfig { layer, controller: ControllerConfig::iter_decay() };
        change(&mut block);
        block.uncovered().unwrap_or_else(|| "covered".to_owned())
    }

    #[test]
    fn what_is_not_covered_is_named() {
        assert_eq!(reason(|_| {}), "covered");
        assert_eq!(reason(|block| block.layer.kind = LayerKind::PointNet), "the layer is point-net");
        assert_eq!(reason(|block| block.layer.kind = LayerKind::Gin), "the layer is gin");
        assert_eq!(reason(|block| block.layer.kind = LayerKind::Gcn), "covered");
        let heads = |block: &mut BlockConfig| (block.layer.kind, block.layer.heads) = (LayerKind::Gat, 2);
        assert_eq!(reason(heads), "there are 2 attention heads");
        assert_eq!(reason(|block| block.layer.aggregation = Aggregation::Sparsemax), "the aggregation is sparsemax");
        assert_eq!(
            reason(|block| block.layer.mlp_layers = 3),
            "the message function is not two maps with LeakyReLU after each"
        );
        assert_eq!(reason(|block| block.layer.update = Update::Replace), "the aggregate replaces the state");
        assert_eq!(reason(|block| block.controller = ControllerConfig::act(0.1)), "the controller is act");
        let controller = ControllerConfig::iter().with_iter(|iter| iter.pooling = ReadoutKind::Attention);
        assert_eq!(reason(|block| block.controller = controller), "the confidence pools with attention");
    }

    #[test]
    fn mpnn_max_takes_the_maximum_whatever_its_aggregation_says() {
        assert_eq!(reason(|block| block.layer.kind = LayerKind::MpnnMax), "covered");
    }

    #[test]
    fn only_training_settles() {
        let controller = ControllerConfig::iter().with_iter(|iter| iter.settle = Some(0.3));
        let block = BlockConfig { layer: LayerConfig::new(LayerKind::Path, 1, 4, 1), controller };
        let settles = |mode| block.resolved(mode, None).iterative().expect("iterative").settle.is_some();
        assert!(settles(Mode::Training));
        assert!(!settles(Mode::Inference));
    }
}
