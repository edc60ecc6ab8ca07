//! Widths as the kernels pad them, and what follows from them: the memory of a thread block.

use crate::Network;
use crate::packing::Capacity;
use crate::plan::Plan;

/// Beyond this a tile of edges only takes memory.
const LARGE_TILE: usize = 128;

/// Widest states, messages and inputs whose weights fit into the registers of the sliced kernels.
const SLICED_HIDDEN: usize = 64;
const SLICED_MESSAGE: usize = 96;
const SLICED_INPUT: usize = 16;

/// Widths as the kernels pad them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    pub(crate) hidden: usize,
    pub(crate) vector: usize,
    pub(crate) message: usize,
    pub(crate) product: usize,
    /// Strides: of rows of vectors or products, of states, of winners.
    pub(crate) row: usize,
    pub(crate) state: usize,
    pub(crate) winner: usize,
    /// Stride of rows in the planes that tensor cores multiply, in numbers of two bytes.
    pub(crate) plane: usize,
    pub(crate) edge: usize,
    pub(crate) convolution: bool,
    pub(crate) attention: bool,
    /// Whether edges have scores, and the numbers of a score.
    pub(crate) scored: bool,
    pub(crate) score: usize,
    pub(crate) sliced: bool,
}

impl Widths {
    /// As `kernels/types.cu` has them.
    pub(crate) fn of(network: &Network, sliced: bool) -> Self {
        let block = network.block();
        let pad = |width: usize| width.next_multiple_of(if sliced { 8 } else { 4 });
        let hidden = pad(block.hidden_width());
        let convolution = block.is_convolution();
        let vector = pad(block.input_width() + usize::from(block.biased() && !convolution)) + hidden;
        let message = pad(block.message_width());
        let product = message * (1 + usize::from(block.uses_receiver()));
        let (edge, scored) = (network.edge_width(), block.has_score());
        let score = match (scored, convolution) {
            (true, true) => pad(2 * hidden + edge + 1) + (edge + 1) * hidden,
            (true, false) => pad(2 * vector + edge + 1),
            _ => 0,
        };
        let attention = scored && !convolution;
        let wide = product.max(vector);
        let row = if sliced { (wide + 23) / 32 * 32 + 8 } else { wide };
        let (state, winner) = if sliced { (row, hidden + 8) } else { (hidden, hidden) };
        let plane = (wide + 55) / 64 * 64 + 8;
        Self {
            hidden,
            vector,
            message,
            product,
            row,
            state,
            winner,
            plane,
            edge,
            convolution,
            attention,
            scored,
            score,
            sliced,
        }
    }

    /// Whether the sliced kernels know the network.
    pub(crate) fn can_be_sliced(network: &Network) -> bool {
        let widths = Self::of(network, true);
        let maximum = !widths.convolution && !widths.attention && !network.block().uses_receiver();
        maximum
            && widths.hidden <= SLICED_HIDDEN
            && widths.message <= SLICED_MESSAGE
            && widths.vector - widths.hidden <= SLICED_INPUT
    }

    /// Threads of a block: a warp for every slice of eight channels; otherwise one tile of each weight's gradient for a
    /// thread, or two where there are many, and more threads than tiles where the rest of the work can use them. Beyond
    /// 512 a thread has fewer registers than the tiles need.
    pub(crate) fn threads(&self) -> usize {
        if self.sliced {
            return 4 * self.message.max(self.hidden);
        }
        let tiles = (self.vector / 4 * (self.product / 4)).max(self.message / 4 * (self.hidden / 4));
        let threads = match tiles {
            0..=288 => (2 * tiles).clamp(128, 512),
            289..=512 => 512,
            _ => tiles.div_ceil(2).min(512),
        };
        threads.next_multiple_of(32)
    }

    /// Bytes of an edge in a tile: activations and messages; in the sliced kernels planes of activations and of the
    /// gradients of messages, and messages.
    fn tile_bytes(&self, training: bool) -> usize {
        let planes = 6 * self.plane * (1 + usize::from(training));
        if self.sliced { planes + 4 * self.row } else { 4 * (self.message + self.hidden) }
    }

    /// Edges of a tile come in multiples of this.
    fn tile_step(&self) -> usize {
        if self.sliced { 16 } else { 4 }
    }
}

