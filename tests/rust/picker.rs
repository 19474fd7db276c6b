//! Random members of the family, the same for the same seed.

use glassformer::config::{
    AttentionBias, Bias, Config, Expert, Experts, FeedForward, Init, Norm, Placement, Position, Rotary,
};
use glassformer::math::{Activation, Overflow, Pairing};
use glassformer::num::random::RandomStream;

/// A choice from a seeded stream.
pub struct Picker(pub RandomStream);

impl Picker {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.integers(0, n as i64).unwrap() as usize
    }
    /// One of several.
    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
    /// True or false.
    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }
    /// True one time in four.
    pub fn maybe(&mut self) -> bool {
        self.below(4) == 0
    }

    fn experts(&mut self) -> FeedForward {
        let experts = 1 + self.below(4);
        let capacity = self.flag().then(|| 1 + self.below(4));
        FeedForward::Experts(Experts {
            expert: self.one_of(Expert::ALL),
            renormalize: self.flag(),
            capacity,
            overflow: match capacity {
                Some(_) => self.one_of(&[Overflow::Drop, Overflow::Reroute]),
                None => Overflow::Drop,
            },
            noise: self.one_of(&[0.0, 0.0, 0.5]),
            noise_seed: 0,
            ..Experts::new(experts, 1 + self.below(experts))
        })
    }

    /// Any configuration at all, most of them valid.
    pub fn config(&mut self) -> Config {
        let n_heads = 1 + self.below(4);
        let width = 1 + self.below(4);
        let norm = self.one_of(Norm::ALL);
        let norm_affine = norm != Norm::None && self.flag();
        let feed_forward = match self.below(6) {
            0 => FeedForward::Glu,
            1 => FeedForward::SwiGlu,
            2 => FeedForward::GeGlu,
            3 => self.experts(),
            _ => FeedForward::Dense,
        };
        let activation = match &feed_forward {
            FeedForward::SwiGlu => Activation::Silu,
            FeedForward::GeGlu => self.one_of(&[Activation::Gelu, Activation::GeluTanh]),
            FeedForward::Experts(e) if e.expert == Expert::SwiGlu => Activation::Silu,
            _ => self.one_of(&Activation::ALL),
        };
        let position = match self.below(5) {
            0 => Position::Sinusoidal,
            1 => Position::Learned,
            2 => Position::Rotary(Rotary {
                pairing: self.one_of(&[Pairing::Adjacent, Pairing::Half]),
                width: self.flag().then_some(2),
                ..Rotary::default()
            }),
            3 => Position::Alibi(None),
            _ => Position::None,
        };
        Config {
            n_heads,
            head_width: self.flag().then(|| 2 * (1 + self.below(3))),
            n_model: n_heads * width,
            n_key_value_heads: self.flag().then(|| 1 + self.below(n_heads)),
            n_blocks: 1 + self.below(3),
            n_hidden: 1 + self.below(9),
            max_context: 32,
            norm,
            norm_placement: if norm == Norm::None { Placement::Pre } else { self.one_of(Placement::ALL) },
            norm_affine,
            gain_offset: if norm_affine { self.one_of(&[0.0, 1.0]) } else { 0.0 },
            final_norm: norm != Norm::None && self.flag(),
            embedding_norm: norm != Norm::None && self.maybe(),
            embedding_scale: self.one_of(&[1.0, 1.0, 2.5]),
            residual: !self.maybe(),
            parallel: self.maybe(),
            activation,
            feed_forward,
            position,
            window: self.maybe().then(|| 1 + self.below(4)),
            scale_by_layer: self.maybe(),
            bias: Bias {
                attention: self.one_of(AttentionBias::ALL),
                feed_forward: self.flag(),
                norm: norm_affine && self.flag(),
                head: self.flag(),
            },
            tied_head: self.flag(),
            init: self.one_of(Init::ALL),
            ..Config::new(2 + self.below(7))
        }
    }

    /// A configuration that is accepted.
    pub fn valid(&mut self) -> Config {
        loop {
            let config = self.config();
            if config.validate().is_ok() {
                return config;
            }
        }
    }

    /// A prompt.
    pub fn ids(&mut self, length: usize, vocabulary: usize) -> Vec<u32> {
        (0..length).map(|_| self.below(vocabulary) as u32).collect()
    }
}
