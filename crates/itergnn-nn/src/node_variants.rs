//! What a model predicts for graphs that differ from one in a single node.

use burn::tensor::{Device, Tensor, TensorData};
use itergnn_kernels::block::{Change, VariantOutput, Variants};

use crate::aligned::max_plus::PairLength;
use crate::fused::numbers;
use crate::{Error, Mlp};

/// A model on one graph, which says what it predicts if one node has other attributes (or two, of which one is
/// [fixed](Self::fix)), without computing what does not change by that.
///
/// Iterations are those of a prediction for the changed graph to the bit, predictions up to their last bits
/// (`variants_predict_what_the_changed_graph_does` in `tests/node_variants.rs`).
#[derive(Debug)]
pub struct NodeVariants {
    pub(crate) block: Variants<f32>,
    pub(crate) embedding: Mlp,
    pub(crate) head: Mlp,
    pub(crate) unit: f64,
    pub(crate) device: Device,
}

impl NodeVariants {
    /// Gives a node other attributes that all predictions from now on have, in place of the last one that was given.
    ///
    /// # Errors
    /// As [`NodeVariants::predict`].
    ///
    /// # Panics
    /// If the node does not exist.
    pub fn fix(&mut self, node: usize, attributes: Vec<f32>) -> Result<(), Error> {
        let changes = self.changes(&[(node, attributes)]);
        changes.iter().try_for_each(|change| self.block.fix(change)).map_err(|error| Error::Graph(error.to_string()))
    }

    /// Predictions with other attributes of one node each, the rest of the graph as it is; `None` where only the
    /// changed graph itself can tell. An overflow is a prediction that is not a number.
    ///
    /// # Errors
    /// [`Error::Graph`] if a row does not have the width of the model's node attributes.
    ///
    /// # Panics
    /// If a node does not exist.
    pub fn predict(&mut self, changes: &[(usize, Vec<f32>)]) -> Result<Vec<Option<PairLength>>, Error> {
        let changes = self.changes(changes);
        let outputs = self.block.run(&changes).map_err(|error| Error::Graph(error.to_string()))?;
        Ok(outputs.into_iter().map(|output| self.length(output)).collect())
    }

    /// Nodes with other inputs and their embedding.
    fn changes(&self, changes: &[(usize, Vec<f32>)]) -> Vec<Change<f32>> {
        let Some((_, first)) = changes.first() else { return Vec::new() };
        let width = first.len();
        let rows: Vec<f32> = changes.iter().flat_map(|(_, row)| row).copied().collect();
        let inputs = Tensor::<2>::from_data(TensorData::new(rows, [changes.len(), width]), &self.device) / self.unit;
        let hidden = numbers(self.embedding.forward(inputs.clone()));
        let (inputs, hidden_width) = (numbers(inputs), hidden.len() / changes.len());
        let parts = changes.iter().zip(inputs.chunks_exact(width)).zip(hidden.chunks_exact(hidden_width));
        parts
            .map(|((&(node, _), input), hidden)| Change { node, input: input.to_vec(), hidden: hidden.to_vec() })
            .collect()
    }

    fn length(&self, output: VariantOutput<f32>) -> Option<PairLength> {
        match output {
            VariantOutput::Unknown => None,
            VariantOutput::Overflow(iterations) => Some(PairLength { value: f64::NAN, iterations, capped: false }),
            VariantOutput::Pooled(pooled, stops) => {
                let width = pooled.len();
                let pooled = Tensor::<2>::from_data(TensorData::new(pooled, [1, width]), &self.device);
                let value = numbers(self.head.forward(pooled) * self.unit)[0];
                Some(PairLength { value: f64::from(value), iterations: stops.steps[0], capped: stops.capped[0] })
            }
        }
    }
}
