//! How well a game went.

use serde::{Deserialize, Serialize};

use crate::Score;

/// The outcome of a game, so far or at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// Dots eaten.
    pub eaten: u32,
    /// Dots that could be reached when the game began.
    pub reachable: u32,
    /// Steps made.
    pub steps: u32,
}

impl Episode {
    /// Eaten / reachable; `None` where no dot could be reached, since such a game says nothing about the player.
    pub fn success(&self) -> Option<f64> {
        (self.reachable > 0).then(|| f64::from(self.eaten) / f64::from(self.reachable))
    }

    /// The success rate as a score.
    pub fn score(&self) -> Score {
        Score { success_rate: self.success(), ..Score::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scores;

    #[test]
    fn games_without_reachable_dots_are_left_out_of_the_mean() {
        let episode = |eaten, reachable| Episode { eaten, reachable, steps: 1 }.score();
        let scores = Scores::of(&[episode(1, 2), episode(0, 0), episode(4, 4)]);
        let summary = scores.success_rate.unwrap();
        assert_eq!((summary.count, summary.mean), (2, 0.75));
    }
}
