//! What can be said of a model's traces from its options alone, without a model.

use crate::changes;
use crate::convert::{entries, plain};
use crate::error::thrown;
use crate::model::start;
use crate::numbers;
use crate::report::{self, Labels, StageReport};
use crate::trace::Trace;
use glassformer::inspect::describe;
use glassformer::num::DType;
use glassformer::options::{self, Options};
use glassformer::stage::Lengths;
use glassformer::trace::{Plan, Prompt};
use js_sys::{Float32Array, Float64Array};
use wasm_bindgen::prelude::*;

/// What a stage's description takes, its texts included.
const PER_DESCRIPTION: f64 = 1024.0;

/// What is said about each stage of a pass that starts from `tokens`, `rows` or `memory`, in execution order.
#[wasm_bindgen]
pub fn describe_stages(options: &JsValue, start: &str) -> Result<JsValue, JsValue> {
    let (_, plan) = read(options, start)?;
    numbers::room("the descriptions of the stages", plan.stages().len() as f64 * PER_DESCRIPTION)?;
    let report = |&stage| StageReport::from(describe(&plan, stage));
    Ok(plain(&plan.stages().iter().map(report).collect::<Vec<_>>()))
}

/// The shape of each stage for a number of rows of the prompt and of a source, one after the other, each behind its number of axes.
#[wasm_bindgen]
pub fn stage_shapes(
    options: &JsValue,
    start: &str,
    rows: usize,
    source_rows: usize,
) -> Result<Vec<u32>, JsValue> {
    let (_, plan) = read(options, start)?;
    let lengths = Lengths { target: rows, source: source_rows };
    let mut out = Vec::new();
    for &stage in plan.stages() {
        let shape = plan.shape(stage, lengths);
        out.push(shape.len() as u32);
        out.extend(shape.into_iter().map(|size| size as u32));
    }
    Ok(out)
}

/// A trace from the numbers that an earlier one gave out as its block.
#[wasm_bindgen]
#[allow(clippy::too_many_arguments)] // What a trace is made of; an object of them would have to be read first.
pub fn trace_from_block(
    options: &JsValue,
    start: &str,
    source_tokens: Vec<u32>,
    tokens: Vec<u32>,
    source_rows: usize,
    rows: usize,
    changes: &JsValue,
    block: &JsValue,
) -> Result<Trace, JsValue> {
    let (options, plan) = read(options, start)?;
    let prompt = Prompt { tokens, source: source_tokens };
    let lengths = Lengths { target: rows, source: source_rows };
    match options.dtype {
        DType::Float64 => {
            let block = numbers::read(block.unchecked_ref::<Float64Array>())?;
            Trace::from_block(plan, prompt, changes::read(changes)?, lengths, &block)
        }
        DType::Float32 => {
            let block = numbers::read(block.unchecked_ref::<Float32Array>())?;
            Trace::from_block(plan, prompt, changes::read(changes)?, lengths, &block)
        }
    }
    .map_err(thrown)
}

/// Every option with its value, from some of them: what a model of these options would report, seed aside.
#[wasm_bindgen]
pub fn fill_in(options: &JsValue) -> Result<JsValue, JsValue> {
    numbers::margin()?;
    let options = options::parse(&entries(options)?).map_err(thrown)?;
    let labels = Labels {
        seed: options.seed.given(),
        words: options.words.as_deref(),
        source_words: options.source_words.as_deref(),
    };
    let report = plain(&report::options(options::fill_in(&options.config, options.dtype), labels));
    Ok(report)
}

fn read(options: &JsValue, from: &str) -> Result<(Options, Plan), JsValue> {
    numbers::margin()?;
    let options = options::parse(&entries(options)?).map_err(thrown)?;
    let plan = Plan::new(&options.config, start(from)?);
    plan.map(|plan| (options, plan)).map_err(thrown)
}
