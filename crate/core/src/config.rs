//! What can be chosen about a model, with the lesson's choices as defaults.

use crate::error::Error;
use crate::math::Activation;
use alloc::{format, string::ToString, vec};

/// How the parameters are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Init {
    /// The Python lesson's recipe.
    Lesson,
    /// The Rust lesson's recipe.
    Rustlab,
    /// GPT-2's recipe (Radford et al. 2019; its released code).
    Gpt2,
}

impl Init {
    /// Every recipe, in the order the documentation lists them.
    pub const ALL: [Init; 3] = [Init::Lesson, Init::Rustlab, Init::Gpt2];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Init::Lesson => "lesson",
            Init::Rustlab => "rustlab",
            Init::Gpt2 => "gpt2",
        }
    }
}

/// The choices of a causal language model. [`Config::new`] gives the lesson's.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// V, the number of tokens; 0 makes a bare stack of blocks, without table and head.
    pub n_vocab: usize,
    /// D, the width of the residual stream.
    pub n_model: usize,
    /// H, the number of attention heads; must divide D.
    pub n_heads: usize,
    /// L, the number of blocks.
    pub n_blocks: usize,
    /// F, the width of the feed-forward branch.
    pub n_hidden: usize,
    /// The longest prompt.
    pub max_context: usize,
    /// What is added to the variance inside the root of a norm.
    pub epsilon: f64,
    /// Whether the last block's output is normalized.
    pub final_norm: bool,
    /// The function inside the feed-forward branch.
    pub activation: Activation,
    /// What scores are multiplied by; `None` is 1/sqrt(K).
    pub score_scale: Option<f64>,
    /// How parameters are drawn.
    pub init: Init,
    /// Multiplies each block's attention output and contracting matrix when they are drawn.
    pub branch_scale: f64,
}

impl Config {
    /// How many blocks a model may have: more than anyone has stacked, and few enough that the names of all their
    /// stages can be held.
    pub const MOST_BLOCKS: usize = 10_000;

    /// The lesson's model for a vocabulary of this size: width 4, two heads, one block, hidden width 8.
    pub fn new(n_vocab: usize) -> Self {
        Config {
            n_vocab,
            n_model: 4,
            n_heads: 2,
            n_blocks: 1,
            n_hidden: 8,
            max_context: 1024,
            epsilon: 1e-5,
            final_norm: true,
            activation: Activation::Relu,
            score_scale: None,
            init: Init::Lesson,
            branch_scale: 1.0,
        }
    }

    /// K, the width of one head. Meaningful once the configuration is valid.
    pub fn head_width(&self) -> usize {
        self.n_model / self.n_heads
    }

    /// What scores are multiplied by, 1/sqrt(K) unless it was chosen.
    pub fn score_scale(&self) -> f64 {
        self.score_scale.unwrap_or_else(|| 1.0 / libm::sqrt(self.head_width() as f64))
    }

    /// Whether the choices can stand, each alone and together.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for a size of 0 or a number that is not finite, [`Error::ConfigConflict`]
    /// where two options disagree. Options are named as in JavaScript.
    pub fn validate(&self) -> Result<(), Error> {
        let sizes = [
            ("nModel", self.n_model),
            ("nHeads", self.n_heads),
            ("nBlocks", self.n_blocks),
            ("nHidden", self.n_hidden),
            ("maxContext", self.max_context),
        ];
        for (option, size) in sizes {
            if size == 0 {
                return Err(invalid(option, 0.0, "it must be at least 1"));
            }
        }
        if self.n_blocks > Self::MOST_BLOCKS {
            let reason = format!("it must be at most {}", Self::MOST_BLOCKS);
            return Err(invalid("nBlocks", self.n_blocks as f64, &reason));
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return Err(invalid("epsilon", self.epsilon, "it must be a finite number, 0 or more"));
        }
        if !self.branch_scale.is_finite() {
            return Err(invalid("branchScale", self.branch_scale, "it must be a finite number"));
        }
        if let Some(scale) = self.score_scale.filter(|scale| !scale.is_finite()) {
            return Err(invalid("scoreScale", scale, "it must be a finite number"));
        }
        if !self.n_model.is_multiple_of(self.n_heads) {
            return Err(Error::ConfigConflict {
                options: vec![
                    ("nHeads".to_string(), self.n_heads as f64),
                    ("nModel".to_string(), self.n_model as f64),
                ],
                reason: format!("{} heads do not divide a width of {} evenly", self.n_heads, self.n_model),
            });
        }
        Ok(())
    }
}

fn invalid(option: &str, value: f64, reason: &str) -> Error {
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
    }

    #[test]
    fn a_width_of_zero_is_refused_by_name() {
        let error = Config { n_model: 0, ..Config::new(7) }.validate().unwrap_err();
        assert_eq!(error.to_string(), "option nModel: 0 is refused; it must be at least 1");
    }
}
