//! How the work is laid out: threads, packs, shared memory, workspace.

use crate::layout::Launch;
use crate::packing::{Capacity, Costs, rows};
use crate::{CudaError, Gpu, Network, Samples};

/// Settings that change the speed and nothing else; what is `None` is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tuning {
    /// Threads of a block.
    pub threads: Option<usize>,
    /// Thread blocks that share a multiprocessor.
    pub blocks_per_multiprocessor: Option<usize>,
    /// Graphs of a thread block, on average.
    pub graphs: Option<usize>,
    /// Edges whose messages are computed together.
    pub edge_tile: Option<usize>,
    /// Keep node rows in global memory, as graphs too large for shared memory need.
    pub large: Option<bool>,
}

/// Most graphs of a thread block.
const GRAPHS: usize = 8;

/// A tile of edges below this spends more time waiting than multiplying.
const SMALL_TILE: usize = 32;

/// Beyond this a tile only takes memory.
const LARGE_TILE: usize = 128;

/// Sizes of everything in a thread block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) blocks_per_multiprocessor: usize,
    pub(crate) large: bool,
    pub(crate) wide_winners: bool,
    pub(crate) training: bool,
    pub(crate) capacity: Capacity,
    pub(crate) edge_tile: usize,
    pub(crate) graphs_per_pack: usize,
    pub(crate) iterations: usize,
    pub(crate) shared_bytes: usize,
}

/// Widths as the kernels pad them.
#[derive(Debug, Clone, Copy)]
struct Widths {
    hidden: usize,
    vector: usize,
    message: usize,
    product: usize,
    row: usize,
    edge: usize,
    convolution: bool,
    attention: bool,
    /// Whether edges have scores, and the numbers of a score.
    scored: bool,
    score: usize,
}

impl Widths {
    fn of(network: &Network) -> Self {
        let block = network.block();
        let pad = |width: usize| width.next_multiple_of(4);
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
        Self { hidden, vector, message, product, row: product.max(vector), edge, convolution, attention, scored, score }
    }
}

impl Plan {
    /// A plan for `batch` graphs of each of `models` models at once, all drawn from `samples`.
    #[expect(clippy::too_many_arguments, reason = "what a launch depends on, each once; there is one caller per kind")]
    pub(crate) fn new(
        gpu: &Gpu,
        network: &Network,
        samples: &Samples,
        models: usize,
        batch: usize,
        iterations: usize,
        training: bool,
        tuning: &Tuning,
    ) -> Result<Self, CudaError> {
        let widths = Widths::of(network);
        let tiles = (widths.vector / 4 * (widths.product / 4)).max(widths.message / 4 * (widths.hidden / 4));
        // One tile of each weight's gradient for a thread, or two where there are many; more threads than tiles where the rest of the work can use them. Beyond 512 a thread has
        // fewer registers than the tiles need.
        let threads = match tiles {
            0..=288 => (2 * tiles).clamp(128, 512),
            289..=512 => 512,
            _ => tiles.div_ceil(2).min(512),
        };
        let threads = threads.next_multiple_of(32);
        let threads = tuning.threads.unwrap_or(threads);
        let count = samples.len().max(1);
        let sizes = |size: &dyn Fn(u32) -> usize| {
            let all = || (0..samples.len() as u32).map(size);
            (all().max().unwrap_or(0), all().sum::<usize>().div_ceil(count))
        };
        let (most_rows, mean_rows) = sizes(&|sample| rows(samples.node_count(sample)));
        let (most_edges, mean_edges) = sizes(&|sample| samples.edge_count(sample));
        let wide_winners = samples.largest_degree() >= 0x7f;
        if samples.largest_degree() >= 0x7fff {
            return Err(CudaError::Unsupported("a node with more than 32,766 incoming edges".to_owned()));
        }
        let lanes = threads / (widths.hidden / 4);
        let most_graphs = GRAPHS.min(lanes);
        let mut plan = Self {
            threads,
            blocks_per_multiprocessor: 1,
            large: false,
            wide_winners,
            training,
            capacity: Capacity { graphs: most_graphs, rows: most_rows, edges: most_edges },
            edge_tile: 0,
            graphs_per_pack: 1,
            iterations,
            shared_bytes: 0,
        };
        let indices_fit = |capacity: Capacity| capacity.rows.max(capacity.edges) < 1 << 16;
        for blocks in [1, 2] {
            if tuning.blocks_per_multiprocessor.is_some_and(|wanted| wanted != blocks) || tuning.large == Some(true) {
                continue;
            }
            let places = (gpu.multiprocessors() * blocks).max(1);
            let share = tuning.graphs.unwrap_or((models * batch).div_ceil(places)).clamp(1, most_graphs);
            // As many graphs as spread the work over the card, fewer where shared memory ends; a quarter more room than the mean needs.
            for graphs in (1..=share).rev() {
                let room = |most: usize, mean: usize| if graphs == 1 { most } else { most.max(mean * graphs * 5 / 4) };
                let capacity = Capacity {
                    graphs: most_graphs,
                    rows: rows(room(most_rows, mean_rows)),
                    edges: room(most_edges, mean_edges),
                };
                plan = Self { blocks_per_multiprocessor: blocks, capacity, graphs_per_pack: graphs, ..plan };
                let tile = plan.widest_tile(&widths, gpu.shared_memory(blocks), tuning.edge_tile);
                let small = if widths.convolution { 0 } else { SMALL_TILE };
                let enough = small.max(plan.smallest_tile(&widths)).min(tuning.edge_tile.unwrap_or(usize::MAX));
                if indices_fit(capacity) && tile.is_some_and(|tile| tile >= enough || graphs == 1) {
                    plan.edge_tile = tile.unwrap_or(enough);
                    plan.shared_bytes = plan.shared(&widths);
                    return Ok(plan);
                }
            }
        }
        plan.large = true;
        plan.blocks_per_multiprocessor = 1;
        plan.graphs_per_pack = 1;
        plan.capacity = Capacity { graphs: most_graphs, rows: most_rows, edges: most_edges };
        plan.edge_tile = plan
            .widest_tile(&widths, gpu.shared_memory(1), tuning.edge_tile)
            .ok_or_else(|| CudaError::Unsupported(format!("a hidden width of {}", network.block().hidden_width())))?;
        plan.shared_bytes = plan.shared(&widths);
        Ok(plan)
    }

