//! The layer with its iterative module, from plain slices to plain slices.

use super::GinLayout;
use super::batch::{Running, pad_rows, unpad_rows};
use super::block::{Block, BlockTape};
use super::layer::Statistics;
use crate::block::{Stops, expect_length};
use crate::kernels::Kernels;
use crate::real::Real;
use crate::settings::IterConfig;
use crate::{GraphStructure, Isa, KernelError};

/// Widths of a GIN layer, and the iterative module around it, where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GinConfig {
    /// Width of the states that come in; the hidden width where the layer is iterated.
    pub input_width: usize,
    /// Width of the states that go out, and between the two maps.
    pub hidden_width: usize,
    /// The iterative module, of which epsilon, decay and the cap of training count; see
    /// [`JumpingKnowledgeConfig::uncovered`](crate::settings::JumpingKnowledgeConfig::uncovered).
    pub iteration: Option<IterConfig>,
}

/// A GIN layer without its parameters, which every call is given.
#[derive(Debug, Clone)]
pub struct Gin<T: Real> {
    config: GinConfig,
    layout: GinLayout,
    kernels: &'static Kernels<T>,
}

/// What a call reads.
#[derive(Debug, Clone, Copy)]
pub struct GinInputs<'a, T> {
    /// Who sends to whom; no graph is empty.
    pub structure: &'a GraphStructure,
    /// The states, `[nodes, input width]`.
    pub states: &'a [T],
    /// The parameters, as [`GinLayout`] orders them.
    pub parameters: &'a [T],
}

/// What a call gives.
#[derive(Debug, Clone, PartialEq)]
pub struct GinOutput<T> {
    /// The new states, `[nodes, hidden width]`.
    pub states: Vec<T>,
    /// When every graph stopped.
    pub stops: Stops,
}

/// What a call leaves for its way back.
pub struct GinTape<T: Real> {
    whole: Running,
    tape: BlockTape<T>,
}

/// The gradients of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct GinGradients<T> {
    /// Of the parameters.
    pub parameters: Vec<T>,
    /// Of the states that came in; empty where they are not wanted.
    pub states: Vec<T>,
}

impl<T: Real> std::fmt::Debug for GinTape<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("GinTape").field("nodes", &self.whole.nodes()).finish_non_exhaustive()
    }
}

impl<T: Real> Gin<T> {
    /// The layer on the given instruction set.
    ///
    /// # Errors
    /// [`KernelError::Config`] for widths of 0 or an iterated layer that changes the width,
    /// [`KernelError::IsaUnavailable`] if the processor lacks the instruction set.
    pub fn new(config: GinConfig, isa: Isa) -> Result<Self, KernelError> {
        if config.input_width == 0 || config.hidden_width == 0 {
            return Err(KernelError::Config("a width is 0".to_owned()));
        }
        if let Some(iteration) = &config.iteration {
            if config.input_width != config.hidden_width {
                return Err(KernelError::Config("an iterated layer keeps its width".to_owned()));
            }
            if iteration.training_cap == 0 {
                return Err(KernelError::Config("a loop needs at least one step".to_owned()));
            }
        }
        if !isa.is_available() {
            return Err(KernelError::IsaUnavailable(isa));
        }
        Ok(Self { config, layout: GinLayout::new(&config), kernels: T::kernels(isa) })
    }

    /// Where each parameter is.
    pub fn layout(&self) -> &GinLayout {
        &self.layout
    }

    /// A step of training: normalises by the batch, moves the running statistics towards it, and keeps what the way
    /// back needs.
    ///
    /// # Errors
    /// [`KernelError::Length`] and [`KernelError::Batch`] if a slice does not fit.
    pub fn forward(
        &self,
        inputs: &GinInputs<'_, T>,
        statistics: &mut [T],
    ) -> Result<(GinOutput<T>, GinTape<T>), KernelError> {
        self.check(inputs, statistics)?;
        let (output, tape) = self.run(inputs, &mut Statistics::Train(statistics));
        Ok((output, tape))
    }

    /// The new states by the running statistics.
    ///
    /// # Errors
    /// As [`Gin::forward`].
    pub fn infer(&self, inputs: &GinInputs<'_, T>, statistics: &[T]) -> Result<GinOutput<T>, KernelError> {
        self.check(inputs, statistics)?;
        Ok(self.run(inputs, &mut Statistics::Infer(statistics)).0)
    }

    /// The gradients for that of the new states, `[nodes, hidden width]`; that of the old states if it is `wanted`.
    ///
    /// # Errors
    /// [`KernelError::Length`] if a slice does not fit.
    pub fn backward(
        &self,
        parameters: &[T],
        tape: &GinTape<T>,
        gradient: &[T],
        wanted: bool,
    ) -> Result<GinGradients<T>, KernelError> {
        expect_length("parameters", parameters, self.layout.parameters)?;
        expect_length("gradient", gradient, tape.whole.nodes() * self.config.hidden_width)?;
        let mut flat = vec![T::ZERO; self.layout.parameters];
        let gradient = pad_rows(gradient, self.config.hidden_width);
        let states = self.block(parameters).backward(&tape.whole, &tape.tape, &gradient, &mut flat, wanted);
        let states = states.filter(|_| wanted);
        let states =
            states.map_or(Vec::new(), |states| unpad_rows(&states, tape.whole.nodes(), self.config.input_width));
        Ok(GinGradients { parameters: flat, states })
    }

    fn block(&self, parameters: &[T]) -> Block<'_, T> {
        Block::new(self.kernels, parameters, &self.layout, self.config.iteration.as_ref())
    }

    fn run(&self, inputs: &GinInputs<'_, T>, statistics: &mut Statistics<'_, T>) -> (GinOutput<T>, GinTape<T>) {
        let whole = Running::of(inputs.structure);
        let states = pad_rows(inputs.states, self.config.input_width);
        let (tape, stops) = self.block(inputs.parameters).forward(&whole, states, statistics);
        let states = unpad_rows(tape.output(), whole.nodes(), self.config.hidden_width);
        (GinOutput { states, stops }, GinTape { whole, tape })
    }

    fn check(&self, inputs: &GinInputs<'_, T>, statistics: &[T]) -> Result<(), KernelError> {
        expect_length("parameters", inputs.parameters, self.layout.parameters)?;
        expect_length("statistics", statistics, self.layout.statistics)?;
        let mut graphs = inputs.structure.node_segments().iter();
        if let Some(position) = graphs.position(|nodes| nodes.is_empty()) {
            return Err(KernelError::Batch { what: "graphs", position, problem: "there is no node" });
        }
        let nodes = inputs.structure.incoming().len();
        if nodes == 0 {
            return Err(KernelError::Batch { what: "graphs", position: 0, problem: "there is no node" });
        }
        expect_length("states", inputs.states, nodes * self.config.input_width)
    }
}
