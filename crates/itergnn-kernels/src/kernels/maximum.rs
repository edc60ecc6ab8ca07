//! Aggregation by maximum and its sparse gradient.

use super::active::ActiveEdges;
use super::message::MessageRows;
use crate::real::Real;
use crate::simd::Simd;

/// Where the winners of the maximum are noted: 0 for the old state, `j + 1` for the `j`-th incoming edge.
#[derive(Clone, Copy)]
pub(crate) enum Winners {
    /// For at most [`MOST_BYTE_EDGES`] incoming edges.
    Bytes(*mut u8),
    /// For any number of edges that a float counts exactly.
    Words(*mut u32),
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
        let mut poison = S::splat(S::Scalar::ZERO);
        for node in 0..args.edges.nodes {
            *args.changed.add(node) = 0;
            let mut column = 0;
            while column + 4 * S::LANES <= args.width {
                max_columns::<S, 4>(args, node, column, &mut poison);
                column += 4 * S::LANES;
            }
            while column < args.width {
                max_columns::<S, 1>(args, node, column, &mut poison);
                column += S::LANES;
            }
        }
        S::sum(poison) == S::Scalar::ZERO
    }
}

#[inline(always)]
unsafe fn max_columns<S: Simd, const V: usize>(
    args: &MaxForward<S::Scalar>,
    node: usize,
    column: usize,
    poison: &mut S::Vector,
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
        let mut any = 0;
        for edge in first..end {
            let number = S::splat(S::Scalar::from_f64(args.edges.number(node, edge)));
            let message = args.messages.add(*args.edges.rows.add(edge) as usize * args.width + column);
            for v in 0..V {
                let value = S::load(message.add(v * S::LANES));
                // Zero times an infinite or undefined value is undefined, and stays so in the sum.
                *poison = S::mul_add(value, zero, *poison);
                let better = S::greater(value, best[v]);
                best[v] = S::select(better, value, best[v]);
                winner[v] = S::select(better, number, winner[v]);
                any |= S::mask_to_bits(better);
            }
        }
        *args.changed.add(node) |= u8::from(any != 0);
        for v in 0..V {
            S::store(args.after.add(start + v * S::LANES), best[v]);
            let position = node * args.winner_row + column + v * S::LANES;
            match args.winners {
                Winners::Bytes(target) => S::store_bytes(target.add(position), winner[v]),
                Winners::Words(target) => S::store_words(target.add(position), winner[v]),
            }
        }
    }
}

/// The gradient of one step with maximum: each receiver and channel has one winner, so nothing is multiplied by zero.
#[derive(Clone, Copy)]
pub(crate) struct MaxBackward<T> {
    pub(crate) nodes: usize,
    pub(crate) offsets: *const u32,
    /// One row per edge.
    pub(crate) rows: MessageRows<T>,
    pub(crate) winners: Winners,
    pub(crate) winner_row: usize,
    /// Hidden width, padded.
    pub(crate) width: usize,
    /// States after the step: their sign is that of the winning message.
    pub(crate) after: *const T,
    /// Gradient of the states after the step; becomes that of the states before it, as far as it goes past the messages.
    pub(crate) hidden_gradient: *mut T,
    /// Second message layer transposed, `[hidden, message width padded]`, and its gradient, which is added to.
    pub(crate) second: *const T,
    pub(crate) second_gradient: *mut T,
    /// Gradient of the second bias, `[width]`, added to.
    pub(crate) bias_gradient: *mut T,
    /// `[nodes, prepared_row]`, added to.
    pub(crate) prepared_gradient: *mut T,
    /// `[feature_width, message width padded]`, added to.
    pub(crate) edge_weight_gradient: *mut T,
    /// `[edges, feature_width]`, added to; null where not wanted.
    pub(crate) feature_gradient: *mut T,
    /// `[width]` of scratch.
    pub(crate) values: *mut T,
    /// `[nodes]`: becomes 1 for nodes whose prepared rows got a gradient.
    pub(crate) touched: *mut u8,
}

/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn max_backward<S: Simd>(args: &MaxBackward<S::Scalar>) {
    // SAFETY: the contract of the function.
    unsafe {
        for node in 0..args.nodes {
            let (first, end) = (*args.offsets.add(node) as usize, *args.offsets.add(node + 1) as usize);
            if first == end {
                continue;
            }
            // Bit `c` of word `c / 64`: channels whose gradient goes to a message and is not zero.
            for word in 0..args.width.div_ceil(64) {
                let open = take_won::<S>(args, node, word);
                if open != 0 {
                    distribute::<S>(args, node, first..end, word, open);
                }
            }
        }
    }
}

/// Moves the gradients of won channels of one word from the state to `values` and returns which they are.
#[inline(always)]
unsafe fn take_won<S: Simd>(args: &MaxBackward<S::Scalar>, node: usize, word: usize) -> u64 {
    // SAFETY: the contract of `max_backward`.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        let slope = S::splat(S::Scalar::LEAKY_SLOPE);
        let own = winner_bits::<S>(args, node, word, 0);
        let mut open = 0_u64;
        let columns = (args.width - word * 64).min(64);
        for column in (0..columns).step_by(S::LANES) {
            let channel = word * 64 + column;
            let position = node * args.width + channel;
            let gradient = S::load(args.hidden_gradient.add(position));
            let kept = S::mask_from_bits((own >> column) as u32);
            S::store(args.hidden_gradient.add(position), S::select(kept, gradient, zero));
            let sent = S::select(kept, zero, gradient);
            let positive = S::greater(S::load(args.after.add(position)), zero);
            let sent = S::select(positive, sent, S::mul(sent, slope));
            S::store(args.values.add(channel), sent);
            let bias = args.bias_gradient.add(channel);
            S::store(bias, S::add(S::load(bias), sent));
            let used = S::mask_to_bits(S::greater(sent, zero)) | S::mask_to_bits(S::greater(zero, sent));
            open |= u64::from(used) << column;
        }
        open
    }
}

