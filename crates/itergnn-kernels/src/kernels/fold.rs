//! Messages folded into states in place, and what a state owes to the output settled before it is lost.

use crate::real::Real;
use crate::simd::Simd;

/// A weight that no node has: its row of the output was not written yet.
pub(crate) const UNTOUCHED: f64 = -1.0;

/// The weighted sum of the states, kept up only when a state changes.
///
/// While a node rests, its row owes `state * (total - settled)`, where `total` is the weight given to all iterations so
/// far and `settled` what it was when the row was last brought up to date, or [`UNTOUCHED`].
#[derive(Clone, Copy)]
pub(crate) struct LazyOutput<T> {
    /// `[nodes, width]`; null where no sum is asked for.
    pub(crate) rows: *mut T,
    /// One for all (`total_step = 0`) or one per node (`total_step = 1`).
    pub(crate) totals: *const f64,
    pub(crate) total_step: usize,
    /// `[nodes]`.
    pub(crate) settled: *mut f64,
}

impl<T> LazyOutput<T> {
    /// No sum.
    pub(crate) fn none() -> Self {
        Self { rows: std::ptr::null_mut(), totals: std::ptr::null(), total_step: 0, settled: std::ptr::null_mut() }
    }
}

/// `state = max(state, message)` for the receivers of a list of edges.
#[derive(Clone, Copy)]
pub(crate) struct FoldMax<T> {
    pub(crate) count: usize,
    /// `[count]`: the row of each edge's message; null for all in order.
    pub(crate) rows: *const u32,
    /// `[count]`; edges of one receiver that stand next to each other are taken together.
    pub(crate) receivers: *const u32,
    /// `[rows, width]`.
    pub(crate) messages: *const T,
    pub(crate) width: usize,
    /// `[nodes, width]`.
    pub(crate) states: *mut T,
    /// `[nodes]`: becomes 1 where the state changes, and is left alone elsewhere.
    pub(crate) changed: *mut u8,
    pub(crate) output: LazyOutput<T>,
}

/// Returns whether all messages were finite.
///
/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes, and nobody else uses the rows of
/// the receivers.
#[inline(always)]
pub(super) unsafe fn fold_max<S: Simd>(args: &FoldMax<S::Scalar>) -> bool {
    // SAFETY: the contract of the function.
    unsafe {
        let mut poison = S::splat(S::Scalar::ZERO);
        let mut first = 0;
        while first < args.count {
            let receiver = *args.receivers.add(first);
            let mut end = first + 1;
            while end < args.count && *args.receivers.add(end) == receiver {
                end += 1;
            }
            let run = Run { receiver: receiver as usize, first, end };
            if args.width == 4 * S::LANES {
                whole_row::<S, 4>(args, run, &mut poison);
            } else if args.width == 8 * S::LANES {
                whole_row::<S, 8>(args, run, &mut poison);
            } else {
                any_row::<S>(args, run, &mut poison);
            }
            first = end;
        }
        S::sum(poison) == S::Scalar::ZERO
    }
}

/// Edges `first..end` of the list, all with one receiver.
#[derive(Clone, Copy)]
struct Run {
    receiver: usize,
    first: usize,
    end: usize,
}

#[inline(always)]
unsafe fn message<T>(args: &FoldMax<T>, edge: usize) -> *const T {
    // SAFETY: the lists are as long as the count, and name rows that exist.
    unsafe {
        let row = if args.rows.is_null() { edge } else { *args.rows.add(edge) as usize };
        args.messages.add(row * args.width)
    }
}

/// The larger of the state and its messages in V vectors from `column` on, and whether any message is larger.
#[inline(always)]
unsafe fn best<S: Simd, const V: usize>(
    args: &FoldMax<S::Scalar>,
    run: Run,
    column: usize,
    poison: &mut S::Vector,
) -> ([S::Vector; V], u32) {
    // SAFETY: the contract of `fold_max`; `column` plus V vectors lies within the width.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let state = args.states.add(run.receiver * args.width + column);
        let mut best = [zero; V];
        for v in 0..V {
            best[v] = S::load(state.add(v * S::LANES));
        }
        let mut any = 0;
        for edge in run.first..run.end {
            let message = message(args, edge).add(column);
            for v in 0..V {
                let value = S::load(message.add(v * S::LANES));
                // Zero times an infinite or undefined value is undefined, and stays so in the sum.
                *poison = S::mul_add(value, zero, *poison);
                let better = S::greater(value, best[v]);
                best[v] = S::select(better, value, best[v]);
                any |= S::mask_to_bits(better);
            }
        }
        (best, any)
    }
}

#[inline(always)]
unsafe fn whole_row<S: Simd, const V: usize>(args: &FoldMax<S::Scalar>, run: Run, poison: &mut S::Vector) {
    // SAFETY: the contract of `fold_max`; a row has V vectors.
    unsafe {
        let (best, any) = best::<S, V>(args, run, 0, poison);
        if any != 0 {
            note_change::<S>(args, run.receiver);
            for v in 0..V {
                S::store(args.states.add(run.receiver * args.width + v * S::LANES), best[v]);
            }
        }
    }
}

/// As [`whole_row`] for rows of any width, one vector after the other: first whether anything changes, then the change.
#[inline(always)]
unsafe fn any_row<S: Simd>(args: &FoldMax<S::Scalar>, run: Run, poison: &mut S::Vector) {
    // SAFETY: the contract of `fold_max`.
    unsafe {
        let mut any = 0;
        for column in (0..args.width).step_by(S::LANES) {
            any |= best::<S, 1>(args, run, column, poison).1;
        }
        if any != 0 {
            note_change::<S>(args, run.receiver);
            for column in (0..args.width).step_by(S::LANES) {
                let best = best::<S, 1>(args, run, column, poison).0;
                S::store(args.states.add(run.receiver * args.width + column), best[0]);
            }
        }
    }
}

/// Marks a node whose state is about to change, and settles its row of the output at the first change.
#[inline(always)]
unsafe fn note_change<S: Simd>(args: &FoldMax<S::Scalar>, node: usize) {
    // SAFETY: the contract of `fold_max`.
    unsafe {
        let changed = args.changed.add(node);
        if *changed == 0 && !args.output.rows.is_null() {
            settle_row::<S>(&args.output, args.states.add(node * args.width), node, args.width);
        }
        *changed = 1;
    }
}

/// Brings one row of the output up to date.
#[inline(always)]
unsafe fn settle_row<S: Simd>(output: &LazyOutput<S::Scalar>, state: *const S::Scalar, node: usize, width: usize) {
    // SAFETY: the caller passes a state of `width` values and a node that has a row.
    unsafe {
        let total = *output.totals.add(node * output.total_step);
        let settled = output.settled.add(node);
        let row = output.rows.add(node * width);
        let fresh = *settled == UNTOUCHED;
        let weight = S::splat(S::Scalar::from_f64(if fresh { total } else { total - *settled }));
        if !fresh && total == *settled {
            return;
        }
        *settled = total;
        for column in (0..width).step_by(S::LANES) {
            let value = S::load(state.add(column));
            let sum = if fresh { S::mul(weight, value) } else { S::mul_add(weight, value, S::load(row.add(column))) };
            S::store(row.add(column), sum);
        }
    }
}
