//! When the units of a run stopped.

use super::schedule::Schedule;
use crate::real::Real;

/// When and how every unit of a run stopped, `[units]` each.
///
/// A *unit* is what has its own confidence: a graph, or a node in node-wise iteration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stops {
    /// Steps done.
    pub steps: Vec<usize>,
    /// Confidence of the last step; 1 for controllers that do not learn to stop, 0 for a unit without steps.
    pub confidences: Vec<f64>,
    /// Probability of not having stopped when the loop ended; 0 for controllers that do not learn to stop.
    pub remaining: Vec<f64>,
    /// Probability in front of the last allowed step, which [`settle`](crate::settings::IterConfig::settle) gives to
    /// it; 0 for units that were done before, and for controllers that do not learn to stop. The loss may charge for
    /// it.
    pub unspent: Vec<f64>,
    /// Whether a cap, rather than the stopping criterion, ended the loop. Never true for controllers that do not learn
    /// to stop.
    pub capped: Vec<bool>,
}

impl Stops {
    /// Units of a loop that did no step yet.
    pub fn before_the_first(units: usize) -> Self {
        Self {
            steps: vec![0; units],
            confidences: vec![0.0; units],
            remaining: vec![1.0; units],
            unspent: vec![0.0; units],
            capped: vec![false; units],
        }
    }

    /// Units of a controller that always does the same number of steps.
    pub fn after(units: usize, steps: usize) -> Self {
        Self {
            steps: vec![steps; units],
            confidences: vec![1.0; units],
            remaining: vec![0.0; units],
            ..Self::before_the_first(units)
        }
    }

    /// Puts the units of another run behind these.
    pub fn extend(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.confidences.extend(other.confidences);
        self.remaining.extend(other.remaining);
        self.unspent.extend(other.unspent);
        self.capped.extend(other.capped);
    }

    /// The units of one graph from their schedules; a graph without nodes is one unit that has nothing to be confident
    /// of.
    pub(crate) fn of<'a, T: Real>(schedules: impl IntoIterator<Item = &'a Schedule<T>>, node_wise: bool) -> Self {
        let mut stops = Self::default();
        for schedule in schedules {
            stops.steps.push(schedule.iterations());
            stops.confidences.push(schedule.last_confidence().to_f64());
            stops.remaining.push(schedule.remaining().to_f64());
            stops.unspent.push(schedule.unspent().to_f64());
            stops.capped.push(schedule.capped());
        }
        if stops.steps.is_empty() && !node_wise { Self::before_the_first(1) } else { stops }
    }
}

/// How the loops of every graph ended, over all blocks of a network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loops {
    /// Steps used.
    pub iterations: Vec<usize>,
    /// Whether a cap, rather than the network, ended a loop.
    pub capped: Vec<bool>,
}

impl Loops {
    /// Iterations of a graph, and whether a cap ended them.
    pub fn of(&self, graph: usize) -> (usize, bool) {
        (self.iterations[graph], self.capped[graph])
    }
}

impl FromIterator<(usize, bool)> for Loops {
    fn from_iter<I: IntoIterator<Item = (usize, bool)>>(graphs: I) -> Self {
        let (iterations, capped) = graphs.into_iter().unzip();
        Self { iterations, capped }
    }
}
