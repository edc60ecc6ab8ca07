//! The networks that are compared: every layer, controller and prior, and variants.

use itergnn_cuda::{Loss, Network, Perceptron, Readout, Tuning};
use itergnn_kernels::block::BlockConfig;
use itergnn_kernels::settings::{
    Activation, Aggregation, ControllerConfig, IterConfig, LayerConfig, LayerKind, ReadoutKind, Scope,
};

use super::support::ends;

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) layer: LayerKind,
    pub(crate) controller: ControllerConfig,
    pub(crate) biased: [bool; 2],
    pub(crate) readout: Readout,
    pub(crate) loss: Loss,
    pub(crate) blocks: usize,
    pub(crate) hidden: usize,
    pub(crate) density: f64,
    pub(crate) tuning: Tuning,
    pub(crate) aggregation: Aggregation,
    pub(crate) change: fn(&mut LayerConfig),
}

impl Case {
    pub(crate) fn new(name: &str, layer: LayerKind, controller: ControllerConfig) -> Self {
        Self {
            name: name.to_owned(),
            layer,
            controller,
            biased: [false, false],
            readout: Readout::Max,
            loss: Loss::Mse,
            blocks: 1,
            hidden: 16,
            density: 0.1,
            tuning: Tuning::default(),
            aggregation: Aggregation::Max,
            change: |_| {},
        }
    }

    pub(crate) fn network(&self, inputs: usize, edge: usize, outputs: usize) -> Network {
        let mut layer = LayerConfig::new(self.layer, inputs, self.hidden, edge).with_aggregation(self.aggregation);
        (self.change)(&mut layer);
        let block = BlockConfig { layer: layer.with_homogeneous(!self.biased[0]), controller: self.controller };
        let perceptron =
            |widths: Vec<usize>, final_activation| Perceptron { widths, biased: self.biased[1], final_activation };
        Network {
            embedding: perceptron(vec![inputs, (inputs + self.hidden) / 2, self.hidden], true),
            blocks: vec![block; self.blocks],
            readout: self.readout,
            ends: ends(self.readout, self.hidden, edge, self.biased[1]),
            head: perceptron(vec![self.hidden, outputs], false),
        }
    }
}

pub(crate) fn iterative(change: impl FnOnce(&mut IterConfig)) -> ControllerConfig {
    ControllerConfig::iter_decay().with_iter(|options| {
        (options.training_cap, options.epsilon, options.confidence_bias) = (12, 1e-3, Some(false));
        change(options);
    })
}

