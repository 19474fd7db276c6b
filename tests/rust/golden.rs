//! Every reference case of tests/golden through the core, by its recipe, in float64 and float32. What a recipe is stands in
//! tests/golden/README.md. Stages that lie in the reference as they do here, or with their heads merged, are compared here;
//! other arrangements, and the equations alone, through the package.

use glassformer::mask::Masks;
use glassformer::model::{Given, Transformer};
use glassformer::num::Float;
use glassformer::options::{parse, Value};
use glassformer::trace::Trace;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

struct Golden {
    shape: Vec<usize>,
    data: Vec<f64>,
}

/// The numbers of a safetensors file, F64 and I64 alike.
fn read(path: &Path) -> HashMap<String, Golden> {
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

fn ranges(json: &Json, all: usize) -> Vec<usize> {
    match json.as_array() {
        None => (0..all).collect(),
        Some(list) => list
            .iter()
            .flat_map(|r| r[0].as_u64().unwrap() as usize..r[1].as_u64().unwrap() as usize)
            .collect(),
    }
}

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
    let rows = ranges(&recipe["rows"], shape[0]);
    let columns = ranges(&recipe["columns"], width);
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
fn pairs<F: Float>(mask: &Json, tensors: &HashMap<String, Golden>, b: usize, count: usize) -> Option<Vec<F>> {
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

fn marks(mask: &Json, tensors: &HashMap<String, Golden>, b: usize, keys: usize) -> Option<Vec<bool>> {
    if let Some(lengths) = mask["lengths"].as_array() {
        let valid = lengths[b].as_u64()? as usize;
        return Some((0..keys).map(|s| s >= valid).collect());
    }
    let golden = &tensors[mask["tensor"].as_str()?];
    Some(golden.data[b * keys..][..keys].iter().map(|&x| x != 0.0).collect())
}

/// How many cells were compared.
fn run<F: Float>(name: &str, case: &Json, recipe: &Json, tensors: &HashMap<String, Golden>) -> usize {
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

    let tolerance = &case["tolerance"][F::DTYPE.name()];
    let (rtol, atol) = (tolerance["rtol"].as_f64().unwrap(), tolerance["atol"].as_f64().unwrap());
    let mut compared = 0;
    for expected in recipe["expect"].as_array().unwrap() {
        let merged = expected["arrange"] == "merge heads" && expected["columns"].is_null();
        if run["single"] == true || !(expected["arrange"].is_null() || merged) {
            continue;
        }
        let golden = &tensors[expected["tensor"].as_str().unwrap()];
        for (b, trace) in traces.iter().enumerate() {
            compared += compare(name, expected, golden, (b, count), trace, shift(b), merged, (rtol, atol));
        }
    }
    compared
}

#[allow(clippy::too_many_arguments)]
fn compare<F: Float>(
    name: &str,
    expected: &Json,
    golden: &Golden,
    (b, count): (usize, usize),
    trace: &Trace<F>,
    shift: usize,
    merged: bool,
    (rtol, atol): (f64, f64),
) -> usize {
    let stage = expected["stage"].as_str().unwrap();
    let axes = trace.find(stage).unwrap().declaration().row.axes();
    let ours = trace.get(stage).unwrap();
    let part = golden.data.len() / count;
    let theirs = &golden.data[part * b..part * (b + 1)];
    let shape: Vec<usize> = if axes.is_empty() { vec![] } else { golden.shape[1..].to_vec() };
    let times = expected["times"].as_f64().unwrap_or(1.0);
    let mut compared = 0;
    for (flat, &x) in ours.data().iter().enumerate() {
        let mut index = vec![0; axes.len()];
        let mut rest = flat;
        for (axis, &size) in ours.shape().iter().enumerate().rev() {
            index[axis] = rest % size;
            rest /= size;
        }
        for (i, axis) in index.iter_mut().zip(axes) {
            if ["position", "query", "key"].contains(axis) {
                *i += shift;
            }
        }
        let row = axes.iter().position(|a| ["position", "query"].contains(a)).map(|axis| index[axis]);
        if let (Some(rows), Some(row)) = (expected["rows"].as_array(), row) {
            if !rows.iter().any(|pair| pair[0] == b as u64 && pair[1] == row as u64) {
                continue;
            }
        }
        let place = if merged {
            index[1] * shape[1] + index[0] * ours.shape()[2] + index[2]
        } else {
            index.iter().zip(&shape).fold(0, |place, (i, size)| place * size + i)
        };
        let (got, want) = (x.to_f64() * times, theirs[place]);
        let agrees = if want.is_nan() {
            match expected["nan"].as_str() {
                Some("zeros") => got == 0.0,
                Some("-Infinity") => got == f64::NEG_INFINITY,
                Some("skip") => true,
                _ => got.is_nan(),
            }
        } else {
            got == want || (got - want).abs() <= atol + rtol * want.abs() || F::from_f64(want) == x
        };
        assert!(agrees, "{name}, {stage}, prompt {b}, cell {index:?}: {got} is not {want}");
        compared += 1;
    }
    compared
}

fn cases(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            cases(&path, out);
        } else if path.file_name().is_some_and(|n| n == "recipe.json") {
            out.push(path.parent().unwrap().to_path_buf());
        }
    }
}

#[test]
fn every_reference_model_comes_out_within_its_tolerance() {
    let mut folders = Vec::new();
    cases(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden")), &mut folders);
    folders.sort();
    assert!(folders.len() >= 45, "{}", folders.len());
    let (mut models, mut cells) = (0, 0);
    for folder in folders {
        let json = |file: &str| -> Json {
            serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
        };
        let (case, recipe) = (json("case.json"), json("recipe.json"));
        let tensors = read(&folder.join("tensors.safetensors"));
        let name = folder.display().to_string();
        for model in recipe["models"].as_array().into_iter().flatten() {
            models += 1;
            cells += run::<f64>(&name, &case, model, &tensors);
            cells += run::<f32>(&name, &case, model, &tensors);
        }
    }
    assert!(models >= 30 && cells > 50_000, "{models} models, {cells} cells");
}
