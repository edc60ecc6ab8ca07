//! One file per command, and what several of them share: loading a model, a task's settings.

mod algorithms;
pub(crate) mod bench;
mod bench_inference;
pub(crate) mod classification;
pub(crate) mod demo;
mod domain;
pub(crate) mod evaluate;
pub(crate) mod exact;
pub(crate) mod import;
pub(crate) mod manual;
mod model;
mod own;
mod pacman;
pub(crate) mod play;
pub(crate) mod predict;
mod predict_lines;
pub(crate) mod properties;
mod random_pairs;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod serve;
pub(crate) mod solve;
mod solve_image;
mod task;
mod terminal;
mod terrain;
pub(crate) mod train;
