//! How the messages to a node become one vector.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use itergnn_kernels::settings::Aggregation;

use crate::init::InitRng;
use crate::ops::{
    Segments, segment_max, segment_mean, segment_min, segment_scale_invariant_softmax,
    segment_scale_invariant_sparsemax, segment_softmax, segment_sparsemax, segment_sum,
};

/// An aggregation with the weights of its score, if it has one: `agg = sum over k of w_k m_k`, `w = softmax(keys a +
/// b)`.
///
/// When `homogeneous`, the score has no bias and its softmax is scale-invariant, so that the aggregate scales as the
/// messages do.
#[derive(Module, Debug)]
pub struct Aggregator {
    /// The linear map from an edge's inputs to its score; none for rules without score.
    pub score: Option<Linear>,
    /// The rule.
    #[module(skip)]
    pub rule: Aggregation,
    /// Whether weights must not depend on the scale of the scores.
    pub scale_invariant: bool,
}

impl Aggregator {
    /// An aggregator whose score reads keys of `key_width` features.
    pub fn init(rule: Aggregation, key_width: usize, homogeneous: bool, device: &Device, rng: &mut InitRng) -> Self {
        let score = rule.has_score().then(|| rng.linear(key_width, 1, !homogeneous, device));
        Self { score, rule, scale_invariant: homogeneous }
    }

    /// Aggregates the messages of each segment; `keys` are computed only for a rule that scores them.
    ///
    /// # Shapes
    ///
    /// - messages: `[edges, width]`
    /// - keys: `[edges, key width]`
    /// - output: `[segments, width]`, 0 for an empty segment
    pub fn forward(&self, messages: Tensor<2>, keys: impl FnOnce() -> Tensor<2>, segments: &Segments) -> Tensor<2> {
        match self.rule {
            Aggregation::Max => segment_max(messages, segments),
            Aggregation::Min => segment_min(messages, segments),
            Aggregation::Sum => segment_sum(messages, segments),
            Aggregation::Mean => segment_mean(messages, segments),
            Aggregation::Attention | Aggregation::Sparsemax => {
                let score = self.score.as_ref().expect("rules with weights are made with a score");
                segment_sum(self.weights(score.forward(keys()), segments) * messages, segments)
            }
        }
    }

    /// The weight of every edge: `[edges, heads]`, summing to 1 over each segment.
    fn weights(&self, scores: Tensor<2>, segments: &Segments) -> Tensor<2> {
        match (self.rule, self.scale_invariant) {
            (Aggregation::Sparsemax, true) => segment_scale_invariant_sparsemax(scores, segments),
            (Aggregation::Sparsemax, false) => segment_sparsemax(scores, segments),
            (_, true) => segment_scale_invariant_softmax(scores, segments),
            (_, false) => segment_softmax(scores, segments),
        }
    }
}