    /// The settings of the kernels that are not the network's.
    pub(crate) fn settings(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("THREADS", self.threads),
            ("GRAPHS", self.capacity.graphs),
            ("BLOCKS_PER_SM", self.blocks_per_multiprocessor),
            ("WIDE_WINNERS", usize::from(self.wide_winners)),
            ("LARGE", usize::from(self.large)),
            ("TRAIN", usize::from(self.training)),
        ]
    }

    /// Work of a row and of an edge, for dividing it evenly.
    pub(crate) fn costs(network: &Network) -> Costs {
        let widths = Widths::of(network);
        let edge = if widths.convolution { widths.hidden } else { widths.message * widths.hidden };
        Costs { row: widths.vector * widths.product, edge }
    }

    /// Edges that must at least fit: the lanes of a column meet in the memory of a tile.
    fn smallest_tile(&self, widths: &Widths) -> usize {
        (self.threads * 4).div_ceil(widths.message).next_multiple_of(4)
    }

    fn widest_tile(&self, widths: &Widths, available: usize, wanted: Option<usize>) -> Option<usize> {
        let empty = Self { edge_tile: 0, ..*self }.shared(widths);
        let left = available.checked_sub(empty + 64)?;
        let tile = left / (4 * (widths.message + widths.hidden)) / 4 * 4;
        let useful = if widths.convolution { 0 } else { self.capacity.edges.next_multiple_of(4).min(LARGE_TILE) };
        let useful = useful.max(self.smallest_tile(widths));
        let tile = tile.min(wanted.unwrap_or(useful));
        (tile >= self.smallest_tile(widths)).then_some(tile)
    }

    /// Bytes of dynamic shared memory; keep in step with `lay_out` in `kernels/pack.cu`.
    fn shared(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let graphs = self.capacity.graphs;
        // Three counts, eleven lists with one entry per graph, and three numbers of the active ones.
        let pack = aligned(4 * (3 + 5 * graphs + 1 + 2 * graphs + 2 + 4 * graphs));
        let lanes = self.threads / (widths.hidden / 4);
        let floats = |count: usize| aligned(4 * count);
        let second = if widths.convolution { 0 } else { widths.message * widths.hidden };
        let fixed = pack
            + floats(widths.vector * widths.product)
            + floats(second)
            + floats(if widths.attention && self.training { second } else { 0 })
            + floats(widths.score)
            + floats(if self.training { widths.score } else { 0 })
            + floats(if widths.convolution { 0 } else { widths.edge * widths.message })
            + floats(widths.hidden)
            + floats(widths.hidden + 4)
            + floats(self.edge_tile * widths.message)
            + floats(self.edge_tile * widths.hidden)
            + 2 * floats(lanes * widths.hidden);
        if self.large { fixed } else { fixed + self.row_bytes(widths) }
    }

    /// Bytes of what a pack keeps per row and edge, in shared or global memory.
    fn row_bytes(&self, widths: &Widths) -> usize {
        let aligned = |bytes: usize| bytes.next_multiple_of(16);
        let Capacity { rows, edges, .. } = self.capacity;
        let index = if self.large { 4 } else { 2 };
        let winner = if self.wide_winners { 2 } else { 1 };
        let backward = if self.training { edges } else { 0 };
        let receiver = if widths.product > widths.message { backward } else { 0 };
        let scored = |count: usize| aligned(if widths.scored { 4 * count } else { 0 });
        2 * aligned(4 * rows * widths.row)
            + aligned(4 * rows * widths.hidden)
            + aligned(4 * edges * widths.edge)
            + aligned(4 * backward * widths.edge)
            + 2 * scored(rows)
            + aligned(if widths.attention { 4 * rows * widths.hidden } else { 0 })
            + 2 * scored(edges)
            + scored(backward)
            + 5 * aligned(4 * self.units_most())
            + aligned(winner * rows * widths.hidden)
            + 3 * aligned(index * edges)
            + 3 * aligned(index * backward)
            + aligned(index * receiver)
            + aligned(index * rows / 4)
            + 4 * aligned(index * rows)
            + aligned(rows)
    }

    /// Room for units: graphs, or rows where nodes stop on their own.
    fn units_most(&self) -> usize {
        self.capacity.rows.max(self.capacity.graphs)
    }

    /// Fills in what a launch must know about sizes; returns the workspace of one pack.
    pub(crate) fn describe(&self, network: &Network, outputs: usize, launch: &mut Launch) -> Workspace {
        let widths = Widths::of(network);
        let (row_cap, iterations, graphs) = (self.capacity.rows, self.iterations, self.capacity.graphs);
        let units = self.units_most();
        let blocks = network.blocks.len();
        let kept = if self.training { blocks } else { 0 };
        let mut at = 0_usize;
        let mut reserve = |count: usize| {
            let start = at;
            at += count.next_multiple_of(4);
            start as i64
        };
        launch.at_states = reserve(kept * (iterations + 1) * row_cap * widths.hidden);
        launch.at_first = reserve(kept * iterations * row_cap * widths.product);
        let shares = if widths.scored { 2 * self.capacity.edges } else { 0 };
        launch.at_shares = reserve(kept * iterations * shares);
        launch.at_pooled = reserve(kept * 2 * iterations * graphs * widths.hidden);
        launch.at_schedule = reserve(kept * 5 * iterations * units);
        launch.at_counts = reserve(kept * (units + graphs));
        launch.at_gradient = reserve(if self.training { row_cap * widths.hidden } else { 0 });
        launch.at_inputs = reserve(row_cap * network.embedding.widths[0]);
        let (embedding, head) = (&network.embedding, &network.head);
        launch.at_perceptron = reserve(row_cap.max(graphs) * (embedding.values() + head.values()));
        let scratch = (row_cap.max(graphs) * embedding.widest().max(head.widest())).next_multiple_of(4);
        launch.at_scratch = reserve(4 * scratch);
        launch.scratch_size = scratch as i32;
        launch.schedule_units = units as i32;
        launch.embedding = embedding.numbers(0, 0, row_cap);
        let head_parameters = network.parameters() - head.parameters();
        launch.head = head.numbers(head_parameters, row_cap * embedding.values(), row_cap.max(graphs));
        launch.parameter_count = network.parameters() as i32;
        launch.block_offset = embedding.parameters() as i32;
        launch.block_parameters = network.block_parameters() as i32;
        launch.blocks = blocks as i32;
        launch.row_cap = row_cap as i32;
        launch.edge_cap = self.capacity.edges as i32;
        launch.edge_tile = self.edge_tile as i32;
        launch.iteration_cap = iterations as i32;
        launch.node_width = embedding.widths[0] as i32;
        launch.outputs = outputs as i32;
        let winners = kept * iterations * row_cap * widths.hidden;
        let rows = if self.large { self.row_bytes(&widths) } else { 0 };
        launch.float_stride = at as i64;
        launch.winner_stride = winners as i64;
        // In units of an index of the large kernels.
        launch.index_stride = rows.div_ceil(4) as i64;
        Workspace {
            floats: at,
            winner_bytes: winners * if self.wide_winners { 2 } else { 1 },
            row_bytes: rows.next_multiple_of(4),
        }
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
