//! The functions between the two matrices of a feed-forward branch.

use crate::num::Float;

/// An element-wise nonlinearity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)` (Fukushima 1969; Nair & Hinton 2010).
    Relu,
    /// `x Φ(x)` with the normal distribution function Φ, exact (Hendrycks & Gimpel 2016, arXiv:1606.08415).
    Gelu,
    /// The same paper's approximation with a hyperbolic tangent; GPT-2's, and not equal to the exact one.
    GeluTanh,
    /// `x σ(x)` with the logistic function σ, also called swish (Elfwing et al. 2017, arXiv:1702.03118).
    Silu,
    /// `x`.
    Identity,
}

impl Activation {
    /// Every activation, in the order the documentation lists them.
    pub const ALL: [Activation; 5] =
        [Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu, Activation::Identity];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Relu => "relu",
            Activation::Gelu => "gelu",
            Activation::GeluTanh => "gelu_tanh",
            Activation::Silu => "silu",
            Activation::Identity => "identity",
        }
    }

    /// The function's formula, of `u` (the cell before the activation).
    pub fn formula(self) -> &'static str {
        match self {
            Activation::Relu => "max(u, 0)",
            Activation::Gelu => "u · (1 + erf(u/√2)) / 2",
            Activation::GeluTanh => "u · (1 + tanh(√(2/π) · (u + 0.044715 u³))) / 2",
            Activation::Silu => "u / (1 + exp(−u))",
            Activation::Identity => "u",
        }
    }

    /// The function's value at `x`.
    ///
    /// # Numerics
    /// `-x` never overflows into NaN: SiLU of a very negative number is -0 through a division by infinity.
    ///
    /// ```
    /// # use glassformer::math::Activation;
    /// let at = |f: Activation, x: f64| (f.apply(x) * 1e6).round() / 1e6;
    /// assert_eq!(at(Activation::Gelu, -1.0), -0.158655);
    /// assert_eq!(at(Activation::GeluTanh, -1.0), -0.158808);
    /// assert_eq!(at(Activation::Silu, 1.0), 0.731059);
    /// ```
    #[inline]
    pub fn apply<F: Float>(self, x: F) -> F {
        let c = F::from_f64;
        match self {
            // `max` would leave the sign of -0 open; a comparison does not.
            Activation::Relu => {
                if x > F::ZERO {
                    x
                } else {
                    F::ZERO
                }
            }
            Activation::Gelu => x * (F::ONE + (x * c(core::f64::consts::FRAC_1_SQRT_2)).erf()) * c(0.5),
            Activation::GeluTanh => {
                // sqrt(2/pi), which the standard library has only as a quotient.
                let inner = c(0.797_884_560_802_865_4) * (x + c(0.044715) * x * x * x);
                x * (F::ONE + inner.tanh()) * c(0.5)
            }
            Activation::Silu => x / (F::ONE + (-x).exp()),
            Activation::Identity => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(f: Activation, x: f64) -> f64 {
        libm::round(f.apply(x) * 1e6) / 1e6
    }

    #[test]
    fn exact_and_tanh_gelu_are_told_apart() {
        assert_eq!(rounded(Activation::Gelu, 1.0), 0.841345);
        assert_eq!(rounded(Activation::Gelu, -1.0), -0.158655);
        assert_eq!(rounded(Activation::GeluTanh, 1.0), 0.841192);
        assert_eq!(rounded(Activation::GeluTanh, -1.0), -0.158808);
    }

    #[test]
    fn extreme_inputs_stay_numbers() {
        for f in Activation::ALL {
            for x in [-1e30, -800.0, 0.0, 800.0, 1e30] {
                let y = f.apply(x);
                // The cube inside the tanh form overflows to infinity there, whose tanh is 1.
                assert!(y.is_finite(), "{f:?}({x}) = {y}");
            }
        }
    }

    #[test]
    fn relu_gives_plain_zero_for_negative_zero() {
        assert_eq!(Activation::Relu.apply(-0.0f64).to_bits(), 0);
    }
}
