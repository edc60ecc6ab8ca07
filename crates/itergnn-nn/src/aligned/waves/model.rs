//! Parameters of a wave model and their schedule.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};

use super::inference::infer;
use super::training::train_pass;
use super::{Scaling, WaveConfig};
use crate::aligned::Refit;
use crate::aligned::parameter::{host, replaced};
use crate::architecture::{Architecture, Settings};
use crate::controllers::{Mode, RunOptions};
use crate::{Error, GraphTensors, InitRng, ModelOutput};

/// Factor on the logits of the tests at first.
const GAIN: f64 = 10.0;

/// Share of the training at which hardening begins, and at which it is complete.
const HARDENING: (f64, f64) = (0.3, 0.6);

/// Factor by which hardening raises the gain, geometrically.
const HARDENED: f64 = 10.0;

/// Initial weights of the maps lie within this share of what keeps the size of their input.
const MAP_SCALE: f64 = 0.1;

/// Waves that run until nothing changes, read by a tree of linear maps.
///
/// With `x_v` the attributes of a node and `w` those of its incoming edges:
/// ```text
/// l_v     = [x_v ; max w ; min w]                                    what a node sees
/// s[v, c] = A_c . l_v                                                how strong a wave it starts
/// h[r, c] = max(h[r, c], max over s -> r of h[s, c])                 from h = s, until nothing changes
/// t[v, c] = the step in which h[v, c] got its last value, 0 for an origin;   k[v, c] = 1 if t[v, c] = 0
/// f       = [l_v ; h_v]                       if the target is proportional
/// f       = [1 ; sum or max over v of (1, k_v, t_v)]       if it is invariant
/// y       = M_leaf f,   leaf by tests   g . f + b . k > 0
/// ```
/// In training a test is a sigmoid of `gain (g . f / |f| + b . k)`, and `y` the mean over leaves; the gain rises
/// ([`Architecture::at_progress`]), and [`Architecture::finish`] makes the tests exact. The gradient reaches `A`
/// through `h`: a strength is a linear function of `A` as long as the origin stays the same.
///
/// Positively homogeneous in node and edge attributes together: of degree 1 if proportional, of degree 0 if invariant,
/// the number of steps always of degree 0 (`answers_scale_as_they_should` in `tests/waves.rs`).
///
/// # Shapes
/// Node attributes `[nodes, node width]`, edge attributes `[edges, edge width]`, output `[graphs, output]` or `[nodes,
/// output]`.
#[derive(Module, Debug)]
pub struct WaveModel {
    /// `A`, `[channels, local width]`.
    pub(super) start: Param<Tensor<2>>,
    /// `g` and `b` of every test in heap order, `[tests, features + channels]`.
    pub(super) tests: Param<Tensor<2>>,
    /// `M` of every leaf from left to right, `[leaves * features, output]`.
    pub(super) maps: Param<Tensor<2>>,
    /// Whether tests are exact, and their gain.
    pub(super) stage: Param<Tensor<1>>,
    #[module(skip)]
    pub(super) config: WaveConfig,
}

impl Architecture for WaveModel {
    type Settings = WaveConfig;

    fn new(config: &WaveConfig, device: &Device, rng: &mut InitRng) -> Result<Self, Error> {
        config.validate()?;
        let (locals, channels, features) = (config.local_width(), config.channels, config.feature_width());
        // Largest and smallest value of everything a node sees, by turns, so that nothing is left out.
        let mut start = vec![0.0; channels * locals];
        for (channel, row) in start.chunks_exact_mut(locals).enumerate() {
            row[channel / 2 % locals] = if channel.is_multiple_of(2) { 1.0 } else { -1.0 };
        }
        let tests = (config.leaves() - 1).max(1);
        let tests: Vec<f64> = (0..tests * (features + channels)).map(|_| f64::from(rng.symmetric(1.0))).collect();
        let bound = MAP_SCALE / (features as f64).sqrt();
        let maps = (0..config.leaves() * features * config.output_width).map(|_| f64::from(rng.symmetric(bound)));
        let learned = |values: Vec<f64>, columns: usize, learns: bool| {
            let rows = values.len() / columns;
            Param::from_data(TensorData::new(values, [rows, columns]), device).set_require_grad(learns)
        };
        Ok(Self {
            // Origins and steps do not change when a direction does, by however little: there is no gradient to follow.
            start: learned(start, locals, config.scaling == Scaling::Proportional),
            tests: learned(tests, features + channels, config.depth > 0),
            maps: learned(maps.collect(), config.output_width, true),
            stage: Param::from_data(TensorData::new(vec![0.0, GAIN], [2]), device).set_require_grad(false),
            config: config.clone(),
        })
    }

    /// Runs the model on a batch.
    ///
    /// In training mode waves always settle. At inference a cap ends them on their way.
    ///
    fn forward(&self, graph: &GraphTensors, options: &RunOptions) -> Result<ModelOutput, Error> {
        match options.mode {
            Mode::Training => Ok(train_pass(self, graph)),
            Mode::Inference => Ok(infer(self, graph, options)),
        }
    }

    /// The model as it should be when `fraction` of the training is done; to be called before every step. From 30% to
    /// 60% the gain of the tests goes from 10 to 100.
    fn at_progress(self, fraction: f64) -> Self {
        let part = ((fraction - HARDENING.0) / (HARDENING.1 - HARDENING.0)).clamp(0.0, 1.0);
        self.with_stage(false, GAIN * HARDENED.powf(part))
    }

    /// The model at the end of its training, made exact with training samples: a batch of graphs and the targets of all
    /// rows (graphs or nodes), NaN where a row has none. For classes a target is the number of the class.
    ///
    /// 1. Every direction of a wave becomes the axis it is nearest to, unless that costs accuracy.
    /// 2. The samples are divided among linear maps so that each follows one exactly, beginning with the leaves of the
    ///    trained tree.
    /// 3. The smallest tree is searched whose leaves each hold samples of one map; a test is either 'is an origin of
    ///    wave c' or 'which of two maps gives more', since two maps agree where one takes over from the other without a
    ///    jump.
    /// 4. Maps are fitted to their leaves by least squares; terms that do nothing go, weights near whole numbers become
    ///    whole if that costs nothing.
    ///
    /// # Errors
    /// [`Error::Graph`] if there is not one target for each row.
    fn finish(self, graph: &GraphTensors, targets: &[f64]) -> Result<(Self, Option<Refit>), Error> {
        let (model, refit) = super::refit::finish(self, graph, targets)?;
        Ok((model, Some(refit)))
    }
}

impl WaveModel {
    pub(super) fn with_stage(mut self, hard: bool, gain: f64) -> Self {
        if self.stage() != (hard, gain) {
            self.stage = replaced(self.stage, vec![f64::from(u8::from(hard)), gain]);
        }
        self
    }

    /// Whether tests are exact, and their gain.
    pub(super) fn stage(&self) -> (bool, f64) {
        let numbers = host(&self.stage);
        (numbers[0] > 0.5, numbers[1])
    }
}
