//! An edit of a stage: later stages follow, earlier ones do not move, and one that changes nothing changes no bit.

use crate::{bits, same, Case};
use glassformer::config::Config;
use glassformer::mask::Masks;
use glassformer::model::{CausalLanguageModel, Given};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::stage::Kind;
use glassformer::trace::{Change, Changes, Edit, Trace};
use glassformer_tests::Picker;

fn one<F: Float>(stage: &str, index: &[Option<usize>], change: Change<F>) -> Changes<F> {
    let edit = Edit { stage: stage.into(), index: index.to_vec(), change };
    Changes { edits: vec![edit], ..Changes::default() }
}

#[test]
fn an_edit_that_changes_nothing_changes_no_bit_at_any_stage() {
    let mut picker = Picker(RandomStream::numpy(41));
    for _ in 0..40 {
        let case = Case::<f64>::next(&mut picker);
        let plain = case.respond();
        for stage in plain.stages() {
            let name = stage.name();
            let values = plain.get(&name).unwrap().into_data();
            for change in [Change::Set(values), Change::Add(vec![0.0]), Change::Scale(vec![1.0])] {
                let edited = case.changed(one(&name, &[], change));
                same(&plain, &edited);
            }
        }
    }
}

#[test]
fn earlier_stages_are_untouched_to_the_bit_and_the_cell_is_what_was_said() {
    let mut picker = Picker(RandomStream::numpy(42));
    let mut followed = 0;
    for _ in 0..200 {
        let case = Case::<f32>::next(&mut picker);
        let plain = case.respond();
        let slot = picker.below(plain.stages().len());
        let stage = plain.stages()[slot];
        if stage.kind == Kind::Selected {
            continue; // Its values are experts: below.
        }
        let (name, tensor) = (stage.name(), plain.get(&stage.name()).unwrap());
        let cell: Vec<usize> = tensor.shape().iter().map(|&size| picker.below(size)).collect();
        let index: Vec<Option<usize>> = cell.iter().copied().map(Some).collect();
        let edited = case.changed(one(&name, &index, Change::Set(vec![0.3125])));
        for (at, other) in plain.stages().iter().enumerate() {
            let other = other.name();
            if at < slot {
                assert_eq!(bits(&plain, &other), bits(&edited, &other), "{other} before {name}");
            } else if at > slot && bits(&plain, &other) != bits(&edited, &other) {
                followed += 1;
            }
        }
        let got = edited.get(&name).unwrap();
        assert_eq!(got.at(&cell).unwrap(), 0.3125);
        let changed = got.data().iter().zip(tensor.data()).filter(|(a, b)| a.bits() != b.bits()).count();
        assert!(changed <= 1, "{name}: {changed} cells changed");
    }
    assert!(followed > 500, "only {followed} stages followed");
}

#[test]
fn setting_what_enters_the_first_block_is_a_pass_from_rows() {
    let mut picker = Picker(RandomStream::numpy(43));
    for _ in 0..50 {
        let config = Config { encoder: None, ..picker.valid() };
        let case = Case::<f64>::of(&config, &mut picker);
        let rows: Vec<f64> = (0..case.target.len() * config.n_model).map(|_| picker.0.normal()).collect();
        let edited = case.changed(one("positioned", &[], Change::Set(rows.clone())));
        let masks = Masks::default();
        let given = case.model.respond(Given::Rows { target: &rows, source: &[] }, &masks).unwrap();
        same(&given, &edited);
    }
}

#[test]
fn what_is_patched_from_another_trace_goes_on_as_there() {
    let mut picker = Picker(RandomStream::numpy(44));
    for _ in 0..50 {
        let config = Config { n_blocks: 2, encoder: None, ..picker.valid() };
        let mut case = Case::<f64>::of(&config, &mut picker);
        let clean = case.respond();
        case.target.reverse();
        let patch = clean.get("blocks.0.hidden").unwrap().into_data();
        let patched = case.changed(one("blocks.0.hidden", &[], Change::Set(patch)));
        let later = clean.stages().iter().filter(|s| s.kind > Kind::Hidden || s.block == 1);
        for name in later.map(|stage| stage.name()) {
            assert_eq!(bits(&clean, &name), bits(&patched, &name), "{name}");
        }
    }
}

#[test]
fn a_head_that_is_ablated_is_a_head_whose_output_columns_are_zero() {
    let mut picker = Picker(RandomStream::numpy(45));
    for _ in 0..50 {
        let config = Config { encoder: None, ..picker.valid() };
        let mut case = Case::<f64>::of(&config, &mut picker);
        let (heads, width, model) = (config.n_heads, config.head_width(), config.n_model);
        let head = picker.below(heads);
        let index = [Some(head), None, None];
        let ablated = case.changed(one("blocks.0.attention.mixed", &index, Change::Scale(vec![0.0])));
        let name = "blocks.0.attention.output";
        let mut output = case.model.parameters().get(name).unwrap().into_data();
        for d in 0..model {
            output[d * heads * width + head * width..][..width].fill(0.0);
        }
        case.model.parameters_mut().set(name, &output).unwrap();
        let zeroed = case.respond();
        // A product with 0 may be -0, which adds nothing.
        let (a, b) = (ablated.get(name).unwrap(), zeroed.get(name).unwrap());
        assert!(a.data().iter().zip(b.data()).all(|(a, b)| a == b));
    }
}

fn lesson(changes: Changes<f64>) -> Result<Trace<f64>, glassformer::error::Error> {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    model.transformer().respond_changed(Given::Tokens { target: &[0, 1, 2], source: &[] }, changes)
}

