//! From scores to weights that sum to 1.

use crate::num::Float;

/// Softmax of one row: `out[s] = exp(x[s] - max x) / sum over r of exp(x[r] - max x)`.
///
/// # Numerics
/// Subtracting the largest score changes nothing but keeps `exp` from overflowing. A score of -infinity gives
/// a weight of exactly 0; a row in which every score is -infinity gives all zeros (PyTorch gives NaN). The sum
/// takes its terms in order, so zeros behind the last visible score do not change a bit.
///
/// # Panics
/// When the lengths differ.
///
/// ```
/// # use glassformer::math::softmax;
/// let mut out = [0.0; 3];
/// softmax(&[1.0, 1.0, f64::NEG_INFINITY], &mut out);
/// assert_eq!(out, [0.5, 0.5, 0.0]);
/// ```
pub fn softmax<F: Float>(x: &[F], out: &mut [F]) {
    assert_eq!(x.len(), out.len());
    let max = x.iter().fold(F::NEG_INFINITY, |max, &x| if x > max { x } else { max });
    if max == F::NEG_INFINITY && x.iter().all(|&x| x == F::NEG_INFINITY) {
        out.fill(F::ZERO);
        return;
    }
    let mut sum = F::ZERO;
    for (o, &x) in out.iter_mut().zip(x) {
        *o = (x - max).exp();
        sum += *o;
    }
    for o in out.iter_mut() {
        *o = *o / sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_of_a_fully_masked_row_is_zero() {
        let mut out = [1.0; 2];
        softmax(&[f64::NEG_INFINITY; 2], &mut out);
        assert_eq!(out, [0.0; 2]);
    }

    #[test]
    fn large_scores_do_not_leak_past_the_mask() {
        let mut out = [0.0; 3];
        softmax(&[-1e9, -1e9 - 1.0, f64::NEG_INFINITY], &mut out);
        assert_eq!(out[2].to_bits(), 0);
        assert!((out[0] - 0.7310585786300049f64).abs() < 1e-15);
    }

    #[test]
    fn a_score_that_is_not_a_number_stays_visible() {
        let mut out = [0.0; 2];
        softmax(&[f64::NAN, f64::NEG_INFINITY], &mut out);
        assert!(out[0].is_nan());
    }
}
