//! What recipes name in the package, by what it is in the core.

use crate::calls::Results;
use glassformer::math::{softmax, squared_variation, Activation, Overflow, RotaryScaling, Router};
use glassformer::num::Float;
use serde_json::Value as Json;
use std::collections::HashMap;

pub(crate) fn activation(name: &str) -> Option<Activation> {
    let name = match name {
        "geluTanh" => "gelu_tanh",
        "quickGelu" => "quick_gelu",
        other => other,
    };
    Activation::ALL.into_iter().find(|activation| activation.name() == name)
}

pub(crate) fn scaling(json: &Json) -> Option<RotaryScaling> {
    let number = |name: &str| json[name].as_f64().unwrap();
    match json["kind"].as_str()? {
        "linear" => Some(RotaryScaling::Linear { factor: number("factor") }),
        _ => Some(RotaryScaling::Llama3 {
            factor: number("factor"),
            low_frequency_factor: number("lowFrequencyFactor"),
            high_frequency_factor: number("highFrequencyFactor"),
            original_context: number("originalContext"),
        }),
    }
}

pub(crate) fn route<F: Float>(logits: &[F], experts: usize, options: &Json) -> Results<F> {
    let k = options["selected"].as_u64().unwrap() as usize;
    let router = Router {
        experts,
        selected: k,
        renormalize: options["renormalize"] != false,
        capacity: options["capacity"].as_u64().map(|c| c as usize),
        overflow: Overflow::Drop,
    };
    let rows = logits.len() / experts;
    let zeros = |n: usize| vec![F::ZERO; n];
    let (mut probabilities, mut selected, mut gates) =
        (zeros(logits.len()), zeros(rows * k), zeros(rows * k));
    let (mut importance, mut load, mut overflow) = (zeros(experts), zeros(experts), zeros(experts));
    let mut filled = vec![0; experts];
    for t in 0..rows {
        let row = &mut probabilities[t * experts..(t + 1) * experts];
        softmax(&logits[t * experts..(t + 1) * experts], row);
        let (own, gate) = (&mut selected[t * k..(t + 1) * k], &mut gates[t * k..(t + 1) * k]);
        router.choose(row, &mut filled, own, gate, &mut importance, &mut load, &mut overflow).unwrap();
    }
    let kept = selected.iter().map(|&e| if e < F::ZERO { F::ZERO } else { F::ONE }).collect();
    HashMap::from([
        ("router".into(), probabilities),
        ("importanceCv2".into(), vec![squared_variation(&importance)]),
        ("loadCv2".into(), vec![squared_variation(&load)]),
        ("selected".into(), selected),
        ("gates".into(), gates),
        ("importance".into(), importance),
        ("load".into(), load),
        ("overflow".into(), overflow),
        ("kept".into(), kept),
    ])
}

pub(crate) fn by_expert<F: Float>(results: &Results<F>, experts: usize) -> Vec<F> {
    let (gates, selected) = (&results["gates"], &results["selected"]);
    let rows = results["router"].len() / experts;
    let k = gates.len() / rows;
    let mut out = vec![F::ZERO; rows * experts];
    for (i, (&gate, &e)) in gates.iter().zip(selected).enumerate() {
        if e >= F::ZERO {
            out[i / k * experts + e.to_f64() as usize] = gate;
        }
    }
    out
}
