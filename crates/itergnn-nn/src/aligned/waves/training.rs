//! The forward pass as tensor operations, to be differentiated.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor, TensorData};

use super::features::Observed;
use super::inference::report;
use super::model::WaveModel;
use super::{Scaling, WaveConfig};
use crate::aligned::parameter::host;
use crate::index::index_tensor;
use crate::ops::{segment_max, segment_sum};
use crate::{GraphTensors, ModelOutput, ReadoutKind};

/// Lets the waves run on the host and reads them with soft tests.
pub(super) fn train_pass(model: &WaveModel, graph: &GraphTensors) -> ModelOutput {
    let (config, device) = (&model.config, graph.device());
    let observed = Observed::new(config, &host(&model.start), graph, None, false);
    let origins = constants(&observed, graph, &device, |steps| f64::from(u8::from(steps == 0)));
    let features = match config.scaling {
        Scaling::Proportional => proportional(model, &observed, graph),
        Scaling::Invariant => {
            let came = constants(&observed, graph, &device, f64::from);
            let ones = Tensor::ones([graph.nodes(), 2], &device);
            Tensor::cat(vec![ones, origins.clone(), came], 1)
        }
    };
    let (mut features, origins) = (pooled(config, features, graph), pooled(config, origins, graph));
    if config.scaling == Scaling::Invariant {
        let [rows, width] = features.dims();
        features = Tensor::cat(vec![Tensor::ones([rows, 1], &device), features.narrow(1, 1, width - 1)], 1);
    }
    let values = read(model, features, origins);
    let block = report(observed, graph);
    ModelOutput { values, hidden: Some(block.hidden.clone()), blocks: vec![block], auxiliary_loss: None }
}

/// `[l_v ; h_v]`: a strength is looked up at the origin, whose own it is.
fn proportional(model: &WaveModel, observed: &Observed, graph: &GraphTensors) -> Tensor<2> {
    let (nodes, channels, width) = (graph.nodes(), model.config.channels, model.config.local_width());
    let local = Tensor::<2>::from_data(TensorData::new(observed.local.clone(), [nodes, width]), &graph.device());
    let strengths = local.clone().matmul(model.start.val().transpose());
    let origin = |at: usize| observed.waves[at % channels].origins[at / channels] * channels as u32;
    let places = (0..nodes * channels).map(|at| origin(at) + (at % channels) as u32);
    let taken = strengths.reshape([nodes * channels, 1]).select(0, index_tensor(places, &graph.device()));
    Tensor::cat(vec![local, taken.reshape([nodes, channels])], 1)
}

/// Something about the steps that waves came, `[nodes, channels]`.
fn constants(observed: &Observed, graph: &GraphTensors, device: &Device, of: impl Fn(u32) -> f64) -> Tensor<2> {
    let channels = observed.waves.len();
    let values: Vec<f64> =
        (0..graph.nodes() * channels).map(|at| of(observed.waves[at % channels].steps[at / channels])).collect();
    Tensor::from_data(TensorData::new(values, [graph.nodes(), channels]), device)
}

fn pooled(config: &WaveConfig, values: Tensor<2>, graph: &GraphTensors) -> Tensor<2> {
    match config.readout {
        ReadoutKind::Node => values,
        ReadoutKind::Sum => segment_sum(values, graph.node_segments()),
        _ => segment_max(values, graph.node_segments()),
    }
}

/// The mean of what the leaves say, weighted by how far a row belongs to each.
fn read(model: &WaveModel, features: Tensor<2>, origins: Tensor<2>) -> Tensor<2> {
    let (config, (_, gain)) = (&model.config, model.stage());
    let leaves = config.leaves();
    let map = |leaf: usize| model.maps.val().narrow(0, leaf * config.feature_width(), config.feature_width());
    if leaves == 1 {
        return features.matmul(map(0));
    }
    let size = features.clone().detach().abs().sum_dim(1).clamp_min(f64::from(f32::MIN_POSITIVE));
    let seen = Tensor::cat(vec![features.clone() / size, origins], 1);
    let right = sigmoid(seen.matmul(model.tests.val().transpose()) * gain);
    let mut shares = vec![Tensor::ones_like(&right.clone().narrow(1, 0, 1))];
    // A complete tree, level by level.
    for level in 0..config.depth {
        let first = (1 << level) - 1;
        shares = shares
            .into_iter()
            .enumerate()
            .flat_map(|(place, share)| {
                let right = right.clone().narrow(1, first + place, 1);
                [share.clone() * (right.clone().neg() + 1.0), share * right]
            })
            .collect();
    }
    shares
        .into_iter()
        .enumerate()
        .map(|(leaf, share)| features.clone().matmul(map(leaf)) * share)
        .reduce(|sum, part| sum + part)
        .expect("a tree has a leaf")
}
