//! The graphs that still run, and rows padded to whole vectors.

use crate::GraphStructure;
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;

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

/// `[rows, width]` values of padded rows.
pub(super) fn unpad_rows<T: Real>(buffer: &Buffer<T>, rows: usize, width: usize) -> Vec<T> {
    let stride = padded(width);
    if stride == width {
        return buffer.as_slice()[..rows * width].to_vec();
    }
    let mut values = Vec::with_capacity(rows * width);
    buffer.as_slice().chunks_exact(stride).take(rows).for_each(|row| values.extend_from_slice(&row[..width]));
    values
}

/// A buffer of zeros.
pub(super) fn zeros<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = Buffer::new(len);
    buffer.as_mut_slice().fill(T::ZERO);
    buffer
}
