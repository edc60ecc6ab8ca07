//! Descent to a tour that no exchange of two edges and no move of a short stretch improves.

use std::collections::VecDeque;

use super::DistanceMatrix;
use super::array_tour::ArrayTour;
use super::construction::NeighbourLists;

/// Longest stretch of cities moved elsewhere in one step; three is Or's choice (1976).
const LONGEST_STRETCH: usize = 3;

/// Fewest cities for which every move is well defined; smaller tours are left to the exact solver.
const FEWEST_CITIES: usize = 5;

/// The local search's working state: what to look at, and which cities are worth looking from.
///
/// Two kinds of step, both limited to edges towards near neighbours: replace two edges (2-opt), or move a stretch of up
/// to three cities between two other cities, either way round (Or-opt). A city leaves the queue when no step from it
/// helps and returns when one of its edges changes (the queue form of don't-look bits).
pub(super) struct Descent<'a> {
    matrix: &'a DistanceMatrix,
    neighbours: &'a NeighbourLists,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
}

impl<'a> Descent<'a> {
    pub(super) fn new(matrix: &'a DistanceMatrix, neighbours: &'a NeighbourLists) -> Self {
        let cities = matrix.cities();
        Self { matrix, neighbours, queue: VecDeque::with_capacity(cities), queued: vec![false; cities] }
    }

    /// Marks a city as worth looking from.
    pub(super) fn wake(&mut self, city: u32) {
        if !self.queued[city as usize] {
            self.queued[city as usize] = true;
            self.queue.push_back(city);
        }
    }

    /// Improves the tour until no woken city offers a step; returns the change in length, never positive.
    pub(super) fn run(&mut self, tour: &mut ArrayTour) -> i64 {
        let mut change = 0;
        while let Some(city) = self.queue.pop_front() {
            self.queued[city as usize] = false;
            if tour.len() < FEWEST_CITIES {
                continue;
            }
            while let Some(gain) = self.exchange_from(tour, city).or_else(|| self.move_stretch_from(tour, city)) {
                change -= gain;
            }
        }
        change
    }

    /// Tries to replace an edge at `city`, and another, by an edge to a near neighbour; returns the gain.
    fn exchange_from(&mut self, tour: &mut ArrayTour, city: u32) -> Option<i64> {
        let (matrix, neighbours) = (self.matrix, self.neighbours);
        for forward in [true, false] {
            let beside = |tour: &ArrayTour, c: u32| if forward { tour.next(c) } else { tour.previous(c) };
            let partner = beside(tour, city);
            let removed = matrix.step(city, partner);
            for &near in neighbours.of(city) {
                let added = matrix.step(city, near);
                if added >= removed {
                    break;
                }
                let far = beside(tour, near);
                let gain = removed + matrix.step(near, far) - added - matrix.step(partner, far);
                if gain > 0 {
                    tour.exchange(city, partner, near, far);
                    for end in [city, partner, near, far] {
                        self.wake(end);
                    }
                    return Some(gain);
                }
            }
        }
        None
    }

    /// Tries to move a stretch that begins at `city` so that `city` lands beside a near neighbour; returns the gain.
    fn move_stretch_from(&mut self, tour: &mut ArrayTour, city: u32) -> Option<i64> {
        let (matrix, neighbours) = (self.matrix, self.neighbours);
        for forward in [true, false] {
            let onward = |tour: &ArrayTour, c: u32| if forward { tour.next(c) } else { tour.previous(c) };
            let back = |tour: &ArrayTour, c: u32| if forward { tour.previous(c) } else { tour.next(c) };
            let before = back(tour, city);
            let mut stretch = [city; LONGEST_STRETCH];
            for length in 1..=LONGEST_STRETCH.min(tour.len() - 3) {
                if length > 1 {
                    stretch[length - 1] = onward(tour, stretch[length - 2]);
                }
                let end = stretch[length - 1];
                let after = onward(tour, end);
                let freed = matrix.step(before, city) + matrix.step(end, after) - matrix.step(before, after);
                for &near in neighbours.of(city) {
                    let added = matrix.step(city, near);
                    if added >= freed {
                        break;
                    }
                    if stretch[..length].contains(&near) {
                        continue;
                    }
                    // `city` lands beside `near`, the far end of the stretch beside either neighbour of `near`.
                    for (a, b) in [(near, onward(tour, near)), (back(tour, near), near)] {
                        let other = if a == near { b } else { a };
                        if stretch[..length].contains(&other) {
                            continue;
                        }
                        let gain = freed + matrix.step(near, other) - added - matrix.step(end, other);
                        if gain > 0 {
                            move_stretch(tour, [before, city, end, after], [a, b], a == near);
                            for touched in [before, city, end, after, a, b] {
                                self.wake(touched);
                            }
                            return Some(gain);
                        }
                    }
                }
            }
        }
        None
    }
}

/// Moves the stretch `first..last` between `a` and `b`, with `first` beside `a` when `first_beside_a`, else beside `b`.
///
/// In some direction of travel the tour reads `before first..last after .. a b ..`. Built from edge exchanges, each of
/// which keeps the tour whole.
fn move_stretch(tour: &mut ArrayTour, ends: [u32; 4], between: [u32; 2], first_beside_a: bool) {
    let [before, first, last, after] = ends;
    let [a, b] = between;
    if b == before {
        // The same move read in the other direction of travel, where the gap follows the stretch at once.
        return move_stretch(tour, [after, last, first, before], [b, a], first_beside_a);
    }
    tour.exchange(before, first, a, b);
    if a != after {
        tour.exchange(before, a, after, last);
    }
    // Now: before after .. a last..first b.
    if first_beside_a && first != last {
        tour.exchange(a, last, first, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(tour: &ArrayTour) -> Vec<u32> {
        super::super::solution::canonical(tour.order().to_vec())
    }

    #[test]
    fn stretches_move_to_every_gap_both_ways_round() {
        let count = 9_u32;
        for a in 4..=count - 1 {
            for first_beside_a in [true, false] {
                for mirrored in [true, false] {
                    // Tour 0 1..=3 4 5 .. with the stretch 1..=3 moved between a and a + 1.
                    let order: Vec<u32> = if mirrored { (0..count).rev().collect() } else { (0..count).collect() };
                    let mut tour = ArrayTour::new(order);
                    let b = (a + 1) % count;
                    move_stretch(&mut tour, [0, 1, 3, 4], [a, b], first_beside_a);
                    let mut expected: Vec<u32> = std::iter::once(0).chain(4..=a).collect();
                    if first_beside_a {
                        expected.extend(1..=3)
                    } else {
                        expected.extend((1..=3).rev())
                    }
                    expected.extend(a + 1..count);
                    assert_eq!(cycle(&tour), super::super::solution::canonical(expected));
                }
            }
        }
    }

    #[test]
    fn change_reported_is_the_change_made() {
        let matrix = DistanceMatrix::from_fn(40, |i, j| ((i * 37 + j * 37) % 101 + (i * j * 13) % 29) as i64).unwrap();
        let neighbours = NeighbourLists::new(&matrix, 8);
        let mut tour = ArrayTour::new((0..40).collect());
        let before = matrix.tour_length(tour.order());
        let mut descent = Descent::new(&matrix, &neighbours);
        (0..40).for_each(|city| descent.wake(city));
        let change = descent.run(&mut tour);
        assert!(change < 0);
        assert_eq!(matrix.tour_length(tour.order()), before + change);
    }
}
