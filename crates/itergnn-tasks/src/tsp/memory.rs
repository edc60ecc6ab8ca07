//! Tours that this process has already proven optimal.
//!
//! Proving the tour of a hundred points takes some tenths of a second, and a comparison of models asks for the same
//! points once per model. What is remembered changes no result: a tour is a function of its points.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Numbers (coordinates and places in tours) that are remembered at most, some 100 MB.
const MOST_NUMBERS: usize = 10_000_000;

static PROVEN: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Memory {
    tours: HashMap<Box<[u64]>, Box<[u32]>>,
    numbers: usize,
}

/// The optimal tour of some points: remembered, or found by `solve` and remembered from now on.
pub(super) fn tour<E>(points: &[(f64, f64)], solve: impl FnOnce() -> Result<Vec<u32>, E>) -> Result<Vec<u32>, E> {
    let key: Box<[u64]> = points.iter().flat_map(|&(x, y)| [x.to_bits(), y.to_bits()]).collect();
    let memory = || PROVEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tour) = memory().tours.get(&key) {
        return Ok(tour.to_vec());
    }
    let tour = solve()?;
    let mut memory = memory();
    let numbers = 3 * points.len();
    if memory.numbers + numbers <= MOST_NUMBERS {
        memory.numbers += numbers;
        memory.tours.insert(key, tour.clone().into_boxed_slice());
    }
    Ok(tour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_points_are_solved_once_and_failures_are_not_remembered() {
        let points = [(0.25, 1.0), (7.0, 3.5), (2.0, 9.0)];
        assert_eq!(tour(&points, || Err::<Vec<u32>, _>("no proof")), Err("no proof"));
        assert_eq!(tour(&points, || Ok::<_, &str>(vec![0, 2, 1])), Ok(vec![0, 2, 1]));
        assert_eq!(tour(&points, || Err("not asked again")), Ok(vec![0, 2, 1]));
        let others = [(0.25, 1.0), (7.0, 3.5), (2.0, 9.5)];
        assert_eq!(tour(&others, || Err::<Vec<u32>, _>("other points")), Err("other points"));
    }
}
