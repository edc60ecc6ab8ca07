//! Task 6: image-based navigation, the shortest walk through a picture whose obstacles must be discovered.
//!
//! Input: an n x n grid graph of all pixels; node attributes are the height and a one-hot vector (source, target,
//! other), the edge attribute is 1. Pixels higher than 0.8 cannot be entered, which the model is not told. Target:
//! `[length]` of the shortest walk over free pixels. Metric: how often the walk steered by predicted lengths
//! ([`Walk`](crate::shortest_path::Walk)) has the shortest length, and how often it also keeps to free pixels.

mod metric;
mod sampler;
mod spec;

pub use metric::is_walkable;
pub use sampler::{NavigationSampler, mark_ends};
pub use spec::NavigationSpec;
