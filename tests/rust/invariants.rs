//! What holds for every model: properties over random configurations.

use glassformer::config::{Config, Init};
use glassformer::math::Activation;
use glassformer::model::CausalLanguageModel;
use glassformer::num::Float;
use glassformer::trace::{Changes, Prompt, Start, Trace};
use glassformer_tests::{trace_digest, TRACE_DIGESTS};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = Config> {
    let sizes = (2..9_usize, 1..4_usize, 1..4_usize, 1..4_usize, 1..10_usize);
    let choices = (0..5_usize, 0..3_usize, any::<bool>());
    (sizes, choices).prop_map(|((v, h, k, l, f), (activation, init, final_norm))| Config {
        n_model: h * k,
        n_heads: h,
        n_blocks: l,
        n_hidden: f,
        activation: Activation::ALL[activation],
        init: Init::ALL[init],
        final_norm,
        ..Config::new(v)
    })
}

fn cases() -> impl Strategy<Value = (Config, u64, Vec<u32>)> {
    configs().prop_flat_map(|config| {
        let ids = prop::collection::vec(0..config.n_vocab as u32, 2..12);
        (Just(config), any::<u64>(), ids)
    })
}

/// The bits of the first `rows` positions of a stage, the first `rows` keys where it has keys.
fn bits<F: Float>(trace: &Trace<F>, name: &str, rows: usize) -> Vec<u64> {
    let (tensor, axes) = (trace.get(name).unwrap(), trace.find(name).unwrap().declaration().row.axes());
    let shape = tensor.shape();
    let mut out = Vec::new();
    for (flat, value) in tensor.data().iter().enumerate() {
        let mut rest = flat;
        let mut inside = true;
        for (axis, &size) in shape.iter().enumerate().rev() {
            let index = rest % size;
            rest /= size;
            inside &= !["position", "query", "key"].contains(&axes[axis]) || index < rows;
        }
        if inside {
            out.push(value.bits());
        }
    }
    out
}

fn assert_same_rows<F: Float>(a: &Trace<F>, b: &Trace<F>, rows: usize) {
    for stage in a.stages() {
        assert_eq!(bits(a, &stage.name(), rows), bits(b, &stage.name(), rows), "{}", stage.name());
    }
}

fn earlier_rows_ignore_the_future<F: Float>(config: &Config, seed: u64, ids: &[u32]) {
    let model = CausalLanguageModel::<F>::from_seed(config, seed).unwrap();
    let whole = model.respond_to(ids).unwrap();
    for rows in 1..ids.len() {
        assert_same_rows(&whole, &model.respond_to(&ids[..rows]).unwrap(), rows);
    }
    let mut other = ids.to_vec();
    *other.last_mut().unwrap() = (ids[ids.len() - 1] + 1) % config.n_vocab as u32;
    let other = model.respond_to(&other).unwrap();
    assert_same_rows(&whole, &other, ids.len() - 1);
    let diff = whole.diff(&other).unwrap();
    assert!(diff.rows[..ids.len() - 1].iter().all(|row| row.identical));
}

