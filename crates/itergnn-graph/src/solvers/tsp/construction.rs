//! First tours for the local search, and the near neighbours it looks at.

use super::DistanceMatrix;

/// Builds a tour by joining the shortest edges first, as long as no city gets three and no cycle closes early.
///
/// Usually 15 to 20 percent above the optimum for uniform points. Looks at the near neighbours first and joins what
/// is left of the fragments by nearest ends, in `O(n k log(n k))` plus the number of fragments squared.
pub(super) fn greedy_tour(matrix: &DistanceMatrix, neighbours: &NeighbourLists) -> Vec<u32> {
    let cities = matrix.cities();
    let mut edges: Vec<(i64, u32, u32)> = (0..cities as u32)
        .flat_map(|from| neighbours.of(from).iter().map(move |&to| (from.min(to), from.max(to))))
        .map(|(from, to)| (matrix.step(from, to), from, to))
        .collect();
    edges.sort_unstable();
    let mut fragments = Fragments::new(cities);
    for &(_, from, to) in &edges {
        fragments.join(from, to);
    }
    // The ends of the remaining fragments, all against all: few, because most cities already have two neighbours.
    let ends: Vec<u32> = (0..cities as u32).filter(|&city| fragments.degree(city) < 2).collect();
    edges.clear();
    for (index, &from) in ends.iter().enumerate() {
        edges.extend(ends[index + 1..].iter().map(|&to| (matrix.step(from, to), from, to)));
    }
    edges.sort_unstable();
    for &(_, from, to) in &edges {
        fragments.join(from, to);
    }
    fragments.into_order()
}

/// Paths that grow together into one.
struct Fragments {
    links: Vec<[Option<u32>; 2]>,
    /// For a city at the end of a path, the city at its other end.
    other_end: Vec<u32>,
}

impl Fragments {
    fn new(cities: usize) -> Self {
        Self { links: vec![[None; 2]; cities], other_end: (0..cities as u32).collect() }
    }

    fn degree(&self, city: u32) -> usize {
        self.links[city as usize].iter().flatten().count()
    }

    /// Joins two cities if both are ends of different paths.
    fn join(&mut self, from: u32, to: u32) {
        if self.degree(from) == 2 || self.degree(to) == 2 || self.other_end[from as usize] == to || from == to {
            return;
        }
        for (city, partner) in [(from, to), (to, from)] {
            let slot = self.degree(city);
            self.links[city as usize][slot] = Some(partner);
        }
        let (first, last) = (self.other_end[from as usize], self.other_end[to as usize]);
        self.other_end[first as usize] = last;
        self.other_end[last as usize] = first;
    }

    /// The one path left, from end to end.
    fn into_order(self) -> Vec<u32> {
        let start = (0..self.links.len() as u32).find(|&city| self.degree(city) < 2).unwrap_or(0);
        let mut order = vec![start];
        let (mut previous, mut city) = (None, start);
        while let Some(next) = self.links[city as usize].iter().flatten().copied().find(|&next| Some(next) != previous)
        {
            order.push(next);
            previous = Some(city);
            city = next;
        }
        debug_assert_eq!(order.len(), self.links.len());
        order
    }
}

/// The nearest cities of each city, nearest first, ties by number.
#[derive(Debug, Clone)]
pub(super) struct NeighbourLists {
    width: usize,
    lists: Vec<u32>,
}

impl NeighbourLists {
    /// Lists the `width` nearest cities of each city, fewer when there are not that many others.
    pub(super) fn new(matrix: &DistanceMatrix, width: usize) -> Self {
        let cities = matrix.cities();
        let width = width.min(cities - 1);
        let mut lists = Vec::with_capacity(cities * width);
        let mut others: Vec<u32> = Vec::with_capacity(cities);
        for city in 0..cities {
            let row = matrix.row(city);
            let key = |&other: &u32| (row[other as usize], other);
            others.clear();
            others.extend((0..cities as u32).filter(|&other| other as usize != city));
            if width > 0 && width < others.len() {
                others.select_nth_unstable_by_key(width - 1, key);
                others.truncate(width);
            }
            others.sort_unstable_by_key(key);
            lists.extend_from_slice(&others[..width]);
        }
        Self { width, lists }
    }

    #[inline]
    pub(super) fn of(&self, city: u32) -> &[u32] {
        &self.lists[city as usize * self.width..(city as usize + 1) * self.width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_sorted_and_exclude_the_city() {
        let matrix = DistanceMatrix::from_fn(6, |i, j| (i as i64 - j as i64).abs()).unwrap();
        let lists = NeighbourLists::new(&matrix, 3);
        assert_eq!(lists.of(0), [1, 2, 3]);
        assert_eq!(lists.of(3), [2, 4, 1]);
        assert_eq!(NeighbourLists::new(&matrix, 99).of(5), [4, 3, 2, 1, 0]);
    }

    #[test]
    fn greedy_visits_every_city_once_even_when_all_distances_are_equal() {
        for cities in 1..20 {
            for spread in [0, 1] {
                let matrix = DistanceMatrix::from_fn(cities, |i, j| spread * (i * j % 7) as i64).unwrap();
                let mut tour = greedy_tour(&matrix, &NeighbourLists::new(&matrix, 4));
                tour.sort_unstable();
                assert_eq!(tour, (0..cities as u32).collect::<Vec<_>>());
            }
        }
    }
}
