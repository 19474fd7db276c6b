//! What holds for every member of the family: every combination of options works, or is refused for two of them.

use glassformer::config::{
    Bias, Config, Encoder, Experts, FeedForward, Mask, Norm, Placement, Position, Rotary,
};
use glassformer::error::Error;
use glassformer::mask::Masks;
use glassformer::math::{Activation, Overflow, RotaryScaling};
use glassformer::model::{CausalLanguageModel, EncoderDecoderModel, EncoderModel};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::trace::Trace;
use glassformer_tests::{family_digest, Picker, FAMILY_DIGESTS};
use std::collections::BTreeSet;

/// Random values for every parameter, so that gains and biases show.
fn values(picker: &mut Picker, count: usize) -> Vec<f64> {
    (0..count).map(|_| 0.5 * picker.0.normal()).collect()
}

macro_rules! fill {
    ($model:expr, $picker:expr) => {
        let list: Vec<(String, usize)> =
            $model.parameters().list().iter().map(|p| (p.name(), p.count())).collect();
        for (name, count) in list {
            let new: Vec<_> = values($picker, count).into_iter().map(Float::from_f64).collect();
            $model.parameters_mut().set(&name, &new).unwrap();
        }
    };
}

fn cells<F: Float>(trace: &Trace<F>, name: &str) -> Vec<F> {
    trace.get(name).unwrap().into_data()
}

fn bits<F: Float>(cells: &[F]) -> Vec<u64> {
    cells.iter().map(|x| x.bits()).collect()
}

/// The cells of a stage at the positions below `rows`, and the keys below `keys`.
fn upto<F: Float>(trace: &Trace<F>, name: &str, rows: usize) -> Vec<u64> {
    let stage = trace.find(name).unwrap();
    let axes = stage.declaration().row.axes();
    let tensor = trace.get(name).unwrap();
    let mut out = Vec::new();
    for (flat, x) in tensor.data().iter().enumerate() {
        let mut rest = flat;
        let inside = tensor.shape().iter().zip(axes).rev().all(|(&size, axis)| {
            let index = rest % size;
            rest /= size;
            !["position", "query", "key"].contains(axis) || index < rows
        });
        if inside {
            out.push(x.bits());
        }
    }
    out
}

#[test]
fn earlier_rows_ignore_the_future_whatever_the_options() {
    let mut picker = Picker(RandomStream::numpy(1));
    for _ in 0..400 {
        let config = picker.valid();
        let mut model = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
        fill!(model, &mut picker);
        let length = 2 + picker.below(6);
        let ids = picker.ids(length, config.n_vocab);
        let whole = model.respond_to(&ids).unwrap();
        let rows = 1 + picker.below(length - 1);
        let part = model.respond_to(&ids[..rows]).unwrap();
        for stage in whole.stages().iter().filter(|s| s.declaration().row.has_positions()) {
            assert_eq!(
                upto(&whole, &stage.name(), rows),
                upto(&part, &stage.name(), rows),
                "{}",
                stage.name()
            );
        }
        // Two prompts that differ in their last token have the earlier rows in common.
        let mut other = ids.clone();
        other[length - 1] = (other[length - 1] + 1) % config.n_vocab as u32;
        let diff = whole.diff(&model.respond_to(&other).unwrap()).unwrap();
        assert!(diff.rows[..length - 1].iter().all(|row| row.identical));
        // And what goes on behind a shared prefix is the whole, to the bit, whole-prompt stages too.
        let reused = model.respond_to_reusing(&ids, &part).unwrap();
        assert_eq!(reused.computed_rows(), rows.min(length - 1)..length);
        for stage in whole.stages() {
            let name = stage.name();
            assert_eq!(bits(&cells(&whole, &name)), bits(&cells(&reused, &name)), "{name}");
        }
    }
}

