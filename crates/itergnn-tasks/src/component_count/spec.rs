//! What component-count samples look like.

use itergnn_graph::generators::Generator;
use serde::{Deserialize, Serialize};

use super::ComponentCountSampler;
use crate::{SizeRange, TaskError};

/// The settings of the component-count task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComponentCountSpec {
    /// Where the parts come from. Erdos-Renyi graphs are taken undirected whatever the generator says.
    #[serde(with = "crate::generator_setting")]
    pub generator: Generator,
    /// The number of nodes that is cut into parts. A lobster adds leaves to its part, so a graph of lobsters has about
    /// 1.24 times as many.
    pub size: SizeRange,
    /// The largest number of components; a graph of n nodes has at most n.
    pub components: u32,
    /// Random numbers on each node.
    pub attributes: usize,
    /// The random numbers of a graph lie in [1 - r, 1), and the logarithm of r is uniform between this and 1. Below 1
    /// the largest numbers of a small part are as close as those of a large one; 1 is the paper's U[0, 1).
    #[serde(skip_serializing_if = "is_all")]
    pub narrowest: f32,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_all(range: &f32) -> bool {
    *range == 1.0
}

impl Default for ComponentCountSpec {
    /// Erdos-Renyi parts, the paper's training sizes, up to six components, one random number per node.
    fn default() -> Self {
        let generator = Generator::Er { p: 0.5, directed: false };
        Self { generator, size: SizeRange::TRAINING, components: 6, attributes: 1, narrowest: 1.0 }
    }
}

impl ComponentCountSpec {
    /// A sampler of these settings.
    ///
    /// # Errors
    /// [`TaskError::Setting`] for a directed generator, one that takes a side instead of a number of nodes, counts
    /// of 0, or a range outside (0, 1].
    pub fn sampler(self) -> Result<ComponentCountSampler, TaskError> {
        ComponentCountSampler::new(self)
    }
}
