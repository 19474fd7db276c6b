//! The residual stream's parts sum to it, and a bump's response is a branch's own.

use crate::Case;
use glassformer::config::{Config, FeedForward, Mask, Position};
use glassformer::inspect::Bump;
use glassformer::model::Given;
use glassformer::num::random::RandomStream;
use glassformer::stage::{Kind, Stage, Tower};
use glassformer::trace::{Change, Changes, Edit, Trace};
use glassformer_tests::Picker;

/// A random member whose branches are added as they are.
fn additive(picker: &mut Picker) -> Case<f64> {
    loop {
        let case = Case::next(picker);
        if case.model.config().residual && !case.model.config().is_post_norm() {
            return case;
        }
    }
}

fn last_tower(case: &Case<f64>) -> Tower {
    *case.model.config().towers().last().unwrap()
}

fn stream(case: &Case<f64>, trace: &Trace<f64>) -> Vec<f64> {
    let blocks = case.model.config().n_blocks;
    trace.get(&Stage::of(last_tower(case), Kind::Hidden, blocks - 1).name()).unwrap().into_data()
}

/// Whether sums of the same terms in another order are the same numbers.
fn close(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-14 * (1.0 + size)
}

fn sums_to_the_stream(case: &Case<f64>, trace: &Trace<f64>, by_head: bool) {
    let parts = case.model.residual_parts(trace, by_head).unwrap();
    for (i, &x) in stream(case, trace).iter().enumerate() {
        let sum: f64 = parts.iter().map(|part| part.values[i]).sum();
        let size: f64 = parts.iter().map(|part| part.values[i].abs()).sum();
        assert!(close(sum, x, size), "{sum} is not {x}");
    }
}

#[test]
fn parts_sum_to_the_stream_by_head_and_by_branch_edited_or_not() {
    let mut picker = Picker(RandomStream::numpy(61));
    for _ in 0..150 {
        let case = additive(&mut picker);
        let plain = case.respond();
        sums_to_the_stream(&case, &plain, true);
        sums_to_the_stream(&case, &plain, false);
        let tower = last_tower(&case);
        let kind = picker.one_of(&[Kind::Positioned, Kind::AttentionOutput, Kind::Mixed, Kind::Hidden]);
        let block = if kind == Kind::Positioned { 0 } else { picker.below(case.model.config().n_blocks) };
        let stage = Stage::of(tower, kind, block).name();
        let edit = Edit { stage, index: vec![], change: Change::Add(vec![0.5]) };
        let edited = case.changed(Changes { edits: vec![edit], ..Changes::default() });
        sums_to_the_stream(&case, &edited, true);
        sums_to_the_stream(&case, &edited, false);
    }
}

#[test]
fn shares_of_a_logit_sum_to_it_and_the_last_lens_is_the_logits() {
    let mut picker = Picker(RandomStream::numpy(62));
    for _ in 0..150 {
        let case = additive(&mut picker);
        let (trace, config) = (case.respond(), case.model.config().clone());
        let tower = last_tower(&case);
        let logits = trace.get(&Stage::of(tower, Kind::Logits, config.n_blocks).name()).unwrap();
        let position = picker.below(trace.rows());
        let (id, other) = (picker.below(config.n_vocab), picker.below(config.n_vocab));
        let own = case.model.logit_contributions(&trace, position, id as u32, None).unwrap();
        assert_eq!(own.logit, logits.at(&[position, id]).unwrap());
        let size: f64 = own.parts.iter().map(|(_, x)| x.abs()).sum();
        assert!(own.check.abs() <= 1e-12 * (1.0 + size), "{own:?}");
        let two = case.model.logit_contributions(&trace, position, id as u32, Some(other as u32)).unwrap();
        assert_eq!(two.logit, own.logit - logits.at(&[position, other]).unwrap());
        assert!(two.check.abs() <= 1e-12 * (1.0 + 2.0 * size), "{two:?}");
        let lens = case.model.logit_lens(&trace, false).unwrap();
        assert_eq!(lens.len(), config.n_blocks + 1);
        assert_eq!(lens.last().unwrap().1, logits.data(), "to the bit");
        let frozen = case.model.logit_lens(&trace, true).unwrap();
        let last = &frozen.last().unwrap().1;
        assert!(last.iter().zip(logits.data()).all(|(a, b)| close(*a, *b, b.abs())));
    }
}

