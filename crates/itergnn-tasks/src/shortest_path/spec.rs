//! What shortest-path samples look like.

use std::{fmt, str::FromStr};

use itergnn_graph::generators::Generator;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::ShortestPathSampler;
use crate::{SizeRange, TaskError};

/// The settings of the shortest-path task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShortestPathSpec {
    /// Where graphs come from.
    #[serde(with = "crate::generator_setting")]
    pub generator: Generator,
    /// Sizes of the graphs: the generator's n.
    pub size: SizeRange,
    /// The edge weights.
    pub weights: Weights,
}

impl Default for ShortestPathSpec {
    /// Unweighted lobsters of the paper's training sizes.
    fn default() -> Self {
        Self { generator: Generator::LOBSTER, size: SizeRange::TRAINING, weights: Weights::Unit }
    }
}

impl ShortestPathSpec {
    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] if a size leaves no two nodes to choose.
    pub fn sampler(self) -> Result<ShortestPathSampler, TaskError> {
        ShortestPathSampler::new(self)
    }
}

/// How edges are weighted.
///
/// Written `unit`, `LO..HI` for uniform in [LO, HI), or `log:LO..HI` for weights whose logarithm is uniform there.
///
/// The one-hot node attributes are multiplied by [`Weights::scale`]. The paper trains on [0.5, 1.5), where the scale is
/// 1; [1, 3), [2, 6) and [8, 24) are that range times 2, 4 and 16, and so are their scales. A sample of the magnitude
/// test is therefore a training sample multiplied by a constant, and a homogeneous model must answer with the same
/// multiple.
///
/// # Example
/// ```
/// use itergnn_tasks::shortest_path::Weights;
/// assert_eq!("2..6".parse::<Weights>()?.scale(), 4.0);
/// assert_eq!(Weights::Unit.scale(), 1.0);
/// # Ok::<(), itergnn_tasks::TaskError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Weights {
    /// Every weight is 1.
    Unit,
    /// Independent and uniform.
    Uniform {
        /// The smallest weight.
        low: f32,
        /// No weight is as large as this.
        high: f32,
    },
    /// Independent, with a uniform logarithm: as many weights between 1 and 10 as between 10 and 100.
    LogUniform {
        /// The smallest weight, which is the unit of the one-hot attributes.
        low: f32,
        /// No weight is as large as this.
        high: f32,
    },
}

impl Weights {
    /// The paper's weighted graphs: uniform in [0.5, 1.5).
    pub const PAPER: Self = Self::Uniform { low: 0.5, high: 1.5 };

    /// Uniform weights in [low, high).
    ///
    /// # Errors
    /// [`TaskError::Parse`] unless 0 <= low < high and both are finite.
    pub fn uniform(low: f32, high: f32) -> Result<Self, TaskError> {
        if low >= 0.0 && low < high && high.is_finite() {
            Ok(Self::Uniform { low, high })
        } else {
            Err(TaskError::Parse { what: "weights", text: format!("{low}..{high}"), expected: EXPECTED })
        }
    }

    /// Weights between low and high whose logarithm is uniform.
    ///
    /// # Errors
    /// [`TaskError::Parse`] unless 0 < low < high and both are finite.
    pub fn log_uniform(low: f32, high: f32) -> Result<Self, TaskError> {
        if low > 0.0 && low < high && high.is_finite() {
            Ok(Self::LogUniform { low, high })
        } else {
            Err(TaskError::Parse { what: "weights", text: format!("{LOG}{low}..{high}"), expected: EXPECTED })
        }
    }

    /// The factor on the one-hot node attributes: 1 for unit weights, high - low for uniform ones, else the smallest
    /// weight.
    pub fn scale(self) -> f32 {
        match self {
            Self::Unit => 1.0,
            Self::Uniform { low, high } => high - low,
            Self::LogUniform { low, .. } => low,
        }
    }

