//! Norms, entropies, gains and counts, as plain objects with the names that JavaScript uses.

use crate::convert::plain;
use crate::error::thrown;
use crate::model::{self, Model, Read};
use crate::numbers;
use crate::trace::{self, Trace};
use glassformer::error::Error;
use glassformer::inspect::{
    count, BlockCount, Count, CrossCount, Crossovers, Entropy, FlopCount, Norms, ParameterCount,
};
use glassformer::model::Transformer;
use glassformer::num::Float;
use glassformer::trace::Start;
use js_sys::Float64Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

/// What a number takes, as it is computed and as it is reported.
const PER_NUMBER: f64 = 64.0;

/// What a stage takes besides its numbers.
const PER_STAGE: f64 = 256.0;

#[wasm_bindgen]
impl Trace {
    /// The L2 norms of the residual stream's rows, and of each branch's.
    pub fn norms(&self) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        self.room("the norms", self.rows().max(self.source_rows()) as f64)?;
        let norms = match self.either() {
            trace::Either::F64(trace) => trace.norms(),
            trace::Either::F32(trace) => trace.norms(),
        };
        norms.map(|norms| plain(&norms.iter().map(norms_report).collect::<Vec<_>>())).map_err(thrown)
    }

    /// The entropies of attention, and their bounds; of each stage H times T numbers, flat.
    pub fn entropies(&self) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let heads = match self.either() {
            trace::Either::F64(trace) => trace.plan().config().n_heads,
            trace::Either::F32(trace) => trace.plan().config().n_heads,
        };
        self.room("the entropies", self.rows().max(self.source_rows()) as f64 * heads as f64)?;
        let entropies = match self.either() {
            trace::Either::F64(trace) => trace.entropies(),
            trace::Either::F32(trace) => trace.entropies(),
        };
        entropies.map(|list| plain(&list.iter().map(entropy_report).collect::<Vec<_>>())).map_err(thrown)
    }
}

impl Trace {
    /// Whether the numbers of a few stages of each block can be had, this many twice for each.
    fn room(&self, what: &str, each: f64) -> Result<(), JsValue> {
        let stages = match self.either() {
            trace::Either::F64(trace) => trace.stages().len(),
            trace::Either::F32(trace) => trace.stages().len(),
        };
        // Of a block's stages, at least ten, these are at most five.
        numbers::room(what, stages as f64 / 2.0 * (2.0 * each * PER_NUMBER + PER_STAGE))
    }
}

#[wasm_bindgen]
impl Model {
    /// The largest singular value of a block's Jacobian at the last token, of a prompt of `tokens` or `rows`.
    pub fn gain(&self, start: &str, target: &Float64Array, block: f64) -> Result<f64, JsValue> {
        numbers::margin()?;
        let start = model::start(start)?;
        if block.fract() != 0.0 || !block.is_finite() {
            let value = block.to_string();
            return Err(thrown(Error::NotAnInteger { what: "block".into(), position: None, value }));
        }
        match self.either() {
            model::Either::F64(model) => gain(model, start, target, block),
            model::Either::F32(model) => gain(model, start, target, block),
        }
    }

    /// Parameters and operations by part.
    pub fn count(&self) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let config = match self.either() {
            model::Either::F64(model) => model.config(),
            model::Either::F32(model) => model.config(),
        };
        count(config).map(|count| plain(&CountReport::from(count))).map_err(thrown)
    }
}

fn gain<F: Float>(
    model: &Transformer<F>,
    start: Start,
    target: &Float64Array,
    block: f64,
) -> Result<f64, JsValue> {
    let blocks = model.config().n_blocks;
    if block < 0.0 || block >= blocks as f64 {
        return Err(thrown(Error::IndexOutOfRange { what: "block".into(), index: block, size: blocks }));
    }
    model.gain(Read::new(model, start, None, target)?.given(), block as usize).map_err(thrown)
}

#[derive(Serialize)]
struct NormsReport<'a> {
    stage: String,
    kind: &'static str,
    norms: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    ratios: Option<&'a [f64]>,
}

fn norms_report(norms: &Norms) -> NormsReport<'_> {
    let ratios = norms.ratios.as_deref();
    NormsReport { stage: norms.stage.name(), kind: norms.kind.name(), norms: &norms.norms, ratios }
}

#[derive(Serialize)]
struct EntropyReport<'a> {
    stage: String,
    heads: usize,
    bits: &'a [f64],
    bound: &'a [f64],
}

fn entropy_report(entropy: &Entropy) -> EntropyReport<'_> {
    let Entropy { stage, bits, bound } = entropy;
    EntropyReport { stage: stage.name(), heads: bits.shape()[0], bits: bits.data(), bound: bound.data() }
}

#[derive(Serialize)]
struct CountReport {
    parameters: ParametersReport,
    flops: FlopsReport,
    crossovers: CrossoversReport,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ParametersReport {
    total: f64,
    embedding: f64,
    position: f64,
    attention: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_attention: Option<f64>,
    feed_forward: f64,
    norms: f64,
    head: f64,
    per_block: BlockReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_encoder_block: Option<BlockReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BlockReport {
    total: f64,
    attention: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_attention: Option<f64>,
    feed_forward: f64,
    norms: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FlopsReport {
    projections: f64,
    scores_and_mixing: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_attention: Option<CrossReport>,
    feed_forward: f64,
    head: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoder: Option<EncoderReport>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrossReport {
    projections: f64,
    memory_projections: f64,
    scores_and_mixing: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EncoderReport {
    projections: f64,
    scores_and_mixing: f64,
    feed_forward: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrossoversReport {
    scores_and_mixing: Option<f64>,
    with_projections: Option<f64>,
}

impl From<Count> for CountReport {
    fn from(count: Count) -> Self {
        let Count { parameters, flops, encoder_flops, crossovers } = count;
        let FlopCount { projections, scores_and_mixing, cross_attention, feed_forward, head } = flops;
        let encoder = encoder_flops.map(|own| EncoderReport {
            projections: own.projections,
            scores_and_mixing: own.scores_and_mixing,
            feed_forward: own.feed_forward,
        });
        let cross_attention = cross_attention.map(CrossReport::from);
        let flops =
            FlopsReport { projections, scores_and_mixing, cross_attention, feed_forward, head, encoder };
        let Crossovers { scores_and_mixing, with_projections } = crossovers;
        let crossovers = CrossoversReport { scores_and_mixing, with_projections };
        CountReport { parameters: parameters.into(), flops, crossovers }
    }
}

impl From<CrossCount> for CrossReport {
    fn from(cross: CrossCount) -> Self {
        let CrossCount { projections, memory_projections, scores_and_mixing } = cross;
        CrossReport { projections, memory_projections, scores_and_mixing }
    }
}

impl From<ParameterCount> for ParametersReport {
    fn from(count: ParameterCount) -> Self {
        ParametersReport {
            total: count.total,
            embedding: count.embedding,
            position: count.position,
            attention: count.attention,
            cross_attention: count.cross_attention,
            feed_forward: count.feed_forward,
            norms: count.norms,
            head: count.head,
            per_block: count.per_block.into(),
            per_encoder_block: count.per_encoder_block.map(BlockReport::from),
        }
    }
}

impl From<BlockCount> for BlockReport {
    fn from(block: BlockCount) -> Self {
        let BlockCount { total, attention, cross_attention, feed_forward, norms } = block;
        BlockReport { total, attention, cross_attention, feed_forward, norms }
    }
}
