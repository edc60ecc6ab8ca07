//! Sums of the rows of senders, and their gradient.

use crate::real::Real;
use crate::simd::Simd;

/// `target_r = rectify(start + sum over incoming edges k of weights_k source_s)`.
#[derive(Clone, Copy)]
pub(crate) struct Convolve<T> {
    pub(crate) nodes: usize,
    /// Values of a row to sum, a multiple of the row alignment.
    pub(crate) width: usize,
    /// `[nodes + 1]`, `[edges]`, `[edges]`.
    pub(crate) offsets: *const u32,
    pub(crate) senders: *const u32,
    pub(crate) weights: *const T,
    /// `[nodes, source_row]`.
    pub(crate) source: *const T,
    pub(crate) source_row: usize,
    /// `[width]`.
    pub(crate) start: *const T,
    /// Slope for negative values.
    pub(crate) slope: T,
    /// `[nodes, width]`.
    pub(crate) target: *mut T,
}

/// Returns whether all sums are finite.
///
/// # Safety
/// The instruction set is available; the pointers are valid for the shapes, and `target` overlaps nothing.
#[inline(always)]
pub(super) unsafe fn convolve<S: Simd>(args: &Convolve<S::Scalar>) -> bool {
    let mut column = 0;
    let mut poison = S::Scalar::ZERO;
    // SAFETY: the panels partition the width, which is a multiple of the vector length.
    unsafe {
        while column < args.width {
            let rest = (args.width - column) / S::LANES;
            let vectors = match rest {
                4.. => {
                    poison += panel::<S, 4>(args, column);
                    4
                }
                2.. => {
                    poison += panel::<S, 2>(args, column);
                    2
                }
                _ => {
                    poison += panel::<S, 1>(args, column);
                    1
                }
            };
            column += vectors * S::LANES;
        }
    }
    poison == S::Scalar::ZERO
}

/// Some columns of all nodes; returns a sum that is zero unless a value is not finite.
#[inline(always)]
unsafe fn panel<S: Simd, const V: usize>(args: &Convolve<S::Scalar>, column: usize) -> S::Scalar {
    // SAFETY: the caller keeps `column + V` vectors within the width.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let (slope, mut poison) = (S::splat(args.slope), zero);
        for node in 0..args.nodes {
            let mut sums = [zero; V];
            for v in 0..V {
                sums[v] = S::load(args.start.add(column + v * S::LANES));
            }
            for edge in *args.offsets.add(node) as usize..*args.offsets.add(node + 1) as usize {
                let sender = *args.senders.add(edge) as usize;
                add_row::<S, V>(&mut sums, *args.weights.add(edge), args.source.add(sender * args.source_row + column));
            }
            for v in 0..V {
                let value = sums[v];
                poison = S::mul_add(value, zero, poison);
                let value = S::select(S::greater(value, zero), value, S::mul(value, slope));
                S::store(args.target.add(node * args.width + column + v * S::LANES), value);
            }
        }
        S::sum(poison)
    }
}

#[inline(always)]
unsafe fn add_row<S: Simd, const V: usize>(sums: &mut [S::Vector; V], weight: S::Scalar, row: *const S::Scalar) {
    // SAFETY: the caller passes a row of V vectors.
    unsafe {
        let weight = S::splat(weight);
        for v in 0..V {
            sums[v] = S::mul_add(weight, S::load(row.add(v * S::LANES)), sums[v]);
        }
    }
}

/// The gradient of [`Convolve`]'s source and, where asked for, of its weights.
#[derive(Clone, Copy)]
pub(crate) struct ConvolveBackward<T> {
    pub(crate) nodes: usize,
    pub(crate) width: usize,
    pub(crate) offsets: *const u32,
    pub(crate) senders: *const u32,
    pub(crate) weights: *const T,
    /// `[nodes, width]`: gradient of the sums.
    pub(crate) gradient: *const T,
    /// `[nodes, source_row]`, added to.
    pub(crate) source_gradient: *mut T,
    pub(crate) source_row: usize,
    /// `[nodes, source_row]`; null unless the gradients of the weights are wanted.
    pub(crate) source: *const T,
    /// `[edges]`: gradients of the weights.
    pub(crate) weight_gradient: *mut T,
}

/// # Safety
/// The instruction set is available; the pointers are valid for the shapes, and the targets overlap nothing.
#[inline(always)]
pub(super) unsafe fn convolve_backward<S: Simd>(args: &ConvolveBackward<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for node in 0..args.nodes {
            let gradient = args.gradient.add(node * args.width);
            for edge in *args.offsets.add(node) as usize..*args.offsets.add(node + 1) as usize {
                let sender = *args.senders.add(edge) as usize;
                let product = send_back::<S>(args, gradient, sender, *args.weights.add(edge));
                if !args.source.is_null() {
                    *args.weight_gradient.add(edge) = product;
                }
            }
        }
    }
}

/// Adds a weighted gradient to a sender's row; returns the product of the gradient with that row of the source, if
/// there is one.
#[inline(always)]
unsafe fn send_back<S: Simd>(
    args: &ConvolveBackward<S::Scalar>,
    gradient: *const S::Scalar,
    sender: usize,
    weight: S::Scalar,
) -> S::Scalar {
    // SAFETY: the sender is a node of the graph, whose rows have at least `width` values.
    unsafe {
        let weight = S::splat(weight);
        let start = sender * args.source_row;
        if args.source.is_null() {
            for column in (0..args.width).step_by(S::LANES) {
                let target = args.source_gradient.add(start + column);
                S::store(target, S::mul_add(weight, S::load(gradient.add(column)), S::load(target)));
            }
            return S::Scalar::ZERO;
        }
        let mut product = S::splat(S::Scalar::ZERO);
        for column in (0..args.width).step_by(S::LANES) {
            let target = args.source_gradient.add(start + column);
            let value = S::load(gradient.add(column));
            S::store(target, S::mul_add(weight, value, S::load(target)));
            product = S::mul_add(value, S::load(args.source.add(start + column)), product);
        }
        S::sum(product)
    }
}

/// `gradient *= slope` where `values` is not above zero.
#[derive(Clone, Copy)]
pub(crate) struct RectifyBackward<T> {
    /// A multiple of the row alignment.
    pub(crate) len: usize,
    /// What the rectifier gave.
    pub(crate) values: *const T,
    pub(crate) slope: T,
    pub(crate) gradient: *mut T,
}

/// # Safety
/// The instruction set is available; pointers are valid for the length.
#[inline(always)]
pub(super) unsafe fn rectify_backward<S: Simd>(args: &RectifyBackward<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let (zero, slope) = (S::splat(S::Scalar::ZERO), S::splat(args.slope));
        for position in (0..args.len).step_by(S::LANES) {
            let gradient = S::load(args.gradient.add(position));
            let above = S::greater(S::load(args.values.add(position)), zero);
            S::store(args.gradient.add(position), S::select(above, gradient, S::mul(gradient, slope)));
        }
    }
}
