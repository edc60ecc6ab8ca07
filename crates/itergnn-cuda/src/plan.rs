//! How the work is laid out: threads, packs, shared memory, workspace.

use crate::gpu::Limits;
use crate::layout::Launch;
use crate::packing::{Capacity, Costs, rows};
use crate::sizes::{Widths, Workspace};
use crate::{CudaError, Network, Samples};

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
    /// Multiply on tensor cores, in single precision, where there are such kernels. By default where every graph has a
    /// multiprocessor for itself: with more, the other kernels, which take less memory for each, are as quick.
    pub sliced: Option<bool>,
}

/// Most graphs of a thread block.
const GRAPHS: usize = 8;

/// A tile of edges below this spends more time waiting than multiplying; on tensor cores sooner.
const SMALL_TILE: usize = 32;
const SMALL_SLICED_TILE: usize = 48;

/// Sizes of everything in a thread block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) blocks_per_multiprocessor: usize,
    pub(crate) large: bool,
    pub(crate) sliced: bool,
    pub(crate) wide_winners: bool,
    pub(crate) training: bool,
    pub(crate) capacity: Capacity,
    pub(crate) edge_tile: usize,
    pub(crate) graphs_per_pack: usize,
    pub(crate) iterations: usize,
    pub(crate) shared_bytes: usize,
}

impl Plan {
    /// A plan for `batch` graphs of each of `models` models at once, all drawn from `samples`.
    #[expect(clippy::too_many_arguments, reason = "what a launch depends on, each once; there is one caller per kind")]
    pub(crate) fn new(
        limits: &Limits,
        network: &Network,
        samples: &Samples,
        models: usize,
        batch: usize,
        iterations: usize,
        training: bool,
        tuning: &Tuning,
    ) -> Result<Self, CudaError> {
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
        let able = limits.tensor_cores && Widths::can_be_sliced(network) && tuning.threads.is_none();
        let wanted = able && tuning.sliced.unwrap_or(models * batch <= limits.multiprocessors);
        for sliced in [true, false] {
            let widths = Widths::of(network, sliced);
            let threads = tuning.threads.unwrap_or(widths.threads());
            let most_graphs = GRAPHS.min(threads / (widths.hidden / 4));
            let indices_fit = |capacity: Capacity| capacity.rows.max(capacity.edges) < 1 << 16;
            let mut plan = Self {
                threads,
                blocks_per_multiprocessor: 1,
                large: false,
                sliced,
                wide_winners,
                training,
                capacity: Capacity { graphs: most_graphs, rows: most_rows, edges: most_edges },
                edge_tile: 0,
                graphs_per_pack: 1,
                iterations,
                shared_bytes: 0,
            };
            for blocks in [1, 2] {
                let others = tuning.blocks_per_multiprocessor.is_some_and(|wanted| wanted != blocks);
                if others || (sliced && (!wanted || blocks > 1)) || tuning.large == Some(true) {
                    continue;
                }
                let places = (limits.multiprocessors * blocks).max(1);
                let share = tuning.graphs.unwrap_or((models * batch).div_ceil(places)).clamp(1, most_graphs);
                // As many graphs as spread the work over the card, fewer where shared memory ends; a quarter more room
                // than the mean needs.
                for graphs in (1..=share).rev() {
                    let room =
                        |most: usize, mean: usize| if graphs == 1 { most } else { most.max(mean * graphs * 5 / 4) };
                    let capacity = Capacity {
                        graphs: most_graphs,
                        rows: rows(room(most_rows, mean_rows)),
                        edges: room(most_edges, mean_edges),
                    };
                    plan = Self { blocks_per_multiprocessor: blocks, capacity, graphs_per_pack: graphs, ..plan };
                    let tile = plan.widest_tile(&widths, limits.shared_memory(blocks), tuning.edge_tile);
                    let small = match (widths.convolution, sliced) {
                        (true, _) => 0,
                        (_, true) => SMALL_SLICED_TILE.min(most_edges.next_multiple_of(16)),
                        (_, false) => SMALL_TILE,
                    };
                    let enough = small.max(plan.smallest_tile(&widths)).min(tuning.edge_tile.unwrap_or(usize::MAX));
                    if indices_fit(capacity) && tile.is_some_and(|tile| tile >= enough || (graphs == 1 && !sliced)) {
                        plan.edge_tile = tile.unwrap_or(enough);
                        plan.shared_bytes = plan.shared(&widths);
                        return Ok(plan);
                    }
                }
            }
            if !sliced {
                return plan.in_global_memory(limits, &widths, tuning).ok_or_else(|| {
                    CudaError::Unsupported(format!("a hidden width of {}", network.block().hidden_width()))
                });
            }
        }
        Err(CudaError::Unsupported("graphs of this size".to_owned()))
    }

    /// The plan for graphs too large for shared memory, one for each thread block.
    fn in_global_memory(self, limits: &Limits, widths: &Widths, tuning: &Tuning) -> Option<Self> {
        let mut plan = Self { large: true, blocks_per_multiprocessor: 1, graphs_per_pack: 1, ..self };
        plan.edge_tile = plan.widest_tile(widths, limits.shared_memory(1), tuning.edge_tile)?;
        plan.shared_bytes = plan.shared(widths);
        Some(plan)
    }

    /// The settings of the kernels that are not the network's.
    pub(crate) fn settings(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("THREADS", self.threads),
            ("GRAPHS", self.capacity.graphs),
            ("BLOCKS_PER_SM", self.blocks_per_multiprocessor),
            ("WIDE_WINNERS", usize::from(self.wide_winners)),
            ("LARGE", usize::from(self.large)),
            ("SLICED", usize::from(self.sliced)),
            ("TRAIN", usize::from(self.training)),
        ]
    }

    /// Work of a row and of an edge, for dividing it evenly.
    pub(crate) fn costs(&self, network: &Network) -> Costs {
        let widths = Widths::of(network, self.sliced);
        let edge = if widths.convolution { widths.hidden } else { widths.message * widths.hidden };
        Costs { row: widths.vector * widths.product, edge }
    }

    /// Fills in what a launch must know about sizes; returns the workspace of one pack.
    pub(crate) fn describe(&self, network: &Network, outputs: usize, launch: &mut Launch) -> Workspace {
        let widths = Widths::of(network, self.sliced);
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
