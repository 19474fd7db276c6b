//! The lessons' printed numbers, and their full traces to 17 digits.

use glassformer::config::Config;
use glassformer::model::CausalLanguageModel;
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::trace::Trace;
use glassformer_tests::{rustlab_block, tolerance};
use serde_json::Value;

fn lesson(name: &str) -> Value {
    let path = format!("{}/../golden/lessons/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn assert_close(what: &str, got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let allowed = tolerance::LESSON_ATOL + tolerance::LESSON_RTOL * w.abs();
        assert!((g - w).abs() <= allowed, "{what}[{i}]: {g} and not {w}");
    }
}

fn numbers<F: Float>(trace: &Trace<F>, stage: &str) -> Vec<f64> {
    trace.get(stage).unwrap().data().iter().map(|x| x.to_f64()).collect()
}

/// H,T,K as the lesson writes it: T rows, heads side by side.
fn side_by_side(x: Vec<f64>, heads: usize) -> Vec<f64> {
    let width = 2;
    let rows = x.len() / heads / width;
    let cell = |t: usize, d: usize| x[(d / width * rows + t) * width + d % width];
    (0..rows).flat_map(|t| (0..heads * width).map(move |d| (t, d))).map(|(t, d)| cell(t, d)).collect()
}

#[test]
fn parameters_are_the_lessons_to_the_bit() {
    let golden = lesson("model");
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let bits = |name: &str| -> Vec<u64> {
        model.parameters().get(name).unwrap().data().iter().map(|x| x.to_bits()).collect()
    };
    let want = |name: &str| -> Vec<u64> { flat(&golden[name]).iter().map(|x| x.to_bits()).collect() };
    let parts = ["query", "key", "value", "output"].map(|p| bits(&format!("blocks.0.attention.{p}")));
    assert_eq!(bits("embedding"), want("E"));
    assert_eq!(parts.concat(), want("P"));
    assert_eq!(bits("blocks.0.feed_forward.expand"), want("W1"));
    assert_eq!(bits("blocks.0.feed_forward.contract"), want("W2"));
    assert_eq!(bits("head"), want("O"));
}

#[test]
fn every_stage_of_every_published_trace_agrees() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    for name in ["trace_012", "trace_013", "trace_014", "trace_015", "trace_01231005"] {
        let golden = lesson(name);
        let ids: Vec<u32> = flat(&golden["ids"]).iter().map(|&id| id as u32).collect();
        let trace = model.respond_to(&ids).unwrap();
        let plain = [
            ("embedding", "emb"),
            ("positioned", "positioned"),
            ("blocks.0.attention.normalized", "norm1"),
            ("blocks.0.attention.weights", "attention"),
            ("blocks.0.after_attention", "after_attention"),
            ("blocks.0.feed_forward.normalized", "norm2"),
            ("blocks.0.feed_forward.pre", "ff_pre"),
            ("blocks.0.feed_forward.activated", "ff_act"),
            ("blocks.0.feed_forward.output", "feed_forward"),
            ("blocks.0.hidden", "hidden"),
            ("final.normalized", "final_norm"),
            ("logits", "logits"),
            ("probabilities", "p"),
        ];
        for (stage, key) in plain {
            assert_close(&format!("{name} {stage}"), &numbers(&trace, stage), &flat(&golden[key]));
        }
        for (stage, key) in [("query", "q"), ("key", "k"), ("value", "v"), ("mixed", "context")] {
            let got = side_by_side(numbers(&trace, &format!("blocks.0.attention.{stage}")), 2);
            assert_close(&format!("{name} {stage}"), &got, &flat(&golden[key]));
        }
        let scores = numbers(&trace, "blocks.0.attention.scores");
        let visible: Vec<f64> = scores.iter().map(|&s| if s.is_infinite() { 0.0 } else { s }).collect();
        assert_close(&format!("{name} scores"), &visible, &flat(&golden["scores_visible"]));
    }
}

