//! The steps of one graph.

use itergnn_graph::solvers::tsp::PricedTree;

use super::lengths::Lengths;
use super::memory::{Memory, POWERS};
use super::number::{Number, STEERING};
use crate::controllers::STOP_EPSILON;

/// Factor on the logit of the confidence: the logarithm of the step falls by a few hundredths per step, so the stop is
/// spread over some ten steps.
const GAIN: f64 = 10.0;

/// What a prediction is made of: the bound, and the parts of the indecision.
pub(super) const FEATURES: usize = 1 + POWERS;

/// The learned numbers that steer the steps, as they are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steering(pub(super) [f64; STEERING]);

/// The same, as the formulas use them.
struct Rates<N> {
    /// Logarithm of the first step.
    start: N,
    /// What the logarithm loses with every step.
    decay: N,
    /// Share of the last direction.
    inertia: N,
    /// Rate of the memory.
    memory: N,
    /// Logarithm of the step at which the confidence is one half.
    stop: N,
}

impl Steering {
    fn rates<N: Number>(self) -> Rates<N> {
        let [start, decay, inertia, memory, stop] = std::array::from_fn(|index| N::learned(index, self.0[index]));
        Rates { start, decay: decay.exp(), inertia: inertia.sigmoid(), memory: memory.sigmoid(), stop }
    }
}

/// What the steps of a graph came to.
pub(super) struct Ended<N> {
    /// Bound and indecision, blended over the steps.
    pub(super) features: [N; FEATURES],
    /// Expected number of steps.
    pub(super) expected: N,
    /// Probability that was left at the end.
    pub(super) remaining: N,
    pub(super) steps: usize,
    pub(super) confidence: f64,
    pub(super) capped: bool,
    /// The last prices.
    pub(super) prices: Vec<f64>,
    pub(super) trace: Vec<AscentStep>,
}

/// What a trace shows of a step.
pub(super) struct AscentStep {
    pub(super) confidence: f64,
    pub(super) remaining: f64,
    /// Largest change of a price.
    pub(super) change: f64,
    /// Share of the nodes whose price changed.
    pub(super) changed: f64,
}

/// Takes steps until the model stops or has a tour, at most `cap`.
///
/// Prices start at 0. With `s` the first bound divided by the number of nodes, step `k` (from 0) is
/// ```text
/// T     = cheapest 1-tree,  d_v = degree of v in T - 2
/// bound = max(bound, sum over T of w + sum over v of p_v d_v)
/// x_e   = x_e + rho ([e in T] - x_e)
/// c     = sigmoid(10 (stop - ln tau)),   ln tau = start - k decay;   c = 1 if T is a tour
/// p_v   = p_v + s tau (d_v + inertia (d_v of the last step - d_v))
/// ```
/// and the features are those of all steps, blended by `c_k prod_{i<k} (1 - c_i)`. What is left at the cap goes to the
/// last step.
///
/// The derivatives are exact where the trees do not change, which is almost everywhere.
pub(super) fn ascend<N: Number>(lengths: &Lengths, steering: Steering, cap: usize) -> Ended<N> {
    let nodes = lengths.nodes();
    let rates: Rates<N> = steering.rates();
    let (zero, one) = (N::constant(0.0), N::constant(1.0));
    let (mut tree, mut memory) = (PricedTree::new(nodes), Memory::new(nodes));
    let mut prices = vec![zero; nodes];
    let mut plain = vec![0.0; nodes];
    let mut last: Vec<f64> = Vec::new();
    let (mut bound, mut scale) = (zero, 0.0);
    let (mut left, mut expected, mut features) = (one, zero, [zero; FEATURES]);
    let (mut steps, mut confidence, mut trace) = (0, 0.0, Vec::new());
    let mut logarithm = rates.start;
    while steps < cap.max(1) && left.value() > STOP_EPSILON {
        lengths.find(&mut tree, &plain);
        let missing: Vec<f64> = tree.degrees().iter().map(|&degree| f64::from(degree) - 2.0).collect();
        let total: f64 = tree.edges().iter().map(|&[from, to]| lengths.between(from, to)).sum();
        let priced = prices.iter().zip(&missing).fold(N::constant(total), |sum, (&p, &d)| sum + p.times(d));
        if steps == 0 {
            scale = total / nodes.max(1) as f64;
        }
        if steps == 0 || priced.value() > bound.value() {
            bound = priced;
        }
        let is_tour = nodes < 2 || tree.is_tour() || scale == 0.0;
        if is_tour {
            memory = Memory::new(nodes);
        }
        memory.add(lengths, tree.edges(), rates.memory);

        steps += 1;
        let sure = if is_tour { one } else { (rates.stop - logarithm).times(GAIN).sigmoid() };
        // Nothing follows the last step, so it takes what is left.
        let spent = if steps == cap.max(1) { left } else { left * sure };
        if spent.value() > 0.0 {
            let indecision = memory.indecision();
            for (sum, part) in features.iter_mut().zip([bound].into_iter().chain(indecision)) {
                *sum = *sum + spent * part;
            }
            expected = expected + spent.times(steps as f64);
        }
        left = left * (one - sure);
        confidence = sure.value();
        let step = logarithm.exp().times(scale);
        let (mut change, mut changed): (f64, usize) = (0.0, 0);
        for (node, price) in prices.iter_mut().enumerate() {
            let before = last.get(node).copied().unwrap_or(missing[node]);
            let direction = N::constant(missing[node]) + rates.inertia.times(before - missing[node]);
            *price = *price + step * direction;
            let moved = (price.value() - plain[node]).abs();
            (change, changed) = (change.max(moved), changed + usize::from(moved > 0.0));
            plain[node] = price.value();
        }
        let (remaining, changed) = (left.value(), changed as f64 / nodes.max(1) as f64);
        trace.push(AscentStep { confidence, remaining, change, changed });
        last = missing;
        logarithm = logarithm - rates.decay;
    }
    let capped = left.value() > STOP_EPSILON;
    Ended { features, expected, remaining: left, steps, confidence, capped, prices: plain, trace }
}

