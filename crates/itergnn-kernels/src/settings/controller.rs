//! Controllers as data.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use super::ReadoutKind;

/// Most steps in training unless configured otherwise, and the number of layers of a stack (the paper's number).
pub const TRAINING_CAP: usize = 30;

/// Most steps at inference when no cap is given; reaching it is reported, never silent.
pub const SAFETY_CAP: usize = 100_000;

/// lambda of the paper, its choice among 0.99, 0.999 and 0.9999.
const PAPER_DECAY: f64 = 0.9999;

/// Remaining probability at which a loop is done: epsilon of the authors' code.
pub const STOP_EPSILON: f64 = 1e-7;

/// Why a network is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Gradients are wanted: loops are capped (at 30 steps unless configured otherwise) because every step is kept for
    /// the backward pass.
    Training,
    /// Only the answer is wanted: loops run until they are done.
    Inference,
}

/// What has a confidence of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Scope {
    /// One confidence per graph, from the pooled hidden state.
    #[default]
    Graph,
    /// One confidence per node, from its own hidden state; for graphs with several components.
    Node,
}

/// Which controller, with its parameters.
///
/// # Example
/// ```
/// use itergnn_kernels::settings::ControllerConfig;
/// let config: ControllerConfig = serde_json::from_str(r#"{"kind": "iter-decay", "scope": "node"}"#)?;
/// assert_eq!(config, ControllerConfig::iter_decay().node_wise());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ControllerConfig {
    /// Layers with their own weights.
    Stack(StackConfig),
    /// One layer repeated.
    Shared(SharedConfig),
    /// The iterative module without decay.
    Iter(IterConfig),
    /// The iterative module with decay.
    #[serde(with = "decayed")]
    IterDecay(IterConfig),
    /// Graves' adaptive computation time.
    Act(ActConfig),
}

/// Parameters of `stack`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StackConfig {
    /// Number of layers; the paper's models have 30.
    pub layers: usize,
    /// Whether all layers begin as copies of one, as in the authors' code; otherwise each has weights drawn for itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub copies: bool,
}

/// Parameters of `shared`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SharedConfig {
    /// Steps in training.
    pub steps: usize,
    /// Steps at inference; the paper uses the largest graph size of the test set. `None` means as many as in training.
    pub inference_steps: Option<usize>,
}

/// Parameters of `iter` and `iter-decay`; the formulas stand with `Halting` in `itergnn-nn`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IterConfig {
    /// Remaining probability at which an element is done.
    pub epsilon: f64,
    /// lambda; 1 in the form without decay.
    pub decay: f64,
    /// One confidence per graph or one per node.
    pub scope: Scope,
    /// Divide the output by the weight spent.
    pub normalised: bool,
    /// Price of probability left at the cap in training.
    pub settle: Option<f64>,
    /// Divide the confidence's features by their L1 norm, so that scaling all inputs does not change a confidence.
    pub scale_free: bool,
    /// How node states are pooled for a graph's confidence.
    pub pooling: ReadoutKind,
    /// Whether the confidence has a bias; `None` follows the prior of the model.
    pub confidence_bias: Option<bool>,
    /// Nodes that are done keep shrinking by the decay until their graph is done, as in the authors' code; only for
    /// imported node-wise models.
    pub decay_finished: bool,
    /// Most steps in training.
    pub training_cap: usize,
    /// Most steps at inference; `None` means no cap but the safety cap.
    pub inference_cap: Option<usize>,
}

/// Parameters of `act`; the formulas stand with `Halting` in `itergnn-nn`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActConfig {
    /// tau, the price of a step.
    pub ponder_cost: f64,
    /// How far the sum of confidences may stay below one (Graves uses 0.01).
    pub epsilon: f64,
    /// The form of the authors' code: every step goes on from the sum so far, which begins as the embedding, and only
    /// what is left for the last step is charged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub feeds_back: bool,
    /// One confidence per graph or one per node.
    pub scope: Scope,
    /// Divide the confidence's features by their L1 norm.
    pub scale_free: bool,
    /// How node states are pooled for a graph's confidence.
    pub pooling: ReadoutKind,
    /// Whether the confidence has a bias; `None` follows the prior of the model.
    pub confidence_bias: Option<bool>,
    /// Most steps in training.
    pub training_cap: usize,
    /// Most steps at inference; `None` means no cap but the safety cap.
    pub inference_cap: Option<usize>,
}

