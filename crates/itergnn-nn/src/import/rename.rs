//! The authors' tensors under our names.

use std::collections::{BTreeMap, BTreeSet};

use super::checkpoint::Checkpoint;
use super::{AuthorsArchitecture, AuthorsLayer, AuthorsName, ImportError};
use crate::NamedTensor;
use crate::architecture::GnnConfig;
use crate::config::{BlockConfig, GraphModelConfig, Prior};
use crate::controllers::{ControllerConfig, IterConfig};
use crate::layers::{Aggregation, EdgeOrder, Isolated, LayerConfig, LayerKind, Update};
use crate::readout::ReadoutKind;

/// The model that the string and the shapes of the tensors describe.
pub(super) fn config(name: &AuthorsName, checkpoint: &Checkpoint) -> Result<GnnConfig, ImportError> {
    let (embedding_layers, [hidden_width, _]) = sequence(checkpoint, "embedding_module")?;
    let [_, node_width] = checkpoint.matrix_shape("embedding_module.0.0.weight")?;
    let (head_layers, [head_outputs, _]) = sequence(checkpoint, "head_module")?;
    let output_width = if name.readout == ReadoutKind::HeadTail { 2 * head_outputs } else { head_outputs };
    let layer = layer_config(name, checkpoint, node_width, hidden_width)?;
    let edge_width = layer.edge_width;
    let controller = controller_config(name);
    Ok(GnnConfig::Graph(GraphModelConfig {
        node_width,
        edge_width,
        output_width,
        hidden_width,
        prior: name.prior,
        embedding_layers,
        embedding_final_activation: true,
        blocks: vec![BlockConfig { layer, controller }; name.modules],
        readout: name.readout,
        head_layers,
        head_final_activation: true,
        unit: 1.0,
    }))
}

/// Number of affine maps of one of their MLPs, and the shape `[outputs, inputs]` of the last.
fn sequence(checkpoint: &Checkpoint, prefix: &str) -> Result<(usize, [usize; 2]), ImportError> {
    let count = (0..).take_while(|index| checkpoint.has(&format!("{prefix}.{index}.0.weight"))).count();
    let last = checkpoint.matrix_shape(&format!("{prefix}.{}.0.weight", count.saturating_sub(1)))?;
    Ok((count, last))
}

fn controller_config(name: &AuthorsName) -> ControllerConfig {
    let steps = name.iterations;
    let own = |config: &mut IterConfig| {
        config.training_cap = steps;
        config.inference_cap = Some(steps);
        config.pooling = name.readout;
    };
    let node_wise = |config: &mut IterConfig| {
        own(config);
        config.decay_finished = true;
    };
    match name.architecture {
        AuthorsArchitecture::Deep => ControllerConfig::stack(steps),
        AuthorsArchitecture::SharedDeep => ControllerConfig::shared(steps),
        AuthorsArchitecture::Iter => ControllerConfig::iter().with_iter(own),
        AuthorsArchitecture::DecIter => ControllerConfig::iter_decay().with_iter(own),
        AuthorsArchitecture::IterNode => ControllerConfig::iter().node_wise().with_iter(node_wise),
        AuthorsArchitecture::DecIterNode => ControllerConfig::iter_decay().node_wise().with_iter(node_wise),
    }
}

