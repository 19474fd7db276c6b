//! The encoder-only model.

use super::transformer::{Given, Transformer};
use crate::config::{Config, Mask};
use crate::error::Error;
use crate::mask::Masks;
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::params::Parameters;
use crate::trace::{Plan, Start, Trace};
use alloc::sync::Arc;

/// A stack of blocks whose rows see each other in both directions (Devlin et al. 2018, arXiv:1810.04805), unless its
/// configuration says otherwise.
///
/// ```
/// # use glassformer::{config::Config, model::EncoderModel};
/// let model = EncoderModel::<f64>::from_seed(&EncoderModel::<f64>::config_of(&Config::new(7)), 7)?;
/// let weights = model.respond_to(&[0, 1, 2])?.get("blocks.0.attention.weights")?;
/// assert!(weights.at(&[0, 0, 2])? > 0.0);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncoderModel<F>(Transformer<F>);

impl<F: Float> EncoderModel<F> {
    /// A decoder's configuration without its causal mask.
    pub fn config_of(config: &Config) -> Config {
        Config { mask: Mask::None, ..config.clone() }
    }

    /// A model whose parameters are the next draws of a stream.
    ///
    /// # Errors
    /// What [`Config::validate`] refuses, [`Error::InvalidOption`] for a second encoder, and [`Error::OutOfMemory`]; the
    /// stream is then as it was.
    pub fn new(config: &Config, stream: &mut RandomStream) -> Result<Self, Error> {
        super::refuse_encoder(config)?;
        Transformer::new(config, stream).map(EncoderModel)
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

    /// The trace of a prompt of T ids.
    ///
    /// # Errors
    /// As [`Transformer::respond`].
    pub fn respond_to(&self, tokens: &[u32]) -> Result<Trace<F>, Error> {
        self.respond_to_masked(tokens, &Masks::default())
    }

    /// As [`respond_to`](Self::respond_to), with masks.
    ///
    /// # Errors
    /// As there, and for masks that do not fit.
    pub fn respond_to_masked(&self, tokens: &[u32], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Tokens { target: tokens, source: &[] }, masks)
    }

    /// The trace of a pass that starts at `positioned` with the caller's rows, T,D.
    ///
    /// # Errors
    /// As [`Transformer::respond`].
    pub fn respond_to_rows(&self, rows: &[F], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Rows { target: rows, source: &[] }, masks)
    }
}
