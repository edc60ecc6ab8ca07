//! Graphs as the classifier reads them.

use crate::block::expect_length;
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;
use crate::{GraphStructure, KernelError};

/// A batch of graphs with their classes.
///
/// | field | length | meaning |
/// |---|---|---|
/// | `structure` | | who sends to whom; no graph is empty |
/// | `features` | nodes x node width | node attributes |
/// | `classes` | graphs | what the graphs are; read in training only |
/// | `dropout` | (blocks + 1) x graphs x classes | factors on the votes; empty for none |
#[derive(Debug, Clone, Copy)]
pub struct ClassifierBatch<'a, T> {
    /// Who sends to whom.
    pub structure: &'a GraphStructure,
    /// Node attributes.
    pub features: &'a [T],
    /// Classes.
    pub classes: &'a [u32],
    /// Factors on the votes.
    pub dropout: &'a [T],
}

impl<T: Real> ClassifierBatch<'_, T> {
    pub(super) fn graphs(&self) -> usize {
        self.structure.node_segments().len()
    }

    /// What the raw kernels rely on, beside the structure.
    pub(super) fn check(&self, node_width: usize) -> Result<(), KernelError> {
        if let Some(position) = self.structure.node_segments().iter().position(|nodes| nodes.is_empty()) {
            return Err(KernelError::Batch { what: "graphs", position, problem: "there is no node" });
        }
        expect_length("features", self.features, self.structure.incoming().len() * node_width)
    }
}

/// The graphs that still run.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// Their positions in the whole batch.
    pub(super) graphs: Vec<usize>,
    pub(super) structure: GraphStructure,
}

impl Running {
    pub(super) fn of(structure: &GraphStructure) -> Self {
        Self { graphs: (0..structure.node_segments().len()).collect(), structure: structure.clone() }
    }

    pub(super) fn nodes(&self) -> usize {
        self.structure.incoming().len()
    }

    /// The nodes of graph number `position` of these.
    pub(super) fn range(&self, position: usize) -> std::ops::Range<usize> {
        self.structure.node_segments().range(position)
    }

    /// The graphs at these positions, in that order.
    pub(super) fn select(&self, positions: &[usize]) -> Self {
        let graphs = positions.iter().map(|&position| self.graphs[position]).collect();
        Self { graphs, structure: self.structure.select_graphs(positions) }
    }
}

/// `[rows, width]` values with rows padded by zeros.
pub(super) fn pad_rows<T: Real>(values: &[T], width: usize) -> Buffer<T> {
    let (rows, stride) = (values.len() / width, padded(width));
    let mut buffer = Buffer::new(rows * stride);
    for (target, source) in buffer.as_mut_slice().chunks_exact_mut(stride).zip(values.chunks_exact(width)) {
        target[..width].copy_from_slice(source);
        target[width..].fill(T::ZERO);
    }
    buffer
}

/// A buffer of zeros.
pub(super) fn zeros<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = Buffer::new(len);
    buffer.as_mut_slice().fill(T::ZERO);
    buffer
}
