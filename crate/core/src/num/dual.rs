//! Numbers that carry their derivative: forward-mode differentiation (Wengert 1964; Griewank & Walther 2008, chapter 3).

use super::{DType, Float};
use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// A number and its derivative in one direction: `value + slope·ε`, with ε² = 0.
///
/// Every operation computes the value as `f64` does, to the bit, and the slope by the rule of differentiation beside it:
/// so a pass in these numbers has the values of a pass in `f64`, and exact derivatives but for rounding. Comparisons,
/// choices and bits are the value's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dual {
    /// The number.
    pub value: f64,
    /// How fast it changes.
    pub slope: f64,
}

impl Dual {
    /// A number that does not change.
    pub(crate) fn constant(value: f64) -> Self {
        Dual { value, slope: 0.0 }
    }

    /// `f` of this number, where `value` is f's value and `rate` its derivative here.
    fn chained(self, value: f64, rate: f64) -> Self {
        Dual { value, slope: along(rate, self.slope) }
    }
}

/// `rate · slope`, where a function that has come to rest stays there: 0 times an infinite slope is 0.
fn along(rate: f64, slope: f64) -> f64 {
    if rate == 0.0 && !slope.is_nan() {
        0.0
    } else {
        rate * slope
    }
}

impl PartialEq for Dual {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl fmt::Display for Dual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {} ε", self.value, self.slope)
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Dual { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Dual { value: self.value - other.value, slope: self.slope - other.slope }
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let slope = along(other.value, self.slope) + along(self.value, other.slope);
        Dual { value: self.value * other.value, slope }
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        // A quotient by infinity is 0 and stays so: the gate of a very negative number is closed.
        let slope = if other.value.is_infinite() {
            0.0
        } else {
            (self.slope - along(value, other.slope)) / other.value
        };
        Dual { value, slope }
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Dual { value: -self.value, slope: -self.slope }
    }
}

impl AddAssign for Dual {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Float for Dual {
    const DTYPE: DType = DType::Float64;
    const ZERO: Self = Dual { value: 0.0, slope: 0.0 };
    const ONE: Self = Dual { value: 1.0, slope: 0.0 };
    const NEG_INFINITY: Self = Dual { value: f64::NEG_INFINITY, slope: 0.0 };

    fn from_f64(x: f64) -> Self {
        Dual::constant(x)
    }

    fn to_f64(self) -> f64 {
        self.value
    }

    fn bits(self) -> u64 {
        self.value.to_bits()
    }

    fn is_finite(self) -> bool {
        self.value.is_finite() && self.slope.is_finite()
    }

    fn sqrt(self) -> Self {
        let root = Float::sqrt(self.value);
        Dual { value: root, slope: self.slope / (2.0 * root) }
    }

    fn exp(self) -> Self {
        let value = Float::exp(self.value);
        self.chained(value, value)
    }

    fn ln(self) -> Self {
        self.chained(Float::ln(self.value), 1.0 / self.value)
    }

    fn ln_1p(self) -> Self {
        self.chained(Float::ln_1p(self.value), 1.0 / (1.0 + self.value))
    }

    fn tanh(self) -> Self {
        let value = Float::tanh(self.value);
        self.chained(value, (1.0 - value) * (1.0 + value))
    }

    fn erf(self) -> Self {
        let rate = core::f64::consts::FRAC_2_SQRT_PI * Float::exp(-self.value * self.value);
        self.chained(Float::erf(self.value), rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope of a function in its own direction.
    fn slope(f: impl Fn(Dual) -> Dual, value: f64) -> f64 {
        f(Dual { value, slope: 1.0 }).slope
    }

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-14 * want.abs().max(1.0), "{got} and not {want}");
    }

    #[test]
    fn every_function_has_its_derivative() {
        let x = 0.7;
        close(slope(Float::sqrt, x), 0.5 / libm::sqrt(x));
        close(slope(Float::exp, x), libm::exp(x));
        close(slope(Float::ln, x), 1.0 / x);
        close(slope(Float::ln_1p, x), 1.0 / (1.0 + x));
        close(slope(Float::tanh, x), 1.0 / (libm::cosh(x) * libm::cosh(x)));
        close(slope(Float::erf, x), core::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x));
    }

    #[test]
    fn sums_products_and_quotients_have_theirs() {
        let c = Dual::constant;
        close(slope(|x| x * x * x - c(2.0) * x, 3.0), 25.0);
        close(slope(|x| c(1.0) / x, 4.0), -0.0625);
        close(slope(|x| (x + c(1.0)) / (x * x), 2.0), -0.5);
        close(slope(|x| -x, 2.0), -1.0);
    }
}
