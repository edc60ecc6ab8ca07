//! Graphs as the classifier reads them.

use crate::KernelError;
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;

/// A batch of graphs with their classes.
///
/// | field | length | meaning |
/// |---|---|---|
/// | `node_offsets` | graphs + 1 | nodes of graph `g` are `node_offsets[g]..node_offsets[g + 1]`; no graph is empty |
/// | `edge_offsets` | nodes + 1 | edges into node `v` are `edge_offsets[v]..edge_offsets[v + 1]` |
/// | `senders` | edges | where each comes from, in the same graph |
/// | `features` | nodes x node width | node attributes |
/// | `classes` | graphs | what the graphs are; read in training only |
/// | `dropout` | (blocks + 1) x graphs x classes | factors on the votes; empty for none |
#[derive(Debug, Clone, Copy)]
pub struct ClassifierBatch<'a, T> {
    /// Nodes of the graphs.
    pub node_offsets: &'a [u32],
    /// Incoming edges of the nodes.
    pub edge_offsets: &'a [u32],
    /// Senders of the edges.
    pub senders: &'a [u32],
    /// Node attributes.
    pub features: &'a [T],
    /// Classes.
    pub classes: &'a [u32],
    /// Factors on the votes.
    pub dropout: &'a [T],
}

impl<T: Real> ClassifierBatch<'_, T> {
    pub(super) fn graphs(&self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    pub(super) fn nodes(&self) -> usize {
        self.edge_offsets.len().saturating_sub(1)
    }

    /// Everything that the raw kernels rely on.
    pub(super) fn check(&self, node_width: usize) -> Result<(), KernelError> {
        check_offsets("node offsets", self.node_offsets, self.nodes(), true)?;
        check_offsets("edge offsets", self.edge_offsets, self.senders.len(), false)?;
        let expected = self.nodes() * node_width;
        if self.features.len() != expected {
            return Err(KernelError::Length { what: "features", expected, found: self.features.len() });
        }
        for graph in self.node_offsets.windows(2) {
            let (first, last) = (self.edge_offsets[graph[0] as usize], self.edge_offsets[graph[1] as usize]);
            let senders = &self.senders[first as usize..last as usize];
            if let Some(at) = senders.iter().position(|sender| !(graph[0]..graph[1]).contains(sender)) {
                let position = first as usize + at;
                return Err(KernelError::Batch { what: "senders", position, problem: "not a node of the same graph" });
            }
        }
        Ok(())
    }
}

fn check_offsets(what: &'static str, offsets: &[u32], end: usize, rising: bool) -> Result<(), KernelError> {
    if offsets.len() < 2 || offsets[0] != 0 || offsets[offsets.len() - 1] as usize != end {
        return Err(KernelError::Batch { what, position: 0, problem: "must lead from 0 to the number of elements" });
    }
    match offsets.windows(2).position(|pair| if rising { pair[1] <= pair[0] } else { pair[1] < pair[0] }) {
        Some(position) => Err(KernelError::Batch { what, position, problem: "must rise" }),
        None => Ok(()),
    }
}

/// Which nodes and edges the graphs that still run have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Structure {
    /// Positions of the graphs in the whole batch.
    pub(super) graphs: Vec<usize>,
    pub(super) node_offsets: Vec<u32>,
    pub(super) edge_offsets: Vec<u32>,
    pub(super) senders: Vec<u32>,
}

impl Structure {
    pub(super) fn of<T: Real>(batch: &ClassifierBatch<'_, T>) -> Self {
        Self {
            graphs: (0..batch.graphs()).collect(),
            node_offsets: batch.node_offsets.to_vec(),
            edge_offsets: batch.edge_offsets.to_vec(),
            senders: batch.senders.to_vec(),
        }
    }

    pub(super) fn nodes(&self) -> usize {
        self.edge_offsets.len() - 1
    }

    /// The nodes of graph number `position` of these.
    pub(super) fn range(&self, position: usize) -> std::ops::Range<usize> {
        self.node_offsets[position] as usize..self.node_offsets[position + 1] as usize
    }

    /// The graphs at these positions, in that order.
    pub(super) fn select(&self, positions: &[usize]) -> Self {
        let (mut node_offsets, mut edge_offsets, mut senders) = (vec![0], vec![0], Vec::new());
        for &position in positions {
            let (nodes, base) = (self.range(position), edge_offsets.len() as u32 - 1);
            for node in nodes.clone() {
                let edges = self.edge_offsets[node] as usize..self.edge_offsets[node + 1] as usize;
                senders.extend(self.senders[edges].iter().map(|sender| sender - nodes.start as u32 + base));
                edge_offsets.push(senders.len() as u32);
            }
            node_offsets.push(edge_offsets.len() as u32 - 1);
        }
        let graphs = positions.iter().map(|&position| self.graphs[position]).collect();
        Self { graphs, node_offsets, edge_offsets, senders }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_counts_its_own_nodes() {
        // An edge both ways, a lone node, a line of three.
        let whole = Structure {
            graphs: vec![0, 1, 2],
            node_offsets: vec![0, 2, 3, 6],
            edge_offsets: vec![0, 1, 2, 2, 3, 5, 6],
            senders: vec![1, 0, 4, 3, 5, 4],
        };
        let part = whole.select(&[2, 0]);
        assert_eq!((part.graphs, part.node_offsets), (vec![2, 0], vec![0, 3, 5]));
        assert_eq!((part.edge_offsets, part.senders), (vec![0, 1, 3, 4, 5, 6], vec![1, 0, 2, 1, 4, 3]));
        assert_eq!(whole.select(&[0, 1, 2]), whole);
    }

    #[test]
    fn contradictions_are_found() {
        let good = ClassifierBatch {
            node_offsets: &[0, 2, 3],
            edge_offsets: &[0, 1, 2, 2],
            senders: &[1, 0],
            features: &[0.0_f32; 3],
            classes: &[0, 1],
            dropout: &[],
        };
        assert_eq!(good.check(1), Ok(()));
        assert!(good.check(2).is_err());
        assert!(ClassifierBatch { senders: &[2, 0], ..good }.check(1).is_err());
        assert!(ClassifierBatch { node_offsets: &[0, 0, 3], ..good }.check(1).is_err());
        assert!(ClassifierBatch { edge_offsets: &[0, 1, 2, 3], ..good }.check(1).is_err());
    }
}
