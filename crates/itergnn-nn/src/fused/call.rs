//! One run of the kernels: what they are told and what they leave behind.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use itergnn_kernels::block::{
    self as kernel, BatchView, BlockConfig, BlockGradients, BlockInputs, BlockOutput, Inference, OutputGradients, Tape,
    Wanted,
};
use itergnn_kernels::{KernelError, Real};

use super::clock::KernelClock;
use super::confidences::last_confidences;
use super::fault::{Fault, FaultLog};
use super::recovery::graph_by_graph;
use crate::GraphStructure;

/// A block on a batch, without its numbers. A clone speaks of the same run.
///
/// Tensors go through the framework; everything else (who sends to whom, which step was the last, what the way back needs) goes through this.
#[derive(Debug, Clone)]
pub(super) struct BlockCall {
    run: Arc<Run>,
    recording: Option<Wanted>,
}

#[derive(Debug)]
struct Run {
    config: BlockConfig,
    engine: kernel::Engine,
    structure: GraphStructure,
    faults: FaultLog,
    clock: KernelClock,
    outcome: Mutex<Option<Result<Outcome, KernelError>>>,
    /// A [`Kept`] of the float type of the tensors.
    kept: Mutex<Option<Box<dyn Any + Send>>>,
}

/// What the way back needs, beside the tensors.
struct Kept<T> {
    output: BlockOutput<T>,
    tape: Tape<T>,
}

/// What the kernels returned.
enum Computed<T> {
    Recorded(Box<Kept<T>>),
    Inferred(Inference<T>),
}

/// What is known of every graph (or node) after a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) steps: Vec<usize>,
    pub(super) confidences: Vec<f64>,
    pub(super) remaining: Vec<f64>,
    pub(super) capped: Vec<bool>,
    /// Per graph and step, the share of nodes that were active; empty when recording.
    pub(super) active_shares: Vec<Vec<f32>>,
}

/// The numbers of a block, row-major.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'a, T> {
    /// `[nodes, input width]`.
    pub(super) input: &'a [T],
    /// `[nodes, hidden width]`.
    pub(super) hidden: &'a [T],
    /// `[edges, edge width]`.
    pub(super) edges: &'a [T],
    /// Laid out by [`ParameterLayout`](kernel::ParameterLayout).
    pub(super) parameters: &'a [T],
}

impl BlockCall {
    /// A run that is still to be made.
    ///
    /// # Errors
    /// If the environment asks for an instruction set that there is not.
    pub(super) fn new(config: BlockConfig, structure: GraphStructure) -> Result<Self, KernelError> {
        let run = Run {
            config,
            engine: kernel::Engine::new()?,
            structure,
            faults: FaultLog::default(),
            clock: KernelClock::default(),
            outcome: Mutex::default(),
            kept: Mutex::default(),
        };
        Ok(Self { run: Arc::new(run), recording: None })
    }

    /// The same run, keeping what [`backward`](Self::backward) needs.
    pub(super) fn recording(&self, wanted: Wanted) -> Self {
        Self { run: self.run.clone(), recording: Some(wanted) }
    }

    /// Values of the output that are node states, `[nodes, hidden width]`; the rest of [`forward`](Self::forward)'s result is unspent probability.
    pub(super) fn state_values(&self) -> usize {
        self.run.structure.incoming().len() * self.run.config.hidden_width()
    }

    /// Whether the unspent probability of every graph (or node) is part of the output.
    fn gives_unspent(&self) -> bool {
        self.run.config.iterative().is_some_and(|iterative| iterative.settle.is_some())
    }

    /// What went wrong so far; the log is shared.
    pub(super) fn faults(&self) -> FaultLog {
        self.run.faults.clone()
    }

    /// How long the kernels worked so far; the clock is shared.
    pub(super) fn clock(&self) -> KernelClock {
        self.run.clock.clone()
    }

    /// What the run left behind.
    ///
    /// # Errors
    /// What the kernels refused; overflow is not refused but logged in [`faults`](Self::faults).
    ///
    /// # Panics
    /// If there was no run.
    pub(super) fn outcome(&self) -> Result<Outcome, KernelError> {
        lock(&self.run.outcome).take().expect("the operation was run and nobody asked before")
    }

    /// Runs the block: the states in the end and, with `settle`, the unspent probabilities behind them.
    pub(super) fn forward<T: Real>(&self, numbers: Numbers<'_, T>) -> Vec<T> {
        let inputs = self.inputs(numbers);
        let (outcome, values) = match self.run.clock.time_forward(|| self.compute(&inputs)) {
            Ok(computed) => (Ok(self.outcome_of(&inputs, &computed)), self.values(computed)),
            Err(error) => (Err(error), vec![T::from_f64(f64::NAN); self.state_values()]),
        };
        *lock(&self.run.outcome) = Some(outcome);
        values
    }

