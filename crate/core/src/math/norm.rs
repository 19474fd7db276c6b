//! Normalization of a row.

use crate::num::Float;

/// What a normalized row is multiplied by and what is added: `out = normalized * (offset + gain) + bias`.
///
/// Nothing is multiplied where there is no gain and the offset is 0, and nothing is added where there is no bias, so that
/// the plain norm keeps its bits. Without a gain, an offset that is not 0 is the factor alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Affine<'a, F> {
    /// One factor for each coordinate.
    pub gain: Option<&'a [F]>,
    /// Added to every gain: 0, or Gemma's 1.
    pub offset: F,
    /// One summand for each coordinate.
    pub bias: Option<&'a [F]>,
}

impl<F: Float> Affine<'_, F> {
    fn check(&self, width: usize) {
        assert!([self.gain, self.bias].into_iter().flatten().all(|values| values.len() == width));
    }

    /// Gains and bias of a row that was normalized.
    pub(crate) fn apply(&self, row: &mut [F]) {
        self.gained(row);
        if let Some(bias) = self.bias {
            zip(row, bias, |x, bias| x + bias);
        }
    }

    /// Gains alone.
    pub(crate) fn gained(&self, row: &mut [F]) {
        let offset = self.offset;
        match self.gain {
            // Not `0 + gain`, which would lose the sign of a -0.
            Some(gain) if offset == F::ZERO => zip(row, gain, |x, gain| x * gain),
            Some(gain) => zip(row, gain, |x, gain| x * (offset + gain)),
            None if offset != F::ZERO => row.iter_mut().for_each(|x| *x = *x * offset),
            None => {}
        }
    }
}

/// A norm whose scale is that of one row, to be applied to parts of that row: it is then linear, so that what it makes of
/// the parts sums to what it makes of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frozen<F> {
    is_centred: bool,
    root: F,
}

impl<F: Float> Frozen<F> {
    /// LayerNorm, with the root of this row's variance.
    pub fn layer(row: &[F], epsilon: F) -> Self {
        let d = F::from_f64(row.len() as f64);
        let mean = sum(row.iter().copied()) / d;
        let variance = sum(row.iter().map(|&x| (x - mean) * (x - mean))) / d;
        Frozen { is_centred: true, root: finite_root(variance + epsilon) }
    }

    /// RMSNorm, with the root of this row's mean square.
    pub fn rms(row: &[F], epsilon: F) -> Self {
        let d = F::from_f64(row.len() as f64);
        Frozen { is_centred: false, root: finite_root(sum(row.iter().map(|&x| x * x)) / d + epsilon) }
    }

    /// `out = (x − mean x) / root` of LayerNorm, `x / root` of RMSNorm.
    ///
    /// # Panics
    /// When the lengths differ.
    ///
    /// ```
    /// # use glassformer::math::Frozen;
    /// let norm = Frozen::layer(&[2.0f64, 4.0], 0.0); // root 1
    /// let mut out = [0.0; 2];
    /// norm.apply(&[1.0, 0.0], &mut out);
    /// assert_eq!(out, [0.5, -0.5]);
    /// ```
    pub fn apply(&self, x: &[F], out: &mut [F]) {
        assert_eq!(x.len(), out.len());
        let d = F::from_f64(x.len() as f64);
        let mean = if self.is_centred { sum(x.iter().copied()) / d } else { F::ZERO };
        for (o, &x) in out.iter_mut().zip(x) {
            *o = (x - mean) / self.root;
        }
    }
}

/// LayerNorm of each row: `out = (x - mean) / sqrt(variance + epsilon) * (offset + gain) + bias`
/// (Ba, Kiros & Hinton 2016, arXiv:1607.06450).
///
/// # Shapes
/// `x` and `out` T,D, row-major; `width` is D; gain and bias, where there are any, D.
///
/// # Numerics
/// The variance is the population's (divided by D), from the deviations, after the mean. Sums go in the order
/// of the coordinates. Epsilon stands inside the root. A row whose variance or root overflows has no normalization: its
/// cells are NaN (dividing by infinity would make plausible zeros). With an epsilon of 0 a row without variance is
/// 0/0: NaN. The quotient is a division, not a product with a reciprocal: PyTorch multiplies by the reciprocal root,
/// which may differ in the last bit.
///
/// # Panics
/// When the lengths differ or are no multiple of `width`, or gain or bias is not of length `width`.
///
/// ```
/// # use glassformer::math::{layer_norm, Affine};
/// let mut out = [0.0; 2];
/// layer_norm(&[2.0, 4.0], 2, 0.0, Affine::default(), &mut out); // mean 3, variance 1
/// assert_eq!(out, [-1.0, 1.0]);
/// ```
pub fn layer_norm<F: Float>(x: &[F], width: usize, epsilon: F, affine: Affine<'_, F>, out: &mut [F]) {
    assert_eq!(x.len(), out.len());
    assert_eq!(x.len() % width, 0);
    affine.check(width);
    let d = F::from_f64(width as f64);
    for (x_row, out_row) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let mean = sum(x_row.iter().copied()) / d;
        let variance = sum(x_row.iter().map(|&x| (x - mean) * (x - mean))) / d;
        let root = finite_root(variance + epsilon);
        for (o, &x) in out_row.iter_mut().zip(x_row) {
            *o = (x - mean) / root;
        }
        affine.apply(out_row);
    }
}

