//! Batch normalisation with ReLU after it.

use super::affine::add;
use super::batch::{pad_rows, zeros};
use super::layout::{MapRanges, RunningRanges};
use crate::kernels::{AffineRelu, ColumnMoments, Kernels, NormaliseBackward, NormaliseSums};
use crate::memory::Buffer;
use crate::real::Real;

/// Added to a variance before its root is taken: PyTorch's and Burn's default.
const EPSILON: f64 = 1e-5;

/// Weight of a batch in the running statistics: PyTorch's and Burn's default.
const MOMENTUM: f64 = 0.1;

/// Scale and shift of a normalisation, padded by zeros, so that padding stays zero.
pub(super) struct Norm<T: Real> {
    kernels: &'static Kernels<T>,
    width: usize,
    gamma: Buffer<T>,
    beta: Buffer<T>,
}

/// What a normalisation did: `y -> max(0, scale y + shift)`, with the mean and the inverse deviation that this is made
/// of.
pub(super) struct NormTape<T: Real> {
    mean: Buffer<T>,
    inverse: Buffer<T>,
    scale: Buffer<T>,
    shift: Buffer<T>,
}

/// The gradient of scale and shift, summed over calls.
pub(super) struct NormGradient<T: Real> {
    gamma: Buffer<T>,
    beta: Buffer<T>,
}

impl<T: Real> NormGradient<T> {
    pub(super) fn new(width: usize) -> Self {
        Self { gamma: zeros(width), beta: zeros(width) }
    }

    pub(super) fn add_to(&self, gradient: &mut [T], ranges: &MapRanges) {
        add(&mut gradient[ranges.scale.clone()], self.gamma.as_slice());
        add(&mut gradient[ranges.shift.clone()], self.beta.as_slice());
    }
}

impl<T: Real> Norm<T> {
    pub(super) fn new(kernels: &'static Kernels<T>, parameters: &[T], ranges: &MapRanges) -> Self {
        let width = ranges.scale.len();
        let gamma: Buffer<T> = pad_rows(&parameters[ranges.scale.clone()], width);
        let beta = pad_rows(&parameters[ranges.shift.clone()], width);
        Self { kernels, width: gamma.as_slice().len(), gamma, beta }
    }

    /// Normalises by the statistics of these rows, and moves the running ones towards them.
    pub(super) fn train(
        &self,
        rows: usize,
        source: &Buffer<T>,
        running: &mut [T],
        ranges: &RunningRanges,
    ) -> NormTape<T> {
        assert!(rows > 0 && source.as_slice().len() >= rows * self.width, "the source has its rows");
        let (mut mean, mut variance) = (Buffer::new(self.width), Buffer::new(self.width));
        let moments = ColumnMoments {
            rows,
            width: self.width,
            source: source.as_ptr(),
            mean: mean.as_mut_ptr(),
            variance: variance.as_mut_ptr(),
        };
        // SAFETY: the table fits the processor, and the buffers have the shapes asserted or allocated above.
        unsafe { (self.kernels.column_moments)(&moments) };
        // PyTorch keeps the unbiased variance; of a single row there is none.
        let unbiased = if rows > 1 { rows as f64 / (rows as f64 - 1.0) } else { 1.0 };
        let towards = |old: &mut [T], new: &[T], factor: f64| {
            let (keep, take) = (T::from_f64(1.0 - MOMENTUM), T::from_f64(MOMENTUM * factor));
            old.iter_mut().zip(new).for_each(|(old, &new)| *old = keep * *old + take * new);
        };
        towards(&mut running[ranges.mean.clone()], mean.as_slice(), 1.0);
        towards(&mut running[ranges.variance.clone()], variance.as_slice(), unbiased);
        self.tape(mean, variance)
    }

    /// Normalises by running statistics.
    pub(super) fn infer(&self, running: &[T], ranges: &RunningRanges) -> NormTape<T> {
        let width = ranges.mean.len();
        let mean = pad_rows(&running[ranges.mean.clone()], width);
        self.tape(mean, pad_rows(&running[ranges.variance.clone()], width))
    }

