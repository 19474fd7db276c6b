//! Rotated queries and keys, scores, weights, mixtures.

use super::draft::{in_place, minus, piece, Draft, Part, Piece};
use super::{Asker, Place};
use crate::config::Position;
use crate::layer::attention::Branch;
use crate::math::{Pairing, Sight};
use crate::num::float::{cos, sin};
use crate::num::Float;
use crate::stage::{Input, Kind, Stage};
use alloc::{format, vec, vec::Vec};

impl<F: Float> Asker<'_, F> {
    fn branch(&self) -> &'static Branch {
        match self.stage.kind {
            Kind::CrossScores | Kind::CrossWeights | Kind::CrossMixed => &Branch::CROSS,
            _ => &Branch::SELF,
        }
    }

    /// What the stage's queries saw as it was computed.
    fn sight(&self) -> Sight<'_, F> {
        let (branch, trace) = (self.branch(), self.trace);
        let is_edited = |kind: Kind| {
            let stage = Stage { kind, ..self.stage };
            self.stage.kind > kind && trace.changes().edits_of(stage).next().is_some()
        };
        branch.sight(&self.context, trace.lengths(), is_edited(branch.scores.0) || is_edited(branch.weights))
    }

    /// A coordinate of a query or key, turned with its partner by the position's angle.
    pub(super) fn rotated(&self, kind: Kind) -> Draft<F> {
        let read = self.input(&Input::Stage(kind));
        let own = self.here(read);
        let Position::Rotary(rotary) = &self.context.config.position else {
            return Draft::same("", "as it is", own);
        };
        let (frequencies, column) = (&self.context.positions.frequencies, self.place.column);
        let half = frequencies.len();
        let (pair, is_first) = match rotary.pairing {
            Pairing::Adjacent => (column / 2, column.is_multiple_of(2)),
            Pairing::Half => (column % half.max(1), column < half),
        };
        let angle = frequencies.get(pair).map_or(0.0, |frequency| self.place.row as f64 * frequency);
        if column >= 2 * half || angle == 0.0 {
            return Draft::same("", "as it is", own);
        }
        let partner = match (rotary.pairing, is_first) {
            (Pairing::Adjacent, true) => column + 1,
            (Pairing::Adjacent, false) => column - 1,
            (Pairing::Half, true) => column + half,
            (Pairing::Half, false) => column - half,
        };
        let other = self.at(read, Place { column: partner, ..self.place });
        let turned = |name: &str, value: f64| {
            let parts = [("position", self.place.row as f64), ("frequency", frequencies[pair])];
            let parts = parts.map(|(label, x)| (label, Part::constant(label, x))).to_vec();
            let theta = Draft::<f64>::product("θ = position · frequency", parts).part("θ");
            let shown = format!("{name} {}", in_place(theta.value));
            let symbols = format!("{name} θ");
            Draft::function(&symbols, shown, vec![piece("θ", vec![theta])], value).rounded::<F>(symbols)
        };
        let (cos, sin) = (turned("cos", cos(angle)), turned("sin", sin(angle)));
        Draft::sum(
            "",
            match is_first {
                true => vec![
                    piece("a cos θ", vec![own, cos]),
                    piece("b sin θ", vec![Part::constant("-1", -F::ONE), other, sin]),
                ],
                false => vec![piece("a sin θ", vec![other, sin]), piece("b cos θ", vec![own, cos])],
            },
        )
    }

    /// A score: a scaled product, less what the distance costs, plus what a mask adds.
    pub(super) fn score(&self) -> Draft<F> {
        let (sight, branch) = (self.sight(), self.branch());
        let Place { group: h, row: t, column: s } = self.place;
        if sight.hides(h, t, s) {
            return Draft::given("", F::NEG_INFINITY, &self.hidden_by(&sight));
        }
        let [queries, keys] = branch.scores.1.map(|input| self.input(&input));
        let width = self.context.config.head_width();
        let products = (0..width).map(|column| {
            let query = self.at(queries, Place { column, ..self.place });
            let key = self.at(keys, Place { group: self.key_head(), row: s, column });
            piece(column, vec![query, key])
        });
        let product = Draft::sum("Σ_k Q[h,t,k] · K[h,s,k]", products.collect()).part("q · k");
        let scale = Part::constant("c", Branch::scale(&self.context));
        let mut pieces = vec![piece("scaled product", vec![product, scale])];
        if let Some(slopes) = sight.slopes {
            let distance = Part::constant("distance", F::from_f64(t.abs_diff(s) as f64));
            let parts = vec![Part::constant("-1", -F::ONE), Part::constant("slope", slopes[h]), distance];
            pieces.push(piece("distance", parts));
        }
        if let Some(added) = sight.added(h, t, s) {
            pieces.push(piece("mask", vec![Part::constant("mask", added)]));
        }
        Draft::sum("", pieces)
    }

    /// Which of the masks hides the cell.
    fn hidden_by(&self, sight: &Sight<'_, F>) -> alloc::string::String {
        let Place { group: h, row: t, column: s } = self.place;
        let mask = if self.branch().is_cross() { "masks.memory" } else { "masks.attention" };
        let padding = match (self.branch().is_cross(), self.stage.tower) {
            (true, _) => "masks.memoryPadding",
            (false, crate::stage::Tower::Encoder) if self.context.config.encoder.is_some() => {
                "masks.sourcePadding"
            }
            _ => "masks.padding",
        };
        if sight.causal && s > t {
            format!("hidden by the causal mask: key {s} comes after query {t}")
        } else if !sight.range(t).contains(&s) {
            format!(
                "hidden by the window of {}: key {s} is too far from query {t}",
                sight.window.unwrap_or(0)
            )
        } else if sight.padding.is_some_and(|padding| padding[s]) {
            format!("hidden by {padding}: key {s} is padding")
        } else {
            format!("hidden by {mask}: head {h}, query {t}, key {s}")
        }
    }

    /// An attention weight.
    pub(super) fn weight(&self) -> Draft<F> {
        let (sight, t) = (self.sight(), self.place.row);
        let read = self.input(&Input::Stage(self.branch().scores.0));
        let scores = |column| self.at(read, Place { column, ..self.place });
        let cells: Vec<Part<F>> = sight.range(t).map(scores).collect();
        softmax("S", &cells, scores(self.place.column))
    }

    /// The router's probability of an expert.
    pub(super) fn router(&self) -> Draft<F> {
        let (logits, plan) = (self.input(&Input::Stage(Kind::RouterLogits)), self.trace.plan());
        let noise = plan.source(self.stage, &Input::Stage(Kind::RouterNoise));
        let count = self.trace.row(logits, self.place.row).len();
        let cell = |column| {
            let place = Place { column, ..self.place };
            match noise {
                None => self.at(logits, place),
                Some(noise) => {
                    let pieces = [("logit", logits), ("noise", noise)];
                    let pieces = pieces.map(|(label, stage)| piece(label, vec![self.at(stage, place)]));
                    Draft::sum("α = a + ν", pieces.to_vec()).part("α")
                }
            }
        };
        let cells: Vec<Part<F>> = (0..count).map(cell).collect();
        softmax("α", &cells, cells[self.place.column].clone())
    }

    /// The probability of a token.
    pub(super) fn probability(&self) -> Draft<F> {
        let logits = self.input(&Input::Stage(Kind::Logits));
        let count = self.trace.row(logits, self.place.row).len();
        let cell = |column| self.at(logits, Place { column, ..self.place });
        softmax("l", &(0..count).map(cell).collect::<Vec<_>>(), self.here(logits))
    }

    /// A coordinate of the values, weighted and summed.
    pub(super) fn mixed(&self) -> Draft<F> {
        let branch = self.branch();
        let (weights, values) = (branch.weights, branch.value.0);
        let [weights, values] = [weights, values].map(|kind| self.input(&Input::Stage(kind)));
        let products = self.sight().range(self.place.row).map(|s| {
            let weight = self.at(weights, Place { column: s, ..self.place });
            let value = Place { group: self.key_head(), row: s, column: self.place.column };
            piece(s, vec![weight, self.at(values, value)])
        });
        Draft::sum("", products.collect())
    }

    fn key_head(&self) -> usize {
        let config = self.context.config;
        self.place.group / (config.n_heads / config.n_key_value_heads())
    }
}