#[test]
fn weights_are_a_distribution_and_branches_are_what_is_added() {
    let mut picker = Picker(RandomStream::numpy(2));
    for _ in 0..300 {
        let config = picker.valid();
        let model = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
        let ids = picker.ids(5, config.n_vocab);
        let trace = model.respond_to(&ids).unwrap();
        for n in 0..config.n_blocks {
            let stage = |name: &str| cells(&trace, &format!("blocks.{n}.{name}"));
            for row in stage("attention.weights").chunks_exact(5) {
                assert!(row.iter().all(|&w| w >= 0.0));
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
            if config.norm_placement == Placement::Post && config.norm != Norm::None {
                continue;
            }
            let entered = match n {
                0 => cells(&trace, "positioned"),
                _ => cells(&trace, &format!("blocks.{}.hidden", n - 1)),
            };
            let sum = |a: &[f64], b: &[f64], adds: bool| -> Vec<f64> {
                a.iter().zip(b).map(|(x, y)| if adds { x + y } else { *y }).collect()
            };
            let middle = sum(&entered, &stage("attention.output"), config.residual);
            assert_eq!(middle, stage("after_attention"));
            let adds = config.residual || config.parallel;
            assert_eq!(sum(&middle, &stage("feed_forward.output"), adds), stage("hidden"));
        }
    }
}

#[test]
fn as_many_key_heads_as_query_heads_is_plain_attention() {
    let mut picker = Picker(RandomStream::numpy(3));
    for _ in 0..50 {
        let config = Config { n_key_value_heads: None, ..picker.valid() };
        let grouped = Config { n_key_value_heads: Some(config.n_heads), ..config.clone() };
        let ids = picker.ids(4, config.n_vocab);
        let digest = |config: &Config| {
            let trace = CausalLanguageModel::<f32>::from_seed(config, 9).unwrap().respond_to(&ids).unwrap();
            trace.stages().iter().map(|s| bits(&cells(&trace, &s.name()))).collect::<Vec<_>>()
        };
        assert_eq!(digest(&config), digest(&grouped));
    }
}

#[test]
fn an_encoder_with_a_causal_mask_is_the_decoder() {
    let mut picker = Picker(RandomStream::numpy(4));
    for _ in 0..50 {
        let config = picker.valid();
        let ids = picker.ids(5, config.n_vocab);
        let decoder = CausalLanguageModel::<f64>::from_seed(&config, 3).unwrap().respond_to(&ids).unwrap();
        let encoder = EncoderModel::<f64>::from_seed(&config, 3).unwrap().respond_to(&ids).unwrap();
        // And a mask that the caller gives hides what the model's own does.
        let open = EncoderModel::<f64>::from_seed(&Config { mask: Mask::None, ..config.clone() }, 3).unwrap();
        let later = |i: usize| if i % 5 > i / 5 { f64::NEG_INFINITY } else { 0.0 };
        let masks = Masks { attention: Some((0..25).map(later).collect()), ..Masks::default() };
        let masked = open.respond_to_masked(&ids, &masks).unwrap();
        for stage in decoder.stages() {
            let want = cells(&decoder, &stage.name());
            assert_eq!(bits(&want), bits(&cells(&encoder, &stage.name())), "{}", stage.name());
            assert_eq!(want, cells(&masked, &stage.name()), "{}", stage.name());
        }
    }
}

#[test]
fn without_position_and_mask_permuting_the_input_permutes_the_output() {
    let mut picker = Picker(RandomStream::numpy(5));
    for _ in 0..50 {
        let feed_forward = picker.one_of(&[FeedForward::Dense, FeedForward::Glu]);
        let base = Config { position: Position::None, window: None, feed_forward, ..picker.config() };
        let base = Config { activation: Activation::Silu, ..base };
        if base.validate().is_err() {
            continue;
        }
        let rows: Vec<f64> = values(&mut picker, 4 * base.n_model);
        let order = [2, 0, 3, 1];
        let moved: Vec<f64> =
            order.iter().flat_map(|&t| rows[t * base.n_model..][..base.n_model].to_vec()).collect();
        let hidden = format!("blocks.{}.hidden", base.n_blocks - 1);
        let differs = |mask: Mask| {
            let mut model = EncoderModel::<f64>::from_seed(&Config { mask, ..base.clone() }, 5).unwrap();
            fill!(model, &mut Picker(RandomStream::numpy(6)));
            let run = |x: &[f64]| cells(&model.respond_to_rows(x).unwrap(), &hidden);
            let (plain, permuted) = (run(&rows), run(&moved));
            let apart = |(i, x): (usize, &f64)| {
                let (t, d) = (i / base.n_model, i % base.n_model);
                (x - plain[order[t] * base.n_model + d]).abs()
            };
            let largest = plain.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            permuted.iter().enumerate().map(apart).fold(0.0, f64::max) / largest
        };
        // Sums over the keys go in another order: a rounding error, in relation to the numbers.
        assert!(differs(Mask::None) < 1e-11, "{} {base:?}", differs(Mask::None));
        let _ = differs(Mask::Causal);
    }
    // With the causal mask it does not: seen at one model, where nothing is degenerate.
    let config = Config { position: Position::None, ..Config::new(7) };
    let model = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
    let last = |ids: &[u32]| cells(&model.respond_to(ids).unwrap(), "logits")[7..14].to_vec();
    assert_ne!(last(&[1, 2, 3]), last(&[3, 2, 1]));
}

#[test]
fn a_tied_head_equals_an_untied_one_of_the_same_numbers_to_the_bit() {
    let tied =
        CausalLanguageModel::<f64>::from_seed(&Config { tied_head: true, ..Config::new(7) }, 7).unwrap();
    let mut untied = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let table = tied.parameters().get("embedding").unwrap();
    let turned: Vec<f64> = (0..28).map(|i| table.data()[i % 7 * 4 + i / 7]).collect();
    assert!(tied.parameters().get("head").is_err());
    for p in tied.parameters().list() {
        let values = tied.parameters().get(&p.name()).unwrap();
        untied.parameters_mut().set(&p.name(), values.data()).unwrap();
    }
    untied.parameters_mut().set("head", &turned).unwrap();
    let logits = |m: &CausalLanguageModel<f64>| bits(&cells(&m.respond_to(&[0, 1, 2]).unwrap(), "logits"));
    assert_eq!(logits(&tied), logits(&untied));
}

#[test]
fn an_encoder_decoder_reads_its_source_and_ignores_the_targets_future() {
    let mut picker = Picker(RandomStream::numpy(8));
    for _ in 0..200 {
        let encoder = Encoder { n_vocab: 2 + picker.below(5), n_blocks: 1 + picker.below(2) };
        let config = Config { encoder: Some(encoder.clone()), parallel: false, ..picker.valid() };
        let mut model = EncoderDecoderModel::<f64>::from_seed(&config, 7).unwrap();
        fill!(model, &mut picker);
        let (source, target) = (picker.ids(3, encoder.n_vocab), picker.ids(5, config.n_vocab));
        let whole = model.respond_to(&source, &target).unwrap();
        let part = model.respond_to(&source, &target[..3]).unwrap();
        for stage in whole.stages().iter().filter(|s| s.declaration().row.has_positions()) {
            let name = stage.name();
            if name.starts_with("decoder.") && !name.contains("cross_attention.") {
                assert_eq!(upto(&whole, &name, 3), upto(&part, &name, 3), "{name}");
            } else if name.starts_with("encoder.") {
                assert_eq!(bits(&cells(&whole, &name)), bits(&cells(&part, &name)), "{name}");
            }
        }
        let reused = model.respond_to_reusing(&source, &target, &part).unwrap();
        assert_eq!(reused.computed_rows(), 3..5);
        for stage in whole.stages() {
            let name = stage.name();
            assert_eq!(bits(&cells(&whole, &name)), bits(&cells(&reused, &name)), "{name}");
        }
        for row in cells(&whole, "decoder.blocks.0.cross_attention.weights").chunks_exact(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
        // Its decoder over the encoder's own output as a memory gives the same numbers.
        let memory = match config.final_norm {
            true => cells(&whole, "encoder.final.normalized"),
            false => cells(&whole, &format!("encoder.blocks.{}.hidden", encoder.n_blocks - 1)),
        };
        let rows = cells(&whole, "decoder.positioned");
        let again = model.respond_to_memory(&memory, &rows, &Masks::default()).unwrap();
        assert_eq!(bits(&cells(&whole, "decoder.logits")), bits(&cells(&again, "decoder.logits")));
    }
}

/// The pairs of options that disagree, as the package's README lists them, but for those of options that are given in
/// vain (`rotary`, `alibiSlopes`) and of words, which a configuration does not have.
const REFUSED: [(&str, &str); 23] = [
    ("activation", "feedForward"),
    ("alibiSlopes", "nHeads"),
    ("bias.head", "nVocab"),
    ("bias.norm", "norm"),
    ("bias.norm", "normAffine"),
    ("embeddingNorm", "nVocab"),
    ("embeddingNorm", "norm"),
    ("embeddingScale", "nVocab"),
    ("feedForward.noiseSeed", "feedForward.noise"),
    ("feedForward.overflow", "feedForward.capacity"),
    ("feedForward.selected", "feedForward.experts"),
    ("finalNorm", "norm"),
    ("gainOffset", "normAffine"),
    ("nHeads", "nModel"),
    ("nKeyValueHeads", "nHeads"),
    ("nSourceVocab", "nVocab"),
    ("normAffine", "norm"),
    ("parallel", "nEncoderBlocks"),
    ("parallel", "normPlacement"),
    ("position", "nVocab"),
    ("rotary.scaling.highFrequencyFactor", "rotary.scaling.lowFrequencyFactor"),
    ("rotary.width", "headWidth"),
    ("tiedHead", "nVocab"),
];

/// A configuration of which anything may be wrong.
fn wild(picker: &mut Picker) -> Config {
    let base = picker.config();
    let feed_forward = match base.feed_forward.clone() {
        FeedForward::Experts(experts) => FeedForward::Experts(Experts {
            selected: 1 + picker.below(4),
            overflow: picker.one_of(&Overflow::ALL),
            noise_seed: picker.below(2) as u64,
            // Nobody is to be refused for a full expert here.
            capacity: experts.capacity.map(|_| 100),
            ..experts
        }),
        other => other,
    };
    let position = match base.position.clone() {
        Position::Alibi(None) => Position::Alibi(picker.flag().then(|| vec![0.5; 1 + picker.below(4)])),
        Position::Rotary(rotary) => Position::Rotary(Rotary {
            width: picker.flag().then(|| 1 + picker.below(6)),
            scaling: picker.maybe().then_some(RotaryScaling::Llama3 {
                factor: 8.0,
                low_frequency_factor: 1.0,
                high_frequency_factor: picker.one_of(&[0.5, 4.0]),
                original_context: 64.0,
            }),
            ..rotary
        }),
        other => other,
    };
    let n_vocab = picker.one_of(&[0, 3, 3, 3]);
    let encoder = Encoder { n_vocab: picker.one_of(&[0, 3]), n_blocks: 1 };
    Config {
        n_model: base.n_model + picker.below(2),
        norm_affine: picker.flag(),
        final_norm: picker.flag(),
        gain_offset: picker.one_of(&[0.0, 0.0, 1.0]),
        embedding_norm: picker.maybe(),
        activation: picker.one_of(&Activation::ALL),
        bias: Bias { norm: picker.maybe(), head: picker.maybe(), ..Bias::NONE },
        tied_head: picker.maybe(),
        mask: picker.one_of(Mask::ALL),
        encoder: picker.maybe().then_some(encoder),
        feed_forward,
        position,
        n_vocab,
        ..base
    }
}

#[test]
fn every_combination_works_or_is_refused_for_two_options_that_are_listed() {
    let mut found = BTreeSet::new();
    let (mut worked, mut refused) = (0, 0);
    let mut picker = Picker(RandomStream::numpy(11));
    for _ in 0..20_000 {
        let wild = wild(&mut picker);
        match wild.validate() {
            Ok(()) => {
                worked += 1;
                run(&wild);
            }
            Err(Error::ConfigConflict { options, reason }) => {
                refused += 1;
                assert_eq!(options.len(), 2);
                assert!(reason.len() > 10, "{reason}");
                found.insert((options[0].0.clone(), options[1].0.clone()));
            }
            Err(error) => panic!("{error}: {wild:?}"),
        }
    }
    assert!(worked > 300 && refused > 300, "{worked} worked, {refused} were refused");
    let listed = REFUSED.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    assert_eq!(found, listed);
}

fn run(config: &Config) {
    let rows = |n: usize| (0..n * config.n_model).map(|i| (i as f64 * 0.7).sin()).collect::<Vec<_>>();
    let none = Masks::default();
    if config.encoder.is_some() {
        let model = EncoderDecoderModel::<f64>::from_seed(config, 1).unwrap();
        model.respond_to_rows(&rows(2), &rows(3), &none).unwrap();
        if config.n_vocab > 0 {
            model.respond_to(&[0, 1], &[2, 1, 0]).unwrap();
        }
    } else {
        let model = CausalLanguageModel::<f64>::from_seed(config, 1).unwrap();
        model.respond_to_rows(&rows(3)).unwrap();
        if config.n_vocab > 0 {
            model.respond_to(&[2, 1, 0]).unwrap();
        }
    }
}

#[test]
fn every_style_has_its_digest() {
    for (style, wide, narrow) in FAMILY_DIGESTS {
        assert_eq!(family_digest::<f64>(style), wide, "{style} in float64");
        assert_eq!(family_digest::<f32>(style), narrow, "{style} in float32");
    }
}
