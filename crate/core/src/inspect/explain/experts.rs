//! A mixture of experts: noise, choices, gates, and what is counted of them.

use super::draft::{minus, piece, show, Draft, Part};
use super::{Asker, Place};
use crate::config::Experts;
use crate::layer::experts::router;
use crate::math::{ranked, Overflow};
use crate::num::random::RandomStream;
use crate::num::Float;
use crate::stage::{Input, Kind, Stage};
use alloc::{format, string::String, vec, vec::Vec};

/// What the router made of one row.
struct Choice<F> {
    /// Its most probable experts.
    ranked: Vec<usize>,
    /// Those it was sent to; -1 where there was no room.
    selected: Vec<F>,
    /// Which of its choices found their expert full.
    found_full: Vec<bool>,
}

impl<F: Float> Asker<'_, F> {
    fn mixture(&self) -> &Experts {
        self.context.config.feed_forward.experts().expect("only a mixture has these stages")
    }

    /// The router's choices of all rows up to one, in their order: how full an expert is depends on the rows before.
    fn choices(&self, last: usize) -> Vec<Choice<F>> {
        let (mixture, stage) = (self.mixture(), self.of(Kind::Router));
        let (count, k) = (mixture.experts, mixture.selected);
        let (mut filled, mut importance) = (vec![0; count], vec![F::ZERO; count]);
        let (mut load, mut overflow) = (vec![F::ZERO; count], vec![F::ZERO; count]);
        let choose = |t| {
            let row = self.trace.row(stage, t);
            let (mut selected, mut gates) = (vec![F::ZERO; k], vec![F::ZERO; k]);
            let before = overflow.clone();
            // A pass in which a full expert is an error has none.
            let _ = router(mixture).choose(
                row,
                &mut filled,
                &mut selected,
                &mut gates,
                &mut importance,
                &mut load,
                &mut overflow,
            );
            let mut ranked = ranked(row);
            ranked.truncate(k);
            let found_full = ranked.iter().map(|&e| overflow[e] != before[e]).collect();
            Choice { ranked, selected, found_full }
        };
        (0..=last).map(choose).collect()
    }

    /// The choices of one row.
    fn choice(&self, t: usize) -> Choice<F> {
        let mut all = self.choices(t);
        all.swap_remove(t)
    }

    fn of(&self, kind: Kind) -> Stage {
        Stage { kind, ..self.stage }
    }

    fn probability_of(&self, t: usize, expert: usize) -> Part<F> {
        self.at(self.of(Kind::Router), Place { group: 0, row: t, column: expert })
    }

    /// A draw, times the noise's size.
    pub(super) fn noise(&self) -> Draft<F> {
        let (mixture, Place { row, column, .. }) = (self.mixture(), self.place);
        let mut stream = RandomStream::numpy(mixture.noise_seed.wrapping_add(self.stage.block as u64));
        (0..row * mixture.experts + column).for_each(|_| {
            stream.normal();
        });
        let parts = [("draw", stream.normal()), ("noise", mixture.noise)];
        let parts = parts.map(|(label, x)| (label, Part::constant(label, x))).to_vec();
        Draft::same("", "draw", Draft::<f64>::product("draw · noise", parts).rounded("draw · noise"))
    }

    /// Which expert a choice is.
    pub(super) fn selected(&self) -> Draft<F> {
        let Place { row: t, column: i, .. } = self.place;
        let choice = self.choice(t);
        let count = self.mixture().experts;
        let result = choice.selected[i];
        let all = (0..count).map(|e| piece(e, vec![self.probability_of(t, e)])).collect();
        let listed: Vec<String> = (0..count.min(12))
            .map(|e| format!("{}: {}", e, show(self.probability_of(t, e).value.to_f64())))
            .collect();
        let note = match (choice.found_full[i], result < F::ZERO) {
            (_, true) => "its expert was full: the choice found no room",
            (true, false) => "its expert was full: the next one with room took its place",
            _ => "",
        };
        let shown = format!("place {i} of experts by probability ({})", listed.join(", "));
        Draft::function("", shown, all, result).noted(note)
    }

    /// The weight of a choice.
    pub(super) fn gate(&self) -> Draft<F> {
        let Place { row: t, column: i, .. } = self.place;
        let selected = self.trace.row(self.of(Kind::Selected), t);
        let expert = selected[i];
        if expert < F::ZERO {
            return Draft::given("", F::ZERO, "the choice found no room: it weighs 0");
        }
        let choice = self.choice(t);
        let is_dropped = self.mixture().overflow == Overflow::Drop && *selected == choice.selected[..];
        // What was dropped is part of the sum that the others are divided by; what was put in its place is, too.
        let shares: Vec<usize> = if is_dropped {
            choice.ranked
        } else {
            let kept = selected.iter().filter(|&&e| e >= F::ZERO);
            kept.map(|e| e.to_f64() as usize).collect()
        };
        self.share(t, expert.to_f64() as usize, &shares)
    }

    /// An expert's probability, where gates are renormalized divided by the sum of some.
    fn share(&self, t: usize, expert: usize, of: &[usize]) -> Draft<F> {
        let own = self.probability_of(t, expert);
        let sum = Draft::sum(
            "Σ_n ρ[t, j[t,n]]",
            of.iter().map(|&e| piece(e, vec![self.probability_of(t, e)])).collect(),
        )
        .part("sum of the chosen");
        if self.mixture().renormalize && sum.value != F::ZERO {
            Draft::quotient("", [("probability", own), ("sum", sum)])
        } else {
            Draft::same("", "probability", own)
        }
    }

    /// The gate weight that rows placed on an expert.
    pub(super) fn importance(&self) -> Draft<F> {
        let mut pieces = Vec::new();
        for (t, choice) in self.choices(self.last()).into_iter().enumerate() {
            if choice.ranked.contains(&self.place.column) {
                let gate = self.share(t, self.place.column, &choice.ranked).part("gate before capacity");
                pieces.push(piece(format!("row {t}"), vec![gate]));
            }
        }
        Draft::sum("", pieces)
    }

    /// How unequal the importance is.
    pub(super) fn variation(&self) -> Draft<F> {
        let (importance, count) = (self.of(Kind::Importance), self.mixture().experts);
        let each = || (0..count).map(|column| self.at(importance, Place { column, ..self.place }));
        let divided = |symbols: &str, sum: Draft<F>| {
            let count = Part::constant("E", F::from_f64(count as f64));
            Draft::quotient(symbols, [("sum", sum.part("sum")), ("E", count)])
        };
        let sum = Draft::sum("Σ_e ι[e]", each().enumerate().map(|(e, x)| piece(e, vec![x])).collect());
        let mean = divided("mean ι", sum).part("mean");
        if mean.value == F::ZERO {
            return Draft::given("", F::ZERO, "no gate weighs anything");
        }
        let known = Part::constant("mean", mean.value);
        let squares = each().enumerate().map(|(e, x)| {
            let pieces = vec![piece("ι", vec![x]), minus("mean", known.clone())];
            let deviation = Draft::sum("ι − mean ι", pieces).part("ι - mean");
            piece(e, vec![deviation.clone(), deviation])
        });
        let sum = Draft::sum("Σ_e (ι[e] − mean ι)²", squares.collect());
        let variance = divided("variance ι", sum).part("variance");
        let square = Draft::product("(mean ι)²", vec![("mean", mean), ("mean", known)]).part("squared mean");
        Draft::quotient("", [("variance", variance), ("squared mean", square)])
    }

    /// How many choices fell on an expert.
    pub(super) fn load(&self) -> Draft<F> {
        self.counted(|choice, e| choice.ranked.contains(&e))
    }

    /// How many of them found it full.
    pub(super) fn overflow(&self) -> Draft<F> {
        self.counted(|choice, e| {
            (choice.ranked.iter().zip(&choice.found_full)).any(|(&r, &full)| r == e && full)
        })
    }

    fn counted(&self, counts: impl Fn(&Choice<F>, usize) -> bool) -> Draft<F> {
        let all = self.choices(self.last());
        let rows = all.iter().enumerate().filter(|(_, choice)| counts(choice, self.place.column));
        let one = |(t, _)| piece(format!("row {t}"), vec![Part::constant("1", F::ONE)]);
        Draft::sum("", rows.map(one).collect())
    }

    /// The last row of the stage's side.
    fn last(&self) -> usize {
        self.trace.plan().rows(self.of(Kind::Router), self.trace.lengths()) - 1
    }

    /// What the chosen experts make of the row, weighted and summed.
    pub(super) fn combined(&self) -> Draft<F> {
        let t = self.place.row;
        let [selected, gates, outputs] =
            [Kind::Selected, Kind::Gates, Kind::ExpertOutput].map(|kind| self.input(&Input::Stage(kind)));
        let choices = self.trace.row(selected, t).iter().enumerate().filter(|(_, &expert)| expert >= F::ZERO);
        let products = choices.map(|(i, expert)| {
            let gate = self.at(gates, Place { group: 0, row: t, column: i });
            let output = Place { group: expert.to_f64() as usize, ..self.place };
            piece(format!("expert {}", output.group), vec![gate, self.at(outputs, output)])
        });
        Draft::sum("", products.collect())
    }
}
