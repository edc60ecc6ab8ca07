//! The settings of a classifier.

use serde::{Deserialize, Serialize};

use super::{ControllerConfig, HIDDEN_WIDTH, IterConfig, ReadoutKind};

/// GIN blocks whose pooled states all vote; defaults are those of the GIN paper's classifiers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JumpingKnowledgeConfig {
    /// Width of the node attributes.
    pub node_width: usize,
    /// Number of classes.
    pub output_width: usize,
    /// Width of the hidden states.
    #[serde(default = "default_hidden_width")]
    pub hidden_width: usize,
    /// Number of GIN blocks; the GIN paper counts the input as one more layer.
    #[serde(default = "default_blocks")]
    pub blocks: usize,
    /// Probability of dropping a class score of a layer in training.
    #[serde(default = "default_dropout")]
    pub dropout: f64,
    /// Whether eps of every block is learned.
    #[serde(default)]
    pub train_eps: bool,
    /// How a graph is pooled: sum for molecules, mean for social graphs.
    #[serde(default = "default_pooling")]
    pub pooling: ReadoutKind,
    /// The controller that iterates every block (Iter-GIN); `None` applies each once (GIN).
    #[serde(default)]
    pub controller: Option<ControllerConfig>,
}

fn default_hidden_width() -> usize {
    HIDDEN_WIDTH
}

fn default_blocks() -> usize {
    4
}

fn default_dropout() -> f64 {
    0.5
}

fn default_pooling() -> ReadoutKind {
    ReadoutKind::Sum
}

impl JumpingKnowledgeConfig {
    /// GIN with the defaults.
    pub fn new(node_width: usize, output_width: usize) -> Self {
        Self {
            node_width,
            output_width,
            hidden_width: default_hidden_width(),
            blocks: default_blocks(),
            dropout: default_dropout(),
            train_eps: false,
            pooling: default_pooling(),
            controller: None,
        }
    }

    /// The iterative module around every block, where there is one.
    pub fn iteration(&self) -> Option<&IterConfig> {
        match &self.controller {
            Some(ControllerConfig::Iter(iter) | ControllerConfig::IterDecay(iter)) => Some(iter),
            _ => None,
        }
    }

    /// Why the kernels of [`gin`](crate::gin) do not cover the blocks, if they do not.
    pub fn uncovered(&self) -> Option<String> {
        let problem = |problem: &str| Some(problem.to_owned());
        if self.node_width == 0 || self.hidden_width == 0 || self.output_width == 0 {
            return problem("a width is 0");
        }
        if self.train_eps {
            return problem("eps is learned");
        }
        let iter = match (&self.controller, self.iteration()) {
            (None, _) => return None,
            (Some(_), Some(iter)) => iter,
            (Some(_), None) => return problem("the controller is not iterative"),
        };
        let paper = IterConfig {
            epsilon: iter.epsilon,
            decay: iter.decay,
            training_cap: iter.training_cap,
            inference_cap: Some(iter.training_cap),
            ..IterConfig::default()
        };
        if *iter == paper && iter.training_cap > 0 {
            None
        } else {
            problem("the iterative module has options beyond the paper's")
        }
    }
}
