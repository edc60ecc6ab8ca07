//! The paper's table: walls by dots.

use itergnn_tasks::pacman::PacmanConfig;
use serde::{Deserialize, Serialize};

use super::{Chooser, PlayOptions, PlayReport, play_games};
use crate::TrainError;

/// Walls of the rows and dots of the columns of the paper's tables of IterGNN and GCN.
const SETTINGS: ([u16; 6], [u16; 5]) = ([0, 3, 6, 9, 12, 15], [1, 5, 10, 15, 20]);

/// The same of its table of PointNet.
const POINT_NET_SETTINGS: ([u16; 5], [u16; 6]) = ([2, 4, 6, 8, 10], [1, 3, 6, 9, 12, 15]);

/// Walls and dots of the paper's table of a kind of player; those of IterGNN for players that it does not have.
pub fn paper_settings(player: &str) -> (&'static [u16], &'static [u16]) {
    if player == "pointnet" { (&POINT_NET_SETTINGS.0, &POINT_NET_SETTINGS.1) } else { (&SETTINGS.0, &SETTINGS.1) }
}

/// A setting and how it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridCell {
    /// What was measured.
    pub report: PlayReport,
    /// What the paper reports for this setting, if it does.
    pub paper: Option<f64>,
}

/// Success by number of walls and of dots; a file of results for the reproduction report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// Who played: the name of a model, `nearest-dot` or `random`.
    pub player: String,
    /// What sets the player apart from others of its name, such as its layers.
    #[serde(default)]
    pub variant: Option<String>,
    /// Seed of the training run, if there was one.
    pub training_seed: Option<u64>,
    /// Seed of the games.
    pub seed: u64,
    /// Games of every setting.
    pub count: u64,
    /// Whether a network was averaged over the eight rotations and reflections of a game.
    #[serde(default)]
    pub symmetries: bool,
    /// The training setting, 10 dots and 8 walls, which the paper's text reports.
    pub training_setting: GridCell,
    /// The cells, row after row: walls outside, dots inside.
    pub cells: Vec<GridCell>,
}

impl GridReport {
    /// Plays every setting of the player's table in the paper.
    ///
    /// # Errors
    /// As [`play_games`].
    pub fn measure(
        player: &dyn Chooser,
        name: &str,
        count: u64,
        seed: u64,
        options: &PlayOptions,
        tell: &mut dyn FnMut(&GridCell),
    ) -> Result<Self, TrainError> {
        let mut cell = |walls: u16, dots: u16| {
            let config = PacmanConfig { walls, dots, ..PacmanConfig::default() };
            let report = play_games(player, &config, count, seed, options, &mut |_| {})?;
            let cell = GridCell { report, paper: paper_table(name).and_then(|table| table(walls, dots)) };
            tell(&cell);
            Ok::<_, TrainError>(cell)
        };
        let base = PacmanConfig::default();
        let training_setting = cell(base.walls, base.dots)?;
        let (walls, dots) = paper_settings(name);
        let mut cells = Vec::with_capacity(walls.len() * dots.len());
        for &walls in walls {
            for &dots in dots {
                cells.push(cell(walls, dots)?);
            }
        }
        Ok(Self {
            player: name.to_owned(),
            variant: None,
            training_seed: None,
            seed,
            count,
            symmetries: false,
            training_setting,
            cells,
        })
    }

    /// The rows: their number of walls and their cells.
    pub fn rows(&self) -> impl Iterator<Item = (u16, &[GridCell])> {
        let same = |one: &GridCell, other: &GridCell| one.report.walls == other.report.walls;
        self.cells.chunk_by(same).map(|cells| (cells[0].report.walls, cells))
    }

    /// The dots of the columns.
    pub fn columns(&self) -> Vec<u16> {
        self.rows().next().map_or(Vec::new(), |(_, cells)| cells.iter().map(|cell| cell.report.dots).collect())
    }

    /// The lowest success of any cell.
    pub fn worst(&self) -> f64 {
        self.cells.iter().map(|cell| cell.report.success_rate).fold(1.0, f64::min)
    }
}

