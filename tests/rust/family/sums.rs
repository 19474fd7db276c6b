//! Weights are distributions, and the stream is the sum of what joins it.

use crate::{cells, fill, values};
use glassformer::config::{Config, Encoder, Mask};
use glassformer::mask::Masks;
use glassformer::model::{EncoderDecoderModel, EncoderModel};
use glassformer::num::random::RandomStream;
use glassformer::trace::Trace;
use glassformer_tests::Picker;

/// Marks or numbers for each query and key: hidden ones, one query that sees nothing, numbers that are added.
fn mask(picker: &mut Picker, queries: usize, keys: usize) -> Vec<f64> {
    let blind = picker.below(2 * queries);
    let cell = |i: usize, picker: &mut Picker| match picker.below(3) {
        _ if i / keys == blind => f64::NEG_INFINITY,
        0 => f64::NEG_INFINITY,
        1 => picker.0.normal(),
        _ => 0.0,
    };
    (0..queries * keys).map(|i| cell(i, picker)).collect()
}

/// Each row of weights sums to 1, with exact zeros where the score is -infinity; all 0 where every score is.
fn check_weights(trace: &Trace<f64>, branch: &str) {
    let shape = trace.get(&format!("{branch}.weights")).unwrap().shape().to_vec();
    let keys = shape[2];
    let [weights, scores] = ["weights", "scores"].map(|name| cells(trace, &format!("{branch}.{name}")));
    for (row, scores) in weights.chunks_exact(keys).zip(scores.chunks_exact(keys)) {
        for (&w, &score) in row.iter().zip(scores) {
            assert!(w >= 0.0);
            assert!(score > f64::NEG_INFINITY || w.to_bits() == 0);
        }
        let expected = if scores.iter().all(|&x| x == f64::NEG_INFINITY) { 0.0 } else { 1.0 };
        assert!((row.iter().sum::<f64>() - expected).abs() < 1e-14, "{branch} {row:?}");
    }
}

/// `joined = passing + output` to the bit, whichever stage holds the sum.
fn check_sum(trace: &Trace<f64>, passing: &[f64], [output, residual, joined]: [String; 3], adds: bool) {
    let output = cells(trace, &output);
    let sum: Vec<f64> = match adds {
        true => passing.iter().zip(&output).map(|(x, y)| x + y).collect(),
        false => output,
    };
    let stage = if trace.find(&residual).is_ok() { residual } else { joined };
    assert_eq!(sum, cells(trace, &stage), "{stage}");
}

/// Checks the blocks of one side: `prefix` is "" or "encoder." or "decoder.".
fn check_blocks(trace: &Trace<f64>, config: &Config, prefix: &str, blocks: usize) {
    let mut entered = cells(trace, &format!("{prefix}positioned"));
    for n in 0..blocks {
        let name = |name: &str| format!("{prefix}blocks.{n}.{name}");
        check_weights(trace, &name("attention"));
        let branch = |branch: &str, joined: &str| {
            [name(&format!("{branch}.output")), name(&format!("{branch}.residual")), name(joined)]
        };
        check_sum(trace, &entered, branch("attention", "after_attention"), config.residual);
        let mut middle = cells(trace, &name("after_attention"));
        if prefix == "decoder." {
            check_weights(trace, &name("cross_attention"));
            check_sum(trace, &middle, branch("cross_attention", "after_cross_attention"), config.residual);
            middle = cells(trace, &name("after_cross_attention"));
        }
        // Side by side, both contributions join one sum.
        let adds = config.residual || config.parallel;
        check_sum(trace, &middle, branch("feed_forward", "hidden"), adds);
        entered = cells(trace, &name("hidden"));
    }
}

#[test]
fn weights_are_distributions_and_branches_are_what_is_added_under_any_mask() {
    let mut picker = Picker(RandomStream::numpy(2));
    for _ in 0..300 {
        let config = Config { mask: picker.one_of(Mask::ALL), ..picker.valid() };
        let mut model = EncoderModel::<f64>::from_seed(&config, 7).unwrap();
        fill!(model, &mut picker);
        let ids = picker.ids(5, config.n_vocab);
        let masks = Masks {
            attention: picker.flag().then(|| mask(&mut picker, 5, 5)),
            padding: picker.maybe().then(|| (0..5).map(|s| s % 3 == 1).collect()),
            ..Masks::default()
        };
        let trace = model.respond_to_masked(&ids, &masks).unwrap();
        check_blocks(&trace, &config, "", config.n_blocks);
    }
}

#[test]
fn the_same_holds_for_both_sides_of_an_encoder_decoder_and_between_them() {
    let mut picker = Picker(RandomStream::numpy(12));
    for _ in 0..200 {
        let encoder = Encoder { n_vocab: 0, n_blocks: 1 + picker.below(2) };
        let config = Config {
            encoder: Some(encoder.clone()),
            n_vocab: 0,
            parallel: false,
            tied_head: false,
            embedding_norm: false,
            embedding_scale: 1.0,
            ..picker.valid()
        };
        let config = Config { bias: glassformer::config::Bias { head: false, ..config.bias }, ..config };
        if config.validate().is_err() {
            continue;
        }
        let mut model = EncoderDecoderModel::<f64>::from_seed(&config, 7).unwrap();
        fill!(model, &mut picker);
        let [source, target] = [3, 4].map(|rows| values(&mut picker, rows * config.n_model));
        let masks = Masks {
            attention: picker.flag().then(|| mask(&mut picker, 4, 4)),
            memory: picker.flag().then(|| mask(&mut picker, 4, 3)),
            memory_padding: picker.maybe().then(|| vec![false, true, false]),
            source_padding: picker.maybe().then(|| vec![true, false, false]),
            ..Masks::default()
        };
        let trace = model.respond_to_rows(&source, &target, &masks).unwrap();
        check_blocks(&trace, &config, "encoder.", encoder.n_blocks);
        check_blocks(&trace, &config, "decoder.", config.n_blocks);
    }
}