impl Default for StackConfig {
    fn default() -> Self {
        Self { layers: TRAINING_CAP, copies: false }
    }
}

impl Default for SharedConfig {
    fn default() -> Self {
        Self { steps: TRAINING_CAP, inference_steps: None }
    }
}

impl Default for IterConfig {
    fn default() -> Self {
        Self {
            epsilon: STOP_EPSILON,
            decay: 1.0,
            scope: Scope::Graph,
            normalised: false,
            settle: None,
            scale_free: false,
            pooling: ReadoutKind::Max,
            confidence_bias: None,
            decay_finished: false,
            training_cap: TRAINING_CAP,
            inference_cap: None,
        }
    }
}

impl Default for ActConfig {
    fn default() -> Self {
        Self {
            ponder_cost: 0.01,
            epsilon: 0.01,
            feeds_back: false,
            scope: Scope::Graph,
            scale_free: false,
            pooling: ReadoutKind::Max,
            confidence_bias: None,
            training_cap: TRAINING_CAP,
            inference_cap: None,
        }
    }
}

impl IterConfig {
    /// Whether there is one confidence per node.
    pub fn node_wise(&self) -> bool {
        self.scope == Scope::Node
    }
}

impl ControllerConfig {
    /// `stack(layers)`.
    pub fn stack(layers: usize) -> Self {
        Self::Stack(StackConfig { layers, copies: false })
    }

    /// `shared(steps)`, with as many steps at inference.
    pub fn shared(steps: usize) -> Self {
        Self::Shared(SharedConfig { steps, inference_steps: None })
    }

    /// `iter` with the paper's epsilon.
    pub fn iter() -> Self {
        Self::Iter(IterConfig::default())
    }

    /// `iter-decay` with the paper's epsilon and lambda.
    pub fn iter_decay() -> Self {
        Self::IterDecay(IterConfig { decay: PAPER_DECAY, ..IterConfig::default() })
    }

    /// `act` in the form of the authors' code with the given ponder cost.
    pub fn released_act(ponder_cost: f64) -> Self {
        Self::Act(ActConfig { ponder_cost, epsilon: STOP_EPSILON, feeds_back: true, ..ActConfig::default() })
    }

    /// `act` in Graves' form with the given ponder cost.
    pub fn act(ponder_cost: f64) -> Self {
        Self::Act(ActConfig { ponder_cost, ..ActConfig::default() })
    }

    /// The same controller with one confidence per node; a stack or shared controller has none and stays as it is.
    #[must_use]
    pub fn node_wise(mut self) -> Self {
        if let Some((scope, _)) = self.confidence_mut() {
            *scope = Scope::Node;
        }
        self
    }

    /// The same controller with states pooled otherwise for a graph's confidence; a stack or shared controller has none
    /// and stays as it is.
    #[must_use]
    pub fn pooled_by(mut self, readout: ReadoutKind) -> Self {
        if let Some((_, pooling)) = self.confidence_mut() {
            *pooling = readout;
        }
        self
    }

    /// What has a confidence of its own, and how states are pooled for a graph's; a stack or shared controller has
    /// none.
    pub fn confidence(&self) -> Option<(Scope, ReadoutKind)> {
        match self {
            Self::Iter(config) | Self::IterDecay(config) => Some((config.scope, config.pooling)),
            Self::Act(config) => Some((config.scope, config.pooling)),
            Self::Stack(_) | Self::Shared(_) => None,
        }
    }

