//! Continuations: the lesson's runs, filters, beams against exhaustive search, the chain rule.

use glassformer::config::{Config, Mask};
use glassformer::generate::{Beam, Beams, Filter, Run};
use glassformer::math::log_softmax;
use glassformer::model::{CausalLanguageModel, Given, Transformer};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::trace::Changes;
use glassformer_tests::Picker;
use serde_json::Value;
use std::fs;

fn lesson() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/lessons/generation.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn run(max_new_tokens: usize) -> Run {
    Run { max_new_tokens, greedy: false, filter: Filter::default(), seed: 0, end: None }
}

#[test]
fn the_lessons_runs_come_out_token_by_token() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let runs = lesson()["runs"].as_array().unwrap().clone();
    assert!(runs.len() > 5);
    for golden in runs {
        let ids: Vec<u32> =
            golden["prompt"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect();
        let own = Run {
            max_new_tokens: golden["max_new"].as_u64().unwrap() as usize,
            greedy: golden["greedy"].as_bool().unwrap_or(false),
            filter: Filter { temperature: golden["temperature"].as_f64().unwrap(), ..Filter::default() },
            seed: golden["seed"].as_u64().unwrap_or(0),
            end: Some(6),
        };
        let steps = model.transformer().generate(&ids, &own).unwrap();
        let expected = golden["steps"].as_array().unwrap();
        assert_eq!(steps.len(), expected.len(), "{golden}");
        for (step, want) in steps.iter().zip(expected) {
            assert_eq!(u64::from(step.token), want["token"].as_u64().unwrap(), "{golden}");
            let p = want["p"].as_f64().unwrap();
            assert!((step.probability - p).abs() < 1e-13, "{} is not {p}", step.probability);
        }
    }
}

#[test]
fn filters_keep_what_they_say_and_the_removed_mass_is_the_rest() {
    let mut picker = Picker(RandomStream::numpy(71));
    for _ in 0..500 {
        let count = 1 + picker.below(12);
        let logits: Vec<f64> = (0..count).map(|_| picker.one_of(&[0.0, 1.0, -0.5, 2.5, -3.0])).collect();
        let filter = Filter {
            temperature: picker.one_of(&[0.5, 1.0, 2.0]),
            top_k: picker.flag().then(|| 1 + picker.below(count + 2)),
            top_p: picker.flag().then(|| picker.one_of(&[0.1, 0.5, 0.9, 1.0])),
        };
        let (mut before, mut after) = (vec![0.0; count], vec![0.0; count]);
        let removed = filter.apply(&logits, &mut before, &mut after);
        assert!((after.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let kept: Vec<usize> = (0..count).filter(|&id| after[id] > 0.0).collect();
        let mass: f64 = kept.iter().map(|&id| before[id]).sum();
        assert!((mass + removed - 1.0).abs() < 1e-14);
        assert!(kept.len() <= filter.top_k.unwrap_or(count));
        // Whatever was kept is more probable than what was not, or as probable and earlier.
        for id in (0..count).filter(|id| !kept.contains(id)) {
            assert!(kept.iter().all(|&k| before[k] > before[id] || (before[k] == before[id] && k < id)));
        }
        if filter.top_k.is_none() {
            let least = kept.iter().map(|&id| before[id]).fold(f64::INFINITY, f64::min);
            let p = filter.top_p.unwrap_or(1.0);
            assert!(mass >= p - 1e-12 && (kept.len() == 1 || mass - least < p + 1e-12), "{filter:?}");
        }
    }
}

/// Every continuation of some length, scored by the chain rule, best first.
fn exhaustive(model: &Transformer<f64>, ids: &[u32], search: &Beams) -> Vec<Beam> {
    let vocabulary = model.config().n_vocab as u32;
    let mut open = vec![Beam { tokens: vec![], log_probability: 0.0, score: 0.0 }];
    let mut done = Vec::new();
    for _ in 0..search.max_new_tokens {
        let mut next = Vec::new();
        for beam in open {
            let context = [ids, &beam.tokens].concat();
            let given = Given::Tokens { target: &context, source: &[] };
            let trace = model.respond_changed(given, Changes::default()).unwrap();
            let logits = trace.get("logits").unwrap();
            let width = vocabulary as usize;
            let mut logs = vec![0.0; width];
            log_softmax(&logits.data()[(context.len() - 1) * width..], &mut logs);
            for token in 0..vocabulary {
                let tokens = [&beam.tokens[..], &[token]].concat();
                let log_probability = beam.log_probability + logs[token as usize];
                let score = log_probability / (tokens.len() as f64).powf(search.length_penalty);
                let own = Beam { tokens, log_probability, score };
                if search.end == Some(token) { &mut done } else { &mut next }.push(own);
            }
        }
        open = next;
    }
    done.extend(open);
    done.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.tokens.cmp(&b.tokens)));
    done
}

