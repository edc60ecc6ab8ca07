//! Task 4: Newton's balls, a row of touching balls hit from the left.
//!
//! Input: a chain of balls, node attributes `[position, speed]`, edge attribute the signed distance from the receiver's
//! centre to the sender's (so that touching is visible, and a scaled scene is a scaled input). Target: `[position,
//! speed]` one time step later, for the first and the last ball only
//! ([`Sample::target_nodes`](crate::Sample::target_nodes)); the balls between never move. Metric: mean squared error
//! over these four numbers.

mod sampler;
mod simulator;
mod spec;

pub use sampler::NewtonBallsSampler;
pub use simulator::{Balls, BallsError};
pub use spec::NewtonBallsSpec;
