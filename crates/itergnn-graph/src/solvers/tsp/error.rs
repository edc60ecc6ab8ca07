//! What can be wrong with a travelling salesman instance.

use thiserror::Error;

/// Why a distance matrix or a solver request was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TspError {
    /// A tour needs at least one city.
    #[error("a tour needs at least one city, found none")]
    NoCities,
    /// More cities than a city number can hold.
    #[error("{found} cities are more than the {limit} a distance matrix can hold")]
    TooManyCities {
        /// Number of cities asked for.
        found: usize,
        /// Largest number of cities accepted.
        limit: usize,
    },
    /// A distance below zero.
    #[error("the distance between cities {from} and {to} is negative: {distance}")]
    Negative {
        /// First city.
        from: usize,
        /// Second city.
        to: usize,
        /// The distance found.
        distance: i64,
    },
    /// The distance depends on the direction of travel.
    #[error(
        "the distances between cities {from} and {to} differ by direction: {forward} one way, {backward} the other"
    )]
    Asymmetric {
        /// First city.
        from: usize,
        /// Second city.
        to: usize,
        /// Distance from the first city to the second.
        forward: i64,
        /// Distance from the second city to the first.
        backward: i64,
    },
    /// A distance so large that sums over a tour could overflow.
    #[error("the distance between cities {from} and {to} exceeds {limit}, the most that {cities} cities allow")]
    TooLong {
        /// First city.
        from: usize,
        /// Second city.
        to: usize,
        /// Largest distance accepted for this number of cities.
        limit: i64,
        /// Number of cities.
        cities: usize,
    },
    /// A coordinate that is infinite or not a number.
    #[error("city {city} has the coordinates ({x}, {y}), expected finite numbers")]
    NotFinite {
        /// The city.
        city: usize,
        /// Its first coordinate.
        x: f64,
        /// Its second coordinate.
        y: f64,
    },
    /// A fixed-point scale that is not a positive finite number.
    #[error("the fixed-point scale is {found}, expected a positive finite number")]
    BadScale {
        /// The scale found.
        found: f64,
    },
    /// The dynamic program was asked for more cities than its table can hold.
    #[error("the dynamic program handles at most {limit} cities, found {found}")]
    TooManyForDynamicProgram {
        /// Number of cities asked for.
        found: usize,
        /// Largest number of cities accepted.
        limit: usize,
    },
}
