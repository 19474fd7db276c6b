//! The numbers of a reference case.

use glassformer::num::Float;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// One tensor.
#[derive(Clone)]
pub(crate) struct Golden {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f64>,
}

/// The numbers of a safetensors file, F64 and I64 alike.
pub(crate) fn read(path: &Path) -> HashMap<String, Golden> {
    let bytes = fs::read(path).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Json = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut out = HashMap::new();
    for (name, about) in header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__") {
        let sizes = |key: &str| -> Vec<usize> {
            about[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        };
        let place = sizes("data_offsets");
        let words = bytes[8 + length..][place[0]..place[1]].chunks_exact(8);
        let number = |word: &[u8]| {
            let word: [u8; 8] = word.try_into().unwrap();
            if about["dtype"] == "F64" {
                f64::from_le_bytes(word)
            } else {
                i64::from_le_bytes(word) as f64
            }
        };
        out.insert(name.clone(), Golden { shape: sizes("shape"), data: words.map(number).collect() });
    }
    out
}

/// Places of an axis: a list of ranges, or of single places; all there are where nothing is said.
pub(crate) fn places(json: &Json, all: usize) -> Vec<usize> {
    let whole = |n: &Json| n.as_u64().unwrap() as usize;
    match json.as_array() {
        None => (0..all).collect(),
        Some(list) => list
            .iter()
            .flat_map(|r| if r.is_array() { whole(&r[0])..whole(&r[1]) } else { whole(r)..whole(r) + 1 })
            .collect(),
    }
}

impl Golden {
    /// Some places of the first axis.
    pub(crate) fn rows(&self, json: &Json) -> Golden {
        let all = self.shape[0];
        let width = self.data.len() / all;
        let kept = places(json, all);
        let data = kept.iter().flat_map(|&r| self.data[r * width..(r + 1) * width].to_vec()).collect();
        let mut shape = self.shape.clone();
        shape[0] = kept.len();
        Golden { shape, data }
    }
}

/// When a number of ours is a golden one.
pub(crate) struct Agreement {
    rtol: f64,
    atol: f64,
    nan: Option<String>,
    times: f64,
}

impl Agreement {
    /// By a case's tolerance for a type, and what an expectation says of NaN.
    pub(crate) fn new<F: Float>(case: &Json, expected: &Json) -> Self {
        let tolerance = &case["tolerance"][F::DTYPE.name()];
        Agreement {
            rtol: tolerance["rtol"].as_f64().unwrap(),
            atol: tolerance["atol"].as_f64().unwrap(),
            nan: expected["nan"].as_str().map(String::from),
            times: expected["times"].as_f64().unwrap_or(1.0),
        }
    }

    pub(crate) fn check<F: Float>(&self, ours: F, want: f64, place: impl Fn() -> String) {
        let got = ours.to_f64() * self.times;
        let agrees = if want.is_nan() {
            match self.nan.as_deref() {
                Some("zeros") => got == 0.0,
                Some("-Infinity") => got == f64::NEG_INFINITY,
                Some("skip") => true,
                _ => got.is_nan(),
            }
        } else {
            let near = (got - want).abs() <= self.atol + self.rtol * want.abs();
            got == want || near || F::from_f64(want).to_f64() == got
        };
        assert!(agrees, "{}: {got} is not {want}", place());
    }
}
