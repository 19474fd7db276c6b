//! Normalized cells: mean, variance, epsilon, gain.

use super::draft::{in_place, minus, piece, Draft, Part};
use super::{Asker, Place};
use crate::config::Norm;
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Kind, Stage};
use alloc::{format, vec, vec::Vec};

impl<F: Float> Asker<'_, F> {
    /// A cell of the row of `read`, normalized, with the gain and bias of this norm where it has them.
    pub(super) fn normalized(&self, read: Stage) -> Draft<F> {
        let [gain, bias] = match self.stage.kind {
            Kind::EmbeddingNormalized => [Role::EmbeddingGain, Role::EmbeddingNormBias],
            Kind::AttentionNormalized | Kind::AfterAttention => {
                [Role::AttentionGain, Role::AttentionNormBias]
            }
            Kind::CrossNormalized | Kind::AfterCrossAttention => [Role::CrossGain, Role::CrossNormBias],
            Kind::FinalNormalized => [Role::FinalGain, Role::FinalNormBias],
            _ => [Role::FeedForwardGain, Role::FeedForwardNormBias],
        };
        let config = self.context.config;
        let alone = match config.norm {
            Norm::Layer => self.layer_norm(read),
            Norm::Rms => self.rms_norm(read),
            Norm::None => Draft::same("x", "the row", self.here(read)),
        };
        let column = self.place.column;
        let offset = F::from_f64(config.gain_offset);
        let gain = self.vector_entry(gain, 0, column).map(|gain| match offset == F::ZERO {
            true => gain,
            false => {
                let offset = piece("offset", vec![Part::constant("offset", offset)]);
                Draft::sum("offset + γ", vec![offset, piece("γ", vec![gain])]).part("offset + γ")
            }
        });
        let gain = gain.or_else(|| (offset != F::ZERO).then(|| Part::constant("offset", offset)));
        let bias = self.vector_entry(bias, 0, column);
        if gain.is_none() && bias.is_none() {
            return alone;
        }
        let mut factors = vec![alone.part("normalized")];
        factors.extend(gain);
        let mut pieces = vec![piece("normalized", factors)];
        pieces.extend(bias.map(|bias| piece("bias", vec![bias])));
        Draft::sum("", pieces)
    }

    fn layer_norm(&self, read: Stage) -> Draft<F> {
        let mean = self.mean("mean x = Σ_d x[d] / D", read, |x| vec![x]).part("mean");
        let known = Part::constant("mean", mean.value);
        let deviation = |x: Part<F>, mean: &Part<F>| {
            Draft::sum("x − mean x", vec![piece("x", vec![x]), minus("mean", mean.clone())]).part("x - mean")
        };
        let squares = |x: Part<F>| vec![deviation(x.clone(), &known), deviation(x, &known)];
        let variance = self.mean("variance x = Σ_d (x[d] − mean x)² / D", read, squares).part("variance");
        let symbols = "(x − mean x) / √(variance x + ε)";
        let over = deviation(self.here(read), &mean);
        Draft::quotient(symbols, [("x - mean", over), ("root", self.root(variance))])
    }

    fn rms_norm(&self, read: Stage) -> Draft<F> {
        let square =
            self.mean("mean x² = Σ_d x[d]² / D", read, |x| vec![x.clone(), x]).part("mean of squares");
        let symbols = "x / √(mean x² + ε)";
        Draft::quotient(symbols, [("x", self.here(read)), ("root", self.root(square))])
    }

    /// The mean over a row of products of parts that are made of each cell.
    fn mean(&self, symbols: &str, read: Stage, of: impl Fn(Part<F>) -> Vec<Part<F>>) -> Draft<F> {
        let width = self.context.config.n_model;
        let cells = (0..width).map(|column| self.at(read, Place { column, ..self.place }));
        let sum = Draft::sum("Σ_d", cells.enumerate().map(|(d, cell)| piece(d, of(cell))).collect());
        let count = Part::constant("D", F::from_f64(width as f64));
        Draft::quotient(symbols, [("sum", sum.part("sum")), ("D", count)])
    }

    fn root(&self, variance: Part<F>) -> Part<F> {
        let epsilon = Part::constant("ε", F::from_f64(self.context.config.epsilon));
        let sum = Draft::sum("", vec![piece("spread", vec![variance]), piece("ε", vec![epsilon])]);
        let under = sum.named("spread + ε".into()).part("spread + ε");
        let shown = format!("√{}", in_place(under.value.to_f64()));
        let root = under.value.sqrt();
        Draft::function("√(spread + ε)", shown, vec![piece("spread + ε", vec![under])], root).part("root")
    }
}
