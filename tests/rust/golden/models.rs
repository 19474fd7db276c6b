//! Models through the core, by their recipes. Where the first axis of a golden tensor is the batch, every arrangement of
//! a stage that a recipe may name is compared.

use crate::tensors::{places, Agreement, Golden};
use glassformer::mask::Masks;
use glassformer::math::average_heads;
use glassformer::model::{Given, Transformer};
use glassformer::num::Float;
use glassformer::options::{parse, Value};
use glassformer::trace::Trace;
use serde_json::Value as Json;

use std::collections::HashMap;

/// A parameter's numbers, row-major in its layout.
fn parameter(recipe: &Json, tensors: &HashMap<String, Golden>, count: usize) -> Vec<f64> {
    if let Some(fill) = recipe["fill"].as_f64() {
        return vec![fill; count];
    }
    let from = &tensors[recipe["from"].as_str().unwrap()];
    let (mut shape, mut data) = (from.shape.clone(), from.data.clone());
    if let Some(index) = recipe["index"].as_u64() {
        let size: usize = shape[1..].iter().product();
        data = data[index as usize * size..][..size].to_vec();
        shape.remove(0);
    }
    let width: usize = shape[1..].iter().product();
    let rows = places(&recipe["rows"], shape[0]);
    let columns = places(&recipe["columns"], width);
    let at = |r: usize, c: usize| data[rows[r] * width + columns[c]];
    if recipe["transpose"] == true {
        (0..columns.len()).flat_map(|c| (0..rows.len()).map(move |r| (r, c))).map(|(r, c)| at(r, c)).collect()
    } else {
        (0..rows.len()).flat_map(|r| (0..columns.len()).map(move |c| (r, c))).map(|(r, c)| at(r, c)).collect()
    }
}

fn option(json: &Json) -> Value {
    match json {
        Json::Bool(x) => Value::Bool(*x),
        Json::Number(x) => Value::Number(x.as_f64().unwrap()),
        Json::String(x) => Value::Text(x.clone()),
        Json::Array(list) => Value::List(list.iter().map(option).collect()),
        Json::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), option(v))).collect()),
        Json::Null => Value::Absent,
    }
}

/// What prompt `b` of `count` has of a mask that is added or hides pairs.
pub(crate) fn pairs<F: Float>(
    mask: &Json,
    tensors: &HashMap<String, Golden>,
    b: usize,
    count: usize,
) -> Option<Vec<F>> {
    let golden = &tensors[mask["tensor"].as_str()?];
    let own = match golden.shape.len() {
        2 => &golden.data[..],
        _ => &golden.data[golden.data.len() / count * b..][..golden.data.len() / count],
    };
    let hides = mask["kind"] == "hide";
    let number = |&x: &f64| match hides {
        true => F::from_f64(if x != 0.0 { f64::NEG_INFINITY } else { 0.0 }),
        false => F::from_f64(x),
    };
    Some(own.iter().map(number).collect())
}

pub(crate) fn marks(
    mask: &Json,
    tensors: &HashMap<String, Golden>,
    b: usize,
    keys: usize,
) -> Option<Vec<bool>> {
    if let Some(lengths) = mask["lengths"].as_array() {
        let valid = lengths[b].as_u64()? as usize;
        return Some((0..keys).map(|s| s >= valid).collect());
    }
    let golden = &tensors[mask["tensor"].as_str()?];
    Some(golden.data[b * keys..][..keys].iter().map(|&x| x != 0.0).collect())
}

