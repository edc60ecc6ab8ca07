//! Where exactly a gate closes: the interval that training samples leave, and the simplest number in it.

use std::ops::Range;

use super::MaxPlusModel;
use super::inference::Ground;
use super::rule::Rule;
use crate::{GraphTensors, ReadoutKind, RunOptions};

/// Samples of the first look, where every score is tried as a threshold.
const LOOKED_AT: usize = 200;

/// Scores of a sample that are tried as thresholds on either side of what the first look found.
const TRIED: usize = 8;

/// Errors of a sample that differ by less than this are equal: far above rounding, far below any difference between two
/// paths.
const EQUAL: f64 = 1e-6;

/// Most digits behind the point of a threshold: beyond it `f32` attributes do not tell numbers apart.
const DIGITS: i32 = 7;

/// A range of thresholds, from the score of an open node to that of a closed one: `low <= threshold < high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl MaxPlusModel {
    /// The model with its gate where most samples have their smallest error, at the number with the fewest digits
    /// there.
    ///
    /// For every sample the scores of its nodes are tried one after the other, as steps of the height that tolls have
    /// at the end of training; the predictions change nowhere else. That is done before absent values become infinite,
    /// because heads with terms that do nothing are undefined from then on, and they are found by their predictions.
    /// Without a gate, or with several numbers a prediction, nothing changes.
    pub(super) fn with_threshold(mut self, graph: &GraphTensors, targets: &[f64]) -> Self {
        let rule = Rule::whole(&self);
        let Some(gate) = rule.gate.clone() else { return self };
        if self.config.readout == ReadoutKind::Node || self.config.output_width != 1 || targets.len() != graph.graphs()
        {
            return self;
        }
        let ground = Ground::new(&rule, graph);
        let scores = ground.scores(&gate, graph);
        let cap = self.config.training_cap;
        let mut search = Search { rule, ground, scores, graph, targets, cap, toll: gate.closed_toll() };
        // A learned threshold is where a soft gate is half closed, which may be far from where it begins to matter:
        // look everywhere first, with few samples.
        let coarse = search.best(LOOKED_AT, gate.threshold(), usize::MAX);
        let fine = coarse.and_then(|coarse| search.best(usize::MAX, simplest(coarse), TRIED));
        if let Some(interval) = fine {
            self.gate = self.gate.map(|gate| gate.at(simplest(interval)));
        }
        self
    }
}

/// Samples, and a model to try thresholds with.
struct Search<'a> {
    rule: Rule,
    ground: Ground,
    scores: Vec<f64>,
    graph: &'a GraphTensors,
    targets: &'a [f64],
    cap: usize,
    toll: f64,
}

impl Search<'_> {
    /// Where most of the first samples have their smallest error, among `tried` scores of each on either side of
    /// `around`.
    fn best(&mut self, samples: usize, around: f64, tried: usize) -> Option<Interval> {
        let segments = self.graph.node_segments();
        let mut allowed: Vec<Interval> = Vec::new();
        for (index, nodes) in segments.iter().enumerate().take(samples) {
            let intervals = intervals_around(&self.scores[nodes.clone()], around, tried);
            let errors: Vec<f64> = intervals.iter().map(|at| self.error(index, nodes.clone(), at.low)).collect();
            let smallest = errors.iter().copied().fold(f64::INFINITY, f64::min);
            let best = intervals.into_iter().zip(errors).filter(|(_, error)| *error <= smallest + EQUAL);
            allowed.extend(best.map(|(interval, _)| interval));
        }
        most_common(&allowed)
    }

    fn error(&mut self, graph: usize, nodes: Range<usize>, threshold: f64) -> f64 {
        let scores = &self.scores;
        self.ground.close(graph, nodes.clone(), self.toll, |node| scores[node] > threshold);
        let end = self.ground.run(&self.rule, graph, nodes, &RunOptions::inference().with_cap(self.cap));
        (self.rule.predict(&end.state)[0] - self.targets[graph]).abs()
    }
}

