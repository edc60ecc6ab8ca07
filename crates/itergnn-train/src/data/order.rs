//! The order of samples in an epoch.

use itergnn_graph::rng;
use rand::RngExt;

/// The samples `0..count` in the order of an epoch, all orders equally likely.
///
/// It depends on the seed and the number of the epoch alone, so a run that was interrupted finds its place again
/// without a stored state.
///
/// # Example
/// ```
/// use itergnn_train::data::epoch_order;
/// assert_eq!(epoch_order(1, 3, 100), epoch_order(1, 3, 100));
/// assert_ne!(epoch_order(1, 3, 100), epoch_order(1, 4, 100));
/// ```
///
/// # Panics
/// If there are more samples than `u32` counts.
pub fn epoch_order(seed: u64, epoch: u64, count: u64) -> Vec<u32> {
    let count = u32::try_from(count).expect("samples are counted in 32 bits");
    let mut order: Vec<u32> = (0..count).collect();
    // Streams of the run's own seed; samples are drawn under the seeds of the splits.
    let mut generator = rng::sample(seed, epoch);
    // Fisher and Yates: each position gets one of those that are left.
    for last in (1..count).rev() {
        let chosen = generator.random_range(0..=last);
        order.swap(last as usize, chosen as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_comes_once() {
        for count in [0, 1, 2, 57] {
            let mut order = epoch_order(3, 1, count);
            order.sort_unstable();
            assert!(order.into_iter().eq(0..count as u32));
        }
    }

    #[test]
    fn every_order_of_three_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for epoch in 0..3_000 {
            *seen.entry(epoch_order(9, epoch, 3)).or_insert(0_u32) += 1;
        }
        // 500 each; five standard deviations are 102.
        assert!(seen.len() == 6 && seen.values().all(|count| count.abs_diff(500) < 102), "{seen:?}");
    }

    #[test]
    fn the_order_stays_what_it_was() {
        // Noted when this was written: another order would make old checkpoints go on differently.
        assert_eq!(epoch_order(1, 1, 8), [3, 2, 1, 4, 0, 6, 5, 7]);
    }
}
