//! Products of small matrices, in loops that the compiler turns into vector instructions.

/// Columns that a tile of the product has at a time.
const WIDE: usize = 64;
const NARROW: usize = 16;

/// A matrix in a slice: element (row, column) at `row * row_stride + column * column_stride`.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) row_stride: usize,
    pub(crate) column_stride: usize,
}

impl<'a> View<'a> {
    /// Rows of `width` values, one after the other.
    pub(crate) fn rows(values: &'a [f32], width: usize) -> Self {
        Self { values, row_stride: width, column_stride: 1 }
    }

    /// The transpose of rows of `width` values.
    pub(crate) fn columns(values: &'a [f32], width: usize) -> Self {
        Self { values, row_stride: 1, column_stride: width }
    }
}

/// out += a b, with `out` of `rows` rows, and `depth` columns of `a`. Rows of `b` and of `out` have `width` values, a
/// multiple of 16.
pub(crate) fn add_product(rows: usize, depth: usize, width: usize, a: View<'_>, b: &[f32], out: &mut [f32]) {
    assert!(width.is_multiple_of(NARROW), "width {width} is not a multiple of {NARROW}");
    let mut column = 0;
    while column < width {
        if width - column >= WIDE {
            add_columns::<WIDE>(rows, depth, width, column, a, b, out);
            column += WIDE;
        } else {
            add_columns::<NARROW>(rows, depth, width, column, a, b, out);
            column += NARROW;
        }
    }
}

fn add_columns<const C: usize>(
    rows: usize,
    depth: usize,
    width: usize,
    column: usize,
    a: View<'_>,
    b: &[f32],
    out: &mut [f32],
) {
    let mut row = 0;
    while row + 4 <= rows {
        add_tile::<4, C>(row, depth, width, column, a, b, out);
        row += 4;
    }
    while row < rows {
        add_tile::<1, C>(row, depth, width, column, a, b, out);
        row += 1;
    }
}

#[inline(always)]
fn add_tile<const R: usize, const C: usize>(
    row: usize,
    depth: usize,
    width: usize,
    column: usize,
    a: View<'_>,
    b: &[f32],
    out: &mut [f32],
) {
    let mut sums = [[0.0f32; C]; R];
    let last = (row + R - 1) * a.row_stride + (depth.max(1) - 1) * a.column_stride;
    let values = &a.values[..=last];
    for (k, terms) in b.chunks_exact(width).take(depth).enumerate() {
        let terms: &[f32; C] = terms[column..column + C].try_into().expect("C columns");
        for (r, sums) in sums.iter_mut().enumerate() {
            let factor = values[(row + r) * a.row_stride + k * a.column_stride];
            for (sum, term) in sums.iter_mut().zip(terms) {
                *sum = multiply_add(factor, *term, *sum);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        let start = (row + r) * width + column;
        for (value, sum) in out[start..start + C].iter_mut().zip(sums) {
            *value += sum;
        }
    }
}

/// In one instruction where the processor has it; `mul_add` is a slow function call elsewhere.
#[inline(always)]
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_definition() {
        for (rows, depth, width) in [(1, 3, 16), (5, 2, 80), (9, 7, 64)] {
            let a: Vec<f32> = (0..rows * depth).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..depth * width).map(|i| (i % 5) as f32 - 2.0).collect();
            let mut transposed = vec![0.0; rows * depth];
            for r in 0..rows {
                for k in 0..depth {
                    transposed[k * rows + r] = a[r * depth + k];
                }
            }
            let mut expected = vec![1.0; rows * width];
            for r in 0..rows {
                for c in 0..width {
                    expected[r * width + c] += (0..depth).map(|k| a[r * depth + k] * b[k * width + c]).sum::<f32>();
                }
            }
            for a in [View::rows(&a, depth), View::columns(&transposed, rows)] {
                let mut out = vec![1.0; rows * width];
                add_product(rows, depth, width, a, &b, &mut out);
                assert_eq!(out, expected);
            }
        }
    }
}
