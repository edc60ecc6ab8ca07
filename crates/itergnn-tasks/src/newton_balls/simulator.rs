//! Equal balls on a line without friction.

use std::{cmp::Ordering, collections::BinaryHeap};

/// Why balls cannot be placed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BallsError {
    /// Positions and speeds differ in number.
    #[error("{positions} positions but {speeds} speeds")]
    Count {
        /// Positions given.
        positions: usize,
        /// Speeds given.
        speeds: usize,
    },
    /// A ball lies inside its left neighbour.
    #[error("balls {left} and {} overlap: centres {distance} apart, less than two radii ({diameter})", left + 1)]
    Overlap {
        /// The left one of the two.
        left: usize,
        /// Between the centres.
        distance: f64,
        /// Two radii.
        diameter: f64,
    },
    /// A number is NaN, infinite, or a radius or time that is negative.
    #[error("{what} is {value}, expected a finite number that makes sense")]
    Number {
        /// What the number is.
        what: &'static str,
        /// The number.
        value: f64,
    },
}

/// Balls of equal mass and radius on a line; collisions are elastic.
///
/// The simulation goes from collision to collision and has no time step of its own, so it is exact up to rounding. Two
/// equal balls that collide swap their speeds; a row of touching balls passes a hit on from ball to ball in no time.
/// Momentum, the sum of v, and energy, the sum of v², therefore do not change by as much as a bit: the speeds are only
/// ever permuted.
///
/// # Example
/// ```
/// use itergnn_tasks::newton_balls::Balls;
/// let mut balls = Balls::new(0.5, &[-3.0, 0.0, 1.0], &[1.0, 0.0, 0.0])?;
/// balls.advance(3.0)?; // contact after 2, then the last ball flies on for 1
/// assert_eq!(balls.positions(), [-1.0, 0.0, 2.0]);
/// assert_eq!(balls.speeds(), [0.0, 0.0, 1.0]);
/// # Ok::<(), itergnn_tasks::newton_balls::BallsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Balls {
    radius: f64,
    /// Where ball i would be if the i balls to its left had no width: x_i - 2 r i. Balls touch where these are equal.
    reduced: Vec<f64>,
    speeds: Vec<f64>,
}

/// A collision that will happen unless one of the two balls is hit first.
struct Collision {
    time: f64,
    left: usize,
    /// How often each of the two had been hit when this was foreseen.
    hits: [u32; 2],
}

impl PartialEq for Collision {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Collision {}

impl PartialOrd for Collision {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Collision {
    /// The greatest is the earliest, and among those at the same time the leftmost.
    fn cmp(&self, other: &Self) -> Ordering {
        other.time.total_cmp(&self.time).then_with(|| other.left.cmp(&self.left))
    }
}

impl Balls {
    /// Balls from left to right.
    ///
    /// # Errors
    /// [`BallsError`] if the numbers differ in length, are not finite, or two balls overlap by more than rounding.
    pub fn new(radius: f64, positions: &[f64], speeds: &[f64]) -> Result<Self, BallsError> {
        if positions.len() != speeds.len() {
            return Err(BallsError::Count { positions: positions.len(), speeds: speeds.len() });
        }
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(BallsError::Number { what: "radius", value: radius });
        }
        for (what, list) in [("position", positions), ("speed", speeds)] {
            if let Some(&value) = list.iter().find(|value| !value.is_finite()) {
                return Err(BallsError::Number { what, value });
            }
        }
        let diameter = 2.0 * radius;
        let mut reduced: Vec<f64> = positions.iter().enumerate().map(|(i, x)| x - diameter * i as f64).collect();
        for left in 0..reduced.len().saturating_sub(1) {
            let overlap = reduced[left] - reduced[left + 1];
            let extent = positions[left].abs() + positions[left + 1].abs() + diameter * (left + 1) as f64;
            if overlap > OVERLAP_TOLERANCE * extent {
                let distance = positions[left + 1] - positions[left];
                return Err(BallsError::Overlap { left, distance, diameter });
            }
            // What is left of an overlap is rounding: the balls touch.
            reduced[left + 1] = reduced[left + 1].max(reduced[left]);
        }
        Ok(Self { radius, reduced, speeds: speeds.to_vec() })
    }

    /// The centres, from left to right.
    pub fn positions(&self) -> Vec<f64> {
        let diameter = 2.0 * self.radius;
        self.reduced.iter().enumerate().map(|(i, reduced)| reduced + diameter * i as f64).collect()
    }

    /// The speeds, positive to the right.
    pub fn speeds(&self) -> &[f64] {
        &self.speeds
    }

