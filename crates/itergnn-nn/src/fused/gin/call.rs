//! One run of the kernels: what they are told and what they leave behind.

use std::any::Any;
use std::sync::{Arc, Mutex};

use burn::tensor::TensorData;
use itergnn_kernels::block::Stops;
use itergnn_kernels::gin::{Gin, GinGradients, GinInputs, GinTape, GinWanted};
use itergnn_kernels::settings::JumpingKnowledgeConfig;
use itergnn_kernels::{GraphStructure, Isa, KernelError};

use crate::fused::call::lock;
use crate::fused::clock::KernelClock;
use crate::ops::FlexElement;

/// A classifier on a batch, without its tensors. A clone speaks of the same run.
#[derive(Debug, Clone)]
pub(crate) struct GinCall(Arc<Run>);

#[derive(Debug)]
struct Run {
    task: GinTask,
    isa: Isa,
    outcome: Mutex<Option<Result<Outcome, KernelError>>>,
    /// What the way back needs: a [`Kept`] of the float type of the tensors.
    kept: Mutex<Option<Box<dyn Any + Send>>>,
    clock: KernelClock,
}

/// What the kernels are told besides numbers that are tensors.
#[derive(Debug)]
pub(super) struct GinTask {
    pub(super) config: JumpingKnowledgeConfig,
    pub(super) structure: GraphStructure,
    /// Whether running statistics move, and somebody may go back.
    pub(super) training: bool,
    /// The factors of all votes; empty for 1.
    pub(super) factors: Vec<f32>,
}

/// What is known after a run, besides the scores.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Of every block.
    pub(super) stops: Vec<Stops>,
    /// The states that the kernels give, `[nodes, hidden width]` each.
    pub(super) states: Vec<TensorData>,
    /// The running statistics after a step of training.
    pub(super) statistics: Vec<f64>,
}

struct Kept<T: FlexElement> {
    gin: Gin<T>,
    tape: GinTape<T>,
}

/// The numbers of a run, row-major; see [`GinInputs`].
pub(super) struct Numbers<'a, T> {
    pub(super) attributes: &'a [T],
    pub(super) states: Option<&'a [T]>,
    pub(super) parameters: Vec<T>,
    pub(super) statistics: Vec<T>,
}

impl GinCall {
    /// A run that is still to be made.
    ///
    /// # Errors
    /// If the environment asks for an instruction set that there is not.
    pub(super) fn new(task: GinTask) -> Result<Self, KernelError> {
        let isa = Isa::from_environment()?;
        let (outcome, kept) = (Mutex::default(), Mutex::default());
        Ok(Self(Arc::new(Run { task, isa, outcome, kept, clock: KernelClock::default() })))
    }

    /// How long the kernels worked so far; the clock is shared.
    pub(super) fn clock(&self) -> KernelClock {
        self.0.clock.clone()
    }

    /// How many tensors are read besides parameters: the attributes and, where blocks are iterated, the states that the
    /// first one reads.
    pub(super) fn inputs(&self) -> usize {
        1 + usize::from(self.0.task.config.iteration().is_some())
    }

    /// The shape of the scores.
    pub(super) fn score_shape(&self) -> [usize; 2] {
        [self.0.task.structure.node_segments().len(), self.0.task.config.output_width]
    }

    /// What the run left behind.
    ///
    /// # Errors
    /// What the kernels refused.
    ///
    /// # Panics
    /// If there was no run.
    pub(super) fn outcome(&self) -> Result<Outcome, KernelError> {
        lock(&self.0.outcome).take().expect("the operation was run and nobody asked before")
    }

    /// Runs the classifier: the scores; NaN where the kernels refuse.
    pub(super) fn forward<T: FlexElement>(&self, numbers: Numbers<'_, T>) -> Vec<T> {
        let (outcome, scores) = match self.0.clock.time_forward(|| self.compute(numbers)) {
            Ok((outcome, scores)) => (Ok(outcome), scores),
            Err(error) => (Err(error), vec![T::from_f64(f64::NAN); self.score_shape().iter().product()]),
        };
        *lock(&self.0.outcome) = Some(outcome);
        scores
    }

    fn compute<T: FlexElement>(&self, numbers: Numbers<'_, T>) -> Result<(Outcome, Vec<T>), KernelError> {
        let GinTask { config, structure, training, factors } = &self.0.task;
        let gin = Gin::<T>::new(config, self.0.isa)?;
        let Numbers { attributes, states, parameters, mut statistics } = numbers;
        let factors: Vec<T> = factors.iter().map(|&factor| T::from_f64(factor.into())).collect();
        let inputs = GinInputs { structure, attributes, states, parameters: &parameters, factors: &factors };
        let output = if *training {
            let (output, tape) = gin.forward(&inputs, &mut statistics)?;
            *lock(&self.0.kept) = Some(Box::new(Kept { gin, tape }));
            output
        } else {
            gin.infer(&inputs, &statistics)?
        };
        let shape = [structure.incoming().len(), config.hidden_width];
        let outcome = Outcome {
            stops: output.stops,
            states: output.states.into_iter().map(|states| TensorData::new(states, shape)).collect(),
            statistics: statistics.into_iter().map(|value| value.to_f64()).collect(),
        };
        Ok((outcome, output.scores))
    }

    /// The gradients for that of the scores; `None` where the run had no result.
    pub(super) fn backward<T: FlexElement>(&self, gradient: &[T], wanted: GinWanted) -> Option<GinGradients<T>> {
        let kept = lock(&self.0.kept);
        let Kept { gin, tape } = kept.as_ref()?.downcast_ref::<Kept<T>>()?;
        self.0.clock.time_backward(|| gin.backward(tape, gradient, wanted)).ok()
    }
}
