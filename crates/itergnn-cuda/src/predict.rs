//! Predictions of several models for many graphs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};

use itergnn_kernels::block::Loops;

use crate::buffers::address;
use crate::layout::{Launch, RecipeNumbers};
use crate::packing::pack;
use crate::plan::Plan;
use crate::program::Program;
use crate::samples::DeviceSamples;
use crate::{CudaError, Gpu, Network, Samples, Tuning};

/// Most memory that one launch takes for its packs.
const WORKSPACE_BYTES: u64 = 1 << 30;

/// Lists of graphs whose packs are remembered: validations ask about the same graphs again and again.
const REMEMBERED: usize = 64;

/// Thread blocks of a launch for every multiprocessor: enough to even out their differences.
const BLOCKS_PER_MULTIPROCESSOR: usize = 16;

/// How a controller runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode {
    /// Most iterations; `None` for as many as in training. A stack always runs all its layers.
    pub cap: Option<usize>,
    /// Whether mass that is left at the cap goes to the last step, as in training.
    pub settles: bool,
}

/// A model and the graphs that it is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The network.
    pub network: &'a Network,
    /// Its parameters.
    pub parameters: &'a [f32],
    /// Numbers of samples.
    pub samples: &'a [u32],
}

/// What one model predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// One row per graph, node, edge or choice, as the network's readout says; those of graphs that were not asked
    /// about are empty.
    pub values: Vec<Vec<f32>>,
    /// How the loops of each graph ended.
    pub loops: Loops,
}

/// Graphs that share a thread block each.
type Packs = Arc<Vec<Vec<u32>>>;

/// Graphs on the card, ready to be predicted by networks of one shape.
pub struct Predictor {
    gpu: Gpu,
    program: Program,
    plan: Plan,
    network: Network,
    samples: Samples,
    device_samples: DeviceSamples,
    packed: Mutex<HashMap<Vec<u32>, Packs>>,
}

impl Predictor {
    /// For networks of the shape of `network`.
    ///
    /// # Errors
    /// As [`Ensemble::new`](crate::Ensemble::new).
    pub fn new(gpu: &Gpu, network: &Network, samples: Samples, tuning: &Tuning) -> Result<Self, CudaError> {
        network.validate()?;
        samples.check(network)?;
        let samples = samples.read_by(network)?;
        let plan = Plan::new(
            gpu.limits(),
            network,
            &samples,
            1,
            samples.len(),
            network.block().max_iterations(),
            false,
            tuning,
        )?;
        let mut settings = network.settings();
        settings.extend(plan.settings());
        let program = Program::load(gpu, &settings, plan.shared_bytes)?;
        let device_samples = DeviceSamples::upload(gpu, &samples)?;
        let packed = Mutex::default();
        Ok(Self { gpu: gpu.clone(), program, plan, network: network.clone(), samples, device_samples, packed })
    }

