//! Everything a run that learns by playing depends on.

use itergnn_nn::controllers::ControllerConfig;
use itergnn_nn::{GnnConfig, TaskWidths, preset};
use itergnn_tasks::Task;
use itergnn_tasks::pacman::{
    Action, COMPASS_EDGE_ATTRIBUTES, COMPASS_NODE_ATTRIBUTES, IMAGE_CHANNELS, NODE_ATTRIBUTES, PacmanConfig,
};
use serde::{Deserialize, Serialize};

use super::AgentConfig;
use crate::config::{CheckpointConfig, ModelConfig, OptimiserConfig, TaskShape};
use crate::run::RunConfig;
use crate::{Schedule, TrainError};

/// A run of double DQN: the same configuration gives the same weights, bit for bit, on any number of threads.
///
/// # Example
/// ```
/// use itergnn_train::rl::DqnConfig;
/// let config = DqnConfig::from_toml("steps = 1000\n[model]\nname = 'iter-path'\n[game]\ndots = 3")?;
/// assert_eq!((config.game.walls, config.agent.discount, config.optimiser.learning_rate), (8, 0.9, 2e-4));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DqnConfig {
    /// Seed of the initial weights, of the games and of every random move.
    #[serde(default)]
    pub seed: u64,
    /// Moves in all games together.
    #[serde(default = "default_steps")]
    pub steps: u64,
    /// Games that are played side by side.
    #[serde(default = "default_environments")]
    pub environments: usize,
    /// Layers of a stack (GCN, CNN and the like).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<usize>,
    /// Side of the kernels of a CNN, odd.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<usize>,
    /// Show graph networks no positions, but the straight ways with their directions (see [`Observation::compass_graph`](itergnn_tasks::pacman::Observation::compass_graph)); not in the paper.
    #[serde(default)]
    pub compass: bool,
    /// Moves between records in the log; 0 for none.
    #[serde(default = "default_log_every")]
    pub log_every: u64,
    /// The games.
    #[serde(default)]
    pub game: PacmanConfig,
    /// The value network.
    pub model: ModelConfig,
    /// Double DQN.
    #[serde(default)]
    pub agent: AgentConfig,
    /// Adam; the paper's rate is 0.0002.
    #[serde(default = "default_optimiser")]
    pub optimiser: OptimiserConfig,
    /// Choice of the best state.
    #[serde(default)]
    pub validation: PlayValidation,
    /// How often the state is saved.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
}

/// How the best state of a run is chosen: by the success in games of the training setting that are not played for learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayValidation {
    /// Moves between two validations.
    pub every_steps: u64,
    /// Games in a validation.
    pub games: u64,
    /// Average the network over the eight rotations and reflections of a game, as [`ValuePlayer::with_symmetries`](super::ValuePlayer::with_symmetries) does.
    pub symmetries: bool,
}

impl Default for PlayValidation {
    fn default() -> Self {
        Self { every_steps: 20_000, games: 100, symmetries: false }
    }
}

fn default_steps() -> u64 {
    200_000
}

fn default_environments() -> usize {
    8
}

fn default_log_every() -> u64 {
    2_000
}

/// The paper's rate with the paper's Adam.
fn default_optimiser() -> OptimiserConfig {
    OptimiserConfig { learning_rate: 2e-4, schedule: Schedule::default(), ..OptimiserConfig::default() }
}

/// Most steps of an iterated block while it learns: the graphs are complete and the longest chains of corners have about that many links.
const TRAINING_CAP: usize = 8;

/// Layers of a stack unless told; the paper compares 1, 3, 5, 7 and 9.
const STACK_LAYERS: usize = 3;

impl DqnConfig {
    /// A run with the defaults of the paper.
    pub fn new(model: ModelConfig) -> Self {
        Self {
            seed: 0,
            steps: default_steps(),
            environments: default_environments(),
            layers: None,
            kernel: None,
            compass: false,
            log_every: default_log_every(),
            game: PacmanConfig::default(),
            model,
            agent: AgentConfig::default(),
            optimiser: default_optimiser(),
            validation: PlayValidation::default(),
            checkpoint: CheckpointConfig::default(),
        }
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`TrainError::ConfigText`] if the text is not TOML, or has fields that do not exist.
    pub fn from_toml(text: &str) -> Result<Self, TrainError> {
        crate::config::read_toml(text)
    }

