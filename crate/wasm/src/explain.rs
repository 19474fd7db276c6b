//! The exact arithmetic of a cell, as a plain object.

use crate::convert::plain;
use crate::error::thrown;
use crate::model::{Either as Models, Model};
use crate::numbers;
use crate::trace::{of_other_type, Either as Traces, Trace};
use glassformer::inspect::{Explanation, Factor, Of, Term};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// What a term of an explanation takes at most, those within it included.
const PER_TERM: f64 = 4096.0;

#[wasm_bindgen]
impl Model {
    /// What a cell of a trace of this model, with these parameters, was computed from.
    pub fn explain(&self, trace: &Trace, stage: &str, index: Vec<usize>) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        numbers::room("the explanation", trace.widest(stage) * PER_TERM)?;
        let explained = match (self.either(), trace.either()) {
            (Models::F64(m), Traces::F64(t)) => m.explain(t, stage, &index),
            (Models::F32(m), Traces::F32(t)) => m.explain(t, stage, &index),
            _ => Err(of_other_type(self.dtype(), trace.dtype())),
        };
        explained.map(|explained| plain(&Report::from(explained))).map_err(thrown)
    }
}

#[derive(Serialize)]
struct Report {
    value: f64,
    op: &'static str,
    symbols: String,
    numbers: String,
    terms: Vec<TermReport>,
    check: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct TermReport {
    label: String,
    factors: Vec<FactorReport>,
    value: f64,
}

#[derive(Default, Serialize)]
struct FactorReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Vec<usize>>,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Box<Report>>,
}

impl From<Explanation> for Report {
    fn from(explained: Explanation) -> Self {
        let Explanation { value, op, symbols, numbers, terms, check, note } = explained;
        let terms = terms.into_iter().map(TermReport::from).collect();
        Report { value, op: op.name(), symbols, numbers, terms, check, note }
    }
}

impl From<Term> for TermReport {
    fn from(Term { label, factors, value }: Term) -> Self {
        TermReport { label, factors: factors.into_iter().map(FactorReport::from).collect(), value }
    }
}

impl From<Factor> for FactorReport {
    fn from(Factor { of, value }: Factor) -> Self {
        let own = FactorReport { value, ..FactorReport::default() };
        match of {
            Of::Cell(stage, index) => FactorReport { stage: Some(stage.name()), index: Some(index), ..own },
            Of::Parameter(name, index) => FactorReport { parameter: Some(name), index: Some(index), ..own },
            Of::Constant(name) => FactorReport { constant: Some(name), ..own },
            Of::Derived(name, from) => {
                FactorReport { constant: Some(name), from: Some(Box::new(Report::from(*from))), ..own }
            }
        }
    }
}
