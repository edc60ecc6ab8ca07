//! Pooled states vote; the loss of all votes together.

use super::batch::Running;
use super::layout::AffineRanges;
use crate::memory::Buffer;
use crate::real::Real;
use crate::settings::ReadoutKind;
use crate::simd::padded;

/// `[graphs, width]`: the states of every graph, pooled.
pub(super) fn pool<T: Real>(states: &Buffer<T>, structure: &Running, width: usize, pooling: ReadoutKind) -> Vec<T> {
    let stride = padded(width);
    let mut pooled = vec![T::ZERO; structure.graphs.len() * width];
    for (graph, target) in pooled.chunks_exact_mut(width).enumerate() {
        let nodes = structure.range(graph);
        for row in states.as_slice()[nodes.start * stride..nodes.end * stride].chunks_exact(stride) {
            target.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
        }
        let share = share(pooling, nodes.len());
        target.iter_mut().for_each(|value| *value *= share);
    }
    pooled
}

/// Adds the gradient of pooled states to that of the states.
pub(super) fn unpool<T: Real>(
    pooled: &[T],
    states: &mut Buffer<T>,
    structure: &Running,
    width: usize,
    pooling: ReadoutKind,
) {
    let stride = padded(width);
    for (graph, source) in pooled.chunks_exact(width).enumerate() {
        let nodes = structure.range(graph);
        let share = share(pooling, nodes.len());
        for row in states.as_mut_slice()[nodes.start * stride..nodes.end * stride].chunks_exact_mut(stride) {
            row.iter_mut().zip(source).for_each(|(value, &gradient)| *value += gradient * share);
        }
    }
}

fn share<T: Real>(pooling: ReadoutKind, nodes: usize) -> T {
    match pooling {
        ReadoutKind::Mean => T::ONE / T::from_f64(nodes as f64),
        _ => T::ONE,
    }
}

/// Adds a layer's votes, times `dropout` if there is any, to the scores.
pub(super) fn vote<T: Real>(scores: &mut [T], pooled: &[T], parameters: &[T], ranges: &AffineRanges, dropout: &[T]) {
    let (weight, bias) = (&parameters[ranges.weight.clone()], &parameters[ranges.bias.clone()]);
    let rows = pooled.chunks_exact(ranges.inputs).zip(scores.chunks_exact_mut(ranges.outputs));
    for (graph, (row, scores)) in rows.enumerate() {
        let mut own = bias.to_vec();
        for (&value, weights) in row.iter().zip(weight.chunks_exact(ranges.outputs)) {
            own.iter_mut().zip(weights).for_each(|(sum, &weight)| *sum += value * weight);
        }
        for (class, own) in own.into_iter().enumerate() {
            let factor = dropout.get(graph * ranges.outputs + class).copied().unwrap_or(T::ONE);
            scores[class] += own * factor;
        }
    }
}

/// Adds the gradients of a layer's vote and gives that of its pooled states.
pub(super) fn vote_backward<T: Real>(
    gradient: &[T],
    pooled: &[T],
    parameters: &[T],
    ranges: &AffineRanges,
    dropout: &[T],
    flat: &mut [T],
) -> Vec<T> {
    let (inputs, outputs) = (ranges.inputs, ranges.outputs);
    let weight = &parameters[ranges.weight.clone()];
    let mut back = vec![T::ZERO; pooled.len()];
    for (graph, (row, scores)) in pooled.chunks_exact(inputs).zip(gradient.chunks_exact(outputs)).enumerate() {
        for (class, &score) in scores.iter().enumerate() {
            let own = score * dropout.get(graph * outputs + class).copied().unwrap_or(T::ONE);
            flat[ranges.bias.start + class] += own;
            for (input, &value) in row.iter().enumerate() {
                flat[ranges.weight.start + input * outputs + class] += own * value;
                back[graph * inputs + input] += own * weight[input * outputs + class];
            }
        }
    }
    back
}

/// Mean cross-entropy of the scores, and its gradient.
pub(super) fn cross_entropy<T: Real>(scores: &[T], classes: &[u32], outputs: usize) -> (f64, Vec<T>) {
    let mut gradient = Vec::with_capacity(scores.len());
    let mut loss = 0.0;
    let share = 1.0 / classes.len().max(1) as f64;
    for (row, &class) in scores.chunks_exact(outputs).zip(classes) {
        let row: Vec<f64> = row.iter().map(|score| score.to_f64()).collect();
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = row.iter().map(|score| (score - largest).exp()).sum();
        loss -= share * (row[class as usize] - largest - total.ln());
        for (at, score) in row.iter().enumerate() {
            let right = if at == class as usize { 1.0 } else { 0.0 };
            gradient.push(T::from_f64(share * ((score - largest).exp() / total - right)));
        }
    }
    (loss, gradient)
}
