//! Which choices can stand, each alone and together.

use super::{AttentionBias, Bias, Config, Norm, Placement, Position};
use crate::error::{Error, Field};
use crate::stage::Tower;
use alloc::{
    format,
    string::{String, ToString},
    vec,
};

impl Config {
    /// Whether the choices can stand, each alone and together.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for a size of 0 or a number that is not finite, [`Error::ConfigConflict`]
    /// where two options disagree. Options are named as in JavaScript.
    pub fn validate(&self) -> Result<(), Error> {
        self.check_sizes()?;
        self.check_numbers()?;
        self.check_heads()?;
        self.check_norms()?;
        self.check_feed_forward()?;
        self.check_position()?;
        self.check_towers()
    }

    fn check_sizes(&self) -> Result<(), Error> {
        let sizes = [
            ("nModel", self.n_model),
            ("nHeads", self.n_heads),
            ("headWidth", self.head_width.unwrap_or(1)),
            ("nKeyValueHeads", self.n_key_value_heads()),
            ("nBlocks", self.n_blocks),
            ("nEncoderBlocks", self.blocks_of(Tower::Encoder)),
            ("nHidden", self.n_hidden),
            ("maxContext", self.max_context),
            ("window", self.window.unwrap_or(1)),
        ];
        for (option, size) in sizes {
            if size == 0 {
                return Err(invalid(option, 0.0, "it must be at least 1"));
            }
        }
        for (option, blocks) in
            [("nBlocks", self.n_blocks), ("nEncoderBlocks", self.blocks_of(Tower::Encoder))]
        {
            if blocks > Self::MOST_BLOCKS {
                let reason = format!("it must be at most {}", Self::MOST_BLOCKS);
                return Err(invalid(option, blocks as f64, &reason));
            }
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), Error> {
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return Err(invalid("epsilon", self.epsilon, "it must be a finite number, 0 or more"));
        }
        let numbers = [
            ("branchScale", self.branch_scale),
            ("scoreScale", self.score_scale.unwrap_or(1.0)),
            ("gainOffset", self.gain_offset),
            ("embeddingScale", self.embedding_scale),
        ];
        for (option, number) in numbers {
            if !number.is_finite() {
                return Err(invalid(option, number, "it must be a finite number"));
            }
        }
        Ok(())
    }

    fn check_heads(&self) -> Result<(), Error> {
        let (d, h, g) = (self.n_model, self.n_heads, self.n_key_value_heads());
        if self.head_width.is_none() && !d.is_multiple_of(h) {
            let reason = format!(
                "{h} heads do not divide a width of {d} evenly; headWidth can be chosen apart from it"
            );
            return Err(conflict([("nHeads", (h as f64).into()), ("nModel", (d as f64).into())], reason));
        }
        if !h.is_multiple_of(g) {
            let reason = format!("{g} key and value heads do not divide {h} query heads evenly");
            return Err(conflict(
                [("nKeyValueHeads", (g as f64).into()), ("nHeads", (h as f64).into())],
                reason,
            ));
        }
        if self.n_vocab == 0 {
            let needs = [
                ("tiedHead", self.tied_head, "there is no table to tie a head to"),
                ("bias.head", self.bias.head, "there is no head that could have a bias"),
                ("embeddingNorm", self.embedding_norm, "there is no embedding to normalize"),
                ("embeddingScale", self.embedding_scale != 1.0, "there is no embedding to scale"),
                (
                    "position",
                    self.position == Position::Learned,
                    "a pass from rows reads no table of positions",
                ),
            ];
            for (option, chosen, why) in needs {
                if chosen {
                    let reason = format!("without a vocabulary {why}");
                    return Err(conflict([(option, true.into()), ("nVocab", 0.0.into())], reason));
                }
            }
        }
        Ok(())
    }

