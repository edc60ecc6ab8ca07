//! Vectors of sixteen `f32` with AVX-512.

use std::arch::x86_64::*;

use super::Simd;

/// Sixteen `f32` lanes.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

// SAFETY: each method is a few AVX-512 instructions, which the trait's contract says are available, on pointers it says
// are valid.
unsafe impl Simd for Avx512 {
    type Scalar = f32;
    type Vector = __m512;
    type Mask = __mmask16;
    const LANES: usize = 16;
    const TILE_VECTORS: usize = 5;
    const TILE_ROWS: usize = 6;
    const ROW_VECTORS: usize = 8;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m512 {
        unsafe { _mm512_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn load(source: *const f32) -> __m512 {
        unsafe { _mm512_loadu_ps(source) }
    }
    #[inline(always)]
    unsafe fn store(target: *mut f32, value: __m512) {
        unsafe { _mm512_storeu_ps(target, value) }
    }
    #[inline(always)]
    unsafe fn add(left: __m512, right: __m512) -> __m512 {
        unsafe { _mm512_add_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn mul(left: __m512, right: __m512) -> __m512 {
        unsafe { _mm512_mul_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn mul_add(left: __m512, right: __m512, addend: __m512) -> __m512 {
        unsafe { _mm512_fmadd_ps(left, right, addend) }
    }
    #[inline(always)]
    unsafe fn maximum(left: __m512, right: __m512) -> __m512 {
        unsafe { _mm512_max_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn greater(left: __m512, right: __m512) -> __mmask16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(left, right) }
    }
    #[inline(always)]
    unsafe fn select(mask: __mmask16, yes: __m512, no: __m512) -> __m512 {
        unsafe { _mm512_mask_blend_ps(mask, no, yes) }
    }
    #[inline(always)]
    unsafe fn mask_to_bits(mask: __mmask16) -> u32 {
        u32::from(mask)
    }
    #[inline(always)]
    unsafe fn mask_from_bits(bits: u32) -> __mmask16 {
        bits as __mmask16
    }
    #[inline(always)]
    unsafe fn sum(value: __m512) -> f32 {
        unsafe { _mm512_reduce_add_ps(value) }
    }
    #[inline(always)]
    unsafe fn store_bytes(target: *mut u8, value: __m512) {
        unsafe { _mm_storeu_si128(target.cast(), _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(value))) }
    }
    #[inline(always)]
    unsafe fn store_words(target: *mut u32, value: __m512) {
        unsafe { _mm512_storeu_si512(target.cast(), _mm512_cvttps_epi32(value)) }
    }
    #[inline(always)]
    unsafe fn equal_bytes(source: *const u8, value: u8) -> u64 {
        unsafe { _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(source.cast()), _mm512_set1_epi8(value as i8)) }
    }
}
