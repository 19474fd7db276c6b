//! The two floating-point types, and the functions of `libm` that the forward pass calls.

use core::fmt::{Debug, Display};
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// The element type of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    /// IEEE 754 binary64.
    Float64,
    /// IEEE 754 binary32.
    Float32,
}

impl DType {
    /// The name in options, tensors and files.
    pub fn name(self) -> &'static str {
        match self {
            DType::Float64 => "float64",
            DType::Float32 => "float32",
        }
    }

    /// The bits of one number.
    pub fn bits(self) -> f64 {
        match self {
            DType::Float64 => 64.0,
            DType::Float32 => 32.0,
        }
    }
}

/// `f32` or `f64`, with transcendental functions that give the same bits on every target.
///
/// `+ - * /` and the square root are fixed by IEEE 754. The others differ from one platform's library to
/// the next, so all of them come from the `libm` crate (a port of musl's), compiled into the program.
pub trait Float:
    Copy
    + PartialOrd
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// Which of the two this is.
    const DTYPE: DType;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The score of what may not be seen.
    const NEG_INFINITY: Self;
    /// The nearest value to `x`, ties to even.
    fn from_f64(x: f64) -> Self;
    /// The same value, exactly.
    fn to_f64(self) -> f64;
    /// The bit pattern, for comparisons "to the bit".
    fn bits(self) -> u64;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// e to the power of `self`.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The natural logarithm of `1 + self`, exact also where `self` is tiny.
    fn ln_1p(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function, 2/sqrt(pi) times the integral of exp(-u^2) from 0 to `self`.
    fn erf(self) -> Self;
}

macro_rules! float {
    ($type:ty, $dtype:expr, $sqrt:path, $exp:path, $ln:path, $ln_1p:path, $tanh:path, $erf:path) => {
        impl Float for $type {
            const DTYPE: DType = $dtype;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEG_INFINITY: Self = <$type>::NEG_INFINITY;
            #[inline]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            #[inline]
            fn is_finite(self) -> bool {
                <$type>::is_finite(self)
            }
            #[inline]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline]
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline]
            fn erf(self) -> Self {
                $erf(self)
            }
        }
    };
}

float!(f64, DType::Float64, libm::sqrt, libm::exp, libm::log, libm::log1p, libm::tanh, libm::erf);
float!(f32, DType::Float32, libm::sqrtf, libm::expf, libm::logf, libm::log1pf, libm::tanhf, libm::erff);

/// The sine of an angle in radians.
pub(crate) fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// The cosine of an angle in radians.
pub(crate) fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// `x` to the power of `y`.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// The binary logarithm, exact where `x` is a power of 2.
pub(crate) fn log2(x: f64) -> f64 {
    libm::log2(x)
}
