//! Models as the card sees them: plain networks, and weights in one row.

use std::collections::BTreeMap;

use itergnn_cuda::{CudaError, Loss, Network, Perceptron, Readout, Recipe};
use itergnn_nn::controllers::{ControllerConfig, Mode};
use itergnn_nn::layers::{EdgeOrder, LayerKind};
use itergnn_nn::{BlockConfig, GnnConfig, GraphModelConfig, MlpConfig, NamedTensor, Prior, ReadoutKind};

use crate::config::{LossKind, OptimiserConfig};

/// A model's configuration, if the card can run such models.
pub(super) fn graph_model(model: &GnnConfig) -> Result<&GraphModelConfig, CudaError> {
    match model {
        GnnConfig::Graph(config) => Ok(config),
        _ => Err(CudaError::Unsupported("a model that is not embedding, blocks, readout and head".to_owned())),
    }
}

/// The network of a model.
///
/// # Errors
/// [`CudaError::Unsupported`] says what the kernels do not cover.
pub(super) fn network(model: &GraphModelConfig) -> Result<Network, CudaError> {
    let refused = |why: String| CudaError::Unsupported(why);
    let blocks = model.resolved_blocks(Mode::Training, None);
    let readout = match model.readout {
        ReadoutKind::Max => Readout::Max,
        ReadoutKind::Min => Readout::Min,
        ReadoutKind::Mean => Readout::Mean,
        ReadoutKind::Sum => Readout::Sum,
        ReadoutKind::First => Readout::First,
        ReadoutKind::HeadTail => Readout::HeadTail,
        ReadoutKind::Node => Readout::Node,
        ReadoutKind::Edge => Readout::Edge,
        ReadoutKind::Pointer => Readout::Pointer,
        other => return Err(refused(format!("the readout {other}"))),
    };
    let plain =
        |net: MlpConfig| Perceptron { widths: net.widths(), biased: net.bias, final_activation: net.final_activation };
    let ends = ends(model).into_iter().map(|(_, net)| plain(net)).collect();
    let network = Network { embedding: plain(model.embedding()), blocks, readout, ends, head: plain(model.head()) };
    network.validate()?;
    Ok(network)
}

/// The maps of a readout of edges or pointers, by name.
fn ends(model: &GraphModelConfig) -> Vec<(&'static str, MlpConfig)> {
    let hidden = model.hidden_width;
    let net = |inputs: usize| MlpConfig::new(inputs, hidden, 2).with_bias(model.prior != Prior::Full);
    let edge = ("edge", net(2 * hidden + model.edge_width));
    match model.readout {
        ReadoutKind::Edge => vec![edge],
        ReadoutKind::Pointer => vec![edge, ("own", net(hidden))],
        _ => Vec::new(),
    }
}

/// The numbers of a recipe.
///
/// # Errors
/// [`CudaError::Unsupported`] for classes and pointers measured in a unit, which do not scale.
pub(super) fn recipe(
    model: &GraphModelConfig,
    loss: LossKind,
    optimiser: &OptimiserConfig,
) -> Result<Recipe, CudaError> {
    if (loss == LossKind::CrossEntropy || model.readout == ReadoutKind::Pointer) && model.unit != 1.0 {
        return Err(CudaError::Unsupported("classes or pointers measured in a unit".to_owned()));
    }
    let price = match model.blocks.first().map(|block| &block.controller) {
        Some(ControllerConfig::Iter(config) | ControllerConfig::IterDecay(config)) => config.settle,
        _ => None,
    };
    Ok(Recipe {
        loss: match loss {
            LossKind::Mse => Loss::Mse,
            LossKind::Relative => Loss::Relative,
            LossKind::CrossEntropy => Loss::CrossEntropy,
        },
        price: price.unwrap_or(0.0),
        beta_1: optimiser.beta_1,
        beta_2: optimiser.beta_2,
        epsilon: optimiser.epsilon,
        weight_decay: optimiser.weight_decay,
        clip_norm: optimiser.clip_norm,
    })
}

/// A tensor of the model among the card's parameters.
pub(super) struct Slot {
    pub(super) name: String,
    shape: Vec<usize>,
    /// Rows of the receiver and of the sender, which change places.
    swapped: Option<usize>,
}

/// The model's tensors in the order of the card's parameters.
pub(super) fn slots(model: &GraphModelConfig, tensors: &BTreeMap<String, NamedTensor>) -> Result<Vec<Slot>, CudaError> {
    let mut slots = Vec::new();
    let mut push = |name: String, swapped: Option<usize>, optional: bool| match tensors.get(&name) {
        Some(tensor) => {
            slots.push(Slot { name, shape: tensor.shape.clone(), swapped });
            Ok(())
        }
        None if optional => Ok(()),
        None => Err(CudaError::Unsupported(format!("a model without `{name}`"))),
    };
    for layer in 0..model.embedding_layers {
        map(&format!("network.embedding.layers.{layer}"), &mut push)?;
    }
    for (index, block) in model.blocks.iter().enumerate() {
        let path = format!("network.blocks.{index}");
        for layer in 0..layers(block) {
            let path = match block.controller {
                ControllerConfig::Stack(_) => format!("{path}.layers.{layer}"),
                _ => format!("{path}.layer"),
            };
            for (tensor, swapped, optional) in tensors_of(block) {
                push(format!("{path}.{tensor}"), swapped, optional)?;
            }
        }
        if matches!(block.controller, ControllerConfig::Iter(_) | ControllerConfig::IterDecay(_)) {
            map(&format!("{path}.confidence.linear"), &mut push)?;
        }
    }
    for (name, net) in ends(model) {
        for layer in 0..net.layers {
            map(&format!("network.readout.{name}.layers.{layer}"), &mut push)?;
        }
    }
    for layer in 0..model.head_layers {
        map(&format!("network.head.layers.{layer}"), &mut push)?;
    }
    Ok(slots)
}

