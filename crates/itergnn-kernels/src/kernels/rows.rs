//! Small passes over rows of node states.

use crate::real::Real;
use crate::simd::Simd;

/// `target = keep * target + weight * source`, row by row.
#[derive(Clone, Copy)]
pub(crate) struct WeightedAdd<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) source: *const T,
    pub(crate) target: *mut T,
    /// One weight per row (`weight_step = 1`) or one for all (`weight_step = 0`).
    pub(crate) weights: *const T,
    pub(crate) weight_step: usize,
    /// What the old values are multiplied by, in the same steps; null for 1.
    pub(crate) keeps: *const T,
    /// If not null, `[rows]`: the product of each row of `source` with the same row of this matrix is stored in
    /// `products`.
    pub(crate) factor: *const T,
    pub(crate) products: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn weighted_add<S: Simd>(args: &WeightedAdd<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for row in 0..args.rows {
            let weight = S::splat(*args.weights.add(row * args.weight_step));
            let mut product = S::splat(S::Scalar::ZERO);
            let keep = if args.keeps.is_null() { S::Scalar::ONE } else { *args.keeps.add(row * args.weight_step) };
            let keep = S::splat(keep);
            for column in (0..args.width).step_by(S::LANES) {
                let position = row * args.width + column;
                let source = S::load(args.source.add(position));
                let target = args.target.add(position);
                S::store(target, S::mul_add(weight, source, S::mul(keep, S::load(target))));
                if !args.factor.is_null() {
                    product = S::mul_add(source, S::load(args.factor.add(position)), product);
                }
            }
            if !args.factor.is_null() {
                *args.products.add(row) = S::sum(product);
            }
        }
    }
}

/// `target[c] += sum over rows of source[r, c]`.
#[derive(Clone, Copy)]
pub(crate) struct ColumnSum<T> {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) source: *const T,
    pub(crate) source_row: usize,
    pub(crate) target: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn column_sum<S: Simd>(args: &ColumnSum<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for column in (0..args.columns).step_by(S::LANES) {
            let mut sum = S::load(args.target.add(column));
            for row in 0..args.rows {
                sum = S::add(sum, S::load(args.source.add(row * args.source_row + column)));
            }
            S::store(args.target.add(column), sum);
        }
    }
}

/// Elementwise maximum over rows (at least one), and which row has it first; or an old maximum raised by the rows that
/// changed.
#[derive(Clone, Copy)]
pub(crate) struct PoolMax<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) source: *const T,
    /// `[width]`; with `changed`, holds the old maximum.
    pub(crate) target: *mut T,
    /// `[width]`; not written with `changed`.
    pub(crate) positions: *mut u32,
    /// `[rows]`: 1 for the rows that may raise the maximum; null to take it over all.
    pub(crate) changed: *const u8,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn pool_max<S: Simd>(args: &PoolMax<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let one = S::splat(S::Scalar::ONE);
        for column in (0..args.width).step_by(S::LANES) {
            if !args.changed.is_null() {
                let mut best = S::load(args.target.add(column));
                for row in 0..args.rows {
                    if *args.changed.add(row) == 1 {
                        best = S::maximum(S::load(args.source.add(row * args.width + column)), best);
                    }
                }
                S::store(args.target.add(column), best);
                continue;
            }
            let mut best = S::load(args.source.add(column));
            let mut position = S::splat(S::Scalar::ZERO);
            let mut number = position;
            for row in 1..args.rows {
                number = S::add(number, one);
                let value = S::load(args.source.add(row * args.width + column));
                let better = S::greater(value, best);
                best = S::select(better, value, best);
                position = S::select(better, number, position);
            }
            S::store(args.target.add(column), best);
            S::store_words(args.positions.add(column), position);
        }
    }
}

/// Sets values to zero that are too small to matter.
#[derive(Clone, Copy)]
pub(crate) struct Flush<T> {
    /// A multiple of the row alignment.
    pub(crate) len: usize,
    pub(crate) values: *mut T,
}

/// Returns whether all values are finite.
///
/// # Safety
/// The instruction set is available; the pointer is valid for the length.
#[inline(always)]
pub(super) unsafe fn flush<S: Simd>(args: &Flush<S::Scalar>) -> bool {
    // SAFETY: the contract of the function.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let (smallest, minus) = (S::splat(S::Scalar::NEGLIGIBLE), S::splat(-S::Scalar::ONE));
        let mut poison = zero;
        for position in (0..args.len).step_by(S::LANES) {
            let value = S::load(args.values.add(position));
            let size = S::maximum(value, S::mul(value, minus));
            poison = S::mul_add(value, zero, poison);
            S::store(args.values.add(position), S::select(S::greater(size, smallest), value, zero));
        }
        S::sum(poison) == S::Scalar::ZERO
    }
}

/// `target += source`.
#[derive(Clone, Copy)]
pub(crate) struct AddAssign<T> {
    /// A multiple of the row alignment.
    pub(crate) len: usize,
    pub(crate) source: *const T,
    pub(crate) target: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the length.
#[inline(always)]
pub(super) unsafe fn add_assign<S: Simd>(args: &AddAssign<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for position in (0..args.len).step_by(S::LANES) {
            let target = args.target.add(position);
            S::store(target, S::add(S::load(target), S::load(args.source.add(position))));
        }
    }
}
