//! One table of kernels per instruction set.

use super::attention::{
    MessageGradient, SharedMessageGradient, Signs, SplitGradient, WeightedForward, message_gradient,
    shared_message_gradient, signs, split_gradient, weighted_forward,
};
use super::convolution::{Convolve, ConvolveBackward, RectifyBackward, convolve, convolve_backward, rectify_backward};
use super::fold::{FoldMax, fold_max};
use super::gemm::{Gemm, gemm};
use super::maximum::{MaxForward, max_forward};
use super::maximum_backward::{MaxBackward, max_backward};
use super::message::{Activate, ActivateBackward, activate, activate_backward};
use super::neighbours::{NeighbourSum, gather_sum, scatter_sum};
use super::normalise::{
    AffineRelu, ColumnMoments, NormaliseBackward, NormaliseSums, affine_relu, column_moments, normalise_backward,
    normalise_sums,
};
use super::peak::{Peak, peak};
use super::rows::{
    AddAssign, ColumnSum, Flush, PoolMax, WeightedAdd, add_assign, column_sum, flush, pool_max, weighted_add,
};
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512};
use crate::simd::{Isa, Portable};

/// Hands the list of kernels (name, arguments, result) to another macro, so that it is written once.
macro_rules! for_all_kernels {
    ($callback:ident $options:tt) => {
        $callback! {
            $options
            gemm: Gemm => ();
            activate: Activate => ();
            activate_backward: ActivateBackward => ();
            max_forward: MaxForward => bool;
            fold_max: FoldMax => bool;
            max_backward: MaxBackward => ();
            weighted_forward: WeightedForward => bool;
            signs: Signs => ();
            split_gradient: SplitGradient => ();
            message_gradient: MessageGradient => ();
            shared_message_gradient: SharedMessageGradient => ();
            weighted_add: WeightedAdd => ();
            column_sum: ColumnSum => ();
            pool_max: PoolMax => ();
            flush: Flush => bool;
            add_assign: AddAssign => ();
            convolve: Convolve => bool;
            convolve_backward: ConvolveBackward => ();
            rectify_backward: RectifyBackward => ();
            peak: Peak => (usize, f64);
            gather_sum: NeighbourSum => ();
            scatter_sum: NeighbourSum => ();
            column_moments: ColumnMoments => ();
            affine_relu: AffineRelu => ();
            normalise_sums: NormaliseSums => ();
            normalise_backward: NormaliseBackward => ();
        }
    };
}

macro_rules! declare {
    (() $($name:ident: $args:ident => $result:ty;)*) => {
        /// The kernels compiled for one instruction set.
        ///
        /// Calling one requires that the processor offers the instruction set (the tables are only handed out where it
        /// does) and that the pointers in its arguments are valid for the shapes given with them.
        #[derive(Debug)]
        pub struct Kernels<T: 'static> {
            $(pub(crate) $name: unsafe fn(&$args<T>) -> $result,)*
        }
    };
}

macro_rules! table {
    (($table:ident, $simd:ty, $scalar:ty, $attribute:meta) $($name:ident: $args:ident => $result:ty;)*) => {
        static $table: Kernels<$scalar> = {
            $(
                #[$attribute]
                unsafe fn $name(args: &$args<$scalar>) -> $result {
                    // SAFETY: the contract of this function is that of the generic one, and the attribute enables what
                    // it is compiled for.
                    unsafe { self::$name::<$simd>(args) }
                }
            )*
            Kernels { $($name,)* }
        };
    };
}

for_all_kernels!(declare());
for_all_kernels!(table(PORTABLE_F32, Portable<f32>, f32, inline(never)));
for_all_kernels!(table(PORTABLE_F64, Portable<f64>, f64, inline(never)));
#[cfg(target_arch = "x86_64")]
for_all_kernels!(table(AVX2, Avx2, f32, target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")));
#[cfg(target_arch = "x86_64")]
for_all_kernels!(table(
    AVX512,
    Avx512,
    f32,
    target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")
));

/// The `f32` kernels of an instruction set, or the portable ones where this processor does not offer it.
pub(crate) fn f32_kernels(isa: Isa) -> &'static Kernels<f32> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 if isa.is_available() => &AVX512,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 if isa.is_available() => &AVX2,
        _ => &PORTABLE_F32,
    }
}

/// The `f64` kernels, which are portable.
pub(crate) fn f64_kernels() -> &'static Kernels<f64> {
    &PORTABLE_F64
}
