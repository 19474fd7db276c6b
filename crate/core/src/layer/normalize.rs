//! The norm that a configuration has chosen.

use super::Context;
use crate::config::Norm;
use crate::math::{layer_norm, rms_norm, Affine};
use crate::num::Float;
use crate::params::Role;

impl<F: Float> Context<'_, F> {
    /// Normalizes each row of `x` by the norm that has this gain and this bias, where it has them.
    pub(crate) fn normalize(&self, [gain, bias]: [Role; 2], x: &[F], out: &mut [F]) {
        let (weights, config) = (self.weights(), self.config);
        let affine = Affine {
            gain: weights.vector(gain),
            offset: F::from_f64(config.gain_offset),
            bias: weights.vector(bias),
        };
        let (width, epsilon) = (config.n_model, F::from_f64(config.epsilon));
        match config.norm {
            Norm::Layer => layer_norm(x, width, epsilon, affine, out),
            Norm::Rms => rms_norm(x, width, epsilon, affine, out),
            // The plan has no stage that would be normalized.
            Norm::None => out.copy_from_slice(x),
        }
    }
}
