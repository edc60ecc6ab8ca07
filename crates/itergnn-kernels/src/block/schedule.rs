//! The weights with which the states of an iterative block enter its output.

use crate::real::Real;
use crate::settings::IterConfig;

/// The confidences of one unit and the weights that follow from them.
///
/// With `left_0 = 1` and `left_k = decay (1 - c_k) left_(k-1)` the state of step `k` of `K` has the weight `decay^(K -
/// k) left_(k-1) c_k`. Where `K` is the cap, `left_(K-1)` is the *unspent* mass of the unit, and [`IterConfig::settle`]
/// makes it the weight of the last step. [`IterConfig::normalised`] then divides all weights by their sum.
#[derive(Debug, Clone)]
pub(crate) struct Schedule<T> {
    /// Whether every step is remembered, for the way back; otherwise memory is constant.
    recording: bool,
    iterations: usize,
    confidences: Vec<T>,
    /// `left_0 .. left_(K-1)`.
    left: Vec<T>,
    last_confidence: T,
    /// `left_K` and `left_(K-1)`.
    remaining: T,
    before: T,
    weights: Vec<T>,
    /// Sum of the weights so far.
    spent: T,
    /// What the weights were divided by.
    total: T,
    /// Whether the last allowed iteration was done, and whether it left more than epsilon.
    at_cap: bool,
    capped: bool,
}

impl<T: Real> Schedule<T> {
    /// No iteration yet.
    pub(crate) fn new(recording: bool) -> Self {
        Self {
            recording,
            iterations: 0,
            confidences: Vec::new(),
            left: Vec::new(),
            last_confidence: T::ZERO,
            remaining: T::ONE,
            before: T::ONE,
            weights: Vec::new(),
            spent: T::ZERO,
            total: T::ONE,
            at_cap: false,
            capped: false,
        }
    }

    /// Iterations done so far.
    pub(crate) fn iterations(&self) -> usize {
        self.iterations
    }

    /// Confidence of the last iteration; zero before the first.
    pub(crate) fn last_confidence(&self) -> T {
        self.last_confidence
    }

    /// Mass not yet given to any step.
    pub(crate) fn remaining(&self) -> T {
        self.remaining
    }

    /// Mass in front of the last allowed iteration; zero for a unit that did not need it.
    pub(crate) fn unspent(&self) -> T {
        if self.at_cap { self.before } else { T::ZERO }
    }

    /// Whether the cap ended the iteration.
    pub(crate) fn capped(&self) -> bool {
        self.capped
    }

    /// Whether another iteration is due.
    pub(crate) fn is_running(&self, options: &IterConfig) -> bool {
        self.remaining > T::from_f64(options.epsilon) && self.iterations < options.training_cap
    }

    /// Notes the confidence of one more iteration; returns the weight of its state in the running sum, which decays by
    /// [`IterConfig::decay`].
    pub(crate) fn push(&mut self, confidence: T, options: &IterConfig) -> T {
        let decay = T::from_f64(options.decay);
        self.iterations += 1;
        self.last_confidence = confidence;
        self.before = self.remaining;
        if self.recording {
            self.confidences.push(confidence);
            self.left.push(self.before);
        }
        self.remaining = decay * (T::ONE - confidence) * self.before;
        let settles = options.settle.is_some() && self.iterations == options.training_cap;
        let weight = if settles { self.before } else { self.before * confidence };
        self.spent = decay * self.spent + weight;
        weight
    }

    /// What the running sum is divided by in the end.
    pub(crate) fn divisor(&self, options: &IterConfig) -> T {
        if options.normalised && self.spent > T::ZERO { self.spent } else { T::ONE }
    }

    /// Computes what is known only at the end: whether the cap was met and, when recording, the weights.
    pub(crate) fn finish(&mut self, options: &IterConfig) {
        self.at_cap = self.iterations > 0 && self.iterations == options.training_cap;
        self.capped = self.at_cap && self.remaining > T::from_f64(options.epsilon);
        if !self.recording {
            return;
        }
        let steps = self.iterations;
        self.weights = vec![T::ZERO; steps];
        let mut faded = T::ONE;
        for step in (0..steps).rev() {
            self.weights[step] = faded * self.left[step] * self.confidences[step];
            faded *= T::from_f64(options.decay);
        }
        if options.settle.is_some() && self.at_cap {
            self.weights[steps - 1] = self.left[steps - 1];
        }
        if options.normalised && steps > 0 {
            let total = self.weights.iter().fold(T::ZERO, |sum, &weight| sum + weight);
            if total > T::ZERO {
                self.total = total;
                self.weights.iter_mut().for_each(|weight| *weight = *weight / total);
            }
        }
    }

