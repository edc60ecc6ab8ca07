//! One application of a GIN layer.

use super::affine::{Affine, AffineGradient};
use super::batch::Running;
use super::layout::MapRanges;
use super::norm::{Norm, NormGradient, NormTape};
use crate::kernels::{Kernels, NeighbourSum};
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;

/// Sum over neighbours, then two maps, each with normalisation and ReLU.
pub(super) struct Layer<T: Real> {
    kernels: &'static Kernels<T>,
    maps: [(Affine<T>, Norm<T>); 2],
}

/// What an application leaves for its backward pass.
pub(super) struct LayerTape<T: Real> {
    /// Input and output (before normalisation) of both maps, and what normalisation did.
    maps: [(Buffer<T>, Buffer<T>, NormTape<T>); 2],
    /// The new states.
    pub(super) output: Buffer<T>,
}

/// Gradients of the parameters, summed over applications.
pub(super) struct LayerGradient<T: Real>([(AffineGradient<T>, NormGradient<T>); 2]);

/// Running statistics: to be moved by training, or to be used.
pub(super) enum Statistics<'a, T> {
    Train(&'a mut [T]),
    Infer(&'a [T]),
}

impl<T: Real> Layer<T> {
    pub(super) fn new(kernels: &'static Kernels<T>, parameters: &[T], ranges: &[MapRanges; 2]) -> Self {
        let maps = [0, 1].map(|map| {
            let ranges: &MapRanges = &ranges[map];
            (Affine::new(kernels, parameters, &ranges.affine), Norm::new(kernels, parameters, ranges))
        });
        Self { kernels, maps }
    }

    /// Step number `step`, counted from 0.
    pub(super) fn forward(
        &self,
        structure: &Running,
        states: &Buffer<T>,
        statistics: &mut Statistics<'_, T>,
        ranges: &[MapRanges; 2],
        step: usize,
    ) -> LayerTape<T> {
        let rows = structure.nodes();
        let width = padded(self.maps[0].0.inputs);
        assert!(states.as_slice().len() >= rows * width, "a state for every node");
        let mut summed = Buffer::new(rows * width);
        let sum = NeighbourSum {
            nodes: rows,
            width,
            offsets: structure.structure.incoming().offsets().as_ptr(),
            senders: structure.structure.senders().as_ptr(),
            source: states.as_ptr(),
            target: summed.as_mut_ptr(),
        };
        // SAFETY: the table fits the processor, the buffers have the shapes above, and a checked batch has its senders
        // among its nodes.
        unsafe { (self.kernels.gather_sum)(&sum) };
        let mut apply = |map: usize, input: Buffer<T>| {
            let (affine, norm) = &self.maps[map];
            let mapped = affine.forward(rows, &input);
            let ranges = &ranges[map].running[step];
            let tape = match statistics {
                Statistics::Train(running) => norm.train(rows, &mapped, running, ranges),
                Statistics::Infer(running) => norm.infer(running, ranges),
            };
            let output = norm.apply(rows, &mapped, &tape);
            ((input, mapped, tape), output)
        };
        let (first, between) = apply(0, summed);
        let (second, output) = apply(1, between);
        LayerTape { maps: [first, second], output }
    }

    /// Gradient of the states for that of the output; `None` if it is not wanted.
    pub(super) fn backward(
        &self,
        structure: &Running,
        tape: &LayerTape<T>,
        gradient: &Buffer<T>,
        sums: &mut LayerGradient<T>,
        wanted: bool,
    ) -> Option<Buffer<T>> {
        let rows = structure.nodes();
        let mut back = |map: usize, gradient: &Buffer<T>, wanted: bool| {
            let ((affine, norm), (input, mapped, norm_tape)) = (&self.maps[map], &tape.maps[map]);
            let (affine_sums, norm_sums) = &mut sums.0[map];
            let gradient = norm.backward(rows, mapped, gradient, norm_tape, norm_sums);
            affine.collect(rows, input, &gradient, affine_sums);
            wanted.then(|| affine.backward(rows, &gradient))
        };
        let between = back(1, gradient, true)?;
        let summed = back(0, &between, wanted)?;
        let width = padded(self.maps[0].0.inputs);
        let mut target = Buffer::new(rows * width);
        let sum = NeighbourSum {
            nodes: rows,
            width,
            offsets: structure.structure.incoming().offsets().as_ptr(),
            senders: structure.structure.senders().as_ptr(),
            source: summed.as_ptr(),
            target: target.as_mut_ptr(),
        };
        // SAFETY: as above.
        unsafe { (self.kernels.scatter_sum)(&sum) };
        Some(target)
    }
}

impl<T: Real> LayerGradient<T> {
    pub(super) fn new(ranges: &[MapRanges; 2]) -> Self {
        Self([0, 1].map(|map: usize| {
            let affine = &ranges[map].affine;
            (AffineGradient::new(affine), NormGradient::new(padded(affine.outputs)))
        }))
    }

    pub(super) fn add_to(&self, gradient: &mut [T], ranges: &[MapRanges; 2]) {
        for ((affine, norm), ranges) in self.0.iter().zip(ranges) {
            affine.add_to(gradient, &ranges.affine);
            norm.add_to(gradient, ranges);
        }
    }
}
