//! Fused CPU kernels of itergnn: plain slices in, plain slices out.
//!
//! [`block`] runs a controller around a message-passing layer on a batch of graphs, forward and backward; [`gin`] does
//! the same for layers with batch normalisation, which makes the graphs of a batch depend on each other. [`segments`]
//! are the small operations that networks outside of these are made of. All run [`settings`], which say what networks
//! are made of. They know nothing of tensors or of graph types: another crate registers them as operations of its
//! framework.
//!
//! Not for: embedding, readout, head and loss around a block, and the optimiser, which are a small part of a step.
//!
//! ```
//! use itergnn_kernels::block::*;
//! use itergnn_kernels::settings::*;
//!
//! let layer = LayerConfig::new(LayerKind::PathSim, 3, 64, 1).with_aggregation(Aggregation::Max).with_homogeneous(true);
//! let config = BlockConfig { layer, controller: ControllerConfig::iter_decay() };
//! // The widths interpolate: 3 + 64 + 1 = 68 -> 66 -> 64.
//! assert_eq!(config.message_width(), 66);
//! assert_eq!(ParameterLayout::new(&config).len(), 68 * 66 + 66 * 64 + 64);
//! ```
//!
//! `unsafe` lives in this crate only: in the vector instructions ([`Isa`] chooses which at run time), in the kernels
//! that work on raw rows, and in the aligned memory they use.
#![allow(unsafe_code)]

pub mod block;
mod error;
pub mod gin;
mod kernels;
mod memory;
mod real;
pub mod segments;
pub mod settings;
mod simd;
mod structure;

pub use error::KernelError;
pub use real::Real;
pub use simd::Isa;
pub use structure::GraphStructure;
