//! Prints random models' options, prompts, and the digest of every bit of their traces as computed natively, one
//! JSON object per line: what the package must give in wasm, for the same options. The argument seeds the choice.

use glassformer::config::{Config, Norm};
use glassformer::model::CausalLanguageModel;
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::options::{fill_in, Value};
use glassformer_tests::{digest_of, Picker};

const MODELS: usize = 300;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut picker = Picker(RandomStream::numpy(seed));
    for _ in 0..MODELS {
        let valid = picker.valid();
        let epsilons = if valid.norm == Norm::None { &[1e-5][..] } else { &[1e-5, 1e-6, 0.1, 1e-12] };
        let config = Config {
            epsilon: picker.one_of(epsilons),
            score_scale: picker.one_of(&[None, Some(1.0), Some(-0.3)]),
            branch_scale: picker.one_of(&[1.0, 0.25, 1.0 / 3.0]),
            ..valid
        };
        let model_seed = picker.0.integers(0, i64::MAX).unwrap() as u64 * 2 + u64::from(picker.flag());
        let length = 1 + picker.below(19);
        let prompt = picker.ids(length, config.n_vocab);
        let (digest, dtype) = if picker.flag() {
            digest::<f32>(&config, model_seed, &prompt)
        } else {
            digest::<f64>(&config, model_seed, &prompt)
        };
        let options: Vec<String> =
            fill_in(&config, dtype).iter().map(|(name, value)| format!("{name:?}:{}", json(value))).collect();
        println!(
            "{{\"options\":{{{}}},\"seed\":\"{model_seed}\",\"prompt\":{prompt:?},\"digest\":\"{digest}\"}}",
            options.join(",")
        );
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Bool(x) => x.to_string(),
        Value::Number(x) => format!("{x:?}"),
        Value::Text(x) => format!("{x:?}"),
        Value::List(list) => format!("[{}]", list.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{name:?}:{}", json(value))).collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Absent | Value::Big(_) | Value::Other(_) => unreachable!("no such option is filled in"),
    }
}

fn digest<F: Float>(config: &Config, seed: u64, prompt: &[u32]) -> (String, glassformer::num::DType) {
    let model = CausalLanguageModel::<F>::from_seed(config, seed).expect("the options are valid");
    (digest_of(&[model.respond_to(prompt).expect("the prompt is valid")]), F::DTYPE)
}
