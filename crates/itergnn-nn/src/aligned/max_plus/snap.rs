//! From a fitted model to the whole-number rule it approximates.

use super::MaxPlusModel;
use super::inference::Ground;
use super::model::{ABSENT, FLOOR};
use super::rule::Rule;
use crate::aligned::parameter::{host, replaced};
use crate::{GraphTensors, ReadoutKind, RunOptions};

/// A slope this near to a whole number is meant to be it.
const NEAR: f64 = 0.05;

/// Smaller weights take no part.
const USED: f64 = 1e-4;

/// Errors below this share of the mean label are those of `f32` labels.
const ROUNDING: f64 = 1e-6;

/// All channels that start from one class and travel one way are proportional to each other: one that drifts and one
/// that does not can do their work.
#[derive(Debug, Clone)]
struct Group {
    class: usize,
    drifting: Option<usize>,
    free: Option<usize>,
    /// What a unit of distance adds to the prediction.
    slope: f64,
    /// Whether the prediction demands that the wave has arrived.
    gate: bool,
    /// Whether the stop does.
    stop: bool,
}

/// How a model does on samples.
#[derive(Debug, Clone, Copy)]
struct Judged {
    worst: f64,
    steps: usize,
    capped: usize,
}

impl Judged {
    fn is_no_worse_than(self, other: Self) -> bool {
        self.worst <= other.worst && self.steps <= other.steps && self.capped <= other.capped
    }
}

impl MaxPlusModel {
    /// The model with whole slopes, one channel for each class and kind, and only the gates that matter; `None` if its
    /// slopes are not near whole numbers, or if that would do worse on the samples.
    pub(super) fn snapped(&self, graph: &GraphTensors, targets: &[f64]) -> Option<Self> {
        if self.config.readout == ReadoutKind::Node || self.config.output_width != 1 {
            return None;
        }
        let mut groups = self.groups()?;
        let mean = targets.iter().map(|target| target.abs()).sum::<f64>() / targets.len().max(1) as f64;
        let judge = |model: &Self| {
            let judged = model.judge(graph, targets);
            Judged { worst: judged.worst.max(ROUNDING * mean), ..judged }
        };
        let mut best = self.rebuilt(&groups)?;
        let mut judged = judge(&best);
        if !judged.is_no_worse_than(judge(self)) {
            return None;
        }
        for (index, is_stop) in (0..groups.len()).flat_map(|index| [(index, false), (index, true)]) {
            let mut fewer = groups.clone();
            let gate = if is_stop { &mut fewer[index].stop } else { &mut fewer[index].gate };
            if !std::mem::replace(gate, false) {
                continue;
            }
            let Some(model) = self.rebuilt(&fewer) else { continue };
            let found = judge(&model);
            if found.is_no_worse_than(judged) {
                (best, judged, groups) = (model, found, fewer);
            }
        }
        Some(best)
    }

    /// What the channels do together, slopes rounded.
    fn groups(&self) -> Option<Vec<Group>> {
        let (rule, channels) = (Rule::whole(self), self.config.channels);
        let drifting = host(&self.drifting);
        let mut groups: Vec<Group> = Vec::new();
        let mut sides: Vec<bool> = Vec::new();
        for channel in 0..channels {
            let classes: Vec<usize> =
                (0..rule.classes).filter(|class| rule.start[class * channels + channel] > ABSENT / 2.0).collect();
            let column = |rows: &[f64], weights: &[f64]| -> f64 {
                rows.chunks_exact(channels).zip(weights).map(|(row, weight)| row[channel] * weight).sum()
            };
            let absolute: Vec<f64> = rule.head.iter().map(|weight| weight.abs()).collect();
            let (output, stop) =
                (column(&rule.read, &absolute), column(&rule.confidence_read, &rule.confidence_weight));
            if output <= USED && stop <= USED {
                continue;
            }
            let &[class] = &classes[..] else { return None };
            let against = channel >= rule.first_against;
            let place = groups.iter().zip(&sides).position(|(group, &side)| group.class == class && side == against);
            let place = place.unwrap_or_else(|| {
                groups.push(Group { class, drifting: None, free: None, slope: 0.0, gate: false, stop: false });
                sides.push(against);
                groups.len() - 1
            });
            let group = &mut groups[place];
            if drifting[channel] > 0.5 {
                group.drifting.get_or_insert(channel);
                group.slope += column(&rule.read, &rule.head) * rule.rates[channel];
            } else {
                group.free.get_or_insert(channel);
                group.gate |= output > USED;
                group.stop |= stop > USED;
            }
        }
        for group in &mut groups {
            let rounded = group.slope.round();
            if (group.slope - rounded).abs() > NEAR || rounded < 0.0 {
                return None;
            }
            group.slope = rounded;
        }
        // Without any slope there is nothing to make whole.
        groups.iter().any(|group| group.slope > 0.0).then_some(groups)
    }

