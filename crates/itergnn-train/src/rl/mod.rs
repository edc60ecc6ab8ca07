//! Learning by playing: double DQN on symbolic Pacman.
//!
//! [`train`](crate::train) carries out a [`RunConfig`](crate::RunConfig) whose task is Pacman, in a run directory from
//! which it can be resumed to the bit, replay memory included; [`play_games`] judges a model, or any other player, on
//! games it has not seen.
//!
//! Burn's own `burn-rl` is not used: it has traits, a replay memory in tensors and a loop that owns its threads, but no
//! DQN, no replay memory that can be saved and no way to resume to the bit, which are the larger part of what is here.
//!
//! # Example
//! ```
//! use itergnn_train::rl::{PlayOptions, ValuePlayer, play_games};
//! use itergnn_train::{RunConfig, Silent, TrainOptions, train};
//!
//! let config = RunConfig::from_toml(
//!     r#"
//!     steps = 60
//!     task = { task = "pacman", size = 5, dots = 2, walls = 1 }
//!     model = { name = "iter-path", hidden_width = 4 }
//!     agent = { warm_up_steps = 20, replay = 40, batch_size = 4 }
//!     validation = { every_steps = 30, games = 2 }
//!     "#,
//! )?;
//! let outcome = train(&config, None, &TrainOptions::default(), &mut Silent)?;
//! let player = ValuePlayer::new(&outcome.model);
//! let report = play_games(&player, config.game()?, 5, 0, &PlayOptions::default(), &mut |_| {})?;
//! assert!((0.0..=1.0).contains(&report.success_rate));
//! # Ok::<(), itergnn_train::TrainError>(())
//! ```

mod agent;
mod config;
mod evaluation;
mod grid;
mod learner;
mod player;
mod playing;
mod recall;
mod record;
mod replay;
mod value_scale;
mod view;

pub use agent::{AgentConfig, Horizon};
pub use config::{DqnConfig, PlayValidation};
pub use evaluation::{Choice, Chooser, OraclePlayer, PlayOptions, PlayReport, RandomPlayer, ValuePlayer, play_games};
pub use grid::{GridCell, GridReport, paper_settings, paper_table};
pub use learner::{ValueLearner, ValueStep};
pub use player::{Collector, PlayerState};
pub(crate) use playing::Playing;
pub use recall::{Recall, Recollection};
pub use record::PlayRecord;
pub use replay::{Replay, Transition};
pub use value_scale::ValueScale;
pub use view::{GameView, ViewKind};
