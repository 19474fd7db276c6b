//! Members of the family that are one another, told apart by an option alone.

use crate::{bits, cells, fill, values};
use glassformer::config::{Config, FeedForward, Mask, Position};
use glassformer::mask::Masks;
use glassformer::math::Activation;
use glassformer::model::{CausalLanguageModel, EncoderModel};
use glassformer::num::random::RandomStream;
use glassformer_tests::Picker;

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
fn grouped_heads_are_plain_ones_whose_keys_and_values_are_repeated() {
    let mut picker = Picker(RandomStream::numpy(13));
    let mut compared = 0;
    while compared < 50 {
        let grouped = picker.valid();
        let Some(groups) = grouped.n_key_value_heads.filter(|&groups| groups < grouped.n_heads) else {
            continue;
        };
        compared += 1;
        let plain = Config { n_key_value_heads: None, ..grouped.clone() };
        let mut narrow = CausalLanguageModel::<f64>::from_seed(&grouped, 9).unwrap();
        let mut wide = CausalLanguageModel::<f64>::from_seed(&plain, 9).unwrap();
        fill!(narrow, &mut picker);
        let list: Vec<String> = wide.parameters().list().iter().map(|p| p.name()).collect();
        for name in list {
            let values = narrow.parameters().get(&name).unwrap();
            let is_shared = ["key", "value", "key_bias", "value_bias"]
                .iter()
                .any(|part| name.ends_with(&format!(".attention.{part}")));
            let new = match is_shared {
                // Query head h reads key head floor(h / (H / G)): each group's numbers stand H / G times in a row.
                true => values
                    .data()
                    .chunks_exact(values.data().len() / groups)
                    .flat_map(|group| group.repeat(plain.n_heads / groups))
                    .collect(),
                false => values.into_data(),
            };
            wide.parameters_mut().set(&name, &new).unwrap();
        }
        let ids = picker.ids(4, grouped.n_vocab);
        let [narrow, wide] = [narrow, wide].map(|model| model.respond_to(&ids).unwrap());
        for stage in narrow.stages() {
            let name = stage.name();
            let of_key_heads =
                ["key", "value", "key_rotated"].iter().any(|k| name.ends_with(&format!("attention.{k}")));
            if !of_key_heads {
                assert_eq!(bits(&cells(&narrow, &name)), bits(&cells(&wide, &name)), "{name}");
            }
        }
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
    let (mut compared, mut causal) = (0, 0);
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
        // With the causal mask it does not hold, unless nothing of attention reaches the last row.
        causal += usize::from(differs(Mask::Causal) > 1e-6);
        compared += 1;
    }
    assert!(compared > 30 && causal * 10 > compared * 9, "{causal} of {compared}");
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
