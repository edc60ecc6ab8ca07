//! What a launch is told: the structs of `kernels/types.cu` and `kernels/optimiser.cu`, field by field.

use cudarc::driver::DeviceRepr;

/// An address on the card.
pub(crate) type Address = u64;

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct SampleAddresses {
    pub(crate) node_offsets: Address,
    pub(crate) target_offsets: Address,
    pub(crate) nodes: Address,
    pub(crate) targets: Address,
    pub(crate) target_rows: Address,
    pub(crate) edges: EdgeAddresses,
    pub(crate) asked: EdgeAddresses,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct EdgeAddresses {
    pub(crate) offsets: Address,
    pub(crate) incoming: Address,
    pub(crate) outgoing: Address,
    pub(crate) senders: Address,
    pub(crate) departures: Address,
    pub(crate) features: Address,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct RecipeNumbers {
    pub(crate) epsilon: f32,
    pub(crate) decay: f32,
    pub(crate) cap: i32,
    pub(crate) normalised: i32,
    pub(crate) settle: i32,
    pub(crate) price: f32,
    pub(crate) loss: i32,
    pub(crate) clip: f32,
    pub(crate) beta_1: f32,
    pub(crate) beta_2: f32,
    pub(crate) adam_epsilon: f32,
    pub(crate) weight_decay: f32,
    pub(crate) slope: f32,
    pub(crate) output_slope: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct StepNumbers {
    pub(crate) packs: i32,
    pub(crate) inverse_targets: f32,
    pub(crate) inverse_units: f32,
    pub(crate) rate: f32,
    pub(crate) correction: f32,
    pub(crate) epsilon: f32,
    pub(crate) learns: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct PerceptronNumbers {
    pub(crate) layers: i32,
    pub(crate) biased: i32,
    pub(crate) final_activation: i32,
    pub(crate) widths: [i32; 6],
    pub(crate) parameters: [i32; 5],
    pub(crate) outputs: [i32; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Launch {
    pub(crate) samples: SampleAddresses,
    pub(crate) recipes: Address,
    pub(crate) steps: Address,
    pub(crate) slots: Address,
    pub(crate) parameters: Address,
    pub(crate) gradients: Address,
    pub(crate) floats: Address,
    pub(crate) winners: Address,
    pub(crate) indices: Address,
    pub(crate) reports: Address,
    pub(crate) predictions: Address,
    pub(crate) iterations: Address,
    pub(crate) capped: Address,
    pub(crate) embedding: PerceptronNumbers,
    pub(crate) head: PerceptronNumbers,
    pub(crate) ends: [PerceptronNumbers; 2],
    pub(crate) float_stride: i64,
    pub(crate) winner_stride: i64,
    pub(crate) index_stride: i64,
    pub(crate) prediction_stride: i64,
    pub(crate) parameter_count: i32,
    pub(crate) block_offset: i32,
    pub(crate) block_parameters: i32,
    pub(crate) blocks: i32,
    pub(crate) packs: i32,
    pub(crate) row_cap: i32,
    pub(crate) edge_cap: i32,
    pub(crate) edge_tile: i32,
    pub(crate) iteration_cap: i32,
    pub(crate) node_width: i32,
    pub(crate) outputs: i32,
    pub(crate) samples_count: i32,
    pub(crate) at_states: i64,
    pub(crate) at_first: i64,
    pub(crate) at_shares: i64,
    pub(crate) at_pooled: i64,
    pub(crate) at_schedule: i64,
    pub(crate) at_counts: i64,
    pub(crate) at_gradient: i64,
    pub(crate) at_inputs: i64,
    pub(crate) at_perceptron: i64,
    pub(crate) at_scratch: i64,
    pub(crate) scratch_size: i32,
    pub(crate) schedule_units: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Update {
    pub(crate) recipes: Address,
    pub(crate) steps: Address,
    pub(crate) gradients: Address,
    pub(crate) reports: Address,
    pub(crate) sums: Address,
    pub(crate) parameters: Address,
    pub(crate) first: Address,
    pub(crate) second: Address,
    pub(crate) squares: Address,
    pub(crate) records: Address,
    pub(crate) stopped: Address,
    pub(crate) parameter_count: i32,
    pub(crate) packs: i32,
    pub(crate) parts: i32,
}

/// How far a large graph is; see `kernels/large.cu`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct ProgressNumbers {
    pub(crate) remaining: f32,
    pub(crate) before: f32,
    pub(crate) spent: f32,
    pub(crate) weight: f32,
    pub(crate) steps: i32,
    pub(crate) running: i32,
    pub(crate) capped: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct LargeLaunch {
    pub(crate) layer: Address,
    pub(crate) confidence: Address,
    pub(crate) nodes: Address,
    pub(crate) features: Address,
    pub(crate) incoming: Address,
    pub(crate) senders: Address,
    pub(crate) receivers: Address,
    pub(crate) chunks: Address,
    pub(crate) states: Address,
    pub(crate) output: Address,
    pub(crate) first: Address,
    pub(crate) parts: Address,
    pub(crate) progress: Address,
    pub(crate) recipe: RecipeNumbers,
    pub(crate) node_count: i32,
    pub(crate) node_width: i32,
    pub(crate) chunk_count: i32,
    pub(crate) part_count: i32,
    pub(crate) iterative: i32,
}

// SAFETY: plain numbers in the layout of C.
unsafe impl DeviceRepr for RecipeNumbers {}
// SAFETY: as above.
unsafe impl DeviceRepr for StepNumbers {}
// SAFETY: as above.
unsafe impl DeviceRepr for Launch {}
// SAFETY: as above.
unsafe impl DeviceRepr for ProgressNumbers {}
// SAFETY: as above.
unsafe impl DeviceRepr for LargeLaunch {}
// SAFETY: as above.
unsafe impl DeviceRepr for Update {}
