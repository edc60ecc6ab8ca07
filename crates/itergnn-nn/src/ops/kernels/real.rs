//! The arithmetic of the kernels.

/// The arithmetic the kernels need; implemented by `f32` and `f64`.
pub(crate) trait Real:
    Copy
    + Default
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
{
    /// The nearest value of this type.
    fn of(value: f64) -> Self;
    /// The exponential function.
    fn exp(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// Whether this is not a number.
    fn is_nan(self) -> bool;
}

macro_rules! real {
    ($float:ty) => {
        impl Real for $float {
            fn of(value: f64) -> Self {
                value as Self
            }
            fn exp(self) -> Self {
                self.exp()
            }
            fn abs(self) -> Self {
                self.abs()
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }
    };
}
real!(f32);
real!(f64);