    /// A model that does what the groups say and nothing else; `None` if it would never stop.
    fn rebuilt(&self, groups: &[Group]) -> Option<Self> {
        let (config, channels, classes) = (&self.config, self.config.channels, self.config.node_width);
        let waits = self.waits();
        if !waits && !groups.iter().any(|group| group.stop) {
            return None;
        }
        let (mut embedding, mut absent, mut rate) = (host(&self.embedding), host(&self.absent), host(&self.rate));
        let mut read = vec![0.0; config.heads * channels];
        let mut confidence_read = vec![0.0; config.confidence_heads * channels];
        for group in groups {
            for channel in group.drifting.into_iter().chain(group.free) {
                for class in 0..classes {
                    let own = class == group.class;
                    embedding[channel * classes + class] = if own { 0.0 } else { -FLOOR };
                    absent[channel * classes + class] = f64::from(u8::from(!own));
                }
            }
            if let Some(channel) = group.drifting {
                rate[channel] = -1.0;
                read[channel] = group.slope;
            }
            if let Some(channel) = group.free {
                read[channel] = f64::from(u8::from(group.gate));
                confidence_read[channel] = f64::from(u8::from(group.stop));
            }
        }
        let first = |count: usize, value: f64| {
            let mut values = vec![0.0; count];
            values[0] = value;
            values
        };
        let mut model = self.clone();
        model.embedding = replaced(model.embedding, embedding);
        model.absent = replaced(model.absent, absent);
        model.rate = replaced(model.rate, rate);
        model.read = replaced(model.read, read);
        model.head = replaced(model.head, first(config.heads, -1.0));
        model.confidence_read = replaced(model.confidence_read, confidence_read);
        model.confidence_weight = replaced(model.confidence_weight, first(config.confidence_heads, 1.0));
        // Halfway between what stops and what does not; the gain of 100 makes both exact.
        model.confidence_bias = replaced(model.confidence_bias, vec![0.5]);
        model.confidence_changed = replaced(model.confidence_changed, vec![f64::from(u8::from(waits))]);
        Some(model.silenced())
    }

    /// The model with a stop that is exactly "nothing changes any more", if it has learned to wait for that; `None` if
    /// it has not, or if that would do worse on the samples.
    ///
    /// A learned stop is often soft: nothing is paid for a confidence of .5 once the state has settled, and 24 more
    /// steps follow in which nothing happens.
    pub(super) fn with_settled_stop(&self, graph: &GraphTensors, targets: &[f64]) -> Option<Self> {
        if self.config.readout == ReadoutKind::Node || self.config.output_width != 1 || !self.waits() {
            return None;
        }
        let mut model = self.clone();
        model.confidence_read =
            replaced(model.confidence_read, vec![0.0; self.config.confidence_heads * self.config.channels]);
        model.confidence_bias = replaced(model.confidence_bias, vec![0.5]);
        model.confidence_changed = replaced(model.confidence_changed, vec![1.0]);
        let model = model.silenced();
        let slack = ROUNDING * targets.iter().map(|target| target.abs()).sum::<f64>() / targets.len().max(1) as f64;
        let (before, after) = (self.judge(graph, targets), model.judge(graph, targets));
        after.is_no_worse_than(Judged { worst: before.worst + slack, ..before }).then_some(model)
    }

    /// Whether the confidence falls below one half while anything changes, whatever else it sees.
    fn waits(&self) -> bool {
        self.config.residual && host(&self.confidence_changed)[0] > host(&self.confidence_bias)[0]
    }

    /// The model with channels that no prediction and no stop reads absent everywhere, so that they never change and
    /// cost nothing.
    fn silenced(mut self) -> Self {
        let (rule, channels, classes) = (Rule::whole(&self), self.config.channels, self.config.node_width);
        let mut absent = host(&self.absent);
        for channel in (0..channels).filter(|&channel| !rule.is_read(channel)) {
            absent[channel * classes..(channel + 1) * classes].fill(1.0);
        }
        self.absent = replaced(self.absent, absent);
        self
    }

    fn judge(&self, graph: &GraphTensors, targets: &[f64]) -> Judged {
        let rule = Rule::read(self);
        let ground = Ground::new(&rule, graph);
        let mut judged = Judged { worst: 0.0, steps: 0, capped: 0 };
        for (index, (nodes, target)) in graph.node_segments().iter().zip(targets).enumerate() {
            let end = ground.run(&rule, index, nodes, &RunOptions::inference());
            judged.worst = judged.worst.max((rule.predict(&end.state)[0] - target).abs());
            judged.steps += end.steps;
            judged.capped += usize::from(end.capped);
        }
        judged
    }
}
