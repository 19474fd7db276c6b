//! The norm that a configuration has chosen.

use super::Context;
use crate::config::Norm;
use crate::math::{layer_norm, rms_norm, Affine, Frozen};
use crate::num::Float;
use crate::params::Role;

impl<'a, F: Float> Context<'a, F> {
    /// Normalizes each row of `x` by the norm that has this gain and this bias, where it has them.
    pub(crate) fn normalize(&self, [gain, bias]: [Role; 2], x: &[F], out: &mut [F]) {
        let config = self.config;
        let affine = self.affine([gain, bias]);
        let (width, epsilon) = (config.n_model, F::from_f64(config.epsilon));
        match config.norm {
            Norm::Layer => layer_norm(x, width, epsilon, affine, out),
            Norm::Rms => rms_norm(x, width, epsilon, affine, out),
            // The plan has no stage that would be normalized.
            Norm::None => out.copy_from_slice(x),
        }
    }

    /// This gain and this bias, where the model has them.
    pub(crate) fn affine(&self, [gain, bias]: [Role; 2]) -> Affine<'a, F> {
        let (weights, offset) = (self.weights(), F::from_f64(self.config.gain_offset));
        Affine { gain: weights.vector(gain), offset, bias: weights.vector(bias) }
    }

    /// The norm with the scale of one row.
    pub(crate) fn frozen(&self, row: &[F]) -> Frozen<F> {
        let epsilon = F::from_f64(self.config.epsilon);
        match self.config.norm {
            Norm::Rms => Frozen::rms(row, epsilon),
            _ => Frozen::layer(row, epsilon),
        }
    }
}
