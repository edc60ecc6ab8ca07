//! Settings of layers and controllers in the words of the kernels.

use burn::tensor::{DType, Device};
use itergnn_kernels::block as kernel;

use crate::controllers::{ControllerConfig, IterConfig, Mode, RunOptions, Scope};
use crate::layers::{Aggregation, Isolated, LayerConfig, LayerKind, Update};
use crate::{Activation, BlockConfig, GraphTensors, ReadoutKind};

/// Why the fused engine does not run a block.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The plain engine was asked for.
    #[error("it was asked for")]
    NotWanted,
    /// The tensors live elsewhere.
    #[error("the tensors are not on the CPU")]
    Device,
    /// The kernels compute in `f32` and `f64`.
    #[error("the tensors hold {0:?}")]
    FloatType(DType),
    /// A record of every step was asked for.
    #[error("a trace is recorded")]
    Trace,
    /// No graph or no step.
    #[error("there is nothing to compute")]
    Nothing,
    /// A layer without kernels.
    #[error("the layer is {0}")]
    Layer(LayerKind),
    /// An aggregation without kernels.
    #[error("the aggregation is {0}")]
    Aggregation(Aggregation),
    /// A message function that is not two maps with LeakyReLU after each.
    #[error("the message function is not two maps with LeakyReLU after each")]
    Message,
    /// Several attention heads.
    #[error("there are {0} attention heads")]
    Heads(usize),
    /// Batch normalisation inside the layer, which needs the whole batch at every step.
    #[error("batch normalisation is part of the layer")]
    BatchNorm,
    /// A state that is replaced instead of growing.
    #[error("the aggregate replaces the state")]
    Update,
    /// Nodes without incoming edges aggregate zero, and there are such nodes.
    #[error("nodes without incoming edges aggregate zero")]
    Isolated,
    /// A controller without kernels.
    #[error("the controller is {0}")]
    Controller(&'static str),
    /// A pooling in front of the confidence that has no kernel.
    #[error("the confidence pools with {0:?}")]
    Pooling(ReadoutKind),
    /// Finished nodes that go on decaying.
    #[error("finished nodes go on decaying")]
    DecayFinished,
}

/// Whether the kernels cover a block on this batch.
pub(super) fn supports(block: &BlockConfig, graph: &GraphTensors, options: &RunOptions) -> Result<(), Unsupported> {
    if graph.device() != Device::flex() {
        return Err(Unsupported::Device);
    }
    let float = graph.node_attributes().dtype();
    if !matches!(float, DType::F32 | DType::F64) {
        return Err(Unsupported::FloatType(float));
    }
    if options.trace {
        return Err(Unsupported::Trace);
    }
    let config = kernel_config(block, false, options)?;
    if graph.graphs() == 0 || config.max_iterations() == 0 {
        return Err(Unsupported::Nothing);
    }
    let messages = config.convolution().is_none();
    let isolated = || graph.incoming().iter().any(|edges| edges.is_empty());
    if messages && block.layer.isolated == Isolated::Zero && isolated() {
        return Err(Unsupported::Isolated);
    }
    Ok(())
}

/// A block as the kernels are told; `confidence_bias` says whether the confidence has one.
pub(super) fn kernel_config(
    block: &BlockConfig,
    confidence_bias: bool,
    options: &RunOptions,
) -> Result<kernel::BlockConfig, Unsupported> {
    let layer = &block.layer;
    let (kind, aggregation) = layer_kind(layer)?;
    Ok(kernel::BlockConfig {
        layer: kind,
        aggregation,
        controller: controller(&block.controller, confidence_bias, options)?,
        biased: !layer.homogeneous,
        input_width: layer.input_width,
        hidden_width: layer.hidden_width,
        edge_width: layer.edge_width,
    })
}

fn layer_kind(layer: &LayerConfig) -> Result<(kernel::LayerKind, kernel::Aggregation), Unsupported> {
    let kind = match layer.kind {
        LayerKind::Gcn | LayerKind::Gat | LayerKind::Gin => return convolution(layer),
        LayerKind::MpnnMax => kernel::LayerKind::MpnnMax,
        LayerKind::Path => kernel::LayerKind::Path,
        LayerKind::PathSim => kernel::LayerKind::PathSim,
        other => return Err(Unsupported::Layer(other)),
    };
    let aggregation = match layer.aggregation {
        // This layer has no other and does not read the setting.
        _ if kind == kernel::LayerKind::MpnnMax => kernel::Aggregation::Max,
        Aggregation::Max => kernel::Aggregation::Max,
        Aggregation::Attention if layer.homogeneous => kernel::Aggregation::ScaleInvariantAttention,
        Aggregation::Attention => kernel::Aggregation::Attention,
        other => return Err(Unsupported::Aggregation(other)),
    };
    two_maps(layer)?;
    if layer.update != Update::KeepMax {
        return Err(Unsupported::Update);
    }
    Ok((kind, aggregation))
}

/// The perceptron of the layer is the one that the kernels have.
fn two_maps(layer: &LayerConfig) -> Result<(), Unsupported> {
    let same = layer.mlp_layers == 2 && layer.activation == Activation::LeakyRelu && layer.final_activation;
    if same { Ok(()) } else { Err(Unsupported::Message) }
}

