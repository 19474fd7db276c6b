//! What a pass starts from, and whether it can be read.

use super::Transformer;
use crate::error::Error;
use crate::num::Float;
use crate::params::check_finite;
use crate::stage::{Lengths, Tower};
use crate::trace::Start;
use alloc::vec;

/// What a pass starts from; rows are row-major, of width D.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a, F> {
    /// Token ids.
    Tokens {
        /// The prompt's; of an encoder-decoder, the target's.
        target: &'a [u32],
        /// The source's; empty for a model without encoder.
        source: &'a [u32],
    },
    /// Rows that enter the first block.
    Rows {
        /// The prompt's; of an encoder-decoder, the target's.
        target: &'a [F],
        /// The source's; empty for a model without encoder.
        source: &'a [F],
    },
    /// Rows that enter the decoder's first block, and rows in place of what leaves the encoder.
    Memory {
        /// The target's.
        target: &'a [F],
        /// The memory.
        memory: &'a [F],
    },
}

impl<F: Float> Transformer<F> {
    /// Whether what is given can be read, and how long it is.
    pub(super) fn check(&self, given: Given<'_, F>) -> Result<(Start, Lengths), Error> {
        let has_encoder = self.config().encoder.is_some();
        let (start, target, source) = match given {
            Given::Tokens { target, source } => {
                if has_encoder || !source.is_empty() {
                    check_tokens(source, self.config().vocabulary_of(Tower::Encoder))?;
                }
                check_tokens(target, self.config().n_vocab)?;
                (Start::Tokens, target.len(), source.len())
            }
            Given::Rows { target, source } => {
                (Start::Rows, self.check_rows("rows", target)?, self.check_rows("source rows", source)?)
            }
            Given::Memory { target, memory } => {
                (Start::Memory, self.check_rows("rows", target)?, self.check_rows("memory", memory)?)
            }
        };
        if source > 0 && !has_encoder {
            return Err(Error::InvalidOption {
                option: "source".into(),
                value: "a source".into(),
                reason: "only an encoder-decoder reads one".into(),
                nearest: vec![],
            });
        }
        self.check_length(target)?;
        if has_encoder {
            self.check_length(source)?;
        }
        Ok((start, Lengths { target, source }))
    }

    fn check_rows(&self, what: &str, rows: &[F]) -> Result<usize, Error> {
        let width = self.config().n_model;
        if !rows.len().is_multiple_of(width) {
            return Err(Error::ShapeMismatch {
                what: what.into(),
                expected: vec![rows.len() / width + 1, width],
                actual: vec![rows.len()],
            });
        }
        self.check_most(rows.len() / width)?;
        check_finite(what, rows)?;
        Ok(rows.len() / width)
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        if length == 0 {
            return Err(Error::EmptyPrompt);
        }
        self.check_most(length)
    }

    fn check_most(&self, length: usize) -> Result<(), Error> {
        if length > self.config().max_context {
            return Err(Error::ContextExceeded { length, max_context: self.config().max_context });
        }
        Ok(())
    }
}

fn check_tokens(tokens: &[u32], vocabulary: usize) -> Result<(), Error> {
    match tokens.iter().position(|&id| id as usize >= vocabulary) {
        None => Ok(()),
        Some(position) => {
            Err(Error::TokenOutOfRange { position, id: f64::from(tokens[position]), vocabulary })
        }
    }
}