    fn check_norms(&self) -> Result<(), Error> {
        if self.norm == Norm::None {
            let needs = [
                ("normPlacement", self.norm_placement == Placement::Post, "stand behind a sum"),
                ("epsilon", self.epsilon != Config::new(0).epsilon, "have an epsilon"),
                ("normAffine", self.norm_affine, "have a gain"),
                ("finalNorm", self.final_norm, "stand behind the last block"),
                ("embeddingNorm", self.embedding_norm, "stand behind the embedding"),
                ("bias.norm", self.bias.norm, "have a bias"),
            ];
            for (option, chosen, what) in needs {
                if chosen {
                    let reason = format!("there is no norm (norm is \"none\") that could {what}");
                    let value = match option {
                        "normPlacement" => self.norm_placement.name().into(),
                        "epsilon" => self.epsilon.into(),
                        _ => true.into(),
                    };
                    return Err(conflict([(option, value), ("norm", "none".into())], reason));
                }
            }
        }
        if self.bias.norm && !self.norm_affine {
            let reason = "a norm with a bias has a gain too: normAffine is false".to_string();
            return Err(conflict([("bias.norm", true.into()), ("normAffine", false.into())], reason));
        }
        if self.gain_offset != 0.0 && !self.norm_affine {
            let reason =
                "without gains (normAffine is false) there is nothing to add an offset to".to_string();
            return Err(conflict(
                [("gainOffset", self.gain_offset.into()), ("normAffine", false.into())],
                reason,
            ));
        }
        if self.parallel && self.norm_placement == Placement::Post {
            let reason =
                "a norm behind each branch's sum would make the second branch read the first's result, \
                          and parallel branches both read the block's input"
                    .to_string();
            return Err(conflict([("parallel", true.into()), ("normPlacement", "post".into())], reason));
        }
        Ok(())
    }

    fn check_towers(&self) -> Result<(), Error> {
        let Some(encoder) = &self.encoder else { return Ok(()) };
        if (encoder.n_vocab == 0) != (self.n_vocab == 0) {
            let reason = "either both sides have a vocabulary or neither has".to_string();
            let options =
                [("nSourceVocab", (encoder.n_vocab as f64).into()), ("nVocab", (self.n_vocab as f64).into())];
            return Err(conflict(options, reason));
        }
        if self.parallel {
            let reason = "a decoder's blocks have three branches, of which cross-attention reads what \
                          self-attention made"
                .to_string();
            return Err(conflict(
                [("parallel", true.into()), ("nEncoderBlocks", (encoder.n_blocks as f64).into())],
                reason,
            ));
        }
        Ok(())
    }
}

impl Bias {
    /// Every bias that the rest of a configuration has room for.
    pub fn all(config: &Config) -> Bias {
        Bias {
            attention: AttentionBias::All,
            feed_forward: true,
            norm: config.norm != Norm::None && config.norm_affine,
            head: config.n_vocab > 0,
        }
    }
}

pub(super) fn conflict(options: [(&str, Field); 2], reason: String) -> Error {
    Error::ConfigConflict { options: options.map(|(name, value)| (name.to_string(), value)).into(), reason }
}

pub(super) fn invalid(option: &str, value: f64, reason: &str) -> Error {
    Error::InvalidOption {
        option: option.to_string(),
        value: value.to_string(),
        reason: reason.to_string(),
        nearest: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_that_do_not_divide_the_width_are_a_conflict() {
        let error = Config { n_heads: 3, ..Config::new(7) }.validate().unwrap_err();
        assert_eq!(error.code(), "config_conflict");
        assert!(error.to_string().contains("3 heads do not divide a width of 4"));
        Config { n_heads: 3, head_width: Some(5), ..Config::new(7) }.validate().unwrap();
    }

    #[test]
    fn a_width_of_zero_is_refused_by_name() {
        let error = Config { n_model: 0, ..Config::new(7) }.validate().unwrap_err();
        assert_eq!(error.to_string(), "option nModel: 0 is refused; it must be at least 1");
    }
}