    /// Weight of the state after iteration `step + 1`; zero for iterations after the unit was done.
    pub(crate) fn weight(&self, step: usize) -> T {
        self.weights.get(step).copied().unwrap_or(T::ZERO)
    }

    /// Starts the way back from the gradient of the unspent mass and the product of the output with its gradient.
    pub(crate) fn backward(&self, unspent: T, output_product: T, options: &IterConfig) -> ScheduleBackward {
        ScheduleBackward {
            unspent: if self.at_cap { unspent.to_f64() } else { 0.0 },
            left: 0.0,
            faded: 1.0,
            shared: if options.normalised { output_product.to_f64() } else { 0.0 },
        }
    }

    /// Gradient of the logit of iteration `step + 1` from the gradient of its weight, which is the product of that
    /// state with the gradient of the output. Must be called for the last step first.
    pub(crate) fn step_backward(
        &self,
        state: &mut ScheduleBackward,
        step: usize,
        weight: T,
        options: &IterConfig,
    ) -> T {
        let (confidence, left) = (self.confidences[step].to_f64(), self.left[step].to_f64());
        let raw = (weight.to_f64() - state.shared) / self.total.to_f64();
        let product = state.faded * raw;
        state.faded *= options.decay;
        if step + 1 == self.iterations() && options.settle.is_some() && self.at_cap {
            // The weight is all that was left, whatever the confidence.
            state.left = product + state.unspent;
            return T::ZERO;
        }
        let gradient = product * left - state.left * options.decay * left;
        state.left = product * confidence + state.left * options.decay * (1.0 - confidence);
        if step + 1 == self.iterations() {
            state.left += state.unspent;
        }
        T::from_f64(gradient * confidence * (1.0 - confidence))
    }
}

/// What [`Schedule::step_backward`] carries from step to step; in double precision because it is a handful of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScheduleBackward {
    unspent: f64,
    left: f64,
    faded: f64,
    shared: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of a few dozen products in double precision.
    const ROUNDING: f64 = 1e-12;

    fn schedule(confidences: &[f64], options: &IterConfig) -> Schedule<f64> {
        let mut schedule = Schedule::new(true);
        for &confidence in confidences {
            schedule.push(confidence, options);
        }
        schedule.finish(options);
        schedule
    }

    #[test]
    fn weights_equal_the_recursion_of_the_paper() {
        let options = IterConfig { decay: 0.9, training_cap: 4, ..IterConfig::default() };
        let confidences = [0.1, 0.3, 0.2, 0.6];
        let states = [1.0, -2.0, 5.0, 0.5];
        let (mut output, mut left) = (0.0, 1.0);
        for (confidence, state) in confidences.iter().zip(states) {
            output = 0.9 * output + left * confidence * state;
            left *= 0.9 * (1.0 - confidence);
        }
        let schedule = schedule(&confidences, &options);
        let weighted: f64 = states.iter().enumerate().map(|(step, state)| schedule.weight(step) * state).sum();
        assert!((weighted - output).abs() < ROUNDING);
        assert!((schedule.remaining() - left).abs() < ROUNDING);
        assert!(schedule.capped());
    }

    #[test]
    fn normalised_weights_sum_to_one_and_settling_spends_everything() {
        let options = IterConfig { decay: 1.0, training_cap: 3, settle: Some(0.0), ..IterConfig::default() };
        let settled = schedule(&[0.1, 0.2, 0.3], &options);
        let sum: f64 = (0..3).map(|step| settled.weight(step)).sum();
        assert!((sum - 1.0).abs() < ROUNDING);
        let normalised = schedule(&[0.1, 0.2, 0.3], &IterConfig { normalised: true, settle: None, ..options });
        let sum: f64 = (0..3).map(|step| normalised.weight(step)).sum();
        assert!((sum - 1.0).abs() < ROUNDING);
    }
}
