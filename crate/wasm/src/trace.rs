//! A trace, of either element type.

use crate::convert::plain;
use crate::error::thrown;
use crate::numbers::{self, Number, Typed};
use crate::report::DiffReport;
use glassformer::error::Error;
use glassformer::num::{DType, Float};
use glassformer::stage::Lengths;
use glassformer::trace::{Changes, Plan, Prompt, Trace as CoreTrace};
use std::ops::Range;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

pub(crate) enum Either {
    F64(CoreTrace<f64>),
    F32(CoreTrace<f32>),
}

macro_rules! with {
    ($either:expr, $trace:ident => $body:expr) => {
        match $either {
            Either::F64($trace) => $body,
            Either::F32($trace) => $body,
        }
    };
}

/// Everything a forward pass computed.
#[wasm_bindgen]
pub struct Trace(Either);

impl From<CoreTrace<f64>> for Trace {
    fn from(trace: CoreTrace<f64>) -> Self {
        Trace(Either::F64(trace))
    }
}

impl From<CoreTrace<f32>> for Trace {
    fn from(trace: CoreTrace<f32>) -> Self {
        Trace(Either::F32(trace))
    }
}

impl Trace {
    pub(crate) fn from_block<F: Float>(
        plan: Plan,
        prompt: Prompt,
        changes: Changes<F>,
        lengths: Lengths,
        block: &[F],
    ) -> Result<Trace, Error>
    where
        Trace: From<CoreTrace<F>>,
    {
        CoreTrace::from_block(Arc::new(plan), prompt, changes, lengths, block).map(Trace::from)
    }
}

#[wasm_bindgen]
impl Trace {
    /// How many positions it has.
    #[wasm_bindgen(getter)]
    pub fn rows(&self) -> usize {
        with!(&self.0, trace => trace.rows())
    }

    /// How many positions its source has.
    #[wasm_bindgen(getter)]
    pub fn source_rows(&self) -> usize {
        with!(&self.0, trace => trace.lengths().source)
    }

    /// The first position that was computed for it, and not taken over from the trace it reused.
    #[wasm_bindgen(getter)]
    pub fn computed_from(&self) -> usize {
        with!(&self.0, trace => trace.computed_rows().start)
    }

    /// How many bytes its numbers take.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> usize {
        with!(&self.0, trace => trace.bytes())
    }

    /// Writes the numbers of all stages, one after the other, into a typed array of the trace's type and size.
    pub fn block_into(&self, out: &JsValue) -> Result<(), JsValue> {
        numbers::margin()?;
        with!(&self.0, trace => block_into(trace, out))
    }

    /// Writes the numbers of the stage at one place of the execution order into such an array of its size.
    pub fn stage_into(&self, slot: usize, out: &JsValue) -> Result<(), JsValue> {
        numbers::margin()?;
        with!(&self.0, trace => copy_stages(trace, slot..slot + 1, out.unchecked_ref()))
    }

    /// Where this trace differs from another.
    pub fn diff(&self, other: &Trace) -> Result<JsValue, JsValue> {
        numbers::margin()?;
        let stages = with!(&self.0, trace => trace.stages().len());
        numbers::room(
            "the difference",
            stages as f64 * self.rows().max(self.source_rows()) as f64 * PER_ROW,
        )?;
        let diff = match (&self.0, &other.0) {
            (Either::F64(a), Either::F64(b)) => a.diff(b),
            (Either::F32(a), Either::F32(b)) => a.diff(b),
            _ => Err(of_other_type(self.dtype(), other.dtype())),
        };
        diff.map(|diff| plain(&DiffReport::from(diff))).map_err(thrown)
    }
}

/// The refusal of two that are of different element types.
pub(crate) fn of_other_type(own: DType, other: DType) -> Error {
    let (own, other) = (own.name(), other.name());
    Error::ConfigConflict {
        options: vec![("dtype".into(), own.into()), ("dtype of the other".into(), other.into())],
        reason: format!("one is of {own}, the other of {other}"),
    }
}

impl Trace {
    pub(crate) fn either(&self) -> &Either {
        &self.0
    }

    /// An upper bound of how many terms a cell of a stage is made of.
    pub(crate) fn widest(&self, stage: &str) -> f64 {
        fn of<F: Float>(trace: &CoreTrace<F>, stage: &str) -> f64 {
            let config = trace.plan().config();
            let lengths = trace.lengths();
            let width = config.n_model.max(config.n_hidden).max(config.n_heads * config.head_width());
            let own = match stage.ends_with("probabilities") {
                true => config.n_vocab,
                false => width.max(lengths.target).max(lengths.source),
            };
            own as f64
        }
        with!(&self.0, trace => of(trace, stage))
    }

    pub(crate) fn dtype(&self) -> DType {
        match &self.0 {
            Either::F64(_) => DType::Float64,
            Either::F32(_) => DType::Float32,
        }
    }
}

/// What the difference of one row of one stage takes, as it is computed and as it is reported.
const PER_ROW: f64 = 256.0;

/// How many numbers a small trace has: they are copied at once. Of a larger one each stage is copied by itself, so
/// that no more than its largest stage is held twice.
const SMALL: usize = 8192;

fn block_into<F: Number>(trace: &CoreTrace<F>, out: &JsValue) -> Result<(), JsValue> {
    let out = out.unchecked_ref::<F::Array>();
    if out.count() > SMALL {
        return copy_stages(trace, 0..trace.stages().len(), out);
    }
    let mut block = numbers::zeros(out.count())?;
    let mut rest = block.as_mut_slice();
    for slot in 0..trace.stages().len() {
        let (cells, later) = rest.split_at_mut(size(trace, slot));
        trace.write(slot, cells);
        rest = later;
    }
    out.copy_in(0, &block);
    Ok(())
}

fn copy_stages<F: Number>(trace: &CoreTrace<F>, slots: Range<usize>, out: &F::Array) -> Result<(), JsValue> {
    let mut place = 0;
    for slot in slots {
        let mut cells = numbers::zeros(size(trace, slot))?;
        trace.write(slot, &mut cells);
        out.copy_in(place, &cells);
        place += cells.len();
    }
    Ok(())
}

fn size<F: Float>(trace: &CoreTrace<F>, slot: usize) -> usize {
    trace.plan().shape(trace.stages()[slot], trace.lengths()).iter().product()
}
