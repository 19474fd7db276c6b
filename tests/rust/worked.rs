//! Numbers that can be checked by hand, through whole models. Those of single equations stand beside the equations.

use glassformer::config::{AttentionBias, Bias, Config, FeedForward, Norm};
use glassformer::math::Activation;
use glassformer::model::CausalLanguageModel;
use glassformer::trace::Trace;

/// A block without norms, tables and head, whose attention adds nothing until a parameter is set.
fn bare(n_model: usize, n_heads: usize, n_hidden: usize, activation: Activation) -> CausalLanguageModel<f64> {
    let bias = Bias { attention: AttentionBias::All, feed_forward: true, norm: false, head: false };
    let (norm, final_norm) = (Norm::None, false);
    let base = Config { n_model, n_heads, n_hidden, norm, final_norm, activation, bias, ..Config::new(0) };
    let mut model = CausalLanguageModel::from_seed(&base, 7).unwrap();
    set(&mut model, "attention.output", &vec![0.0; n_model * n_model]);
    model
}

fn set(model: &mut CausalLanguageModel<f64>, name: &str, values: &[f64]) {
    model.parameters_mut().set(&format!("blocks.0.{name}"), values).unwrap();
}

fn stage(trace: &Trace<f64>, name: &str) -> Vec<f64> {
    trace.get(&format!("blocks.0.{name}")).unwrap().into_data()
}

#[test]
fn a_feed_forward_branch_of_one_unit_gives_eight_and_a_half() {
    let mut model = bare(1, 1, 1, Activation::Identity);
    for (name, value) in [("expand", 2.0), ("expand_bias", 0.5), ("contract", 3.0), ("contract_bias", 1.0)] {
        set(&mut model, &format!("feed_forward.{name}"), &[value]);
    }
    let trace = model.respond_to_rows(&[1.0]).unwrap();
    assert_eq!(stage(&trace, "feed_forward.output"), [8.5]);
    assert_eq!(stage(&trace, "hidden"), [9.5]);
}

#[test]
fn a_branch_of_three_tenths_is_added_to_a_stream_of_two() {
    let mut model = bare(1, 1, 1, Activation::Identity);
    set(&mut model, "attention.output_bias", &[0.3]);
    let trace = model.respond_to_rows(&[2.0]).unwrap();
    assert_eq!(stage(&trace, "attention.output"), [0.3]);
    assert_eq!(stage(&trace, "after_attention"), [2.3]);
}

#[test]
fn two_rows_of_other_units_have_one_output() {
    let mut model = bare(2, 1, 3, Activation::Relu);
    set(&mut model, "feed_forward.expand", &[1.0, 0.0, 1.0, 0.0, 1.0, -1.0]);
    set(&mut model, "feed_forward.contract", &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let trace = model.respond_to_rows(&[1.0, -1.0, 2.0, 1.0]).unwrap();
    assert_eq!(stage(&trace, "feed_forward.activated"), [1.0, 0.0, 2.0, 2.0, 1.0, 1.0]);
    assert_eq!(stage(&trace, "feed_forward.output"), [3.0, 2.0, 3.0, 2.0]);
}

#[test]
fn heads_are_columns_of_a_row_and_no_reshape_of_rows() {
    let mut model = bare(8, 2, 1, Activation::Identity);
    let identity: Vec<f64> = (0..64).map(|i| if i % 9 == 0 { 1.0 } else { 0.0 }).collect();
    set(&mut model, "attention.value", &identity);
    // Rows 0..7, 8..15, 16..23, 24..31.
    let rows: Vec<f64> = (0..32).map(f64::from).collect();
    let trace = model.respond_to_rows(&rows).unwrap();
    let heads = trace.get("blocks.0.attention.value").unwrap();
    assert_eq!(heads.shape(), [2, 4, 4]);
    assert_eq!(heads.data()[..4], [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(heads.data()[16..20], [4.0, 5.0, 6.0, 7.0]);
    // Read as 2,4,4 without turning, the second head would begin with row 2.
    assert_ne!(heads.data(), rows);
    assert_eq!(rows[16..20], [16.0, 17.0, 18.0, 19.0]);
}

#[test]
fn every_block_of_gpt2s_width_has_seven_million_weights() {
    let count = |n_blocks| {
        let sizes = Config { n_model: 768, n_heads: 12, n_hidden: 4 * 768, n_blocks, ..Config::new(0) };
        let config = Config { feed_forward: FeedForward::Dense, final_norm: false, ..sizes };
        let model = CausalLanguageModel::<f32>::from_seed(&config, 7).unwrap();
        model.parameters().list().iter().map(|p| p.count()).sum::<usize>()
    };
    let each = count(2) - count(1);
    assert_eq!(each, 7_077_888);
    // Twelve of them: about 84.9 million.
    assert_eq!((12 * each) / 100_000, 849);
}
