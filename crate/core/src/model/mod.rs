//! The models: layers, wired.

mod causal;
mod encoder;
mod encoder_decoder;
mod transformer;

pub use causal::CausalLanguageModel;
pub use encoder::EncoderModel;
pub use encoder_decoder::EncoderDecoderModel;
pub use transformer::{Given, Transformer};

use crate::config::Config;
use crate::error::Error;
use alloc::{string::ToString, vec};

/// Refuses the encoder of an encoder-decoder in a model that has one tower.
fn refuse_encoder(config: &Config) -> Result<(), Error> {
    match &config.encoder {
        None => Ok(()),
        Some(encoder) => Err(Error::InvalidOption {
            option: "nEncoderBlocks".to_string(),
            value: encoder.n_blocks.to_string(),
            reason: "only an encoder-decoder has an encoder beside its blocks".to_string(),
            nearest: vec![],
        }),
    }
}
