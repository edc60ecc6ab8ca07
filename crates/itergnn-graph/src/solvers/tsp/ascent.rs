//! Subgradient ascent: move the multipliers so that the 1-tree bound rises.

/// Bound of a subproblem in which no tour is left.
pub(super) const NO_TOUR: i64 = i64::MAX;

/// Unit of step factors.
const FACTOR_ONE: i64 = 1024;

/// Something that finds minimum 1-trees under multipliers.
pub(super) trait Relaxation {
    /// Finds a minimum 1-tree and returns its bound, [`NO_TOUR`] if there is none.
    fn evaluate(&mut self, multipliers: &[i64]) -> i64;

    /// Degree of each city in the last tree.
    fn degree(&self) -> &[i32];
}

/// How long and how boldly to ascend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// Most trees to evaluate.
    pub(super) trees: u32,
    /// First step as a multiple of Polyak's `gap / |subgradient|^2`, in units of 1/1024.
    pub(super) first_factor: i64,
    /// Trees without a better bound before the factor shrinks.
    pub(super) patience: u32,
    /// What the factor is multiplied with then, in units of 1/1024.
    pub(super) shrink: i64,
    /// The ascent ends when the factor falls below this.
    pub(super) last_factor: i64,
}

/// Where an ascent may stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// Length of the best tour known, the value steps aim at.
    pub(super) target: i64,
    /// A bound above this proves that the subproblem holds no shorter tour.
    pub(super) closed_above: i64,
}

/// Scratch space of ascents over one number of cities.
pub(super) struct Ascent {
    multipliers: Vec<i64>,
    previous: Vec<i32>,
    /// Multipliers stay within plus or minus this, so that no sum can overflow.
    limit: i64,
}

impl Ascent {
    pub(super) fn new(cities: usize, limit: i64) -> Self {
        Self { multipliers: vec![0; cities], previous: vec![0; cities], limit }
    }

    /// Raises the bound from the multipliers in `best`, which become the best ones found; returns their bound.
    ///
    /// Ends early when the goal is met, or on a tour, whose bound is the most there is. The step is Polyak's, the
    /// direction mixes in that of the tree before (Volgenant and Jonker, 1982). All arithmetic is on integers.
    pub(super) fn run(
        &mut self,
        relaxation: &mut impl Relaxation,
        best: &mut [i64],
        goal: Goal,
        schedule: Schedule,
    ) -> i64 {
        self.multipliers.copy_from_slice(best);
        let mut best_bound = i64::MIN;
        let mut factor = schedule.first_factor;
        let mut stale = 0;
        for tree in 0..schedule.trees {
            let bound = relaxation.evaluate(&self.multipliers);
            if bound > best_bound {
                best_bound = bound;
                best.copy_from_slice(&self.multipliers);
                stale = 0;
            } else {
                stale += 1;
            }
            let degrees = relaxation.degree();
            if bound > goal.closed_above {
                return bound;
            }
            let norm = degrees.iter().map(|&degree| i64::from((degree - 2) * (degree - 2))).sum::<i64>();
            if norm == 0 {
                return best_bound;
            }
            if stale >= schedule.patience {
                stale = 0;
                factor = factor * schedule.shrink / FACTOR_ONE;
                if factor < schedule.last_factor {
                    return best_bound;
                }
            }
            if tree == 0 {
                self.previous.copy_from_slice(degrees);
            }
            let step = (((goal.target - bound).max(1) / norm).saturating_mul(factor) / FACTOR_ONE).max(1);
            for ((multiplier, &degree), before) in self.multipliers.iter_mut().zip(degrees).zip(&mut self.previous) {
                let direction = 7 * i64::from(degree - 2) + 3 * i64::from(*before - 2);
                let moved = multiplier.saturating_add(step.saturating_mul(direction) / 10);
                *multiplier = moved.clamp(-self.limit, self.limit);
                *before = degree;
            }
        }
        best_bound
    }
}
