//! The dynamic program of Held and Karp over subsets: small, simple, and the judge of the branch and bound.

use super::{DistanceMatrix, TspError, TspSolution};

/// Largest number of cities the subset table is built for (11 * 2^11 entries).
pub const DYNAMIC_PROGRAM_LIMIT: usize = 12;

/// Finds an optimal tour of at most [`DYNAMIC_PROGRAM_LIMIT`] cities by dynamic programming over subsets.
///
/// With city 0 as the start, `C(S, j) = min over k in S\{j} of C(S\{j}, k) + d(k, j)` is the shortest path that leaves
/// city 0, visits exactly `S` and ends at `j`; the tour is `min over j of C(all, j) + d(j, 0)`.
///
/// # Errors
/// [`TspError::TooManyForDynamicProgram`] above the limit.
///
/// # Complexity
/// `O(2^n n^2)` time, `O(2^n n)` memory.
///
/// # Example
/// ```
/// use itergnn_graph::solvers::tsp::{DistanceMatrix, held_karp_dp};
///
/// let ring = DistanceMatrix::from_fn(6, |i, j| [0, 1, 2, 3, 2, 1][i.abs_diff(j)])?;
/// assert_eq!(held_karp_dp(&ring)?.length, 6);
/// # Ok::<(), itergnn_graph::solvers::tsp::TspError>(())
/// ```
pub fn held_karp_dp(matrix: &DistanceMatrix) -> Result<TspSolution, TspError> {
    let cities = matrix.cities();
    if cities > DYNAMIC_PROGRAM_LIMIT {
        return Err(TspError::TooManyForDynamicProgram { found: cities, limit: DYNAMIC_PROGRAM_LIMIT });
    }
    if cities == 1 {
        return Ok(TspSolution::optimal(matrix, vec![0], 0));
    }
    // Bit b of a subset stands for city b + 1; city 0 is the start and in no subset.
    let others = cities - 1;
    let full = (1_usize << others) - 1;
    let mut best = vec![i64::MAX; (full + 1) * others];
    for last in 0..others {
        best[(1 << last) * others + last] = matrix.distance(0, last + 1);
    }
    for subset in 1..=full {
        for last in (0..others).filter(|last| subset >> last & 1 == 1) {
            let before = subset & !(1 << last);
            if before != 0 {
                best[subset * others + last] = shortest_arrival(matrix, &best, before, last).0;
            }
        }
    }
    let mut tour = vec![0];
    let mut subset = full;
    let mut last = (0..others)
        .min_by_key(|&last| best[full * others + last] + matrix.distance(last + 1, 0))
        .expect("two or more cities have a last one");
    loop {
        tour.push(last as u32 + 1);
        subset &= !(1 << last);
        if subset == 0 {
            return Ok(TspSolution::optimal(matrix, tour, 0));
        }
        last = shortest_arrival(matrix, &best, subset, last).1;
    }
}

/// Shortest path from the start through exactly `before` and on to `last`, with the city it passes just before `last`.
fn shortest_arrival(matrix: &DistanceMatrix, best: &[i64], before: usize, last: usize) -> (i64, usize) {
    let others = matrix.cities() - 1;
    (0..others)
        .filter(|previous| before >> previous & 1 == 1)
        .map(|previous| (best[before * others + previous] + matrix.distance(previous + 1, last + 1), previous))
        .min()
        .expect("the subset is not empty")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_instances() {
        for cities in 1..=3_usize {
            let matrix = DistanceMatrix::from_fn(cities, |i, j| (i + j) as i64).unwrap();
            let solution = held_karp_dp(&matrix).unwrap();
            assert_eq!(solution.length, [0, 2, 6][cities - 1]);
            assert_eq!(solution.tour.len(), cities);
        }
    }

    #[test]
    fn refuses_more_than_the_limit() {
        let matrix = DistanceMatrix::from_fn(13, |_, _| 1).unwrap();
        assert_eq!(held_karp_dp(&matrix), Err(TspError::TooManyForDynamicProgram { found: 13, limit: 12 }));
    }

    #[test]
    fn unscrambles_a_ring() {
        // Cities on a circle, visited in the scrambled order 5 i mod 12: the optimum steps by the inverse of 5.
        let ring = |i: usize| (i * 5) % 12;
        let matrix = DistanceMatrix::from_fn(12, |i, j| {
            let apart = ring(i).abs_diff(ring(j));
            apart.min(12 - apart) as i64
        })
        .unwrap();
        let solution = held_karp_dp(&matrix).unwrap();
        assert_eq!(solution.length, 12);
        assert_eq!(solution.tour, [0, 5, 10, 3, 8, 1, 6, 11, 4, 9, 2, 7]);
    }
}