#[test]
fn a_score_can_be_hidden_and_a_hidden_one_shown() {
    let scores = "blocks.0.attention.scores";
    let hidden = lesson(one(scores, &[Some(0), Some(2), Some(1)], Change::Set(vec![f64::NEG_INFINITY])));
    let weights = hidden.unwrap().get("blocks.0.attention.weights").unwrap();
    assert_eq!(weights.at(&[0, 2, 1]).unwrap(), 0.0);
    assert!((weights.at(&[0, 2, 0]).unwrap() + weights.at(&[0, 2, 2]).unwrap() - 1.0).abs() < 1e-15);

    let shown = lesson(one(scores, &[Some(0), Some(0), Some(2)], Change::Set(vec![0.5]))).unwrap();
    let weights = shown.get("blocks.0.attention.weights").unwrap();
    assert!(weights.at(&[0, 0, 2]).unwrap() > 0.1);
    assert_eq!(weights.at(&[1, 0, 2]).unwrap(), 0.0, "the other head sees what it saw");
    let weight = one("blocks.0.attention.weights", &[Some(0), Some(0), Some(2)], Change::Set(vec![1.0]));
    let (plain, mixed) = (lesson(Changes::default()).unwrap(), lesson(weight).unwrap());
    let name = "blocks.0.attention.mixed";
    let (before, after) = (plain.get(name).unwrap(), mixed.get(name).unwrap());
    let value = plain.get("blocks.0.attention.value").unwrap().at(&[0, 2, 0]).unwrap();
    assert_eq!(after.at(&[0, 0, 0]).unwrap(), before.at(&[0, 0, 0]).unwrap() + value);
}

#[test]
fn edits_are_made_one_after_the_other() {
    let stage = "blocks.0.after_attention".to_string();
    let index = vec![Some(1), Some(0)];
    let edits = [Change::Set(vec![3.0]), Change::Scale(vec![2.0]), Change::Add(vec![0.5])];
    let edits = edits.map(|change| Edit { stage: stage.clone(), index: index.clone(), change }).to_vec();
    let trace = lesson(Changes { edits, ..Changes::default() }).unwrap();
    assert_eq!(trace.get(&stage).unwrap().at(&[1, 0]).unwrap(), 6.5);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused =
        |stage: &str, index: &[Option<usize>], change| lesson(one(stage, index, change)).unwrap_err().code();
    let set = |x: f64| Change::Set(vec![x]);
    assert_eq!(refused("blocks.0.attention.mixd", &[], set(0.0)), "unknown_stage");
    assert_eq!(refused("positioned", &[Some(0)], set(0.0)), "shape_mismatch");
    assert_eq!(refused("positioned", &[Some(3), None], set(0.0)), "index_out_of_range");
    assert_eq!(refused("positioned", &[Some(0), None], Change::Set(vec![1.0, 2.0])), "shape_mismatch");
    assert_eq!(refused("positioned", &[], set(f64::NAN)), "not_finite");
    assert_eq!(refused("positioned", &[], set(f64::NEG_INFINITY)), "not_finite");
    assert_eq!(refused("blocks.0.attention.scores", &[], set(f64::INFINITY)), "not_finite");
    // Minus infinity times -1 would show what the mask hides, infinitely.
    assert_eq!(refused("blocks.0.attention.scores", &[], Change::Scale(vec![-1.0])), "not_finite");
    assert_eq!(refused("blocks.0.feed_forward.output", &[], Change::Scale(vec![1e308])), "not_finite");
}

#[test]
fn a_chosen_expert_can_be_replaced() {
    let mut picker = Picker(RandomStream::numpy(46));
    let mut done = 0;
    while done < 30 {
        let config = Config { encoder: None, ..picker.valid() };
        let Some(experts) = config.feed_forward.experts().cloned() else { continue };
        done += 1;
        let case = Case::<f64>::of(&config, &mut picker);
        let name = "blocks.0.feed_forward.selected";
        let other = picker.below(experts.experts);
        let edited = case.changed(one(name, &[Some(1), Some(0)], Change::Set(vec![other as f64])));
        assert_eq!(edited.get(name).unwrap().at(&[1, 0]).unwrap(), other as f64);
        let gates = edited.get("blocks.0.feed_forward.gates").unwrap();
        if experts.renormalize {
            let sum: f64 = (0..experts.selected).map(|i| gates.at(&[1, i]).unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-14);
        } else {
            let router = edited.get("blocks.0.feed_forward.router").unwrap();
            assert_eq!(gates.at(&[1, 0]).unwrap(), router.at(&[1, other]).unwrap());
        }
        let given = Given::Tokens { target: &case.target, source: &[] };
        let past = one(name, &[Some(1), Some(0)], Change::Set(vec![experts.experts as f64]));
        assert_eq!(case.model.respond_changed(given, past).unwrap_err().code(), "index_out_of_range");
    }
}

#[test]
fn a_pass_with_the_same_changes_is_reused_to_the_bit() {
    let mut picker = Picker(RandomStream::numpy(47));
    let mut shared = 0;
    for _ in 0..100 {
        let mut case = Case::<f64>::next(&mut picker);
        let rows = case.target.len();
        let hides: Vec<bool> = (0..rows).map(|_| picker.maybe()).collect();
        let masks = Masks { padding: picker.flag().then_some(hides), ..Masks::default() };
        let changes = Changes { masks, edits: vec![] };
        let earlier = case.changed(changes.clone());
        *case.target.last_mut().unwrap() = 0;
        let full = case.changed(changes.clone());
        let reused = case.model.respond_reusing(&case.target, &case.source, changes, &earlier).unwrap();
        shared += reused.computed_rows().start;
        same(&full, &reused);
    }
    assert!(shared > 50, "only {shared} rows were shared");
}
