//! How far apart two nodes are, by size: the paper's figures about its data.

use itergnn::{
    graph::{
        rng,
        solvers::grid::{CellGrid, Connectivity},
    },
    tasks::{
        SizeRange, Split, Task, TaskError, TaskSpec,
        pacman::{Pacman, PacmanConfig, Position},
    },
};
use rayon::prelude::*;
use serde::Serialize;

use crate::drawing::{BoxPlot, Plot, Series, Spread, Style};

/// Sizes of random graphs: from the training range to the test size of the paper's weighted tables.
const GRAPH_SIZES: [u32; 7] = [5, 10, 20, 33, 50, 75, 100];

/// Sides of navigation maps: training goes to 10, tests are at 16 and 33.
const MAP_SIZES: [u32; 7] = [4, 7, 10, 16, 21, 27, 33];

/// Sides of mazes; 16 is the paper's.
const MAZE_SIZES: [u32; 5] = [8, 12, 16, 24, 32];

/// Cells of a maze for every wall: 8 walls on 16 x 16, as in training.
const CELLS_PER_WALL: u32 = 32;

/// Mazes tried for one whose agent reaches its dot.
const MAZES: u64 = 64;

/// The distances of one source of graphs, size by size.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PropertyFigure {
    /// For file names: `lobster`, `er`, `knn`, `planar`, `navigation`, `pacman`.
    pub(crate) name: &'static str,
    title: String,
    x_label: &'static str,
    /// Size and the lengths of shortest paths between random connected pairs.
    pub(crate) spreads: Vec<(u32, Spread)>,
}

impl PropertyFigure {
    /// The figure as a box plot.
    pub(crate) fn svg(&self) -> String {
        let boxes = self.spreads.iter().map(|(size, spread)| (size.to_string(), spread.clone())).collect();
        let y_label = "distance of a random pair".to_owned();
        BoxPlot { title: self.title.clone(), x_label: self.x_label.to_owned(), y_label, boxes }.drawing().svg()
    }

    /// The medians of several figures as curves over the size.
    pub(crate) fn medians(figures: &[Self]) -> Plot {
        let series = |figure: &Self| Series {
            name: figure.name.to_owned(),
            points: figure.spreads.iter().map(|(size, spread)| (f64::from(*size), spread.median)).collect(),
            style: Style::Curve,
        };
        Plot {
            title: "Median distance of a random pair".to_owned(),
            x_label: "size (nodes, line length of lobsters, side of maps)".to_owned(),
            y_label: "distance".to_owned(),
            logarithmic: true,
            series: figures.iter().map(series).collect(),
        }
    }
}

/// Draws `count` graphs of each generator, navigation maps and mazes at every size, and measures one random connected
/// pair in each.
///
/// Every graph has its own stream of the seed, so the numbers do not depend on the number of threads.
///
/// # Errors
/// What a sampler reports.
///
/// # Paper
/// The figures "Properties of different random graph generators" (1,000 graphs per size) and "Properties of the
/// datasets for image-based navigation".
pub(crate) fn property_figures(seed: u64, count: u64) -> Result<Vec<PropertyFigure>, TaskError> {
    let mut figures = Vec::new();
    for name in ["lobster", "er", "knn", "planar"] {
        let mut spec = TaskSpec::paper(Task::ShortestPath);
        if let TaskSpec::ShortestPath(spec) = &mut spec {
            spec.generator = name.parse()?;
        }
        let x_label = if name == "lobster" { "length of the line" } else { "nodes" };
        let spreads = labelled(&spec, &GRAPH_SIZES, seed, count)?;
        figures.push(PropertyFigure { name, title: format!("Distances in {name} graphs"), x_label, spreads });
    }
    figures.push(PropertyFigure {
        name: "navigation",
        title: "Distances in navigation maps".to_owned(),
        x_label: "side of the map",
        spreads: labelled(&TaskSpec::paper(Task::Navigation), &MAP_SIZES, seed, count)?,
    });
    figures.push(PropertyFigure {
        name: "pacman",
        title: "Distances in Pacman mazes".to_owned(),
        x_label: "side of the maze",
        spreads: mazes(seed, count)?,
    });
    Ok(figures)
}

/// Labels of a task whose label is a distance.
fn labelled(spec: &TaskSpec, sizes: &[u32], seed: u64, count: u64) -> Result<Vec<(u32, Spread)>, TaskError> {
    let mut spreads = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let mut spec = spec.clone();
        spec.set_size(SizeRange::exactly(size)?)?;
        let sampler = spec.sampler()?;
        let distance = |index| sampler.sample(Split::Train.seed(seed), index).map(|sample| f64::from(sample.target[0]));
        let distances = (0..count).into_par_iter().map(distance).collect::<Result<Vec<_>, _>>()?;
        spreads.extend(Spread::of(&distances).map(|spread| (size, spread)));
    }
    Ok(spreads)
}

/// Steps from the agent to a dot it can reach.
fn mazes(seed: u64, count: u64) -> Result<Vec<(u32, Spread)>, TaskError> {
    let mut spreads = Vec::with_capacity(MAZE_SIZES.len());
    for side in MAZE_SIZES {
        let walls = (side * side / CELLS_PER_WALL) as u16;
        let config = PacmanConfig { size: side as u16, walls, dots: 1, ..PacmanConfig::default() };
        let distance = |index: u64| -> Result<Option<f64>, TaskError> {
            for attempt in 0..MAZES {
                let game = Pacman::draw(config, &mut rng::sample(Split::Train.seed(seed), index * MAZES + attempt))?;
                if let Some(distance) = steps_to_dot(&game)? {
                    return Ok(Some(distance));
                }
            }
            Ok(None)
        };
        let distances = (0..count).into_par_iter().map(distance).collect::<Result<Vec<_>, _>>()?;
        let distances: Vec<f64> = distances.into_iter().flatten().collect();
        spreads.extend(Spread::of(&distances).map(|spread| (side, spread)));
    }
    Ok(spreads)
}

fn steps_to_dot(game: &Pacman) -> Result<Option<f64>, TaskError> {
    let side = game.config().size;
    let free = (0..side).flat_map(|y| (0..side).map(move |x| Position { x, y })).map(|at| !game.is_wall(at)).collect();
    let cells = CellGrid::new(usize::from(side), usize::from(side), free)?;
    let cell = |at: Position| u32::from(at.y) * u32::from(side) + u32::from(at.x);
    let Some(dot) = game.dots().next() else { return Ok(None) };
    let path = cells.shortest_path(cell(game.agent()), cell(dot), Connectivity::Four)?;
    Ok(path.map(|path| path.length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_grow_with_the_size_except_in_dense_random_graphs() {
        let figures = property_figures(3, 20).unwrap();
        assert_eq!(figures.len(), 6);
        for figure in &figures {
            let median = |place: usize| figure.spreads[place].1.median;
            let (first, last) = (median(0), median(figure.spreads.len() - 1));
            assert_eq!(last > 2.0 * first, figure.name != "er", "{}: {first} to {last}", figure.name);
            assert!(figure.spreads.iter().all(|(_, spread)| spread.low_whisker >= 1.0 && spread.count == 20));
            assert_eq!(figure.svg().matches("<rect").count(), 1 + figure.spreads.len());
        }
        assert!(PropertyFigure::medians(&figures).drawing().svg().contains("planar"));
    }

    #[test]
    fn the_same_seed_gives_the_same_figure() {
        let svg = |seed| property_figures(seed, 5).unwrap().iter().map(PropertyFigure::svg).collect::<String>();
        assert_eq!(svg(1), svg(1));
        assert_ne!(svg(1), svg(2));
    }
}