fn layer_config(
    name: &AuthorsName,
    checkpoint: &Checkpoint,
    node_width: usize,
    hidden_width: usize,
) -> Result<LayerConfig, ImportError> {
    let prefix = layer_prefix(name, 0, 0);
    let (kind, ends) = match name.layer {
        AuthorsLayer::Path => (LayerKind::Path, 2),
        AuthorsLayer::PathSim => (LayerKind::PathSim, 1),
        AuthorsLayer::MpnnMax => (LayerKind::MpnnMax, 2),
        AuthorsLayer::Gcn => (LayerKind::Gcn, 0),
        AuthorsLayer::Gat => (LayerKind::Gat, 0),
        AuthorsLayer::Gin => (LayerKind::Gin, 0),
    };
    let mut layer = LayerConfig::new(kind, node_width, hidden_width, 0)
        .with_homogeneous(name.prior != Prior::None)
        .with_aggregation(Aggregation::Max);
    layer.isolated = Isolated::Zero;
    match name.layer {
        AuthorsLayer::Path | AuthorsLayer::PathSim | AuthorsLayer::MpnnMax => {
            let (maps, _) = sequence(checkpoint, &format!("{prefix}.edge_embedding_module"))?;
            layer.mlp_layers = maps;
            layer.edge_width = edge_width(checkpoint, &prefix, ends * (node_width + hidden_width))?;
        }
        AuthorsLayer::Gin => {
            layer.mlp_layers = sequence(checkpoint, &format!("{prefix}.module.nn"))?.0;
            let eps = format!("{prefix}.module.eps");
            if checkpoint.has(&eps) {
                layer.eps = checkpoint.read(&eps, 1)?.values[0];
            }
        }
        AuthorsLayer::Gat => {
            let attention = format!("{prefix}.module.att_src");
            if checkpoint.has(&attention) {
                layer.heads = checkpoint.shape(&attention)?.get(1).copied().unwrap_or(1);
            }
        }
        AuthorsLayer::Gcn => {}
    }
    if name.layer == AuthorsLayer::MpnnMax {
        layer.update = Update::Replace;
        layer.edge_order = EdgeOrder::ReceiverFirst;
    }
    Ok(layer)
}

/// What the message reads besides `node_inputs` numbers of its ends.
fn edge_width(checkpoint: &Checkpoint, prefix: &str, node_inputs: usize) -> Result<usize, ImportError> {
    let tensor = format!("{prefix}.edge_embedding_module.0.0.weight");
    let [outputs, inputs] = checkpoint.matrix_shape(&tensor)?;
    inputs.checked_sub(node_inputs).ok_or_else(|| ImportError::Shape {
        tensor,
        found: vec![outputs, inputs],
        expected: format!("at least {node_inputs} inputs"),
    })
}

/// Where their layer number `index` of block `block` keeps its weights.
fn layer_prefix(name: &AuthorsName, block: usize, index: usize) -> String {
    match name.architecture {
        AuthorsArchitecture::Deep => format!("gnn_module_list.{block}.layers.{index}.module.gnn_module"),
        _ => format!("gnn_layer_list.{block}.module.gnn_module"),
    }
}

/// A tensor of theirs and how it becomes ours.
struct Source {
    tensor: String,
    form: Form,
}

enum Form {
    AsIs,
    /// `[outputs, inputs]` to `[inputs, outputs]`.
    Transposed,
    /// Every other run of `out` numbers of `[1, heads, 2 out]`: PyG 1 kept both attention vectors of GAT in one tensor,
    /// receiver first.
    Half(usize),
}

/// The tensors of the model, read from the checkpoint.
pub(super) fn tensors(
    name: &AuthorsName,
    checkpoint: &Checkpoint,
    expected: &BTreeMap<String, NamedTensor>,
) -> Result<BTreeMap<String, NamedTensor>, ImportError> {
    let mut used = BTreeSet::new();
    let mut tensors = BTreeMap::new();
    for (ours, parameter) in expected {
        let source = source(name, checkpoint, ours);
        tensors.insert(ours.clone(), convert(checkpoint, &source, &parameter.shape)?);
        used.insert(source.tensor);
    }
    let unused = checkpoint.names().find(|tensor| !used.contains(*tensor) && !may_be_unused(name, tensor));
    match unused {
        Some(tensor) => Err(ImportError::UnexpectedTensor { tensor: tensor.to_owned() }),
        None => Ok(tensors),
    }
}

/// Their lists repeat shared modules and hold prototypes that a stack or a shared layer never runs; the bias of an
/// attention score has no effect.
fn may_be_unused(name: &AuthorsName, tensor: &str) -> bool {
    let no_confidence = matches!(name.architecture, AuthorsArchitecture::Deep | AuthorsArchitecture::SharedDeep);
    tensor.starts_with("gnn_module_list.")
        || tensor.starts_with("readout_module.")
        || tensor.ends_with(".eps")
        || (tensor.starts_with("gnn_layer_list.") && name.architecture == AuthorsArchitecture::Deep)
        || (tensor.starts_with("confidence_module_list.") && no_confidence)
}