#[cfg(test)]
mod tests {
    use super::super::number::Dual;
    use super::*;

    /// Steps that suit points in a square: a fifth of the mean edge at first, 5% shorter every time.
    const STEERING_USED: Steering = Steering([-1.6, -3.0, -0.8, -2.5, -4.0]);

    fn lengths(nodes: usize, seed: u64) -> Lengths {
        let mut state = seed;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        let points: Vec<(f64, f64)> = (0..nodes).map(|_| (unit(), unit())).collect();
        let pairs = (0..nodes).flat_map(|from| (0..from).map(move |to| (from, to)));
        let edges =
            pairs.map(|(from, to)| (from, to, (points[from].0 - points[to].0).hypot(points[from].1 - points[to].1)));
        Lengths::new(nodes, edges).unwrap()
    }

    #[test]
    fn numbers_with_and_without_derivatives_agree() {
        let lengths = lengths(25, 3);
        let (plain, dual) = (ascend::<f64>(&lengths, STEERING_USED, 60), ascend::<Dual>(&lengths, STEERING_USED, 60));
        assert_eq!((plain.steps, &plain.prices), (dual.steps, &dual.prices));
        assert!(plain.features.iter().zip(&dual.features).all(|(plain, dual)| *plain == dual.value()));
    }

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        // Small enough that no tree changes, large enough for double precision.
        const STEP: f64 = 1e-8;
        // Second derivatives times the step, and rounding (1e-16 of the features, over the step).
        const TOLERANCE: f64 = 1e-4;
        for seed in 0..4 {
            let lengths = lengths(20, seed);
            let dual = ascend::<Dual>(&lengths, STEERING_USED, 80);
            let before = ascend::<f64>(&lengths, STEERING_USED, 80);
            assert!(!before.capped && before.steps > 20, "{} steps", before.steps);
            for index in 0..STEERING {
                let mut moved = STEERING_USED;
                moved.0[index] += STEP;
                let after = ascend::<f64>(&lengths, moved, 80);
                let pairs = dual.features.iter().chain([&dual.expected]);
                let before = before.features.iter().chain([&before.expected]);
                for ((dual, before), after) in pairs.zip(before).zip(after.features.iter().chain([&after.expected])) {
                    let slope = (after - before) / STEP;
                    let found = dual.slopes()[index];
                    assert!(
                        (slope - found).abs() <= TOLERANCE * (1.0 + slope.abs()),
                        "{seed} {index}: {slope} {found}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_bound_grows_and_stays_below_every_tour() {
        let lengths = lengths(30, 5);
        let order: Vec<u32> = (0..30).collect();
        let tour: f64 = order.iter().zip(order.iter().cycle().skip(1)).map(|(&a, &b)| lengths.between(a, b)).sum();
        let bounds: Vec<f64> = [1, 10, 100].map(|cap| ascend::<f64>(&lengths, STEERING_USED, cap).features[0]).into();
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]) && bounds[2] < tour, "{bounds:?}, {tour}");
    }

    #[test]
    fn a_tour_ends_the_steps_without_remainder() {
        let square = [(0.0_f64, 0.0_f64), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
        let pairs = (0..4).flat_map(|from| (0..from).map(move |to| (from, to)));
        let edges =
            pairs.map(|(a, b): (usize, usize)| (a, b, (square[a].0 - square[b].0).hypot(square[a].1 - square[b].1)));
        let ended = ascend::<f64>(&Lengths::new(4, edges).unwrap(), STEERING_USED, 100);
        assert_eq!((ended.features, ended.steps, ended.capped), ([4.0, 0.0, 0.0, 0.0], 1, false));
    }

    #[test]
    fn no_node_one_node_and_equal_points_have_length_zero() {
        for nodes in [0, 1, 2, 5] {
            let pairs = (0..nodes).flat_map(|from| (0..from).map(move |to| (from, to, 0.0)));
            let ended = ascend::<f64>(&Lengths::new(nodes, pairs).unwrap(), STEERING_USED, 100);
            assert_eq!((ended.features[0], ended.steps), (0.0, 1), "{nodes} nodes");
        }
    }
}
