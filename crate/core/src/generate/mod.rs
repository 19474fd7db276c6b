//! Continuing a prompt: filtered distributions, sampling, beam search, and how probable a continuation is.

mod beam;
mod filter;
mod run;
mod sequence;

pub use beam::{Beam, Beams};
pub use filter::Filter;
pub use run::{Run, Step};

use crate::config::Config;
use crate::error::Error;
use crate::stage::{Kind, Stage, Tower};
use alloc::{format, string::ToString, vec};

/// The stage of the scores that a continuation is read from.
fn logits(config: &Config) -> Stage {
    Stage::of(Tower::Only, Kind::Logits, config.n_blocks)
}

/// Whether a model writes tokens.
fn check(config: &Config) -> Result<(), Error> {
    let refused = |option: &str, value: &str, reason: &str| Error::ConfigConflict {
        options: vec![(option.into(), value.into()), ("generate".into(), "asked".into())],
        reason: reason.into(),
    };
    if config.n_vocab == 0 {
        return Err(refused("nVocab", "0", "a bare stack of blocks has no vocabulary to write in"));
    }
    if config.encoder.is_some() {
        return Err(refused("nEncoderBlocks", "chosen", "only a model of one tower is continued"));
    }
    Ok(())
}

/// The end token, where there is one, is one of the vocabulary.
fn check_end(config: &Config, end: Option<u32>) -> Result<(), Error> {
    match end {
        Some(id) if id as usize >= config.n_vocab => {
            let vocabulary = config.n_vocab;
            Err(Error::TokenOutOfRange { position: 0, id: f64::from(id), vocabulary })
        }
        _ => Ok(()),
    }
}

/// The refusal of an option's number, which is written short: without 300 zeros.
fn refused(option: &str, value: f64, reason: &str) -> Result<(), Error> {
    let is_short = value == 0.0 || (1e-6..1e16).contains(&value.abs());
    let value = if is_short { value.to_string() } else { format!("{value:e}") };
    Err(Error::InvalidOption { option: option.into(), value, reason: reason.into(), nearest: vec![] })
}
