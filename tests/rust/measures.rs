//! Norms, entropies, gains and counts: against the lesson's numbers, and over random members of the family.

use glassformer::config::{Config, Encoder, Expert, Experts, FeedForward};
use glassformer::inspect::{count, NormKind};
use glassformer::math::Activation;
use glassformer::model::{CausalLanguageModel, EncoderDecoderModel, Given, Transformer};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::trace::{Change, Changes, Edit, Trace};
use glassformer_tests::{rustlab_block, tolerance, Picker};
use serde_json::Value;

fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/lessons/rustlab_block.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn assert_close(what: &str, got: &[f64], want: &[f64], relative: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let allowed = tolerance::LESSON_ATOL + relative * w.abs();
        assert!((g - w).abs() <= allowed, "{what}[{i}]: {g} and not {w}");
    }
}

/// The lesson's block over its rows.
fn lesson() -> Trace<f64> {
    let mut stream = RandomStream::rand(13);
    let rows: Vec<f64> = (0..32).map(|_| stream.normal()).collect();
    CausalLanguageModel::<f64>::new(&rustlab_block(), &mut stream).unwrap().respond_to_rows(&rows).unwrap()
}

/// A model with random values for every parameter, and a prompt.
fn member<F: Float>(config: &Config, picker: &mut Picker) -> (Transformer<F>, Vec<u32>, Vec<u32>) {
    let mut model = Transformer::new(config, &mut config.init.stream(7)).unwrap();
    let block: Vec<F> =
        model.parameters().block().iter().map(|_| F::from_f64(0.5 * picker.0.normal())).collect();
    model.parameters_mut().set_block(&block).unwrap();
    let length = 1 + picker.below(5);
    let source = config.encoder.as_ref().map_or(Vec::new(), |e| picker.ids(3, e.n_vocab));
    (model, picker.ids(length, config.n_vocab), source)
}

/// A member of any kind; one in four is an encoder-decoder.
fn any_config(picker: &mut Picker) -> Config {
    let config = picker.valid();
    let encoder = Encoder { n_vocab: 2 + picker.below(5), n_blocks: 1 + picker.below(2) };
    let other = Config { encoder: Some(encoder), parallel: false, ..config.clone() };
    if picker.maybe() && other.validate().is_ok() {
        other
    } else {
        config
    }
}

#[test]
fn the_lessons_norms_and_entropies_come_out() {
    let (golden, trace) = (golden(), lesson());
    let norms = trace.norms().unwrap();
    let names: Vec<String> = norms.iter().map(|n| n.stage.name()).collect();
    let stages = ["attention.output", "after_attention", "feed_forward.output", "hidden"];
    let stages = stages.map(|stage| format!("blocks.0.{stage}"));
    assert_eq!(names, [&["positioned".to_string()][..], &stages].concat());
    // The lesson has the norm of all rows together.
    for (own, key) in norms.iter().zip(["h_in", "attention", "h_mid", "feed_forward", "h_out"]) {
        let all = own.norms.iter().map(|norm| norm * norm).sum::<f64>().sqrt();
        assert_close(key, &[all], &flat(&golden["norms"][key]), tolerance::LESSON_RTOL);
    }
    let entropies = trace.entropies().unwrap();
    assert_eq!(entropies.len(), 1);
    assert_eq!(entropies[0].stage.name(), "blocks.0.attention.weights");
    assert_eq!(entropies[0].bits.shape(), [2, 4]);
    let want = flat(&golden["entropy_bits"]);
    assert_close("entropy", entropies[0].bits.data(), &want, tolerance::LESSON_RTOL);
    let bound = [1.0, 2.0, 3.0, 4.0f64].map(f64::log2);
    assert_close("bound", entropies[0].bound.data(), &[bound, bound].concat(), 1e-15);
}

#[test]
fn the_lessons_gains_come_out_for_every_stack() {
    let golden = golden();
    let rows = flat(&golden["h_in"]);
    for entry in golden["stack_seed_1300"].as_array().unwrap() {
        let n = entry["blocks"].as_u64().unwrap() as usize;
        let scaled = entry["branches"] == "scaled";
        let branch_scale = if scaled { 1.0 / (2.0 * n as f64).sqrt() } else { 1.0 };
        let config = Config { n_blocks: n, branch_scale, ..rustlab_block() };
        let model = CausalLanguageModel::<f64>::from_seed(&config, 1300).unwrap();
        let given = Given::Rows { target: &rows, source: &[] };
        let gains: Vec<f64> = (0..n).map(|b| model.transformer().gain(given, b).unwrap()).collect();
        assert_close(&format!("{n} blocks"), &gains, &flat(&entry["gains"]), tolerance::LESSON_GAIN_RTOL);
    }
}

