//! What a caller hides, or adds to scores, for one pass.

use crate::config::Config;
use crate::error::Error;
use crate::num::Float;
use crate::stage::Lengths;
use alloc::{format, string::ToString, vec, vec::Vec};

/// Masks of one pass, on top of the model's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Masks<F> {
    /// T,T or H,T,T numbers that are added to self-attention's scores; -infinity hides. Of an encoder-decoder, in the
    /// decoder.
    pub attention: Option<Vec<F>>,
    /// T marks: which positions are padding, as keys. Of an encoder-decoder, in the decoder.
    pub padding: Option<Vec<bool>>,
    /// T,S or H,T,S numbers that are added to cross-attention's scores.
    pub memory: Option<Vec<F>>,
    /// S marks: which rows of the memory are padding.
    pub memory_padding: Option<Vec<bool>>,
    /// S marks: which positions of the source are padding, as keys in the encoder.
    pub source_padding: Option<Vec<bool>>,
}

impl<F: Float> Masks<F> {
    /// Whether nothing is hidden or added.
    pub fn is_none(&self) -> bool {
        *self == Masks::default()
    }

    /// Whether the masks fit a pass.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::NotFinite`] for NaN or +infinity, [`Error::InvalidOption`] for a mask of a
    /// memory where there is none.
    pub(crate) fn check(&self, config: &Config, lengths: Lengths, has_encoder: bool) -> Result<(), Error> {
        let Lengths { target, source } = lengths;
        let has_memory = config.encoder.is_some();
        let there = |what: &str, given: bool, allowed: bool| {
            if given && !allowed {
                return Err(Error::InvalidOption {
                    option: what.to_string(),
                    value: "a mask".to_string(),
                    reason: "this pass has nothing that it could hide".to_string(),
                    nearest: vec![],
                });
            }
            Ok(())
        };
        there("masks.memory", self.memory.is_some(), has_memory)?;
        there("masks.memoryPadding", self.memory_padding.is_some(), has_memory)?;
        there("masks.sourcePadding", self.source_padding.is_some(), has_encoder)?;
        check_added("masks.attention", self.attention.as_deref(), config.n_heads, target, target)?;
        check_added("masks.memory", self.memory.as_deref(), config.n_heads, target, source)?;
        check_marks("masks.padding", self.padding.as_deref(), target)?;
        check_marks("masks.memoryPadding", self.memory_padding.as_deref(), source)?;
        check_marks("masks.sourcePadding", self.source_padding.as_deref(), source)
    }
}

fn check_added<F: Float>(
    what: &str,
    added: Option<&[F]>,
    heads: usize,
    queries: usize,
    keys: usize,
) -> Result<(), Error> {
    let Some(added) = added else { return Ok(()) };
    let cells = queries * keys;
    if added.len() != cells && added.len() != heads * cells {
        return Err(Error::ShapeMismatch {
            what: format!("{what} (for one head, or all)"),
            expected: vec![queries, keys],
            actual: vec![added.len()],
        });
    }
    match added.iter().position(|&x| !(x.is_finite() || x == F::NEG_INFINITY)) {
        None => Ok(()),
        Some(position) => {
            Err(Error::NotFinite { what: what.to_string(), position, value: added[position].to_f64() })
        }
    }
}

fn check_marks(what: &str, marks: Option<&[bool]>, keys: usize) -> Result<(), Error> {
    match marks {
        Some(marks) if marks.len() != keys => Err(Error::ShapeMismatch {
            what: what.to_string(),
            expected: vec![keys],
            actual: vec![marks.len()],
        }),
        _ => Ok(()),
    }
}