/// RMSNorm of each row: `out = x / sqrt(mean of x² + epsilon) * (offset + gain) + bias`
/// (Zhang & Sennrich 2019, arXiv:1910.07467). LayerNorm without its mean: a row keeps its direction.
///
/// # Shapes
/// As in [`layer_norm`].
///
/// # Numerics
/// The mean of squares is a sum in the order of the coordinates, divided by D; epsilon stands inside the root. A row
/// whose mean square overflows has no normalization: its cells are NaN. With an epsilon of 0 a row of zeros is 0/0: NaN.
///
/// # Panics
/// As [`layer_norm`] does.
///
/// ```
/// # use glassformer::math::{rms_norm, Affine};
/// let mut out = [0.0; 2];
/// rms_norm(&[3.0, 4.0], 2, 0.0, Affine::default(), &mut out); // mean square 12.5
/// assert_eq!(out.map(|x: f64| (x * 1e6).round() / 1e6), [0.848528, 1.131371]);
/// ```
pub fn rms_norm<F: Float>(x: &[F], width: usize, epsilon: F, affine: Affine<'_, F>, out: &mut [F]) {
    assert_eq!(x.len(), out.len());
    assert_eq!(x.len() % width, 0);
    affine.check(width);
    let d = F::from_f64(width as f64);
    for (x_row, out_row) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        let root = finite_root(sum(x_row.iter().map(|&x| x * x)) / d + epsilon);
        for (o, &x) in out_row.iter_mut().zip(x_row) {
            *o = x / root;
        }
        affine.apply(out_row);
    }
}

/// The square root, or NaN where it is infinite.
fn finite_root<F: Float>(x: F) -> F {
    let root = x.sqrt();
    if root.is_finite() {
        root
    } else {
        F::from_f64(f64::NAN)
    }
}

fn zip<F: Float>(row: &mut [F], values: &[F], f: impl Fn(F, F) -> F) {
    for (x, &value) in row.iter_mut().zip(values) {
        *x = f(*x, value);
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
        layer_norm(&x, 2, 1e-5, Affine::default(), &mut wide);
        layer_norm(&x, 2, 1e-6, Affine::default(), &mut narrow);
        // deviation 5e-4: 5e-4 / sqrt(2.5e-7 + epsilon)
        assert!((wide[1] - 0.156173762).abs() < 1e-9, "{}", wide[1]);
        assert!((narrow[1] - 0.447213595).abs() < 1e-9, "{}", narrow[1]);
    }

    #[test]
    fn a_row_whose_variance_overflows_is_not_a_number() {
        let mut out = [0.0; 2];
        layer_norm(&[1e200, -1e200], 2, 1e-5, Affine::default(), &mut out);
        assert!(out.iter().all(|x: &f64| x.is_nan()));
    }

    #[test]
    fn two_rows_of_one_shape_normalize_alike() {
        let mut out = [0.0; 4];
        layer_norm(&[2.0, 4.0, 1.0, 3.0], 2, 1e-5, Affine::default(), &mut out);
        for (got, want) in out.iter().zip([-1.0f64, 1.0, -1.0, 1.0]) {
            assert!((got - want).abs() < 1e-5);
        }
    }

    #[test]
    fn a_root_mean_square_of_one_is_left() {
        let mut out = [0.0f64; 4];
        rms_norm(&[3.0, 4.0, -3.0, -4.0], 2, 0.0, Affine::default(), &mut out);
        let want = [0.848528, 1.131371, -0.848528, -1.131371];
        assert!(out.iter().zip(want).all(|(got, want)| (got - want).abs() < 5e-7), "{out:?}");
        rms_norm(&[1e200, 1.0, 0.0, 0.0], 2, 1e-5, Affine::default(), &mut out);
        assert!(out[0].is_nan() && out[1].is_nan());
        assert_eq!(out[2..], [0.0, 0.0]);
    }

    #[test]
    fn gain_offset_and_bias_come_after_the_norm() {
        let (gain, bias) = ([2.0f64, 3.0], [10.0, 20.0]);
        let mut out = [0.0; 2];
        let affine = Affine { gain: Some(&gain), offset: 0.0, bias: Some(&bias) };
        layer_norm(&[2.0, 4.0], 2, 0.0, affine, &mut out);
        assert_eq!(out, [8.0, 23.0]);
        layer_norm(&[2.0, 4.0], 2, 0.0, Affine { offset: 1.0, ..affine }, &mut out);
        assert_eq!(out, [7.0, 24.0]);
        layer_norm(&[2.0, 4.0], 2, 0.0, Affine { offset: 2.0, ..Affine::default() }, &mut out);
        assert_eq!(out, [-2.0, 2.0]);
    }

    #[test]
    fn a_gain_of_one_and_a_bias_of_zero_change_nothing() {
        let x = [0.3f64, -1.7, 2.9];
        let (mut plain, mut affine) = ([0.0; 3], [0.0; 3]);
        for norm in [layer_norm, rms_norm] {
            norm(&x, 3, 1e-5, Affine::default(), &mut plain);
            norm(
                &x,
                3,
                1e-5,
                Affine { gain: Some(&[1.0; 3]), offset: 0.0, bias: Some(&[0.0; 3]) },
                &mut affine,
            );
            assert_eq!(plain, affine);
        }
    }
}
