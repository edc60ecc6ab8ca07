//! The general graph network block, of which the other layers are instances.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::{Aggregation, LayerConfig};
use serde::{Deserialize, Serialize};

use super::aggregator::Aggregator;
use super::edge_inputs::{concatenate, node_vectors};
use super::message_passing::MessagePassing;
use crate::activation::Activation;
use crate::batch::GraphTensors;
use crate::init::InitRng;
use crate::mlp::{Mlp, MlpConfig};
use crate::ops::keep_max;

/// How phi_v makes the new node vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeFunction {
    /// `v' = MLP(agg, v, u)`.
    #[default]
    Mlp,
    /// `v' = max(last features of v, agg)`: the update of PathGNN.
    KeepMax,
}

/// The settings of a [`GnBlock`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GnBlockConfig {
    /// Width of v.
    pub node_width: usize,
    /// Width of e.
    pub edge_width: usize,
    /// Width of u; 0 for a block without global attribute.
    pub global_width: usize,
    /// Width of e'.
    pub edge_output: usize,
    /// Width of v'.
    pub node_output: usize,
    /// Width of u'; 0 for none.
    pub global_output: usize,
    /// rho_e->v.
    pub edge_to_node: Aggregation,
    /// rho_e->u.
    pub edge_to_global: Aggregation,
    /// rho_v->u.
    pub node_to_global: Aggregation,
    /// phi_v.
    pub node_function: NodeFunction,
    /// Affine maps in every MLP.
    pub mlp_layers: usize,
    /// The activation in every MLP.
    pub activation: Activation,
    /// Whether the activation follows the last map of an MLP too.
    pub final_activation: bool,
    /// No biases and scale-invariant attention.
    pub homogeneous: bool,
}

impl GnBlockConfig {
    /// A block with the given widths in and out (node, edge, global), sums as rho and 2-layer MLPs as phi.
    pub fn new(inputs: [usize; 3], outputs: [usize; 3]) -> Self {
        let ([node_width, edge_width, global_width], [node_output, edge_output, global_output]) = (inputs, outputs);
        Self {
            node_width,
            edge_width,
            global_width,
            edge_output,
            node_output,
            global_output,
            edge_to_node: Aggregation::Sum,
            edge_to_global: Aggregation::Sum,
            node_to_global: Aggregation::Sum,
            node_function: NodeFunction::Mlp,
            mlp_layers: 2,
            activation: Activation::LeakyRelu,
            final_activation: true,
            homogeneous: false,
        }
    }

    pub(super) fn from_layer(config: &LayerConfig) -> Self {
        let (hidden, global) = (config.hidden_width, config.global_width);
        Self {
            edge_to_node: config.aggregation,
            mlp_layers: config.mlp_layers,
            activation: config.activation,
            final_activation: config.final_activation,
            homogeneous: config.homogeneous,
            // As a message-passing step the block hands on the node vectors only.
            ..Self::new([config.node_width(), config.edge_width, global], [hidden, hidden, 0])
        }
    }

    fn mlp(&self, inputs: usize, outputs: usize) -> MlpConfig {
        MlpConfig {
            input_width: inputs,
            output_width: outputs,
            layers: self.mlp_layers,
            bias: !self.homogeneous,
            activation: self.activation,
            final_activation: self.final_activation,
        }
    }

    /// The block with weights drawn from `rng`.
    ///
    /// # Panics
    ///
    /// With [`NodeFunction::KeepMax`], when e' and v' differ in width or are wider than v.
    pub fn init(&self, device: &Device, rng: &mut InitRng) -> GnBlock {
        let edge_inputs = 2 * self.node_width + self.edge_width + self.global_width;
        let aggregator = |rule, keys, rng: &mut InitRng| Aggregator::init(rule, keys, self.homogeneous, device, rng);
        let edge = self.mlp(edge_inputs, self.edge_output).init(device, rng);
        let edge_to_node = aggregator(self.edge_to_node, edge_inputs, rng);
        let node = match self.node_function {
            NodeFunction::Mlp => {
                let inputs = self.edge_output + self.node_width + self.global_width;
                Some(self.mlp(inputs, self.node_output).init(device, rng))
            }
            NodeFunction::KeepMax => {
                assert_eq!(self.edge_output, self.node_output, "the maximum of messages and state needs one width");
                assert!(self.node_output <= self.node_width, "the state is the last part of the node vector");
                None
            }
        };
        let global = (self.global_output > 0).then(|| GlobalFunction {
            edge_to_global: aggregator(self.edge_to_global, self.edge_output, rng),
            node_to_global: aggregator(self.node_to_global, self.node_output, rng),
            update: self
                .mlp(self.edge_output + self.node_output + self.global_width, self.global_output)
                .init(device, rng),
        });
        GnBlock { edge, edge_to_node, node, global }
    }
}