#[test]
fn a_search_as_wide_as_all_prefixes_is_exhaustive() {
    let mut picker = Picker(RandomStream::numpy(72));
    for _ in 0..20 {
        let config = Config { n_vocab: 2 + picker.below(2), encoder: None, ..picker.valid() };
        let Ok(model) = CausalLanguageModel::<f64>::from_seed(&config, picker.below(1000) as u64) else {
            continue;
        };
        let search = Beams {
            width: config.n_vocab.pow(2),
            max_new_tokens: 3,
            end: picker.flag().then_some(0),
            length_penalty: picker.one_of(&[0.0, 0.6, 1.0]),
        };
        let ids = picker.ids(2, config.n_vocab);
        let best = model.transformer().beams(&ids, &search).unwrap();
        let all = exhaustive(model.transformer(), &ids, &search);
        assert_eq!(best.len(), search.width.min(all.len()));
        for (got, want) in best.iter().zip(&all) {
            assert!((got.score - want.score).abs() < 1e-12, "{got:?} and not {want:?}");
        }
    }
}

/// Models of any kind, half of them without a mask.
fn any_models(count: usize, seed: u64) -> Vec<CausalLanguageModel<f64>> {
    let mut picker = Picker(RandomStream::numpy(seed));
    let models = (0..count).filter_map(|_| {
        let mask = picker.one_of(&[Mask::Causal, Mask::None]);
        let config = Config { mask, encoder: None, ..picker.valid() };
        CausalLanguageModel::<f64>::from_seed(&config, picker.below(1000) as u64).ok()
    });
    let models: Vec<_> = models.collect();
    assert!(models.iter().filter(|m| m.transformer().config().mask == Mask::None).count() > count / 4);
    models
}

/// The scores behind a context, from a pass over all of it.
fn scores(model: &Transformer<f64>, context: &[u32]) -> Vec<f64> {
    let given = Given::Tokens { target: context, source: &[] };
    let trace = model.respond_changed(given, Changes::default()).unwrap();
    trace.get("logits").unwrap().data()[(context.len() - 1) * model.config().n_vocab..].to_vec()
}

#[test]
fn each_step_is_read_to_the_bit_from_its_whole_context() {
    for model in any_models(60, 73) {
        let (model, filter) = (model.transformer(), Filter { temperature: 0.7, ..Filter::default() });
        let mut context = vec![0, 1];
        for step in model.generate(&context, &Run { filter, ..run(5) }).unwrap() {
            let (mut before, mut after) = (step.distribution.clone(), step.filtered.clone());
            filter.apply(&scores(model, &context), &mut before, &mut after);
            assert_eq!((before, after), (step.distribution, step.filtered), "{:?}", model.config());
            context.push(step.token);
        }
    }
}

#[test]
fn no_token_is_asked_about_by_a_row_that_sees_it() {
    for model in any_models(60, 74) {
        let model = model.transformer();
        let ids: Vec<u32> = (0..6).map(|i| i * 5 % model.config().n_vocab as u32).collect();
        let log = |count: usize| {
            let mut logs = vec![0.0; model.config().n_vocab];
            log_softmax(&scores(model, &ids[..count]), &mut logs);
            logs[ids[count] as usize]
        };
        for from in 1..ids.len() {
            let (got, want) =
                (model.sequence_log_probability(&ids, from).unwrap(), (from..6).map(log).sum::<f64>());
            assert!((got - want).abs() < 1e-12, "{got} and not {want} from {from}: {:?}", model.config());
        }
    }
}

