//! Task 1: the length of the shortest path between two nodes, and the path itself.
//!
//! Input: node attributes are a one-hot vector (source, target, other), the edge attribute is the weight. Target:
//! `[length]`, by Dijkstra's algorithm. Metrics: relative loss of the predicted length, and how often a walk steered by
//! predicted lengths ([`Walk`]) is a shortest path, by either [`WalkRule`].
//!
//! # Example
//! ```
//! use itergnn_graph::solvers::dijkstra;
//! use itergnn_tasks::{Sampler, Split, shortest_path::{ShortestPathSpec, Walk, WalkRule}};
//!
//! let sampler = ShortestPathSpec::default().sampler()?;
//! let sample = sampler.sample(Split::Test.seed(0), 0)?;
//! let weights = sample.weights()?;
//! let (Some(source), Some(target)) = (sample.fields.source, sample.fields.target_node) else { unreachable!() };
//! // A predictor that knows the answer always finds a shortest path.
//! let exact = |from: u32, to: u32| {
//!     let tree = dijkstra::distances_to(&sample.graph, &weights, to);
//!     tree.map_or(f32::NAN, |tree| tree.distances[from as usize] as f32)
//! };
//! let walk = Walk::new(&sample.graph, &weights, source, target, WalkRule::Released)?.follow(exact);
//! assert!(walk.succeeds(f64::from(sample.target[0])));
//! # Ok::<(), itergnn_tasks::TaskError>(())
//! ```

mod metric;
mod sampler;
mod spec;
mod walk;
mod walk_rule;

pub use sampler::{ShortestPathSampler, mark_ends};
pub use spec::{ShortestPathSpec, Weights};
pub use walk::Walk;
pub use walk_rule::{LENGTH_TOLERANCE, WalkRule, is_shortest};
