//! Every combination of options works, or is refused for two of them.

use glassformer::config::{Bias, Config, Encoder, Experts, FeedForward, Mask, Placement, Position, Rotary};
use glassformer::error::Error;
use glassformer::mask::Masks;
use glassformer::math::{Activation, Overflow, RotaryScaling};
use glassformer::model::{CausalLanguageModel, EncoderDecoderModel};
use glassformer::num::random::RandomStream;
use glassformer_tests::Picker;
use std::collections::BTreeSet;

/// The pairs of options that disagree, as the package's README lists them, but for those of options that are given in
/// vain (`rotary`, `alibiSlopes`) and of words, which a configuration does not have.
const REFUSED: [(&str, &str); 25] = [
    ("activation", "feedForward"),
    ("alibiSlopes", "nHeads"),
    ("bias.head", "nVocab"),
    ("bias.norm", "norm"),
    ("bias.norm", "normAffine"),
    ("embeddingNorm", "nVocab"),
    ("embeddingNorm", "norm"),
    ("embeddingScale", "nVocab"),
    ("epsilon", "norm"),
    ("feedForward.noiseSeed", "feedForward.noise"),
    ("feedForward.overflow", "feedForward.capacity"),
    ("feedForward.selected", "feedForward.experts"),
    ("finalNorm", "norm"),
    ("gainOffset", "normAffine"),
    ("nHeads", "nModel"),
    ("nKeyValueHeads", "nHeads"),
    ("nSourceVocab", "nVocab"),
    ("normAffine", "norm"),
    ("normPlacement", "norm"),
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
        norm_placement: picker.one_of(Placement::ALL),
        norm_affine: picker.flag(),
        epsilon: picker.one_of(&[1e-5, 1e-5, 0.1]),
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

/// The names in backquotes, without the value that some have behind a colon.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2).map(|quoted| quoted.split([':', ' ']).next().unwrap())
}

#[test]
fn the_readme_lists_every_pair() {
    let readme = include_str!("../../../pkg/README.md");
    let rows: Vec<(&str, &str)> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|')?.split_once(" | "))
        .collect();
    for (option, with) in REFUSED {
        // An encoder-decoder has options of its own, and is named as a whole.
        let names_it = |cell: &str| match with {
            "nEncoderBlocks" => cell.contains("an encoder-decoder"),
            _ => names(cell).any(|name| name == with),
        };
        let is_listed =
            |&(left, right): &(&str, &str)| names(left).any(|name| name == option) && names_it(right);
        assert!(rows.iter().any(is_listed), "{option} with {with}");
    }
}
