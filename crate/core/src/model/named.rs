//! What the named models have in common: each is a [`Transformer`](super::Transformer) of a configuration that fits its
//! name.

use crate::config::Config;
use crate::error::Error;
use alloc::{string::ToString, vec};

/// Whether a configuration has an encoder beside its blocks, as a model's name says.
pub(super) fn check_encoder(config: &Config, wanted: bool) -> Result<(), Error> {
    let (value, reason) = match (&config.encoder, wanted) {
        (None, true) => ("undefined".to_string(), "an encoder-decoder needs an encoder"),
        (Some(encoder), false) => {
            (encoder.n_blocks.to_string(), "only an encoder-decoder has an encoder beside its blocks")
        }
        _ => return Ok(()),
    };
    let reason = reason.to_string();
    Err(Error::InvalidOption { option: "nEncoderBlocks".to_string(), value, reason, nearest: vec![] })
}

/// Makes a named model of a `Transformer`: how it is made, and its parts.
macro_rules! named_model {
    ($model:ident, has_encoder: $has_encoder:literal) => {
        impl<F: crate::num::Float> $model<F> {
            /// A model whose parameters are the next draws of a stream.
            ///
            /// # Errors
            /// What [`Config::validate`](crate::config::Config::validate) refuses,
            /// [`Error::InvalidOption`](crate::error::Error::InvalidOption) for an encoder that does not belong to it or is
            /// missing, and [`Error::OutOfMemory`](crate::error::Error::OutOfMemory); the stream is then as it was.
            pub fn new(
                config: &crate::config::Config,
                stream: &mut crate::num::random::RandomStream,
            ) -> Result<Self, crate::error::Error> {
                super::named::check_encoder(config, $has_encoder)?;
                super::Transformer::new(config, stream).map($model)
            }

            /// A model from a fresh stream of the kind that its `init` draws from.
            ///
            /// # Errors
            /// As [`new`](Self::new).
            pub fn from_seed(config: &crate::config::Config, seed: u64) -> Result<Self, crate::error::Error> {
                Self::new(config, &mut config.init.stream(seed))
            }

            /// What was chosen.
            pub fn config(&self) -> &crate::config::Config {
                self.0.config()
            }

            /// The parameters.
            pub fn parameters(&self) -> &crate::params::Parameters<F> {
                self.0.parameters()
            }

            /// The model as one of any configuration, which can be asked more.
            pub fn transformer(&self) -> &super::Transformer<F> {
                &self.0
            }

            /// The parameters, to be set. Traces that exist already keep their numbers.
            pub fn parameters_mut(&mut self) -> &mut crate::params::Parameters<F> {
                self.0.parameters_mut()
            }

            /// The stages of a pass, in execution order.
            ///
            /// # Errors
            /// [`Error::InvalidOption`](crate::error::Error::InvalidOption) for a memory that the model does not have.
            pub fn plan(
                &self,
                start: crate::trace::Start,
            ) -> Result<&alloc::sync::Arc<crate::trace::Plan>, crate::error::Error> {
                self.0.plan(start)
            }
        }
    };
}
pub(super) use named_model;

/// Gives a model of one tower its answers.
macro_rules! answers_one_prompt {
    ($model:ident) => {
        impl<F: crate::num::Float> $model<F> {
            /// The trace of a prompt.
            ///
            /// # Shapes
            /// T ids; every stage of the trace has T rows.
            ///
            /// # Errors
            /// As [`Transformer::respond`](super::Transformer::respond).
            pub fn respond_to(&self, tokens: &[u32]) -> Result<crate::trace::Trace<F>, crate::error::Error> {
                self.respond_to_masked(tokens, &crate::mask::Masks::default())
            }

            /// As [`respond_to`](Self::respond_to), with masks besides the model's own.
            ///
            /// # Errors
            /// As there, and for masks that do not fit.
            pub fn respond_to_masked(
                &self,
                tokens: &[u32],
                masks: &crate::mask::Masks<F>,
            ) -> Result<crate::trace::Trace<F>, crate::error::Error> {
                self.0.respond(super::Given::Tokens { target: tokens, source: &[] }, masks)
            }

            /// The trace of a pass that starts at `positioned` with the caller's rows.
            ///
            /// # Shapes
            /// `rows` T,D, row-major.
            ///
            /// # Errors
            /// As [`Transformer::respond`](super::Transformer::respond).
            pub fn respond_to_rows(&self, rows: &[F]) -> Result<crate::trace::Trace<F>, crate::error::Error> {
                self.respond_to_rows_masked(rows, &crate::mask::Masks::default())
            }

            /// As [`respond_to_rows`](Self::respond_to_rows), with masks besides the model's own.
            ///
            /// # Errors
            /// As there, and for masks that do not fit.
            pub fn respond_to_rows_masked(
                &self,
                rows: &[F],
                masks: &crate::mask::Masks<F>,
            ) -> Result<crate::trace::Trace<F>, crate::error::Error> {
                self.0.respond(super::Given::Rows { target: rows, source: &[] }, masks)
            }
        }
    };
}
pub(super) use answers_one_prompt;
