//! How far a row of scores is from what should have come.

use super::softmax::shifted_log_sum;
use crate::num::Float;

/// The cross-entropy of one row of logits and the class that came:
/// `(1 - smoothing) * -log p[label] + smoothing * mean over v of -log p[v]`, with `p = softmax(logits)`
/// (label smoothing: Szegedy et al. 2015, arXiv:1512.00567, section 7).
///
/// # Shapes
/// `logits` V; `label` below V.
///
/// # Numerics
/// From the logits, not from probabilities: `-log p[v] = log(sum over u of exp(x[u] - max x)) - (x[v] - max x)`, which
/// stays exact where p rounds to 0. A class of -infinity costs infinity. Without smoothing the other classes are not
/// looked at once more, so one of -infinity does no harm; with smoothing it makes the loss infinite, as in PyTorch. A row in
/// which every logit is -infinity has probabilities of 0, and costs infinity (PyTorch: NaN).
///
/// # Panics
/// When `label` is no class.
///
/// ```
/// # use glassformer::math::cross_entropy;
/// let loss: f64 = cross_entropy(&[0.0, 0.0], 1, 0.0); // two equal classes: one bit, ln 2
/// assert_eq!(loss, core::f64::consts::LN_2);
/// ```
pub fn cross_entropy<F: Float>(logits: &[F], label: usize, smoothing: F) -> F {
    assert!(label < logits.len());
    let Some((max, log_sum)) = shifted_log_sum(logits) else { return -F::NEG_INFINITY };
    let cost = |x: F| log_sum - (x - max);
    let own = cost(logits[label]);
    if smoothing == F::ZERO {
        return own;
    }
    let all = logits.iter().fold(F::ZERO, |sum, &x| sum + cost(x));
    (F::ONE - smoothing) * own + smoothing * (all / F::from_f64(logits.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_mixes_in_the_mean_of_all_classes() {
        let logits = [1.0f64, 2.0, 4.0];
        let each = [0, 1, 2].map(|label| cross_entropy(&logits, label, 0.0));
        let mean = each.iter().sum::<f64>() / 3.0;
        let smooth = cross_entropy(&logits, 2, 0.1);
        assert!((smooth - (0.9 * each[2] + 0.1 * mean)).abs() < 1e-15);
    }

    #[test]
    fn large_margins_cost_their_width_and_nothing_costs_nothing() {
        assert_eq!(cross_entropy(&[1000.0f64, -1000.0], 1, 0.0), 2000.0);
        let certain = cross_entropy(&[1000.0f64, -1000.0], 0, 0.0);
        assert_eq!(certain.to_bits(), 0);
        assert_eq!(cross_entropy(&[0.0, f64::NEG_INFINITY], 0, 0.0), 0.0);
    }

    #[test]
    fn what_is_impossible_costs_infinity() {
        assert_eq!(cross_entropy(&[0.0, f64::NEG_INFINITY], 1, 0.0), f64::INFINITY);
        assert_eq!(cross_entropy(&[0.0, f64::NEG_INFINITY], 0, 0.1), f64::INFINITY);
        assert_eq!(cross_entropy(&[f64::NEG_INFINITY; 2], 0, 0.0), f64::INFINITY);
        assert!(cross_entropy(&[0.0, f64::NAN], 0, 0.0).is_nan());
    }
}