    /// Radius of every ball.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Lets `duration` pass and returns how many collisions happened.
    ///
    /// # Errors
    /// [`BallsError::Number`] if the duration is negative or not finite.
    ///
    /// # Complexity
    /// O((balls + collisions) log collisions); there are at most as many collisions as pairs of balls, since each one
    /// sorts two speeds.
    pub fn advance(&mut self, duration: f64) -> Result<u64, BallsError> {
        if !(duration.is_finite() && duration >= 0.0) {
            return Err(BallsError::Number { what: "duration", value: duration });
        }
        let count = self.reduced.len();
        let mut moved_at = vec![0.0; count];
        let mut hits = vec![0_u32; count];
        let mut queue = BinaryHeap::new();
        for left in 0..count.saturating_sub(1) {
            self.foresee(left, 0.0, duration, &moved_at, &hits, &mut queue);
        }
        let mut collisions = 0;
        while let Some(Collision { time, left, hits: foreseen }) = queue.pop() {
            if foreseen != [hits[left], hits[left + 1]] {
                continue;
            }
            // Both stand at the same reduced position; one value for both keeps rounding from parting or crossing them.
            let contact = self.reduced[left] + self.speeds[left] * (time - moved_at[left]);
            for ball in [left, left + 1] {
                self.reduced[ball] = contact;
                moved_at[ball] = time;
                hits[ball] += 1;
            }
            self.speeds.swap(left, left + 1);
            collisions += 1;
            if left > 0 {
                self.foresee(left - 1, time, duration, &moved_at, &hits, &mut queue);
            }
            if left + 2 < count {
                self.foresee(left + 1, time, duration, &moved_at, &hits, &mut queue);
            }
        }
        for ((reduced, speed), moved_at) in self.reduced.iter_mut().zip(&self.speeds).zip(moved_at) {
            *reduced += speed * (duration - moved_at);
        }
        // Rounding may leave balls that touch a hair inside each other.
        for right in 1..count {
            self.reduced[right] = self.reduced[right].max(self.reduced[right - 1]);
        }
        Ok(collisions)
    }

    /// Queues the next collision of a ball with its right neighbour, if there is one before the end.
    fn foresee(
        &self,
        left: usize,
        now: f64,
        end: f64,
        moved_at: &[f64],
        hits: &[u32],
        queue: &mut BinaryHeap<Collision>,
    ) {
        let closing = self.speeds[left] - self.speeds[left + 1];
        if closing <= 0.0 {
            return;
        }
        let place = |ball: usize| self.reduced[ball] + self.speeds[ball] * (now - moved_at[ball]);
        let gap = (place(left + 1) - place(left)).max(0.0);
        let time = now + gap / closing;
        if time <= end {
            queue.push(Collision { time, left, hits: [hits[left], hits[left + 1]] });
        }
    }
}

/// Balls may overlap by this much of their coordinates and count as touching: a few roundings of `f64`.
const OVERLAP_TOLERANCE: f64 = 16.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_travels_through_a_touching_row_at_once() {
        let positions: Vec<f64> = (0..50).map(|i| 0.2 * f64::from(i)).collect();
        let mut speeds = vec![0.0; 50];
        speeds[0] = 3.0;
        let mut balls = Balls::new(0.1, &positions, &speeds).unwrap();
        assert_eq!(balls.advance(1.0).unwrap(), 49);
        assert_eq!(balls.speeds()[49], 3.0);
        assert!((balls.positions()[49] - (positions[49] + 3.0)).abs() < 1e-12);
        assert_eq!(balls.speeds()[..49], vec![0.0; 49]);
    }

    #[test]
    fn opposite_balls_bounce() {
        let mut balls = Balls::new(0.0, &[0.0, 2.0], &[1.0, -1.0]).unwrap();
        assert_eq!(balls.advance(2.0).unwrap(), 1);
        assert_eq!((balls.positions(), balls.speeds()), (vec![0.0, 2.0], &[-1.0, 1.0][..]));
        assert_eq!(balls.advance(100.0).unwrap(), 0);
    }

    #[test]
    fn impossible_balls_are_refused() {
        let overlap = Balls::new(1.0, &[0.0, 1.5], &[0.0, 0.0]).unwrap_err();
        assert!(overlap.to_string().starts_with("balls 0 and 1 overlap"));
        assert!(Balls::new(1.0, &[0.0], &[]).is_err());
        assert!(Balls::new(-1.0, &[0.0], &[0.0]).is_err());
        assert!(Balls::new(1.0, &[f64::NAN], &[0.0]).is_err());
        assert!(Balls::new(1.0, &[0.0], &[0.0]).unwrap().advance(-1.0).is_err());
    }

    #[test]
    fn no_balls_do_nothing() {
        assert_eq!(Balls::new(1.0, &[], &[]).unwrap().advance(1.0), Ok(0));
    }
}
