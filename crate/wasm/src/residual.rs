//! The residual stream taken apart, as plain objects with typed arrays.

use crate::convert::plain;
use crate::error::thrown;
use crate::model::{start, Either as Models, Model};
use crate::numbers::{self, wide};
use crate::trace::{of_other_type, Either as Traces, Trace};
use glassformer::error::Error;
use glassformer::inspect::{Bump, LogitContributions, ResidualPart, Response, StageResponse};
use glassformer::math::softmax;
use glassformer::model::Transformer;
use glassformer::num::Float;
use glassformer::stage::Stage;
use glassformer::trace::Trace as CoreTrace;
use js_sys::{Array, Float64Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// Does the same with a model and a trace of one element type.
macro_rules! with_both {
    ($model:expr, $trace:expr, ($m:ident, $t:ident) => $body:expr) => {
        match ($model.either(), $trace.either()) {
            (Models::F64($m), Traces::F64($t)) => $body,
            (Models::F32($m), Traces::F32($t)) => $body,
            _ => Err(thrown(of_other_type($model.dtype(), $trace.dtype()))),
        }
    };
}

#[wasm_bindgen]
impl Model {
    /// The parts of the stream of a trace of this model: `[[{ name, stage, head }, values], …]`.
    pub fn residual_parts(&self, trace: &Trace, by_head: bool) -> Result<Array, JsValue> {
        fn parts<F: Float>(m: &Transformer<F>, t: &CoreTrace<F>, by_head: bool) -> Result<Array, JsValue> {
            let parts = m.residual_parts(t, by_head).map_err(thrown)?;
            numbers::room("the parts", parts.iter().map(|p| p.values.len() as f64 * 8.0 + 512.0).sum())?;
            parts.into_iter().map(listed).collect()
        }
        numbers::margin()?;
        with_both!(self, trace, (m, t) => parts(m, t, by_head))
    }

    /// What each head of an attention branch writes into the stream, H,T,D, flat.
    pub fn head_results(&self, trace: &Trace, stage: &str) -> Result<Float64Array, JsValue> {
        numbers::margin()?;
        with_both!(self, trace, (m, t) => wide(&m.head_results(t, stage).map_err(thrown)?))
    }

    /// The logits and probabilities that the head would make of the stream on its way: `[[stage, logits, probabilities], …]`.
    pub fn logit_lens(&self, trace: &Trace, is_frozen: bool) -> Result<Array, JsValue> {
        fn lens<F: Float>(m: &Transformer<F>, t: &CoreTrace<F>, is_frozen: bool) -> Result<Array, JsValue> {
            let vocabulary = m.config().n_vocab.max(1);
            let lens = m.logit_lens(t, is_frozen).map_err(thrown)?;
            let row = |(stage, logits): (Stage, Vec<F>)| {
                let mut probabilities = numbers::zeros::<F>(logits.len())?;
                for (row, out) in
                    logits.chunks_exact(vocabulary).zip(probabilities.chunks_exact_mut(vocabulary))
                {
                    softmax(row, out);
                }
                let name = JsValue::from(stage.name());
                Ok(Array::of3(&name, &wide(&logits)?.into(), &wide(&probabilities)?.into()).into())
            };
            lens.into_iter()
                .map(row)
                .collect::<Result<Vec<JsValue>, JsValue>>()
                .map(|rows| rows.iter().collect())
        }
        numbers::margin()?;
        with_both!(self, trace, (m, t) => lens(m, t, is_frozen))
    }

    /// What each part of the stream adds to a logit, or to a difference of two.
    pub fn logit_contributions(
        &self,
        trace: &Trace,
        position: usize,
        id: u32,
        against: Option<u32>,
    ) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let report = with_both!(self, trace, (m, t) => {
            m.logit_contributions(t, position, id, against).map(Contributions::from).map_err(thrown)
        })?;
        Ok(plain(&report))
    }

    /// What a bump of one coordinate of one row of a stage changes.
    #[allow(clippy::too_many_arguments)] // A pass, and what is bumped of it.
    pub fn perturb(
        &self,
        from: &str,
        source: Option<Float64Array>,
        target: &Float64Array,
        stage: &str,
        position: usize,
        coordinate: usize,
        amount: f64,
    ) -> Result<JsValue, JsValue> {
        fn ask<F: Float>(
            m: &Transformer<F>,
            given: crate::model::Read<F>,
            (stage, position, coordinate, amount): (&str, usize, usize, f64),
        ) -> Result<Response, Error> {
            let bump = Bump { stage, position, coordinate, amount: F::from_f64(amount) };
            m.perturb(given.given(), &bump)
        }
        numbers::margin()?;
        let (start, bump) = (start(from)?, (stage, position, coordinate, amount));
        let source = source.as_ref();
        let response = match self.either() {
            Models::F64(m) => ask(m, crate::model::Read::new(m, start, source, target)?, bump),
            Models::F32(m) => ask(m, crate::model::Read::new(m, start, source, target)?, bump),
        };
        response.map(|response| plain(&ResponseReport::from(response))).map_err(thrown)
    }
}

#[derive(Serialize)]
struct PartName {
    name: String,
    stage: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<usize>,
}

fn listed<F: Float>(part: ResidualPart<F>) -> Result<JsValue, JsValue> {
    let name = PartName { name: part.name, stage: part.stage.name(), head: part.head };
    Ok(Array::of2(&plain(&name), &wide(&part.values)?.into()).into())
}

#[derive(Serialize)]
struct Contributions {
    parts: Vec<Share>,
    constant: f64,
    logit: f64,
    check: f64,
}

#[derive(Serialize)]
struct Share {
    name: String,
    value: f64,
}

impl<F: Float> From<LogitContributions<F>> for Contributions {
    fn from(own: LogitContributions<F>) -> Self {
        let share = |(name, value): (String, F)| Share { name, value: value.to_f64() };
        Contributions {
            parts: own.parts.into_iter().map(share).collect(),
            constant: own.constant.to_f64(),
            logit: own.logit.to_f64(),
            check: own.check.to_f64(),
        }
    }
}

#[derive(Serialize)]
struct ResponseReport {
    branch: Vec<StageReport>,
    model: Vec<StageReport>,
}

#[derive(Serialize)]
struct StageReport {
    stage: String,
    rows: Vec<RowReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowReport {
    position: usize,
    sum_abs: f64,
    cells: usize,
}

impl From<Response> for ResponseReport {
    fn from(Response { branch, model }: Response) -> Self {
        let all = |stages: Vec<StageResponse>| stages.into_iter().map(StageReport::from).collect();
        ResponseReport { branch: all(branch), model: all(model) }
    }
}

impl From<StageResponse> for StageReport {
    fn from(own: StageResponse) -> Self {
        let row = |row: &glassformer::inspect::RowResponse| RowReport {
            position: row.position,
            sum_abs: row.sum_abs,
            cells: row.cells,
        };
        StageReport { stage: own.stage.name(), rows: own.rows.iter().map(row).collect() }
    }
}
