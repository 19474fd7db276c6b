//! What can be chosen about a model, with the lesson's choices as defaults.

mod choices;
mod validate;
mod validate_parts;

pub use choices::{
    AttentionBias, Bias, Encoder, Expert, Experts, FeedForward, Init, Mask, Norm, Placement, Position, Rotary,
};

use crate::math::Activation;
use crate::stage::Tower;

/// The choices of a model. [`Config::new`] gives the lesson's decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// V, the number of tokens; 0 makes a bare stack of blocks, without table and head.
    pub n_vocab: usize,
    /// D, the width of the residual stream.
    pub n_model: usize,
    /// H, the number of query heads; must divide D unless a head's width is chosen.
    pub n_heads: usize,
    /// K, the width of one head; `None` is D/H.
    pub head_width: Option<usize>,
    /// G, the number of key and value heads, each read by H/G query heads; `None` is H.
    pub n_key_value_heads: Option<usize>,
    /// L, the number of blocks.
    pub n_blocks: usize,
    /// F, the width of the feed-forward branch, or of one expert.
    pub n_hidden: usize,
    /// The longest prompt.
    pub max_context: usize,
    /// How rows are normalized.
    pub norm: Norm,
    /// Where a block's norms stand.
    pub norm_placement: Placement,
    /// Whether norms multiply by a gain that is a parameter.
    pub norm_affine: bool,
    /// What is added to a gain before it multiplies: 1 in Gemma.
    pub gain_offset: f64,
    /// What is added to the variance, or the mean square, inside the root of a norm.
    pub epsilon: f64,
    /// Whether the last block's output is normalized.
    pub final_norm: bool,
    /// Whether the embedding is normalized before positions are added (Bloom).
    pub embedding_norm: bool,
    /// What the embedding is multiplied by before it is used: √D in Gemma and Vaswani et al. 2017.
    pub embedding_scale: f64,
    /// Whether branches are added to the stream; without it each takes its place.
    pub residual: bool,
    /// Whether both branches read the block's input, each through its own norm (GPT-NeoX).
    pub parallel: bool,
    /// The function inside the feed-forward branch, or of its gate.
    pub activation: Activation,
    /// What stands in the feed-forward branch.
    pub feed_forward: FeedForward,
    /// What tells one position from another.
    pub position: Position,
    /// Which keys a query may see; of an encoder-decoder, in the decoder.
    pub mask: Mask,
    /// How many keys a query sees at most on each side, its own included (Mistral's sliding window).
    pub window: Option<usize>,
    /// What scores are multiplied by; `None` is 1/√K.
    pub score_scale: Option<f64>,
    /// Whether block n's scores are also divided by n + 1.
    pub scale_by_layer: bool,
    /// Which layers have a bias.
    pub bias: Bias,
    /// Whether the head is the embedding table.
    pub tied_head: bool,
    /// How parameters are drawn.
    pub init: Init,
    /// Multiplies each block's attention outputs and contracting matrices when they are drawn; 1/√(2N) is usual for a
    /// stack of N blocks, whose 2N branches then add up to what one would (Radford et al. 2019, section 2.3).
    pub branch_scale: f64,
    /// The encoder, which makes the model an encoder-decoder.
    pub encoder: Option<Encoder>,
}

impl Config {
    /// How many blocks a model may have: more than anyone has stacked, and few enough that the names of all their
    /// stages can be held.
    pub const MOST_BLOCKS: usize = 10_000;

    /// How many experts a mixture may have: their indices stand in traces as numbers of the model's own kind, and those
    /// up to here do so exactly.
    pub const MOST_EXPERTS: usize = 10_000;

    /// The lesson's model for a vocabulary of this size: width 4, two heads, one block, hidden width 8.
    pub fn new(n_vocab: usize) -> Self {
        Config {
            n_vocab,
            n_model: 4,
            n_heads: 2,
            head_width: None,
            n_key_value_heads: None,
            n_blocks: 1,
            n_hidden: 8,
            max_context: 1024,
            norm: Norm::Layer,
            norm_placement: Placement::Pre,
            norm_affine: false,
            gain_offset: 0.0,
            epsilon: 1e-5,
            final_norm: true,
            embedding_norm: false,
            embedding_scale: 1.0,
            residual: true,
            parallel: false,
            activation: Activation::Relu,
            feed_forward: FeedForward::Dense,
            position: Position::Sinusoidal,
            mask: Mask::Causal,
            window: None,
            score_scale: None,
            scale_by_layer: false,
            bias: Bias::NONE,
            tied_head: false,
            init: Init::Lesson,
            branch_scale: 1.0,
            encoder: None,
        }
    }

    /// K, the width of one head. Meaningful once the configuration is valid.
    pub fn head_width(&self) -> usize {
        self.head_width.unwrap_or(self.n_model / self.n_heads)
    }

    /// G, the number of key and value heads.
    pub fn n_key_value_heads(&self) -> usize {
        self.n_key_value_heads.unwrap_or(self.n_heads)
    }

    /// What scores are multiplied by, 1/√K unless it was chosen, before any division by layer.
    pub fn score_scale(&self) -> f64 {
        self.score_scale.unwrap_or_else(|| 1.0 / libm::sqrt(self.head_width() as f64))
    }

    /// How many of a head's coordinates turn, where positions are rotary.
    pub fn rotary_width(&self) -> usize {
        match &self.position {
            Position::Rotary(rotary) => rotary.width.unwrap_or(self.head_width()),
            _ => 0,
        }
    }

    /// The stacks of blocks, in the order they run.
    pub fn towers(&self) -> &'static [Tower] {
        match self.encoder {
            Some(_) => &[Tower::Encoder, Tower::Decoder],
            None => &[Tower::Only],
        }
    }

    /// How many blocks a tower has.
    pub fn blocks_of(&self, tower: Tower) -> usize {
        match (&self.encoder, tower) {
            (Some(encoder), Tower::Encoder) => encoder.n_blocks,
            _ => self.n_blocks,
        }
    }

    /// How many tokens a tower's embedding table has.
    pub fn vocabulary_of(&self, tower: Tower) -> usize {
        match (&self.encoder, tower) {
            (Some(encoder), Tower::Encoder) => encoder.n_vocab,
            _ => self.n_vocab,
        }
    }

    /// Whether a tower's queries see no later keys.
    pub fn is_causal(&self, tower: Tower) -> bool {
        tower != Tower::Encoder && self.mask == Mask::Causal
    }

    /// Whether a norm stands in front of each branch.
    pub fn is_pre_norm(&self) -> bool {
        self.norm != Norm::None && self.norm_placement == Placement::Pre
    }

    /// Whether a norm stands behind each branch's sum.
    pub fn is_post_norm(&self) -> bool {
        self.norm != Norm::None && self.norm_placement == Placement::Post
    }

    /// Whether norms have a gain, where there are norms.
    pub fn has_gain(&self) -> bool {
        self.norm != Norm::None && self.norm_affine
    }

    /// Whether norms have a bias, where there are norms.
    pub fn has_norm_bias(&self) -> bool {
        self.norm != Norm::None && self.bias.norm
    }
}
