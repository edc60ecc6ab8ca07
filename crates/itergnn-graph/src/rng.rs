//! The random number generator of the whole project: ChaCha with 8 rounds.
//!
//! ChaCha8 gives the same bits on every platform, and its 64-bit stream number gives each sample of a data set a
//! generator of its own, so that sample `i` does not depend on how many threads made the samples before it. All draws
//! go through 32- or 64-bit integers or `f64`, never `usize`, and no draw uses the platform's `ln` or `exp`.

use rand::SeedableRng;
pub use rand_chacha::ChaCha8Rng;

/// The generator of a seed.
pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The generator of sample `index` under a seed, independent of every other sample's.
///
/// # Example
/// ```
/// use itergnn_graph::rng;
/// use rand::RngExt;
/// assert_eq!(rng::sample(1, 5).random::<u64>(), rng::sample(1, 5).random::<u64>());
/// assert_ne!(rng::sample(1, 5).random::<u64>(), rng::sample(1, 6).random::<u64>());
/// ```
pub fn sample(seed: u64, index: u64) -> ChaCha8Rng {
    let mut generator = seeded(seed);
    generator.set_stream(index);
    generator
}
