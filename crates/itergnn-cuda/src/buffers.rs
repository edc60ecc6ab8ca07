//! What an ensemble has in the card's memory besides its samples.

use cudarc::driver::{CudaSlice, DevicePtr};

use crate::layout::{Address, Launch, RecipeNumbers, Update};
use crate::sizes::Workspace;
use crate::{CudaError, Gpu, ModelSpec, Network};

pub(crate) fn address<T>(gpu: &Gpu, slice: &CudaSlice<T>) -> Address {
    slice.device_ptr(&gpu.stream).0
}

pub(crate) struct Buffers {
    recipes: CudaSlice<RecipeNumbers>,
    pub(crate) parameters: CudaSlice<f32>,
    pub(crate) first: CudaSlice<f32>,
    pub(crate) second: CudaSlice<f32>,
    pub(crate) sums: CudaSlice<f32>,
    gradients: CudaSlice<f32>,
    floats: CudaSlice<f32>,
    winners: CudaSlice<u8>,
    rows: CudaSlice<u8>,
    reports: CudaSlice<f32>,
    squares: CudaSlice<f64>,
    stopped: CudaSlice<i32>,
}

impl Buffers {
    /// For thread blocks of the given workspace; the parameters are updated in `parts`.
    pub(crate) fn new(
        gpu: &Gpu,
        models: &[ModelSpec],
        network: &Network,
        workspace: &Workspace,
        blocks: usize,
        parts: usize,
    ) -> Result<Self, CudaError> {
        let stream = &gpu.stream;
        let count = models.len() * network.parameters();
        let recipes: Vec<RecipeNumbers> =
            models.iter().map(|model| model.network.numbers(Some(&model.recipe), None, true)).collect();
        let parameters: Vec<f32> = models.iter().flat_map(|model| model.parameters.iter().copied()).collect();
        Ok(Self {
            recipes: stream.clone_htod(&recipes)?,
            parameters: stream.clone_htod(&parameters)?,
            first: stream.alloc_zeros(count)?,
            second: stream.alloc_zeros(count)?,
            sums: stream.alloc_zeros(count)?,
            gradients: stream.alloc_zeros(blocks * network.parameters())?,
            floats: stream.alloc_zeros(blocks * workspace.floats)?,
            winners: stream.alloc_zeros((blocks * workspace.winner_bytes).max(4))?,
            rows: stream.alloc_zeros((blocks * workspace.row_bytes).max(4))?,
            reports: stream.alloc_zeros(4 * blocks)?,
            squares: stream.alloc_zeros(models.len() * parts)?,
            stopped: stream.alloc_zeros(models.len())?,
        })
    }

    /// Tells a launch where they are.
    pub(crate) fn describe(&self, gpu: &Gpu, launch: &mut Launch) {
        launch.recipes = address(gpu, &self.recipes);
        launch.parameters = address(gpu, &self.parameters);
        launch.gradients = address(gpu, &self.gradients);
        launch.floats = address(gpu, &self.floats);
        launch.winners = address(gpu, &self.winners);
        launch.indices = address(gpu, &self.rows);
        launch.reports = address(gpu, &self.reports);
    }

    /// An update of the parameters that knows where everything is but what changes from step to step.
    pub(crate) fn update(&self, gpu: &Gpu) -> Update {
        Update {
            recipes: address(gpu, &self.recipes),
            gradients: address(gpu, &self.gradients),
            reports: address(gpu, &self.reports),
            sums: address(gpu, &self.sums),
            parameters: address(gpu, &self.parameters),
            first: address(gpu, &self.first),
            second: address(gpu, &self.second),
            squares: address(gpu, &self.squares),
            stopped: address(gpu, &self.stopped),
            ..Update::default()
        }
    }
}
