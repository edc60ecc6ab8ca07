//! The vector instructions the kernels are written in, once per instruction set.
//!
//! Kernels are generic over [`Simd`]; everything here is `#[inline(always)]`, so that the code ends up inside the
//! function that enables the instruction set. Nothing outside this crate sees vectors, only [`Isa`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod portable;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub use isa::Isa;
pub(crate) use portable::Portable;

use crate::real::Real;

/// Rows of all matrices are padded to this many values, a multiple of every vector length.
pub(crate) const ROW_ALIGNMENT: usize = 16;

/// The smallest multiple of [`ROW_ALIGNMENT`] that holds `width` values.
pub(crate) const fn padded(width: usize) -> usize {
    width.next_multiple_of(ROW_ALIGNMENT)
}

/// Vectors of an instruction set.
///
/// # Safety
/// Every method may only be called where the processor offers the instruction set; pointers must be valid for
/// [`Simd::LANES`] values (bytes or words where the name says so) and need no alignment.
pub(crate) unsafe trait Simd: Copy + 'static {
    /// What a lane holds.
    type Scalar: Real;
    /// A vector of [`Simd::LANES`] values.
    type Vector: Copy;
    /// The outcome of a comparison, one truth value per lane.
    type Mask: Copy;
    /// Values per vector; divides [`ROW_ALIGNMENT`].
    const LANES: usize;
    /// Most vectors per row of a matrix-product tile, at most 5.
    const TILE_VECTORS: usize;
    /// Rows of a matrix-product tile, 4 or 6 (5 where there are 5 vectors), so that accumulators and operands fit the
    /// registers with some to spare: a sum that the compiler puts on the stack doubles the time of a product.
    const TILE_ROWS: usize;
    /// Most vectors of which a sparse row keeps two sets in registers, at most 8.
    const ROW_VECTORS: usize;

    unsafe fn splat(value: Self::Scalar) -> Self::Vector;
    unsafe fn load(source: *const Self::Scalar) -> Self::Vector;
    unsafe fn store(target: *mut Self::Scalar, value: Self::Vector);
    unsafe fn add(left: Self::Vector, right: Self::Vector) -> Self::Vector;
    unsafe fn mul(left: Self::Vector, right: Self::Vector) -> Self::Vector;
    /// `left * right + addend`.
    unsafe fn mul_add(left: Self::Vector, right: Self::Vector, addend: Self::Vector) -> Self::Vector;
    /// The larger of two values that are ordered.
    unsafe fn maximum(left: Self::Vector, right: Self::Vector) -> Self::Vector;
    /// Whether `left > right`; false where either is undefined.
    unsafe fn greater(left: Self::Vector, right: Self::Vector) -> Self::Mask;
    /// `yes` where the mask is true, `no` elsewhere.
    unsafe fn select(mask: Self::Mask, yes: Self::Vector, no: Self::Vector) -> Self::Vector;
    /// The mask as bits, lane 0 lowest.
    unsafe fn mask_to_bits(mask: Self::Mask) -> u32;
    /// The mask of the lowest [`Simd::LANES`] bits.
    unsafe fn mask_from_bits(bits: u32) -> Self::Mask;
    /// Sum of the lanes.
    unsafe fn sum(value: Self::Vector) -> Self::Scalar;
    /// Stores small whole numbers as bytes.
    unsafe fn store_bytes(target: *mut u8, value: Self::Vector);
    /// Stores whole numbers as words.
    unsafe fn store_words(target: *mut u32, value: Self::Vector);
    /// One bit for each of 64 bytes: whether it equals `value`.
    unsafe fn equal_bytes(source: *const u8, value: u8) -> u64;
}
