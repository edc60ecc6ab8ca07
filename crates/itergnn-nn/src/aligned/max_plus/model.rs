//! Parameters of a max-plus model and their schedule.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};

use super::MaxPlusConfig;
use super::all_ends::{AllLengths, FixedEnd, PairLengths, lengths_to_all};
use super::gate::Gate;
use super::inference::infer;
use super::rule::Rule;
use super::training::train_pass;
use crate::aligned::Refit;
use crate::aligned::parameter::{host, replaced};
use crate::architecture::{Architecture, Settings};
use crate::controllers::{Mode, RunOptions};
use crate::{Error, GraphTensors, InitRng, ModelOutput};

/// The max-plus zero of a finished model: finite, so that no weight times it is undefined, and beyond any sum of
/// weights.
pub(super) const ABSENT: f64 = -1e30;

/// How far below zero an absent value lies at first. Far enough that the waves of training graphs (30 steps of at most
/// 1.5) do not reach it.
pub(super) const FLOOR: f64 = 100.0;

/// Factor on the logit of the confidence at first: it is learned faster than the rest.
const GAIN: f64 = 10.0;

/// Share of the training at which hardening begins, and at which it is complete.
const HARDENING: (f64, f64) = (0.3, 0.6);

/// Factors by which hardening lowers the absent level and raises the gain, geometrically.
const HARDENED: (f64, f64) = (100.0, 10.0);

/// Share of the training after which output weights are free of charge.
const SPARSE_UNTIL: f64 = 0.75;

/// Largest initial loss an edge of unit weight inflicts on a drifting channel.
const LARGEST_RATE: f64 = 1.5;

/// Waves that travel by addition and maximum, a learned moment to read them, and a linear head.
///
/// With scale `s` the largest node attribute of a graph and `w` the weight of an edge:
/// ```text
/// h0[v, c] = s E[c, class of v]                                E[c, :] = e[c, :] - max e[c, :]
/// h[r, c]  = max(h[r, c], max over s -> r of h[s, c] + t[c] w - toll[s] - toll[r])     t <= 0
/// q[j]     = max over v of (V h_v)[j] / (100 s),   c = sigmoid(gain (cw . q + cb - cr changed))      V, cw >= 0
/// y        = max over v of (U sum_k p_k h^k_v) A                    U >= 0, p_k = c_k prod_{i<k} (1 - c_i)
/// ```
/// The class of a node is the place of its largest attribute. Channels are drift-free (`t = 0`) or drifting, which is
/// drawn at the start, as is the one class whose nodes a channel starts from. `V` reads drift-free channels only: they
/// are bounded, so the stop cannot depend on the size of a graph. Tolls are 0 without continuous attributes
/// ([`MaxPlusConfig::attributes`]); with them, a learned gate decides which nodes can be passed: at the end of training
/// a toll is 0 or infinite, for those who enter as for those who leave. `changed` is 1 while any state changes, and
/// read with [`MaxPlusConfig::residual`] only.
///
/// In training, entries of `E` harden to absent and the confidence to exact zeros and ones
/// ([`Architecture::at_progress`]); afterwards [`Architecture::finish`] removes what does nothing and fits the head.
/// Only a finished model extrapolates.
///
/// Positively homogeneous of degree 1 in node and edge attributes together, the confidence of degree 0
/// (`predictions_scale_and_iterations_do_not` in `tests/max_plus.rs`).
///
/// # Shapes
/// Node attributes `[nodes, attributes + classes]`, edge attributes `[edges, 1]`, output `[graphs, output]` or `[nodes,
/// output]`.
#[derive(Module, Debug)]
pub struct MaxPlusModel {
    pub(super) embedding: Param<Tensor<2>>,
    pub(super) rate: Param<Tensor<2>>,
    pub(super) read: Param<Tensor<2>>,
    pub(super) head: Param<Tensor<2>>,
    pub(super) confidence_read: Param<Tensor<2>>,
    pub(super) confidence_weight: Param<Tensor<2>>,
    pub(super) confidence_bias: Param<Tensor<2>>,
    pub(super) confidence_changed: Param<Tensor<2>>,
    /// Which nodes can be passed, if they have continuous attributes.
    pub(super) gate: Option<Gate>,
    /// 1 for drifting channels; drawn, not learned.
    pub(super) drifting: Param<Tensor<2>>,
    /// 1 for entries of the embedding that have hardened.
    pub(super) absent: Param<Tensor<2>>,
    /// The [`Stage`], as numbers, so that it is saved with the rest.
    pub(super) stage: Param<Tensor<1>>,
    #[module(skip)]
    pub(super) config: MaxPlusConfig,
}

/// How far training has come, as far as the formulas depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stage {
    /// Whether hardening has begun: which entries are absent is decided, and confidences have exact zeros and ones.
    pub(super) hard: bool,
    /// The value of absent entries.
    pub(super) level: f64,
    /// Factor on the logit of the confidence.
    pub(super) gain: f64,
    /// Whether output weights cost something.
    pub(super) sparse: bool,
}

impl Stage {
    const FIRST: Self = Self { hard: false, level: -FLOOR, gain: GAIN, sparse: true };

    fn numbers(self) -> Vec<f64> {
        vec![f64::from(u8::from(self.hard)), self.level, self.gain, f64::from(u8::from(self.sparse))]
    }
}

impl Architecture for MaxPlusModel {
    type Settings = MaxPlusConfig;

