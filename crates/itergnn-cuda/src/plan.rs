//! How the work is laid out: threads, packs, shared memory, workspace.

use crate::gpu::Limits;
use crate::layout::Launch;
use crate::packing::{Capacity, Costs, best_work, packs_of, rows};
use crate::sizes::{Widths, Workspace};
use crate::{CudaError, Network, Perceptron, Readout, Samples, Tuning};

/// Most graphs of a thread block.
const GRAPHS: usize = 8;

/// Most thread blocks that share a graph.
const CLUSTER: usize = 4;

/// Rows of a graph's largest share, up to which a block of a cluster does better with 256 threads than with 512.
const FEW_ROWS: usize = 16;

/// A tile of edges below this spends more time waiting than multiplying.
const SMALL_TILE: usize = 32;

/// Sizes of everything in a thread block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    pub(crate) blocks_per_multiprocessor: usize,
    pub(crate) large: bool,
    /// Thread blocks that share a pack.
    pub(crate) cluster: usize,
    /// Packs of a model that find a place on the card at once, where blocks share them.
    pub(crate) packs_at_once: usize,
    /// Work of a pack, where it has several graphs.
    pub(crate) pack_work: usize,
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
        // Numbers of a map's rows are counted with 31 bits.
        let widest = network.ends.iter().map(Perceptron::widest).max().unwrap_or(0);
        if (most_rows + most_edges).saturating_mul(GRAPHS * widest) > i32::MAX as usize {
            return Err(CudaError::Unsupported(format!("answers about the edges of a graph with {most_edges}")));
        }
        let widths = Widths::of(network);
        let several = tuning.graphs.is_some_and(|graphs| graphs > 1);
        let cluster = match (limits.clusters && Widths::can_be_shared(network), tuning.cluster) {
            (true, Some(wanted)) => wanted.clamp(1, CLUSTER),
            (true, None) if !several => limits.cluster(models * batch, CLUSTER),
            _ => 1,
        };
        // A block that has a few rows of a graph waits less with fewer warps.
        let few_rows = cluster > 1 && most_rows <= FEW_ROWS * cluster;
        let threads = tuning.threads.unwrap_or(widths.threads().min(if few_rows { 256 } else { usize::MAX }));
        // The smallest graphs share a cluster where one for each would not find a place at once.
        let packs_at_once = match tuning.graphs {
            _ if cluster == 1 => usize::MAX,
            Some(graphs) => batch.div_ceil(graphs),
            None => limits.clusters_at_once(cluster) / models.max(1),
        };
        let most_graphs = match cluster {
            1 => GRAPHS.min(threads / (widths.hidden / 4)),
            _ if batch <= packs_at_once || !training => 1,
            _ => 2,
        };
        let indices_fit = |capacity: Capacity| capacity.rows.max(capacity.edges) < 1 << 16;
        let mut plan = Self {
            threads,
            blocks_per_multiprocessor: 1,
            large: false,
            cluster,
            packs_at_once: packs_at_once.max(1),
            pack_work: 0,
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
            if others || tuning.large == Some(true) {
                continue;
            }
            let places =
                if cluster > 1 { limits.clusters_at_once(cluster) } else { limits.multiprocessors * blocks }.max(1);
            let share = tuning.graphs.unwrap_or((models * batch).div_ceil(places)).clamp(1, most_graphs);
            // As many graphs as spread the work over the card, fewer where shared memory ends; an eighth or a quarter
            // more room than the mean needs, which tiles of edges lack.
            for graphs in (1..=share).rev() {
                let in_packs = training && graphs > 1 && cluster == 1;
                let mut best = None;
                for eighths in if in_packs { 9..=10 } else { 10..=10 } {
                    let room = |most: usize, mean: usize| {
                        if graphs == 1 { most } else { most.max(mean * graphs * eighths / 8) }
                    };
                    let capacity = Capacity {
                        graphs: most_graphs,
                        rows: rows(room(most_rows, mean_rows)),
                        edges: room(most_edges, mean_edges),
                    };
                    plan = Self { blocks_per_multiprocessor: blocks, capacity, graphs_per_pack: graphs, ..plan };
                    let tile = plan.widest_tile(&widths, limits.shared_memory(blocks), tuning.edge_tile);
                    let small = if widths.convolution { 0 } else { SMALL_TILE };
                    let enough = small.max(plan.smallest_tile(&widths)).min(tuning.edge_tile.unwrap_or(usize::MAX));
                    let Some(tile) = tile.filter(|&tile| indices_fit(capacity) && (tile >= enough || graphs == 1))
                    else {
                        continue;
                    };
                    plan.edge_tile = tile;
                    plan.shared_bytes = plan.shared(&widths);
                    let costs = plan.costs(network);
                    plan.pack_work = graphs * (mean_rows * costs.row + mean_edges * costs.edge);
                    let mut time = 0;
                    if in_packs {
                        let at_once = (models, batch, places);
                        // Convolutions take all edges at once.
                        let tiles = if widths.convolution { usize::MAX } else { tile };
                        (plan.pack_work, time) = best_work(samples, at_once, capacity, tiles, costs, plan.pack_work);
                    }
                    if best.as_ref().is_none_or(|&(other, _)| time < other) {
                        best = Some((time, plan));
                    }
                }
                if let Some((_, plan)) = best {
                    return Ok(plan);
                }
            }
        }
        plan.in_global_memory(limits, &widths, tuning)
            .ok_or_else(|| CudaError::Unsupported(format!("a hidden width of {}", network.block().hidden_width())))
    }

    /// The plan for graphs too large for shared memory, one for each thread block.
    fn in_global_memory(self, limits: &Limits, widths: &Widths, tuning: &Tuning) -> Option<Self> {
        let mut plan = Self { large: true, cluster: 1, blocks_per_multiprocessor: 1, graphs_per_pack: 1, ..self };
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
            ("TRAIN", usize::from(self.training)),
            ("PADDING", 8),
            ("CLUSTER", self.cluster),
        ]
    }

    /// How many packs a batch should make: as many as find a place where blocks share them, otherwise such that each
    /// has its usual work. What other models have does not matter, so that a model's sums are made in the same order
    /// beside any others.
    pub(crate) fn packs_of(&self, samples: &Samples, batch: &[u32], costs: Costs) -> usize {
        if self.graphs_per_pack == 1 || self.cluster > 1 {
            return batch.len().min(self.packs_at_once);
        }
        let work: usize = batch.iter().map(|&sample| costs.of(samples, sample)).sum();
        packs_of(work, self.pack_work, batch.len())
    }

    /// Work of a row and of an edge, for dividing it evenly.
    pub(crate) fn costs(&self, network: &Network) -> Costs {
        let widths = Widths::of(network);
        let edge = if widths.convolution { widths.hidden } else { widths.message * widths.hidden };
        Costs { row: widths.vector * widths.product, edge }
    }

    /// Most rows of a pack that the head has.
    fn answers(&self, network: &Network) -> usize {
        let Capacity { graphs, rows, edges } = self.capacity;
        match network.readout {
            Readout::Edge => edges,
            Readout::Pointer => edges + rows,
            _ => rows.max(graphs),
        }
    }

    /// Fills in what a launch must know about sizes; returns the workspace of one pack.
    pub(crate) fn describe(&self, network: &Network, outputs: usize, launch: &mut Launch) -> Workspace {
        let widths = Widths::of(network);
        let (row_cap, iterations, graphs) = (self.capacity.rows, self.iterations, self.capacity.graphs);
        let units = self.units_most(&widths);
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
        // The head's maps and those in front of it, on all rows that it has.
        let answers = self.answers(network);
        let read: usize = network.ends.iter().chain([head]).map(Perceptron::values).sum();
        launch.at_perceptron = reserve(row_cap * embedding.values() + answers * read);
        let widest = network.ends.iter().chain([embedding, head]).map(Perceptron::widest).max().unwrap_or(0);
        let scratch = (row_cap.max(answers) * widest).next_multiple_of(4);
        // What the head reads and three gradients; for edges and pointers see `kernels/ends.cu`.
        let places = match network.ends.len() {
            0 => 4,
            _ if !self.training => 5,
            ends => 5 + 2 * ends,
        };
        launch.at_scratch = reserve(places * scratch);
        launch.scratch_size = scratch as i32;
        launch.schedule_units = units as i32;
        launch.embedding = embedding.numbers(0, 0, row_cap);
        let mut parameter = embedding.parameters() + blocks * network.block_parameters();
        let mut output = row_cap * embedding.values();
        for (index, net) in network.ends.iter().enumerate() {
            launch.ends[index] = net.numbers(parameter, output, answers);
            (parameter, output) = (parameter + net.parameters(), output + answers * net.values());
        }
        // Vectors of edges and of nodes lie together.
        let last = |net: &Perceptron| net.widths.len() - 2;
        if let [edge, own] = &network.ends[..] {
            launch.ends[1].outputs[last(own)] = launch.ends[0].outputs[last(edge)];
        }
        launch.head = head.numbers(parameter, output, answers);
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
