//! A tour as an array of cities with the position of each: constant-time neighbours, short reversals.

/// A cyclic order of cities that can be edited by exchanging two edges.
#[derive(Debug, Clone)]
pub(super) struct ArrayTour {
    order: Vec<u32>,
    position: Vec<u32>,
}

impl ArrayTour {
    /// Takes the cities in order of visit; they must be a permutation of `0..n`.
    pub(super) fn new(order: Vec<u32>) -> Self {
        let mut position = vec![0; order.len()];
        for (place, &city) in order.iter().enumerate() {
            position[city as usize] = place as u32;
        }
        Self { order, position }
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    #[inline]
    pub(super) fn next(&self, city: u32) -> u32 {
        let place = self.position[city as usize] as usize + 1;
        self.order[if place == self.order.len() { 0 } else { place }]
    }

    #[inline]
    pub(super) fn previous(&self, city: u32) -> u32 {
        let place = self.position[city as usize] as usize;
        self.order[if place == 0 { self.order.len() - 1 } else { place - 1 }]
    }

    /// Makes this tour equal to another of the same length without allocating.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.order.copy_from_slice(&other.order);
        self.position.copy_from_slice(&other.position);
    }

    /// Replaces the edges `a-b` and `c-d` by `a-c` and `b-d`.
    ///
    /// In one of the two directions of travel `b` must follow `a` and `d` must follow `c`. Costs at most `n / 2` steps;
    /// the direction of travel may turn around.
    pub(super) fn exchange(&mut self, a: u32, b: u32, c: u32, d: u32) {
        if self.next(a) == b {
            debug_assert_eq!(self.next(c), d);
            self.reverse_path(b, c);
        } else {
            debug_assert_eq!((self.next(b), self.next(d)), (a, c));
            self.reverse_path(a, d);
        }
    }

    /// Exchanges three neighbouring stretches of the given lengths, `B C D` into `D C B`, the first one starting at
    /// `place`: the double bridge, which no sequence of short improving exchanges undoes easily.
    ///
    /// Returns the eight cities that lost a neighbour. The stretches together must be shorter than the tour.
    pub(super) fn double_bridge(&mut self, place: usize, lengths: [usize; 3], scratch: &mut Vec<u32>) -> [u32; 8] {
        let count = self.order.len();
        let [first, second, third] = lengths;
        let total = first + second + third;
        debug_assert!(total < count && first.min(second).min(third) > 0);
        scratch.clear();
        scratch.extend((0..total).map(|step| self.order[(place + step) % count]));
        let touched = [
            self.order[(place + count - 1) % count],
            scratch[0],
            scratch[first - 1],
            scratch[first],
            scratch[first + second - 1],
            scratch[first + second],
            scratch[total - 1],
            self.order[(place + total) % count],
        ];
        let swapped = (first + second..total).chain(first..first + second).chain(0..first);
        for (step, source) in swapped.enumerate() {
            let target = (place + step) % count;
            self.order[target] = scratch[source];
            self.position[scratch[source] as usize] = target as u32;
        }
        touched
    }

    /// Reverses the path from `first` to `last` in the direction of travel, or the rest of the tour when that is
    /// shorter: both give the same cycle.
    fn reverse_path(&mut self, first: u32, last: u32) {
        let count = self.order.len();
        let (mut low, mut high) = (self.position[first as usize] as usize, self.position[last as usize] as usize);
        let mut inside = if high >= low { high - low + 1 } else { high + count - low + 1 };
        if inside * 2 > count {
            (low, high) = (if high + 1 == count { 0 } else { high + 1 }, if low == 0 { count - 1 } else { low - 1 });
            inside = count - inside;
        }
        for _ in 0..inside / 2 {
            self.order.swap(low, high);
            self.position[self.order[low] as usize] = low as u32;
            self.position[self.order[high] as usize] = high as u32;
            low = if low + 1 == count { 0 } else { low + 1 };
            high = if high == 0 { count - 1 } else { high - 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(tour: &ArrayTour) -> Vec<(u32, u32)> {
        let mut edges: Vec<_> = (0..tour.len() as u32)
            .map(|city| (city.min(tour.next(city)), city.max(tour.next(city))))
            .inspect(|&(a, b)| assert!(tour.previous(b) == a || tour.next(b) == a))
            .collect();
        edges.sort_unstable();
        edges
    }

    #[test]
    fn exchange_swaps_exactly_two_edges_from_every_place() {
        let count = 9_u32;
        for a in 0..count {
            for gap in 2..count - 1 {
                let mut tour = ArrayTour::new((0..count).collect());
                let (b, c, d) = ((a + 1) % count, (a + gap) % count, (a + gap + 1) % count);
                let before = edges(&tour);
                tour.exchange(a, b, c, d);
                let after = edges(&tour);
                for pair in [(a, c), (b, d)] {
                    assert!(after.contains(&(pair.0.min(pair.1), pair.0.max(pair.1))));
                }
                assert_eq!(after.iter().filter(|edge| before.contains(edge)).count(), count as usize - 2);
            }
        }
    }

    #[test]
    fn double_bridge_changes_four_edges_and_keeps_a_permutation() {
        for place in 0..10 {
            let mut tour = ArrayTour::new((0..10).collect());
            let before = edges(&tour);
            let touched = tour.double_bridge(place, [2, 3, 1], &mut Vec::new());
            let after = edges(&tour);
            assert_eq!(after.iter().filter(|edge| before.contains(edge)).count(), 6);
            for lost in before.iter().filter(|edge| !after.contains(edge)) {
                assert!(touched.contains(&lost.0) && touched.contains(&lost.1));
            }
            let mut cities = tour.order().to_vec();
            cities.sort_unstable();
            assert_eq!(cities, (0..10).collect::<Vec<_>>());
        }
    }
}
