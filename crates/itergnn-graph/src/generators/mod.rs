//! Graph generators: the paper's four and the regular ones.
//!
//! Random generators take the random number generator as an argument; the same generator state gives the same graph on
//! every platform (see [`rng`](crate::rng)). All of them do O(nodes + edges) work, but for [`knn`] and [`planar`],
//! which are O(nodes log nodes). Geometric generators leave the positions of the nodes in the node attributes; the
//! others set no attributes.

mod choice;
mod erdos_renyi;
mod geometric;
mod lobster;
mod random_tree;
mod regular;
mod structured;
mod watts_strogatz;

pub use choice::Generator;
pub use erdos_renyi::erdos_renyi;
pub use geometric::{delaunay, knn, nearest_neighbours, planar};
pub use lobster::lobster;
pub use random_tree::tree;
pub use regular::regular;
pub use structured::{complete, cube, cycle, disjoint_union, grid, line, moebius_ladder};
pub use watts_strogatz::watts_strogatz;
