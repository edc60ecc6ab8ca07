//! Settings of double DQN.

use itergnn_nn::controllers::ControllerConfig;
use itergnn_nn::{GnnConfig, Level, TaskWidths, preset};
use itergnn_tasks::pacman::{
    Action, COMPASS_EDGE_ATTRIBUTES, COMPASS_NODE_ATTRIBUTES, IMAGE_CHANNELS, NODE_ATTRIBUTES, PacmanConfig,
};
use itergnn_tasks::{Task, TaskSpec};
use serde::{Deserialize, Serialize};

use super::AgentConfig;
use crate::TrainError;
use crate::config::{ModelConfig, RunConfig, RunTask, TaskShape, at_least_one};

/// Learning by playing, with the paper's numbers.
///
/// # Example
/// ```
/// use itergnn_train::RunConfig;
/// let config = RunConfig::from_toml("steps = 1000\n[task]\ntask = 'pacman'\n[model]\nname = 'iter-path'")?;
/// assert_eq!((config.dqn()?.agent.discount, config.optimiser.learning_rate), (0.9, 2e-4));
/// # Ok::<(), itergnn_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DqnConfig {
    /// Moves in all games together.
    pub steps: u64,
    /// Games that are played side by side.
    pub environments: usize,
    /// Layers of a stack (GCN, CNN and the like).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<usize>,
    /// Side of the kernels of a CNN, odd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<usize>,
    /// Show graph networks no positions, but the straight ways with their directions (see
    /// [`Observation::compass_graph`](itergnn_tasks::pacman::Observation::compass_graph)); not in the paper.
    pub compass: bool,
    /// Double DQN.
    pub agent: AgentConfig,
    /// Choice of the best state.
    pub validation: PlayValidation,
}

impl Default for DqnConfig {
    fn default() -> Self {
        Self {
            steps: 200_000,
            environments: 8,
            layers: None,
            kernel: None,
            compass: false,
            agent: AgentConfig::default(),
            validation: PlayValidation::default(),
        }
    }
}

/// How the best state of a run is chosen: by the success in games of the training setting that are not played for
/// learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayValidation {
    /// Moves between two validations.
    pub every_steps: u64,
    /// Games in a validation.
    pub games: u64,
    /// Average the network over the eight rotations and reflections of a game, as
    /// [`ValuePlayer::with_symmetries`](super::ValuePlayer::with_symmetries) does.
    pub symmetries: bool,
}

impl Default for PlayValidation {
    fn default() -> Self {
        Self { every_steps: 20_000, games: 100, symmetries: false }
    }
}

/// Most steps of an iterated block while it learns: the graphs are complete and the longest chains of corners have
/// about that many links.
const TRAINING_CAP: usize = 8;

/// Layers of a stack unless told; the paper compares 1, 3, 5, 7 and 9.
const STACK_LAYERS: usize = 3;