#[test]
fn every_member_has_norms_in_execution_order_and_ratios_to_the_stream_before() {
    let mut picker = Picker(RandomStream::numpy(51));
    for _ in 0..100 {
        let config = any_config(&mut picker);
        let (model, target, source) = member::<f32>(&config, &mut picker);
        let given = Given::Tokens { target: &target, source: &source };
        let trace = model.respond_changed(given, Changes::default()).unwrap();
        let norms = trace.norms().unwrap();
        let cross = usize::from(config.encoder.is_some());
        let encoder = config.encoder.as_ref().map_or(0, |e| 1 + 4 * e.n_blocks);
        assert_eq!(norms.len(), encoder + 1 + (4 + 2 * cross) * config.n_blocks);
        let mut stream = None;
        for own in &norms {
            let tensor = trace.get(&own.stage.name()).unwrap();
            assert_eq!(own.norms.len(), tensor.shape()[0]);
            for (row, norm) in tensor.data().chunks_exact(config.n_model).zip(&own.norms) {
                let want = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
                assert!((norm - want).abs() <= 1e-14 * want, "{norm} and not {want}");
            }
            match (own.kind, &own.ratios) {
                (NormKind::Stream, None) => stream = Some(&own.norms),
                (NormKind::Branch, Some(ratios)) => {
                    for ((ratio, own), stream) in ratios.iter().zip(&own.norms).zip(stream.unwrap()) {
                        assert!(*ratio == own / stream || ratio.is_nan());
                    }
                }
                other => panic!("{other:?}"),
            }
        }
        // Stages of an encoder-decoder are in the order of its towers.
        let slots = norms.iter().map(|own| trace.stages().iter().position(|s| *s == own.stage).unwrap());
        assert!(slots.collect::<Vec<_>>().is_sorted());
    }
}

#[test]
fn entropies_stay_within_their_bound_and_reach_it_where_scores_are_equal() {
    let mut picker = Picker(RandomStream::numpy(52));
    for _ in 0..100 {
        let config = any_config(&mut picker);
        let (mut model, target, source) = member::<f64>(&config, &mut picker);
        let given = Given::Tokens { target: &target, source: &source };
        let trace = model.respond_changed(given, Changes::default()).unwrap();
        for own in trace.entropies().unwrap() {
            for (bits, bound) in own.bits.data().iter().zip(own.bound.data()) {
                assert!(*bits >= 0.0 && *bits <= bound + 1e-14, "{bits} of {bound}");
            }
        }
        // Without slopes, keys of zero score all queries alike.
        if matches!(config.position, glassformer::config::Position::Alibi(_)) {
            continue;
        }
        let list: Vec<(String, usize)> =
            model.parameters().list().iter().map(|p| (p.name(), p.count())).collect();
        for (name, count) in list.iter().filter(|(name, _)| name.contains("attention.key")) {
            model.parameters_mut().set(name, &vec![0.0; *count]).unwrap();
        }
        let even = model.respond_changed(given, Changes::default()).unwrap();
        for own in even.entropies().unwrap() {
            for (bits, bound) in own.bits.data().iter().zip(own.bound.data()) {
                assert!((bits - bound).abs() <= 1e-14, "{bits} of {bound}");
            }
        }
    }
}

