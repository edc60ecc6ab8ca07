//! Aggregation by maximum.

use super::active::ActiveEdges;
use crate::real::Real;
use crate::simd::Simd;

/// Where the winners of the maximum are noted: 0 for the old state, `j + 1` for the `j`-th incoming edge.
#[derive(Clone, Copy)]
pub(crate) enum Winners {
    /// For at most [`MOST_BYTE_EDGES`] incoming edges.
    Bytes(*mut u8),
    /// For any number of edges that a float counts exactly.
    Words(*mut u32),
    /// Nowhere.
    Forget,
}

impl Winners {
    /// The winners from the given place on.
    pub(crate) fn starting_at(self, place: usize) -> Self {
        match self {
            Self::Bytes(winners) => Self::Bytes(winners.wrapping_add(place)),
            Self::Words(winners) => Self::Words(winners.wrapping_add(place)),
            Self::Forget => Self::Forget,
        }
    }
}

/// Most incoming edges per node whose winners fit bytes.
pub(crate) const MOST_BYTE_EDGES: usize = 254;

/// Winners of a node are padded to this many, so that 64 of them can be compared at once.
pub(crate) const WINNER_ALIGNMENT: usize = 64;

/// `after = max(before, messages that reach the node)`.
#[derive(Clone, Copy)]
pub(crate) struct MaxForward<T> {
    /// The edges that may win.
    pub(crate) edges: ActiveEdges,
    /// `[rows, width]`.
    pub(crate) messages: *const T,
    /// Padded hidden width.
    pub(crate) width: usize,
    pub(crate) before: *const T,
    pub(crate) after: *mut T,
    /// `[nodes]`: becomes 1 where the state changes, else 0.
    pub(crate) changed: *mut u8,
    pub(crate) winners: Winners,
    /// Winners per node.
    pub(crate) winner_row: usize,
}

/// Returns whether all messages were finite.
///
/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn max_forward<S: Simd>(args: &MaxForward<S::Scalar>) -> bool {
    // SAFETY: the contract of the function.
    unsafe {
        // Several sums, so that an addition need not wait for the one before it.
        let mut poison = [S::splat(S::Scalar::ZERO); 4];
        for node in 0..args.edges.nodes {
            *args.changed.add(node) = 0;
            if args.before == args.after && args.edges.is_unreached(node) {
                continue;
            }
            if matches!(args.winners, Winners::Forget) {
                max_row::<S, false>(args, node, &mut poison);
            } else {
                max_row::<S, true>(args, node, &mut poison);
            }
        }
        let [a, b, c, d] = poison;
        S::sum(S::add(S::add(a, b), S::add(c, d))) == S::Scalar::ZERO
    }
}

#[inline(always)]
unsafe fn max_row<S: Simd, const NOTE: bool>(args: &MaxForward<S::Scalar>, node: usize, poison: &mut [S::Vector; 4]) {
    let mut column = 0;
    // SAFETY: the contract of `max_forward`; the columns lie within the width.
    unsafe {
        while column + 4 * S::LANES <= args.width {
            max_columns::<S, 4, NOTE>(args, node, column, poison);
            column += 4 * S::LANES;
        }
        while column < args.width {
            max_columns::<S, 1, NOTE>(args, node, column, poison);
            column += S::LANES;
        }
    }
}

/// Some columns of a node; the winners only with `NOTE`.
#[inline(always)]
unsafe fn max_columns<S: Simd, const V: usize, const NOTE: bool>(
    args: &MaxForward<S::Scalar>,
    node: usize,
    column: usize,
    poison: &mut [S::Vector; 4],
) {
    // SAFETY: the contract of `max_forward`; `column` plus V vectors lies within the width.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let start = node * args.width + column;
        let (first, end) = args.edges.incoming(node);
        let mut best = [zero; V];
        let mut winner = [zero; V];
        for v in 0..V {
            best[v] = S::load(args.before.add(start + v * S::LANES));
        }
        for edge in first..end {
            let number = if NOTE { S::splat(S::Scalar::from_f64(args.edges.number(node, edge))) } else { zero };
            let message = args.messages.add(*args.edges.rows.add(edge) as usize * args.width + column);
            for v in 0..V {
                let value = S::load(message.add(v * S::LANES));
                // Zero times an infinite or undefined value is undefined, and stays so in the sum.
                poison[v] = S::mul_add(value, zero, poison[v]);
                if NOTE {
                    winner[v] = S::select(S::greater(value, best[v]), number, winner[v]);
                }
                best[v] = S::maximum(value, best[v]);
            }
        }
        let mut any = 0;
        for v in 0..V {
            any |= S::mask_to_bits(S::greater(best[v], S::load(args.before.add(start + v * S::LANES))));
        }
        *args.changed.add(node) |= u8::from(any != 0);
        for v in 0..V {
            S::store(args.after.add(start + v * S::LANES), best[v]);
            let position = node * args.winner_row + column + v * S::LANES;
            match args.winners {
                Winners::Bytes(target) => S::store_bytes(target.add(position), winner[v]),
                Winners::Words(target) => S::store_words(target.add(position), winner[v]),
                Winners::Forget => (),
            }
        }
    }
}