    fn tape(&self, mean: Buffer<T>, variance: Buffer<T>) -> NormTape<T> {
        let (mut inverse, mut scale, mut shift) = (zeros(self.width), zeros(self.width), zeros(self.width));
        for column in 0..self.width {
            let root = 1.0 / (variance.as_slice()[column].to_f64() + EPSILON).sqrt();
            let factor = self.gamma.as_slice()[column].to_f64() * root;
            let mean = mean.as_slice()[column].to_f64();
            inverse.as_mut_slice()[column] = T::from_f64(root);
            scale.as_mut_slice()[column] = T::from_f64(factor);
            shift.as_mut_slice()[column] = T::from_f64(self.beta.as_slice()[column].to_f64() - mean * factor);
        }
        NormTape { mean, inverse, scale, shift }
    }

    /// `max(0, scale y + shift)`.
    pub(super) fn apply(&self, rows: usize, source: &Buffer<T>, tape: &NormTape<T>) -> Buffer<T> {
        assert!(source.as_slice().len() >= rows * self.width, "the source has its rows");
        let mut target = Buffer::new(rows * self.width);
        let args = AffineRelu {
            rows,
            width: self.width,
            source: source.as_ptr(),
            target: target.as_mut_ptr(),
            scale: tape.scale.as_ptr(),
            shift: tape.shift.as_ptr(),
        };
        // SAFETY: as above.
        unsafe { (self.kernels.affine_relu)(&args) };
        target
    }

    /// Gradient of `y` for that of the result; adds those of scale and shift.
    ///
    /// With `g` the gradient where ReLU is open, `n` rows and `z = (y - mean) inverse`: `scale (g - sum g / n - z sum(g
    /// z) / n)`.
    pub(super) fn backward(
        &self,
        rows: usize,
        source: &Buffer<T>,
        gradient: &Buffer<T>,
        tape: &NormTape<T>,
        sums: &mut NormGradient<T>,
    ) -> Buffer<T> {
        let fits = source.as_slice().len() >= rows * self.width && gradient.as_slice().len() >= rows * self.width;
        assert!(fits, "source and gradient have their rows");
        let (mut total, mut products) = (Buffer::<T>::new(self.width), Buffer::<T>::new(self.width));
        let args = NormaliseSums {
            rows,
            width: self.width,
            source: source.as_ptr(),
            gradient: gradient.as_ptr(),
            scale: tape.scale.as_ptr(),
            shift: tape.shift.as_ptr(),
            mean: tape.mean.as_ptr(),
            sums: total.as_mut_ptr(),
            products: products.as_mut_ptr(),
        };
        // SAFETY: as above.
        unsafe { (self.kernels.normalise_sums)(&args) };
        let (mut constant, mut slope) = (Buffer::new(self.width), Buffer::new(self.width));
        let share = T::from_f64(1.0 / rows as f64);
        for column in 0..self.width {
            let (scale, inverse) = (tape.scale.as_slice()[column], tape.inverse.as_slice()[column]);
            let (sum, product) = (total.as_slice()[column], products.as_slice()[column]);
            sums.beta.as_mut_slice()[column] += sum;
            sums.gamma.as_mut_slice()[column] += product * inverse;
            constant.as_mut_slice()[column] = -(scale * sum * share);
            slope.as_mut_slice()[column] = -(scale * inverse * inverse * product * share);
        }
        let mut target = Buffer::new(rows * self.width);
        let args = NormaliseBackward {
            rows,
            width: self.width,
            source: source.as_ptr(),
            gradient: gradient.as_ptr(),
            target: target.as_mut_ptr(),
            scale: tape.scale.as_ptr(),
            shift: tape.shift.as_ptr(),
            mean: tape.mean.as_ptr(),
            constant: constant.as_ptr(),
            slope: slope.as_ptr(),
        };
        // SAFETY: as above.
        unsafe { (self.kernels.normalise_backward)(&args) };
        target
    }
}