/// How many cells were compared.
pub(crate) fn run<F: Float>(
    name: &str,
    case: &Json,
    recipe: &Json,
    tensors: &HashMap<String, Golden>,
) -> usize {
    let mut entries: Vec<(String, Value)> =
        recipe["options"].as_object().unwrap().iter().map(|(k, v)| (k.clone(), option(v))).collect();
    let has = |entries: &[(String, Value)], key: &str| entries.iter().any(|(name, _)| name == key);
    if recipe["model"] == "encoder_decoder" && !has(&entries, "nEncoderBlocks") {
        entries.push(("nEncoderBlocks".into(), entries.iter().find(|e| e.0 == "nBlocks").unwrap().1.clone()));
    }
    if recipe["model"] == "encoder" && !has(&entries, "mask") {
        entries.push(("mask".into(), Value::Text("none".into())));
    }
    let config = parse(&entries).unwrap_or_else(|e| panic!("{name}: {e}")).config;
    let mut model = Transformer::<F>::new(&config, &mut config.init.stream(7)).unwrap();
    let counts: HashMap<String, usize> =
        model.parameters().list().iter().map(|p| (p.name(), p.count())).collect();
    for own in recipe["parameters"].as_array().unwrap() {
        let parameter_name = own["name"].as_str().unwrap();
        let values = parameter(own, tensors, counts[parameter_name]);
        let values: Vec<F> = values.into_iter().map(F::from_f64).collect();
        model.parameters_mut().set(parameter_name, &values).unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    let run = &recipe["run"];
    let is_tokens = run["start"] == "tokens";
    let width = if is_tokens { 1 } else { config.n_model };
    let input = |key: &str| run[key]["tensor"].as_str().map(|t| &tensors[t]);
    let target = input("target").unwrap();
    let count = if run["single"] == true { 1 } else { target.shape[0] };
    let (length, source_length) =
        (target.data.len() / count / width, input("source").map_or(0, |s| s.data.len() / count / width));
    let valid = |b: usize| run["lengths"][b].as_u64().map_or(length, |n| n as usize);
    let shift = |b: usize| if run["padding"] == "left" { length - valid(b) } else { 0 };
    let mut traces = Vec::new();
    for b in 0..count {
        let cells = |g: &Golden, from: usize, rows: usize| -> Vec<f64> {
            let all = g.data.len() / count;
            g.data[b * all + from * width..][..rows * width].to_vec()
        };
        let own = cells(target, shift(b), valid(b));
        let source = input("source").map_or(Vec::new(), |g| cells(g, 0, source_length));
        let masks = Masks {
            attention: pairs::<F>(&run["masks"]["attention"], tensors, b, count),
            padding: marks(&run["masks"]["padding"], tensors, b, length),
            memory: pairs::<F>(&run["masks"]["memory"], tensors, b, count),
            memory_padding: marks(&run["masks"]["memoryPadding"], tensors, b, source_length)
                .or_else(|| marks(&run["masks"]["sourcePadding"], tensors, b, source_length)),
            source_padding: marks(&run["masks"]["sourcePadding"], tensors, b, source_length),
        };
        let ids = |cells: &[f64]| -> Vec<u32> { cells.iter().map(|&x| x as u32).collect() };
        let floats = |cells: &[f64]| -> Vec<F> { cells.iter().map(|&x| F::from_f64(x)).collect() };
        let trace = match run["start"].as_str().unwrap() {
            "tokens" => model.respond(Given::Tokens { target: &ids(&own), source: &ids(&source) }, &masks),
            "rows" => model.respond(Given::Rows { target: &floats(&own), source: &floats(&source) }, &masks),
            _ => model.respond(Given::Memory { target: &floats(&own), memory: &floats(&source) }, &masks),
        };
        traces.push(trace.unwrap_or_else(|e| panic!("{name}, prompt {b}: {e}")));
    }

    let single = run["single"] == true;
    let mut compared = 0;
    for expected in recipe["expect"].as_array().unwrap() {
        let golden = &tensors[expected["tensor"].as_str().unwrap()];
        let agreement = Agreement::new::<F>(case, expected);
        let mut cells = 0;
        for (b, trace) in traces.iter().enumerate() {
            let at = Place { b, single, length, shift: shift(b) };
            cells += compare(name, expected, golden, at, trace, &agreement);
        }
        assert!(cells > 0, "{name}: nothing of {} was compared", expected["tensor"]);
        compared += cells;
    }
    compared
}

/// A stage as the recipe has it arranged, but for the order of its cells.
fn ours<F: Float>(trace: &Trace<F>, expected: &Json) -> (Vec<&'static str>, Vec<usize>, Vec<F>) {
    let stage = expected["stage"].as_str().unwrap();
    let axes = trace.find(stage).unwrap().declaration().row.axes().to_vec();
    let tensor = trace.get(stage).unwrap();
    let shape = tensor.shape().to_vec();
    match expected["arrange"].as_str() {
        Some("mean of heads") => {
            let mut mean = vec![F::ZERO; shape[1] * shape[2]];
            average_heads(tensor.data(), shape[0], &mut mean);
            (axes[1..].to_vec(), shape[1..].to_vec(), mean)
        }
        Some("by expert") => {
            let name = |other| stage.replace(".gates", other);
            let experts = trace.get(&name(".router")).unwrap().shape()[1];
            let selected = trace.get(&name(".selected")).unwrap();
            let mut gates = vec![F::ZERO; shape[0] * experts];
            for (i, (&gate, &e)) in tensor.data().iter().zip(selected.data()).enumerate() {
                if e >= F::ZERO {
                    gates[i / shape[1] * experts + e.to_f64() as usize] = gate;
                }
            }
            (vec!["position", "expert"], vec![shape[0], experts], gates)
        }
        _ => (axes, shape, tensor.into_data()),
    }
}

/// Where a prompt stands in golden tensors.
#[derive(Clone, Copy)]
struct Place {
    b: usize,
    single: bool,
    length: usize,
    shift: usize,
}

impl Place {
    /// The golden cell of a cell of ours, whose positions are shifted already; `None` where there is none.
    fn of(&self, expected: &Json, index: &[usize], shape: &[usize], heads: usize) -> Option<usize> {
        let with_batch = |rest: Vec<usize>| match self.single {
            true => rest,
            false => [vec![self.b], rest].concat(),
        };
        let place = match expected["arrange"].as_str() {
            Some("merge heads") => {
                let first = expected["columns"][0].as_u64().unwrap_or(0) as usize;
                with_batch(vec![index[1], first + index[0] * heads + index[2]])
            }
            Some("time first") => vec![index[0], self.b, index[1]],
            Some("flat") => vec![self.b * self.length + index[0], index[1]],
            Some("last positions") => {
                let before = self.length - shape[2];
                with_batch(vec![index[0], index[1].checked_sub(before)?, index[2]])
            }
            _ => with_batch(index.to_vec()),
        };
        // One number alone has an axis of one.
        let place = if place.is_empty() { vec![0] } else { place };
        Some(place.iter().zip(shape).fold(0, |flat, (i, size)| flat * size + i))
    }
}

fn compare<F: Float>(
    name: &str,
    expected: &Json,
    golden: &Golden,
    at: Place,
    trace: &Trace<F>,
    agreement: &Agreement,
) -> usize {
    let (axes, shape, data) = ours(trace, expected);
    let mut compared = 0;
    for (flat, &x) in data.iter().enumerate() {
        let mut index = vec![0; axes.len()];
        let mut rest = flat;
        for (axis, &size) in shape.iter().enumerate().rev() {
            index[axis] = rest % size;
            rest /= size;
        }
        for (i, axis) in index.iter_mut().zip(&axes) {
            if ["position", "query", "key"].contains(axis) {
                *i += at.shift;
            }
        }
        let row = axes.iter().position(|a| ["position", "query"].contains(a)).map(|axis| index[axis]);
        if let (Some(rows), Some(row)) = (expected["rows"].as_array(), row) {
            if !rows.iter().any(|pair| pair[0] == at.b as u64 && pair[1] == row as u64) {
                continue;
            }
        }
        let width = shape.last().copied().unwrap_or(1);
        let Some(place) = at.of(expected, &index, &golden.shape, width) else { continue };
        let (stage, b) = (&expected["stage"], at.b);
        agreement.check(x, golden.data[place], || format!("{name}, {stage}, prompt {b}, cell {index:?}"));
        compared += 1;
    }
    compared
}
