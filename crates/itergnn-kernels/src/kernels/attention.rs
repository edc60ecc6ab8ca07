//! Aggregation by a weighted sum of messages and its gradient.
//!
//! LeakyReLU'(a) a = LeakyReLU(a), so the way back needs the signs of the messages only: the product of a message with
//! a gradient `g` is `(g s W^T) . z + (g s) . b`, with `s` the slopes at the message, `z` the first layer's output, and
//! `g s W^T` is needed anyway.

use super::active::ActiveEdges;
use crate::real::Real;
use crate::simd::{ROW_ALIGNMENT, Simd};

/// `after = max(before, sum of weight * message)` for nodes with incoming edges.
#[derive(Clone, Copy)]
pub(crate) struct WeightedForward<T> {
    /// The edges of receivers that may change.
    pub(crate) edges: ActiveEdges,
    /// `[rows, width]`.
    pub(crate) messages: *const T,
    /// Padded hidden width.
    pub(crate) width: usize,
    /// `[edges]`.
    pub(crate) weights: *const T,
    pub(crate) before: *const T,
    pub(crate) after: *mut T,
    /// `[nodes]`: becomes 1 where the state changes, else 0.
    pub(crate) changed: *mut u8,
}

/// Returns whether all messages were finite.
///
/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn weighted_forward<S: Simd>(args: &WeightedForward<S::Scalar>) -> bool {
    // SAFETY: the contract of the function.
    unsafe {
        let mut poison = S::splat(S::Scalar::ZERO);
        for node in 0..args.edges.nodes {
            *args.changed.add(node) = 0;
            if args.before == args.after && args.edges.is_unreached(node) {
                continue;
            }
            let mut column = 0;
            while column + 4 * S::LANES <= args.width {
                weighted_columns::<S, 4>(args, node, column, &mut poison);
                column += 4 * S::LANES;
            }
            while column < args.width {
                weighted_columns::<S, 1>(args, node, column, &mut poison);
                column += S::LANES;
            }
        }
        S::sum(poison) == S::Scalar::ZERO
    }
}

#[inline(always)]
unsafe fn weighted_columns<S: Simd, const V: usize>(
    args: &WeightedForward<S::Scalar>,
    node: usize,
    column: usize,
    poison: &mut S::Vector,
) {
    // SAFETY: the contract of `weighted_forward`; `column` plus V vectors lies within the width.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let (first, end) = args.edges.incoming(node);
        let mut sums = [zero; V];
        for edge in first..end {
            let weight = S::splat(*args.weights.add(*args.edges.edges.add(edge) as usize));
            let message = args.messages.add(*args.edges.rows.add(edge) as usize * args.width + column);
            for v in 0..V {
                let value = S::load(message.add(v * S::LANES));
                // Zero times an infinite or undefined value is undefined, and stays so in the sum.
                *poison = S::mul_add(value, zero, *poison);
                sums[v] = S::mul_add(weight, value, sums[v]);
            }
        }
        let mut any = 0;
        for v in 0..V {
            let position = node * args.width + column + v * S::LANES;
            let before = S::load(args.before.add(position));
            let mut after = before;
            if first != end {
                let wins = S::greater(sums[v], before);
                after = S::select(wins, sums[v], before);
                any |= S::mask_to_bits(wins);
            }
            S::store(args.after.add(position), after);
        }
        *args.changed.add(node) |= u8::from(any != 0);
    }
}

/// Notes which values of `[rows, width]` are positive: bit `c % 16` of half-word `c / 16`.
#[derive(Clone, Copy)]
pub(crate) struct Signs<T> {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) values: *const T,
    /// `[rows]`: which edge each row belongs to.
    pub(crate) edges: *const u32,
    /// `[edges, width / 16]`.
    pub(crate) signs: *mut u16,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn signs<S: Simd>(args: &Signs<S::Scalar>) {
    // SAFETY: the contract of the function; rows are whole groups of 16.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let groups = args.width / ROW_ALIGNMENT;
        for row in 0..args.rows {
            let target = args.signs.add(*args.edges.add(row) as usize * groups);
            for group in 0..groups {
                let mut bits = 0;
                for lane in (0..ROW_ALIGNMENT).step_by(S::LANES) {
                    let value = S::load(args.values.add(row * args.width + group * ROW_ALIGNMENT + lane));
                    bits |= S::mask_to_bits(S::greater(value, zero)) << lane;
                }
                *target.add(group) = bits as u16;
            }
        }
    }
}

/// Splits the gradient of `after = max(before, aggregate)` between the two.
#[derive(Clone, Copy)]
pub(crate) struct SplitGradient<T> {
    pub(crate) nodes: usize,
    pub(crate) width: usize,
    pub(crate) before: *const T,
    pub(crate) after: *const T,
    /// Gradient of `after`; becomes the part that goes to `before`.
    pub(crate) gradient: *mut T,
    /// The part that goes to the aggregate.
    pub(crate) sent: *mut T,
    /// `[nodes]`: 1 where any of that part is not zero.
    pub(crate) active: *mut u8,
}

