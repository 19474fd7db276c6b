//! A trace, of either element type.

use crate::convert::{plain, ToTyped};
use crate::error::thrown;
use crate::report::DiffReport;
use glassformer::error::Error;
use glassformer::num::{DType, Float};
use glassformer::trace::{Plan, Trace as CoreTrace};
use std::sync::Arc;
use wasm_bindgen::prelude::*;

enum Either {
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
        tokens: Vec<u32>,
        rows: usize,
        block: &[F],
    ) -> Result<Trace, Error>
    where
        Trace: From<CoreTrace<F>>,
    {
        CoreTrace::from_block(Arc::new(plan), tokens, rows, block).map(Trace::from)
    }
}

#[wasm_bindgen]
impl Trace {
    /// How many positions it has.
    #[wasm_bindgen(getter)]
    pub fn rows(&self) -> usize {
        with!(&self.0, trace => trace.rows())
    }

    /// How many bytes its numbers take.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> usize {
        with!(&self.0, trace => trace.bytes())
    }

    /// The numbers of all stages, one after the other, as one typed array.
    pub fn block(&self) -> JsValue {
        with!(&self.0, trace => {
            let sizes: Vec<usize> = trace.stages().iter().map(|&s| size(trace, s)).collect();
            let mut block = vec![Default::default(); sizes.iter().sum()];
            let mut rest = block.as_mut_slice();
            for (slot, size) in sizes.into_iter().enumerate() {
                let (stage, later) = rest.split_at_mut(size);
                trace.write(slot, stage);
                rest = later;
            }
            ToTyped::typed(&block)
        })
    }

    /// The numbers of the stage at one place of the execution order, as a typed array.
    pub fn stage(&self, slot: usize) -> JsValue {
        with!(&self.0, trace => {
            let mut cells = vec![Default::default(); size(trace, trace.stages()[slot])];
            trace.write(slot, &mut cells);
            ToTyped::typed(&cells)
        })
    }

    /// Where this trace differs from another.
    pub fn diff(&self, other: &Trace) -> Result<JsValue, JsValue> {
        let diff = match (&self.0, &other.0) {
            (Either::F64(a), Either::F64(b)) => a.diff(b),
            (Either::F32(a), Either::F32(b)) => a.diff(b),
            _ => Err(Error::ConfigConflict {
                options: vec!["dtype".into()],
                reason: format!(
                    "one trace is of {}, the other of {}",
                    self.dtype().name(),
                    other.dtype().name()
                ),
            }),
        };
        diff.map(|diff| plain(&DiffReport::from(diff))).map_err(thrown)
    }
}

impl Trace {
    fn dtype(&self) -> DType {
        match &self.0 {
            Either::F64(_) => DType::Float64,
            Either::F32(_) => DType::Float32,
        }
    }
}

fn size<F: Float>(trace: &CoreTrace<F>, stage: glassformer::stage::Stage) -> usize {
    trace.plan().shape(stage, trace.rows()).iter().product()
}