    /// Checks everything, before anything is done.
    ///
    /// # Errors
    /// [`TrainError::Config`] names the field that makes no sense; [`TrainError::Model`] and [`TrainError::Task`] say what model and game refuse.
    pub fn validate(&self) -> Result<(), TrainError> {
        let counts = [
            ("steps", self.steps),
            ("environments", self.environments as u64),
            ("validation.every_steps", self.validation.every_steps),
            ("validation.games", self.validation.games),
            ("checkpoint.every_steps", self.checkpoint.every_steps.unwrap_or(1)),
        ];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(TrainError::config(field, "must be at least 1"));
        }
        if self.environments > 4_096 {
            return Err(TrainError::config("environments", format!("{} is more than 4096", self.environments)));
        }
        self.game.check()?;
        if self.game.dots == 0 {
            return Err(TrainError::config("game.dots", "without dots there is nothing to learn"));
        }
        self.agent.validate()?;
        self.optimiser.validate()?;
        self.model_config().map(drop)
    }

    /// Updates of the network in the whole run.
    pub fn updates(&self) -> u64 {
        self.updates_at(self.steps)
    }

    /// Updates that are due after so many moves.
    pub(super) fn updates_at(&self, step: u64) -> u64 {
        step.saturating_sub(self.agent.warm_up_steps) / self.agent.train_every
    }

    /// The whole configuration of the value network.
    ///
    /// Path layers are `path` unless told otherwise: only a message that sees both of its ends can tell whether the way between them is straight. Iterated
    /// blocks stop after eight steps while they learn, unless the controller is given.
    ///
    /// # Errors
    /// As [`ModelConfig::for_task`].
    pub fn model_config(&self) -> Result<GnnConfig, TrainError> {
        if self.model.name == "cnn" {
            return self.cnn();
        }
        if self.kernel.is_some() {
            return Err(TrainError::config("kernel", format!("`{}` has no kernels", self.model.name)));
        }
        let (node_width, edge_width) =
            if self.compass { (COMPASS_NODE_ATTRIBUTES, COMPASS_EDGE_ATTRIBUTES) } else { (NODE_ATTRIBUTES, 1) };
        let shape = TaskShape {
            task: Task::Pacman,
            node_width,
            edge_width,
            outputs: Action::ALL.len(),
            node_level: false,
            classes: None,
            trees: false,
        };
        let config = self.model.for_task(&shape)?;
        let GnnConfig::Graph(graph) = &config else {
            let why = format!("`{}` does not value moves", self.model.name);
            return Err(TrainError::ModelMismatch { task: Task::Pacman, why });
        };
        let Some(controller) = graph.blocks.first().map(|block| block.controller.clone()) else { return Ok(config) };
        let controller = match controller {
            ControllerConfig::Stack(stack) => {
                let layers = self.layers.or((stack.layers > STACK_LAYERS).then_some(STACK_LAYERS));
                ControllerConfig::stack(layers.unwrap_or(stack.layers))
            }
            _ if self.layers.is_some() => {
                return Err(TrainError::config("layers", format!("`{}` is not a stack", self.model.name)));
            }
            given if self.model.controller.is_some() => given,
            iterated => iterated.with_iter(|iter| iter.training_cap = TRAINING_CAP),
        };
        let config = GnnConfig::Graph(graph.clone().with_controller(&controller));
        config.validate()?;
        Ok(config)
    }

    fn cnn(&self) -> Result<GnnConfig, TrainError> {
        let widths = TaskWidths::graph(IMAGE_CHANNELS, 0, Action::ALL.len());
        let mut config = preset("cnn", &widths)?;
        if let GnnConfig::Grid(grid) = &mut config {
            grid.kernel = self.kernel.unwrap_or(grid.kernel);
            grid.depth = self.layers.unwrap_or(grid.depth);
            grid.hidden_width = self.model.hidden_width.unwrap_or(grid.hidden_width);
        }
        config.validate()?;
        Ok(config)
    }
}

impl RunConfig for DqnConfig {
    fn from_toml(text: &str) -> Result<Self, TrainError> {
        Self::from_toml(text)
    }

    fn to_toml(&self) -> Result<String, TrainError> {
        toml::to_string(self).map_err(|error| TrainError::ConfigText(error.to_string()))
    }

    fn with_habits_of(&self, other: &Self) -> Self {
        Self { checkpoint: other.checkpoint.clone(), log_every: other.log_every, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_papers() {
        let config = DqnConfig::new(ModelConfig::preset("iter-path"));
        config.validate().unwrap();
        let agent = &config.agent;
        assert_eq!((agent.discount, agent.exploration, agent.warm_up_steps), (0.9, 0.1, 1_000));
        assert_eq!((agent.train_every, agent.target_every, agent.replay, agent.batch_size), (4, 200, 10_000, 32));
        assert_eq!((config.game.dots, config.game.walls, config.optimiser.learning_rate), (10, 8, 2e-4));
        assert_eq!(DqnConfig::from_toml(&config.to_toml().unwrap()).unwrap(), config);
    }

    #[test]
    fn every_value_network_of_the_paper_is_there() {
        for name in ["iter-path", "iter-homo-path", "iter-path-settle", "pointnet", "gat"] {
            DqnConfig::new(ModelConfig::preset(name)).model_config().unwrap();
        }
        for layers in [1, 3, 5, 7, 9] {
            let gcn = DqnConfig { layers: Some(layers), ..DqnConfig::new(ModelConfig::preset("gcn")) };
            assert!(matches!(gcn.model_config().unwrap(), GnnConfig::Graph(_)));
            for kernel in [3, 5, 7] {
                let cnn = DqnConfig { kernel: Some(kernel), model: ModelConfig::preset("cnn"), ..gcn.clone() };
                let GnnConfig::Grid(grid) = cnn.model_config().unwrap() else { panic!("a CNN takes pictures") };
                assert_eq!((grid.kernel, grid.depth), (kernel, layers));
            }
        }
    }

    #[test]
    fn faults_are_one_line_that_names_the_field() {
        let change = |change: fn(&mut DqnConfig)| {
            let mut config = DqnConfig::new(ModelConfig::preset("iter-path"));
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        for (message, starts) in [
            (change(|config| config.steps = 0), "config: steps: must be at least 1"),
            (change(|config| config.agent.discount = 1.0), "config: agent.discount: 1 is not"),
            (change(|config| config.agent.batch_size = 20_000), "config: agent.batch_size: 20000 is more"),
            (change(|config| config.game.dots = 300), "pacman: 300 dots"),
            (change(|config| config.game.dots = 0), "config: game.dots: "),
            (change(|config| config.layers = Some(3)), "config: layers: `iter-path` is not a stack"),
            (change(|config| config.kernel = Some(3)), "config: kernel: `iter-path` has no kernels"),
            (change(|config| config.model.name = "max-plus".to_owned()), "the model does not fit pacman"),
        ] {
            assert!(message.starts_with(starts) && !message.contains('\n'), "{message}");
        }
    }
}
