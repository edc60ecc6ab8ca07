//! The two floating-point types the kernels compute in.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::kernels::Kernels;
use crate::memory::Plain;
use crate::simd::Isa;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
///
/// `f32` runs on every instruction set of [`Isa`]; `f64` always runs on the portable one and exists to compare
/// gradients tightly.
pub trait Real:
    sealed::Sealed
    + Plain
    + Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Slope of LeakyReLU below zero (the paper's and PyTorch's default, 0.01).
    const LEAKY_SLOPE: Self;
    /// Gradients smaller than this become zero between iterations.
    ///
    /// Gradients shrink over the iterations, and subnormal numbers cost 30-40% of a step. The margin to the smallest
    /// normal number leaves room for the products of one iteration.
    const NEGLIGIBLE: Self;
    /// Exponents below this count as minus infinity in a softmax, for the same reason.
    const SMALLEST_EXPONENT: Self;

    /// The nearest value to `value`.
    fn from_f64(value: f64) -> Self;
    /// The same value in double precision.
    fn to_f64(self) -> f64;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Neither infinite nor undefined.
    fn is_finite(self) -> bool;
    /// Not a number.
    fn is_nan(self) -> bool;
    /// The kernels for an instruction set this type runs on.
    #[doc(hidden)]
    fn kernels(isa: Isa) -> &'static Kernels<Self>;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const LEAKY_SLOPE: Self = crate::settings::LEAKY_SLOPE as Self;
    const NEGLIGIBLE: Self = 1e-24;
    const SMALLEST_EXPONENT: Self = -60.0;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn exp(self) -> Self {
        f32::exp(self)
    }
    #[inline]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
    #[inline]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
    fn kernels(isa: Isa) -> &'static Kernels<Self> {
        crate::kernels::f32_kernels(isa)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const LEAKY_SLOPE: Self = crate::settings::LEAKY_SLOPE as Self;
    const NEGLIGIBLE: Self = 1e-280;
    const SMALLEST_EXPONENT: Self = -700.0;

    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline]
    fn exp(self) -> Self {
        f64::exp(self)
    }
    #[inline]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    #[inline]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
    fn kernels(_isa: Isa) -> &'static Kernels<Self> {
        crate::kernels::f64_kernels()
    }
}

/// LeakyReLU: `x` above zero, `0.01 x` below.
pub(crate) fn leaky_relu<T: Real>(x: T) -> T {
    if x > T::ZERO { x } else { T::LEAKY_SLOPE * x }
}

/// Derivative of LeakyReLU, told from the sign of its input or, which is the same, of its output.
pub(crate) fn leaky_slope<T: Real>(x: T) -> T {
    if x > T::ZERO { T::ONE } else { T::LEAKY_SLOPE }
}

/// The logistic function, computed without overflow on either side.
pub(crate) fn sigmoid<T: Real>(x: T) -> T {
    if x > T::ZERO {
        T::ONE / (T::ONE + (-x).exp())
    } else {
        let grown = x.exp();
        grown / (T::ONE + grown)
    }
}
