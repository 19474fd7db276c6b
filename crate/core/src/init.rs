//! From a random stream to the parameters of a model.
//!
//! Draws of a model, in order, each matrix row by row: embedding, learned positions; per block query, key, value,
//! output, cross-attention's four, expand, gate, contract, or router and each expert's; head. An encoder's come before
//! its decoder's. Norm gains begin as 1 (less `gain_offset`), biases as 0, and draw nothing.

use crate::config::{Config, Init};
use crate::error::Error;
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::{check_finite, Layout, Parameter, Parameters, Role};

impl Init {
    /// A fresh stream of the kind that this recipe draws from.
    pub fn stream(self, seed: u64) -> RandomStream {
        match self {
            Init::Lesson | Init::Gpt2 => RandomStream::numpy(seed),
            Init::Rustlab => RandomStream::rand(seed),
        }
    }
}

/// Draws every parameter of a valid configuration.
///
/// - `lesson`: embedding and learned positions x 0.5, every other matrix x 1/sqrt(number of inputs).
/// - `rustlab`: attention x 1/sqrt(inputs), feed-forward x sqrt(2/inputs) (He et al. 2015, arXiv:1502.01852),
///   the rest as `lesson`. Its lesson multiplies everything on the right, so attention matrices too are drawn in,out.
/// - `gpt2`: every matrix x 0.02, output and contract also x 1/sqrt(2L) (Radford et al. 2019, section 2.3).
///
/// # Numerics
/// A draw is multiplied by the factor in float64 (lesson: by the reciprocal root; dividing rounds differently),
/// then by the branch scale where it applies, then rounded once to `F`.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn draw<F: Float>(config: &Config, stream: &mut RandomStream) -> Result<Parameters<F>, Error> {
    let mut parameters = Parameters::zeroed(config)?;
    let before = stream.clone();
    for index in 0..parameters.list().len() {
        let parameter = &parameters.list()[index];
        if parameter.layout() == Layout::Vector {
            if parameter.role.is_gain() {
                parameters.stored_mut(index).fill(F::from_f64(1.0 - config.gain_offset));
            }
            continue;
        }
        let [rows, columns] = parameter.sizes();
        let turned = parameter.layout() == Layout::OutIn && config.init != Init::Rustlab;
        let factor = factor(config, parameter);
        let branch = if parameter.role.is_branch_end() { config.branch_scale } else { 1.0 };
        let stored = parameters.stored_mut(index);
        for row in 0..rows {
            for column in 0..columns {
                let value = F::from_f64(stream.normal() * factor * branch);
                let place = if turned { column * rows + row } else { row * columns + column };
                stored[place] = value;
            }
        }
        if let Err(refusal) = check_finite("a drawn parameter, scaled,", stored) {
            *stream = before;
            return Err(refusal);
        }
    }
    Ok(parameters)
}

fn factor(config: &Config, parameter: &Parameter) -> f64 {
    let (role, inputs) = (parameter.role, parameter.inputs() as f64);
    let blocks = config.blocks_of(parameter.tower()) as f64;
    match (config.init, role) {
        (Init::Gpt2, _) if role.is_branch_end() => 0.02 * (1.0 / libm::sqrt(2.0 * blocks)),
        (Init::Gpt2, _) => 0.02,
        (_, Role::Embedding | Role::Position) => 0.5,
        (Init::Rustlab, _) if role.is_feed_forward() => libm::sqrt(2.0 / inputs),
        _ => 1.0 / libm::sqrt(inputs),
    }
}
