//! The choices that are one of several, and the groups of choices that belong together.

use crate::math::{Overflow, Pairing, RotaryScaling};
use alloc::vec::Vec;

/// An enumeration whose cases have names in options and files.
macro_rules! named {
    ($(#[$about:meta])* $type:ident { $($(#[$case_about:meta])* $case:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$case_about])* $case,)+
        }

        impl $type {
            /// Every case, in the order the documentation lists them.
            pub const ALL: &'static [$type] = &[$($type::$case),+];

            /// The name in options and files.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$case => $name,)+
                }
            }
        }
    };
}

named! {
    /// How the parameters are drawn.
    Init {
        /// The Python lesson's recipe.
        Lesson = "lesson",
        /// The Rust lesson's recipe.
        Rustlab = "rustlab",
        /// GPT-2's recipe (Radford et al. 2019; its released code).
        Gpt2 = "gpt2",
    }
}

named! {
    /// How rows are normalized.
    Norm {
        /// LayerNorm (Ba, Kiros & Hinton 2016, arXiv:1607.06450).
        Layer = "layer",
        /// RMSNorm (Zhang & Sennrich 2019, arXiv:1910.07467).
        Rms = "rms",
        /// Not at all.
        None = "none",
    }
}

named! {
    /// Where the norms of a block stand.
    Placement {
        /// On what a branch reads (Xiong et al. 2020, arXiv:2002.04745).
        Pre = "pre",
        /// On the sum of stream and branch (Vaswani et al. 2017, arXiv:1706.03762).
        Post = "post",
    }
}

named! {
    /// Which keys a query may see, before windows and a call's own masks.
    Mask {
        /// Those at its own position and before.
        Causal = "causal",
        /// All.
        None = "none",
    }
}

named! {
    /// What one expert is.
    Expert {
        /// Expand, activation, contract.
        Dense = "dense",
        /// Expand times the gate's SiLU, contract (Mixtral: Jiang et al. 2024, arXiv:2401.04088).
        SwiGlu = "swiglu",
    }
}

named! {
    /// Which of attention's projections have a bias.
    AttentionBias {
        /// None.
        None = "none",
        /// Query, key and value (Qwen2).
        Qkv = "qkv",
        /// All four.
        All = "all",
    }
}

/// A mixture of experts in place of the feed-forward layer (Shazeer et al. 2017, arXiv:1701.06538).
#[derive(Clone, Debug, PartialEq)]
pub struct Experts {
    /// E, how many experts there are.
    pub experts: usize,
    /// k, how many each row is sent to.
    pub selected: usize,
    /// What each is.
    pub expert: Expert,
    /// Whether the gates of a row are divided by their sum.
    pub renormalize: bool,
    /// How many choices of one prompt an expert takes, in the order of the rows; `None` is all.
    pub capacity: Option<usize>,
    /// What becomes of a choice that finds its expert full.
    pub overflow: Overflow,
    /// The standard deviation of the noise that is added to the router's logits.
    pub noise: f64,
    /// What the noise is drawn from: block n takes NumPy's `default_rng(noise_seed + n)`.
    pub noise_seed: u64,
}

impl Experts {
    /// The usual choices for this many experts, of which each row takes so many.
    pub fn new(experts: usize, selected: usize) -> Self {
        Experts {
            experts,
            selected,
            expert: Expert::Dense,
            renormalize: true,
            capacity: None,
            overflow: Overflow::Drop,
            noise: 0.0,
            noise_seed: 0,
        }
    }
}

/// What stands in the feed-forward branch.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedForward {
    /// Expand, activation, contract (Vaswani et al. 2017, section 3.3).
    Dense,
    /// A gated linear unit: sigmoid gate, or whatever the activation is (Dauphin et al. 2016, arXiv:1612.08083).
    Glu,
    /// Gated by SiLU (Shazeer 2020, arXiv:2002.05202).
    SwiGlu,
    /// Gated by GELU (Shazeer 2020).
    GeGlu,
    /// A mixture of experts.
    Experts(Experts),
}

impl FeedForward {
    /// The name in options, but for a mixture, which has several options.
    pub fn name(&self) -> &'static str {
        match self {
            FeedForward::Dense => "dense",
            FeedForward::Glu => "glu",
            FeedForward::SwiGlu => "swiglu",
            FeedForward::GeGlu => "geglu",
            FeedForward::Experts(_) => "experts",
        }
    }

    /// Whether units are multiplied by a gate of their own.
    pub fn is_gated(&self) -> bool {
        match self {
            FeedForward::Dense => false,
            FeedForward::Experts(experts) => experts.expert == Expert::SwiGlu,
            _ => true,
        }
    }

    /// The mixture, where it is one.
    pub fn experts(&self) -> Option<&Experts> {
        match self {
            FeedForward::Experts(experts) => Some(experts),
            _ => None,
        }
    }
}

/// Rotary positions (Su et al. 2021, arXiv:2104.09864).
#[derive(Clone, Debug, PartialEq)]
pub struct Rotary {
    /// The longest wavelength over 2π, nearly.
    pub base: f64,
    /// Which two coordinates turn together.
    pub pairing: Pairing,
    /// How many of a head's coordinates turn; `None` is all.
    pub width: Option<usize>,
    /// How frequencies are stretched for longer prompts.
    pub scaling: Option<RotaryScaling>,
}

impl Default for Rotary {
    fn default() -> Self {
        Rotary { base: 10000.0, pairing: Pairing::Adjacent, width: None, scaling: None }
    }
}

/// What tells one position from another.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    /// Sines and cosines, added to the embedding.
    Sinusoidal,
    /// A table of parameters, added to the embedding (GPT-2).
    Learned,
    /// Queries and keys turned by an angle that grows with the position.
    Rotary(Rotary),
    /// A penalty on the distance of query and key (Press et al. 2021, arXiv:2108.12409); `None` is the paper's slopes.
    Alibi(Option<Vec<f64>>),
    /// Nothing.
    None,
}

impl Position {
    /// The name in options and files.
    pub fn name(&self) -> &'static str {
        match self {
            Position::Sinusoidal => "sinusoidal",
            Position::Learned => "learned",
            Position::Rotary(_) => "rotary",
            Position::Alibi(_) => "alibi",
            Position::None => "none",
        }
    }
}

/// Which layers have a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bias {
    /// Attention's projections, cross-attention's too.
    pub attention: AttentionBias,
    /// The matrices of the feed-forward branch, each expert's too; the router has none.
    pub feed_forward: bool,
    /// The norms.
    pub norm: bool,
    /// The head.
    pub head: bool,
}

impl Bias {
    /// No bias anywhere.
    pub const NONE: Bias =
        Bias { attention: AttentionBias::None, feed_forward: false, norm: false, head: false };
}

/// The encoder of an encoder-decoder, where it differs from the decoder.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The number of source tokens; 0 where the decoder's is.
    pub n_vocab: usize,
    /// How many blocks it has.
    pub n_blocks: usize,
}
