//! Widths as the kernels pad them, and what follows from them: the memory of a thread block.

use crate::Network;
use crate::packing::Capacity;
use crate::plan::Plan;

/// Beyond this a tile of edges only takes memory.
const LARGE_TILE: usize = 128;

/// Edges of a tile come in multiples of this.
const TILE_STEP: usize = 16;

/// Widths as the kernels pad them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    pub(crate) hidden: usize,
    pub(crate) vector: usize,
    pub(crate) message: usize,
    pub(crate) product: usize,
    /// Stride of rows of vectors or products.
    pub(crate) row: usize,
    /// Numbers of an edge in a tile: activations, and with them messages.
    pub(crate) activation: usize,
    pub(crate) tile: usize,
    pub(crate) edge: usize,
    pub(crate) convolution: bool,
    pub(crate) attention: bool,
    /// Whether edges have scores, and the numbers of a score.
    pub(crate) scored: bool,
    pub(crate) score: usize,
    /// Whether nodes stop on their own.
    pub(crate) node_wise: bool,
}

impl Widths {
    /// As `kernels/types.cu` has them.
    pub(crate) fn of(network: &Network) -> Self {
        let block = network.block();
        let pad = |width: usize| width.next_multiple_of(8);
        let hidden = pad(block.hidden_width());
        let convolution = block.is_convolution();
        let vector = pad(block.input_width() + usize::from(block.biased() && !convolution)) + hidden;
        let message = pad(block.message_width());
        let product = message * (1 + usize::from(block.uses_receiver()));
        let (edge, scored) = (network.edge_width(), block.has_score());
        let score = match (scored, convolution) {
            (true, true) => (2 * hidden + edge + 1).next_multiple_of(4) + (edge + 1) * hidden,
            (true, false) => (2 * vector + edge + 1).next_multiple_of(4),
            _ => 0,
        };
        let attention = scored && !convolution;
        let wide = product.max(vector);
        let apart = |width: usize| width + 4;
        let (row, activation) = (apart(wide), apart(message));
        let tile = activation + apart(hidden);
        let node_wise = block.node_wise();
        Self {
            hidden,
            vector,
            message,
            product,
            row,
            activation,
            tile,
            edge,
            convolution,
            attention,
            scored,
            score,
            node_wise,
        }
    }

    /// Whether thread blocks can share a graph: its nodes stop together, and what goes back reaches senders only.
    pub(crate) fn can_be_shared(network: &Network) -> bool {
        let block = network.block();
        !block.is_convolution() && !block.has_score() && !block.uses_receiver() && !block.node_wise()
    }

    /// Threads of a block: as many as keep the tensor cores of all parts of a multiprocessor busy, fewer for small
    /// networks. Beyond 512 a thread has fewer registers than products need.
    pub(crate) fn threads(&self) -> usize {
        let tiles = (self.vector / 4 * (self.product / 4)).max(self.message / 4 * (self.hidden / 4));
        let threads = match tiles {
            0..=288 => (2 * tiles).clamp(128, 512),
            289..=512 => 512,
            _ => tiles.div_ceil(2).min(512),
        };
        threads.next_multiple_of(32)
    }
}

impl Plan {
    /// Edges that must at least fit: the lanes of a column meet in the memory of a tile.
    pub(crate) fn smallest_tile(&self, widths: &Widths) -> usize {
        // Four numbers of each thread in the activations, and eight in activations and messages.
        let least = (4 * self.threads).div_ceil(widths.activation).max((8 * self.threads).div_ceil(widths.tile));
        least.next_multiple_of(TILE_STEP)
    }

    pub(crate) fn widest_tile(&self, widths: &Widths, available: usize, wanted: Option<usize>) -> Option<usize> {
        let step = TILE_STEP;
        let empty = Self { edge_tile: 0, ..*self }.shared(widths);
        let left = available.checked_sub(empty + 64)?;
        let tile = left / (4 * widths.tile) / step * step;
        let useful = if widths.convolution { 0 } else { self.capacity.edges.next_multiple_of(step).min(LARGE_TILE) };
        let useful = useful.max(self.smallest_tile(widths));
        let tile =
            tile.min(wanted.map_or(useful, |wanted| wanted.next_multiple_of(step).max(self.smallest_tile(widths))));
        (tile >= self.smallest_tile(widths)).then_some(tile)
    }

    /// Bytes of dynamic shared memory; keep in step with `lay_out` in `kernels/pack.cu`.
    pub(crate) fn shared(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let graphs = self.capacity.graphs;
        // Three counts, seventeen lists with one entry per graph, and four numbers of the active ones.
        let pack = aligned(4 * (3 + 5 * graphs + 1 + 2 * graphs + 3 + 10 * graphs));
        let exchange = if self.cluster > 1 { 4 * self.cluster * graphs * widths.hidden } else { 0 };
        let picked = if self.training { graphs * widths.hidden } else { 0 };
        let floats = |count: usize| aligned(4 * count);
        let second = if widths.convolution { 0 } else { widths.message * widths.hidden };
        let layer = floats(widths.vector * widths.product)
            + floats(second)
            + floats(if widths.attention && self.training { second } else { 0 })
            + floats(widths.score)
            + floats(if self.training { widths.score } else { 0 })
            + floats(if widths.convolution { 0 } else { widths.edge * widths.message })
            + floats(widths.hidden)
            + floats(self.edge_tile * widths.tile);
        let fixed = pack
            + layer
            + floats(exchange)
            + floats(picked)
            + floats(widths.hidden + 4)
            + floats(graphs * widths.hidden);
        if self.large { fixed } else { fixed + self.row_bytes(widths) }
    }

    /// Bytes of what a pack keeps per row and edge, in shared or global memory.
    pub(crate) fn row_bytes(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let Capacity { rows, edges, .. } = self.capacity;
        let index = if self.large { 4 } else { 2 };
        let winner = if self.wide_winners { 2 } else { 1 };
        let backward = if self.training { edges } else { 0 };
        let receiver = if widths.product > widths.message { backward } else { 0 };
        let scored = |count: usize| aligned(if widths.scored { 4 * count } else { 0 });
        2 * aligned(4 * rows * widths.row)
            + aligned(4 * rows * widths.hidden)
            + aligned(if widths.convolution && !widths.scored && self.training { 4 * rows * widths.row } else { 0 })
            + aligned(4 * edges * widths.edge)
            + aligned(4 * backward * widths.edge)
            + 2 * scored(rows)
            + aligned(if widths.attention { 4 * rows * widths.hidden } else { 0 })
            + 2 * scored(edges)
            + scored(backward)
            + 5 * aligned(4 * self.units_most(widths))
            + aligned(winner * rows * widths.hidden)
            + 3 * aligned(index * edges)
            + 3 * aligned(index * backward)
            + aligned(index * receiver)
            + aligned(index * rows / 4)
            + 4 * aligned(index * rows)
            + aligned(rows)
    }

    /// Room for units: graphs, or rows where nodes stop on their own.
    pub(crate) fn units_most(&self, widths: &Widths) -> usize {
        if widths.node_wise { self.capacity.rows } else { self.capacity.graphs }
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
