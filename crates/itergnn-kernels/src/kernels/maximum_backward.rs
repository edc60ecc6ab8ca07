//! The sparse gradient of aggregation by maximum.

use super::maximum::Winners;
use super::message::MessageRows;
use crate::real::Real;
use crate::simd::Simd;

/// The gradient of one step with maximum: each receiver and channel has one winner, so nothing is multiplied by zero.
#[derive(Clone, Copy)]
pub(crate) struct MaxBackward<T> {
    pub(crate) nodes: usize,
    pub(crate) offsets: *const u32,
    /// One row per edge.
    pub(crate) rows: MessageRows<T>,
    pub(crate) winners: Winners,
    pub(crate) winner_row: usize,
    /// Hidden width, padded and not.
    pub(crate) width: usize,
    pub(crate) channels: usize,
    /// States after the step: their sign is that of the winning message.
    pub(crate) after: *const T,
    /// Gradient of the states after the step; becomes that of the states before it, as far as it goes past the
    /// messages.
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
    /// Scratch `[BLOCK_NODES, width]`: gradients that go to messages.
    pub(crate) values: *mut T,
    /// Scratch `[BLOCK_NODES, width]`: rows of `first` that belong to them.
    pub(crate) value_rows: *mut u16,
    /// Scratch `[block_rows(width), message width padded]`: the first layer's output of edges that won.
    pub(crate) first: *mut T,
    /// `[nodes]`: becomes 1 for nodes whose prepared rows got a gradient.
    pub(crate) touched: *mut u8,
}

/// Receivers worked on at once.
///
/// The gradient of the second layer is summed channel by channel over a block, in registers; all a block needs stays in
/// the first-level cache.
pub(crate) const BLOCK_NODES: usize = 24;

/// Rows of winning edges that a block has room for: more than one receiver can fill.
pub(crate) const fn block_rows(width: usize) -> usize {
    if width > 64 { width } else { 64 }
}

/// # Safety
/// The instruction set is available; pointers and indices are valid for the shapes.
#[inline(always)]
pub(super) unsafe fn max_backward<S: Simd>(args: &MaxBackward<S::Scalar>) {
    let words = args.width.div_ceil(64);
    let mut block = Block::default();
    for node in 0..args.nodes {
        // SAFETY: the contract of the function.
        unsafe {
            let (first, end) = (*args.offsets.add(node) as usize, *args.offsets.add(node + 1) as usize);
            if first == end {
                continue;
            }
            let most = (words * (end - first)).min(args.width);
            if block.nodes == BLOCK_NODES || block.rows + most > block_rows(args.width) {
                second_backward::<S>(args, &block);
                block = Block::default();
            }
            for word in 0..words {
                let open = take_won::<S>(args, node, word, block.nodes);
                if open != 0 {
                    block.values += open.count_ones() as usize;
                    distribute::<S>(args, node, first..end, word, open, &mut block);
                }
            }
            block.nodes += 1;
        }
    }
    // SAFETY: the contract of the function.
    unsafe { second_backward::<S>(args, &block) }
}

/// How much of the scratch is in use.
#[derive(Default)]
struct Block {
    nodes: usize,
    rows: usize,
    /// Gradients that are not zero.
    values: usize,
}

/// Adds a block's part of the second layer's gradient.
#[inline(always)]
unsafe fn second_backward<S: Simd>(args: &MaxBackward<S::Scalar>, block: &Block) {
    if block.rows == 0 {
        return;
    }
    let vectors = args.rows.width / S::LANES;
    let mut vector = 0;
    while vector < vectors {
        let rest = vectors - vector;
        let width = if rest > S::ROW_VECTORS { rest.div_ceil(2).min(S::ROW_VECTORS) } else { rest };
        let column = vector * S::LANES;
        // SAFETY: the contract of `max_backward`; the columns partition the message width.
        unsafe {
            match width {
                8 if S::ROW_VECTORS >= 8 => second_columns::<S, 8>(args, block, column),
                7 if S::ROW_VECTORS >= 7 => second_columns::<S, 7>(args, block, column),
                6 if S::ROW_VECTORS >= 6 => second_columns::<S, 6>(args, block, column),
                5 => second_columns::<S, 5>(args, block, column),
                4 => second_columns::<S, 4>(args, block, column),
                3 => second_columns::<S, 3>(args, block, column),
                2 => second_columns::<S, 2>(args, block, column),
                _ => second_columns::<S, 1>(args, block, column),
            }
        }
        vector += width;
    }
}

/// Many gradients are taken channel by channel, few one by one.
#[inline(always)]
unsafe fn second_columns<S: Simd, const V: usize>(args: &MaxBackward<S::Scalar>, block: &Block, column: usize) {
    // SAFETY: the contract of `max_backward`.
    unsafe {
        if 3 * block.values < block.nodes * args.channels {
            values_backward::<S, V>(args, block, column);
        } else {
            channels_backward::<S, V>(args, block, column);
        }
    }
}

