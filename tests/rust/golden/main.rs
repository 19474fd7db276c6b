//! Every reference case of tests/golden through the core, by its recipe, in float64 and float32. What a recipe is stands in
//! tests/golden/README.md.

mod calls;
mod equations;
mod models;
mod tensors;

use calls::Calls;
use glassformer::generate::Filter;
use glassformer::num::random::Choice;
use glassformer::num::Float;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use tensors::{read, Golden};

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

fn run<F: Float>(name: &str, case: &Json, recipe: &Json, tensors: &HashMap<String, Golden>) -> [usize; 2] {
    let (mut models, mut cells) = (0, 0);
    for model in recipe["models"].as_array().unwrap() {
        models += 1;
        cells += models::run::<F>(name, case, model, tensors);
    }
    let mut calls = Calls::<F> { tensors, given: HashMap::new() };
    for call in recipe["calls"].as_array().unwrap() {
        cells += calls.run(name, case, call);
    }
    assert!(cells > 0, "{name}");
    [models, cells]
}

#[test]
fn every_reference_case_comes_out_within_its_tolerance() {
    let mut folders = Vec::new();
    cases(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden")), &mut folders);
    folders.sort();
    assert!(folders.len() >= 90, "{}", folders.len());
    let mut sums = [0, 0];
    for folder in folders {
        let json = |file: &str| -> Json {
            serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
        };
        let (case, recipe) = (json("case.json"), json("recipe.json"));
        let tensors = read(&folder.join("tensors.safetensors"));
        let name = folder.file_name().unwrap().to_string_lossy();
        for counts in
            [run::<f64>(&name, &case, &recipe, &tensors), run::<f32>(&name, &case, &recipe, &tensors)]
        {
            sums = [sums[0] + counts[0], sums[1] + counts[1]];
        }
    }
    assert!(sums[0] >= 120 && sums[1] > 100_000, "{sums:?} models and cells");
}

#[test]
fn numbers_from_0_to_1_choose_the_tokens_that_numpy_chooses() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/instrument/generation/filters"));
    let tensors = read(&folder.join("tensors.safetensors"));
    let (logits, uniforms, chosen) = (&tensors["logits"], &tensors["uniforms"], &tensors["inverse_cdf"]);
    let width = logits.shape[1];
    for (row, want) in logits.data.chunks(width).zip(chosen.data.chunks(uniforms.data.len())) {
        let (mut before, mut after) = (vec![0.0; width], vec![0.0; width]);
        Filter::default().apply(row, &mut before, &mut after);
        let choice = Choice::new(&after).unwrap();
        let got = uniforms.data.iter().map(|&drawn| choice.index_of(drawn) as f64);
        assert_eq!(got.collect::<Vec<_>>(), want);
    }
}
