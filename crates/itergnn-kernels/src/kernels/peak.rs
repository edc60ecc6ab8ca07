//! As many multiply-adds as the processor can do.

use crate::real::Real;
use crate::simd::Simd;

/// Multiply-adds that do not wait for each other.
#[derive(Clone, Copy)]
pub(crate) struct Peak<T> {
    pub(crate) rounds: usize,
    pub(crate) factor: T,
    pub(crate) addend: T,
}

/// Chains of multiply-adds: enough to hide the latency of the unit, few enough for the registers.
const CHAINS: usize = 12;

/// Returns twice the number of multiply-adds, and something that depends on all of them.
///
/// # Safety
/// The instruction set is available.
#[inline(always)]
pub(super) unsafe fn peak<S: Simd>(args: &Peak<S::Scalar>) -> (usize, f64) {
    // SAFETY: the contract of the function.
    unsafe {
        let (factor, addend) = (S::splat(args.factor), S::splat(args.addend));
        let mut sums = [addend; CHAINS];
        for _ in 0..args.rounds {
            for chain in 0..CHAINS {
                sums[chain] = S::mul_add(sums[chain], factor, addend);
            }
        }
        let mut total = S::Scalar::ZERO;
        for chain in 0..CHAINS {
            total += S::sum(sums[chain]);
        }
        (2 * args.rounds * CHAINS * S::LANES, total.to_f64())
    }
}
