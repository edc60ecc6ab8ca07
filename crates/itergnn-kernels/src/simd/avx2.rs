//! Vectors of eight `f32` with AVX2 and FMA.

use std::arch::x86_64::*;

use super::Simd;

/// Eight `f32` lanes.
#[derive(Clone, Copy)]
pub(crate) struct Avx2;

// SAFETY: each method is a few AVX2 or FMA instructions, which the trait's contract says are available, on pointers it
// says are valid.
unsafe impl Simd for Avx2 {
    type Scalar = f32;
    type Vector = __m256;
    type Mask = __m256;
    const LANES: usize = 8;
    const TILE_VECTORS: usize = 2;
    const TILE_ROWS: usize = 4;
    const ROW_VECTORS: usize = 5;

    #[inline(always)]
    unsafe fn splat(value: f32) -> __m256 {
        unsafe { _mm256_set1_ps(value) }
    }
    #[inline(always)]
    unsafe fn load(source: *const f32) -> __m256 {
        unsafe { _mm256_loadu_ps(source) }
    }
    #[inline(always)]
    unsafe fn store(target: *mut f32, value: __m256) {
        unsafe { _mm256_storeu_ps(target, value) }
    }
    #[inline(always)]
    unsafe fn add(left: __m256, right: __m256) -> __m256 {
        unsafe { _mm256_add_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn mul(left: __m256, right: __m256) -> __m256 {
        unsafe { _mm256_mul_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn mul_add(left: __m256, right: __m256, addend: __m256) -> __m256 {
        unsafe { _mm256_fmadd_ps(left, right, addend) }
    }
    #[inline(always)]
    unsafe fn maximum(left: __m256, right: __m256) -> __m256 {
        unsafe { _mm256_max_ps(left, right) }
    }
    #[inline(always)]
    unsafe fn greater(left: __m256, right: __m256) -> __m256 {
        unsafe { _mm256_cmp_ps::<_CMP_GT_OQ>(left, right) }
    }
    #[inline(always)]
    unsafe fn select(mask: __m256, yes: __m256, no: __m256) -> __m256 {
        unsafe { _mm256_blendv_ps(no, yes, mask) }
    }
    #[inline(always)]
    unsafe fn mask_to_bits(mask: __m256) -> u32 {
        unsafe { _mm256_movemask_ps(mask) as u32 }
    }
    #[inline(always)]
    unsafe fn mask_from_bits(bits: u32) -> __m256 {
        unsafe {
            let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let chosen = _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(chosen, lanes))
        }
    }
    #[inline(always)]
    unsafe fn sum(value: __m256) -> f32 {
        unsafe {
            let half = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps::<1>(value));
            let quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)))
        }
    }
    #[inline(always)]
    unsafe fn store_bytes(target: *mut u8, value: __m256) {
        unsafe {
            let words = _mm256_cvttps_epi32(value);
            let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            let shorts = _mm_packus_epi32(low, high);
            _mm_storel_epi64(target.cast(), _mm_packus_epi16(shorts, shorts));
        }
    }
    #[inline(always)]
    unsafe fn store_words(target: *mut u32, value: __m256) {
        unsafe { _mm256_storeu_si256(target.cast(), _mm256_cvttps_epi32(value)) }
    }
    #[inline(always)]
    unsafe fn equal_bytes(source: *const u8, value: u8) -> u64 {
        unsafe {
            let value = _mm256_set1_epi8(value as i8);
            let low = _mm256_cmpeq_epi8(_mm256_loadu_si256(source.cast()), value);
            let high = _mm256_cmpeq_epi8(_mm256_loadu_si256(source.add(32).cast()), value);
            u64::from(_mm256_movemask_epi8(low) as u32) | u64::from(_mm256_movemask_epi8(high) as u32) << 32
        }
    }
}
