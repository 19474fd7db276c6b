//! What tells one position from another.

use crate::num::float::{cos, pow, sin};
use crate::num::Float;
use alloc::vec::Vec;

/// The sinusoidal position row (Vaswani et al. 2017, arXiv:1706.03762, section 3.5):
/// `out[2j] = sin(t / 10000^(2j/D))`, `out[2j+1] = cos(t / 10000^(2j/D))`.
///
/// # Shapes
/// `out` D, any D; with an odd D the last pair is its sine alone.
///
/// # Numerics
/// Computed in float64 as `sin(t * 10000^(-2j/D))` and rounded once to `F`.
///
/// ```
/// # use glassformer::math::sinusoid;
/// let mut out = [0.0; 4];
/// sinusoid(1, &mut out);
/// let rounded = out.map(|x: f64| (x * 1e4).round() / 1e4);
/// assert_eq!(rounded, [0.8415, 0.5403, 0.0100, 1.0000]);
/// ```
pub fn sinusoid<F: Float>(position: usize, out: &mut [F]) {
    let width = out.len() as f64;
    for (d, o) in out.iter_mut().enumerate() {
        let pair = (d - d % 2) as f64;
        let angle = position as f64 * pow(10000.0, -pair / width);
        *o = F::from_f64(if d % 2 == 0 { sin(angle) } else { cos(angle) });
    }
}

/// The same sines and cosines in another order, as the authors' own code (tensor2tensor) and fairseq have them: the first
/// half of the row sines, the second half cosines, of the same angles.
///
/// # Shapes
/// `out` D; with an odd D the sines are one more.
///
/// ```
/// # use glassformer::math::sinusoid_concatenated;
/// let mut out = [0.0; 4];
/// sinusoid_concatenated(1, &mut out);
/// let rounded = out.map(|x: f64| (x * 1e4).round() / 1e4);
/// assert_eq!(rounded, [0.8415, 0.0100, 0.5403, 1.0000]);
/// ```
pub fn sinusoid_concatenated<F: Float>(position: usize, out: &mut [F]) {
    let width = out.len();
    let sines = width.div_ceil(2);
    for (d, o) in out.iter_mut().enumerate() {
        let pair = 2 * (d % sines);
        let angle = position as f64 * pow(10000.0, -(pair as f64) / width as f64);
        *o = F::from_f64(if d < sines { sin(angle) } else { cos(angle) });
    }
}

/// ALiBi's slopes, one for each head: what a score loses for each position that its key is further back
/// (Press, Smith & Lewis 2021, arXiv:2108.12409): `score += slope * (s - t)`.
///
/// Where the number of heads H is a power of two, head h (from 0) has `2^(-8 (h+1) / H)`. Otherwise the slopes are those of
/// the next lower power of two n, then every other one (the first, the third ...) of 2n, until there are H: the rule of the
/// authors' code.
///
/// ```
/// # use glassformer::math::alibi_slopes;
/// assert_eq!(alibi_slopes(4), [0.25, 0.0625, 0.015625, 0.00390625]);
/// assert_eq!(alibi_slopes(3), [0.0625, 0.00390625, 0.25]);
/// ```
pub fn alibi_slopes(heads: usize) -> Vec<f64> {
    let Some(log) = heads.checked_ilog2() else { return Vec::new() };
    let power = 1usize << log;
    let slope = |i: usize, n: f64| pow(2.0, -8.0 * (i + 1) as f64 / n);
    let own = (0..power).map(|h| slope(h, power as f64));
    let between = (0..heads - power).map(|h| slope(2 * h, 2.0 * power as f64));
    own.chain(between).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_zero_is_sine_zero_and_cosine_one() {
        let mut out = [9.0f64; 5];
        sinusoid(0, &mut out);
        assert_eq!(out, [0.0, 1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn both_orders_hold_the_same_numbers() {
        let (mut adjacent, mut concatenated) = ([0.0f64; 6], [0.0f64; 6]);
        sinusoid(5, &mut adjacent);
        sinusoid_concatenated(5, &mut concatenated);
        for j in 0..3 {
            assert_eq!(adjacent[2 * j], concatenated[j]);
            assert_eq!(adjacent[2 * j + 1], concatenated[3 + j]);
        }
        let mut single = [0.0f64; 1];
        sinusoid_concatenated(2, &mut single);
        assert_eq!(single, [sin(2.0)]);
    }

    #[test]
    fn slopes_of_any_number_of_heads_fall_from_the_paper() {
        assert_eq!(alibi_slopes(0), []);
        assert_eq!(alibi_slopes(1), [0.00390625]);
        assert_eq!(alibi_slopes(8)[..3], [0.5, 0.25, 0.125]);
        let six = alibi_slopes(6);
        assert_eq!(six[..4], alibi_slopes(4));
        assert_eq!(six[4..], [0.5, 0.125]);
        for heads in 1..40 {
            let slopes = alibi_slopes(heads);
            assert_eq!(slopes.len(), heads);
            assert!(slopes.iter().all(|&slope| 0.0 < slope && slope < 1.0));
        }
    }

    #[test]
    fn a_slope_of_a_tenth_lowers_a_score_three_back_by_three_tenths() {
        let (slope, query, key) = (0.1f64, 5.0, 2.0);
        assert!((slope * (key - query) + 0.3).abs() < 1e-15);
    }
}