/// Adds the tensors of an affine map.
fn map(
    path: &str,
    push: &mut impl FnMut(String, Option<usize>, bool) -> Result<(), CudaError>,
) -> Result<(), CudaError> {
    push(format!("{path}.weight"), None, false)?;
    push(format!("{path}.bias"), None, true)
}

/// The tensors of a layer in the order of the kernels' parameters: the name, the rows of an end whose place the other
/// takes, and whether the layer may lack it.
fn tensors_of(block: &BlockConfig) -> Vec<(&'static str, Option<usize>, bool)> {
    match block.layer.kind {
        LayerKind::Gcn => vec![("weight", None, false), ("bias", None, true)],
        LayerKind::Gat => vec![
            ("weight", None, false),
            ("sender_attention", None, false),
            ("receiver_attention", None, false),
            ("edge.weight", None, true),
            ("edge.attention", None, true),
            ("bias", None, true),
        ],
        kind => {
            let ends = (block.layer.edge_order != EdgeOrder::SenderFirst)
                .then_some(block.layer.input_width + block.layer.hidden_width);
            vec![
                ("message.layers.0.weight", ends.filter(|_| kind != LayerKind::PathSim), false),
                ("message.layers.0.bias", None, true),
                ("message.layers.1.weight", None, false),
                ("message.layers.1.bias", None, true),
                ("aggregator.score.weight", ends, true),
                ("aggregator.score.bias", None, true),
            ]
        }
    }
}

fn layers(block: &BlockConfig) -> usize {
    match &block.controller {
        ControllerConfig::Stack(config) => config.layers,
        _ => 1,
    }
}

impl Slot {
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The values with the rows of both ends exchanged, where they must be.
    fn exchange(&self, values: &mut [f32]) {
        let Some(rows) = self.swapped else { return };
        let width = self.shape.last().copied().unwrap_or(1);
        let (first, rest) = values.split_at_mut(rows * width);
        first.swap_with_slice(&mut rest[..rows * width]);
    }
}

/// Values in single precision.
pub(super) fn single(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// All tensors in one row.
pub(super) fn flatten(slots: &[Slot], values: impl Fn(&str) -> Vec<f32>) -> Vec<f32> {
    let mut row = Vec::new();
    for slot in slots {
        let mut part = values(&slot.name);
        slot.exchange(&mut part);
        row.extend(part);
    }
    row
}

/// The tensors of a row, by name.
pub(super) fn unflatten(slots: &[Slot], row: &[f32]) -> BTreeMap<String, NamedTensor> {
    let mut rest = row;
    let mut tensor = |slot: &Slot| {
        let (part, tail) = rest.split_at(slot.len());
        rest = tail;
        let mut part = part.to_vec();
        slot.exchange(&mut part);
        let values = part.into_iter().map(f64::from).collect();
        (slot.name.clone(), NamedTensor { shape: slot.shape.clone(), values })
    };
    slots.iter().map(&mut tensor).collect()
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use itergnn_nn::{InitRng, TaskWidths, named_tensors, preset};

    use super::*;

    #[test]
    fn weights_make_the_round_trip_for_every_covered_preset() {
        use itergnn_nn::layers::Aggregation::{Attention, Max};
        for name in ["path", "homo-path", "iter-path", "iter-homo-path", "iter-homo-path-settle", "shared-homo-path"] {
            for (kind, aggregation) in [
                (LayerKind::PathSim, Max),
                (LayerKind::Path, Max),
                (LayerKind::MpnnMax, Max),
                (LayerKind::PathSim, Attention),
                (LayerKind::Path, Attention),
                (LayerKind::Gcn, Max),
                (LayerKind::Gat, Max),
            ] {
                let widths = match kind {
                    LayerKind::MpnnMax => TaskWidths::edge(3, 1, 2),
                    LayerKind::Path => TaskWidths::pointer(3, 1),
                    _ => TaskWidths::graph(3, 1, 1),
                };
                let config = preset(name, &widths).unwrap();
                let GnnConfig::Graph(config) = config else { panic!("{name} is a graph model") };
                let mut config = config.with_hidden_width(6).with_layer(kind, aggregation);
                config.blocks[0].layer.edge_order = EdgeOrder::ReceiverFirst;
                let model = GnnConfig::Graph(config.clone()).init(&Device::flex(), &mut InitRng::new(3)).unwrap();
                let tensors = named_tensors(&model);
                let slots = slots(&config, &tensors).unwrap();
                let values = |name: &str| single(&tensors[name].values);
                let row = flatten(&slots, values);
                assert_eq!(row.len(), network(&config).unwrap().parameters(), "{name}");
                assert_eq!(unflatten(&slots, &row), tensors, "{name}");
            }
        }
    }
}