/// The attributes a [`GnBlock`] maps: of nodes, edges and graphs.
#[derive(Clone, Debug)]
pub struct GnState {
    /// v, `[nodes, node width]`.
    pub nodes: Tensor<2>,
    /// e, `[edges, edge width]`.
    pub edges: Tensor<2>,
    /// u, `[graphs, global width]`.
    pub globals: Option<Tensor<2>>,
}

/// phi_u with its two aggregations.
#[derive(Module, Debug)]
pub struct GlobalFunction {
    /// rho_e->u.
    pub edge_to_global: Aggregator,
    /// rho_v->u.
    pub node_to_global: Aggregator,
    /// phi_u.
    pub update: Mlp,
}

/// The general block: edges, then nodes, then the global attribute are updated.
///
/// ```text
/// e'_k = phi_e(v_s, v_r, e_k, u)        agg_j  = rho_e->v(e' of incoming edges)
/// v'_j = phi_v(agg_j, v_j, u)           agg_e, agg_v = rho_e->u(e'), rho_v->u(v')
/// u'   = phi_u(agg_e, agg_v, u)
/// ```
///
/// Positively homogeneous of degree 1 without biases (`tests/layers/homogeneity.rs`).
///
/// # Paper
///
/// Section 'Graph Networks blocks' (Battaglia et al. 2018). The arguments of phi_e stand in the order of PathGNN, so
/// that PathConv is the block with attention as rho_e->v and [`NodeFunction::KeepMax`] (`tests/layers/gn_block.rs`).
#[derive(Module, Debug)]
pub struct GnBlock {
    /// phi_e.
    pub edge: Mlp,
    /// rho_e->v.
    pub edge_to_node: Aggregator,
    /// phi_v where it is an MLP; none takes the maximum with the old state.
    pub node: Option<Mlp>,
    /// phi_u and what it reads; none for a block without global output.
    pub global: Option<GlobalFunction>,
}

impl GnBlock {
    /// The new attributes of edges, nodes and graphs.
    pub fn step(&self, graph: &GraphTensors, state: GnState) -> GnState {
        let GnState { nodes, edges, globals } = state;
        let node_globals = globals.clone().map(|globals| graph.at_nodes(globals));
        let edge_globals = node_globals.clone().map(|globals| graph.at_receivers(globals));
        let ends = [graph.at_senders(nodes.clone()), graph.at_receivers(nodes.clone()), edges];
        let edge_inputs = concatenate(ends.into_iter().chain(edge_globals));
        let edges = self.edge.forward(edge_inputs.clone());

        let aggregated = self.edge_to_node.forward(edges.clone(), || edge_inputs, graph.incoming());
        let nodes = match &self.node {
            Some(function) => function.forward(concatenate([aggregated, nodes].into_iter().chain(node_globals))),
            None => {
                let (width, kept) = (nodes.dims()[1], aggregated.dims()[1]);
                keep_max(nodes.narrow(1, width - kept, kept), aggregated, graph.incoming())
            }
        };

        let globals = self.global.as_ref().map(|function| {
            let of_edges = function.edge_to_global.forward(edges.clone(), || edges.clone(), graph.edge_segments());
            let of_nodes = function.node_to_global.forward(nodes.clone(), || nodes.clone(), graph.node_segments());
            function.update.forward(concatenate([of_edges, of_nodes].into_iter().chain(globals)))
        });
        GnState { nodes, edges, globals }
    }
}

impl MessagePassing for GnBlock {
    fn forward(&self, graph: &GraphTensors, input: Tensor<2>, hidden: Tensor<2>) -> Tensor<2> {
        let nodes = node_vectors(input, hidden);
        let state = GnState { nodes, edges: graph.edge_attributes(), globals: graph.globals() };
        self.step(graph, state).nodes
    }
}
