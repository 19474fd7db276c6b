//! Normalization of a row.

use crate::num::Float;

/// LayerNorm of each row, without gain and bias: `out = (x - mean) / sqrt(variance + epsilon)`
/// (Ba, Kiros & Hinton 2016, arXiv:1607.06450).
///
/// # Shapes
/// `x` and `out` T,D, row-major; `width` is D.
///
/// # Numerics
/// The variance is the population's (divided by D), from the deviations, after the mean. Sums go in the order
/// of the coordinates. Epsilon stands inside the root. A row whose variance or root overflows has no normalization: its
/// cells are NaN (dividing by infinity would make plausible zeros). The quotient is a division, not a product with a
/// reciprocal: PyTorch multiplies by the reciprocal root, which may differ in the last bit.
///
/// # Panics
/// When the lengths differ or are no multiple of `width`.
///
/// ```
/// # use glassformer::math::layer_norm;
/// let mut out = [0.0; 2];
/// layer_norm(&[2.0, 4.0], 2, 0.0, &mut out); // mean 3, variance 1
/// assert_eq!(out, [-1.0, 1.0]);
/// ```
pub fn layer_norm<F: Float>(x: &[F], width: usize, epsilon: F, out: &mut [F]) {
    assert_eq!(x.len(), out.len());
    assert_eq!(x.len() % width, 0);
    let d = F::from_f64(width as f64);
    for (x_row, out_row) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let mean = sum(x_row.iter().copied()) / d;
        let variance = sum(x_row.iter().map(|&x| (x - mean) * (x - mean))) / d;
        let root = (variance + epsilon).sqrt();
        let root = if root.is_finite() { root } else { F::from_f64(f64::NAN) };
        for (o, &x) in out_row.iter_mut().zip(x_row) {
            *o = (x - mean) / root;
        }
    }
}

fn sum<F: Float>(terms: impl Iterator<Item = F>) -> F {
    terms.fold(F::ZERO, |sum, term| sum + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_shows_in_a_row_of_tiny_variance() {
        let x = [0.0f64, 1e-3];
        let (mut wide, mut narrow) = ([0.0; 2], [0.0; 2]);
        layer_norm(&x, 2, 1e-5, &mut wide);
        layer_norm(&x, 2, 1e-6, &mut narrow);
        // deviation 5e-4: 5e-4 / sqrt(2.5e-7 + epsilon)
        assert!((wide[1] - 0.156173762).abs() < 1e-9, "{}", wide[1]);
        assert!((narrow[1] - 0.447213595).abs() < 1e-9, "{}", narrow[1]);
    }

    #[test]
    fn a_row_whose_variance_overflows_is_not_a_number() {
        let mut out = [0.0; 2];
        layer_norm(&[1e200, -1e200], 2, 1e-5, &mut out);
        assert!(out.iter().all(|x: &f64| x.is_nan()));
    }

    #[test]
    fn two_rows_of_one_shape_normalize_alike() {
        let mut out = [0.0; 4];
        layer_norm(&[2.0, 4.0, 1.0, 3.0], 2, 1e-5, &mut out);
        for (got, want) in out.iter().zip([-1.0f64, 1.0, -1.0, 1.0]) {
            assert!((got - want).abs() < 1e-5);
        }
    }
}
