//! How much a block stretches what enters it.

use crate::config::{Bias, Config, FeedForward, Position};
use crate::error::Error;
use crate::mask::Masks;
use crate::math::singular_values;
use crate::memory::{reserved, zeroed};
use crate::model::{Given, Transformer};
use crate::num::{Dual, Float};
use crate::stage::{Input, Kind, Stage};
use alloc::{format, string::ToString, vec, vec::Vec};

impl<F: Float> Transformer<F> {
    /// The largest singular value of the Jacobian of the last token's row as it leaves a block by that row as it enters:
    /// how much longer the block can make a small change of the last token, in the direction that it stretches most.
    ///
    /// # Shapes
    /// The Jacobian is D,D; the rows before the last one stay as they are.
    ///
    /// # Numerics
    /// The Jacobian is exact but for rounding: the block is computed in float64 in numbers that carry their derivative
    /// (Wengert 1964), once for each of D directions; of a causal block only the last row again. The rows that enter it
    /// come from a pass of the model's own type. At a kink the derivative is the side's that the pass took: ReLU at 0 has
    /// slope 0, and a mixture's choice of experts does not change.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for a block that is none, [`Error::InvalidOption`] of an encoder-decoder, whose blocks
    /// read two streams; else as [`respond`](Self::respond), [`Error::NotFinite`] also for derivatives that overflow.
    ///
    /// ```
    /// # use glassformer::{config::Config, model::{Given, Transformer}};
    /// let config = Config::new(7);
    /// let model = Transformer::<f64>::new(&config, &mut config.init.stream(7))?;
    /// let gain = model.gain(Given::Tokens { target: &[0, 1, 2], source: &[] }, 0)?;
    /// assert!(gain > 1.0 && gain < 3.0);
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn gain(&self, given: Given<'_, F>, block: usize) -> Result<f64, Error> {
        let config = self.config();
        if config.encoder.is_some() {
            return Err(Error::InvalidOption {
                option: "model".into(),
                value: "an encoder-decoder".into(),
                reason: "the gain of a block is asked of models with one stream".to_string(),
                nearest: vec![],
            });
        }
        if block >= config.n_blocks {
            let (what, index) = ("block".to_string(), block as f64);
            return Err(Error::IndexOutOfRange { what, index, size: config.n_blocks });
        }
        let trace = self.respond(given, &Masks::default())?;
        let entering = trace.plan().source(Stage::new(Kind::Hidden, block), &Input::Stream);
        let entering = entering.expect("every block is entered by a stream");
        let width = config.n_model;
        let mut rows: Vec<Dual> = reserved("the rows", trace.rows() as f64 * width as f64)?;
        for t in 0..trace.rows() {
            rows.extend(trace.row(entering, t).iter().map(|x| Dual::constant(x.to_f64())));
        }
        let columns = last_columns(&block_alone(self, block)?, &mut rows)?;
        Ok(singular_values(&columns, width)[0])
    }
}

/// The Jacobian of the last row as it leaves a model of one block by that row as it enters, column by column.
fn last_columns(block: &Transformer<Dual>, rows: &mut [Dual]) -> Result<Vec<f64>, Error> {
    let width = block.config().n_model;
    let last = rows.len() - width;
    let base = block.respond(Given::Rows { target: rows, source: &[] }, &Masks::default())?;
    let mut columns = zeroed("the Jacobian", width as f64 * width as f64)?;
    for (d, column) in columns.chunks_exact_mut(width).enumerate() {
        rows[last + d].slope = 1.0;
        let moved = block.respond_to_rows_reusing(rows, &base)?;
        rows[last + d].slope = 0.0;
        for (cell, out) in column.iter_mut().zip(moved.row(Stage::new(Kind::Hidden, 0), moved.rows() - 1)) {
            *cell = out.slope;
        }
    }
    Ok(columns)
}

/// A model of one block of another, without what stands before and behind the blocks.
fn block_alone<F: Float>(model: &Transformer<F>, block: usize) -> Result<Transformer<Dual>, Error> {
    let (parameters, own) = (model.parameters(), format!("blocks.{block}."));
    let of_block = || {
        let mut place = 0;
        parameters.list().iter().filter_map(move |parameter| {
            let range = place..place + parameter.count();
            place = range.end;
            parameter.name().starts_with(&own).then_some(range)
        })
    };
    let ranges: Vec<_> = of_block().collect();
    let mut values: Vec<Dual> =
        reserved("the block's parameters", ranges.iter().map(|range| range.len() as f64).sum())?;
    for range in ranges {
        values.extend(parameters.block()[range].iter().map(|x| Dual::constant(x.to_f64())));
    }
    Transformer::of_block(&alone(model.config(), block), &values)
}

/// The configuration of a block as the first and only one: what depends on its place is written out.
fn alone(config: &Config, block: usize) -> Config {
    let mut feed_forward = config.feed_forward.clone();
    if let FeedForward::Experts(experts) = &mut feed_forward {
        if experts.noise != 0.0 {
            experts.noise_seed = experts.noise_seed.wrapping_add(block as u64);
        }
    }
    Config {
        n_vocab: 0,
        n_blocks: 1,
        final_norm: false,
        embedding_norm: false,
        embedding_scale: 1.0,
        tied_head: false,
        bias: Bias { head: false, ..config.bias },
        position: match &config.position {
            Position::Rotary(_) | Position::Alibi(_) => config.position.clone(),
            // Was added before the first block.
            Position::Sinusoidal | Position::Learned | Position::None => Position::None,
        },
        score_scale: match config.scale_by_layer {
            true => Some(config.score_scale() / (block as f64 + 1.0)),
            false => config.score_scale,
        },
        scale_by_layer: false,
        feed_forward,
        ..config.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Activation;

    #[test]
    fn a_value_is_the_one_of_f64_to_the_bit() {
        for f in Activation::ALL {
            for x in [-900.0, -3.3, -0.1, 0.0, 0.2, 5.0, 800.0] {
                assert_eq!(f.apply(Dual { value: x, slope: 1.0 }).value.to_bits(), f.apply(x).to_bits());
            }
        }
    }

    #[test]
    fn activations_rest_far_out_and_agree_with_differences_within() {
        for f in Activation::ALL {
            for x in [-2.5, -0.3, 0.4, 1.9] {
                let h = 1e-5;
                let difference = (f.apply(x + h) - f.apply(x - h)) / (2.0 * h);
                let got = f.apply(Dual { value: x, slope: 1.0 }).slope;
                assert!((got - difference).abs() < 1e-8, "{f:?} at {x}: {got} and not {difference}");
            }
            for x in [-1e30, -900.0, 900.0, 1e30] {
                let got = f.apply(Dual { value: x, slope: 1.0 }).slope;
                let rest = if f == Activation::Identity { 1.0 } else { libm::round(got) };
                assert_eq!(got, rest, "{f:?} at {x}");
            }
        }
    }
}
