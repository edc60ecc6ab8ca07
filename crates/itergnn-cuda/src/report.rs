//! What an ensemble tells about its models.

/// Numbers of a record of a step: loss, unspent mass, gradient norm, iterations, capped graphs, whether the model
/// learned.
pub(crate) const RECORD: usize = 6;

/// What one step of one model saw; means over the graphs of the batch where it says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The loss of the predictions, before the update.
    pub loss: f32,
    /// What unspent mass adds to it.
    pub auxiliary_loss: f32,
    /// The norm of the gradient, before clipping.
    pub gradient_norm: f32,
    /// Iterations of a graph, on average.
    pub iterations: f32,
    /// Share of the graphs whose loop was ended by the cap.
    pub capped: f32,
    /// Whether the parameters were updated: not after a number that is not finite.
    pub learned: bool,
}

impl StepReport {
    /// From the numbers of a record, of a batch of that many graphs.
    pub(crate) fn new(record: &[f32], graphs: usize) -> Self {
        let graphs = graphs.max(1) as f32;
        Self {
            loss: record[0],
            auxiliary_loss: record[1],
            gradient_norm: record[2],
            iterations: record[3] / graphs,
            capped: record[4] / graphs,
            learned: record[5] > 0.0,
        }
    }
}

/// What Adam remembers of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Updates so far.
    pub time: usize,
    /// Running means of the gradient, in the order of the parameters.
    pub first: Vec<f32>,
    /// Running means of its square.
    pub second: Vec<f32>,
}