/// The paper's number for a kind of player (a model by its name) by walls and dots; the setting of training has the
/// number of the text.
///
/// # Paper
/// Section 5.3 and the three tables of the appendix. The PointNet table has other settings (2 to 10 walls, 1 to 15
/// dots) than the other two.
pub fn paper_table(player: &str) -> Option<fn(u16, u16) -> Option<f64>> {
    if player.starts_with("iter-") && player.contains("path") {
        return Some(iter_gnn);
    }
    match player {
        "gcn" => Some(gcn),
        "pointnet" => Some(point_net),
        "cnn" => Some(|walls, dots| ((walls, dots) == (8, 10)).then_some(0.915)),
        _ => None,
    }
}

fn look_up<const R: usize, const C: usize>(
    table: &[[f64; C]; R],
    (rows, walls): ([u16; R], u16),
    (columns, dots): ([u16; C], u16),
) -> Option<f64> {
    let row = rows.iter().position(|&row| row == walls)?;
    let column = columns.iter().position(|&column| column == dots)?;
    Some(table[row][column])
}

fn iter_gnn(walls: u16, dots: u16) -> Option<f64> {
    const TABLE: [[f64; 5]; 6] = [
        [1.00, 1.00, 0.99, 0.99, 1.00],
        [0.95, 1.00, 0.98, 0.94, 0.98],
        [0.90, 0.95, 0.94, 0.97, 0.98],
        [0.80, 0.92, 0.95, 0.95, 0.93],
        [0.60, 0.96, 0.97, 0.98, 0.93],
        [0.75, 0.92, 0.94, 0.95, 0.97],
    ];
    let training = ((walls, dots) == (8, 10)).then_some(0.975);
    training.or_else(|| look_up(&TABLE, (SETTINGS.0, walls), (SETTINGS.1, dots)))
}

fn gcn(walls: u16, dots: u16) -> Option<f64> {
    const TABLE: [[f64; 5]; 6] = [
        [0.05, 0.23, 0.09, 0.07, 0.05],
        [0.10, 0.23, 0.20, 0.15, 0.04],
        [0.00, 0.32, 0.17, 0.09, 0.06],
        [0.20, 0.27, 0.23, 0.06, 0.10],
        [0.05, 0.18, 0.26, 0.13, 0.03],
        [0.05, 0.17, 0.23, 0.15, 0.08],
    ];
    look_up(&TABLE, (SETTINGS.0, walls), (SETTINGS.1, dots))
}

fn point_net(walls: u16, dots: u16) -> Option<f64> {
    const TABLE: [[f64; 6]; 5] = [
        [0.82, 0.58, 0.39, 0.32, 0.34, 0.29],
        [0.72, 0.48, 0.31, 0.25, 0.24, 0.22],
        [0.71, 0.31, 0.36, 0.24, 0.19, 0.14],
        [0.60, 0.36, 0.21, 0.20, 0.20, 0.28],
        [0.50, 0.33, 0.33, 0.29, 0.16, 0.15],
    ];
    let training = ((walls, dots) == (8, 10)).then_some(0.29);
    training.or_else(|| look_up(&TABLE, (POINT_NET_SETTINGS.0, walls), (POINT_NET_SETTINGS.1, dots)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_player_is_asked_what_the_paper_asked_it() {
        for (name, walls, dots) in [("pointnet", 5, 6), ("gcn", 6, 5), ("nearest-dot", 6, 5)] {
            let options = PlayOptions::default();
            let report = GridReport::measure(&crate::rl::OraclePlayer, name, 1, 1, &options, &mut |_| {})
                .expect("maps like these exist");
            assert_eq!((report.rows().count(), report.columns().len()), (walls, dots), "{name}");
            let beside = report.cells.iter().filter(|cell| cell.paper.is_some()).count();
            assert_eq!(beside, if name == "nearest-dot" { 0 } else { 30 }, "{name}");
        }
    }

    #[test]
    fn the_papers_numbers_are_found_by_setting() {
        let iter = paper_table("iter-path").unwrap();
        assert_eq!((iter(12, 1), iter(8, 10), iter(8, 9)), (Some(0.60), Some(0.975), None));
        assert_eq!(paper_table("gcn").unwrap()(6, 5), Some(0.32));
        assert_eq!(paper_table("pointnet").unwrap()(10, 15), Some(0.15));
        assert!(paper_table("random").is_none());
    }
}