#[test]
fn the_printed_four_decimals_come_out() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let (cat, dog) = (model.respond_to(&[0, 1, 2]).unwrap(), model.respond_to(&[0, 1, 3]).unwrap());
    let row = |trace: &Trace<f64>, stage: &str| -> String {
        let all = numbers(trace, stage);
        let last = &all[all.len() - all.len() / 3..];
        last.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row(&cat, "positioned"), "0.6632 -0.7264 0.2649 1.1782");
    assert_eq!(row(&cat, "blocks.0.after_attention"), "0.8529 -0.8269 0.1632 0.9271");
    assert_eq!(row(&cat, "blocks.0.feed_forward.output"), "-0.5318 -0.1214 -0.1309 0.3195");
    assert_eq!(row(&cat, "blocks.0.hidden"), "0.3210 -0.9483 0.0323 1.2465");
    assert_eq!(row(&cat, "blocks.0.attention.output"), "0.1897 -0.1005 -0.1018 -0.2512");
    let head_0_query_2 = |trace: &Trace<f64>| {
        let weights = trace.get("blocks.0.attention.weights").unwrap();
        [0, 1, 2].map(|key| format!("{:.4}", weights.at(&[0, 2, key]).unwrap())).join(" ")
    };
    assert_eq!(head_0_query_2(&cat), "0.3988 0.3307 0.2705");
    assert_eq!(head_0_query_2(&dog), "0.1624 0.4041 0.4335");

    let diff = cat.diff(&dog).unwrap();
    let hidden = diff.stages.iter().find(|s| s.stage.name() == "blocks.0.hidden").unwrap();
    assert_eq!(format!("{:.4}", hidden.rows[2].max_abs), "0.3249");
    for stage in &diff.stages {
        assert!(stage.rows[..2].iter().all(|row| row.identical), "{}", stage.stage.name());
    }
    assert_eq!(diff.parts_from.unwrap().name(), "embedding");
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn the_rustlab_block_agrees_weights_included() {
    let golden = lesson("rustlab_block");
    let mut stream = RandomStream::rand(13);
    let rows: Vec<f64> = (0..32).map(|_| stream.normal()).collect();
    assert_close("h_in", &rows, &flat(&golden["h_in"]));
    let model = CausalLanguageModel::<f64>::new(&rustlab_block(), &mut stream).unwrap();
    for (name, key) in [("feed_forward.expand", "expand"), ("feed_forward.contract", "contract")] {
        let got = model.parameters().get(&format!("blocks.0.{name}")).unwrap();
        assert_close(key, got.data(), &flat(&golden["weights"][key]));
    }
    // The lesson multiplies by these on the right; here they stand out,in.
    for key in ["query", "key", "value", "output"] {
        let got = model.parameters().get(&format!("blocks.0.attention.{key}")).unwrap();
        let turned: Vec<f64> = (0..64).map(|i| got.data()[i % 8 * 8 + i / 8]).collect();
        assert_close(key, &turned, &flat(&golden["weights"][key]));
    }
    let trace = model.respond_to_rows(&rows).unwrap();
    let stages = [
        ("blocks.0.attention.weights", "attention_weights"),
        ("blocks.0.attention.output", "attention_output"),
        ("blocks.0.after_attention", "h_mid"),
        ("blocks.0.feed_forward.output", "feed_forward_output"),
        ("blocks.0.hidden", "h_out"),
    ];
    for (stage, key) in stages {
        assert_close(stage, &numbers(&trace, stage), &flat(&golden[key]));
    }
    let norms = &golden["norms"];
    assert_close("h_in", &[norm(&rows)], &flat(&norms["h_in"]));
    assert_close("h_mid", &[norm(&numbers(&trace, "blocks.0.after_attention"))], &flat(&norms["h_mid"]));
    let out = numbers(&trace, "blocks.0.hidden");
    assert_close("h_out", &[norm(&out)], &flat(&norms["h_out"]));
    let second = CausalLanguageModel::<f64>::from_seed(&rustlab_block(), 14).unwrap();
    let out2 = numbers(&second.respond_to_rows(&out).unwrap(), "blocks.0.hidden");
    assert_close("h_out2", &[norm(&out2)], &flat(&norms["h_out2"]));
}

#[test]
fn the_rustlab_stacks_norms_agree_plain_and_scaled() {
    let golden = lesson("rustlab_block");
    let rows = flat(&golden["h_in"]);
    for entry in golden["stack_seed_1300"].as_array().unwrap() {
        let n = entry["blocks"].as_u64().unwrap() as usize;
        let scaled = entry["branches"] == "scaled";
        let branch_scale = if scaled { 1.0 / (2.0 * n as f64).sqrt() } else { 1.0 };
        let config = Config { n_blocks: n, branch_scale, ..rustlab_block() };
        let trace =
            CausalLanguageModel::<f64>::from_seed(&config, 1300).unwrap().respond_to_rows(&rows).unwrap();
        let mut norms = vec![norm(&rows)];
        norms.extend((0..n).map(|block| norm(&numbers(&trace, &format!("blocks.{block}.hidden")))));
        assert_close(&format!("{n} blocks"), &norms, &flat(&entry["norms"]));
    }
}
