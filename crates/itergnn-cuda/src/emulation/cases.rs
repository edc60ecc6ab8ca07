//! The networks that are emulated: every kind of kernel.

use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::{Activation, Aggregation, ControllerConfig, IterConfig, LayerConfig, LayerKind, Scope};

use super::PRICE;
use super::support::ends;
use crate::{Loss, Network, Perceptron, Readout, Tuning};

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) layer: LayerKind,
    pub(super) aggregation: Aggregation,
    pub(super) controller: ControllerConfig,
    pub(super) biased: bool,
    pub(super) hidden: usize,
    pub(super) blocks: usize,
    pub(super) readout: Readout,
    pub(super) loss: Loss,
    pub(super) tuning: Tuning,
    pub(super) change: fn(&mut LayerConfig),
}

impl Case {
    pub(super) fn outputs(&self) -> usize {
        if self.readout == Readout::Pointer { 1 } else { 2 }
    }

    pub(super) fn network(&self) -> Network {
        let mut layer = LayerConfig::new(self.layer, 3, self.hidden, 1).with_aggregation(self.aggregation);
        (self.change)(&mut layer);
        let block = BlockConfig { layer: layer.with_homogeneous(!self.biased), controller: self.controller };
        let perceptron =
            |widths: Vec<usize>, final_activation| Perceptron { widths, biased: self.biased, final_activation };
        Network {
            embedding: perceptron(vec![3, 5, self.hidden], true),
            blocks: vec![block; self.blocks],
            readout: self.readout,
            ends: ends(self.readout, self.hidden, 1, self.biased),
            head: perceptron(vec![self.hidden, self.outputs()], false),
        }
    }
}

fn iterative(change: impl FnOnce(&mut IterConfig)) -> ControllerConfig {
    ControllerConfig::iter_decay().with_iter(|options| {
        (options.training_cap, options.epsilon, options.settle) = (7, 1e-2, Some(PRICE));
        change(options);
    })
}

pub(super) fn cases() -> Vec<Case> {
    let case = |name, layer, aggregation, controller| {
        let (tuning, change) = (Tuning::default(), (|_| {}) as fn(&mut LayerConfig));
        Case {
            name,
            layer,
            aggregation,
            controller,
            biased: true,
            hidden: 16,
            blocks: 1,
            readout: Readout::Max,
            loss: Loss::Mse,
            tuning,
            change,
        }
    };
    let path_sim = |name, controller| case(name, LayerKind::PathSim, Aggregation::Max, controller);
    let rectified: fn(&mut LayerConfig) =
        |layer| (layer.use_edge_attributes, layer.output_activation) = (true, Activation::LeakyRelu);
    let nodes = iterative(|options| (options.scope, options.confidence_bias) = (Scope::Node, Some(true)));
    let tiles = Tuning { graphs: Some(3), edge_tile: Some(16), ..Tuning::default() };
    let large = Tuning { large: Some(true), ..Tuning::default() };
    let plain = Tuning { cluster: Some(1), ..Tuning::default() };
    let clusters = |cluster, graphs| Tuning { cluster: Some(cluster), graphs: Some(graphs), ..Tuning::default() };
    vec![
        Case { hidden: 64, biased: false, ..path_sim("path-sim, hidden 64", iterative(|_| {})) },
        Case { tuning: tiles, ..path_sim("path-sim, tiles", iterative(|options| options.normalised = true)) },
        path_sim("path-sim, stack", ControllerConfig::stack(3)),
        path_sim("path-sim, node-wise", nodes),
        Case { tuning: plain, ..path_sim("path-sim, plain", iterative(|_| {})) },
        Case {
            tuning: clusters(2, 2),
            ..path_sim("path-sim, clusters of two", iterative(|options| options.normalised = true))
        },
        Case { tuning: clusters(3, 1), ..path_sim("path-sim, stack, clusters of three", ControllerConfig::stack(3)) },
        Case {
            tuning: clusters(4, 1),
            blocks: 2,
            ..path_sim("path-sim, two blocks, clusters of four", ControllerConfig::shared(3))
        },
        Case {
            tuning: clusters(4, 2),
            blocks: 2,
            ..path_sim("path-sim, two blocks that stop, clusters of four", iterative(|_| {}))
        },
        Case {
            hidden: 64,
            tuning: Tuning { graphs: Some(3), cluster: Some(1), ..Tuning::default() },
            readout: Readout::Min,
            ..path_sim("path-sim, hidden 64, scale-free, minimum", iterative(|options| options.scale_free = true))
        },
        Case { tuning: large, readout: Readout::Node, ..path_sim("path-sim, global memory, nodes", iterative(|_| {})) },
        Case {
            tuning: large,
            ..case("path, attention, global memory", LayerKind::Path, Aggregation::Attention, iterative(|_| {}))
        },
        Case {
            tuning: large,
            change: rectified,
            ..case("gcn, global memory", LayerKind::Gcn, Aggregation::Max, ControllerConfig::shared(3))
        },
        Case {
            tuning: clusters(2, 1),
            readout: Readout::Edge,
            loss: Loss::Relative,
            ..path_sim("edges, clusters of two", iterative(|_| {}))
        },
        Case {
            tuning: plain,
            readout: Readout::Pointer,
            ..path_sim("pointers", iterative(|options| options.normalised = true))
        },
        Case {
            readout: Readout::Edge,
            loss: Loss::CrossEntropy,
            change: rectified,
            ..case("classes of edges, gcn", LayerKind::Gcn, Aggregation::Max, ControllerConfig::stack(2))
        },
        Case {
            readout: Readout::Pointer,
            tuning: large,
            change: rectified,
            ..case("pointers, gat, global memory", LayerKind::Gat, Aggregation::Max, ControllerConfig::shared(2))
        },
        Case {
            readout: Readout::Node,
            loss: Loss::CrossEntropy,
            ..path_sim("classes of nodes", ControllerConfig::shared(2))
        },
        case("path, attention", LayerKind::Path, Aggregation::Attention, iterative(|_| {})),
        case("mpnn-max, shared", LayerKind::MpnnMax, Aggregation::Max, ControllerConfig::shared(4)),
        Case {
            change: rectified,
            biased: false,
            ..case("gcn without bias", LayerKind::Gcn, Aggregation::Max, ControllerConfig::stack(4))
        },
        Case { change: rectified, ..case("gcn", LayerKind::Gcn, Aggregation::Max, ControllerConfig::stack(3)) },
        Case {
            tuning: tiles,
            change: rectified,
            hidden: 24,
            ..case("gcn that stops", LayerKind::Gcn, Aggregation::Max, iterative(|options| options.epsilon = 0.1))
        },
        Case { change: rectified, ..case("gat", LayerKind::Gat, Aggregation::Max, iterative(|_| {})) },
    ]
}