    /// A batch with a value that overflowed is run again without recording, since there is nothing to differentiate.
    fn compute<T: Real>(&self, inputs: &BlockInputs<'_, T>) -> Result<Computed<T>, KernelError> {
        let Run { config, engine, faults, .. } = &*self.run;
        let computed = match self.recording {
            Some(wanted) => kernel::forward(*engine, config, inputs, wanted)
                .map(|(output, tape)| Computed::Recorded(Box::new(Kept { output, tape }))),
            None => kernel::infer(*engine, config, inputs).map(Computed::Inferred),
        };
        match computed {
            Err(KernelError::NonFinite { .. }) => {
                graph_by_graph(*engine, config, inputs, faults).map(Computed::Inferred)
            }
            other => other,
        }
    }

    fn outcome_of<T: Real>(&self, inputs: &BlockInputs<'_, T>, computed: &Computed<T>) -> Outcome {
        let numbers = |values: &[T]| values.iter().map(|value| value.to_f64()).collect::<Vec<_>>();
        let steps = |iterations: &[u32]| iterations.iter().map(|&steps| steps as usize).collect();
        match computed {
            Computed::Recorded(kept) => Outcome {
                steps: steps(&kept.output.iterations),
                confidences: last_confidences(&self.run.config, inputs, &kept.output),
                remaining: numbers(&kept.output.remaining),
                capped: kept.output.capped.clone(),
                active_shares: Vec::new(),
            },
            Computed::Inferred(inference) => Outcome {
                steps: steps(&inference.iterations),
                confidences: numbers(&inference.last_confidences),
                remaining: numbers(&inference.remaining),
                capped: inference.capped.clone(),
                active_shares: inference.active_shares.clone(),
            },
        }
    }

    /// The numbers that leave the operation; what the way back needs stays.
    fn values<T: Real>(&self, computed: Computed<T>) -> Vec<T> {
        let gives_unspent = self.gives_unspent();
        match computed {
            Computed::Inferred(inference) => {
                let mut values = inference.output;
                if gives_unspent {
                    values.extend_from_slice(&inference.unspent);
                }
                values
            }
            Computed::Recorded(mut kept) => {
                let unspent = if gives_unspent { kept.output.unspent.as_slice() } else { &[] };
                let values = [&kept.output.output, unspent].concat();
                // The way back does not read it.
                kept.output.last_hidden = Vec::new();
                *lock(&self.run.kept) = Some(kept);
                values
            }
        }
    }

    /// All gradients, from the gradient of what [`forward`](Self::forward) returned; NaN throughout where they, or the values before, are not finite.
    ///
    /// # Panics
    /// If the numbers are not those of a run that was recording.
    pub(super) fn backward<T: Real>(&self, numbers: Numbers<'_, T>, gradient: &[T]) -> BlockGradients<T> {
        let inputs = self.inputs(numbers);
        let kept = lock(&self.run.kept);
        let Some(kept) = kept.as_ref().map(|kept| kept.downcast_ref::<Kept<T>>().expect("one float type a run")) else {
            return undefined(&numbers);
        };
        let (output, unspent) = gradient.split_at(self.state_values());
        let gradients = OutputGradients { output, unspent: self.gives_unspent().then_some(unspent) };
        let back = || kernel::backward(self.run.engine, &inputs, &kept.output, &kept.tape, &gradients);
        match self.run.clock.time_backward(back).map_err(Fault::from_kernel) {
            Ok(mut gradients) => {
                if self.run.config.edge_width() == 0 {
                    gradients.edge_features = vec![T::from_f64(0.0); numbers.edges.len()];
                }
                gradients
            }
            Err(Ok(fault)) => {
                self.run.faults.push(fault);
                undefined(&numbers)
            }
            Err(Err(error)) => panic!("the gradient belongs to the run: {error}"),
        }
    }

    fn inputs<'a, T>(&'a self, numbers: Numbers<'a, T>) -> BlockInputs<'a, T> {
        let structure = &self.run.structure;
        let batch = BatchView {
            node_offsets: structure.node_segments().offsets(),
            edge_offsets: structure.edge_segments().offsets(),
            senders: structure.senders(),
            receiver_offsets: structure.incoming().offsets(),
        };
        let Numbers { input, hidden, edges, parameters } = numbers;
        // A layer that reads no edges may be given a graph that has attributes on them.
        let edge_features = if self.run.config.edge_width() == 0 { &[] } else { edges };
        BlockInputs { batch, node_inputs: input, hidden, edge_features, parameters }
    }
}

/// Gradients that no optimiser will mistake for numbers.
fn undefined<T: Real>(numbers: &Numbers<'_, T>) -> BlockGradients<T> {
    let like = |values: &[T]| vec![T::from_f64(f64::NAN); values.len()];
    BlockGradients {
        parameters: like(numbers.parameters),
        hidden: like(numbers.hidden),
        node_inputs: like(numbers.input),
        edge_features: like(numbers.edges),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while it held the lock left the whole old value or the whole new one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
