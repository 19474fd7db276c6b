//! The decoder-only model.

use super::transformer::{Given, Transformer};
use crate::config::Config;
use crate::error::Error;
use crate::mask::Masks;
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::Parameters;
use crate::trace::{Plan, Start, Trace};
use alloc::sync::Arc;

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

impl<F: Float> CausalLanguageModel<F> {
    /// A model whose parameters are the next draws of a stream.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, [`Error::InvalidOption`] for an encoder, and [`Error::OutOfMemory`]; the
    /// stream is then as it was.
    pub fn new(config: &Config, stream: &mut RandomStream) -> Result<Self, Error> {
        super::refuse_encoder(config)?;
        Transformer::new(config, stream).map(CausalLanguageModel)
    }

    /// A model from a fresh stream of the kind that its `init` draws from.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_seed(config: &Config, seed: u64) -> Result<Self, Error> {
        Self::new(config, &mut config.init.stream(seed))
    }

    /// What was chosen.
    pub fn config(&self) -> &Config {
        self.0.config()
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters<F> {
        self.0.parameters()
    }

    /// The parameters, to be set. Traces that exist already keep their numbers.
    pub fn parameters_mut(&mut self) -> &mut Parameters<F> {
        self.0.parameters_mut()
    }

    /// The stages of a pass that starts from tokens or rows, in execution order.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for a memory, which this model does not have.
    pub fn plan(&self, start: Start) -> Result<&Arc<Plan>, Error> {
        self.0.plan(start)
    }

    /// The trace of a prompt.
    ///
    /// # Shapes
    /// T ids; every stage of the trace has T rows.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ContextExceeded`], [`Error::TokenOutOfRange`],
    /// [`Error::CapacityExceeded`], [`Error::OutOfMemory`]; [`Error::NotFinite`] when the numbers overflow on the way.
    pub fn respond_to(&self, tokens: &[u32]) -> Result<Trace<F>, Error> {
        self.respond_to_masked(tokens, &Masks::default())
    }

    /// The trace of a prompt with masks besides the model's own.
    ///
    /// # Errors
    /// As [`respond_to`](Self::respond_to), and for masks that do not fit.
    pub fn respond_to_masked(&self, tokens: &[u32], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Tokens { target: tokens, source: &[] }, masks)
    }

    /// The trace of a prompt, computing only the rows behind the longest prefix that `earlier` has in common
    /// with it; the result is the same to the bit, and shares those rows.
    ///
    /// The last position is always computed. `earlier` must come from this model with its present parameters.
    ///
    /// # Errors
    /// As [`respond_to`](Self::respond_to), and [`Error::ShapeMismatch`] when `earlier` comes from a model of
    /// other stages.
    pub fn respond_to_reusing(&self, tokens: &[u32], earlier: &Trace<F>) -> Result<Trace<F>, Error> {
        self.0.respond_reusing(tokens, &[], earlier)
    }

    /// The trace of a pass that starts at `positioned` with the caller's rows.
    ///
    /// # Shapes
    /// `rows` T,D, row-major.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ShapeMismatch`] when the number of values is no multiple of D,
    /// [`Error::ContextExceeded`], [`Error::NotFinite`], [`Error::OutOfMemory`].
    pub fn respond_to_rows(&self, rows: &[F]) -> Result<Trace<F>, Error> {
        self.respond_to_rows_masked(rows, &Masks::default())
    }

    /// As [`respond_to_rows`](Self::respond_to_rows), with masks besides the model's own.
    ///
    /// # Errors
    /// As there, and for masks that do not fit.
    pub fn respond_to_rows_masked(&self, rows: &[F], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Rows { target: rows, source: &[] }, masks)
    }
}
