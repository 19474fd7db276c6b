//! Continuing a prompt.

use crate::convert::plain;
use crate::error::thrown;
use crate::model::{Either, Model, Read};
use crate::numbers::{self, wide, Typed};
use glassformer::error::Error;
use glassformer::generate::{Beam, Beams, Filter, Run};
use glassformer::model::Transformer;
use glassformer::num::Float;
use glassformer::trace::Start;
use js_sys::{Array, Float32Array, Float64Array};
use serde::Serialize;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Model {
    /// The steps of a run, as `[[{ token, probability, removedMass }, distribution, filtered], …]`.
    #[allow(clippy::too_many_arguments)] // A run's options; an object of them would have to be read first.
    pub fn generate(
        &self,
        ids: &Float64Array,
        max_new_tokens: usize,
        greedy: bool,
        temperature: f64,
        top_k: Option<usize>,
        top_p: Option<f64>,
        seed: u64,
        end: Option<u32>,
    ) -> Result<Array, JsValue> {
        fn run<F: Float>(model: &Transformer<F>, ids: &Float64Array, run: &Run) -> Result<Array, JsValue> {
            let ids = read(model, ids)?;
            let config = model.config();
            let most = run.max_new_tokens.min(config.max_context.saturating_sub(ids.len()) + 1);
            numbers::room("the steps", most as f64 * (config.n_vocab as f64 * 32.0 + 512.0))?;
            let steps = model.generate(&ids, run).map_err(thrown)?;
            let report = |step: glassformer::generate::Step<F>| {
                let own = StepReport {
                    token: step.token,
                    probability: step.probability.to_f64(),
                    removed_mass: step.removed_mass.to_f64(),
                };
                let (before, after) = (wide(&step.distribution)?, wide(&step.filtered)?);
                Ok(Array::of3(&plain(&own), &before.into(), &after.into()).into())
            };
            steps
                .into_iter()
                .map(report)
                .collect::<Result<Vec<JsValue>, JsValue>>()
                .map(|all| all.iter().collect())
        }
        numbers::margin()?;
        let filter = Filter { temperature, top_k, top_p };
        let own = Run { max_new_tokens, greedy, filter, seed, end };
        match self.either() {
            Either::F64(model) => run(model, ids, &own),
            Either::F32(model) => run(model, ids, &own),
        }
    }

    /// The continuations that a beam search finds, best first.
    pub fn beams(
        &self,
        ids: &Float64Array,
        width: usize,
        max_new_tokens: usize,
        end: Option<u32>,
        length_penalty: f64,
    ) -> Result<JsValue, JsValue> {
        fn run<F: Float>(
            model: &Transformer<F>,
            ids: &Float64Array,
            search: &Beams,
        ) -> Result<Vec<Beam>, JsValue> {
            model.beams(&read(model, ids)?, search).map_err(thrown)
        }
        numbers::margin()?;
        let search = Beams { width, max_new_tokens, end, length_penalty };
        let beams = match self.either() {
            Either::F64(model) => run(model, ids, &search),
            Either::F32(model) => run(model, ids, &search),
        }?;
        Ok(plain(&beams.into_iter().map(BeamReport::from).collect::<Vec<_>>()))
    }

    /// The log-probability of `ids[from..]` after `ids[..from]`.
    pub fn sequence_log_probability(&self, ids: &Float64Array, from: usize) -> Result<f64, JsValue> {
        numbers::margin()?;
        match self.either() {
            Either::F64(model) => model.sequence_log_probability(&read(model, ids)?, from),
            Either::F32(model) => model.sequence_log_probability(&read(model, ids)?, from),
        }
        .map_err(thrown)
    }
}

/// The distributions before and after the filters, of logits that stand in a typed array of either kind; gives the mass
/// that was removed.
#[wasm_bindgen]
pub fn math_filter_logits(
    logits: &JsValue,
    distribution: &JsValue,
    filtered: &JsValue,
    temperature: f64,
    top_k: Option<usize>,
    top_p: Option<f64>,
) -> Result<f64, JsValue> {
    fn run<A: Typed>(arrays: [&JsValue; 3], filter: Filter) -> Result<f64, JsValue> {
        filter.check().map_err(thrown)?;
        let [logits, distribution, filtered] = arrays.map(|array| array.unchecked_ref::<A>());
        let logits = numbers::read(logits)?;
        let (mut before, mut after) = (numbers::zeros(logits.len())?, numbers::zeros(logits.len())?);
        let removed = filter.apply(&logits, &mut before, &mut after);
        distribution.copy_in(0, &before);
        filtered.copy_in(0, &after);
        Ok(removed.to_f64())
    }
    numbers::margin()?;
    let (arrays, filter) = ([logits, distribution, filtered], Filter { temperature, top_k, top_p });
    match logits.is_instance_of::<Float32Array>() {
        true => run::<Float32Array>(arrays, filter),
        false => run::<Float64Array>(arrays, filter),
    }
}

fn read<F: Float>(model: &Transformer<F>, ids: &Float64Array) -> Result<Vec<u32>, JsValue> {
    match Read::new(model, Start::Tokens, None, ids)? {
        Read::Tokens { target, .. } => Ok(target),
        _ => Err(thrown(Error::EmptyPrompt)),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StepReport {
    token: u32,
    probability: f64,
    removed_mass: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BeamReport {
    tokens: Vec<u32>,
    log_probability: f64,
    score: f64,
}

impl From<Beam> for BeamReport {
    fn from(Beam { tokens, log_probability, score }: Beam) -> Self {
        BeamReport { tokens, log_probability, score }
    }
}
