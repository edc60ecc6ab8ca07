//! Predictions for graphs that do not fit into a thread block.

mod maps;

use cudarc::driver::{CudaFunction, CudaSlice, LaunchConfig, PushKernelArg};

use itergnn_kernels::block::BlockConfig;

use crate::buffers::address;
use crate::layout::{LargeLaunch, ProgressNumbers};
use crate::program::{LargeProgram, TILE};
use crate::{CudaError, Gpu, Mode, Network, SampleView};

/// Steps that are ordered before the host asks whether the graph has stopped.
const STEPS_AT_ONCE: usize = 16;

/// Threads of the kernels that look at every number once.
const PLAIN_THREADS: u32 = 256;

/// One graph of any size on the card; every multiprocessor works on it.
///
/// It covers path-sim, path and mpnn-max with maximum aggregation and every controller with one confidence per graph;
/// see [`LargeGraph::covers`].
pub struct LargeGraph {
    gpu: Gpu,
    program: LargeProgram,
    network: Network,
    nodes: usize,
    edges: usize,
    chunks: usize,
    inputs: CudaSlice<f32>,
    features: CudaSlice<f32>,
    incoming: CudaSlice<u32>,
    senders: CudaSlice<u32>,
    receivers: CudaSlice<u32>,
    chunk_rows: CudaSlice<u32>,
}

/// What a network predicts for one graph.
#[derive(Debug, Clone, PartialEq)]
pub struct LargeAnswer {
    /// The prediction, or one row after the other for node-level networks.
    pub values: Vec<f32>,
    /// Iterations over all blocks.
    pub iterations: usize,
    /// Whether a cap ended a loop.
    pub capped: bool,
    /// Seconds of the steps alone, without transfers, embedding and readout.
    pub seconds: f64,
}

impl LargeGraph {
    /// Whether the kernels for large graphs cover a network.
    pub fn covers(network: &Network) -> bool {
        let is_covered = |block: &BlockConfig| block.aggregates_by_max() && !block.node_wise();
        network.validate().is_ok() && network.ends.is_empty() && is_covered(network.block())
    }