/// `exp(x − m) / Σ exp(x − m)` of one of some cells, or of one that is hidden from them.
fn softmax<F: Float>(letter: &str, cells: &[Part<F>], own: Part<F>) -> Draft<F> {
    let largest =
        cells.iter().fold(F::NEG_INFINITY, |max, cell| if cell.value > max { cell.value } else { max });
    if largest == F::NEG_INFINITY {
        return Draft::given("", F::ZERO, "everything is hidden from this row: its weights are 0");
    }
    let shown = format!("max of {} numbers", cells.len());
    let all = cells.iter().enumerate().map(|(i, cell)| piece(i, vec![cell.clone()])).collect();
    let max = Draft::function(&format!("m = max {letter}"), shown, all, largest).part("m");
    // The largest is explained once; the terms of the sum name it.
    let known = Part::constant("m", max.value);
    let parts: Vec<Piece<F>> = cells
        .iter()
        .enumerate()
        .map(|(i, cell)| piece(i, vec![power(letter, cell.clone(), &known)]))
        .collect();
    let sum = Draft::sum(&format!("Σ exp({letter} − m)"), parts).part("sum of exponentials");
    Draft::quotient("", [("exponential", power(letter, own, &max)), ("sum", sum)])
}

fn power<F: Float>(letter: &str, cell: Part<F>, max: &Part<F>) -> Part<F> {
    let symbols = format!("{letter} − m");
    let exponent =
        Draft::sum(&symbols, vec![piece(letter, vec![cell]), minus("m", max.clone())]).part(&symbols);
    let shown = format!(
        "exp{}",
        match exponent.value.to_f64() {
            x if x < 0.0 => in_place(x),
            x => format!("({})", in_place(x)),
        }
    );
    let result = exponent.value.exp();
    let name = format!("exp({symbols})");
    Draft::function(&name, shown, vec![piece("exponent", vec![exponent])], result).part(&name)
}
