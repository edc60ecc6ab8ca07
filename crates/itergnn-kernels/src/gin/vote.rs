//! The vote of one layer of states: pooled graph by graph, then mapped to class scores.

use super::affine::{Affine, AffineGradient, add};
use super::batch::{Running, zeros};
use super::layout::AffineRanges;
use crate::kernels::{ColumnSum, Kernels};
use crate::memory::Buffer;
use crate::real::Real;
use crate::segments::{Extreme, extreme, extreme_backward};
use crate::settings::ReadoutKind;
use crate::simd::padded;

/// How a graph is pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Sum,
    Mean,
    Extreme(Extreme),
}

impl Pooling {
    /// `None` for readouts that give no row per graph by themselves.
    pub(super) fn of(kind: ReadoutKind) -> Option<Self> {
        match kind {
            ReadoutKind::Sum => Some(Self::Sum),
            ReadoutKind::Mean => Some(Self::Mean),
            ReadoutKind::Max => Some(Self::Extreme(Extreme::Max)),
            ReadoutKind::Min => Some(Self::Extreme(Extreme::Min)),
            _ => None,
        }
    }

    /// What the sum over a graph's nodes is multiplied with.
    fn share<T: Real>(self, nodes: usize) -> T {
        if self == Self::Mean { T::ONE / T::from_f64(nodes as f64) } else { T::ONE }
    }
}

/// A vote with its parameters.
pub(super) struct Vote<T: Real> {
    kernels: &'static Kernels<T>,
    pooling: Pooling,
    affine: Affine<T>,
}

/// `[graphs, padded width]`: the pooled states.
pub(super) struct VoteTape<T: Real>(Buffer<T>);

impl<T: Real> Vote<T> {
    pub(super) fn new(kernels: &'static Kernels<T>, parameters: &[T], ranges: &AffineRanges, pooling: Pooling) -> Self {
        Self { kernels, pooling, affine: Affine::new(kernels, parameters, ranges) }
    }

    /// Adds the scores of every graph, times their factors if there are any, to `[graphs, classes]`.
    pub(super) fn forward(
        &self,
        whole: &Running,
        states: &Buffer<T>,
        factors: Option<&[T]>,
        scores: &mut [T],
    ) -> VoteTape<T> {
        let graphs = whole.graphs.len();
        let pooled = self.pool(whole, states);
        let own = self.affine.forward(graphs, &pooled);
        let classes = self.affine.outputs;
        let rows = own.as_slice().chunks_exact(padded(classes));
        for (graph, (total, row)) in scores.chunks_exact_mut(classes).zip(rows).enumerate() {
            match factors {
                None => add(total, row),
                Some(factors) => {
                    let factors = &factors[graph * classes..];
                    let products = row.iter().zip(factors).map(|(&score, &factor)| score * factor);
                    total.iter_mut().zip(products).for_each(|(total, product)| *total += product);
                }
            }
        }
        VoteTape(pooled)
    }

    fn pool(&self, whole: &Running, states: &Buffer<T>) -> Buffer<T> {
        let (graphs, width) = (whole.graphs.len(), padded(self.affine.inputs));
        assert!(states.as_slice().len() >= whole.nodes() * width, "a state for every node");
        let mut pooled = zeros(graphs * width);
        if let Pooling::Extreme(which) = self.pooling {
            let segments = whole.structure.node_segments();
            pooled.as_mut_slice().copy_from_slice(&extreme(states.as_slice(), segments, width, which));
            return pooled;
        }
        for graph in 0..graphs {
            let nodes = whole.range(graph);
            // SAFETY: the nodes of a graph lie within the states, and its row within the result; the table fits the
            // processor.
            unsafe {
                let sum = ColumnSum {
                    rows: nodes.len(),
                    columns: width,
                    source: states.as_ptr().add(nodes.start * width),
                    source_row: width,
                    target: pooled.as_mut_ptr().add(graph * width),
                };
                (self.kernels.column_sum)(&sum);
            }
            if self.pooling == Pooling::Mean {
                let share = self.pooling.share::<T>(nodes.len());
                let row = &mut pooled.as_mut_slice()[graph * width..(graph + 1) * width];
                row.iter_mut().for_each(|value| *value *= share);
            }
        }
        pooled
    }

    /// Adds the gradient of the parameters to the flat gradient.
    pub(super) fn collect(
        &self,
        tape: &VoteTape<T>,
        gradient: &ScoreGradient<'_, T>,
        flat: &mut [T],
        ranges: &AffineRanges,
    ) {
        let (graphs, own) = gradient.padded(self.affine.outputs);
        let mut sums = AffineGradient::new(ranges);
        self.affine.collect(graphs, &tape.0, &own, &mut sums);
        sums.add_to(flat, ranges);
    }

    /// Adds the gradient of the states to `rows`.
    pub(super) fn backward(
        &self,
        whole: &Running,
        states: &Buffer<T>,
        tape: &VoteTape<T>,
        gradient: &ScoreGradient<'_, T>,
        rows: &mut Buffer<T>,
    ) {
        let (graphs, own) = gradient.padded(self.affine.outputs);
        let of_pooled = self.affine.backward(graphs, &own);
        let (segments, width) = (whole.structure.node_segments(), padded(self.affine.inputs));
        if let Pooling::Extreme(_) = self.pooling {
            let back = extreme_backward(states.as_slice(), tape.0.as_slice(), of_pooled.as_slice(), segments, width);
            add(rows.as_mut_slice(), &back);
            return;
        }
        for (nodes, row) in segments.iter().zip(of_pooled.as_slice().chunks_exact(width)) {
            let share = self.pooling.share::<T>(nodes.len());
            for target in rows.as_mut_slice()[nodes.start * width..nodes.end * width].chunks_exact_mut(width) {
                target.iter_mut().zip(row).for_each(|(target, &value)| *target += value * share);
            }
        }
    }
}

/// The gradient of the scores, and the factors that a layer's scores were multiplied with, `[graphs, classes]` each.
pub(super) struct ScoreGradient<'a, T> {
    pub(super) scores: &'a [T],
    pub(super) factors: Option<&'a [T]>,
}

impl<T: Real> ScoreGradient<'_, T> {
    /// The number of graphs, and the gradient of the layer's own scores, rows padded.
    fn padded(&self, classes: usize) -> (usize, Buffer<T>) {
        let (graphs, stride) = (self.scores.len() / classes, padded(classes));
        let mut rows: Buffer<T> = zeros(graphs * stride);
        for (graph, row) in rows.as_mut_slice().chunks_exact_mut(stride).enumerate() {
            for (class, value) in row[..classes].iter_mut().enumerate() {
                let place = graph * classes + class;
                let factor = self.factors.map_or(T::ONE, |factors| factors[place]);
                *value = self.scores[place] * factor;
            }
        }
        (graphs, rows)
    }
}
