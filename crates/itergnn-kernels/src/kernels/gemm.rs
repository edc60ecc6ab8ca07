//! Matrix products of padded rows, in register tiles.

use crate::real::Real;
use crate::simd::Simd;

/// What a product is added to.
#[derive(Clone, Copy)]
pub(crate) enum Start<T> {
    /// Nothing.
    Zero,
    /// The same row of `columns` values for every row of the result.
    Row(*const T),
    /// A matrix with this row stride; the result itself, to accumulate.
    Matrix(*const T, usize),
}

/// `c = activation(start + a b)`.
///
/// `a` is read one value at a time through two strides, so that a transposed matrix costs nothing; `b` and `c` are read in whole vectors.
#[derive(Clone, Copy)]
pub(crate) struct Gemm<T> {
    pub(crate) rows: usize,
    /// A multiple of the row alignment.
    pub(crate) columns: usize,
    /// Columns of `a`, rows of `b`.
    pub(crate) depth: usize,
    pub(crate) a: *const T,
    /// Distance between rows of `a`, and between its columns.
    pub(crate) a_row: usize,
    pub(crate) a_column: usize,
    pub(crate) b: *const T,
    pub(crate) b_row: usize,
    pub(crate) c: *mut T,
    pub(crate) c_row: usize,
    pub(crate) start: Start<T>,
    /// Whether LeakyReLU follows.
    pub(crate) leaky: bool,
}

/// # Safety
/// The instruction set is available; the pointers are valid for the shapes, and `c` overlaps neither `a` nor `b`.
#[inline(always)]
pub(super) unsafe fn gemm<S: Simd>(gemm: &Gemm<S::Scalar>) {
    let vectors = gemm.columns / S::LANES;
    let mut vector = 0;
    while vector < vectors {
        let rest = vectors - vector;
        // 5 = 5, 6 = 3 + 3, 7 = 4 + 3: no narrow tile is left over.
        let width = match rest {
            6 if S::TILE_VECTORS >= 3 => 3,
            7.. if S::TILE_VECTORS >= 4 => 4,
            _ => rest.min(S::TILE_VECTORS),
        };
        let column = vector * S::LANES;
        // SAFETY: `column + width` vectors lie within `columns`.
        unsafe {
            match width {
                5 if S::TILE_VECTORS >= 5 => panel5::<S>(gemm, column),
                4 if S::TILE_VECTORS >= 4 => panel::<S, 4>(gemm, column),
                3 if S::TILE_VECTORS >= 3 => panel::<S, 3>(gemm, column),
                2 => panel::<S, 2>(gemm, column),
                _ => panel::<S, 1>(gemm, column),
            }
        }
        vector += width;
    }
}

#[inline(always)]
unsafe fn panel<S: Simd, const V: usize>(gemm: &Gemm<S::Scalar>, column: usize) {
    let mut row = 0;
    // SAFETY: the tiles partition the rows.
    unsafe {
        while row + 6 <= gemm.rows {
            tile::<S, 6, V>(gemm, row, column);
            row += 6;
        }
        match gemm.rows - row {
            1 => tile::<S, 1, V>(gemm, row, column),
            2 => tile::<S, 2, V>(gemm, row, column),
            3 => tile::<S, 3, V>(gemm, row, column),
            4 => tile::<S, 4, V>(gemm, row, column),
            5 => tile::<S, 5, V>(gemm, row, column),
            _ => (),
        }
    }
}

#[inline(always)]
unsafe fn panel5<S: Simd>(gemm: &Gemm<S::Scalar>, column: usize) {
    let mut row = 0;
    // SAFETY: the tiles partition the rows.
    unsafe {
        while row + 5 <= gemm.rows {
            tile::<S, 5, 5>(gemm, row, column);
            row += 5;
        }
        match gemm.rows - row {
            1 => tile::<S, 1, 5>(gemm, row, column),
            2 => tile::<S, 2, 5>(gemm, row, column),
            3 => tile::<S, 3, 5>(gemm, row, column),
            4 => tile::<S, 4, 5>(gemm, row, column),
            _ => (),
        }
    }
}

#[inline(always)]
unsafe fn tile<S: Simd, const R: usize, const V: usize>(gemm: &Gemm<S::Scalar>, row: usize, column: usize) {
    // SAFETY: the caller keeps `row + R` within the rows and `column + V` vectors within the columns.
    unsafe {
        let mut sums = [[S::splat(S::Scalar::ZERO); V]; R];
        match gemm.start {
            Start::Zero => (),
            Start::Row(start) => {
                for r in 0..R {
                    for v in 0..V {
                        sums[r][v] = S::load(start.add(column + v * S::LANES));
                    }
                }
            }
            Start::Matrix(start, stride) => {
                for r in 0..R {
                    for v in 0..V {
                        sums[r][v] = S::load(start.add((row + r) * stride + column + v * S::LANES));
                    }
                }
            }
        }
        let mut a = gemm.a.add(row * gemm.a_row);
        let mut b = gemm.b.add(column);
        for _ in 0..gemm.depth {
            let mut right = [S::splat(S::Scalar::ZERO); V];
            for v in 0..V {
                right[v] = S::load(b.add(v * S::LANES));
            }
            for r in 0..R {
                let left = S::splat(*a.add(r * gemm.a_row));
                for v in 0..V {
                    sums[r][v] = S::mul_add(left, right[v], sums[r][v]);
                }
            }
            a = a.wrapping_add(gemm.a_column);
            b = b.wrapping_add(gemm.b_row);
        }
        let slope = S::splat(S::Scalar::LEAKY_SLOPE);
        for r in 0..R {
            for v in 0..V {
                let mut value = sums[r][v];
                if gemm.leaky {
                    value = S::maximum(value, S::mul(value, slope));
                }
                S::store(gemm.c.add((row + r) * gemm.c_row + column + v * S::LANES), value);
            }
        }
    }
}
