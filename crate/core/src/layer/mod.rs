//! The layers: each composes equations and announces its stages, in execution order.

pub(crate) mod attention;
pub(crate) mod block;
pub(crate) mod dense;
pub(crate) mod embed;
pub(crate) mod experts;
pub(crate) mod head;
mod linear;
mod normalize;

use crate::config::{Config, Position};
use crate::mask::Masks;
use crate::math::{alibi_slopes, rotary_frequencies};
use crate::num::Float;
use crate::params::{Parameters, Weights};
use crate::stage::{Kind, Stage, Tower};
use alloc::vec::Vec;

/// What positions need, computed once for a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions<F> {
    /// The angle per position of each pair of coordinates that turns; empty where none does.
    pub frequencies: Vec<f64>,
    /// H slopes, where distance is penalized.
    pub slopes: Option<Vec<F>>,
}

impl<F: Float> Positions<F> {
    /// Those of a valid configuration.
    pub(crate) fn new(config: &Config) -> Self {
        match &config.position {
            Position::Rotary(rotary) => Positions {
                frequencies: rotary_frequencies(config.rotary_width(), rotary.base, rotary.scaling.as_ref()),
                slopes: None,
            },
            Position::Alibi(slopes) => {
                let slopes = slopes.clone().unwrap_or_else(|| alibi_slopes(config.n_heads));
                let slopes = slopes.into_iter().map(F::from_f64).collect();
                Positions { frequencies: Vec::new(), slopes: Some(slopes) }
            }
            _ => Positions::default(),
        }
    }
}

/// What a layer has at hand: the model, the call's masks, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a, F> {
    pub config: &'a Config,
    pub parameters: &'a Parameters<F>,
    pub positions: &'a Positions<F>,
    pub masks: &'a Masks<F>,
    pub tower: Tower,
    /// The block; for what stands behind the blocks, how many there are.
    pub block: usize,
}

impl<'a, F: Float> Context<'a, F> {
    /// The stage of a kind, here.
    pub(crate) fn stage(&self, kind: Kind) -> Stage {
        Stage::of(self.tower, kind, self.block)
    }

    /// The parameters, here.
    pub(crate) fn weights(&self) -> Weights<'a, F> {
        self.parameters.weights(self.tower, self.block)
    }
}
