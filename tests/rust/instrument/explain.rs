//! Every cell of every stage says what it was computed from, and that recombines to it to the bit.

use crate::Case;
use glassformer::config::Config;
use glassformer::inspect::{Explanation, Of, Op, Term};
use glassformer::mask::Masks;
use glassformer::model::{CausalLanguageModel, Transformer};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::stage::Kind;
use glassformer::trace::{Change, Changes, Edit, Trace};
use glassformer_tests::Picker;
use std::collections::HashSet;

/// Every index of a shape.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &size| {
        all.iter().flat_map(|index| (0..size).map(move |i| [index.clone(), vec![i]].concat())).collect()
    })
}

/// The terms put together again, in the pass's own type.
fn recombined<F: Float>(explained: &Explanation) -> Option<F> {
    let number = |x: f64| F::from_f64(x);
    let values = || explained.terms.iter().map(|term| number(term.value));
    match explained.op {
        Op::Sum => Some(values().fold(F::ZERO, |sum, x| sum + x)),
        Op::Product => values().reduce(|product, x| product * x),
        Op::Quotient => values().reduce(|over, under| over / under),
        Op::Function | Op::Given => None,
    }
}

/// Looks at an explanation and all that are within it.
fn check<F: Float>(model: &Transformer<F>, trace: &Trace<F>, name: &str, explained: &Explanation) {
    assert_eq!(explained.check, 0.0, "{name}: {explained:?}");
    assert!(!explained.symbols.is_empty() && explained.numbers.contains(" = "), "{name}: {explained:?}");
    if let Some(again) = recombined::<F>(explained) {
        let value = F::from_f64(explained.value);
        assert!(again == value || again.bits() == value.bits(), "{name}: {explained:?}");
    }
    for Term { factors, value, .. } in &explained.terms {
        let product = factors.iter().map(|f| F::from_f64(f.value)).reduce(|product, x| product * x).unwrap();
        assert_eq!(product.to_f64(), *value, "{name}: {explained:?}");
        for factor in factors {
            match &factor.of {
                Of::Cell(stage, index) => {
                    let slot = |s: &str| trace.stages().iter().position(|x| x.name() == s).unwrap();
                    assert!(slot(&stage.name()) < slot(name), "{name} comes from {}", stage.name());
                    let cell = trace.get(&stage.name()).unwrap().at(index).unwrap();
                    assert_eq!(cell.to_f64(), factor.value, "{name}: {}", stage.name());
                }
                Of::Parameter(parameter, index) => {
                    let entry = model.parameters().get(parameter).unwrap().at(index).unwrap();
                    assert_eq!(entry.to_f64(), factor.value, "{name}: {parameter}");
                }
                Of::Constant(name) => assert!(!name.is_empty()),
                Of::Derived(word, within) => {
                    assert!(!word.is_empty());
                    assert_eq!(within.value, factor.value);
                    // An angle and what is drawn are computed in float64, whatever the pass's type.
                    let is_wide = word.contains('θ') || word.contains("draw");
                    if F::DTYPE.name() == "float64" || !is_wide {
                        check(model, trace, name, within);
                    }
                }
            }
        }
    }
}

fn check_every_cell<F: Float>(model: &Transformer<F>, trace: &Trace<F>, seen: &mut HashSet<String>) {
    for stage in trace.stages() {
        let name = stage.name();
        let tensor = trace.get(&name).unwrap();
        for index in indices(tensor.shape()) {
            let explained = model.explain(trace, &name, &index).unwrap();
            assert_eq!(explained.value.to_bits(), tensor.at(&index).unwrap().to_f64().to_bits(), "{name}");
            check(model, trace, &name, &explained);
        }
        seen.insert(stage.declaration().name.to_string());
    }
}

#[test]
fn every_cell_of_every_stage_recombines_to_the_bit() {
    let mut picker = Picker(RandomStream::numpy(51));
    let mut seen = HashSet::new();
    for i in 0..60 {
        if i % 3 == 0 {
            let case = Case::<f32>::next(&mut picker);
            check_every_cell(&case.model, &case.respond(), &mut seen);
        } else {
            let case = Case::<f64>::next(&mut picker);
            check_every_cell(&case.model, &case.respond(), &mut seen);
        }
    }
    // A stage that is declared later must be explained too; only a pass from rows has a memory.
    for declaration in glassformer::stage::DECLARATIONS.iter().filter(|d| d.kind != Kind::Memory) {
        assert!(seen.contains(declaration.name), "no case has {}", declaration.name);
    }
}

