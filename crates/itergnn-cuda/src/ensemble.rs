//! Models that learn side by side.

mod steps;

use cudarc::driver::{CudaSlice, CudaView};

use crate::buffers::Buffers;
use crate::layout::Launch;
use crate::plan::Plan;
use crate::program::Program;
use crate::report::{Moments, StepReport};
use crate::samples::DeviceSamples;
use crate::{CudaError, Gpu, ModelSpec, Network, Recipe, Samples, Tuning};

/// Steps whose batches are uploaded together: few at first, so that the card soon has something to do.
const CHUNKS: std::ops::RangeInclusive<usize> = 4..=64;

/// Threads of the kernels that add gradients up and update parameters.
const UPDATE_THREADS: usize = 256;

/// How an ensemble is laid out on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnsembleOptions {
    /// Graphs of a batch at most.
    pub batch_size: usize,
    /// Settings that change the speed only.
    pub tuning: Tuning,
}

impl Default for EnsembleOptions {
    fn default() -> Self {
        Self { batch_size: 32, tuning: Tuning::default() }
    }
}

/// Models of one shape on a card, with their samples.
///
/// A run repeats to the bit on the same card: every sum is made in a fixed order.
pub struct Ensemble {
    gpu: Gpu,
    program: Program,
    plan: Plan,
    network: Network,
    recipes: Vec<Recipe>,
    samples: Samples,
    device_samples: DeviceSamples,
    batch_size: usize,
    launch: Launch,
    buffers: Buffers,
    times: Vec<usize>,
    packs_cap: usize,
}

impl Ensemble {
    /// An ensemble that learns from `samples`.
    ///
    /// # Errors
    /// [`CudaError::Unsupported`] for networks without kernels or of different shapes, [`CudaError::Input`] for samples
    /// or parameters that do not fit, [`CudaError::Memory`] for more than the card holds.
    pub fn new(gpu: &Gpu, models: &[ModelSpec], samples: Samples, options: EnsembleOptions) -> Result<Self, CudaError> {
        let Some(model) = models.first() else {
            return Err(CudaError::Input("an ensemble without models".to_owned()));
        };
        let network = model.network.clone();
        network.validate()?;
        samples.check(&network)?;
        let samples = samples.read_by(&network)?;
        for other in models {
            if !other.network.has_shape_of(&network) {
                return Err(CudaError::Unsupported("models of different shapes in one ensemble".to_owned()));
            }
            if other.parameters.len() != network.parameters() {
                let (found, expected) = (other.parameters.len(), network.parameters());
                return Err(CudaError::Input(format!("{found} parameters, expected {expected}")));
            }
        }
        let iterations = models.iter().map(|model| model.network.block().max_iterations()).max().unwrap_or(1);
        let batch = options.batch_size.max(1);
        let plan = Plan::new(gpu.limits(), &network, &samples, models.len(), batch, iterations, true, &options.tuning)?;
        let mut settings = network.settings();
        settings.extend(plan.settings());
        let program = Program::load(gpu, &settings, plan.shared_bytes)?;
        let outputs = network.head.widths.last().copied().unwrap_or(1);
        let mut launch = Launch::default();
        let workspace = plan.describe(&network, outputs, &mut launch);
        let packs_cap = batch;
        let (count, blocks) = (models.len() * network.parameters(), models.len() * packs_cap * plan.cluster);
        let parts = network.parameters().div_ceil(UPDATE_THREADS);
        gpu.check_memory(blocks as u64 * (workspace.bytes() + 4 * network.parameters() as u64) + 16 * count as u64)?;
        let device_samples = DeviceSamples::upload(gpu, &samples)?;
        let buffers = Buffers::new(gpu, models, &network, &workspace, blocks, parts)?;
        launch.samples = device_samples.addresses(gpu);
        buffers.describe(gpu, &mut launch);
        launch.samples_count = samples.len() as i32;
        Ok(Self {
            gpu: gpu.clone(),
            program,
            plan,
            network,
            recipes: models.iter().map(|model| model.recipe).collect(),
            samples,
            device_samples,
            batch_size: batch,
            launch,
            buffers,
            times: vec![0; models.len()],
            packs_cap,
        })
    }

    /// Number of models.
    pub fn models(&self) -> usize {
        self.recipes.len()
    }

