//! What a classifier is made of.

use crate::KernelError;

/// How node states become a graph's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
}

/// The iterative module around every block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Most steps.
    pub most_steps: usize,
    /// Remaining probability at which a graph is done.
    pub epsilon: f64,
    /// lambda; 1 for the form without decay.
    pub decay: f64,
}

/// The shape of a classifier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassifierConfig {
    /// Width of the node attributes.
    pub node_width: usize,
    /// Width of the hidden states.
    pub hidden_width: usize,
    /// Number of classes.
    pub classes: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// How graphs are pooled.
    pub pooling: Pooling,
    /// The iterative module; `None` applies each block once.
    pub iteration: Option<Iteration>,
}

impl ClassifierConfig {
    pub(super) fn validate(&self) -> Result<(), KernelError> {
        if [self.node_width, self.hidden_width, self.classes, self.blocks].contains(&0) {
            return Err(KernelError::Config("a classifier of width, depth or number of classes 0".to_owned()));
        }
        if self.iteration.is_some_and(|iteration| iteration.most_steps == 0) {
            return Err(KernelError::Config("an iterative module of no steps".to_owned()));
        }
        Ok(())
    }

    /// Width of the input of a block.
    pub(super) fn block_input(&self, block: usize) -> usize {
        if block == 0 && self.iteration.is_none() { self.node_width } else { self.hidden_width }
    }
}