fn reuse_changes_no_bit<F: Float>(config: &Config, seed: u64, ids: &[u32], cut: usize) {
    let model = CausalLanguageModel::<F>::from_seed(config, seed).unwrap();
    let mut other = ids.to_vec();
    let place = cut % ids.len();
    other[place] = (other[place] + 1) % config.n_vocab as u32;
    let earlier = model.respond_to(&other).unwrap();
    let reused = model.respond_to_reusing(ids, &earlier).unwrap();
    assert_eq!(reused.computed_rows(), place..ids.len());
    assert_same_rows(&reused, &model.respond_to(ids).unwrap(), ids.len());
    // And once more, from a trace that itself shares rows.
    let mut longer = ids.to_vec();
    longer.push(0);
    let again = model.respond_to_reusing(&longer, &reused).unwrap();
    assert_same_rows(&again, &model.respond_to(&longer).unwrap(), longer.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn earlier_rows_ignore_the_future_to_the_bit((config, seed, ids) in cases()) {
        earlier_rows_ignore_the_future::<f64>(&config, seed, &ids);
        earlier_rows_ignore_the_future::<f32>(&config, seed, &ids);
    }

    #[test]
    fn a_reused_prefix_changes_no_bit((config, seed, ids) in cases(), cut in any::<usize>()) {
        reuse_changes_no_bit::<f64>(&config, seed, &ids, cut);
        reuse_changes_no_bit::<f32>(&config, seed, &ids, cut);
    }

    #[test]
    fn weights_are_a_distribution_over_what_is_visible((config, seed, ids) in cases()) {
        let trace = CausalLanguageModel::<f64>::from_seed(&config, seed).unwrap().respond_to(&ids).unwrap();
        for block in 0..config.n_blocks {
            let weights = trace.get(&format!("blocks.{block}.attention.weights")).unwrap();
            let scores = trace.get(&format!("blocks.{block}.attention.scores")).unwrap();
            for (row, cells) in weights.data().chunks_exact(ids.len()).enumerate() {
                let query = row % ids.len();
                prop_assert!((cells.iter().sum::<f64>() - 1.0).abs() < 1e-14);
                prop_assert!(cells[..=query].iter().all(|&w| w >= 0.0));
                prop_assert!(cells[query + 1..].iter().all(|w| w.to_bits() == 0));
                let hidden = &scores.data()[row * ids.len() + query + 1..(row + 1) * ids.len()];
                prop_assert!(hidden.iter().all(|&s| s == f64::NEG_INFINITY));
            }
        }
    }

    #[test]
    fn the_stream_is_what_enters_plus_what_branches_add((config, seed, ids) in cases()) {
        let trace = CausalLanguageModel::<f64>::from_seed(&config, seed).unwrap().respond_to(&ids).unwrap();
        let cells = |name: &str| trace.get(name).unwrap().into_data();
        let mut stream = cells("positioned");
        for n in 0..config.n_blocks {
            for (branch, sum) in [("attention.output", "after_attention"), ("feed_forward.output", "hidden")] {
                let added = cells(&format!("blocks.{n}.{branch}"));
                stream = stream.iter().zip(&added).map(|(x, y)| x + y).collect();
                prop_assert_eq!(&stream, &cells(&format!("blocks.{n}.{sum}")));
            }
        }
    }

    #[test]
    fn a_trace_given_out_and_taken_back_is_the_same((config, seed, ids) in cases()) {
        let model = CausalLanguageModel::<f32>::from_seed(&config, seed).unwrap();
        let trace = model.respond_to(&ids).unwrap();
        let block: Vec<f32> =
            trace.stages().iter().flat_map(|stage| trace.get(&stage.name()).unwrap().into_data()).collect();
        let plan = model.plan(Start::Tokens).unwrap().clone();
        let prompt = Prompt { tokens: ids.clone(), source: Vec::new() };
        let back = Trace::from_block(plan, prompt, Changes::default(), trace.lengths(), &block).unwrap();
        assert_same_rows(&trace, &back, ids.len());
        prop_assert!(back.diff(&trace).unwrap().parts_from.is_none());
    }
}

#[test]
fn every_trace_has_its_digest() {
    for (activation, wide, narrow) in TRACE_DIGESTS {
        assert_eq!(trace_digest::<f64>(activation, Init::Lesson), wide, "{activation:?} in float64");
        assert_eq!(trace_digest::<f32>(activation, Init::Gpt2), narrow, "{activation:?} in float32");
    }
}

#[test]
fn numbers_that_overflow_are_refused_and_the_model_answers_on() {
    let mut model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let before = model.respond_to(&[0, 1]).unwrap();
    let kept = model.parameters().get("head").unwrap();
    // Signs that agree with the row's, so that the products add up past the largest float.
    let row = before.get("final.normalized").unwrap();
    let head: Vec<f64> = (0..28).map(|i| 1.7e308_f64.copysign(row.data()[i / 7])).collect();
    model.parameters_mut().set("head", &head).unwrap();
    let error = model.respond_to(&[0, 1]).unwrap_err();
    assert_eq!(error.code(), "not_finite");
    assert!(error.to_string().contains("logits"), "{error}");
    model.parameters_mut().set("head", kept.data()).unwrap();
    assert_same_rows(&before, &model.respond_to(&[0, 1]).unwrap(), 2);
}

#[test]
fn the_first_stage_that_left_the_finite_numbers_is_named() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config { epsilon: 0.0, ..Config::new(0) }, 7).unwrap();
    let error = model.respond_to_rows(&[1.0; 4]).unwrap_err();
    assert!(error.to_string().contains("blocks.0.attention.normalized"), "{error}");
}

#[test]
fn prompts_that_cannot_be_read_are_refused_by_name() {
    let model =
        CausalLanguageModel::<f64>::from_seed(&Config { max_context: 3, ..Config::new(7) }, 7).unwrap();
    let code = |ids: &[u32]| model.respond_to(ids).unwrap_err().code();
    assert_eq!(code(&[]), "empty_prompt");
    assert_eq!(code(&[0, 7]), "token_out_of_range");
    assert_eq!(code(&[0, 1, 2, 3]), "context_exceeded");
    assert_eq!(model.respond_to_rows(&[1.0; 5]).unwrap_err().code(), "shape_mismatch");
    assert_eq!(model.respond_to_rows(&[f64::NAN; 4]).unwrap_err().code(), "not_finite");
    let stack = CausalLanguageModel::<f64>::from_seed(&Config::new(0), 7).unwrap();
    assert_eq!(stack.respond_to(&[0]).unwrap_err().code(), "token_out_of_range");
}