/// # Safety
/// The instruction set is available; pointers are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn split_gradient<S: Simd>(args: &SplitGradient<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        for node in 0..args.nodes {
            let mut any = 0;
            for column in (0..args.width).step_by(S::LANES) {
                let position = node * args.width + column;
                let gradient = S::load(args.gradient.add(position));
                let won = S::greater(S::load(args.after.add(position)), S::load(args.before.add(position)));
                let sent = S::select(won, gradient, zero);
                S::store(args.sent.add(position), sent);
                S::store(args.gradient.add(position), S::select(won, zero, gradient));
                any |= S::mask_to_bits(S::greater(sent, zero)) | S::mask_to_bits(S::greater(zero, sent));
            }
            *args.active.add(node) = u8::from(any != 0);
        }
    }
}

/// Gradient of the second layer's input to LeakyReLU for rows that are edges: `weight * sent[receiver] * slope`.
#[derive(Clone, Copy)]
pub(crate) struct MessageGradient<T> {
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) width: usize,
    /// Receiver and edge of each row.
    pub(crate) receivers: *const u32,
    pub(crate) edges: *const u32,
    /// `[edges]`.
    pub(crate) weights: *const T,
    /// `[nodes, width]`.
    pub(crate) sent: *const T,
    /// `[edges, width / 16]`.
    pub(crate) signs: *const u16,
    /// `[count, width]`.
    pub(crate) target: *mut T,
    /// Second bias `[width]`, or null: then the products are not wanted.
    pub(crate) bias: *const T,
    /// `[count]`: the product of the row with the bias.
    pub(crate) products: *mut T,
}

/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn message_gradient<S: Simd>(args: &MessageGradient<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for row in 0..args.count {
            let receiver = *args.receivers.add(args.first + row) as usize;
            let edge = *args.edges.add(args.first + row) as usize;
            let weight = *args.weights.add(edge);
            let (full, sloped) = (S::splat(weight), S::splat(weight * S::Scalar::LEAKY_SLOPE));
            let mut product = S::splat(S::Scalar::ZERO);
            for column in (0..args.width).step_by(S::LANES) {
                let positive = sign_mask::<S>(args.signs, edge * args.width + column);
                let sent = S::load(args.sent.add(receiver * args.width + column));
                let value = S::mul(sent, S::select(positive, full, sloped));
                S::store(args.target.add(row * args.width + column), value);
                if !args.bias.is_null() {
                    product = S::mul_add(value, S::load(args.bias.add(column)), product);
                }
            }
            if !args.bias.is_null() {
                *args.products.add(row) = S::sum(product);
            }
        }
    }
}

#[inline(always)]
unsafe fn sign_mask<S: Simd>(signs: *const u16, position: usize) -> S::Mask {
    // SAFETY: the caller guarantees that the position lies within the noted signs.
    unsafe { S::mask_from_bits(u32::from(*signs.add(position / ROW_ALIGNMENT)) >> (position % ROW_ALIGNMENT)) }
}

/// Gradient of messages that belong to senders: `target[s] = slope * sum over edges from s of weight * sent[receiver]`,
/// and per edge the product `weight * sent[receiver] . message[s]`.
#[derive(Clone, Copy)]
pub(crate) struct SharedMessageGradient<T> {
    pub(crate) nodes: usize,
    pub(crate) offsets: *const u32,
    pub(crate) senders: *const u32,
    pub(crate) width: usize,
    pub(crate) weights: *const T,
    pub(crate) sent: *const T,
    pub(crate) active: *const u8,
    /// `[nodes, width]`.
    pub(crate) messages: *const T,
    /// `[nodes, width]`.
    pub(crate) target: *mut T,
    /// `[edges]`.
    pub(crate) products: *mut T,
    /// `[nodes]`: becomes 1 for senders that got a gradient, else 0.
    pub(crate) touched: *mut u8,
}

/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn shared_message_gradient<S: Simd>(args: &SharedMessageGradient<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        let (zero, slope) = (S::splat(S::Scalar::ZERO), S::splat(S::Scalar::LEAKY_SLOPE));
        for position in (0..args.nodes * args.width).step_by(S::LANES) {
            S::store(args.target.add(position), zero);
        }
        for node in 0..args.nodes {
            *args.touched.add(node) = 0;
        }
        for receiver in 0..args.nodes {
            let (first, end) = (*args.offsets.add(receiver) as usize, *args.offsets.add(receiver + 1) as usize);
            let active = *args.active.add(receiver) == 1;
            for edge in first..end {
                if !active {
                    *args.products.add(edge) = S::Scalar::ZERO;
                    continue;
                }
                let sender = *args.senders.add(edge) as usize;
                let weight = S::splat(*args.weights.add(edge));
                let mut product = zero;
                *args.touched.add(sender) = 1;
                for column in (0..args.width).step_by(S::LANES) {
                    let value = S::mul(weight, S::load(args.sent.add(receiver * args.width + column)));
                    let position = sender * args.width + column;
                    product = S::mul_add(value, S::load(args.messages.add(position)), product);
                    S::store(args.target.add(position), S::add(S::load(args.target.add(position)), value));
                }
                *args.products.add(edge) = S::sum(product);
            }
        }
        for position in (0..args.nodes * args.width).step_by(S::LANES) {
            let value = S::load(args.target.add(position));
            let positive = S::greater(S::load(args.messages.add(position)), zero);
            S::store(args.target.add(position), S::select(positive, value, S::mul(value, slope)));
        }
    }
}