    fn new(config: &MaxPlusConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let (channels, classes, heads) = (config.channels, config.node_width, config.heads);
        let drifting: Vec<f64> = (0..channels).map(|_| f64::from(u8::from(unit(rng) >= config.drift_free))).collect();
        let rate = (0..channels).map(|_| -LARGEST_RATE * unit(rng)).collect();
        let mut embedding = vec![-FLOOR; channels * classes];
        for channel in embedding.chunks_exact_mut(classes) {
            channel[(unit(rng) * classes as f64) as usize] = 0.0;
        }
        let mut uniform = |rows: usize, columns: usize| -> Vec<f64> {
            (0..rows * columns).map(|_| 2.0 / columns as f64 * unit(rng)).collect()
        };
        let read = uniform(heads, channels);
        let confidence_read = uniform(config.confidence_heads, channels);
        let confidence_weight = uniform(1, config.confidence_heads);
        // Heads of both signs, by turns: states are at most 0, so with one sign alone every weight of `read` may be
        // driven to 0 in the first steps, from where no gradient leads back (measured on lobsters: 2 of 16 seeds, those
        // with four positive heads).
        let sign = |index: usize| if (index / config.output_width).is_multiple_of(2) { -1.0 } else { 1.0 };
        let deviation = 1.0 / (heads as f64).sqrt();
        let head = (0..heads * config.output_width).map(|index| sign(index) * deviation * normal(rng).abs()).collect();
        let learned = |values: Vec<f64>, rows: usize| {
            let columns = values.len() / rows;
            Param::from_data(TensorData::new(values, [rows, columns]), device)
        };
        let fixed = |values, rows| learned(values, rows).set_require_grad(false);
        Ok(Self {
            embedding: learned(embedding, channels),
            rate: learned(rate, 1),
            read: learned(read, heads),
            head: learned(head, heads),
            confidence_read: learned(confidence_read, config.confidence_heads),
            confidence_weight: learned(confidence_weight, config.confidence_heads),
            confidence_bias: learned(vec![0.0], 1),
            confidence_changed: learned(vec![0.0], 1),
            gate: (config.attributes > 0).then(|| Gate::new(config.attributes, device)),
            drifting: fixed(drifting, 1),
            absent: fixed(vec![0.0; channels * classes], channels),
            stage: Param::from_data(TensorData::new(Stage::FIRST.numbers(), [4]), device).set_require_grad(false),
            config: config.clone(),
        })
    }

    /// Runs the model on a batch.
    ///
    /// In training mode every step up to the cap is taken as tensor operations. At inference each graph runs on the
    /// host until it stops, in double precision, and `hidden` holds only the channels that a prediction depends on.
    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        match options.mode {
            Mode::Training => Ok(train_pass(self, graph, options.cap.unwrap_or(self.config.training_cap))),
            Mode::Inference => Ok(infer(&Rule::read(self), graph, options)),
        }
    }

    /// The model as it should be when `fraction` of the training is done; to be called before every step.
    ///
    /// From 30% to 60%, geometrically, the level of absent entries goes from -100 to -10,000 and the gain of the
    /// confidence from 10 to 100. Entries of `E` below -50 at the beginning of that are absent from then on. After 75%
    /// output weights cost nothing any more.
    fn at_progress(self, fraction: f64) -> Self {
        let mut stage = Stage { sparse: fraction < SPARSE_UNTIL, ..self.stage() };
        let mut model = self;
        if fraction >= HARDENING.0 {
            let part = ((fraction - HARDENING.0) / (HARDENING.1 - HARDENING.0)).min(1.0);
            model = model.with_absent_entries();
            stage = Stage {
                hard: true,
                level: -FLOOR * HARDENED.0.powf(part),
                gain: GAIN * HARDENED.1.powf(part),
                ..stage
            };
        }
        model.with_stage(stage)
    }

    fn finish(self, graph: &GraphTensors, targets: &[f64]) -> Result<(Self, Option<Refit>), Error> {
        let (model, refit) = self.refitted(graph, targets)?;
        Ok((model, Some(refit)))
    }

    fn lengths_to_all(&self, graph: &GraphTensors, fixed: FixedEnd) -> Option<AllLengths> {
        lengths_to_all(self, graph, fixed)
    }

    fn pair_lengths(&self, graph: &GraphTensors) -> Option<PairLengths> {
        PairLengths::new(self, graph)
    }
}

impl MaxPlusModel {
    /// The model at the end of its training: absent entries are as good as minus infinity, confidences as sharp as they
    /// get.
    #[must_use]
    pub(super) fn hardened(self) -> Self {
        let model = self.with_absent_entries();
        model.with_stage(Stage { hard: true, level: ABSENT, gain: GAIN * HARDENED.1, sparse: false })
    }

    /// Decides which entries of the embedding are absent, unless that is decided.
    fn with_absent_entries(mut self) -> Self {
        if !self.stage().hard {
            let absent = Rule::embedding(&self).into_iter().map(|entry| f64::from(u8::from(entry <= -FLOOR / 2.0)));
            self.absent = replaced(self.absent, absent.collect());
        }
        self
    }

    fn with_stage(mut self, stage: Stage) -> Self {
        if stage != self.stage() {
            self.stage = replaced(self.stage, stage.numbers());
        }
        self
    }

    pub(super) fn stage(&self) -> Stage {
        let numbers = host(&self.stage);
        Stage { hard: numbers[0] > 0.5, level: numbers[1], gain: numbers[2], sparse: numbers[3] > 0.5 }
    }
}

/// A number uniform in [0, 1).
fn unit(rng: &mut InitRng) -> f64 {
    f64::from(rng.symmetric(0.5)) + 0.5
}

/// A normal number, by Box and Muller.
fn normal(rng: &mut InitRng) -> f64 {
    let (radius, angle) = (1.0 - unit(rng), unit(rng));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
