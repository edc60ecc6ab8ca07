//! A generator chosen by name.

use std::{fmt, str::FromStr};

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::{complete, cycle, erdos_renyi, grid, knn, line, lobster, planar, regular, tree};
use crate::{Graph, GraphError};

/// A graph generator with its parameters, except the size.
///
/// Parsed from its name with the paper's parameters: `er`, `knn`, `planar`, `lobster`, and `grid`, `line`, `complete`,
/// `cycle`, `regular`, `tree`, `mixed`, `lobster-or-line`.
///
/// # Example
/// ```
/// use itergnn_graph::{generators::Generator, rng};
/// let generator: Generator = "lobster".parse()?;
/// let graph = generator.generate(20, &mut rng::seeded(1))?;
/// assert!(graph.nodes() >= 20);
/// # Ok::<(), itergnn_graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Generator {
    /// [`erdos_renyi`].
    Er {
        /// Probability of each edge.
        p: f64,
        /// Whether the two directions are drawn apart.
        directed: bool,
    },
    /// [`knn`].
    Knn {
        /// Dimension of the cube.
        dimension: usize,
        /// Neighbours of each point.
        k: usize,
    },
    /// [`planar`].
    Planar,
    /// [`lobster`].
    Lobster {
        /// First-level leaves per node of the line.
        p1: f64,
        /// Second-level leaves per first-level leaf.
        p2: f64,
    },
    /// [`grid`]: a square of `size` rows and columns.
    Grid,
    /// [`line()`].
    Line,
    /// [`complete`].
    Complete,
    /// [`cycle`].
    Cycle,
    /// [`regular`].
    Regular {
        /// Neighbours of each node.
        degree: usize,
    },
    /// [`tree`].
    Tree,
    /// Each graph from one of [`Generator::MIX`], all equally often.
    Mixed,
    /// Four of five graphs a [`lobster`] with the paper's parameters, the fifth a [`line()`] of
    /// [`Generator::STRETCH`] times the size: long distances without large graphs of the kind that is learned.
    LobsterOrLine,
}

impl Generator {
    /// The paper's lobsters: p1 = p2 = 0.2.
    pub const LOBSTER: Self = Self::Lobster { p1: 0.2, p2: 0.2 };
    /// The paper's directed Erdos-Renyi graphs: p = 0.5.
    pub const ER: Self = Self::Er { p: 0.5, directed: true };
    /// The paper's nearest-neighbour graphs: d = 1, k = 8.
    pub const KNN: Self = Self::Knn { dimension: 1, k: 8 };

    /// Every generator that can be named, with the paper's parameters.
    pub const ALL: [Self; 12] = [
        Self::ER,
        Self::KNN,
        Self::Planar,
        Self::LOBSTER,
        Self::Grid,
        Self::Line,
        Self::Complete,
        Self::Cycle,
        Self::Regular { degree: 3 },
        Self::Tree,
        Self::Mixed,
        Self::LobsterOrLine,
    ];

    /// What [`Generator::Mixed`] draws from: the paper's four kinds of weighted graphs, and grids.
    pub const MIX: [Self; 5] = [Self::ER, Self::KNN, Self::Planar, Self::LOBSTER, Self::Grid];

    /// How much longer the lines of [`Generator::LobsterOrLine`] are than its lobsters.
    pub const STRETCH: usize = 6;

    /// The name it is parsed from.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The generator and size of the next graph. Only mixtures draw: one of their kinds, where a grid has as many nodes
    /// as the others, or a few more.
    #[must_use]
    pub fn next(&self, size: usize, rng: &mut impl Rng) -> (Self, usize) {
        match self {
            Self::Mixed => match Self::MIX[rng.random_range(0..Self::MIX.len())] {
                Self::Grid => (Self::Grid, (size as f64).sqrt().ceil() as usize),
                kind => (kind, size),
            },
            Self::LobsterOrLine if rng.random_range(0..5_u32) == 0 => (Self::Line, size.saturating_mul(Self::STRETCH)),
            Self::LobsterOrLine => (Self::LOBSTER, size),
            _ => (*self, size),
        }
    }

    /// A graph of the given size: the line length of a lobster, the side of a grid, else the number of nodes.
    ///
    /// # Errors
    /// Those of the generator.
    pub fn generate(&self, size: usize, rng: &mut impl Rng) -> Result<Graph, GraphError> {
        match *self {
            Self::Er { p, directed } => erdos_renyi(size, p, directed, rng),
            Self::Knn { dimension, k } => knn(size, dimension, k, rng),
            Self::Planar => planar(size, rng),
            Self::Lobster { p1, p2 } => lobster(size, p1, p2, rng),
            Self::Grid => grid(size, size),
            Self::Line => line(size),
            Self::Complete => complete(size),
            Self::Cycle => cycle(size),
            Self::Regular { degree } => regular(size, degree, rng),
            Self::Tree => tree(size, rng),
            Self::Mixed | Self::LobsterOrLine => {
                let (kind, size) = self.next(size, rng);
                kind.generate(size, rng)
            }
        }
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Generator {
    type Err = GraphError;

    fn from_str(name: &str) -> Result<Self, GraphError> {
        Self::ALL.into_iter().find(|generator| generator.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(Self::name).collect();
            GraphError::Parameter {
                what: "generator",
                why: format!("unknown '{name}', known are {}", names.join(", ")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;

    #[test]
    fn names_round_trip_and_generate() {
        for generator in Generator::ALL {
            assert_eq!(generator.name().parse::<Generator>().unwrap(), generator);
            assert!(generator.generate(8, &mut rng::seeded(1)).unwrap().nodes() >= 8);
        }
        assert!("lobsters".parse::<Generator>().is_err());
    }

    #[test]
    fn a_mixture_has_all_its_kinds_and_others_draw_nothing() {
        let mut rng = rng::seeded(5);
        let drawn: Vec<_> = (0..200).map(|_| Generator::Mixed.next(30, &mut rng)).collect();
        for kind in Generator::MIX {
            let size = if kind == Generator::Grid { 6 } else { 30 };
            assert!((20..60).contains(&drawn.iter().filter(|&&one| one == (kind, size)).count()), "{kind}");
        }
        let drawn: Vec<_> = (0..200).map(|_| Generator::LobsterOrLine.next(30, &mut rng)).collect();
        let lines = drawn.iter().filter(|&&one| one == (Generator::Line, 180)).count();
        assert!((25..60).contains(&lines), "{lines} lines");
        assert_eq!(drawn.iter().filter(|&&one| one == (Generator::LOBSTER, 30)).count(), 200 - lines);
        let before = rng.clone();
        assert_eq!(Generator::LOBSTER.next(30, &mut rng), (Generator::LOBSTER, 30));
        assert_eq!(rng.random::<u64>(), before.clone().random::<u64>());
    }
}
