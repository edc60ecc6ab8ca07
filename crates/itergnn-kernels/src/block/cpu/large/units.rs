//! Confidences, weights and what is left, of a graph or of each of its nodes.

use crate::block::config::BlockConfig;
use crate::block::schedule::Schedule;
use crate::block::stops::Stops;
use crate::real::Real;
use crate::settings::IterConfig;

/// One unit: a graph, or a node in node-wise iteration.
#[derive(Debug, Clone)]
struct Unit<T> {
    schedule: Schedule<T>,
    /// What is left without the decay, `(1 - c_1) .. (1 - c_k)`.
    mass: f64,
}

/// All units of one graph.
///
/// With decay, the state of iteration `k` of `K` has the weight `decay^(K - 1) p_k`, `p_k = c_k (1 - c_1) .. (1 -
/// c_(k-1))`. The sums of `p` do not depend on `K` and are what rows of the output are settled against; the factor is
/// applied once, in the end.
#[derive(Debug, Clone)]
pub(super) struct Units<T> {
    options: IterConfig,
    units: Vec<Unit<T>>,
    /// `[units]`: the sum of `p` so far.
    totals: Vec<f64>,
    /// The units that are not done.
    running: Vec<u32>,
}

impl<T: Real> Units<T> {
    pub(super) fn new(options: &IterConfig, count: usize) -> Self {
        let unit = Unit { schedule: Schedule::new(false), mass: 1.0 };
        let mut units = Self {
            options: *options,
            units: vec![unit; count],
            totals: vec![0.0; count],
            running: (0..count as u32).collect(),
        };
        units.drop_done();
        units
    }

    fn drop_done(&mut self) {
        let (units, options) = (&self.units, &self.options);
        self.running.retain(|&unit| units[unit as usize].schedule.is_running(options));
    }

    pub(super) fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Whether all nodes share one unit.
    pub(super) fn is_one(&self) -> bool {
        !self.options.node_wise()
    }

    /// `[units]`: the weight given so far.
    pub(super) fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// Notes one more iteration. `confidence` gives a unit's new confidence, or `None` where its state and so its
    /// confidence did not change. Returns whether all confidences are finite.
    pub(super) fn push(&mut self, mut confidence: impl FnMut(usize) -> Option<T>) -> bool {
        let mut finite = true;
        for &number in &self.running {
            let unit = &mut self.units[number as usize];
            let value = confidence(number as usize).unwrap_or(unit.schedule.last_confidence());
            finite &= value.is_finite();
            unit.schedule.push(value, &self.options);
            let settles = self.options.settle.is_some() && unit.schedule.iterations() == self.options.training_cap;
            self.totals[number as usize] += if settles { unit.mass } else { unit.mass * value.to_f64() };
            unit.mass *= 1.0 - value.to_f64();
        }
        self.drop_done();
        finite
    }

    /// What the sum of a unit's weighted states is multiplied by in the end.
    pub(super) fn factor(&self, unit: usize) -> f64 {
        let total = self.totals[unit];
        if self.options.normalised && total > 0.0 {
            return 1.0 / total;
        }
        let steps = self.units[unit].schedule.iterations();
        self.options.decay.powi(steps.saturating_sub(1).min(i32::MAX as usize) as i32)
    }

    /// What became of the units, in the caller's order; `order` tells which of the caller's nodes each node is.
    pub(super) fn results(mut self, order: Option<&[u32]>) -> Stops {
        if let (false, Some(order)) = (self.is_one(), order) {
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, &node)| places[node as usize] = place);
            self.units = places.into_iter().map(|place| self.units[place].clone()).collect();
        }
        self.units.iter_mut().for_each(|unit| unit.schedule.finish(&self.options));
        Stops::of(self.units.iter().map(|unit| &unit.schedule), true)
    }
}

/// The units of a graph of `nodes` nodes; `None` for controllers without confidences.
pub(super) fn units<T: Real>(config: &BlockConfig, nodes: usize) -> Option<Units<T>> {
    config.iterative().map(|options| Units::new(options, if options.node_wise() { nodes } else { 1 }))
}