    fn confidence_mut(&mut self) -> Option<(&mut Scope, &mut ReadoutKind)> {
        match self {
            Self::Iter(config) | Self::IterDecay(config) => Some((&mut config.scope, &mut config.pooling)),
            Self::Act(config) => Some((&mut config.scope, &mut config.pooling)),
            Self::Stack(_) | Self::Shared(_) => None,
        }
    }

    /// The same iterative controller after `change`; others stay as they are.
    #[must_use]
    pub fn with_iter(mut self, change: impl FnOnce(&mut IterConfig)) -> Self {
        if let Self::Iter(config) | Self::IterDecay(config) = &mut self {
            change(config);
        }
        self
    }

    /// Most steps of a run (the number of steps, where there is no stopping criterion): `cap` if given, else as
    /// configured for the mode.
    pub fn most_steps(&self, mode: Mode, cap: Option<usize>) -> usize {
        let loops = |training: usize, inference: Option<usize>| match mode {
            Mode::Training => training,
            Mode::Inference => inference.unwrap_or(SAFETY_CAP),
        };
        match *self {
            Self::Stack(config) => config.layers,
            Self::Shared(config) => cap.unwrap_or(match mode {
                Mode::Training => config.steps,
                Mode::Inference => config.inference_steps.unwrap_or(config.steps),
            }),
            Self::Iter(config) | Self::IterDecay(config) => {
                cap.unwrap_or_else(|| loops(config.training_cap, config.inference_cap))
            }
            Self::Act(config) => cap.unwrap_or_else(|| loops(config.training_cap, config.inference_cap)),
        }
    }

    /// The controller of one run: its training form is what the run does. Caps are those of the mode, and only training
    /// settles.
    #[must_use]
    pub fn resolved(mut self, mode: Mode, cap: Option<usize>) -> Self {
        let most = self.most_steps(mode, cap);
        match &mut self {
            Self::Stack(_) => {}
            Self::Shared(config) => config.steps = most,
            Self::Iter(config) | Self::IterDecay(config) => {
                config.training_cap = most;
                config.settle = config.settle.filter(|_| mode == Mode::Training);
            }
            Self::Act(config) => config.training_cap = most,
        }
        self
    }

    /// What is wrong with the parameters, as `(field, why)`.
    pub fn fault(&self) -> Option<(&'static str, String)> {
        let positive = |field, count: usize| (count == 0).then(|| (field, "must be at least 1".to_owned()));
        let probability = |field, value: f64| {
            (!(value > 0.0 && value < 1.0)).then(|| (field, format!("{value} is not between 0 and 1")))
        };
        // The node readout keeps one row per node, where a graph's confidence needs one.
        let pools = |scope: Scope, pooling: ReadoutKind| {
            let apart = scope == Scope::Graph && !pooling.pools();
            let problem = || format!("`{pooling}` does not pool; one confidence per graph needs a pooled state");
            apart.then(|| ("pooling", problem()))
        };
        match self {
            Self::Stack(config) => positive("layers", config.layers),
            Self::Shared(config) => {
                positive("steps", config.steps).or_else(|| positive("inference_steps", config.inference_steps?))
            }
            Self::Iter(config) | Self::IterDecay(config) => probability("epsilon", config.epsilon)
                .or_else(|| {
                    let inside = config.decay > 0.0 && config.decay <= 1.0;
                    (!inside).then(|| ("decay", format!("{} is not in (0, 1]", config.decay)))
                })
                .or_else(|| {
                    let price = config.settle?;
                    (!(price.is_finite() && price >= 0.0)).then(|| ("settle", format!("{price} is not a price")))
                })
                .or_else(|| pools(config.scope, config.pooling))
                .or_else(|| positive("training_cap", config.training_cap))
                .or_else(|| positive("inference_cap", config.inference_cap?)),
            Self::Act(config) => probability("epsilon", config.epsilon)
                .or_else(|| {
                    let price = config.ponder_cost;
                    let fine = price.is_finite() && price >= 0.0;
                    (!fine).then(|| ("ponder_cost", format!("{price} is not a price")))
                })
                .or_else(|| pools(config.scope, config.pooling))
                .or_else(|| positive("training_cap", config.training_cap))
                .or_else(|| positive("inference_cap", config.inference_cap?)),
        }
    }
}

