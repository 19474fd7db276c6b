//! What can be said of a model's traces from its options alone, without a model.

use crate::convert::{entries, plain};
use crate::error::thrown;
use crate::numbers;
use crate::options::{self, Options};
use crate::report::{self, StageReport};
use crate::trace::Trace;
use glassformer::inspect::describe;
use glassformer::num::DType;
use glassformer::trace::{Plan, Start};
use js_sys::{Float32Array, Float64Array};
use wasm_bindgen::prelude::*;

/// What a stage's description takes, its texts included.
const PER_DESCRIPTION: f64 = 1024.0;

/// What is said about each stage of a pass that starts from tokens (or rows), in execution order.
#[wasm_bindgen]
pub fn describe_stages(options: &JsValue, from_rows: bool) -> Result<JsValue, JsValue> {
    let (options, plan) = read(options, from_rows)?;
    numbers::room("the descriptions of the stages", plan.stages().len() as f64 * PER_DESCRIPTION)?;
    let report = |&stage| StageReport::from(describe(&plan, stage, options.config.activation));
    Ok(plain(&plan.stages().iter().map(report).collect::<Vec<_>>()))
}

/// The shape of each stage for a number of rows, one after the other, each behind its number of axes.
#[wasm_bindgen]
pub fn stage_shapes(options: &JsValue, from_rows: bool, rows: usize) -> Result<Vec<u32>, JsValue> {
    let (_, plan) = read(options, from_rows)?;
    let mut out = Vec::new();
    for &stage in plan.stages() {
        let shape = plan.shape(stage, rows);
        out.push(shape.len() as u32);
        out.extend(shape.into_iter().map(|size| size as u32));
    }
    Ok(out)
}

/// A trace from the numbers that an earlier one gave out as its block.
#[wasm_bindgen]
pub fn trace_from_block(
    options: &JsValue,
    from_rows: bool,
    tokens: Vec<u32>,
    rows: usize,
    block: &JsValue,
) -> Result<Trace, JsValue> {
    let (options, plan) = read(options, from_rows)?;
    match options.dtype {
        DType::Float64 => {
            Trace::from_block(plan, tokens, rows, &numbers::read(block.unchecked_ref::<Float64Array>())?)
        }
        DType::Float32 => {
            Trace::from_block(plan, tokens, rows, &numbers::read(block.unchecked_ref::<Float32Array>())?)
        }
    }
    .map_err(thrown)
}

/// Every option with its value, from some of them: what a model of these options would report, seed aside.
#[wasm_bindgen]
pub fn fill_in(options: &JsValue) -> Result<JsValue, JsValue> {
    numbers::margin()?;
    let options = options::parse(&entries(options)?).map_err(thrown)?;
    let filled_in = options::fill_in(&options.config, options.dtype);
    let report = report::options(filled_in, options.seed.given(), options.words.as_deref());
    Ok(plain(&report))
}

fn read(options: &JsValue, from_rows: bool) -> Result<(Options, Plan), JsValue> {
    numbers::margin()?;
    let options = options::parse(&entries(options)?).map_err(thrown)?;
    let plan = Plan::new(&options.config, if from_rows { Start::Rows } else { Start::Tokens });
    plan.map(|plan| (options, plan)).map_err(thrown)
}