#[test]
fn heads_results_sum_to_the_branch() {
    let mut picker = Picker(RandomStream::numpy(63));
    for _ in 0..50 {
        let case = Case::<f64>::next(&mut picker);
        let trace = case.respond();
        let name = Stage::of(last_tower(&case), Kind::AttentionOutput, 0).name();
        let results = case.model.head_results(&trace, &name).unwrap();
        let output = trace.get(&name).unwrap();
        let size = output.data().len();
        let prefix = name.strip_suffix(".output").unwrap();
        let bias = case.model.parameters().get(&format!("{prefix}.output_bias")).ok();
        for i in 0..size {
            let added = bias.as_ref().map_or(0.0, |bias| bias.data()[i % bias.data().len()]);
            let sum: f64 = results.iter().skip(i).step_by(size).sum::<f64>() + added;
            assert!(close(sum, output.data()[i], 10.0), "{sum} is not {}", output.data()[i]);
        }
    }
    let case = Case::<f64>::of(&Config::new(7), &mut picker);
    let trace = case.respond();
    assert_eq!(case.model.head_results(&trace, "logits").unwrap_err().code(), "invalid_option");
}

#[test]
fn a_stream_that_is_no_sum_is_refused() {
    let mut picker = Picker(RandomStream::numpy(64));
    let config = Config { residual: false, ..Config::new(7) };
    let case = Case::<f64>::of(&config, &mut picker);
    assert_eq!(case.model.residual_parts(&case.respond(), true).unwrap_err().code(), "config_conflict");
}

#[test]
fn a_bump_moves_what_reads_it_and_no_earlier_row() {
    let mut picker = Picker(RandomStream::numpy(65));
    for _ in 0..100 {
        let config =
            Config { encoder: None, mask: Mask::Causal, feed_forward: FeedForward::Dense, ..picker.valid() };
        if config.validate().is_err() {
            continue;
        }
        let case = Case::<f64>::of(&config, &mut picker);
        let position = picker.below(case.target.len());
        let bump = Bump { stage: "positioned", position, coordinate: 0, amount: 0.5 };
        let given = Given::Tokens { target: &case.target, source: &[] };
        let response = case.model.perturb(given, &bump).unwrap();
        let expected = if config.parallel { 2 } else { 1 };
        assert_eq!(response.branch.len(), expected);
        assert_eq!(response.branch[0].stage.kind, Kind::AttentionOutput);
        for stage in &response.model {
            let earlier = stage.rows.iter().filter(|row| row.position < position);
            assert!(earlier.clone().all(|row| row.sum_abs == 0.0 && row.cells == 0), "{stage:?}");
        }
    }
}

#[test]
fn values_that_are_all_alike_come_out_of_any_head_as_they_are() {
    let mut picker = Picker(RandomStream::numpy(66));
    for _ in 0..50 {
        let config = Config { encoder: None, position: Position::None, ..picker.valid() };
        let case = Case::<f64>::of(&config, &mut picker);
        let edit =
            Edit { stage: "blocks.0.attention.value".into(), index: vec![], change: Change::Set(vec![0.7]) };
        let trace = case.changed(Changes { edits: vec![edit], ..Changes::default() });
        let mixed = trace.get("blocks.0.attention.mixed").unwrap();
        // The weights of a row sum to 1.
        assert!(mixed.data().iter().all(|x| (x - 0.7).abs() < 1e-15), "{mixed:?}");
    }
}
