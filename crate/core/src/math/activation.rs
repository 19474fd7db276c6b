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
    /// The logistic function `σ(x) = 1 / (1 + exp(-x))` (Verhulst 1845; as a unit: Rumelhart, Hinton & Williams 1986).
    Sigmoid,
    /// The hyperbolic tangent (LeCun et al. 1998, "Efficient BackProp").
    Tanh,
    /// `ln(1 + exp x)`, whose derivative is the logistic function (Dugas et al. 2001).
    Softplus,
    /// `x σ(1.702 x)`, the approximation of GELU with the logistic function (Hendrycks & Gimpel 2016,
    /// arXiv:1606.08415, section 2); CLIP's.
    QuickGelu,
    /// The tanh form of GELU with its constant cut to 0.79788456, as Megatron-LM and BLOOM have it (BigScience 2022,
    /// arXiv:2211.05100).
    GeluBloom,
}

impl Activation {
    /// Every activation, in the order the documentation lists them.
    pub const ALL: [Activation; 10] = [
        Activation::Relu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Silu,
        Activation::Identity,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Softplus,
        Activation::QuickGelu,
        Activation::GeluBloom,
    ];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Activation::Relu => "relu",
            Activation::Gelu => "gelu",
            Activation::GeluTanh => "gelu_tanh",
            Activation::Silu => "silu",
            Activation::Identity => "identity",
            Activation::Sigmoid => "sigmoid",
            Activation::Tanh => "tanh",
            Activation::Softplus => "softplus",
            Activation::QuickGelu => "quick_gelu",
            Activation::GeluBloom => "gelu_bloom",
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
            Activation::Sigmoid => "1 / (1 + exp(−u))",
            Activation::Tanh => "tanh(u)",
            Activation::Softplus => "ln(1 + exp(u))",
            Activation::QuickGelu => "u / (1 + exp(−1.702 u))",
            Activation::GeluBloom => "u · (1 + tanh(0.79788456 · u · (1 + 0.044715 u²))) / 2",
        }
    }

    /// The function's value at `x`.
    ///
    /// # Numerics
    /// `exp(-x)` never overflows into NaN: SiLU of a very negative number is -0 through a division by infinity. Softplus
    /// is computed as `max(x, 0) + ln(1 + exp(-|x|))`, which neither overflows nor rounds to `x` early (PyTorch returns `x`
    /// above 20, up to 2e-9 off). The exact GELU loses its digits below about -6, where it is as good as 0.
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
            Activation::Sigmoid => F::ONE / (F::ONE + (-x).exp()),
            Activation::Tanh => x.tanh(),
            Activation::Softplus if x > F::ZERO => x + (-x).exp().ln_1p(),
            Activation::Softplus => x.exp().ln_1p(),
            Activation::QuickGelu => x / (F::ONE + (x * c(-1.702)).exp()),
            Activation::GeluBloom => {
                let inner = c(0.79788456) * x * (F::ONE + c(0.044715) * x * x);
                x * c(0.5) * (F::ONE + inner.tanh())
            }
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
    fn gelus_differ_in_their_late_digits() {
        assert_eq!(rounded(Activation::QuickGelu, 1.0), 0.845796);
        assert_eq!(rounded(Activation::GeluBloom, 1.0), rounded(Activation::GeluTanh, 1.0));
        assert_ne!(Activation::GeluBloom.apply(1.0f64), Activation::GeluTanh.apply(1.0f64));
    }

    #[test]
    fn softplus_keeps_its_digits_on_both_sides() {
        let softplus = |x: f64| Activation::Softplus.apply(x);
        assert_eq!(softplus(0.0), core::f64::consts::LN_2);
        assert!((softplus(25.0) - 25.0 - 1.3887943864771144e-11).abs() < 1e-14);
        assert!((softplus(-50.0) / 1.9287498479639178e-22 - 1.0).abs() < 1e-15);
        assert_eq!(softplus(800.0), 800.0);
    }

    #[test]
    fn the_sigmoid_is_a_half_at_zero_and_swish_is_its_product() {
        for x in [-3.0f64, -0.5, 0.0, 1.0, 7.0] {
            let difference = Activation::Silu.apply(x) - x * Activation::Sigmoid.apply(x);
            assert!(difference.abs() < 1e-15);
        }
        assert_eq!(Activation::Sigmoid.apply(0.0f64), 0.5);
        assert_eq!(rounded(Activation::Tanh, 1.0), 0.761594);
    }

    #[test]
    fn units_that_gate_one_and_zero() {
        // GLU of a = 2, b = 0 is a σ(b); SwiGLU a SiLU(b).
        assert_eq!(2.0 * Activation::Sigmoid.apply(0.0f64), 1.0);
        assert_eq!(2.0 * Activation::Silu.apply(0.0f64), 0.0);
    }

    #[test]
    fn names_and_formulas_are_told_apart() {
        for (i, a) in Activation::ALL.into_iter().enumerate() {
            for b in &Activation::ALL[..i] {
                assert!(a.name() != b.name() && a.formula() != b.formula(), "{a:?} and {b:?}");
            }
        }
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
