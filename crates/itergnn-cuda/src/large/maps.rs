//! What surrounds the iterations on a large graph: embedding, readout and head.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};

use super::{LargeGraph, PLAIN_THREADS};
use crate::buffers::address;
use crate::layout::LargeLaunch;
use crate::{CudaError, Network, Perceptron, Readout};

impl LargeGraph {
    /// The maps of a perceptron on rows of `input`, each given with the distance of its rows; the last one goes to
    /// `target`.
    pub(super) fn perceptron(
        &self,
        net: &Perceptron,
        (mut input, mut input_stride): (u64, usize),
        parameters: u64,
        (target, stride): (u64, usize),
        rows: usize,
    ) -> Result<(), CudaError> {
        let stream = &self.gpu.stream;
        let numbers = net.numbers(0, 0, rows);
        let maps = net.widths.len() - 1;
        let mut between: Vec<CudaSlice<f32>> = Vec::new();
        for map in 0..maps {
            let (inputs, outputs) = (net.widths[map], net.widths[map + 1]);
            let (output, output_stride) = if map + 1 == maps {
                (target, stride)
            } else {
                // SAFETY: the launch below writes every number.
                between.push(unsafe { stream.alloc(rows * outputs)? });
                (address(&self.gpu, &between[map]), outputs)
            };
            let weight = parameters + 4 * numbers.parameters[map] as u64;
            let active = i32::from(map + 1 < maps || net.final_activation);
            let blocks = (rows * output_stride).div_ceil(PLAIN_THREADS as usize).clamp(1, 1 << 20);
            let shape =
                LaunchConfig { grid_dim: (blocks as u32, 1, 1), block_dim: (PLAIN_THREADS, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: the arguments are those of `large_map`, and the buffers have the sizes that they say.
            unsafe {
                stream
                    .launch_builder(&self.program.map)
                    .arg(&input)
                    .arg(&(input_stride as i32))
                    .arg(&weight)
                    .arg(&output)
                    .arg(&(rows as i32))
                    .arg(&(inputs as i32))
                    .arg(&(outputs as i32))
                    .arg(&(output_stride as i32))
                    .arg(&i32::from(net.biased))
                    .arg(&active)
                    .launch(shape)?;
            }
            (input, input_stride) = (output, output_stride);
        }
        Ok(())
    }

    /// Readout and head: the predictions.
    pub(super) fn read_out(
        &self,
        network: &Network,
        parameters: u64,
        states: &CudaSlice<f32>,
        output: &CudaSlice<f32>,
        parts: &CudaSlice<f32>,
        blocks: usize,
    ) -> Result<Vec<f32>, CudaError> {
        let (gpu, stream) = (&self.gpu, &self.gpu.stream);
        let hidden = network.block().hidden_width().next_multiple_of(4);
        let outputs = network.head.widths.last().copied().unwrap_or(1);
        let head = parameters + 4 * (network.parameters() - network.head.parameters()) as u64;
        let (input, rows) = if network.is_node_level() {
            (address(gpu, output), self.nodes)
        } else if network.readout == Readout::First {
            (address(gpu, output), 1)
        } else {
            let launch = LargeLaunch {
                states: address(gpu, states),
                output: address(gpu, output),
                parts: address(gpu, parts),
                node_count: self.nodes as i32,
                part_count: blocks as i32,
                ..LargeLaunch::default()
            };
            self.order(&self.program.read, &launch, blocks, self.program.edge_threads, 0)?;
            self.order(&self.program.gather, &launch, 1, self.program.edge_threads, 0)?;
            (address(gpu, parts), 1)
        };
        let values = stream.alloc_zeros::<f32>(rows * outputs)?;
        self.perceptron(&network.head, (input, hidden), head, (address(gpu, &values), outputs), rows)?;
        Ok(stream.clone_dtoh(&values)?)
    }
}