/// Gives the open channels of one word to the edges that won them.
#[inline(always)]
unsafe fn distribute<S: Simd>(
    args: &MaxBackward<S::Scalar>,
    node: usize,
    edges: std::ops::Range<usize>,
    word: usize,
    mut open: u64,
) {
    let vectors = args.rows.width / S::LANES;
    for (number, edge) in edges.enumerate() {
        // SAFETY: the contract of `max_backward`.
        unsafe {
            let won = winner_bits::<S>(args, node, word, number + 1) & open;
            if won == 0 {
                continue;
            }
            let mut vector = 0;
            while vector < vectors {
                let rest = vectors - vector;
                let width = if rest > S::ROW_VECTORS { rest.div_ceil(2).min(S::ROW_VECTORS) } else { rest };
                let column = vector * S::LANES;
                match width {
                    8 if S::ROW_VECTORS >= 8 => edge_backward::<S, 8>(args, edge, word, won, column),
                    7 if S::ROW_VECTORS >= 7 => edge_backward::<S, 7>(args, edge, word, won, column),
                    6 if S::ROW_VECTORS >= 6 => edge_backward::<S, 6>(args, edge, word, won, column),
                    5 => edge_backward::<S, 5>(args, edge, word, won, column),
                    4 => edge_backward::<S, 4>(args, edge, word, won, column),
                    3 => edge_backward::<S, 3>(args, edge, word, won, column),
                    2 => edge_backward::<S, 2>(args, edge, word, won, column),
                    _ => edge_backward::<S, 1>(args, edge, word, won, column),
                }
                vector += width;
            }
            open &= !won;
            if open == 0 {
                return;
            }
        }
    }
}

/// Some columns of the gradient that reaches one edge through the channels it won.
#[inline(always)]
unsafe fn edge_backward<S: Simd, const V: usize>(
    args: &MaxBackward<S::Scalar>,
    edge: usize,
    word: usize,
    won: u64,
    column: usize,
) {
    // SAFETY: the contract of `max_backward`; `column` plus V vectors lies within the message width.
    unsafe {
        let (zero, slope) = (S::splat(S::Scalar::ZERO), S::splat(S::Scalar::LEAKY_SLOPE));
        let rows = &args.rows;
        let mut first = [zero; V];
        let mut change = [zero; V];
        for v in 0..V {
            let input = rows.input::<S>(edge, column + v * S::LANES);
            first[v] = S::maximum(input, S::mul(input, slope));
        }
        let mut bits = won;
        while bits != 0 {
            let channel = word * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let value = S::splat(*args.values.add(channel));
            let weight = args.second.add(channel * rows.width + column);
            let gradient = args.second_gradient.add(channel * rows.width + column);
            for v in 0..V {
                change[v] = S::mul_add(value, S::load(weight.add(v * S::LANES)), change[v]);
                let target = gradient.add(v * S::LANES);
                S::store(target, S::mul_add(value, first[v], S::load(target)));
            }
        }
        for v in 0..V {
            change[v] = S::select(S::greater(first[v], zero), change[v], S::mul(change[v], slope));
        }
        let sender = *rows.senders.add(edge) as usize;
        *args.touched.add(sender) = 1;
        add_to::<S, V>(args.prepared_gradient.add(sender * rows.prepared_row + column), change);
        if let Some(start) = rows.receiver_column {
            let receiver = *rows.receivers.add(edge) as usize;
            *args.touched.add(receiver) = 1;
            add_to::<S, V>(args.prepared_gradient.add(receiver * rows.prepared_row + start + column), change);
        }
        let features = *rows.edges.add(edge) as usize * rows.feature_width;
        for feature in 0..rows.feature_width {
            let value = S::splat(*rows.features.add(features + feature));
            let target = args.edge_weight_gradient.add(feature * rows.width + column);
            for v in 0..V {
                let place = target.add(v * S::LANES);
                S::store(place, S::mul_add(value, change[v], S::load(place)));
            }
            if !args.feature_gradient.is_null() {
                let mut product = zero;
                for v in 0..V {
                    let weight = S::load(rows.edge_weight.add(feature * rows.width + column + v * S::LANES));
                    product = S::mul_add(change[v], weight, product);
                }
                *args.feature_gradient.add(features + feature) += S::sum(product);
            }
        }
    }
}

#[inline(always)]
unsafe fn add_to<S: Simd, const V: usize>(target: *mut S::Scalar, values: [S::Vector; V]) {
    for (v, value) in values.into_iter().enumerate() {
        // SAFETY: the caller guarantees V writable vectors.
        unsafe {
            let place = target.add(v * S::LANES);
            S::store(place, S::add(S::load(place), value));
        }
    }
}

/// Which of 64 channels the given winner won.
#[inline(always)]
unsafe fn winner_bits<S: Simd>(args: &MaxBackward<S::Scalar>, node: usize, word: usize, winner: usize) -> u64 {
    let position = node * args.winner_row + word * 64;
    let valid = args.width - word * 64;
    let mask = if valid >= 64 { u64::MAX } else { (1 << valid) - 1 };
    // SAFETY: winners of a node are padded to a multiple of 64.
    let bits = unsafe {
        match args.winners {
            Winners::Bytes(winners) => S::equal_bytes(winners.add(position), winner as u8),
            Winners::Words(winners) => {
                (0..64).fold(0, |bits, lane| bits | u64::from(*winners.add(position + lane) == winner as u32) << lane)
            }
        }
    };
    bits & mask
}
