//! The symmetries of the square.

use super::Action;

/// One of the eight rotations and reflections of the map.
///
/// The rules of the game are the same seen in a mirror, so a move that is good in a game is, mirrored, good in the
/// mirrored game.
///
/// # Example
/// ```
/// use itergnn_tasks::pacman::{Action, Symmetry};
/// let mirrored: Vec<Action> = Symmetry::ALL.map(|symmetry| symmetry.action(Action::Up)).to_vec();
/// assert!(Action::ALL.iter().all(|action| mirrored.iter().filter(|&other| other == action).count() == 2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Symmetry {
    swap: bool,
    mirror_right: bool,
    mirror_down: bool,
}

impl Symmetry {
    /// The map as it is.
    pub const IDENTITY: Self = Self::new(0);

    /// All eight, the identity first.
    pub const ALL: [Self; 8] = [
        Self::new(0),
        Self::new(1),
        Self::new(2),
        Self::new(3),
        Self::new(4),
        Self::new(5),
        Self::new(6),
        Self::new(7),
    ];

    const fn new(number: u8) -> Self {
        Self { swap: number & 4 != 0, mirror_right: number & 1 != 0, mirror_down: number & 2 != 0 }
    }

    /// Where a displacement (right, down) goes.
    pub fn displacement(self, right: i16, down: i16) -> (i16, i16) {
        let (right, down) = if self.swap { (down, right) } else { (right, down) };
        (if self.mirror_right { -right } else { right }, if self.mirror_down { -down } else { down })
    }

    /// What a move becomes.
    pub fn action(self, action: Action) -> Action {
        let (right, down) = match action {
            Action::Left => (-1, 0),
            Action::Right => (1, 0),
            Action::Up => (0, -1),
            Action::Down => (0, 1),
        };
        match self.displacement(right, down) {
            (-1, _) => Action::Left,
            (1, _) => Action::Right,
            (_, -1) => Action::Up,
            _ => Action::Down,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_eight_differ_and_turn_moves_as_they_turn_the_map() {
        let seen: std::collections::BTreeSet<_> =
            Symmetry::ALL.iter().map(|symmetry| symmetry.displacement(1, 3)).collect();
        assert_eq!(seen.len(), 8);
        for symmetry in Symmetry::ALL {
            let targets: std::collections::BTreeSet<_> =
                Action::ALL.iter().map(|&action| symmetry.action(action).index()).collect();
            assert_eq!(targets.len(), 4, "{symmetry:?} is a permutation of the moves");
        }
        assert_eq!(Symmetry::IDENTITY.displacement(2, -5), (2, -5));
    }
}
