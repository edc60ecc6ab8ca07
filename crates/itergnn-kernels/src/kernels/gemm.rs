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
/// `a` is read one value at a time through two strides, so that a transposed matrix costs nothing; `b` and `c` are read
/// in whole vectors.
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
    /// `[rows]`: which rows of `a` to read, and which of `c` (and of a starting matrix) to write; null for all in
    /// order.
    pub(crate) a_rows: *const u32,
    pub(crate) c_rows: *const u32,
    /// `[depth]`: which columns of `a` and rows of `b` to multiply; null for all in order.
    pub(crate) depths: *const u32,
}

/// Entry `position` of a list, or the position itself where there is no list.
#[inline(always)]
unsafe fn listed(list: *const u32, position: usize) -> usize {
    // SAFETY: the caller guarantees that a list is long enough.
    if list.is_null() { position } else { unsafe { *list.add(position) as usize } }
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
        while row + S::TILE_ROWS <= gemm.rows {
            if S::TILE_ROWS == 6 {
                tile::<S, 6, V>(gemm, row, column);
            } else {
                tile::<S, 4, V>(gemm, row, column);
            }
            row += S::TILE_ROWS;
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
        let mut a = [gemm.a; R];
        for r in 0..R {
            a[r] = gemm.a.add(listed(gemm.a_rows, row + r) * gemm.a_row);
            for v in 0..V {
                let place = column + v * S::LANES;
                sums[r][v] = match gemm.start {
                    Start::Zero => sums[r][v],
                    Start::Row(start) => S::load(start.add(place)),
                    Start::Matrix(start, stride) => S::load(start.add(listed(gemm.c_rows, row + r) * stride + place)),
                };
            }
        }
        let b = gemm.b.add(column);
        if gemm.depths.is_null() {
            let (mut offset, mut b) = (0, b);
            for _ in 0..gemm.depth {
                outer_product::<S, R, V>(&mut sums, &a, offset, b);
                offset += gemm.a_column;
                b = b.wrapping_add(gemm.b_row);
            }
        } else {
            for position in 0..gemm.depth {
                let depth = *gemm.depths.add(position) as usize;
                outer_product::<S, R, V>(&mut sums, &a, depth * gemm.a_column, b.add(depth * gemm.b_row));
            }
        }
        let slope = S::splat(S::Scalar::LEAKY_SLOPE);
        for r in 0..R {
            let target = gemm.c.add(listed(gemm.c_rows, row + r) * gemm.c_row + column);
            for v in 0..V {
                let mut value = sums[r][v];
                if gemm.leaky {
                    value = S::maximum(value, S::mul(value, slope));
                }
                S::store(target.add(v * S::LANES), value);
            }
        }
    }
}

/// Adds one column of `a` times one row of `b`.
#[inline(always)]
unsafe fn outer_product<S: Simd, const R: usize, const V: usize>(
    sums: &mut [[S::Vector; V]; R],
    a: &[*const S::Scalar; R],
    offset: usize,
    b: *const S::Scalar,
) {
    // SAFETY: the caller keeps the offset within each row of `a`, and `b` has V vectors.
    unsafe {
        let mut right = [S::splat(S::Scalar::ZERO); V];
        for v in 0..V {
            right[v] = S::load(b.add(v * S::LANES));
        }
        for r in 0..R {
            let left = S::splat(*a[r].add(offset));
            for v in 0..V {
                sums[r][v] = S::mul_add(left, right[v], sums[r][v]);
            }
        }
    }
}