#[inline(always)]
unsafe fn values_backward<S: Simd, const V: usize>(args: &MaxBackward<S::Scalar>, block: &Block, column: usize) {
    // SAFETY: the contract of `max_backward`; values and rows of the block's nodes were written.
    unsafe {
        let zero = S::splat(S::Scalar::ZERO);
        for start in (0..block.nodes * args.width).step_by(S::LANES) {
            let values = S::load(args.values.add(start));
            let mut bits = S::mask_to_bits(S::greater(values, zero)) | S::mask_to_bits(S::greater(zero, values));
            while bits != 0 {
                let position = start + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let value = S::splat(*args.values.add(position));
                let first = args.first.add(*args.value_rows.add(position) as usize * args.rows.width + column);
                let target = args.second_gradient.add(position % args.width * args.rows.width + column);
                for v in 0..V {
                    let place = target.add(v * S::LANES);
                    S::store(place, S::mul_add(value, S::load(first.add(v * S::LANES)), S::load(place)));
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn channels_backward<S: Simd, const V: usize>(args: &MaxBackward<S::Scalar>, block: &Block, column: usize) {
    for channel in 0..args.channels {
        // SAFETY: the contract of `max_backward`; values and rows of the block's nodes were written.
        unsafe {
            let target = args.second_gradient.add(channel * args.rows.width + column);
            let mut sums = [S::splat(S::Scalar::ZERO); V];
            for v in 0..V {
                sums[v] = S::load(target.add(v * S::LANES));
            }
            for node in 0..block.nodes {
                let position = node * args.width + channel;
                let value = *args.values.add(position);
                if value == S::Scalar::ZERO {
                    continue;
                }
                let first = args.first.add(*args.value_rows.add(position) as usize * args.rows.width + column);
                let value = S::splat(value);
                for v in 0..V {
                    sums[v] = S::mul_add(value, S::load(first.add(v * S::LANES)), sums[v]);
                }
            }
            for v in 0..V {
                S::store(target.add(v * S::LANES), sums[v]);
            }
        }
    }
}

/// Moves the gradients of won channels of one word from the state to row `place` of `values`. Bit `c` of the result:
/// the gradient of channel `c` of the word goes to a message and is not zero.
#[inline(always)]
unsafe fn take_won<S: Simd>(args: &MaxBackward<S::Scalar>, node: usize, word: usize, place: usize) -> u64 {
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
            S::store(args.values.add(place * args.width + channel), sent);
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
    block: &mut Block,
) {
    let vectors = args.rows.width / S::LANES;
    for (number, edge) in edges.enumerate() {
        // SAFETY: the contract of `max_backward`.
        unsafe {
            let won = winner_bits::<S>(args, node, word, number + 1) & open;
            if won == 0 {
                continue;
            }
            let won = Won { edge, row: block.rows, place: block.nodes, word, bits: won };
            let mut bits = won.bits;
            while bits != 0 {
                let channel = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                *args.value_rows.add(won.place * args.width + channel) = won.row as u16;
            }
            block.rows += 1;
            let mut vector = 0;
            while vector < vectors {
                let rest = vectors - vector;
                let width = if rest > S::ROW_VECTORS { rest.div_ceil(2).min(S::ROW_VECTORS) } else { rest };
                let column = vector * S::LANES;
                match width {
                    8 if S::ROW_VECTORS >= 8 => edge_backward::<S, 8>(args, &won, column),
                    7 if S::ROW_VECTORS >= 7 => edge_backward::<S, 7>(args, &won, column),
                    6 if S::ROW_VECTORS >= 6 => edge_backward::<S, 6>(args, &won, column),
                    5 => edge_backward::<S, 5>(args, &won, column),
                    4 => edge_backward::<S, 4>(args, &won, column),
                    3 => edge_backward::<S, 3>(args, &won, column),
                    2 => edge_backward::<S, 2>(args, &won, column),
                    _ => edge_backward::<S, 1>(args, &won, column),
                }
                vector += width;
            }
            open &= !won.bits;
            if open == 0 {
                return;
            }
        }
    }
}

/// Channels of one word that an edge won, the row of `first` that is its, and the row of `values` that is its
/// receiver's.
struct Won {
    edge: usize,
    row: usize,
    place: usize,
    word: usize,
    bits: u64,
}

/// Some columns of the gradient that reaches one edge through the channels it won.
#[inline(always)]
unsafe fn edge_backward<S: Simd, const V: usize>(args: &MaxBackward<S::Scalar>, won: &Won, column: usize) {
    // SAFETY: the contract of `max_backward`; `column` plus V vectors lies within the message width.
    unsafe {
        let (zero, slope) = (S::splat(S::Scalar::ZERO), S::splat(S::Scalar::LEAKY_SLOPE));
        let (rows, edge) = (&args.rows, won.edge);
        let parts = rows.parts(edge);
        let mut first = [zero; V];
        let mut change = [zero; V];
        for v in 0..V {
            let input = rows.input::<S>(parts, column + v * S::LANES);
            first[v] = S::maximum(input, S::mul(input, slope));
            S::store(args.first.add(won.row * rows.width + column + v * S::LANES), first[v]);
        }
        let values = args.values.add(won.place * args.width + won.word * 64);
        let weights = args.second.add(won.word * 64 * rows.width + column);
        let mut bits = won.bits;
        while bits != 0 {
            let channel = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let value = S::splat(*values.add(channel));
            let weight = weights.add(channel * rows.width);
            for v in 0..V {
                change[v] = S::mul_add(value, S::load(weight.add(v * S::LANES)), change[v]);
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
            Winners::Forget => 0,
        }
    };
    bits & mask
}
