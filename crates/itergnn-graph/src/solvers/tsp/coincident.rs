//! Cities in the same place, visited as one.

use super::DistanceMatrix;

/// An instance in which coincident cities are merged, and the way back.
///
/// Copies of a city are interchangeable, and a search that does not know it repeats its work for every order of them.
pub(super) struct Merged {
    pub(super) matrix: DistanceMatrix,
    /// The original cities at each place.
    groups: Vec<Vec<u32>>,
}

impl Merged {
    /// Merges cities at distance zero that no detour can do without; `None` when there are none.
    ///
    /// Two cities are merged when they are at distance zero, equally far from every other city, and no way through them
    /// is a short cut: `d(r, s) <= d(r, city) + d(city, s)` for all others. Then taking a copy out of one part of a
    /// tour and putting it beside the other never lengthens the tour, so some optimal tour visits them one after the
    /// other. Distances rounded to integers can miss the inequality by a unit; such cities are left apart.
    pub(super) fn new(matrix: &DistanceMatrix) -> Option<Self> {
        let cities = matrix.cities();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut short_cut: Vec<Option<bool>> = vec![None; cities];
        for city in 0..cities {
            let twin = groups.iter_mut().find(|group| {
                let first = group[0] as usize;
                matrix.distance(first, city) == 0
                    && matrix.row(first) == matrix.row(city)
                    && !*short_cut[first].get_or_insert_with(|| is_short_cut(matrix, first))
            });
            match twin {
                Some(group) => group.push(city as u32),
                None => groups.push(vec![city as u32]),
            }
        }
        if groups.len() == cities {
            return None;
        }
        let place = |index: usize| groups[index][0] as usize;
        let matrix = DistanceMatrix::from_fn(groups.len(), |i, j| matrix.distance(place(i), place(j)))
            .expect("part of a valid matrix is valid");
        Some(Self { matrix, groups })
    }

    /// The tour of the original cities that a tour of the places stands for, of the same length.
    pub(super) fn expand(&self, tour: &[u32]) -> Vec<u32> {
        tour.iter().flat_map(|&place| self.groups[place as usize].iter().copied()).collect()
    }
}

/// Whether some two cities are nearer by way of this one.
fn is_short_cut(matrix: &DistanceMatrix, city: usize) -> bool {
    let through = matrix.row(city);
    (0..matrix.cities())
        .any(|from| matrix.row(from).iter().zip(through).any(|(&direct, &onward)| direct > through[from] + onward))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_merged_and_visited_one_after_the_other() {
        let points = [(0.0, 0.0), (5.0, 0.0), (0.0, 0.0), (5.0, 5.0), (0.0, 0.0), (5.0, 5.0)];
        let matrix = DistanceMatrix::from_points_scaled(&points, 1e6).unwrap();
        let merged = Merged::new(&matrix).unwrap();
        assert_eq!(merged.matrix.cities(), 3);
        let tour = merged.expand(&[0, 1, 2]);
        assert_eq!(tour, [0, 2, 4, 1, 3, 5]);
        assert_eq!(matrix.tour_length(&tour), merged.matrix.tour_length(&[0, 1, 2]));
    }

    #[test]
    fn short_cuts_and_unequal_rows_are_left_apart() {
        // Cities 0 and 1 coincide and lie between the others, which are far from each other: best visited apart.
        let hub = DistanceMatrix::from_fn(6, |i, j| {
            if i.max(j) == 1 {
                0
            } else if i.min(j) < 2 {
                1
            } else {
                9
            }
        })
        .unwrap();
        assert!(Merged::new(&hub).is_none());
        let uneven = DistanceMatrix::from_fn(3, |i, j| if i.max(j) == 1 { 0 } else { 5 + i.min(j) as i64 }).unwrap();
        assert!(Merged::new(&uneven).is_none());
    }
}
