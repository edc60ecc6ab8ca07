//! Vectors of four values in plain code, which compilers turn into whatever the target has.

use std::marker::PhantomData;

use super::Simd;
use crate::real::Real;

/// Four lanes of any float.
#[derive(Clone, Copy)]
pub(crate) struct Portable<T>(PhantomData<T>);

const LANES: usize = 4;

#[inline(always)]
fn zip<T: Copy, U: Copy, V>(left: [T; LANES], right: [U; LANES], each: impl Fn(T, U) -> V) -> [V; LANES] {
    std::array::from_fn(|lane| each(left[lane], right[lane]))
}

// SAFETY: plain code runs everywhere; the pointer accesses are those the trait's contract allows.
unsafe impl<T: Real> Simd for Portable<T> {
    type Scalar = T;
    type Vector = [T; LANES];
    type Mask = [bool; LANES];
    const LANES: usize = LANES;
    const TILE_VECTORS: usize = 2;
    const TILE_ROWS: usize = 6;
    const ROW_VECTORS: usize = 5;

    #[inline(always)]
    unsafe fn splat(value: T) -> Self::Vector {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn load(source: *const T) -> Self::Vector {
        // SAFETY: the caller guarantees LANES readable values.
        unsafe { source.cast::<[T; LANES]>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(target: *mut T, value: Self::Vector) {
        // SAFETY: the caller guarantees LANES writable values.
        unsafe { target.cast::<[T; LANES]>().write_unaligned(value) }
    }
    #[inline(always)]
    unsafe fn add(left: Self::Vector, right: Self::Vector) -> Self::Vector {
        zip(left, right, |left, right| left + right)
    }
    #[inline(always)]
    unsafe fn mul(left: Self::Vector, right: Self::Vector) -> Self::Vector {
        zip(left, right, |left, right| left * right)
    }
    #[inline(always)]
    unsafe fn mul_add(left: Self::Vector, right: Self::Vector, addend: Self::Vector) -> Self::Vector {
        // Two roundings: without an FMA instruction a fused product would be a library call.
        zip(zip(left, right, |left, right| left * right), addend, |product, addend| product + addend)
    }
    #[inline(always)]
    unsafe fn maximum(left: Self::Vector, right: Self::Vector) -> Self::Vector {
        zip(left, right, |left, right| if left > right { left } else { right })
    }
    #[inline(always)]
    unsafe fn greater(left: Self::Vector, right: Self::Vector) -> Self::Mask {
        zip(left, right, |left, right| left > right)
    }
    #[inline(always)]
    unsafe fn select(mask: Self::Mask, yes: Self::Vector, no: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| if mask[lane] { yes[lane] } else { no[lane] })
    }
    #[inline(always)]
    unsafe fn mask_to_bits(mask: Self::Mask) -> u32 {
        mask.iter().enumerate().fold(0, |bits, (lane, &set)| bits | u32::from(set) << lane)
    }
    #[inline(always)]
    unsafe fn mask_from_bits(bits: u32) -> Self::Mask {
        std::array::from_fn(|lane| bits >> lane & 1 == 1)
    }
    #[inline(always)]
    unsafe fn sum(value: Self::Vector) -> T {
        (value[0] + value[1]) + (value[2] + value[3])
    }
    #[inline(always)]
    unsafe fn store_bytes(target: *mut u8, value: Self::Vector) {
        for (lane, value) in value.into_iter().enumerate() {
            // SAFETY: the caller guarantees LANES writable bytes.
            unsafe { *target.add(lane) = value.to_f64() as u8 }
        }
    }
    #[inline(always)]
    unsafe fn store_words(target: *mut u32, value: Self::Vector) {
        for (lane, value) in value.into_iter().enumerate() {
            // SAFETY: the caller guarantees LANES writable words.
            unsafe { *target.add(lane) = value.to_f64() as u32 }
        }
    }
    #[inline(always)]
    unsafe fn equal_bytes(source: *const u8, value: u8) -> u64 {
        let mut bits = 0;
        for lane in 0..64 {
            // SAFETY: the caller guarantees 64 readable bytes.
            bits |= u64::from(unsafe { *source.add(lane) } == value) << lane;
        }
        bits
    }
}
