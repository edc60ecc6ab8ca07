//! Shortest round trips, with proof.
//!
//! [`solve`] finds an optimal tour of a symmetric [`DistanceMatrix`] and proves it: an iterated local search gives a
//! tour, 1-trees with node multipliers (Held and Karp, 1970 and 1971) bound all tours from below, and branch and bound
//! over required and forbidden edges ends only when bound and tour meet. [`local_search`] is the heuristic alone, and
//! [`held_karp_dp`] an independent exact method for up to 12 cities that the tests hold the solver against.
//!
//! All lengths are integers, so "proven" is exact: no tolerance is involved. Points with real coordinates enter as
//! fixed-point numbers, see [`DistanceMatrix::from_points_scaled`].
//!
//! Not for asymmetric distances, and not for thousands of cities: [`solve`] is made for up to about 150 uniform points;
//! beyond, give it a node limit or a stop and read the bound it reports.
//!
//! | file | concept |
//! |---|---|
//! | `construction`, `descent`, `array_tour`, `local_search` | the tour from above |
//! | `priced_tree`, `one_tree`, `dense_one_tree`, `ascent` | the bound from below |
//! | `coincident`, `candidate_graph`, `reduction`, `propagation` | cities merged, edges ruled in and out |
//! | `branch_and_bound`, `exact` | the proof |

mod array_tour;
mod ascent;
mod branch_and_bound;
mod candidate_graph;
mod coincident;
mod construction;
mod dense_one_tree;
mod descent;
mod distance_matrix;
mod dynamic_program;
mod error;
mod exact;
mod local_search;
mod one_tree;
mod priced_tree;
mod propagation;
mod reduction;
mod solution;

pub use distance_matrix::DistanceMatrix;
pub use dynamic_program::{DYNAMIC_PROGRAM_LIMIT, held_karp_dp};
pub use error::TspError;
pub use exact::solve;
pub use local_search::{LocalSearchOptions, Tour, local_search};
pub use priced_tree::{Cost, PricedTree};
pub use solution::{TspOptions, TspSolution};
