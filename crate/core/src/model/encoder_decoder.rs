//! An encoder over a source, and a decoder over a target that attends to it.

use super::named::named_model;
use super::{Given, Transformer};
use crate::error::Error;
use crate::mask::Masks;
use crate::num::Float;
use crate::trace::{Changes, Trace};

/// The whole Transformer of Vaswani et al. 2017 (arXiv:1706.03762), figure 1.
///
/// ```
/// # use glassformer::{config::{Config, Encoder}, model::EncoderDecoderModel};
/// let config = Config { encoder: Some(Encoder { n_vocab: 9, n_blocks: 2 }), ..Config::new(7) };
/// let model = EncoderDecoderModel::<f64>::from_seed(&config, 7)?;
/// let trace = model.respond_to(&[8, 1, 4, 4], &[0, 1, 2])?;
/// assert_eq!(trace.get("decoder.blocks.0.cross_attention.weights")?.shape(), [2, 3, 4]);
/// # Ok::<(), glassformer::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncoderDecoderModel<F>(Transformer<F>);

named_model!(EncoderDecoderModel, has_encoder: true);

impl<F: Float> EncoderDecoderModel<F> {
    /// The trace of a source and a target.
    ///
    /// # Shapes
    /// S and T ids; the encoder's stages have S rows, the decoder's T.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ContextExceeded`], [`Error::TokenOutOfRange`],
    /// [`Error::CapacityExceeded`], [`Error::OutOfMemory`]; [`Error::NotFinite`] when the numbers overflow on the way.
    pub fn respond_to(&self, source: &[u32], target: &[u32]) -> Result<Trace<F>, Error> {
        self.respond_to_masked(source, target, &Masks::default())
    }

    /// As [`respond_to`](Self::respond_to), with masks besides the model's own.
    ///
    /// # Errors
    /// As there, and for masks that do not fit.
    pub fn respond_to_masked(
        &self,
        source: &[u32],
        target: &[u32],
        masks: &Masks<F>,
    ) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Tokens { target, source }, masks)
    }

    /// The trace of a source and a target, computing only the target's rows behind the longest prefix that `earlier`
    /// has in common with it, where the source is the same.
    ///
    /// # Errors
    /// As [`respond_to`](Self::respond_to), and [`Error::ShapeMismatch`] when `earlier` comes from a model of
    /// other stages.
    pub fn respond_to_reusing(
        &self,
        source: &[u32],
        target: &[u32],
        earlier: &Trace<F>,
    ) -> Result<Trace<F>, Error> {
        self.0.respond_reusing(target, source, Changes::default(), earlier)
    }

    /// The trace of a pass whose towers start at `positioned` with the caller's rows.
    ///
    /// # Shapes
    /// `source` S,D, `target` T,D, row-major.
    ///
    /// # Errors
    /// [`Error::EmptyPrompt`], [`Error::ShapeMismatch`], [`Error::ContextExceeded`], [`Error::NotFinite`],
    /// [`Error::OutOfMemory`].
    pub fn respond_to_rows(&self, source: &[F], target: &[F], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Rows { target, source }, masks)
    }

    /// The trace of the decoder alone, over the caller's rows and a memory in place of what leaves the encoder.
    ///
    /// # Shapes
    /// `memory` S,D, `target` T,D, row-major.
    ///
    /// # Errors
    /// As [`respond_to_rows`](Self::respond_to_rows).
    pub fn respond_to_memory(&self, memory: &[F], target: &[F], masks: &Masks<F>) -> Result<Trace<F>, Error> {
        self.0.respond(Given::Memory { target, memory }, masks)
    }
}
