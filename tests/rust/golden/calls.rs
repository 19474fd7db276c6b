//! The equations alone through the core, as recipes call them in the package.

use crate::equations::{activation, by_expert, route, scaling};
use crate::models::{marks, pairs};
use crate::tensors::{Agreement, Golden};
use glassformer::math::{
    alibi_slopes, cross_entropy, layer_norm, log_softmax, log_sum_exp, rms_norm, rotary_frequencies, rotate,
    sinusoid, sinusoid_concatenated, softmax, Activation, Affine, Attended, MultiHead, Pairing, Projection,
    Sight,
};
use glassformer::num::Float;
use serde_json::Value as Json;
use std::collections::HashMap;

pub(crate) type Results<F> = HashMap<String, Vec<F>>;

/// A case while its calls run: what they take, and what those with an id gave.
pub(crate) struct Calls<'a, F> {
    pub(crate) tensors: &'a HashMap<String, Golden>,
    pub(crate) given: HashMap<String, (Vec<usize>, Vec<F>)>,
}

impl<F: Float> Calls<'_, F> {
    /// An argument's shape and numbers.
    fn read(&self, json: &Json) -> (Vec<usize>, Vec<F>) {
        let narrow = |x: &[f64]| x.iter().map(|&x| F::from_f64(x)).collect::<Vec<F>>();
        let (shape, data) = if let Some(id) = json["result"].as_str() {
            self.given[id].clone()
        } else if let Some(names) = json["concat"].as_array() {
            let parts: Vec<&Golden> = names.iter().map(|n| &self.tensors[n.as_str().unwrap()]).collect();
            let (rows, width) = (parts[0].shape[0], parts[0].shape[1]);
            let row = |r: usize| parts.iter().flat_map(move |p| p.data[r * width..(r + 1) * width].to_vec());
            let data: Vec<f64> = (0..rows).flat_map(row).collect();
            (vec![rows, width * parts.len()], narrow(&data))
        } else {
            let tensor = &self.tensors[json["tensor"].as_str().unwrap()];
            let tensor = if json["rows"].is_null() { tensor.clone() } else { tensor.rows(&json["rows"]) };
            let data = narrow(&tensor.data);
            (tensor.shape, data)
        };
        if json["arrange"] != "merge heads" {
            return (shape, data);
        }
        let (heads, rows, width) = (shape[0], shape[1], shape[2]);
        let cell = |i: usize| {
            let (t, h, k) = (i / (heads * width), i / width % heads, i % width);
            data[(h * rows + t) * width + k]
        };
        (vec![rows, heads * width], (0..data.len()).map(cell).collect())
    }

    fn maybe(&self, json: &Json) -> Option<Vec<F>> {
        (!json.is_null()).then(|| self.read(json).1)
    }

    /// Runs a call and compares what it gives; how many cells were compared.
    pub(crate) fn run(&mut self, name: &str, case: &Json, call: &Json) -> usize {
        let (shape, results) = self.call(call);
        let mut compared = 0;
        for expected in call["expect"].as_array().unwrap() {
            let golden = &self.tensors[expected["tensor"].as_str().unwrap()];
            let output = expected["output"].as_str().unwrap_or("");
            let ours = match expected["arrange"].as_str() {
                Some("by expert") => by_expert(&results, golden.shape[1]),
                _ => results[output].clone(),
            };
            assert_eq!(ours.len(), golden.data.len(), "{name}, {expected}");
            let agreement = Agreement::new::<F>(case, expected);
            let width = golden.data.len() / golden.shape[0];
            let lists = [
                (!expected["rows"].is_null()).then_some(&expected["rows"]),
                (expected["toleranceRows"] == true).then(|| &case["tolerance"][F::DTYPE.name()]["rows"]),
            ];
            let mut cells = 0;
            for (i, (&x, &want)) in ours.iter().zip(&golden.data).enumerate() {
                let row = i / width;
                let listed = |list: &Json| list.as_array().is_none_or(|l| l.iter().any(|r| *r == row as u64));
                let hidden = expected["minusInfinity"] == "skip" && want == f64::NEG_INFINITY;
                if hidden
                    || !lists.iter().flatten().all(|list| listed(list))
                    || self.is_lost(call, golden, row)
                {
                    continue;
                }
                agreement.check(x, want, || format!("{name}, {}, {output}, cell {i}", call["fn"]));
                cells += 1;
            }
            assert!(cells > 0, "{name}: nothing of {expected} was compared");
            compared += cells;
        }
        if let Some(id) = call["id"].as_str() {
            self.given.insert(id.into(), (shape, results[""].clone()));
        }
        compared
    }

    /// Whether a row's input is finite in float64 and not in the type computed in: it is another input there.
    fn is_lost(&self, call: &Json, golden: &Golden, row: usize) -> bool {
        let Some(tensor) = call["args"][0]["tensor"].as_str() else { return false };
        let (tensor, rows) = (&self.tensors[tensor], &call["args"][0]["rows"]);
        let input = if rows.is_null() { tensor.clone() } else { tensor.rows(rows) };
        if input.shape[0] != golden.shape[0] {
            return false;
        }
        let width = input.data.len() / input.shape[0];
        let cells = &input.data[row * width..(row + 1) * width];
        cells.iter().any(|&x| x.is_finite() && !F::from_f64(x).is_finite())
    }

    fn call(&self, call: &Json) -> (Vec<usize>, Results<F>) {
        let (args, options) = (&call["args"], &call["options"]);
        let function = call["fn"].as_str().unwrap();
        let size = |json: &Json| json.as_u64().unwrap() as usize;
        let real = |name: &str, missing: f64| options[name].as_f64().unwrap_or(missing);
        let one = |data: Vec<F>| HashMap::from([(String::new(), data)]);
        let wide = |data: Vec<f64>| one(data.into_iter().map(F::from_f64).collect());
        if let Some(activation) = activation(function) {
            let (shape, x) = self.read(&args[0]);
            return (shape, one(x.into_iter().map(|x| activation.apply(x)).collect()));
        }
        match function {
            "rotaryFrequencies" => {
                let scaling = scaling(&options["scaling"]);
                let found = rotary_frequencies(size(&args[0]), real("base", 10000.0), scaling.as_ref());
                return (vec![found.len()], wide(found));
            }
            "alibiSlopes" => return (vec![size(&args[0])], wide(alibi_slopes(size(&args[0])))),
            "alibiBias" => {
                let (queries, keys) = (size(&args[1]), size(&args[2]));
                let cell = |slope: f64, i: usize| -slope * (i % keys).abs_diff(i / keys) as f64;
                let slopes = alibi_slopes(size(&args[0]));
                let bias = slopes.iter().flat_map(|&m| (0..queries * keys).map(move |i| cell(m, i)));
                return (vec![slopes.len(), queries, keys], wide(bias.collect()));
            }
            "sinusoid" => {
                let (length, width) = (size(&args[0]), size(&args[1]));
                let fill = if options["concatenated"] == true { sinusoid_concatenated } else { sinusoid };
                let mut out = vec![F::ZERO; length * width];
                out.chunks_exact_mut(width).enumerate().for_each(|(t, row)| fill(t, row));
                return (vec![length, width], one(out));
            }
            "attention" => return (vec![], self.attention(args, options)),
            _ => {}
        }

        let (shape, x) = self.read(&args[0]);
        let width = *shape.last().unwrap();
        let mut out = vec![F::ZERO; x.len()];
        let rows = || x.chunks_exact(width);
        match function {
            "gated" => {
                let (gate, activation) =
                    (self.read(&args[1]).1, activation(args[2].as_str().unwrap()).unwrap());
                out = x.iter().zip(gate).map(|(&u, gate)| u * activation.apply(gate)).collect();
            }
            "glu" => {
                let half = width / 2;
                let cell = |row: &[F], i: usize| row[i] * Activation::Sigmoid.apply(row[half + i]);
                out = rows().flat_map(|row| (0..half).map(move |i| cell(row, i))).collect();
            }
            "softmax" => rows().zip(out.chunks_exact_mut(width)).for_each(|(row, out)| softmax(row, out)),
            "logSoftmax" => {
                rows().zip(out.chunks_exact_mut(width)).for_each(|(row, out)| log_softmax(row, out))
            }
            "logSumExp" => out = rows().map(|row| log_sum_exp(row)).collect(),
            "layerNorm" | "rmsNorm" => {
                let (gain, bias) = (self.maybe(&options["gain"]), self.maybe(&options["bias"]));
                let offset = F::from_f64(real("gainOffset", 0.0));
                let affine = Affine { gain: gain.as_deref(), offset, bias: bias.as_deref() };
                let norm = if function == "layerNorm" { layer_norm } else { rms_norm };
                norm(&x, width, F::from_f64(real("epsilon", 1e-5)), affine, &mut out);
            }
            "rotate" => {
                out = x.clone();
                let turning = options["width"].as_u64().map_or(width, |w| w as usize);
                let frequencies = rotary_frequencies(turning, real("base", 10000.0), None);
                let positions = self.read(&options["positions"]).1;
                let half = options["pairing"] == "half";
                let pairing = if half { Pairing::Half } else { Pairing::Adjacent };
                for (i, row) in out.chunks_exact_mut(width).enumerate() {
                    rotate(row, positions[i % positions.len()].to_f64(), &frequencies, pairing);
                }
            }
            "crossEntropy" => {
                let labels = self.read(&args[1]).1;
                let smoothing = F::from_f64(real("smoothing", 0.0));
                let counted = |label: &F| label.to_f64() != real("ignore", -100.0);
                let loss = |(row, label): (&[F], &F)| match counted(label) {
                    true => cross_entropy(row, label.to_f64() as usize, smoothing),
                    false => F::ZERO,
                };
                let losses: Vec<F> = rows().zip(&labels).map(loss).collect();
                let count = labels.iter().filter(|label| counted(label)).count();
                let sum = losses.iter().fold(F::ZERO, |sum, &x| sum + x);
                let mean = vec![sum / F::from_f64(count as f64)];
                return (shape, HashMap::from([("losses".into(), losses), ("mean".into(), mean)]));
            }
            "route" => return (shape, route(&x, width, options)),
            other => panic!("a recipe calls {other}"),
        }
        (shape, one(out))
    }

    fn attention(&self, args: &Json, options: &Json) -> Results<F> {
        let rows: Vec<(Vec<usize>, Vec<F>)> = (0..3).map(|i| self.read(&args[i])).collect();
        let count = if rows[0].0.len() == 3 { rows[0].0[0] } else { 1 };
        let length = |i: usize| rows[i].0[rows[i].0.len() - 2];
        let widths = |i: usize| *rows[i].0.last().unwrap();
        let (queries, keys) = (length(0), length(1));
        let heads = options["nHeads"].as_u64().unwrap() as usize;
        let parameters = &options["parameters"];
        let own = |name: &str| self.maybe(&parameters[name]);
        let matrices =
            ["query", "key", "value", "output"].map(|name| (own(name), own(&format!("{name}_bias"))));
        let projection =
            |i: usize| Projection { matrix: matrices[i].0.as_deref(), bias: matrices[i].1.as_deref() };
        let outputs = |i: usize, inputs: usize| matrices[i].0.as_ref().map_or(inputs, |m| m.len() / inputs);
        let (wide, value) = (outputs(0, widths(0)), outputs(2, widths(2)));
        let scale = F::from_f64(1.0 / ((wide / heads) as f64).sqrt());
        let slopes = self.maybe(&options["alibiSlopes"]);
        let multi = MultiHead {
            heads,
            groups: heads,
            scale,
            query: projection(0),
            key: projection(1),
            value: projection(2),
            output: projection(3),
        };
        let mut results: Results<F> = HashMap::new();
        for b in 0..count {
            let part = |i: usize| &rows[i].1[b * length(i) * widths(i)..][..length(i) * widths(i)];
            let added = pairs::<F>(&options["masks"]["attention"], self.tensors, b, count);
            let padding = marks(&options["masks"]["padding"], self.tensors, b, keys);
            let sight = Sight {
                causal: options["mask"] == "causal",
                added: added.as_deref(),
                padding: padding.as_deref(),
                slopes: slopes.as_deref(),
                ..Sight::all(queries, keys)
            };
            let zeros = |n: usize| vec![F::ZERO; n];
            let (mut q, mut k, mut v) = (zeros(queries * wide), zeros(keys * wide), zeros(keys * value));
            let (mut scores, mut weights) = (zeros(heads * queries * keys), zeros(heads * queries * keys));
            let (mut average, mut mixed) = (zeros(queries * keys), zeros(queries * value));
            let mut output = zeros(queries * outputs(3, value));
            let attended = Attended {
                query: &mut q,
                key: &mut k,
                value: &mut v,
                scores: &mut scores,
                weights: &mut weights,
                average: &mut average,
                mixed: &mut mixed,
                output: &mut output,
            };
            multi.attend([part(0), part(1), part(2)], &sight, attended).unwrap();
            for (name, cells) in [
                ("scores", scores),
                ("weights", weights),
                ("averageWeights", average),
                ("mixed", mixed),
                ("output", output),
            ] {
                results.entry(name.into()).or_default().extend(cells);
            }
        }
        results
    }
}
