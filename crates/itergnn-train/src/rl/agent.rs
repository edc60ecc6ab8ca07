//! The settings of double DQN.

use serde::{Deserialize, Serialize};

use super::ValueScale;
use crate::TrainError;

/// Double DQN with the paper's numbers; what the paper does not have says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// Discount of a move.
    pub discount: f64,
    /// Share of the moves that are made at random.
    pub exploration: f64,
    /// Moves at the beginning that are all made at random, before anything is learned.
    pub warm_up_steps: u64,
    /// Moves between two updates of the network.
    pub train_every: u64,
    /// Moves between two copies to the target network.
    pub target_every: u64,
    /// Transitions that are remembered.
    pub replay: usize,
    /// Transitions in an update.
    pub batch_size: usize,
    /// Transitions drawn for each place in an update, of which the one that last surprised the network most is learned
    /// from; 1, as in the paper, is uniform replay. Games are certain, so this changes how often something is learned,
    /// not what.
    pub candidates: usize,
    /// Choose the next move by the network and value it by the target network (double DQN); `false` does both by the
    /// target network.
    pub double: bool,
    /// Rewards that are added up before the value of a later state takes over; 1 in the paper.
    pub returns: usize,
    /// How far into the game a value looks; to its end in the paper.
    pub horizon: Horizon,
    /// Moves without a dot after which a training game is given up for a new one, without calling it lost; `None`, as
    /// in the paper, plays on until the time is up.
    pub patience: Option<u32>,
    /// What the outputs mean; `linear` in the paper.
    pub value_scale: ValueScale,
    /// Learn from every transition rotated and reflected at random; not in the paper.
    pub symmetries: bool,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            discount: 0.9,
            exploration: 0.1,
            warm_up_steps: 1_000,
            train_every: 4,
            target_every: 200,
            replay: 10_000,
            batch_size: 32,
            candidates: 1,
            double: true,
            returns: 1,
            horizon: Horizon::default(),
            patience: None,
            value_scale: ValueScale::default(),
            symmetries: true,
        }
    }
}

/// Which rewards a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Horizon {
    /// All that is still to come in the game, as in the paper.
    #[default]
    Game,
    /// The next dot alone: the value of a move is the discount to the power of the moves that are left until then,
    /// whatever comes later.
    Dot,
}

/// Most transitions that are remembered: they take about 300 bytes each.
const LARGEST_REPLAY: usize = 10_000_000;

impl AgentConfig {
    pub(super) fn validate(&self) -> Result<(), TrainError> {
        if !(self.discount > 0.0 && self.discount < 1.0) {
            return Err(TrainError::config("agent.discount", format!("{} is not between 0 and 1", self.discount)));
        }
        if !(0.0..=1.0).contains(&self.exploration) {
            return Err(TrainError::config("agent.exploration", format!("{} is not in [0, 1]", self.exploration)));
        }
        let counts = [
            ("agent.train_every", self.train_every),
            ("agent.target_every", self.target_every),
            ("agent.replay", self.replay as u64),
            ("agent.batch_size", self.batch_size as u64),
            ("agent.candidates", self.candidates as u64),
            ("agent.returns", self.returns as u64),
            ("agent.patience", self.patience.map_or(1, u64::from)),
        ];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(TrainError::config(field, "must be at least 1"));
        }
        if self.replay > LARGEST_REPLAY {
            return Err(TrainError::config("agent.replay", format!("{} is more than {LARGEST_REPLAY}", self.replay)));
        }
        if self.batch_size > self.replay {
            let why = format!("{} is more than the {} transitions remembered", self.batch_size, self.replay);
            return Err(TrainError::config("agent.batch_size", why));
        }
        Ok(())
    }
}
