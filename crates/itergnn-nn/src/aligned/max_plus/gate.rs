//! What it costs to pass a node, learned from its continuous attributes.

use burn::module::{Module, Param};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Device, Tensor, TensorData};

use super::model::{ABSENT, Stage};
use super::rule::STRETCH;
use crate::aligned::parameter::{host, replaced};

/// The first bias: far enough below 0 that a gate begins nearly open, near enough that its gradient is felt.
const FIRST_BIAS: f64 = -0.5;

/// The toll of a closed gate, as a share of the absent level: at first 10, more than most detours of training graphs
/// cost.
const TOLL: f64 = 0.1;

/// A gate in front of every node, closed where a linear function of its continuous attributes is positive.
///
/// ```text
/// toll[v] = s * 0.1 |level| * sigmoid(gain (w . x_v / s + b))
/// ```
/// with the scale `s` of the graph and the level and gain of the stage of training; an edge costs the tolls of both its
/// ends in every channel. From the beginning of hardening the sigmoid is clipped like that of the confidence, and at
/// the end of training the toll is a step: 0, or no way through.
///
/// # Shapes
/// `weight` `[attributes, 1]`, `bias` `[1, 1]`.
#[derive(Module, Debug)]
pub(super) struct Gate {
    pub(super) weight: Param<Tensor<2>>,
    pub(super) bias: Param<Tensor<2>>,
}

impl Gate {
    /// A gate that does not look at the attributes yet, so that no direction is preferred.
    pub(super) fn new(attributes: usize, device: &Device) -> Self {
        let learned = |values: Vec<f64>| {
            let rows = values.len();
            Param::from_data(TensorData::new(values, [rows, 1]), device)
        };
        Self { weight: learned(vec![0.0; attributes]), bias: learned(vec![FIRST_BIAS]) }
    }

    /// The toll of every node, `[nodes, 1]`, to be differentiated. `attributes` and `scales` have a row per node.
    pub(super) fn tolls(&self, attributes: Tensor<2>, scales: Tensor<2>, stage: Stage) -> Tensor<2> {
        let logits = (attributes / scales.clone()).matmul(self.weight.val()) + self.bias.val();
        if stage.level <= ABSENT {
            return logits.greater_elem(0.0).float() * scales * (-TOLL * stage.level);
        }
        let mut closed = sigmoid(logits * stage.gain);
        if stage.hard {
            closed = (closed * (1.0 + 2.0 * STRETCH) - STRETCH).clamp(0.0, 1.0);
        }
        closed * scales * (-TOLL * stage.level)
    }

    /// The same gate at another place: closed where the direction of the weights, its largest entry 1, exceeds
    /// `threshold`.
    pub(super) fn at(self, threshold: f64) -> Self {
        let (direction, _) = normal_form(&host(&self.weight), host(&self.bias)[0]);
        Self { weight: replaced(self.weight, direction), bias: replaced(self.bias, vec![-threshold]) }
    }
}

/// A gate on the host.
#[derive(Debug, Clone)]
pub(super) struct GateRule {
    weight: Vec<f64>,
    bias: f64,
    stage: Stage,
}

impl GateRule {
    pub(super) fn read(gate: &Gate, stage: Stage) -> Self {
        Self { weight: host(&gate.weight), bias: host(&gate.bias)[0], stage }
    }

    /// Number of continuous attributes.
    pub(super) fn attributes(&self) -> usize {
        self.weight.len()
    }

    /// The toll of a node; infinite where there is no way through.
    pub(super) fn toll(&self, attributes: &[f64], scale: f64) -> f64 {
        let logit = dot(&self.weight, attributes) / scale + self.bias;
        if self.stage.level <= ABSENT {
            return if logit > 0.0 { f64::INFINITY } else { 0.0 };
        }
        let mut closed = 1.0 / (1.0 + (-self.stage.gain * logit).exp());
        if self.stage.hard {
            closed = ((1.0 + 2.0 * STRETCH) * closed - STRETCH).clamp(0.0, 1.0);
        }
        self.closed_toll() * closed * scale
    }

    /// The toll of a closed gate in a graph of scale 1.
    pub(super) fn closed_toll(&self) -> f64 {
        if self.stage.level <= ABSENT { f64::INFINITY } else { -TOLL * self.stage.level }
    }

    /// What is compared with [`GateRule::threshold`].
    pub(super) fn score(&self, attributes: &[f64], scale: f64) -> f64 {
        dot(&normal_form(&self.weight, self.bias).0, attributes) / scale
    }

    /// Nodes with a greater score are closed.
    pub(super) fn threshold(&self) -> f64 {
        normal_form(&self.weight, self.bias).1
    }
}

/// Direction with largest entry 1 (or all 0) and threshold of `weight . x + bias > 0`.
fn normal_form(weight: &[f64], bias: f64) -> (Vec<f64>, f64) {
    let largest = weight.iter().fold(0.0_f64, |largest, entry| largest.max(entry.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    (weight.iter().map(|entry| entry / unit).collect(), -bias / unit)
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}