    /// The samples that the models learn from.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// How the work is laid out, in words; for notes beside measurements.
    pub fn layout(&self) -> String {
        let Plan {
            threads,
            blocks_per_multiprocessor,
            cluster,
            capacity,
            edge_tile,
            graphs_per_pack,
            shared_bytes,
            large,
            ..
        } = self.plan;
        format!(
            "{threads} threads, {blocks_per_multiprocessor} blocks per multiprocessor, {graphs_per_pack} graphs per block, {cluster} blocks per graph, {} rows, {} edges in tiles of {edge_tile}, {} KiB of shared memory{}",
            capacity.rows,
            capacity.edges,
            shared_bytes >> 10,
            if large { ", rows in global memory" } else { "" }
        )
    }

    /// Takes `steps` steps. For every step and model `batch(step, model, list)` fills the list with numbers of samples,
    /// at most the batch size, and returns the learning rate; a model whose list stays empty rests. Gives the reports
    /// of every step, model by model; that of a model that rests means nothing.
    ///
    /// # Errors
    /// [`CudaError::Input`] for too large a batch or an unknown sample; what the driver reports.
    pub fn train(
        &mut self,
        steps: usize,
        mut batch: impl FnMut(usize, usize, &mut Vec<u32>) -> f64,
    ) -> Result<Vec<Vec<StepReport>>, CudaError> {
        let mut reports = Vec::with_capacity(steps);
        let mut pending: Option<(CudaSlice<f32>, Vec<usize>)> = None;
        let (mut start, mut size) = (0, *CHUNKS.start());
        while start < steps {
            // The card still works on the chunk before while this one is made.
            let end = steps.min(start + size);
            let chunk = self.prepare(start..end, &mut batch, true)?;
            (start, size) = (end, (2 * size).min(*CHUNKS.end()));
            let records = self.launch_chunk(&chunk)?;
            if let Some((records, graphs)) = pending.replace((records, chunk.graphs)) {
                self.collect(&records, &graphs, &mut reports)?;
            }
        }
        if let Some((records, graphs)) = pending {
            self.collect(&records, &graphs, &mut reports)?;
        }
        Ok(reports)
    }

    /// Report and gradient of every model on a batch each, without an update.
    ///
    /// # Errors
    /// As [`Ensemble::train`].
    pub fn gradients(&mut self, batches: &[Vec<u32>]) -> Result<Vec<(StepReport, Vec<f32>)>, CudaError> {
        let mut batch = |_: usize, model: usize, list: &mut Vec<u32>| {
            list.extend_from_slice(&batches[model]);
            0.0
        };
        let chunk = self.prepare(0..1, &mut batch, false)?;
        let records = self.launch_chunk(&chunk)?;
        let mut reports = Vec::new();
        self.collect(&records, &chunk.graphs, &mut reports)?;
        let sums = self.gpu.stream.clone_dtoh(&self.buffers.sums)?;
        Ok(reports.concat().into_iter().zip(sums.chunks(self.network.parameters()).map(<[f32]>::to_vec)).collect())
    }

    /// The parameters of a model, in the order of [`Network`].
    ///
    /// # Errors
    /// What the driver reports.
    pub fn parameters(&self, model: usize) -> Result<Vec<f32>, CudaError> {
        Ok(self.gpu.stream.clone_dtoh(&self.part(&self.buffers.parameters, model))?)
    }

    /// What Adam remembers of a model.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn moments(&self, model: usize) -> Result<Moments, CudaError> {
        Ok(Moments {
            time: self.times[model],
            first: self.gpu.stream.clone_dtoh(&self.part(&self.buffers.first, model))?,
            second: self.gpu.stream.clone_dtoh(&self.part(&self.buffers.second, model))?,
        })
    }

    /// Puts a model where another run left it.
    ///
    /// # Errors
    /// [`CudaError::Input`] for lists of another length; what the driver reports.
    pub fn restore(&mut self, model: usize, parameters: &[f32], moments: &Moments) -> Result<(), CudaError> {
        let count = self.network.parameters();
        if [parameters.len(), moments.first.len(), moments.second.len()] != [count; 3] {
            return Err(CudaError::Input(format!("a state of another size than {count} parameters")));
        }
        let range = model * count..(model + 1) * count;
        let stream = &self.gpu.stream;
        stream.memcpy_htod(parameters, &mut self.buffers.parameters.slice_mut(range.clone()))?;
        stream.memcpy_htod(&moments.first, &mut self.buffers.first.slice_mut(range.clone()))?;
        stream.memcpy_htod(&moments.second, &mut self.buffers.second.slice_mut(range))?;
        self.times[model] = moments.time;
        Ok(())
    }

    fn part<'a>(&self, values: &'a CudaSlice<f32>, model: usize) -> CudaView<'a, f32> {
        let count = self.network.parameters();
        values.slice(model * count..(model + 1) * count)
    }
}