#[test]
fn the_bound_counts_what_masks_windows_and_edits_leave() {
    let config = Config { window: Some(2), ..Config::new(7) };
    let model = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
    let bound = |changes| {
        let given = Given::Tokens { target: &[0, 1, 2, 3], source: &[] };
        let trace = model.transformer().respond_changed(given, changes).unwrap();
        trace.entropies().unwrap()[0].bound.data().to_vec()
    };
    assert_eq!(bound(Changes::default()), [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]);
    let hide = Edit {
        stage: "blocks.0.attention.scores".into(),
        index: vec![Some(1), Some(3), Some(2)],
        change: Change::Set(vec![f64::NEG_INFINITY]),
    };
    let edited = bound(Changes { edits: vec![hide], ..Changes::default() });
    assert_eq!(edited, [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    let masks =
        glassformer::mask::Masks { padding: Some(vec![true, false, false, false]), ..Default::default() };
    // The first query sees nothing, and spreads nothing.
    assert_eq!(bound(Changes::of_masks(masks)), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
}

/// The Jacobian of the last row as it leaves a block, by central differences of whole passes whose stream is edited.
fn differences(model: &Transformer<f64>, target: &[u32], block: usize) -> Vec<f64> {
    let width = model.config().n_model;
    let stage = match block.checked_sub(1) {
        None => "positioned".to_string(),
        Some(before) => format!("blocks.{before}.hidden"),
    };
    let last = target.len() - 1;
    let moved = |d: usize, by: f64| -> Vec<f64> {
        let index = vec![Some(last), Some(d)];
        let edits = vec![Edit { stage: stage.clone(), index, change: Change::Add(vec![by]) }];
        let given = Given::Tokens { target, source: &[] };
        let trace = model.respond_changed(given, Changes { edits, ..Changes::default() }).unwrap();
        trace.get(&format!("blocks.{block}.hidden")).unwrap().data()[last * width..].to_vec()
    };
    let step = 1e-5;
    (0..width)
        .flat_map(|d| {
            let (up, down) = (moved(d, step), moved(d, -step));
            up.into_iter().zip(down).map(|(a, b)| (a - b) / (2.0 * step)).collect::<Vec<_>>()
        })
        .collect()
}

/// The largest singular value by power iteration, another way than the crate's.
fn stretch(columns: &[f64], width: usize) -> f64 {
    let mut v: Vec<f64> = (0..width).map(|i| 1.0 + 0.37 * i as f64).collect();
    let mut size = 0.0;
    for _ in 0..20_000 {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 {
            return 0.0;
        }
        let unit: Vec<f64> = v.iter().map(|x| x / length).collect();
        let image: Vec<f64> = (0..width)
            .map(|row| (0..width).map(|column| columns[column * width + row] * unit[column]).sum())
            .collect();
        size = image.iter().map(|x| x * x).sum::<f64>().sqrt();
        v = columns.chunks(width).map(|column| column.iter().zip(&image).map(|(a, b)| a * b).sum()).collect();
    }
    size
}

#[test]
fn a_gain_agrees_with_differences_for_every_member() {
    let mut picker = Picker(RandomStream::numpy(53));
    for _ in 0..120 {
        let config = picker.valid();
        let config = Config { mask: picker.one_of(glassformer::config::Mask::ALL), ..config };
        let (model, target, _) = member::<f64>(&config, &mut picker);
        let block = picker.below(config.n_blocks);
        let gain = model.gain(Given::Tokens { target: &target, source: &[] }, block).unwrap();
        let want = stretch(&differences(&model, &target, block), config.n_model);
        // No kink of ReLU and no other choice of experts lies within a step of these.
        assert!((gain - want).abs() <= 1e-5 * want.max(1e-3), "{gain} and {want}: {config:?}");
    }
}

#[test]
fn the_gain_of_rows_is_that_of_the_tokens_they_stand_for() {
    let mut picker = Picker(RandomStream::numpy(54));
    for _ in 0..30 {
        let config = Config { n_blocks: 3, ..picker.valid() };
        let (model, target, _) = member::<f64>(&config, &mut picker);
        let given = Given::Tokens { target: &target, source: &[] };
        let rows = model.respond_changed(given, Changes::default()).unwrap().get("positioned").unwrap();
        let of_rows = Given::Rows { target: rows.data(), source: &[] };
        for block in 0..3 {
            assert_eq!(model.gain(given, block).unwrap(), model.gain(of_rows, block).unwrap());
        }
    }
}

#[test]
fn a_model_of_float32_has_nearly_the_same_gain() {
    let config = Config { n_model: 8, n_blocks: 2, activation: Activation::Gelu, ..Config::new(7) };
    let given = [0, 1, 2, 4];
    let wide = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
    let narrow = CausalLanguageModel::<f32>::from_seed(&config, 7).unwrap();
    for block in 0..2 {
        let a = wide.transformer().gain(Given::Tokens { target: &given, source: &[] }, block).unwrap();
        let b = narrow.transformer().gain(Given::Tokens { target: &given, source: &[] }, block).unwrap();
        assert!(a != b && (a - b).abs() < 1e-5 * a, "{a} and {b}");
    }
}

#[test]
fn what_has_no_gain_is_refused() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let gain = |target: &[u32], block| {
        model.transformer().gain(Given::Tokens { target, source: &[] }, block).unwrap_err().code()
    };
    assert_eq!(gain(&[0, 1], 1), "index_out_of_range");
    assert_eq!(gain(&[0, 9], 0), "token_out_of_range");
    assert_eq!(gain(&[], 0), "empty_prompt");
    let config = Config { encoder: Some(Encoder { n_vocab: 7, n_blocks: 1 }), ..Config::new(7) };
    let both = EncoderDecoderModel::<f64>::from_seed(&config, 7).unwrap();
    let given = Given::Tokens { target: &[0], source: &[1] };
    assert_eq!(both.transformer().gain(given, 0).unwrap_err().code(), "invalid_option");
}

#[test]
fn every_parameter_is_counted_in_one_part() {
    let mut picker = Picker(RandomStream::numpy(55));
    for _ in 0..300 {
        let config = any_config(&mut picker);
        let model = Transformer::<f64>::new(&config, &mut config.init.stream(7)).unwrap();
        let p = count(&config).unwrap().parameters;
        assert_eq!(p.total, model.parameters().block().len() as f64);
        let cross = p.cross_attention.unwrap_or(0.0);
        assert_eq!(cross > 0.0, config.encoder.is_some());
        let parts = [p.embedding, p.position, p.attention, cross, p.feed_forward, p.norms, p.head];
        assert_eq!(p.total, parts.iter().sum::<f64>());
        let named = |what: fn(&str) -> bool| -> f64 {
            let list = model.parameters().list().iter().filter(|q| what(&q.name()));
            list.map(|q| q.count() as f64).sum()
        };
        assert_eq!(p.norms, named(|name| name.contains(".norm.")));
        assert_eq!(p.head, named(|name| name.starts_with("head") || name.contains(".head")));
        assert_eq!(p.feed_forward, named(|n| n.contains("feed_forward.") && !n.contains(".norm.")));
        let mut blocks = p.per_block.total * config.n_blocks as f64;
        if let (Some(encoder), Some(block)) = (&config.encoder, p.per_encoder_block) {
            blocks += block.total * encoder.n_blocks as f64;
        }
        assert_eq!(blocks, named(|name| name.contains("blocks.")));
        let b = p.per_block;
        let parts = [b.attention, b.cross_attention.unwrap_or(0.0), b.feed_forward, b.norms];
        assert_eq!(b.total, parts.iter().sum::<f64>());
    }
}

#[test]
fn gpt_2_small_counts_as_everyone_counts_it() {
    let wide = Config { n_model: 768, n_heads: 12, n_hidden: 3072, n_blocks: 12, ..Config::new(50257) };
    let counted = count(&wide).unwrap();
    assert_eq!(counted.parameters.per_block.total, 7_077_888.0);
    assert_eq!(counted.parameters.attention + counted.parameters.feed_forward, 84_934_656.0);
    assert_eq!(counted.crossovers.scores_and_mixing, Some(4.0 * 768.0));
    assert_eq!(counted.crossovers.with_projections, Some(2.0 * 768.0));
    // A block's weights are each multiplied and added once for a token.
    let flops = counted.flops;
    assert_eq!(flops.projections + flops.feed_forward, 2.0 * 84_934_656.0);
    assert_eq!(flops.scores_and_mixing, 12.0 * 4.0 * 768.0);
    assert_eq!(flops.head, 2.0 * 768.0 * 50257.0);
}

#[test]
fn operations_count_what_is_used() {
    let plain = Config { n_model: 16, n_hidden: 64, n_heads: 4, ..Config::new(10) };
    let flops = |config: &Config| count(config).unwrap().flops;
    let dense = flops(&plain);
    let experts = |selected| {
        let mixture = Experts { expert: Expert::Dense, ..Experts::new(8, selected) };
        Config { feed_forward: FeedForward::Experts(mixture), ..plain.clone() }
    };
    // The chosen experts, and the router that chose among eight.
    assert_eq!(flops(&experts(2)).feed_forward, 2.0 * dense.feed_forward + 2.0 * 16.0 * 8.0);
    assert_eq!(count(&experts(1)).unwrap().parameters.feed_forward, 8.0 * 2.0 * 16.0 * 64.0 + 8.0 * 16.0);
    let gated = Config { feed_forward: FeedForward::Glu, ..plain.clone() };
    assert_eq!(flops(&gated).feed_forward, 1.5 * dense.feed_forward);
    // Fewer key and value heads spare projections, not scores.
    let grouped = flops(&Config { n_key_value_heads: Some(1), ..plain.clone() });
    assert_eq!(grouped.scores_and_mixing, dense.scores_and_mixing);
    assert_eq!(grouped.projections, dense.projections / 2.0 * 1.25);
    // A window that never sees enough keys; projections that alone are more than a narrow branch.
    let windowed = count(&Config { window: Some(20), ..plain.clone() }).unwrap().crossovers;
    assert_eq!((windowed.scores_and_mixing, windowed.with_projections), (None, None));
    let narrow = count(&Config { n_hidden: 8, ..plain.clone() }).unwrap().crossovers;
    assert_eq!((narrow.scores_and_mixing, narrow.with_projections), (Some(8.0), Some(0.0)));
    let both = Config { encoder: Some(Encoder { n_vocab: 9, n_blocks: 2 }), ..plain.clone() };
    let both = count(&both).unwrap();
    let cross = both.flops.cross_attention.unwrap();
    assert_eq!(cross.projections + cross.memory_projections, both.flops.projections);
    assert_eq!(both.encoder_flops.unwrap().projections, 2.0 * dense.projections);
    assert_eq!(both.encoder_flops.unwrap().head, 0.0);
}