    /// One weight.
    ///
    /// A uniform weight is low + (high - low) u, where u has 24 random bits: all ranges that are multiples by a power
    /// of two draw the same u from the same random state, so their samples are exact multiples of each other.
    pub fn draw(self, rng: &mut impl Rng) -> f32 {
        let (weight, high) = match self {
            Self::Unit => return 1.0,
            Self::Uniform { low, high } => (low + (high - low) * rng.random::<f32>(), high),
            Self::LogUniform { low, high } => (low * (high / low).powf(rng.random::<f32>()), high),
        };
        // Rounding can reach the excluded end.
        if weight < high { weight } else { high.next_down() }
    }
}

const EXPECTED: &str = "unit, LO..HI with 0 <= LO < HI, or log:LO..HI with 0 < LO < HI";

/// Stands before the ends of a range of [`Weights::LogUniform`].
const LOG: &str = "log:";

impl fmt::Display for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => formatter.write_str("unit"),
            Self::Uniform { low, high } => write!(formatter, "{low}..{high}"),
            Self::LogUniform { low, high } => write!(formatter, "{LOG}{low}..{high}"),
        }
    }
}

impl FromStr for Weights {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        if text == "unit" {
            return Ok(Self::Unit);
        }
        let parse = |part: &str| part.trim().parse::<f32>().ok();
        let (range, of) = match text.strip_prefix(LOG) {
            Some(range) => (range, Self::log_uniform as fn(f32, f32) -> Result<Self, TaskError>),
            None => (text, Self::uniform as _),
        };
        let ends = range.split_once("..").and_then(|(low, high)| parse(low).zip(parse(high)));
        let refused = || TaskError::Parse { what: "weights", text: text.to_owned(), expected: EXPECTED };
        let (low, high) = ends.ok_or_else(refused)?;
        of(low, high).map_err(|_| refused())
    }
}

impl TryFrom<String> for Weights {
    type Error = TaskError;

    fn try_from(text: String) -> Result<Self, TaskError> {
        text.parse()
    }
}

impl From<Weights> for String {
    fn from(weights: Weights) -> Self {
        weights.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use itergnn_graph::rng;

    #[test]
    fn weights_are_read_as_they_are_printed() {
        for text in ["unit", "0.5..1.5", "0..1", "8..24", "log:1..100", "log:0.5..2"] {
            assert_eq!(text.parse::<Weights>().unwrap().to_string(), text);
        }
        for text in
            ["", "1", "3..1", "1..1", "1..inf", "nan..2", "-1..2", "a..b", "log:0..1", "log:2..1", "log:", "log:1"]
        {
            assert!(text.parse::<Weights>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_ranges_of_the_magnitude_test_are_exact_multiples() {
        let draw = |weights: Weights| {
            let mut rng = rng::seeded(9);
            (0..200).map(|_| weights.draw(&mut rng)).collect::<Vec<_>>()
        };
        let base = draw(Weights::PAPER);
        assert!(base.iter().all(|weight| (0.5..1.5).contains(weight)));
        for (low, high, factor) in [(1.0, 3.0, 2.0), (2.0, 6.0, 4.0), (8.0, 24.0, 16.0)] {
            let weights = Weights::uniform(low, high).unwrap();
            assert_eq!(weights.scale(), factor);
            assert!(draw(weights).iter().zip(&base).all(|(large, small)| *large == factor * small));
        }
    }

    #[test]
    fn every_decade_of_log_uniform_weights_is_as_frequent() {
        let weights = Weights::log_uniform(1.0, 1000.0).unwrap();
        let mut rng = rng::seeded(4);
        let mut decades = [0; 3];
        for _ in 0..3000 {
            decades[weights.draw(&mut rng).log10() as usize] += 1;
        }
        assert!(decades.iter().all(|count| (900..1100).contains(count)), "{decades:?}");
        assert_eq!(weights.scale(), 1.0);
    }

    #[test]
    fn settings_have_a_short_form() {
        let spec: ShortestPathSpec =
            serde_json::from_str(r#"{"generator":"knn","weights":"1..3","size":"100"}"#).unwrap();
        assert_eq!(spec.generator, Generator::KNN);
        assert_eq!(serde_json::to_string(&spec).unwrap(), r#"{"generator":"knn","size":"100","weights":"1..3"}"#);
        assert!(serde_json::from_str::<ShortestPathSpec>(r#"{"sizes":"100"}"#).is_err());
    }
}
