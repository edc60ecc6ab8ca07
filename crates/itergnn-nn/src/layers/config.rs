//! The settings of a layer.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::aggregator::Aggregation;
use super::edge_inputs::EdgeOrder;
use super::gat::GatConfig;
use super::gcn::GcnConfig;
use super::gin::GinConfig;
use super::gn_block::GnBlockConfig;
use super::layer::Layer;
use super::mpnn_max::MpnnMaxConv;
use super::path::PathConv;
use super::path_sim::PathSimConv;
use super::point_net::PointNet;
use super::update::{Isolated, Update};
use crate::activation::Activation;
use crate::error::Error;
use crate::init::InitRng;
use crate::mlp::MlpConfig;

/// The layers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// [`MpnnMaxConv`].
    MpnnMax,
    /// [`PathConv`].
    Path,
    /// [`PathSimConv`].
    PathSim,
    /// [`GcnConv`](super::GcnConv).
    Gcn,
    /// [`GatConv`](super::GatConv).
    Gat,
    /// [`GinConv`](super::GinConv).
    Gin,
    /// [`PointNet`].
    PointNet,
    /// [`GnBlock`](super::GnBlock).
    GnBlock,
}

impl LayerKind {
    /// Every layer.
    pub const ALL: [Self; 8] =
        [Self::MpnnMax, Self::Path, Self::PathSim, Self::Gcn, Self::Gat, Self::Gin, Self::PointNet, Self::GnBlock];

    /// The name in configuration files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MpnnMax => "mpnn-max",
            Self::Path => "path",
            Self::PathSim => "path-sim",
            Self::Gcn => "gcn",
            Self::Gat => "gat",
            Self::Gin => "gin",
            Self::PointNet => "point-net",
            Self::GnBlock => "gn-block",
        }
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for LayerKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let find = Self::ALL.into_iter().find(|kind| kind.name() == name);
        let names = Self::ALL.map(Self::name).join(", ");
        find.ok_or_else(|| Error::config("layer", format!("there is no layer '{name}', only {names}")))
    }
}

/// The settings of a layer that maps a hidden state of `hidden_width` features to one of the same width.
///
/// Fields that a kind does not read are ignored by it. Defaults are the paper's, and PyG's for GCN, GAT and GIN.
///
/// # Example
///
/// ```
/// use burn::tensor::Device;
/// use itergnn_nn::{InitRng, layers::{LayerConfig, LayerKind}};
///
/// let config = LayerConfig::new(LayerKind::PathSim, 3, 64, 1).with_homogeneous(true);
/// let layer = config.init(&Device::flex(), &mut InitRng::new(0))?;
/// # Ok::<(), itergnn_nn::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whether the layer reads edge attributes: as edge weight (gcn, one feature) or in the attention (gat, PyG's `edge_dim`).
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

    /// The MLP from `width` features to the hidden state that these settings ask for.
    pub(super) fn mlp(&self, width: usize) -> MlpConfig {
        MlpConfig {
            input_width: width,
            output_width: self.hidden_width,
            layers: self.mlp_layers,
            bias: !self.homogeneous,
            activation: self.activation,
            final_activation: self.final_activation,
        }
    }

    /// The layer, with weights drawn from `rng`.
    ///
    /// # Errors
    ///
    /// When settings contradict each other; the message names them.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> Result<Layer, Error> {
        if self.hidden_width == 0 {
            return Err(Error::config("layer", "the hidden state needs at least one feature"));
        }
        if self.mlp_layers == 0 {
            return Err(Error::config("layer", "an MLP needs at least one affine map"));
        }
        Ok(match self.kind {
            LayerKind::MpnnMax => Layer::MpnnMax(MpnnMaxConv::init(self, device, rng)),
            LayerKind::Path => Layer::Path(PathConv::init(self, device, rng)),
            LayerKind::PathSim => Layer::PathSim(PathSimConv::init(self, device, rng)),
            LayerKind::PointNet => Layer::PointNet(PointNet::init(self, device, rng)),
            LayerKind::Gcn => Layer::Gcn(GcnConfig::from_layer(self)?.init(device, rng)),
            LayerKind::Gat => Layer::Gat(GatConfig::from_layer(self)?.init(device, rng)),
            LayerKind::Gin => Layer::Gin(GinConfig::from_layer(self)?.init(device, rng)),
            LayerKind::GnBlock => Layer::GnBlock(GnBlockConfig::from_layer(self).init(device, rng)),
        })
    }
}