/// The intervals between neighbouring scores around a threshold, at most `tried` scores on either side.
///
/// Beyond the last score tried nothing is known, so there is no interval, unless it is the last of all.
fn intervals_around(scores: &[f64], threshold: f64, tried: usize) -> Vec<Interval> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let place = sorted.partition_point(|&score| score <= threshold);
    let (first, last) = (place.saturating_sub(tried), place.saturating_add(tried).min(sorted.len()));
    let mut bounds = sorted[first..last].to_vec();
    if first == 0 {
        bounds.insert(0, f64::NEG_INFINITY);
    }
    if last == sorted.len() {
        bounds.push(f64::INFINITY);
    }
    bounds.windows(2).map(|pair| Interval { low: pair[0], high: pair[1] }).collect()
}

/// The range that lies in most of the intervals, the widest if there are several.
fn most_common(intervals: &[Interval]) -> Option<Interval> {
    let mut events: Vec<(f64, i32)> = intervals.iter().flat_map(|at| [(at.low, 1), (at.high, -1)]).collect();
    events.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    let mut ranges: Vec<(i32, Interval)> = Vec::new();
    let mut depth = 0;
    for pair in events.windows(2) {
        depth += pair[0].1;
        let range = Interval { low: pair[0].0, high: pair[1].0 };
        if range.low < range.high && range.low.is_finite() && range.high.is_finite() {
            match ranges.last_mut() {
                Some((last, before)) if *last == depth && before.high == range.low => before.high = range.high,
                _ => ranges.push((depth, range)),
            }
        }
    }
    let most = ranges.iter().map(|range| range.0).max()?;
    let best = ranges.into_iter().filter(|range| range.0 == most).map(|range| range.1);
    best.max_by(|left, right| (left.high - left.low).total_cmp(&(right.high - right.low)))
}

/// The number with the fewest decimals in an interval, its middle if more than seven are needed.
fn simplest(interval: Interval) -> f64 {
    let Interval { low, high } = interval;
    for digits in 0..=DIGITS {
        let unit = 10_f64.powi(digits);
        let candidate = (low * unit).ceil() / unit;
        // Parameters are `f32`: rounding must not carry the number out of the interval.
        let stored = f64::from(candidate as f32);
        if stored >= low && stored < high {
            return candidate;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_most_intervals_is_found() {
        let at = |low, high| Interval { low, high };
        let intervals = [at(0.0, 0.9), at(0.7, f64::INFINITY), at(f64::NEG_INFINITY, 0.85), at(0.95, 1.0)];
        assert_eq!(most_common(&intervals), Some(at(0.7, 0.85)));
        assert_eq!(most_common(&[]), None);
    }

    #[test]
    fn few_digits_are_simpler() {
        assert_eq!(simplest(Interval { low: 0.7993, high: 0.8004 }), 0.8);
        assert_eq!(simplest(Interval { low: -0.31, high: -0.29 }), -0.3);
        assert_eq!(simplest(Interval { low: 0.4099, high: 0.43 }), 0.41);
        let (low, high) = (0.123_456_789, 0.123_456_79);
        let middle = simplest(Interval { low, high });
        assert!(low < middle && middle < high);
    }

    #[test]
    fn intervals_cover_the_line_around_the_threshold() {
        let scores: Vec<f64> = (0..30).map(f64::from).collect();
        let intervals = intervals_around(&scores, 10.5, 8);
        assert_eq!((intervals.len(), intervals[0].low), (15, 3.0));
        assert!(intervals.windows(2).all(|pair| pair[0].high == pair[1].low));
        assert!(intervals.contains(&Interval { low: 10.0, high: 11.0 }));
        let all = intervals_around(&scores, 10.5, usize::MAX);
        assert_eq!((all.len(), all[0].low, all[30].high), (31, f64::NEG_INFINITY, f64::INFINITY));
    }
}
