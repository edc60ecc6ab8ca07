//! Exact solvers: what the networks are judged by.
//!
//! | question | solver |
//! |---|---|
//! | shortest path, non-negative weights | [`dijkstra`] |
//! | shortest path, any weights | [`bellman_ford`] |
//! | fewest edges | [`bfs`] |
//! | shortest path on a grid | [`grid`] |
//! | connected components | [`components`] |
//! | eccentricity, hop diameter | [`diameter`] |
//! | optimal round trip, with proof | [`tsp`] |

pub mod bellman_ford;
pub mod bfs;
pub mod components;
pub mod diameter;
pub mod dijkstra;
pub mod grid;
pub mod tsp;
