//! Layers, the homogeneous prior, controllers and models of iterative homogeneous graph neural networks, on Burn.
//!
//! The plain path has every module in basic tensor operations and a handful of custom segment operations, written to be
//! right, readable and complete; [`fused`] runs whole controller blocks on faster kernels and is compared with it. This
//! crate does not train, read files of graphs or know tasks.
//!
//! - [`layers`] are one step of message passing; [`homogeneous`] is the prior that makes them scale with their input.
//! - [`controllers`] compose layers: a stack, a shared layer, or a loop that learns when to stop.
//! - [`GnnModel`] is a whole model, made of a [`GnnConfig`]; [`preset`] knows the paper's models by name.
//! - [`aligned`] holds the task-aligned families: `max-plus` for path lengths, `waves` for counts, classes and chains
//!   of causes, `one-tree` for tour lengths.
//! - [`store`] keeps a model in one file; `import` (a feature, on by default) reads checkpoints of the authors' code.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use itergnn_graph::{Attributes, Graph};
//! use itergnn_nn::layers::{Layer, LayerConfig, LayerKind, MessagePassing};
//! use itergnn_nn::{GraphTensors, InitRng};
//!
//! let device = Device::flex();
//! let line = Graph::undirected(3, &[[0, 1], [1, 2]])?
//!     .with_node_attributes(Attributes::new(2, vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))?
//!     .with_edge_attributes(Attributes::new(1, vec![1.0; 4]))?;
//! let graph = GraphTensors::from_graph(&line, &device);
//! let layer = Layer::new(&LayerConfig::new(LayerKind::Path, 2, 8, 1), &device, &mut InitRng::new(0))?;
//! let hidden = layer.forward(&graph, graph.node_attributes(), Tensor::zeros([3, 8], &device));
//! assert_eq!(hidden.dims(), [3, 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activation;
pub mod aligned;
mod architecture;
mod batch;
mod config;
pub mod controllers;
mod error;
pub mod fused;
mod graph_model;
mod grid_model;
pub mod homogeneous;
mod host;
#[cfg(feature = "import")]
pub mod import;
mod index;
mod init;
mod jumping_knowledge;
pub mod layers;
mod mlp;
mod model;
mod named_tensors;
mod node_variants;
pub mod ops;
pub mod pointer;
mod presets;
mod random_init;
pub mod readout;
mod self_loops;
pub mod store;

pub use burn::tensor::Device;

pub use activation::{Activation, LEAKY_SLOPE};
pub use aligned::max_plus::{MaxPlusConfig, MaxPlusModel};
pub use aligned::one_tree::{OneTreeConfig, OneTreeModel};
pub use aligned::waves::{WaveConfig, WaveModel};
pub use architecture::{Architecture, GnnConfig, Network, Recipe, Settings};
pub use batch::GraphTensors;
pub use config::{BlockConfig, GraphModelConfig, MAX_PARAMETERS, Prior};
pub use controllers::{ControllerConfig, Mode, RunOptions};
pub use error::Error;
pub use fused::Engine;
pub use graph_model::{GraphModel, ModelOutput};
pub use grid_model::{GridModel, GridModelConfig};
pub use homogeneous::{HomoMlp, NormWrapped, homogenise};
pub use host::{host_values, update_values};
pub use init::InitRng;
pub use itergnn_kernels::GraphStructure;
pub use itergnn_kernels::block::{Loops, Stops};
pub use itergnn_kernels::settings::Level;
pub use jumping_knowledge::{JumpingKnowledgeConfig, JumpingKnowledgeModel};
pub use layers::{Layer, LayerConfig, LayerKind, MessagePassing};
pub use mlp::{Mlp, MlpConfig};
pub use model::{GnnModel, Prediction};
pub use named_tensors::{NamedTensor, named_tensors, replace_tensors};
pub use node_variants::NodeVariants;
pub use presets::{OLD_NAME, PRESETS, TaskWidths, preset};
pub use random_init::with_random_attributes;
pub use readout::{Readout, ReadoutKind};
