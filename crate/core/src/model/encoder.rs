//! The encoder-only model.

use super::named::{answers_one_prompt, named_model};
use super::Transformer;
use crate::config::{Config, Mask};

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

named_model!(EncoderModel, has_encoder: false);
answers_one_prompt!(EncoderModel);

impl<F> EncoderModel<F> {
    /// A decoder's configuration without its causal mask.
    pub fn config_of(config: &Config) -> Config {
        Config { mask: Mask::None, ..config.clone() }
    }
}
