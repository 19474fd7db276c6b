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
    let Some(max) = largest(x) else { return out.fill(F::ZERO) };
    let mut sum = F::ZERO;
    for (o, &x) in out.iter_mut().zip(x) {
        *o = (x - max).exp();
        sum += *o;
    }
    for o in out.iter_mut() {
        *o = *o / sum;
    }
}

/// The logarithm of the softmax of one row: `out[s] = x[s] - max x - log(sum over r of exp(x[r] - max x))`.
///
/// # Numerics
/// Exact where the softmax itself rounds to 0 or 1. A score of -infinity gives -infinity, and a row in which every score
/// is gives -infinity everywhere (PyTorch gives NaN).
///
/// # Panics
/// When the lengths differ.
///
/// ```
/// # use glassformer::math::log_softmax;
/// let mut out = [0.0; 2];
/// log_softmax(&[1000.0, 0.0], &mut out);
/// assert_eq!(out, [0.0, -1000.0]);
/// ```
pub fn log_softmax<F: Float>(x: &[F], out: &mut [F]) {
    assert_eq!(x.len(), out.len());
    let Some((max, log_sum)) = shifted_log_sum(x) else { return out.fill(F::NEG_INFINITY) };
    for (o, &x) in out.iter_mut().zip(x) {
        *o = x - max - log_sum;
    }
}

/// `log(sum over s of exp(x[s]))` of one row.
///
/// # Numerics
/// The largest score is taken out first, so that nothing overflows. Of a row of -infinity, or an empty one, it is
/// -infinity; of a row with +infinity, +infinity.
///
/// ```
/// # use glassformer::math::log_sum_exp;
/// assert_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + core::f64::consts::LN_2);
/// ```
pub fn log_sum_exp<F: Float>(x: &[F]) -> F {
    match largest(x) {
        None => F::NEG_INFINITY,
        // An infinite score has no difference from itself: its sum is infinite, or NaN where another score is.
        Some(max) if !max.is_finite() => x.iter().fold(F::ZERO, |sum, &x| sum + x.exp()).ln(),
        Some(max) => max + x.iter().fold(F::ZERO, |sum, &x| sum + (x - max).exp()).ln(),
    }
}

/// The largest score, and the logarithm of the sum of `exp(x[s] - that)`; none where every score is -infinity.
pub(super) fn shifted_log_sum<F: Float>(x: &[F]) -> Option<(F, F)> {
    let max = largest(x)?;
    Some((max, x.iter().fold(F::ZERO, |sum, &x| sum + (x - max).exp()).ln()))
}

/// The largest of the scores that are numbers; none where every score is -infinity.
fn largest<F: Float>(x: &[F]) -> Option<F> {
    let max = x.iter().fold(F::NEG_INFINITY, |max, &x| if x > max { x } else { max });
    let hidden = max == F::NEG_INFINITY && x.iter().all(|&x| x == F::NEG_INFINITY);
    (!hidden).then_some(max)
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

    #[test]
    fn the_logarithm_of_a_hidden_row_is_minus_infinity() {
        let mut out = [1.0; 2];
        log_softmax(&[f64::NEG_INFINITY; 2], &mut out);
        assert_eq!(out, [f64::NEG_INFINITY; 2]);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
        assert_eq!(log_sum_exp::<f64>(&[]), f64::NEG_INFINITY);
    }

    #[test]
    fn logarithms_keep_what_the_softmax_rounds_away() {
        let mut out = [0.0f64; 3];
        log_softmax(&[-1e308, -1e308, f64::NEG_INFINITY], &mut out);
        assert_eq!(out, [-core::f64::consts::LN_2, -core::f64::consts::LN_2, f64::NEG_INFINITY]);
        assert_eq!(log_sum_exp(&[745.0, 0.0]), 745.0);
    }

    #[test]
    fn infinite_and_undefined_scores_are_told_apart() {
        assert_eq!(log_sum_exp(&[f64::INFINITY, 0.0]), f64::INFINITY);
        assert!(log_sum_exp(&[f64::INFINITY, f64::NAN]).is_nan());
        assert!(log_sum_exp(&[f64::NEG_INFINITY, f64::NAN]).is_nan());
    }
}
