//! One run of the kernels: what they are told and what they leave behind.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use itergnn_kernels::block::{
    self as kernel, BlockConfig, BlockGradients, BlockInputs, BlockOutput, OutputGradients, Stops, Tape, Wanted,
};
use itergnn_kernels::{GraphStructure, KernelError, Real};

use super::clock::KernelClock;
use super::fault::{Fault, FaultLog};
use super::recovery::graph_by_graph;
/// A block on a batch, without its numbers. A clone speaks of the same run.
///
/// Tensors go through the framework; everything else (who sends to whom, which step was the last, what the way back
/// needs) goes through this.
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

/// What is known of every graph (or node) after a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) stops: Stops,
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

    /// Values of the output that are node states, `[nodes, hidden width]`; the rest of [`forward`](Self::forward)'s
    /// result is unspent probability.
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
        let computed = self.run.clock.time_forward(|| self.compute(&inputs));
        let (outcome, values) = match computed {
            Ok((output, tape)) => {
                let (stops, active_shares) = (output.stops.clone(), output.active_shares.clone());
                (Ok(Outcome { stops, active_shares }), self.values(output, tape))
            }
            Err(error) => (Err(error), vec![T::from_f64(f64::NAN); self.state_values()]),
        };
        *lock(&self.run.outcome) = Some(outcome);
        values
    }

    /// The results, with a tape if this run is recording. A batch with a value that overflowed is run again without it,
    /// since there is nothing to differentiate.
    fn compute<T: Real>(&self, inputs: &BlockInputs<'_, T>) -> Result<(BlockOutput<T>, Option<Tape<T>>), KernelError> {
        let Run { config, engine, structure, faults, .. } = &*self.run;
        let computed = match self.recording {
            Some(wanted) => kernel::forward(*engine, config, inputs, wanted).map(|(output, tape)| (output, Some(tape))),
            None => kernel::infer(*engine, config, inputs).map(|output| (output, None)),
        };
        match computed {
            Err(KernelError::NonFinite { .. }) => {
                graph_by_graph(*engine, config, structure, inputs, faults).map(|output| (output, None))
            }
            other => other,
        }
    }

    /// The numbers that leave the operation; what the way back needs stays.
    fn values<T: Real>(&self, output: BlockOutput<T>, tape: Option<Tape<T>>) -> Vec<T> {
        let unspent = if self.gives_unspent() { output.stops.unspent.as_slice() } else { &[] };
        let unspent = unspent.iter().map(|&value| T::from_f64(value));
        match tape {
            None => output.output.into_iter().chain(unspent).collect(),
            Some(tape) => {
                let values = output.output.iter().copied().chain(unspent).collect();
                *lock(&self.run.kept) = Some(Box::new(Kept { output, tape }));
                values
            }
        }
    }

    /// All gradients, from the gradient of what [`forward`](Self::forward) returned; NaN throughout where they, or the
    /// values before, are not finite.
    ///
    /// # Panics
    /// If the numbers are not those of a run that was recording.
    pub(super) fn backward<T: Real>(&self, numbers: Numbers<'_, T>, gradient: &[T]) -> BlockGradients<T> {
        let inputs = self.inputs(numbers);
        let kept = lock(&self.run.kept);
        let Some(kept) = kept.as_ref().map(|kept| kept.downcast_ref::<Kept<T>>().expect("one float type per run"))
        else {
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
        let batch = self.run.structure.view();
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked while it held the lock left the whole old value or the whole new one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