impl Plan {
    /// Edges that must at least fit: the lanes of a column meet in the memory of a tile.
    pub(crate) fn smallest_tile(&self, widths: &Widths) -> usize {
        let width = if widths.sliced { widths.row } else { widths.message };
        (self.threads * 4).div_ceil(width).next_multiple_of(widths.tile_step())
    }

    pub(crate) fn widest_tile(&self, widths: &Widths, available: usize, wanted: Option<usize>) -> Option<usize> {
        let step = widths.tile_step();
        let empty = Self { edge_tile: 0, ..*self }.shared(widths);
        let left = available.checked_sub(empty + 64)?;
        let tile = left / widths.tile_bytes(self.training) / step * step;
        let useful = if widths.convolution { 0 } else { self.capacity.edges.next_multiple_of(step).min(LARGE_TILE) };
        let useful = useful.max(self.smallest_tile(widths));
        let tile = tile.min(wanted.map_or(useful, |wanted| wanted.next_multiple_of(step)));
        (tile >= self.smallest_tile(widths)).then_some(tile)
    }

    /// Bytes of dynamic shared memory; keep in step with `lay_out` in `kernels/pack.cu`.
    pub(crate) fn shared(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let graphs = self.capacity.graphs;
        // Three counts, eleven lists with one entry per graph, and three numbers of the active ones.
        let pack = aligned(4 * (3 + 5 * graphs + 1 + 2 * graphs + 2 + 4 * graphs));
        let lanes = self.threads / (widths.hidden / 4);
        let floats = |count: usize| aligned(4 * count);
        let second = if widths.convolution { 0 } else { widths.message * widths.hidden };
        let layer = if widths.sliced {
            let Capacity { rows, edges, .. } = self.capacity;
            let planes = |count: usize| aligned(6 * count * widths.plane);
            let both = 1 + usize::from(self.training);
            both * (planes(self.edge_tile) + planes(rows + 1))
                + floats(self.edge_tile * widths.row)
                + aligned(16 * rows)
                + floats(edges)
                + floats(2 * (both - 1) * edges)
        } else {
            floats(widths.vector * widths.product)
                + floats(second)
                + floats(if widths.attention && self.training { second } else { 0 })
                + floats(widths.score)
                + floats(if self.training { widths.score } else { 0 })
                + floats(if widths.convolution { 0 } else { widths.edge * widths.message })
                + floats(widths.hidden)
                + floats(self.edge_tile * widths.message)
                + floats(self.edge_tile * widths.hidden)
        };
        let fixed = pack + layer + floats(widths.hidden + 4) + 2 * floats(lanes * widths.hidden);
        if self.large { fixed } else { fixed + self.row_bytes(widths) }
    }

    /// Bytes of what a pack keeps per row and edge, in shared or global memory.
    pub(crate) fn row_bytes(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let Capacity { rows, edges, .. } = self.capacity;
        let index = if self.large { 4 } else { 2 };
        let winners = if widths.sliced && self.training { 2 * rows } else { rows };
        let winner = if self.wide_winners { 2 } else { 1 };
        let backward = if self.training { edges } else { 0 };
        let receiver = if widths.product > widths.message { backward } else { 0 };
        let scored = |count: usize| aligned(if widths.scored { 4 * count } else { 0 });
        2 * aligned(4 * rows * widths.row)
            + aligned(4 * rows * widths.state)
            + aligned(4 * edges * widths.edge)
            + aligned(4 * backward * widths.edge)
            + 2 * scored(rows)
            + aligned(if widths.attention { 4 * rows * widths.hidden } else { 0 })
            + 2 * scored(edges)
            + scored(backward)
            + 5 * aligned(4 * self.units_most())
            + aligned(winner * winners * widths.winner)
            + 3 * aligned(index * edges)
            + 3 * aligned(index * backward)
            + aligned(index * receiver)
            + aligned(index * rows / 4)
            + 4 * aligned(index * rows)
            + aligned(rows)
    }

    /// Room for units: graphs, or rows where nodes stop on their own.
    pub(crate) fn units_most(&self) -> usize {
        self.capacity.rows.max(self.capacity.graphs)
    }
}

/// Global memory of one pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub(crate) floats: usize,
    pub(crate) winner_bytes: usize,
    pub(crate) row_bytes: usize,
}

impl Workspace {
    pub(crate) fn bytes(&self) -> u64 {
        (4 * self.floats + self.winner_bytes + self.row_bytes) as u64
    }
}