fn convert(checkpoint: &Checkpoint, source: &Source, shape: &[usize]) -> Result<NamedTensor, ImportError> {
    let elements: usize = shape.iter().product();
    let values = match (&source.form, shape) {
        (Form::Transposed, &[inputs, outputs]) => {
            let found = checkpoint.matrix_shape(&source.tensor)?;
            if found != [outputs, inputs] {
                let (found, expected) = (found.to_vec(), format!("[{outputs}, {inputs}]"));
                return Err(ImportError::Shape { tensor: source.tensor.clone(), found, expected });
            }
            let values = checkpoint.read(&source.tensor, elements)?.values;
            (0..elements).map(|at| values[at % outputs * inputs + at / outputs]).collect()
        }
        (Form::Half(half), _) => {
            let channels = shape.last().copied().unwrap_or(1).max(1);
            let values = checkpoint.read(&source.tensor, 2 * elements)?.values;
            values.chunks(channels).skip(*half).step_by(2).flatten().copied().collect()
        }
        (Form::AsIs | Form::Transposed, _) => checkpoint.read(&source.tensor, elements)?.values,
    };
    Ok(NamedTensor { shape: shape.to_vec(), values })
}

/// Where the numbers of our parameter `ours` are in their checkpoint.
fn source(name: &AuthorsName, checkpoint: &Checkpoint, ours: &str) -> Source {
    let path: Vec<&str> = ours.split('.').skip(1).collect();
    let number = |text: &str| text.parse().unwrap_or(0);
    let affine = |prefix: String, part: &str| {
        let form = if part == "weight" { Form::Transposed } else { Form::AsIs };
        Source { tensor: format!("{prefix}.{part}"), form }
    };
    match path.as_slice() {
        ["embedding", "layers", index, part] => affine(format!("embedding_module.{index}.0"), part),
        ["head", "layers", index, part] => affine(format!("head_module.{index}.0"), part),
        [.., "readout", "score", part] => affine("readout_module.module.module.score_module.0.0".to_owned(), part),
        ["blocks", block, "confidence", "linear", part] => affine(format!("confidence_module_list.{block}.0.0"), part),
        ["blocks", block, "layers", index, rest @ ..] => {
            layer_source(checkpoint, &layer_prefix(name, number(block), number(index)), rest)
        }
        ["blocks", block, "layer", rest @ ..] => layer_source(checkpoint, &layer_prefix(name, number(block), 0), rest),
        _ => Source { tensor: ours.to_owned(), form: Form::AsIs },
    }
}

fn layer_source(checkpoint: &Checkpoint, prefix: &str, path: &[&str]) -> Source {
    let named = |suffix: &str, form| Source { tensor: format!("{prefix}.{suffix}"), form };
    let has = |suffix: &str| checkpoint.has(&format!("{prefix}.{suffix}"));
    let form = |part: &str| if part == "weight" { Form::Transposed } else { Form::AsIs };
    match path {
        ["message", "layers", index, part] => named(&format!("edge_embedding_module.{index}.0.{part}"), form(part)),
        ["mlp", "layers", index, part] => named(&format!("module.nn.{index}.0.{part}"), form(part)),
        // PyG 1 stored [inputs, outputs]; PyG 2 has a linear layer, which an older PyG 2 called lin_src in GAT.
        ["weight"] if has("module.weight") => named("module.weight", Form::AsIs),
        ["weight"] if has("module.lin_src.weight") => named("module.lin_src.weight", Form::Transposed),
        ["weight"] => named("module.lin.weight", Form::Transposed),
        ["receiver_attention"] if has("module.att") => named("module.att", Form::Half(0)),
        ["sender_attention"] if has("module.att") => named("module.att", Form::Half(1)),
        ["receiver_attention"] => named("module.att_dst", Form::AsIs),
        ["sender_attention"] => named("module.att_src", Form::AsIs),
        other => named(&format!("module.{}", other.join(".")), Form::AsIs),
    }
}
