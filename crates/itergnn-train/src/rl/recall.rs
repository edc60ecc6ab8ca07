//! What a player learns in the course of a game.

use itergnn_tasks::pacman::Action;

use super::ValueScale;
use super::view::best_of;

/// How the values of a network are corrected while it plays.
///
/// A network that sees agent, dots and corners cannot always tell whether a wall stands between two of them, so it may
/// try the same wrong way again and again. With recall, the outputs at every cell are kept until the next dot is eaten,
/// and each move that brought nothing is valued anew by what it led to:
/// ```text
/// output(s, a) <- output(g value(max_b output(s', b)))
/// ```
/// This is Q-learning with rate 1 in a table that begins with the network's outputs, within one game and without a look
/// at the map; a walk that leads nowhere becomes less attractive every time. In the search literature it is LRTA* (Korf
/// 1990) with the network as heuristic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// What the outputs mean.
    pub scale: ValueScale,
    /// Discount of a move.
    pub discount: f64,
}

/// The outputs that a game has corrected so far.
#[derive(Debug, Clone, Default)]
pub struct Recollection {
    /// By cell; `None` where the player has not been since the last dot.
    rows: Vec<Option<[f32; 4]>>,
    /// The last move, if it brought nothing.
    last: Option<(usize, Action)>,
}

impl Recollection {
    /// The best move at a cell for which the network gives these outputs, after the last move has been valued by where
    /// it led.
    pub fn choose(&mut self, recall: &Recall, cell: usize, outputs: &[f32; 4]) -> Action {
        if cell >= self.rows.len() {
            self.rows.resize(cell + 1, None);
        }
        let here = *self.rows[cell].get_or_insert(*outputs);
        if let Some((from, action)) = self.last.take() {
            let best = f64::from(here[best_of(&here)]);
            let led_to =
                recall.scale.output(recall.discount * recall.scale.value(best, recall.discount), recall.discount);
            if let Some(row) = &mut self.rows[from] {
                row[action.index()] = led_to as f32;
            }
        }
        let here = self.rows[cell].unwrap_or(*outputs);
        Action::ALL[best_of(&here)]
    }

    /// Notes the move that was made at a cell, and whether it brought a dot: then everything is new.
    pub fn moved(&mut self, cell: usize, action: Action, ate: bool) {
        if ate {
            self.rows.fill(None);
        }
        self.last = (!ate).then_some((cell, action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECALL: Recall = Recall { scale: ValueScale::Logarithmic, discount: 0.9 };

    #[test]
    fn a_move_that_changes_nothing_loses_its_charm() {
        let mut memory = Recollection::default();
        let outputs = [-3.0, -9.0, -6.5, -8.0];
        let mut made = Vec::new();
        for _ in 0..6 {
            let action = memory.choose(&RECALL, 7, &outputs);
            made.push(action.index());
            memory.moved(7, action, false);
        }
        // -3, -4, -5, -6, then -7 is worse than -6.5.
        assert_eq!(made, [0, 0, 0, 0, 2, 0]);
        memory.moved(7, Action::ALL[0], true);
        assert_eq!(memory.choose(&RECALL, 7, &outputs).index(), 0, "after a dot everything is new");
    }

    #[test]
    fn two_cells_that_point_at_each_other_are_left() {
        // Cell 0 says right, cell 1 says left, and left of cell 0 lies the way out.
        let mut memory = Recollection::default();
        let outputs = |cell: usize| if cell == 0 { [-12.0, -5.0, -50.0, -50.0] } else { [-5.0, -15.0, -50.0, -50.0] };
        let mut cell = 0;
        let mut moves = 0;
        loop {
            let action = memory.choose(&RECALL, cell, &outputs(cell));
            memory.moved(cell, action, false);
            moves += 1;
            match (cell, action) {
                (0, Action::Right) => cell = 1,
                (1, Action::Left) => cell = 0,
                (0, Action::Left) => break,
                _ => {}
            }
            assert!(moves < 30, "still between the two");
        }
        assert!(moves > 3);
    }
}