#[test]
fn the_smallest_temperature_leaves_the_largest_logits_alone() {
    fn kept<F: Float>(logits: [f64; 4], temperature: f64) -> [f64; 4] {
        let (mut before, mut after) = ([F::ZERO; 4], [F::ZERO; 4]);
        let filter = Filter { temperature, ..Filter::default() };
        filter.apply(&logits.map(F::from_f64), &mut before, &mut after);
        after.map(F::to_f64)
    }
    let hidden = f64::NEG_INFINITY;
    for temperature in [1e-30, 1e-50, 1e-310, 5e-324] {
        for logits in [[1.5, -1.0, 0.5, 1.5], [-2.0, -3.0, -9.0, -2.0], [0.0, hidden, -1.0, 0.0]] {
            assert_eq!(kept::<f64>(logits, temperature), [0.5, 0.0, 0.0, 0.5], "{temperature:e}");
            assert_eq!(kept::<f32>(logits, temperature), [0.5, 0.0, 0.0, 0.5], "{temperature:e}");
        }
        assert_eq!(kept::<f32>([hidden; 4], temperature), [0.0; 4]);
    }
}

#[test]
fn a_beam_of_one_is_greedy_and_its_probability_is_the_sequences() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let search = Beams { width: 1, max_new_tokens: 4, end: None, length_penalty: 0.0 };
    let beam = model.transformer().beams(&[0, 1, 2], &search).unwrap().remove(0);
    let greedy = model.transformer().generate(&[0, 1, 2], &Run { greedy: true, ..run(4) }).unwrap();
    assert_eq!(beam.tokens, greedy.iter().map(|step| step.token).collect::<Vec<_>>());
    let whole = [&[0, 1, 2][..], &beam.tokens].concat();
    let log = model.transformer().sequence_log_probability(&whole, 3).unwrap();
    assert!((log - beam.log_probability).abs() < 1e-14);
    let product: f64 = greedy.iter().map(|step| step.probability).product();
    assert!((log.exp() - product).abs() < 1e-14);
}

#[test]
fn the_context_bound_ends_a_run_quietly_and_is_refused_at_the_start() {
    let config = Config { max_context: 5, ..Config::new(7) };
    let model = CausalLanguageModel::<f64>::from_seed(&config, 7).unwrap();
    let steps = model.transformer().generate(&[0, 1, 2], &run(20)).unwrap();
    // Contexts of 3, 4 and 5 tokens are read.
    assert_eq!(steps.iter().map(|step| step.context).collect::<Vec<_>>(), [3, 4, 5]);
    let error = model.transformer().generate(&[0; 6], &run(20)).unwrap_err();
    assert_eq!(error.code(), "context_exceeded");
    let search = Beams { width: 2, max_new_tokens: 9, end: None, length_penalty: 0.0 };
    assert!(model.transformer().beams(&[0, 1, 2], &search).unwrap().iter().all(|b| b.tokens.len() == 3));
}

#[test]
fn what_cannot_be_continued_is_refused() {
    let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7).unwrap();
    let code = |run: Run| model.transformer().generate(&[0], &run).unwrap_err().code();
    let with = |filter| Run { filter, ..run(1) };
    for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(code(with(Filter { temperature, ..Filter::default() })), "invalid_option");
    }
    assert_eq!(code(with(Filter { top_k: Some(0), ..Filter::default() })), "invalid_option");
    assert_eq!(code(with(Filter { top_p: Some(0.0), ..Filter::default() })), "invalid_option");
    assert_eq!(code(Run { end: Some(7), ..run(1) }), "token_out_of_range");
    assert_eq!(model.transformer().generate(&[], &run(0)).unwrap_err().code(), "empty_prompt");
    let from = |from| model.transformer().sequence_log_probability(&[0, 1], from).unwrap_err().code();
    assert_eq!((from(0), from(2)), ("index_out_of_range", "index_out_of_range"));
    // 2 to these powers is infinite, or 0; 1 to any power is 1.
    for length_penalty in [1e308, -1e308, f64::NAN] {
        let search = Beams { width: 3, max_new_tokens: 2, end: None, length_penalty };
        assert_eq!(model.transformer().beams(&[0], &search).unwrap_err().code(), "invalid_option");
    }
    let search = Beams { width: 3, max_new_tokens: 1, end: None, length_penalty: 1e308 };
    assert_eq!(model.transformer().beams(&[0], &search).unwrap().len(), 3);
    let bare = CausalLanguageModel::<f64>::from_seed(&Config::new(0), 7).unwrap();
    assert_eq!(bare.transformer().generate(&[0], &run(1)).unwrap_err().code(), "config_conflict");
}