#[test]
fn masked_and_edited_cells_say_so_and_still_add_up() {
    let mut picker = Picker(RandomStream::numpy(52));
    let mut seen = HashSet::new();
    for _ in 0..40 {
        let case = Case::<f64>::next(&mut picker);
        let plain = case.respond();
        let rows = case.target.len();
        let masks = Masks {
            padding: Some((0..rows).map(|_| picker.maybe()).collect()),
            attention: Some(
                (0..rows * rows).map(|_| picker.one_of(&[0.0, 0.5, f64::NEG_INFINITY])).collect(),
            ),
            ..Masks::default()
        };
        let mut edits = Vec::new();
        for _ in 0..4 {
            let stage = picker.one_of(plain.stages());
            if stage.kind == Kind::Selected {
                continue;
            }
            let shape = plain.get(&stage.name()).unwrap().shape().to_vec();
            let index = shape.iter().map(|&size| picker.flag().then(|| picker.below(size))).collect();
            let change =
                picker.one_of(&[Change::Set(vec![0.25]), Change::Add(vec![0.5]), Change::Scale(vec![0.5])]);
            edits.push(Edit { stage: stage.name(), index, change });
        }
        let trace = case.changed(Changes { masks, edits });
        check_every_cell(&case.model, &trace, &mut seen);
    }
}

#[test]
fn rows_that_were_taken_over_are_explained_as_computed() {
    let mut picker = Picker(RandomStream::numpy(53));
    let mut seen = HashSet::new();
    for _ in 0..10 {
        let config = Config { encoder: None, ..picker.valid() };
        let mut case = Case::<f64>::of(&config, &mut picker);
        let earlier = case.respond();
        case.target.extend(picker.ids(2, config.n_vocab));
        let reused = case.model.respond_reusing(&case.target, &[], Changes::default(), &earlier).unwrap();
        check_every_cell(&case.model, &reused, &mut seen);
    }
}

fn explained(stage: &str, index: &[usize]) -> Explanation {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let trace = model.respond_to(&[0, 1, 2]).unwrap();
    model.transformer().explain(&trace, stage, index).unwrap()
}

#[test]
fn a_hidden_score_names_what_hides_it() {
    let hidden = explained("blocks.0.attention.scores", &[0, 1, 2]);
    assert_eq!((hidden.op, hidden.value), (Op::Given, f64::NEG_INFINITY));
    assert_eq!(hidden.note.unwrap(), "hidden by the causal mask: key 2 comes after query 1");
}

#[test]
fn a_question_leads_down_to_the_embedding_table_and_a_sine() {
    let mut asked = vec![("logits".to_string(), vec![2, 3])];
    let (mut ends, mut seen) = (HashSet::new(), HashSet::new());
    while let Some((stage, index)) = asked.pop() {
        if !seen.insert((stage.clone(), index.clone())) {
            continue;
        }
        let mut within = vec![explained(&stage, &index)];
        while let Some(explanation) = within.pop() {
            for factor in explanation.terms.into_iter().flat_map(|term| term.factors) {
                match factor.of {
                    Of::Cell(stage, index) => asked.push((stage.name(), index)),
                    Of::Parameter(name, _) => {
                        ends.insert(name);
                    }
                    Of::Derived(_, from) => within.push(*from),
                    Of::Constant(name) => {
                        ends.insert(name);
                    }
                }
            }
        }
    }
    for end in
        ["embedding", "frequency", "ε", "blocks.0.attention.query", "blocks.0.feed_forward.contract", "head"]
    {
        assert!(ends.contains(end), "{end} is not reached: {ends:?}");
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let trace = model.respond_to(&[0, 1, 2]).unwrap();
    let refused =
        |stage: &str, index: &[usize]| model.transformer().explain(&trace, stage, index).unwrap_err().code();
    assert_eq!(refused("blocks.0.hiden", &[0, 0]), "unknown_stage");
    assert_eq!(refused("logits", &[0]), "shape_mismatch");
    assert_eq!(refused("logits", &[3, 0]), "index_out_of_range");
    let other = CausalLanguageModel::<f64>::from_seed(&Config { n_blocks: 2, ..Config::new(7) }, 7).unwrap();
    assert_eq!(other.transformer().explain(&trace, "logits", &[0, 0]).unwrap_err().code(), "shape_mismatch");
}
