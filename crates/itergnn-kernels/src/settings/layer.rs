//! The settings of a layer.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

use super::Activation;

/// The layers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum LayerKind {
    /// `message = MLP(v_s, v_r, e)`, aggregated by maximum only.
    MpnnMax,
    /// `message = MLP(v_s, v_r, e)`.
    Path,
    /// `message = MLP(v_s, e)`: the receiver's own state does not matter.
    PathSim,
    /// Graph convolution with symmetric normalisation (Kipf and Welling).
    Gcn,
    /// Graph attention (Velickovic et al.).
    Gat,
    /// The graph isomorphism layer (Xu et al.).
    Gin,
    /// No messages: every node for itself.
    PointNet,
    /// The general graph network block (Battaglia et al.).
    GnBlock,
}

/// The rule by which the messages to a node become one vector.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, Display, EnumString, VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Aggregation {
    /// `sum softmax(score)_k m_k` with a learned linear score: the paper's text.
    #[default]
    Attention,
    /// Elementwise maximum: what the authors' code runs.
    Max,
    /// `sum sparsemax(score)_k m_k`: attention with exact zeros.
    Sparsemax,
    /// Elementwise minimum.
    Min,
    /// Sum.
    Sum,
    /// Mean.
    Mean,
}

impl Aggregation {
    /// Whether the rule weighs messages by a learned score.
    pub fn has_score(self) -> bool {
        matches!(self, Self::Attention | Self::Sparsemax)
    }
}

/// How the aggregated messages enter the hidden state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// `h' = max(h, agg)`; on a tie the old state wins and takes the gradient.
    #[default]
    KeepMax,
    /// `h' = agg`: the authors' MPNNMaxConv.
    Replace,
}

/// What a node without incoming edges does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolated {
    /// It keeps its state.
    #[default]
    Keep,
    /// It aggregates 0: what scatter operations of PyG give, and so the authors' code.
    Zero,
}

/// The order in which the end points of an edge enter the message function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeOrder {
    /// `[v_s ; v_r ; e]`.
    #[default]
    SenderFirst,
    /// `[v_r ; v_s ; e]`: the authors' MPNNMaxConv.
    ReceiverFirst,
}

/// The settings of a layer that maps a hidden state of `hidden_width` features to one of the same width.
///
/// Fields that a kind does not read are ignored by it. Defaults are the paper's, and PyG's for GCN, GAT and GIN.
///
/// # Example
///
/// ```
/// use itergnn_kernels::settings::{LayerConfig, LayerKind};
///
/// let config = LayerConfig::new(LayerKind::PathSim, 3, 64, 1).with_homogeneous(true);
/// assert_eq!(config.node_width(), 67);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerConfig {
    /// Which layer.
    pub kind: LayerKind,
    /// Width of the input that is concatenated to the hidden state at every step; 0 for none.
    pub input_width: usize,
    /// Width of the hidden state, before and after.
    pub hidden_width: usize,
    /// Width of the edge attributes.
    pub edge_width: usize,
    /// No biases and scale-invariant attention: the layer then is positively homogeneous of degree 1.
    #[serde(default)]
    pub homogeneous: bool,
    /// How messages are combined (path, path-sim, gn-block).
    #[serde(default)]
    pub aggregation: Aggregation,
    /// Number of affine maps in the message MLP, or in the node MLP of GIN and PointNet.
    #[serde(default = "two")]
    pub mlp_layers: usize,
    /// The activation inside MLPs.
    #[serde(default)]
    pub activation: Activation,
    /// Whether the activation follows the last map of an MLP too.
    #[serde(default = "yes")]
    pub final_activation: bool,
    /// How aggregated messages enter the state (mpnn-max, path, path-sim).
    #[serde(default)]
    pub update: Update,
    /// What a node without incoming edges does (mpnn-max, path, path-sim).
    #[serde(default)]
    pub isolated: Isolated,
    /// The order of the end points in the input of messages and scores (mpnn-max, path, path-sim).
    #[serde(default)]
    pub edge_order: EdgeOrder,
    /// The activation after the layer (gcn, gat); PyG's layers have none.
    #[serde(default = "identity")]
    pub output_activation: Activation,
    /// Whether every node hears itself (gcn, gat).
    #[serde(default = "yes")]
    pub add_self_loops: bool,
    /// Whether the layer reads edge attributes: as edge weight (gcn, one feature) or in the attention (gat, PyG's
    /// `edge_dim`).
    #[serde(default)]
    pub use_edge_attributes: bool,
    /// Number of attention heads (gat).
    #[serde(default = "one")]
    pub heads: usize,
    /// Whether heads are concatenated rather than averaged (gat).
    #[serde(default = "yes")]
    pub concat: bool,
    /// Slope of the LeakyReLU on attention scores (gat).
    #[serde(default = "attention_slope")]
    pub negative_slope: f64,
    /// The weight 1 + eps of a node's own vector (gin).
    #[serde(default)]
    pub eps: f64,
    /// Whether eps is learned (gin).
    #[serde(default)]
    pub train_eps: bool,
    /// Batch normalisation after every affine map (gin).
    #[serde(default)]
    pub batch_norm: bool,
    /// Steps whose running statistics are kept apart where the layer is iterated (gin with batch normalisation).
    #[serde(default = "one")]
    pub norm_steps: usize,
    /// Width of the global attribute (gn-block); 0 for none.
    #[serde(default)]
    pub global_width: usize,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn two() -> usize {
    2
}

fn identity() -> Activation {
    Activation::Identity
}

/// PyG's default for GAT.
fn attention_slope() -> f64 {
    0.2
}

impl LayerConfig {
    /// A layer with default settings.
    pub fn new(kind: LayerKind, input_width: usize, hidden_width: usize, edge_width: usize) -> Self {
        Self {
            kind,
            input_width,
            hidden_width,
            edge_width,
            homogeneous: false,
            aggregation: Aggregation::default(),
            mlp_layers: two(),
            activation: Activation::default(),
            final_activation: true,
            update: Update::default(),
            isolated: Isolated::default(),
            edge_order: EdgeOrder::default(),
            output_activation: identity(),
            add_self_loops: true,
            use_edge_attributes: false,
            heads: one(),
            concat: true,
            negative_slope: attention_slope(),
            eps: 0.0,
            train_eps: false,
            batch_norm: false,
            norm_steps: one(),
            global_width: 0,
        }
    }

    /// With or without the homogeneous prior.
    #[must_use]
    pub fn with_homogeneous(mut self, homogeneous: bool) -> Self {
        self.homogeneous = homogeneous;
        self
    }

    /// With this aggregation.
    #[must_use]
    pub fn with_aggregation(mut self, aggregation: Aggregation) -> Self {
        self.aggregation = aggregation;
        self
    }

    /// Width of `v = [input ; hidden]`.
    pub fn node_width(&self) -> usize {
        self.input_width + self.hidden_width
    }
}