fn convolution(layer: &LayerConfig) -> Result<(kernel::LayerKind, kernel::Aggregation), Unsupported> {
    let output_slope = layer.output_activation.negative_slope();
    let (self_loops, reads_edges) = (layer.add_self_loops, layer.use_edge_attributes);
    let (convolution, aggregation) = match layer.kind {
        LayerKind::Gcn => {
            let gcn = kernel::Convolution::Gcn { self_loops, edge_weights: reads_edges, output_slope };
            (gcn, kernel::Aggregation::Sum)
        }
        LayerKind::Gat if layer.heads != 1 => return Err(Unsupported::Heads(layer.heads)),
        LayerKind::Gat => {
            let score_slope = layer.negative_slope;
            let gat = kernel::Convolution::Gat { self_loops, reads_edges, score_slope, output_slope };
            let scale_invariant = kernel::Aggregation::ScaleInvariantAttention;
            (gat, if layer.homogeneous { scale_invariant } else { kernel::Aggregation::Attention })
        }
        LayerKind::Gin if layer.batch_norm => return Err(Unsupported::BatchNorm),
        LayerKind::Gin => {
            two_maps(layer)?;
            let gin = kernel::Convolution::Gin { eps: layer.eps, learns_eps: layer.train_eps };
            (gin, kernel::Aggregation::Sum)
        }
        other => return Err(Unsupported::Layer(other)),
    };
    Ok((kernel::LayerKind::Convolution(convolution), aggregation))
}

fn controller(
    config: &ControllerConfig,
    confidence_bias: bool,
    options: &RunOptions,
) -> Result<kernel::Controller, Unsupported> {
    match config {
        ControllerConfig::Stack(config) => Ok(kernel::Controller::Stack { layers: config.layers }),
        ControllerConfig::Shared(config) => Ok(kernel::Controller::Shared { iterations: config.most_steps(options) }),
        ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config) => {
            iterative(config, confidence_bias, options).map(kernel::Controller::Iterative)
        }
        ControllerConfig::Act(_) => Err(Unsupported::Controller("act")),
    }
}

fn iterative(
    config: &IterConfig,
    confidence_bias: bool,
    options: &RunOptions,
) -> Result<kernel::Iterative, Unsupported> {
    let node_wise = config.scope == Scope::Node;
    // Graphs that are done leave the batch, and without decay there is nothing to go on with.
    if config.decay_finished && node_wise && config.decay != 1.0 {
        return Err(Unsupported::DecayFinished);
    }
    let readout = match config.pooling {
        _ if node_wise => kernel::ConfidenceReadout::default(),
        ReadoutKind::Max => kernel::ConfidenceReadout::Max,
        ReadoutKind::Mean => kernel::ConfidenceReadout::Mean,
        ReadoutKind::Sum => kernel::ConfidenceReadout::Sum,
        other => return Err(Unsupported::Pooling(other)),
    };
    Ok(kernel::Iterative {
        epsilon: config.epsilon,
        max_iterations: config.most_steps(options),
        decay: config.decay,
        node_wise,
        readout,
        confidence_bias,
        normalised: config.normalised,
        settle: config.settle.is_some() && options.mode == Mode::Training,
        scale_free: config.scale_free,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ControllerConfig;

    fn reason(change: impl FnOnce(&mut BlockConfig)) -> String {
        let mut block = BlockConfig {
            layer: LayerConfig::new(LayerKind::Path, 1, 4, 1),
            controller: ControllerConfig::iter_decay(),
        };
        change(&mut block);
        match kernel_config(&block, false, &RunOptions::training()) {
            Ok(_) => "covered".to_owned(),
            Err(reason) => reason.to_string(),
        }
    }

    #[test]
    fn what_is_not_covered_is_named() {
        assert_eq!(reason(|_| {}), "covered");
        assert_eq!(reason(|block| block.layer.kind = LayerKind::PointNet), "the layer is point-net");
        assert_eq!(reason(|block| block.layer.kind = LayerKind::Gcn), "covered");
        let heads = |block: &mut BlockConfig| (block.layer.kind, block.layer.heads) = (LayerKind::Gat, 2);
        assert_eq!(reason(heads), "there are 2 attention heads");
        let norm = |block: &mut BlockConfig| (block.layer.kind, block.layer.batch_norm) = (LayerKind::Gin, true);
        assert_eq!(reason(norm), "batch normalisation is part of the layer");
        assert_eq!(reason(|block| block.layer.aggregation = Aggregation::Sparsemax), "the aggregation is sparsemax");
        assert_eq!(
            reason(|block| block.layer.mlp_layers = 3),
            "the message function is not two maps with LeakyReLU after each"
        );
        assert_eq!(reason(|block| block.layer.update = Update::Replace), "the aggregate replaces the state");
        assert_eq!(reason(|block| block.controller = ControllerConfig::act(0.1)), "the controller is act");
        let pooling = |iter: &mut IterConfig| iter.pooling = ReadoutKind::Attention;
        let controller = ControllerConfig::iter().with_iter(pooling);
        assert_eq!(reason(|block| block.controller = controller), "the confidence pools with Attention");
    }

    #[test]
    fn mpnn_max_takes_the_maximum_whatever_its_aggregation_says() {
        assert_eq!(reason(|block| block.layer.kind = LayerKind::MpnnMax), "covered");
    }

    #[test]
    fn only_training_settles() {
        let controller = ControllerConfig::iter().with_iter(|iter| iter.settle = Some(0.3));
        let block = BlockConfig { layer: LayerConfig::new(LayerKind::Path, 1, 4, 1), controller };
        let settles = |options| {
            let config = kernel_config(&block, false, &options).expect("covered");
            config.iterative().expect("iterative").settle
        };
        assert!(settles(RunOptions::training()));
        assert!(!settles(RunOptions::inference()));
    }
}
