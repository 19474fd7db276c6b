//! Units of the feed-forward branch.

use super::draft::{in_place, piece, show, Draft};
use super::Asker;
use crate::num::Float;
use crate::stage::{Input, Kind};
use alloc::{format, vec};

impl<F: Float> Asker<'_, F> {
    /// A unit after the activation function, or times its gate after it.
    pub(super) fn activated(&self, units: Kind, gates: Kind) -> Draft<F> {
        let unit = self.here(self.input(&Input::Stage(units)));
        let gate = self.trace.plan().source(self.stage, &Input::Stage(gates)).map(|stage| self.here(stage));
        let activation = self.context.config.activation;
        let of = gate.clone().unwrap_or_else(|| unit.clone());
        let result = activation.apply(of.value);
        // No other letter of an activation's formula is a u; one alone in brackets needs no more of them.
        let value = of.value.to_f64();
        let alone = activation.formula().replace("(u", &format!("({}", show(value)));
        let shown = alone.replace('u', &in_place(value));
        let applied = Draft::function(activation.formula(), shown, vec![piece("u", vec![of])], result);
        match gate {
            None => applied,
            Some(_) => Draft::product("", vec![("unit", unit), ("gate", applied.part("φ(gate)"))]),
        }
    }
}
