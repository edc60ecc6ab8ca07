//! Learning by playing: double DQN on symbolic Pacman.
//!
//! A [`DqnConfig`] says everything a run depends on; [`train_dqn`] carries it out, in a run directory from which it can be resumed to the bit, replay memory
//! included; [`play_games`] judges a model, or any other player, on games it has not seen.
//!
//! Burn's own `burn-rl` is not used: it has traits, a replay memory in tensors and a loop that owns its threads, but no DQN, no replay memory that can be saved and no
//! way to resume to the bit, which are the larger part of what is here.
//!
//! # Example
//! ```
//! use itergnn_train::rl::{DqnConfig, PlayOptions, ValuePlayer, play_games, train_dqn};
//! use itergnn_train::{Silent, TrainOptions};
//!
//! let config = DqnConfig::from_toml(
//!     r#"
//!     steps = 60
//!     game = { size = 5, dots = 2, walls = 1 }
//!     model = { name = "iter-path", hidden_width = 4 }
//!     agent = { warm_up_steps = 20, replay = 40, batch_size = 4 }
//!     validation = { every_steps = 30, games = 2 }
//!     "#,
//! )?;
//! let outcome = train_dqn(&config, None, &TrainOptions::default(), &mut Silent)?;
//! let player = ValuePlayer::new(&outcome.model);
//! let report = play_games(&player, &config.game, 5, 0, &PlayOptions::default(), &mut |_| {})?;
//! assert!((0.0..=1.0).contains(&report.success_rate));
//! # Ok::<(), itergnn_train::TrainError>(())
//! ```

mod agent;
mod checkpoint;
mod config;
mod evaluation;
mod grid;
mod learner;
mod player;
mod recall;
mod record;
mod replay;
mod session;
mod value_scale;
mod view;

pub use agent::{AgentConfig, Horizon};
pub use config::{DqnConfig, PlayValidation};
pub use evaluation::{Choice, Chooser, OraclePlayer, PlayOptions, PlayReport, RandomPlayer, ValuePlayer, play_games};
pub use grid::{GridCell, GridReport, paper_settings, paper_table};
pub use learner::{ValueLearner, ValueStep};
pub use player::{Collector, PlayerState};
pub use recall::{Recall, Recollection};
pub use record::PlayRecord;
pub use replay::{Replay, Transition};
pub use session::{DqnOutcome, train_dqn};
pub use value_scale::ValueScale;
pub use view::{GameView, ViewKind};
