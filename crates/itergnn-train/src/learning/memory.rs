//! Memory between steps.

use std::sync::Once;

/// The largest request that raises the thresholds of glibc's allocator (32 MiB on 64-bit machines), less what the
/// allocator adds to it.
const LARGEST_REQUEST: usize = (32 << 20) - (64 << 10);

/// Makes the allocator keep what a training step, or a prediction, frees for the next one.
///
/// A step frees some megabytes of tensors and the next one asks for as many. Out of the box glibc gives blocks of this
/// size back to the system, which then hands out fresh pages again: a tenth to a fifth of a step. It stops doing so
/// once it has seen a large block come and go; this one is never touched, so it costs nothing. Other allocators do not
/// care.
pub fn keep_freed_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGEST_REQUEST))));
}