/// The controller in words, with what differs from the paper.
impl fmt::Display for ControllerConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut words, cap) = match self {
            Self::Stack(config) => {
                let begun = if config.copies { " that began as copies" } else { "" };
                (vec![format!("stack of {}{begun}", config.layers)], None)
            }
            Self::Shared(config) => (vec![format!("shared for {} steps", config.steps)], None),
            Self::Iter(config) => (vec!["iter".to_owned()], config.inference_cap),
            Self::IterDecay(config) => (vec![format!("iter-decay {}", config.decay)], config.inference_cap),
            Self::Act(config) => {
                let form = if config.feeds_back { ", fed back" } else { "" };
                (vec![format!("act {}{form}", config.ponder_cost)], config.inference_cap)
            }
        };
        if let Self::Iter(config) | Self::IterDecay(config) = self {
            words.extend(config.normalised.then(|| "normalised".to_owned()));
            words.extend(config.settle.map(|cost| format!("settle {cost}")));
            words.extend(config.scale_free.then(|| "scale-free".to_owned()));
        }
        words.extend(cap.map(|steps| format!("at most {steps} steps")));
        if self.confidence().is_some_and(|(scope, _)| scope == Scope::Node) {
            words.push("one confidence per node".to_owned());
        }
        formatter.write_str(&words.join(", "))
    }
}

/// `iter-decay` reads like `iter`, except that a missing `decay` means the paper's lambda.
mod decayed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::{IterConfig, PAPER_DECAY};

    pub(super) fn serialize<S: Serializer>(config: &IterConfig, serializer: S) -> Result<S::Ok, S::Error> {
        config.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IterConfig, D::Error> {
        let mut fields = serde_json::Map::<String, serde_json::Value>::deserialize(deserializer)?;
        fields.entry("decay").or_insert_with(|| PAPER_DECAY.into());
        serde_json::from_value(fields.into()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iter_decay_without_a_decay_has_the_papers() {
        let config: ControllerConfig = serde_json::from_str(r#"{"kind": "iter-decay"}"#).unwrap();
        assert_eq!(config, ControllerConfig::iter_decay());
        let plain: ControllerConfig = serde_json::from_str(r#"{"kind": "iter"}"#).unwrap();
        assert_eq!(plain, ControllerConfig::iter());
    }

    #[test]
    fn every_controller_survives_json() {
        for config in [
            ControllerConfig::stack(3),
            ControllerConfig::shared(4),
            ControllerConfig::iter().node_wise(),
            ControllerConfig::iter_decay().with_iter(|iter| iter.settle = Some(0.3)),
            ControllerConfig::act(0.1),
        ] {
            let text = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<ControllerConfig>(&text).unwrap(), config, "{text}");
        }
    }

    #[test]
    fn misspelt_fields_are_refused() {
        let error = serde_json::from_str::<ControllerConfig>(r#"{"kind": "iter", "epsilonn": 1e-7}"#).unwrap_err();
        assert!(error.to_string().contains("epsilonn"), "{error}");
    }

    #[test]
    fn faults_are_named() {
        let config = ControllerConfig::iter().with_iter(|iter| iter.epsilon = 2.0);
        assert_eq!(config.fault(), Some(("epsilon", "2 is not between 0 and 1".to_owned())));
        assert_eq!(ControllerConfig::iter_decay().fault(), None);
        let unpooled = ControllerConfig::iter().with_iter(|iter| iter.pooling = ReadoutKind::Node);
        assert_eq!(unpooled.fault().map(|(field, _)| field), Some("pooling"));
        assert_eq!(unpooled.node_wise().fault(), None);
    }
}
