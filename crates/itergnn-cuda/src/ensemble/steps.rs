//! Batches of many steps: packed on the host, launched one after the other.

use cudarc::driver::{CudaSlice, LaunchConfig};

use super::{Ensemble, UPDATE_THREADS};
use crate::CudaError;
use crate::buffers::address;
use crate::launch::launch_early;
use crate::layout::{Launch, StepNumbers};
use crate::packing::pack;
use crate::report::{RECORD, StepReport};

/// Batches of some steps, ready to be uploaded.
pub(super) struct Chunk {
    steps: Vec<StepNumbers>,
    slots: Vec<i32>,
    packs: usize,
    /// Graphs of every batch.
    pub(super) graphs: Vec<usize>,
}

impl Ensemble {
    /// Packs the batches of some steps.
    pub(super) fn prepare(
        &mut self,
        steps: std::ops::Range<usize>,
        batch: &mut impl FnMut(usize, usize, &mut Vec<u32>) -> f64,
        learns: bool,
    ) -> Result<Chunk, CudaError> {
        let models = self.models();
        let costs = self.plan.costs(&self.network);
        let node_wise = self.network.block().node_wise();
        let mut chunk = Chunk { steps: Vec::new(), slots: Vec::new(), packs: 1, graphs: Vec::new() };
        let mut packed: Vec<Vec<Vec<u32>>> = Vec::new();
        let mut list = Vec::new();
        for step in steps {
            for model in 0..models {
                list.clear();
                let rate = batch(step, model, &mut list);
                self.check_batch(&list)?;
                let target = self.plan.packs_of(&self.samples, &list, costs);
                let packs = pack(&self.samples, &list, target, self.plan.capacity, costs);
                let targets: usize = list.iter().map(|&sample| self.samples.target_count(sample)).sum();
                let nodes: usize = list.iter().map(|&sample| self.samples.node_count(sample)).sum();
                let units = if node_wise { nodes } else { list.len() };
                let learns = learns && !list.is_empty();
                self.times[model] += usize::from(learns);
                let recipe = &self.recipes[model];
                let time = i32::try_from(self.times[model].max(1)).unwrap_or(i32::MAX);
                let second = (1.0 - (recipe.beta_2 as f32).powi(time)).sqrt();
                chunk.steps.push(StepNumbers {
                    packs: (packs.len() * self.plan.cluster) as i32,
                    inverse_targets: 1.0 / targets.max(1) as f32,
                    inverse_units: 1.0 / units.max(1) as f32,
                    rate: rate as f32,
                    correction: second / (1.0 - (recipe.beta_1 as f32).powi(time)),
                    epsilon: recipe.epsilon as f32 * second,
                    learns: i32::from(learns),
                });
                chunk.packs = chunk.packs.max(packs.len());
                chunk.graphs.push(list.len());
                packed.push(packs);
            }
        }
        let graphs = self.plan.capacity.graphs;
        for packs in packed {
            let end = chunk.slots.len() + chunk.packs * graphs;
            for pack in packs {
                let filled = chunk.slots.len() + graphs;
                chunk.slots.extend(pack.into_iter().map(|sample| sample as i32));
                chunk.slots.resize(filled, -1);
            }
            chunk.slots.resize(end, -1);
        }
        Ok(chunk)
    }

    fn check_batch(&self, list: &[u32]) -> Result<(), CudaError> {
        if list.len() > self.batch_size {
            let (found, most) = (list.len(), self.batch_size);
            return Err(CudaError::Input(format!("a batch of {found} graphs, at most {most} were announced")));
        }
        match list.iter().find(|&&sample| sample as usize >= self.samples.len()) {
            Some(sample) => Err(CudaError::Input(format!("sample {sample} of {}", self.samples.len()))),
            None => Ok(()),
        }
    }

    /// Launches the steps of a chunk; their records are on the card when it is done.
    pub(super) fn launch_chunk(&mut self, chunk: &Chunk) -> Result<CudaSlice<f32>, CudaError> {
        let models = self.models();
        let gpu = &self.gpu;
        let stream = &gpu.stream;
        debug_assert!(chunk.packs <= self.packs_cap);
        let steps = stream.clone_htod(&chunk.steps)?;
        let slots = stream.clone_htod(&chunk.slots)?;
        let count = chunk.steps.len() / models;
        let records = stream.alloc_zeros::<f32>(count * models * RECORD)?;
        let parts = self.network.parameters().div_ceil(UPDATE_THREADS);
        let mut update = self.buffers.update(gpu);
        (update.parameter_count, update.parts) = (self.network.parameters() as i32, parts as i32);
        let blocks = chunk.packs * self.plan.cluster;
        update.packs = blocks as i32;
        let mut launch =
            Launch { packs: chunk.packs as i32, samples: self.device_samples.addresses(gpu), ..self.launch };
        let shape = LaunchConfig {
            grid_dim: (blocks as u32, models as u32, 1),
            block_dim: (self.plan.threads as u32, 1, 1),
            shared_mem_bytes: self.plan.shared_bytes as u32,
        };
        let update_shape = LaunchConfig {
            grid_dim: (parts as u32, models as u32, 1),
            block_dim: (UPDATE_THREADS as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        let (step_address, slot_address, record_address) =
            (address(gpu, &steps), address(gpu, &slots), address(gpu, &records));
        for step in 0..count {
            launch.steps = step_address + (step * models * size_of::<StepNumbers>()) as u64;
            launch.slots = slot_address + (4 * step * models * chunk.packs * self.plan.capacity.graphs) as u64;
            update.steps = launch.steps;
            update.records = record_address + (4 * step * models * RECORD) as u64;
            // SAFETY: the structs have the layout that the kernels read, and every address points to a buffer of the
            // size that the plan gave; buffers live until the stream has used them.
            unsafe {
                launch_early(gpu, &self.program.graph_step, shape, &launch)?;
                launch_early(gpu, &self.program.sum_gradients, update_shape, &update)?;
                launch_early(gpu, &self.program.adam, update_shape, &update)?;
            }
        }
        Ok(records)
    }

    /// Waits for the records of steps and adds their reports.
    pub(super) fn collect(
        &self,
        records: &CudaSlice<f32>,
        graphs: &[usize],
        reports: &mut Vec<Vec<StepReport>>,
    ) -> Result<(), CudaError> {
        let records = self.gpu.stream.clone_dtoh(records)?;
        let models = self.models();
        for (step, records) in records.chunks(models * RECORD).enumerate() {
            let report = |(model, record): (usize, &[f32])| StepReport::new(record, graphs[step * models + model]);
            reports.push(records.chunks(RECORD).enumerate().map(report).collect());
        }
        Ok(())
    }
}
