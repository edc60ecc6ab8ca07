//! Affine maps of padded rows, and their gradients.

use std::cell::OnceCell;

use super::batch::{pad_rows, zeros};
use super::layout::AffineRanges;
use crate::kernels::{ColumnSum, Gemm, Kernels, Start};
use crate::memory::Buffer;
use crate::real::Real;
use crate::simd::padded;

/// An affine map with rows padded to whole vectors, both ways round.
pub(super) struct Affine<T: Real> {
    kernels: &'static Kernels<T>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    weight: Buffer<T>,
    /// Columns of the weight, which only the way back reads.
    transposed: OnceCell<Buffer<T>>,
    bias: Buffer<T>,
}

/// The gradient of an affine map, summed over calls.
pub(super) struct AffineGradient<T: Real> {
    weight: Buffer<T>,
    bias: Buffer<T>,
}

impl<T: Real> AffineGradient<T> {
    pub(super) fn new(ranges: &AffineRanges) -> Self {
        let stride = padded(ranges.outputs);
        Self { weight: zeros(ranges.inputs * stride), bias: zeros(stride) }
    }

    /// Adds the sums to the flat gradient.
    pub(super) fn add_to(&self, gradient: &mut [T], ranges: &AffineRanges) {
        let rows = self.weight.as_slice().chunks_exact(padded(ranges.outputs));
        for (target, row) in gradient[ranges.weight.clone()].chunks_exact_mut(ranges.outputs).zip(rows) {
            add(target, row);
        }
        add(&mut gradient[ranges.bias.clone()], self.bias.as_slice());
    }
}

/// `target += source`, as far as the target goes.
pub(super) fn add<T: Real>(target: &mut [T], source: &[T]) {
    target.iter_mut().zip(source).for_each(|(target, &source)| *target += source);
}

impl<T: Real> Affine<T> {
    pub(super) fn new(kernels: &'static Kernels<T>, parameters: &[T], ranges: &AffineRanges) -> Self {
        let &AffineRanges { inputs, outputs, .. } = ranges;
        Self {
            kernels,
            inputs,
            outputs,
            weight: pad_rows(&parameters[ranges.weight.clone()], outputs),
            transposed: OnceCell::new(),
            bias: pad_rows(&parameters[ranges.bias.clone()], outputs),
        }
    }

    /// `x W + b` for `[rows, padded inputs]`.
    pub(super) fn forward(&self, rows: usize, input: &Buffer<T>) -> Buffer<T> {
        let (wide, narrow) = (padded(self.inputs), padded(self.outputs));
        assert!(input.as_slice().len() >= rows * wide, "the input has its rows");
        let mut output = Buffer::new(rows * narrow);
        let start = Start::Row(self.bias.as_ptr());
        let product = Gemm {
            depth: self.inputs,
            a: input.as_ptr(),
            a_row: wide,
            a_column: 1,
            b: self.weight.as_ptr(),
            b_row: narrow,
            ..product(rows, narrow, output.as_mut_ptr(), start)
        };
        // SAFETY: the table fits the processor, and the buffers have the shapes asserted or allocated above.
        unsafe { (self.kernels.gemm)(&product) };
        output
    }

    /// `[outputs, padded inputs]`.
    fn transposed(&self) -> &Buffer<T> {
        self.transposed.get_or_init(|| {
            let (wide, narrow) = (padded(self.inputs), padded(self.outputs));
            let mut columns: Buffer<T> = zeros(self.outputs * wide);
            for (output, column) in columns.as_mut_slice().chunks_exact_mut(wide).enumerate() {
                let values = self.weight.as_slice().iter().skip(output).step_by(narrow);
                column.iter_mut().zip(values).for_each(|(to, &from)| *to = from);
            }
            columns
        })
    }

    /// Gradient of the input for that of the output.
    pub(super) fn backward(&self, rows: usize, gradient: &Buffer<T>) -> Buffer<T> {
        let (wide, narrow) = (padded(self.inputs), padded(self.outputs));
        assert!(gradient.as_slice().len() >= rows * narrow, "the gradient has its rows");
        let mut output = Buffer::new(rows * wide);
        let product = Gemm {
            depth: self.outputs,
            a: gradient.as_ptr(),
            a_row: narrow,
            a_column: 1,
            b: self.transposed().as_ptr(),
            b_row: wide,
            ..product(rows, wide, output.as_mut_ptr(), Start::Zero)
        };
        // SAFETY: as above.
        unsafe { (self.kernels.gemm)(&product) };
        output
    }

    /// Adds the gradient of weight and bias.
    pub(super) fn collect(&self, rows: usize, input: &Buffer<T>, gradient: &Buffer<T>, sums: &mut AffineGradient<T>) {
        let (wide, narrow) = (padded(self.inputs), padded(self.outputs));
        let fits = input.as_slice().len() >= rows * wide && gradient.as_slice().len() >= rows * narrow;
        assert!(fits, "input and gradient have their rows");
        let target = sums.weight.as_mut_ptr();
        let product = Gemm {
            depth: rows,
            a: input.as_ptr(),
            a_row: 1,
            a_column: wide,
            b: gradient.as_ptr(),
            b_row: narrow,
            ..product(self.inputs, narrow, target, Start::Matrix(target, narrow))
        };
        let bias = ColumnSum {
            rows,
            columns: narrow,
            source: gradient.as_ptr(),
            source_row: narrow,
            target: sums.bias.as_mut_ptr(),
        };
        // SAFETY: as above; sums have the shape of the map.
        unsafe {
            (self.kernels.gemm)(&product);
            (self.kernels.column_sum)(&bias);
        }
    }
}

/// A product into `[rows, columns]` whose operands are still to be named.
fn product<T: Real>(rows: usize, columns: usize, c: *mut T, start: Start<T>) -> Gemm<T> {
    Gemm {
        rows,
        columns,
        depth: 0,
        a: std::ptr::null(),
        a_row: 0,
        a_column: 0,
        b: std::ptr::null(),
        b_row: 0,
        c,
        c_row: columns,
        start,
        leaky: false,
        a_rows: std::ptr::null(),
        c_rows: std::ptr::null(),
        depths: std::ptr::null(),
    }
}