/// A layer by name, and what else it is told.
type Layer = (&'static str, LayerKind, Aggregation, fn(&mut LayerConfig));

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let layers: [Layer; 10] = [
        ("path-sim", LayerKind::PathSim, Aggregation::Max, |_| {}),
        ("path", LayerKind::Path, Aggregation::Max, |_| {}),
        ("mpnn-max", LayerKind::MpnnMax, Aggregation::Max, |_| {}),
        ("path-sim attention", LayerKind::PathSim, Aggregation::Attention, |_| {}),
        ("path attention", LayerKind::Path, Aggregation::Attention, |_| {}),
        ("gcn", LayerKind::Gcn, Aggregation::Max, |layer| {
            (layer.use_edge_attributes, layer.output_activation) = (true, Activation::LeakyRelu);
        }),
        ("gat", LayerKind::Gat, Aggregation::Max, |layer| {
            (layer.use_edge_attributes, layer.output_activation) = (true, Activation::LeakyRelu);
        }),
        // Variants, with one controller.
        ("gcn without weights", LayerKind::Gcn, Aggregation::Max, |layer| layer.output_activation = Activation::Relu),
        ("gcn without loops", LayerKind::Gcn, Aggregation::Max, |layer| layer.add_self_loops = false),
        ("gat without edges", LayerKind::Gat, Aggregation::Max, |layer| layer.output_activation = Activation::Relu),
    ];
    for (name, layer, aggregation, change) in layers {
        for (controller, how) in [
            (ControllerConfig::stack(3), "stack"),
            (ControllerConfig::shared(5), "shared"),
            (iterative(|_| {}), "iter-decay"),
            (
                iterative(|options| (options.decay, options.normalised, options.settle) = (1.0, true, Some(0.3))),
                "iter settle",
            ),
            (
                iterative(|options| {
                    (options.scope, options.confidence_bias, options.settle) = (Scope::Node, Some(true), Some(0.3));
                }),
                "node-wise",
            ),
        ] {
            if name.contains("without") && how != "shared" {
                continue;
            }
            for (prior, biased) in [("none", [true, true]), ("full", [false, false]), ("core", [false, true])] {
                let base = Case::new(&format!("{name} {how} {prior}"), layer, controller);
                cases.push(Case { biased, aggregation, change, ..base });
            }
        }
    }
    let path_sim = |name: &str, controller| Case::new(name, LayerKind::PathSim, controller);
    let scale_free = iterative(|options| options.scale_free = true);
    let scale_free_nodes =
        iterative(|options| (options.scale_free, options.scope, options.normalised) = (true, Scope::Node, true));
    let mean = iterative(|options| (options.pooling, options.confidence_bias) = (ReadoutKind::Mean, Some(true)));
    let sum = iterative(|options| (options.pooling, options.normalised) = (ReadoutKind::Sum, true));
    cases.push(path_sim("scale-free", scale_free));
    cases.push(path_sim("scale-free node-wise", scale_free_nodes));
    cases.push(Case { readout: Readout::Mean, blocks: 2, ..path_sim("two blocks, mean", mean) });
    cases.push(Case {
        readout: Readout::Sum,
        blocks: 2,
        loss: Loss::Relative,
        ..path_sim("two blocks, sum, relative", sum)
    });
    cases.push(Case { readout: Readout::Node, ..path_sim("node level", iterative(|_| {})) });
    cases.push(Case { readout: Readout::First, loss: Loss::CrossEntropy, ..path_sim("classes", iterative(|_| {})) });
    let classes = Loss::CrossEntropy;
    cases.push(Case { readout: Readout::Node, loss: classes, ..path_sim("classes of nodes", iterative(|_| {})) });
    cases.push(Case { readout: Readout::Min, ..path_sim("minimum", iterative(|options| options.settle = Some(0.3))) });
    cases.push(Case {
        hidden: 64,
        density: 0.3,
        ..path_sim("hidden 64", iterative(|options| options.settle = Some(0.3)))
    });
    cases.push(Case {
        hidden: 64,
        density: 0.3,
        ..Case::new("path, hidden 64", LayerKind::Path, ControllerConfig::shared(3))
    });
    cases.push(Case { hidden: 10, ..path_sim("hidden 10", iterative(|_| {})) });
    let large = Tuning { large: Some(true), ..Tuning::default() };
    cases.push(Case { tuning: large, ..path_sim("global memory", iterative(|options| options.settle = Some(0.3))) });
    for (name, layer) in [("path", LayerKind::Path), ("gcn", LayerKind::Gcn), ("gat", LayerKind::Gat)] {
        let (aggregation, name) = (Aggregation::Attention, format!("{name} attention, global memory"));
        cases.push(Case { tuning: large, aggregation, ..Case::new(&name, layer, iterative(|_| {})) });
        let (density, name) = (0.3, format!("{name}, hidden 64"));
        cases.push(Case { hidden: 64, density, aggregation, ..Case::new(&name, layer, ControllerConfig::shared(4)) });
    }
    // Path-sim with one, two and three thread blocks per graph; the others have four.
    for (how, controller) in
        [("stack", ControllerConfig::stack(3)), ("shared", ControllerConfig::shared(5)), ("iter", iterative(|_| {}))]
    {
        for cluster in 1..4 {
            let tuning = Tuning { cluster: Some(cluster), ..Tuning::default() };
            let base = path_sim(&format!("{how}, {cluster} blocks"), controller);
            cases.push(Case { tuning, biased: [true, true], ..base });
        }
    }
    // Edges and pointers.
    for (level, readout) in [("edges", Readout::Edge), ("pointers", Readout::Pointer)] {
        let biased = [true, true];
        for (name, layer) in [("path-sim", LayerKind::PathSim), ("mpnn-max", LayerKind::MpnnMax)] {
            let base = Case::new(&format!("{level}, {name}"), layer, iterative(|options| options.settle = Some(0.3)));
            cases.push(Case { readout, ..base });
        }
        for (name, layer) in [("gcn", LayerKind::Gcn), ("gat", LayerKind::Gat)] {
            let change: fn(&mut LayerConfig) = |layer| layer.use_edge_attributes = true;
            let base = Case::new(&format!("{level}, {name}"), layer, ControllerConfig::stack(3));
            cases.push(Case { readout, biased, change, ..base });
        }
        let (aggregation, nodes) = (Aggregation::Attention, iterative(|options| options.scope = Scope::Node));
        let base = Case::new(&format!("{level}, path attention"), LayerKind::Path, nodes);
        cases.push(Case { readout, biased, aggregation, ..base });
        let shared = ControllerConfig::shared(3);
        let base = path_sim(&format!("{level}, global memory"), shared);
        cases.push(Case { readout, tuning: large, blocks: 2, ..base });
        let several = Tuning { graphs: Some(3), cluster: Some(1), ..Tuning::default() };
        let base = path_sim(&format!("{level}, three graphs per block, hidden 64"), iterative(|_| {}));
        cases.push(Case { readout, biased, hidden: 64, density: 0.3, tuning: several, ..base });
    }
    for (name, loss) in [("relative", Loss::Relative), ("classes", Loss::CrossEntropy)] {
        let base = path_sim(&format!("edges, {name}"), iterative(|_| {}));
        cases.push(Case { readout: Readout::Edge, loss, biased: [true, true], ..base });
    }
    let pairs = Tuning { graphs: Some(2), cluster: Some(4), ..Tuning::default() };
    cases.push(Case { tuning: pairs, ..path_sim("two graphs and four blocks", iterative(|_| {})) });
    let packed = Tuning { graphs: Some(4), edge_tile: Some(60), ..Tuning::default() };
    cases.push(Case {
        tuning: packed,
        hidden: 64,
        density: 0.2,
        ..path_sim("four graphs per block", iterative(|_| {}))
    });
    cases
}
