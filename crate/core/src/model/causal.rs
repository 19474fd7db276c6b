//! The decoder-only model.

use super::named::{answers_one_prompt, named_model};
use super::Transformer;
use crate::error::Error;
use crate::num::Float;
use crate::trace::{Changes, Trace};

/// A decoder that predicts each next token from the ones before it; with [`Mask::None`](crate::config::Mask::None), from
/// all.
///
/// ```
/// # use glassformer::{config::Config, model::CausalLanguageModel};
/// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
/// let (cat, dog) = (model.respond_to(&[0, 1, 2])?, model.respond_to(&[0, 1, 3])?);
/// let identical: Vec<bool> = cat.diff(&dog)?.rows.iter().map(|row| row.identical).collect();
/// assert_eq!(identical, [true, true, false]);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CausalLanguageModel<F>(Transformer<F>);

named_model!(CausalLanguageModel, has_encoder: false);
answers_one_prompt!(CausalLanguageModel);

impl<F: Float> CausalLanguageModel<F> {
    /// The trace of a prompt, computing only the rows behind the longest prefix that `earlier` has in common
    /// with it; the result is the same to the bit, and shares those rows.
    ///
    /// The last position is always computed. `earlier` must come from this model with its present parameters.
    ///
    /// # Errors
    /// As [`respond_to`](Self::respond_to), and [`Error::ShapeMismatch`] when `earlier` comes from a model of
    /// other stages.
    pub fn respond_to_reusing(&self, tokens: &[u32], earlier: &Trace<F>) -> Result<Trace<F>, Error> {
        self.0.respond_reusing(tokens, &[], Changes::default(), earlier)
    }
}
