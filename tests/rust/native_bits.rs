//! Prints random models' options, prompts, and the digest of every bit of their traces as computed natively, one
//! JSON object per line: what the package must give in wasm, for the same options. The argument seeds the choice.

use glassformer::config::{Config, Init};
use glassformer::math::Activation;
use glassformer::model::CausalLanguageModel;
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer_tests::digest_of;

const MODELS: usize = 300;

fn main() {
    let seed = std::env::args().nth(1).and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut stream = RandomStream::numpy(seed);
    let mut pick = |low: i64, high: i64| stream.integers(low, high).unwrap();
    for _ in 0..MODELS {
        let n_heads = pick(1, 5) as usize;
        let config = Config {
            n_heads,
            n_model: n_heads * pick(1, 7) as usize,
            n_blocks: pick(1, 5) as usize,
            n_hidden: pick(1, 40) as usize,
            epsilon: [1e-5, 1e-6, 0.1, 1e-12][pick(0, 4) as usize],
            final_norm: pick(0, 2) == 1,
            activation: Activation::ALL[pick(0, 5) as usize],
            score_scale: [None, Some(1.0), Some(-0.3)][pick(0, 3) as usize],
            init: Init::ALL[pick(0, 3) as usize],
            branch_scale: [1.0, 0.25, 1.0 / 3.0][pick(0, 3) as usize],
            ..Config::new(pick(1, 30) as usize)
        };
        let model_seed = pick(0, i64::MAX) as u64 * 2 + pick(0, 2) as u64;
        let length = pick(1, 20);
        let prompt: Vec<u32> = (0..length).map(|_| pick(0, config.n_vocab as i64) as u32).collect();
        let single = pick(0, 2) == 1;
        let (dtype, digest) = if single {
            ("float32", digest::<f32>(&config, model_seed, &prompt))
        } else {
            ("float64", digest::<f64>(&config, model_seed, &prompt))
        };
        let scale = config.score_scale.map_or(String::new(), |scale| format!("\"scoreScale\":{scale:?},"));
        println!(
            "{{\"options\":{{\"nVocab\":{},\"nModel\":{},\"nHeads\":{},\"nBlocks\":{},\"nHidden\":{},{scale}\
             \"epsilon\":{:?},\"finalNorm\":{},\"activation\":\"{}\",\"init\":\"{}\",\"branchScale\":{:?},\
             \"dtype\":\"{dtype}\"}},\"seed\":\"{model_seed}\",\"prompt\":{prompt:?},\"digest\":\"{digest}\"}}",
            config.n_vocab,
            config.n_model,
            config.n_heads,
            config.n_blocks,
            config.n_hidden,
            config.epsilon,
            config.final_norm,
            config.activation.name(),
            config.init.name(),
            config.branch_scale,
        );
    }
}

fn digest<F: Float>(config: &Config, seed: u64, prompt: &[u32]) -> String {
    let model = CausalLanguageModel::<F>::from_seed(config, seed).expect("the options are valid");
    digest_of(&[model.respond_to(prompt).expect("the prompt is valid")])
}
