//! What tells one position from another.

use crate::num::float::{cos, pow, sin};
use crate::num::Float;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_zero_is_sine_zero_and_cosine_one() {
        let mut out = [9.0f64; 5];
        sinusoid(0, &mut out);
        assert_eq!(out, [0.0, 1.0, 0.0, 1.0, 0.0]);
    }
}