impl DqnConfig {
    pub(crate) fn validate(&self, task: &RunTask) -> Result<(), TrainError> {
        at_least_one("steps", self.steps)?;
        at_least_one("environments", self.environments as u64)?;
        at_least_one("validation.every_steps", self.validation.every_steps)?;
        at_least_one("validation.games", self.validation.games)?;
        if self.environments > 4_096 {
            return Err(TrainError::config("environments", format!("{} is more than 4096", self.environments)));
        }
        if let RunTask::BuiltIn(TaskSpec::Pacman(game)) = task {
            game.check()?;
            if game.dots == 0 {
                return Err(TrainError::config("task.dots", "without dots there is nothing to learn"));
            }
        }
        self.agent.validate()
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
    /// Iterated blocks stop after eight steps while they learn, unless the controller is given.
    ///
    /// # Errors
    /// As [`ModelConfig::for_task`].
    pub fn model_config(&self, own: &ModelConfig) -> Result<GnnConfig, TrainError> {
        if own.name == "cnn" {
            return self.cnn(own);
        }
        if self.kernel.is_some() {
            return Err(TrainError::config("kernel", format!("`{}` has no kernels", own.name)));
        }
        let (node_width, edge_width) =
            if self.compass { (COMPASS_NODE_ATTRIBUTES, COMPASS_EDGE_ATTRIBUTES) } else { (NODE_ATTRIBUTES, 1) };
        let shape = TaskShape {
            name: Task::Pacman.name(),
            task: Some(Task::Pacman),
            node_width,
            edge_width,
            outputs: Action::ALL.len(),
            level: Level::Graph,
            classes: None,
            trees: false,
        };
        let config = own.for_task(&shape)?;
        let GnnConfig::Graph(graph) = &config else {
            let why = format!("`{}` does not value moves", own.name);
            return Err(TrainError::ModelMismatch { task: Task::Pacman.name().to_owned(), why });
        };
        let Some(controller) = graph.blocks.first().map(|block| block.controller) else { return Ok(config) };
        let controller = match controller {
            ControllerConfig::Stack(stack) => {
                let layers = self.layers.or((stack.layers > STACK_LAYERS).then_some(STACK_LAYERS));
                ControllerConfig::stack(layers.unwrap_or(stack.layers))
            }
            _ if self.layers.is_some() => {
                return Err(TrainError::config("layers", format!("`{}` is not a stack", own.name)));
            }
            given if own.controller.is_some() => given,
            iterated => iterated.with_iter(|iter| iter.training_cap = TRAINING_CAP),
        };
        let config = GnnConfig::Graph(graph.clone().with_controller(&controller));
        config.validate()?;
        Ok(config)
    }

    fn cnn(&self, own: &ModelConfig) -> Result<GnnConfig, TrainError> {
        let known = ModelConfig { hidden_width: own.hidden_width, ..ModelConfig::preset("cnn") };
        if *own != known || self.compass {
            let field = if self.compass { "compass" } else { "model" };
            return Err(TrainError::config(field, "`cnn` sees the map and takes hidden_width, layers and kernel"));
        }
        let widths = TaskWidths::graph(IMAGE_CHANNELS, 0, Action::ALL.len());
        let mut config = preset("cnn", &widths)?;
        if let GnnConfig::Grid(grid) = &mut config {
            grid.kernel = self.kernel.unwrap_or(grid.kernel);
            grid.depth = self.layers.unwrap_or(grid.depth);
            grid.hidden_width = own.hidden_width.unwrap_or(grid.hidden_width);
        }
        config.validate()?;
        Ok(config)
    }
}

impl RunConfig {
    /// The games of a run that plays.
    ///
    /// # Errors
    /// [`TrainError::Config`] for another task.
    pub fn game(&self) -> Result<&PacmanConfig, TrainError> {
        match &self.task {
            RunTask::BuiltIn(TaskSpec::Pacman(game)) => Ok(game),
            other => Err(TrainError::config("task", format!("{} is not played", other.name()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_nn::LayerKind;

    fn config(name: &str) -> RunConfig {
        RunConfig::new(TaskSpec::paper(Task::Pacman), ModelConfig::preset(name))
    }

    fn model(name: &str, layers: Option<usize>, kernel: Option<usize>) -> Result<GnnConfig, TrainError> {
        DqnConfig { layers, kernel, ..DqnConfig::default() }.model_config(&ModelConfig::preset(name))
    }

    #[test]
    fn defaults_are_the_papers() {
        let config = config("iter-path").resolve().unwrap().config;
        let (game, method) = (config.game().unwrap(), config.dqn().unwrap());
        let agent = &method.agent;
        assert_eq!((agent.discount, agent.exploration, agent.warm_up_steps), (0.9, 0.1, 1_000));
        assert_eq!((agent.train_every, agent.target_every, agent.replay, agent.batch_size), (4, 200, 10_000, 32));
        assert_eq!((game.dots, game.walls, config.optimiser.learning_rate, config.log_every), (10, 8, 2e-4, 2_000));
    }

    #[test]
    fn every_value_network_of_the_paper_is_there() {
        for name in ["iter-path", "iter-homo-path", "iter-path-settle", "pointnet", "gat"] {
            model(name, None, None).unwrap();
        }
        for layers in [1, 3, 5, 7, 9] {
            assert!(matches!(model("gcn", Some(layers), None).unwrap(), GnnConfig::Graph(_)));
            for kernel in [3, 5, 7] {
                let cnn = model("cnn", Some(layers), Some(kernel)).unwrap();
                let GnnConfig::Grid(grid) = cnn else { panic!("a CNN takes pictures") };
                assert_eq!((grid.kernel, grid.depth), (kernel, layers));
            }
        }
    }

    #[test]
    fn faults_are_one_line_that_names_the_field() {
        let change = |change: fn(&mut DqnConfig, &mut RunConfig)| {
            let mut run = config("iter-path");
            let mut method = run.dqn().unwrap().clone();
            change(&mut method, &mut run);
            RunConfig { method: crate::MethodConfig::DoubleDqn(method), ..run }.resolve().unwrap_err().to_string()
        };
        for (message, starts) in [
            (change(|method, _| method.steps = 0), "config: steps: must be at least 1"),
            (change(|method, _| method.agent.discount = 1.0), "config: agent.discount: 1 is not"),
            (change(|method, _| method.agent.batch_size = 20_000), "config: agent.batch_size: 20000 is more"),
            (change(|_, run| run.task = dots(300)), "pacman: 300 dots"),
            (change(|_, run| run.task = dots(0)), "config: task.dots: "),
            (change(|method, _| method.layers = Some(3)), "config: layers: `iter-path` is not a stack"),
            (change(|method, _| method.kernel = Some(3)), "config: kernel: `iter-path` has no kernels"),
            (change(|_, run| run.model.name = "max-plus".to_owned()), "the model does not fit pacman"),
            (
                change(|_, run| {
                    run.model = ModelConfig { layer: Some(LayerKind::Path), ..ModelConfig::preset("cnn") };
                }),
                "config: model: `cnn` sees the map",
            ),
        ] {
            assert!(message.starts_with(starts) && !message.contains('\n'), "{message}");
        }
    }

    fn dots(dots: u16) -> RunTask {
        TaskSpec::Pacman(PacmanConfig { dots, ..PacmanConfig::default() }).into()
    }
}