    /// What the networks, with these parameters, predict for the graphs of their lists; answers for other graphs mean
    /// nothing.
    ///
    /// # Errors
    /// [`CudaError::Unsupported`] for a network of another shape, [`CudaError::Input`] for parameters that do not fit;
    /// what the driver reports.
    pub fn predict(&self, models: &[Question<'_>], mode: Mode) -> Result<Vec<Answers>, CudaError> {
        for Question { network, parameters, samples } in models {
            if !network.has_shape_of(&self.network) {
                return Err(CudaError::Unsupported("models of different shapes in one launch".to_owned()));
            }
            if let Some(sample) = samples.iter().find(|&&sample| sample as usize >= self.samples.len()) {
                return Err(CudaError::Input(format!("sample {sample} of {}", self.samples.len())));
            }
            if parameters.len() != self.network.parameters() {
                return Err(CudaError::Input(format!(
                    "{} parameters, expected {}",
                    parameters.len(),
                    self.network.parameters()
                )));
            }
        }
        let gpu = &self.gpu;
        let stream = &gpu.stream;
        let outputs = self.network.head.widths.last().copied().unwrap_or(1);
        let rows = self.samples.len().checked_sub(1).map_or(0, |last| self.rows(last).end);
        let mut launch = Launch { samples: self.device_samples.addresses(gpu), ..Launch::default() };
        let workspace = self.plan.describe(&self.network, outputs, &mut launch);
        let numbers: Vec<RecipeNumbers> =
            models.iter().map(|question| question.network.numbers(None, mode.cap, mode.settles)).collect();
        let recipes = stream.clone_htod(&numbers)?;
        let flat: Vec<f32> = models.iter().flat_map(|question| question.parameters.iter().copied()).collect();
        let parameters = stream.clone_htod(&flat)?;
        let predictions: CudaSlice<f32> = stream.alloc_zeros(models.len() * rows * outputs)?;
        let iterations: CudaSlice<i32> = stream.alloc_zeros(models.len() * self.samples.len())?;
        let capped: CudaSlice<i32> = stream.alloc_zeros(models.len() * self.samples.len())?;
        let packs: Vec<Packs> = models.iter().map(|question| self.packs(question.samples)).collect();
        let most = packs.iter().map(|packs| packs.len()).max().unwrap_or(0);
        let at_once = (WORKSPACE_BYTES / (workspace.bytes() * models.len() as u64).max(1)).max(1) as usize;
        let at_once =
            at_once.min(gpu.multiprocessors() * BLOCKS_PER_MULTIPROCESSOR / models.len().max(1)).min(most).max(1);
        let blocks = at_once * models.len() * self.plan.cluster;
        gpu.check_memory(blocks as u64 * workspace.bytes())?;
        let floats: CudaSlice<f32> = stream.alloc_zeros(blocks * workspace.floats)?;
        let row_memory: CudaSlice<u8> = stream.alloc_zeros((blocks * workspace.row_bytes).max(4))?;
        launch.recipes = address(gpu, &recipes);
        launch.parameters = address(gpu, &parameters);
        launch.floats = address(gpu, &floats);
        launch.indices = address(gpu, &row_memory);
        launch.predictions = address(gpu, &predictions);
        launch.iterations = address(gpu, &iterations);
        launch.capped = address(gpu, &capped);
        launch.prediction_stride = (rows * outputs) as i64;
        launch.samples_count = self.samples.len() as i32;
        let graphs = self.plan.capacity.graphs;
        for start in (0..most).step_by(at_once) {
            let part = start..most.min(start + at_once);
            let mut slots: Vec<i32> = Vec::new();
            for packs in &packs {
                for index in part.clone() {
                    let filled = slots.len() + graphs;
                    slots.extend(packs.get(index).into_iter().flatten().map(|&sample| sample as i32));
                    slots.resize(filled, -1);
                }
            }
            let slots = stream.clone_htod(&slots)?;
            launch.slots = address(gpu, &slots);
            launch.packs = part.len() as i32;
            let shape = LaunchConfig {
                grid_dim: ((part.len() * self.plan.cluster) as u32, models.len() as u32, 1),
                block_dim: (self.plan.threads as u32, 1, 1),
                shared_mem_bytes: self.plan.shared_bytes as u32,
            };
            // SAFETY: as in training; the slots live until the stream has used them, because freeing them waits in the
            // same stream.
            unsafe { stream.launch_builder(&self.program.graph_step).arg(&launch).launch(shape)? };
        }
        let (values, iterations, capped) =
            (stream.clone_dtoh(&predictions)?, stream.clone_dtoh(&iterations)?, stream.clone_dtoh(&capped)?);
        let count = self.samples.len();
        let asked = |model: usize, question: &Question<'_>| {
            let mut found = vec![Vec::new(); rows];
            for row in question.samples.iter().flat_map(|&sample| self.rows(sample as usize)) {
                let start = (model * rows + row) * outputs;
                found[row] = values[start..start + outputs].to_vec();
            }
            found
        };
        Ok(models
            .iter()
            .enumerate()
            .map(|(model, question)| Answers {
                values: asked(model, question),
                loops: (model * count..(model + 1) * count)
                    .map(|graph| (iterations[graph] as usize, capped[graph] != 0))
                    .collect(),
            })
            .collect())
    }

    /// Which graphs of a list share a thread block.
    fn packs(&self, list: &[u32]) -> Packs {
        let mut packed = self.packed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packs) = packed.get(list) {
            return packs.clone();
        }
        let (target, costs) = (list.len().div_ceil(self.plan.graphs_per_pack), self.plan.costs(&self.network));
        let packs = Arc::new(pack(&self.samples, list, target, self.plan.capacity, costs));
        if packed.len() >= REMEMBERED {
            packed.clear();
        }
        packed.insert(list.to_vec(), packs.clone());
        packs
    }

    /// The rows of [`Answers::values`] that belong to a graph.
    pub fn rows(&self, sample: usize) -> std::ops::Range<usize> {
        self.samples.answers(self.network.readout, sample)
    }
}