    /// Puts a graph on the card for networks of the shape of `network`.
    ///
    /// # Errors
    /// [`CudaError::Unsupported`] for a network that is not covered, [`CudaError::Input`] for a graph that contradicts
    /// itself or the network, [`CudaError::Memory`] for one that the card does not hold.
    pub fn new(gpu: &Gpu, network: &Network, graph: &SampleView<'_>) -> Result<Self, CudaError> {
        if !Self::covers(network) {
            let layer = &network.block().layer;
            let what =
                format!("one large graph with {} by {}, or nodes that stop alone", layer.kind, layer.aggregation);
            return Err(CudaError::Unsupported(what));
        }
        let (node_width, edge_width) = (network.embedding.widths[0], network.edge_width());
        graph.check(node_width, if edge_width == 0 { None } else { Some(edge_width) })?;
        let (nodes, edges) = (graph.incoming.len() - 1, graph.senders.len());
        let hidden = network.block().hidden_width().next_multiple_of(4);
        let message = network.block().message_width().next_multiple_of(4);
        let product = message * (1 + usize::from(network.block().uses_receiver()));
        let floats = nodes * (node_width + 2 * hidden + product) + edges * edge_width;
        gpu.check_memory(4 * (floats + 2 * nodes + 2 * edges) as u64 + (64 << 20))?;
        let mut receivers = Vec::with_capacity(edges);
        for (node, pair) in graph.incoming.windows(2).enumerate() {
            receivers.extend(std::iter::repeat_n(node as u32, (pair[1] - pair[0]) as usize));
        }
        let rows = chunk_rows(graph.incoming);
        let some = |list: &[u32]| gpu.stream.clone_htod(if list.is_empty() { &[0][..] } else { list });
        let some_floats = |list: &[f32]| gpu.stream.clone_htod(if list.is_empty() { &[0.0][..] } else { list });
        Ok(Self {
            program: LargeProgram::load(gpu, network)?,
            network: network.clone(),
            nodes,
            edges,
            chunks: rows.len() - 1,
            inputs: some_floats(graph.nodes)?,
            features: some_floats(if edge_width == 0 { &[] } else { graph.edges })?,
            incoming: some(graph.incoming)?,
            senders: some(graph.senders)?,
            receivers: some(&receivers)?,
            chunk_rows: some(&rows)?,
            gpu: gpu.clone(),
        })
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// What a network with these parameters predicts.
    ///
    /// # Errors
    /// [`CudaError::Input`] for parameters that do not fit; what the driver reports.
    pub fn predict(&self, network: &Network, parameters: &[f32], mode: Mode) -> Result<LargeAnswer, CudaError> {
        if !network.has_shape_of(&self.network) || parameters.len() != network.parameters() {
            return Err(CudaError::Input("a network of another shape than the graph was loaded for".to_owned()));
        }
        let (gpu, stream) = (&self.gpu, &self.gpu.stream);
        let block = network.block();
        let hidden = block.hidden_width().next_multiple_of(4);
        let message = block.message_width().next_multiple_of(4);
        let product = message * (1 + usize::from(block.uses_receiver()));
        let parameters = stream.clone_htod(parameters)?;
        let start = address(gpu, &parameters);
        // SAFETY: every number of them is written before it is read.
        let (mut states, mut output, first) = unsafe {
            (
                stream.alloc::<f32>(self.nodes * hidden)?,
                stream.alloc::<f32>(self.nodes * hidden)?,
                stream.alloc::<f32>(self.nodes * product)?,
            )
        };
        let edge_blocks = (gpu.multiprocessors() * self.program.edge_blocks).min(self.chunks).max(1);
        let node_blocks = (gpu.multiprocessors() * self.program.node_blocks).min(self.nodes.div_ceil(TILE)).max(1);
        let read_blocks = gpu.multiprocessors() * 4;
        let parts = stream.alloc_zeros::<f32>(edge_blocks.max(read_blocks) * hidden)?;
        let widths = &network.embedding.widths;
        let inputs = (address(gpu, &self.inputs), widths[0]);
        self.perceptron(&network.embedding, inputs, start, (address(gpu, &states), hidden), self.nodes)?;
        let (mut iterations, mut capped, mut seconds) = (0, false, 0.0);
        for index in 0..network.blocks.len() {
            if index > 0 {
                std::mem::swap(&mut states, &mut output);
            }
            let at = network.embedding.parameters() + index * network.block_parameters();
            let layer = start + 4 * at as u64;
            let layer_parameters = network.layer_parameters();
            let launch = LargeLaunch {
                layer,
                confidence: layer + 4 * (block.layers() * layer_parameters) as u64,
                nodes: address(gpu, &self.inputs),
                features: address(gpu, &self.features),
                incoming: address(gpu, &self.incoming),
                senders: address(gpu, &self.senders),
                receivers: address(gpu, &self.receivers),
                chunks: address(gpu, &self.chunk_rows),
                states: address(gpu, &states),
                output: address(gpu, &output),
                first: address(gpu, &first),
                parts: address(gpu, &parts),
                progress: 0,
                recipe: network.numbers(None, mode.cap, mode.settles),
                node_count: self.nodes as i32,
                node_width: widths[0] as i32,
                chunk_count: self.chunks as i32,
                part_count: edge_blocks as i32,
                iterative: i32::from(block.iterative().is_some()),
            };
            stream.memset_zeros(&mut output)?;
            let (now, time) = self.steps(launch, [node_blocks, edge_blocks], layer_parameters)?;
            seconds += time;
            iterations += now.steps as usize;
            capped |= now.capped != 0;
        }
        let values = self.read_out(network, start, &states, &output, &parts, read_blocks)?;
        Ok(LargeAnswer { values, iterations, capped, seconds })
    }

    /// Runs a block to its end; how it ended, and the seconds that it took.
    fn steps(
        &self,
        mut launch: LargeLaunch,
        [node_blocks, edge_blocks]: [usize; 2],
        layer: usize,
    ) -> Result<(ProgressNumbers, f64), CudaError> {
        let stream = &self.gpu.stream;
        let begun = ProgressNumbers { remaining: 1.0, before: 1.0, running: 1, ..ProgressNumbers::default() };
        let progress = stream.clone_htod(&[begun])?;
        launch.progress = address(&self.gpu, &progress);
        let stack = self.network.block().is_stack();
        let (program, first_layer) = (&self.program, launch.layer);
        let mut ordered = 0;
        // What was ordered before must be done before the clock means anything.
        stream.synchronize()?;
        let clock = std::time::Instant::now();
        loop {
            for _ in 0..STEPS_AT_ONCE.min(launch.recipe.cap as usize - ordered) {
                if stack {
                    launch.layer = first_layer + 4 * (ordered * layer) as u64;
                }
                self.order(&program.products, &launch, node_blocks, program.node_threads, program.node_bytes)?;
                self.order(&program.messages, &launch, edge_blocks, program.edge_threads, program.edge_bytes)?;
                self.order(&program.confide, &launch, 1, program.edge_threads, 0)?;
                ordered += 1;
            }
            let now = stream.clone_dtoh(&progress)?[0];
            if now.running == 0 {
                let blocks = self.gpu.multiprocessors() * 8;
                self.order(&program.finish, &launch, blocks, PLAIN_THREADS, 0)?;
                stream.synchronize()?;
                return Ok((now, clock.elapsed().as_secs_f64()));
            }
        }
    }

    fn order(
        &self,
        function: &CudaFunction,
        launch: &LargeLaunch,
        blocks: usize,
        threads: u32,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let shape = LaunchConfig {
            grid_dim: (blocks as u32, 1, 1),
            block_dim: (threads, 1, 1),
            shared_mem_bytes: bytes as u32,
        };
        // SAFETY: the struct has the layout that the kernels read, and its addresses are those of buffers of the
        // graph's size that outlive the launch.
        unsafe { self.gpu.stream.launch_builder(function).arg(launch).launch(shape)? };
        Ok(())
    }
}

/// First receivers of chunks of at most [`TILE`] receivers and edges, or of one receiver with more edges; and behind
/// the last.
fn chunk_rows(incoming: &[u32]) -> Vec<u32> {
    let mut rows = vec![0];
    let mut first = 0;
    for node in 0..incoming.len() - 1 {
        let (edges, count) = ((incoming[node + 1] - incoming[first]) as usize, node + 1 - first);
        if node > first && (edges > TILE || count > TILE) {
            rows.push(node as u32);
            first = node;
        }
    }
    rows.push(incoming.len() as u32 - 1);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_every_receiver_once_and_keep_to_a_tile() {
        let degrees = [3, 60, 2, 0, 0, 200, 1, 64, 64].into_iter().chain([0; 150]).chain([5; 40]);
        let mut incoming = vec![0_u32];
        degrees.for_each(|degree: u32| incoming.push(incoming[incoming.len() - 1] + degree));
        let rows = chunk_rows(&incoming);
        assert_eq!((rows[0], rows[rows.len() - 1]), (0, incoming.len() as u32 - 1));
        for pair in rows.windows(2) {
            let (count, edges) = (pair[1] - pair[0], incoming[pair[1] as usize] - incoming[pair[0] as usize]);
            assert!(count >= 1 && count as usize <= TILE && (edges as usize <= TILE || count == 1), "{pair:?}");
        }
    }
}
