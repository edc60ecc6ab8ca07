//! What a model is, in words.

use itergnn::nn::{GnnConfig, named_tensors};
use itergnn::tasks::pacman::PacmanConfig;
use itergnn::train::RunConfig;
use serde::Serialize;

use super::Loaded;

/// A model, as the list shows it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Description {
    /// The name to ask for it.
    name: String,
    /// `models`, `built-in` or `runs`.
    from: &'static str,
    /// What it was trained on.
    task: String,
    /// The name of the network.
    network: String,
    /// `network` for the paper's kind, `task-aligned` where an algorithm is part of the architecture.
    family: &'static str,
    /// One line: layer, controller, prior, widths.
    architecture: String,
    /// What the model need not learn.
    built_in: &'static str,
    parameters: usize,
    node_width: usize,
    edge_width: usize,
    output_width: usize,
    seed: u64,
    /// `paths` through graphs, ways through `maps`, or `pacman`; empty for models that only predict.
    solves: Vec<&'static str>,
}

const NOTHING: &str = "nothing of the task: what messages say and when to stop is learned";

const PATH_ALGEBRA: &str = "waves by addition and maximum, the algebra of shortest paths. Learned: what an edge adds, \
                            who starts a wave, when to stop, the head";

const CHAINS: &str =
    "waves by maximum that run until nothing changes. Learned: their directions, and what is read of them";

const TREES: &str = "cheapest 1-trees under prices on nodes. Learned: how the prices move and how the bound is read";

impl Loaded {
    /// The description under a name.
    pub(crate) fn describe(&self, name: &str, from: &'static str) -> Description {
        let config = self.model.config();
        let (family, built_in) = family(config);
        let widths = config.widths();
        Description {
            name: name.to_owned(),
            from,
            task: self.model.card().task.clone(),
            network: self.model.card().name.clone(),
            family,
            architecture: self.model.architecture(),
            built_in,
            parameters: named_tensors(self.model.network()).values().map(|tensor| tensor.values.len()).sum(),
            node_width: widths.node_width,
            edge_width: widths.edge_width,
            output_width: widths.output_width,
            seed: self.model.card().seed,
            solves: self.solves(),
        }
    }

    fn solves(&self) -> Vec<&'static str> {
        let widths = self.model.config().widths();
        let task = self.model.card().task.as_str();
        if self.game().is_some() {
            return vec!["pacman"];
        }
        match (widths.node_width, widths.edge_width, widths.output_width) {
            (3, 1, 1) if ["shortest-path", ""].contains(&task) => vec!["paths"],
            (4, 1, 1) if ["navigation", ""].contains(&task) => vec!["maps"],
            _ => Vec::new(),
        }
    }

    /// The games a player has learned on, if this is one.
    pub(crate) fn game(&self) -> Option<PacmanConfig> {
        RunConfig::of_card(self.model.card())?.game().ok().copied()
    }

    /// Channels of a node's state.
    pub(crate) fn channels(&self) -> usize {
        self.model.config().settings().hidden_width()
    }
}

/// Family, and what is built in.
fn family(config: &GnnConfig) -> (&'static str, &'static str) {
    match config {
        GnnConfig::Graph(_) | GnnConfig::JumpingKnowledge(_) | GnnConfig::Grid(_) => ("network", NOTHING),
        GnnConfig::MaxPlus(_) => ("task-aligned", PATH_ALGEBRA),
        GnnConfig::Waves(_) => ("task-aligned", CHAINS),
        GnnConfig::OneTree(_) => ("task-aligned", TREES),
    }
}
