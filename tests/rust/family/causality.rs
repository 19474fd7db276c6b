//! Earlier rows do not know of later ones.

use crate::{bits, cells, fill, shared};
use glassformer::config::{Config, Encoder};
use glassformer::mask::Masks;
use glassformer::model::{CausalLanguageModel, EncoderDecoderModel};
use glassformer::num::random::RandomStream;
use glassformer_tests::Picker;

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
            let name = stage.name();
            assert_eq!(shared(&whole, &part, &name), bits(&cells(&part, &name)), "{name}");
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
            assert_eq!(shared(&whole, &part, &name), bits(&cells(&part, &name)), "{name}");
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
