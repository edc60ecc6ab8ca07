//! Batch normalisation and ReLU, column by column.

use crate::real::Real;
use crate::simd::Simd;

/// Rows that are summed apart, so that one addition need not wait for the last.
const CHAINS: usize = 4;

/// Mean and (biased) variance of every column; at least one row.
#[derive(Clone, Copy)]
pub(crate) struct ColumnMoments<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) source: *const T,
    /// `[width]` each.
    pub(crate) mean: *mut T,
    pub(crate) variance: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn column_moments<S: Simd>(args: &ColumnMoments<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let share = S::splat(S::Scalar::ONE / S::Scalar::from_f64(args.rows as f64));
        let minus = S::splat(-S::Scalar::ONE);
        for column in (0..args.width).step_by(S::LANES) {
            let at = |row: usize| S::load(args.source.add(row * args.width + column));
            let mean = S::mul(chained::<S>(args.rows, |sum, row| S::add(sum, at(row))), share);
            let opposite = S::mul(mean, minus);
            let squares = chained::<S>(args.rows, |sum, row| {
                let difference = S::add(at(row), opposite);
                S::mul_add(difference, difference, sum)
            });
            S::store(args.mean.add(column), mean);
            S::store(args.variance.add(column), S::mul(squares, share));
        }
    }
}

#[inline(always)]
unsafe fn chained<S: Simd>(rows: usize, add: impl Fn(S::Vector, usize) -> S::Vector) -> S::Vector {
    // SAFETY: the caller says that the instruction set is available.
    unsafe {
        let mut sums = [S::splat(S::Scalar::ZERO); CHAINS];
        let whole = rows - rows % CHAINS;
        for row in (0..whole).step_by(CHAINS) {
            for chain in 0..CHAINS {
                sums[chain] = add(sums[chain], row + chain);
            }
        }
        for row in whole..rows {
            sums[0] = add(sums[0], row);
        }
        S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3]))
    }
}

/// `target = max(0, scale * source + shift)`, scale and shift by column.
#[derive(Clone, Copy)]
pub(crate) struct AffineRelu<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) source: *const T,
    pub(crate) target: *mut T,
    pub(crate) scale: *const T,
    pub(crate) shift: *const T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn affine_relu<S: Simd>(args: &AffineRelu<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        for column in (0..args.width).step_by(S::LANES) {
            let (scale, shift) = (S::load(args.scale.add(column)), S::load(args.shift.add(column)));
            for row in 0..args.rows {
                let place = row * args.width + column;
                let value = S::mul_add(S::load(args.source.add(place)), scale, shift);
                S::store(args.target.add(place), S::maximum(value, zero));
            }
        }
    }
}

/// What the gradient of a normalisation needs of all rows: with `g` the gradient where `scale * y + shift` is positive
/// and 0 elsewhere, the sums of `g` and of `g (y - mean)` by column.
#[derive(Clone, Copy)]
pub(crate) struct NormaliseSums<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    /// `y`, before normalisation.
    pub(crate) source: *const T,
    /// Gradient of what follows ReLU.
    pub(crate) gradient: *const T,
    /// `[width]` each.
    pub(crate) scale: *const T,
    pub(crate) shift: *const T,
    pub(crate) mean: *const T,
    pub(crate) sums: *mut T,
    pub(crate) products: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn normalise_sums<S: Simd>(args: &NormaliseSums<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let (zero, minus) = (S::splat(S::Scalar::ZERO), S::splat(-S::Scalar::ONE));
        for column in (0..args.width).step_by(S::LANES) {
            let (scale, shift) = (S::load(args.scale.add(column)), S::load(args.shift.add(column)));
            let opposite = S::mul(S::load(args.mean.add(column)), minus);
            let (mut sums, mut products) = ([zero; 2], [zero; 2]);
            let at = |row: usize| {
                let place = row * args.width + column;
                let source = S::load(args.source.add(place));
                let open = S::greater(S::mul_add(source, scale, shift), zero);
                (S::select(open, S::load(args.gradient.add(place)), zero), S::add(source, opposite))
            };
            // Two rows at a time, so that both chains have registers of their own.
            for row in (0..args.rows - args.rows % 2).step_by(2) {
                for chain in 0..2 {
                    let (gradient, difference) = at(row + chain);
                    sums[chain] = S::add(sums[chain], gradient);
                    products[chain] = S::mul_add(gradient, difference, products[chain]);
                }
            }
            if args.rows % 2 == 1 {
                let (gradient, difference) = at(args.rows - 1);
                sums[0] = S::add(sums[0], gradient);
                products[0] = S::mul_add(gradient, difference, products[0]);
            }
            S::store(args.sums.add(column), S::add(sums[0], sums[1]));
            S::store(args.products.add(column), S::add(products[0], products[1]));
        }
    }
}

/// `target = scale * g + constant + slope * (y - mean)` with `g` as in [`NormaliseSums`]: the gradient of a
/// normalisation.
#[derive(Clone, Copy)]
pub(crate) struct NormaliseBackward<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) source: *const T,
    pub(crate) gradient: *const T,
    pub(crate) target: *mut T,
    /// `[width]` each.
    pub(crate) scale: *const T,
    pub(crate) shift: *const T,
    pub(crate) mean: *const T,
    pub(crate) constant: *const T,
    pub(crate) slope: *const T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn normalise_backward<S: Simd>(args: &NormaliseBackward<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let (zero, minus) = (S::splat(S::Scalar::ZERO), S::splat(-S::Scalar::ONE));
        for column in (0..args.width).step_by(S::LANES) {
            let (scale, shift) = (S::load(args.scale.add(column)), S::load(args.shift.add(column)));
            let opposite = S::mul(S::load(args.mean.add(column)), minus);
            let (constant, slope) = (S::load(args.constant.add(column)), S::load(args.slope.add(column)));
            for row in 0..args.rows {
                let place = row * args.width + column;
                let source = S::load(args.source.add(place));
                let open = S::greater(S::mul_add(source, scale, shift), zero);
                let gradient = S::select(open, S::load(args.gradient.add(place)), zero);
                let rest = S::mul_add(slope, S::add(source, opposite), constant);
                S::store(args.target.add(place), S::mul_add(scale, gradient, rest));
            }
        }
    }
}
