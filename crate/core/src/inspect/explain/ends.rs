//! What stands before the blocks and behind them.

use super::draft::{in_place, piece, Draft, Part};
use super::{Asker, Of, Place};
use crate::config::Position;
use crate::num::float::{cos, pow, sin};
use crate::num::Float;
use crate::params::Role;
use crate::stage::{Input, Kind, Side};
use alloc::{format, vec, vec::Vec};

impl<F: Float> Asker<'_, F> {
    /// An entry of the embedding table.
    pub(super) fn embedding(&self) -> Draft<F> {
        let tokens = match self.stage.side() {
            Side::Target => self.trace.tokens(),
            Side::Source => self.trace.source_tokens(),
        };
        let token = tokens[self.place.row] as usize;
        Draft::same("", "the token's entry", self.table_entry(Role::Embedding, token, self.place.column))
    }

    fn table_entry(&self, role: Role, row: usize, column: usize) -> Part<F> {
        let (parameter, stored) =
            self.context.weights().named(role, 0).expect("a cell is explained by its own parameters");
        let value = stored[row * self.context.config.n_model + column];
        Part { of: Of::Parameter(parameter.name(), vec![row, column]), value }
    }

    /// An entry of the position table, or a sine or cosine.
    pub(super) fn position(&self) -> Draft<F> {
        let Place { row: t, column: d, .. } = self.place;
        if self.context.config.position == Position::Learned {
            return Draft::same("", "the position's entry", self.table_entry(Role::Position, t, d));
        }
        let pair = (d - d % 2) as f64;
        let frequency = pow(10000.0, -pair / self.context.config.n_model as f64);
        let angle = t as f64 * frequency;
        let (name, value) = if d.is_multiple_of(2) { ("sin", sin(angle)) } else { ("cos", cos(angle)) };
        let parts = [("position", t as f64), ("frequency", frequency)];
        let parts = parts.map(|(label, x)| (label, Part::constant(label, x))).to_vec();
        let theta = Draft::<f64>::product("θ = t · 10000^(−2j/D)", parts).rounded::<F>("θ");
        let shown = format!("{name} {}", in_place(angle));
        Draft::function("", shown, vec![piece("θ", vec![theta])], F::from_f64(value))
    }

    /// Token plus position.
    pub(super) fn positioned(&self) -> Draft<F> {
        let token = self.here(self.input(&Input::Embedded));
        let scale = self.context.config.embedding_scale;
        let mut factors = Vec::new();
        if scale != 1.0 {
            factors.push(Part::constant("scale", F::from_f64(scale)));
        }
        factors.push(token);
        let mut pieces = vec![piece("token", factors)];
        if let Some(position) = self.trace.plan().source(self.stage, &Input::Stage(Kind::Position)) {
            pieces.push(piece("position", vec![self.here(position)]));
        }
        Draft::sum("", pieces)
    }

    /// A score of the vocabulary.
    pub(super) fn logit(&self) -> Draft<F> {
        if !self.context.config.tied_head {
            return self.linear();
        }
        let (read, token) = (self.input(&Input::HeadInput), self.place.column);
        let products = (0..self.context.config.n_model).map(|column| {
            let cell = self.at(read, Place { column, ..self.place });
            piece(column, vec![cell, self.table_entry(Role::Embedding, token, column)])
        });
        let mut pieces: Vec<_> = products.collect();
        if let Some(bias) = self.vector_entry(Role::HeadBias, 0, token) {
            pieces.push(piece("bias", vec![bias]));
        }
        Draft::sum("", pieces)
    }
}
