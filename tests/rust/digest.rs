//! Digests of bits, computed by the same code natively and in wasm and compared with the same constants.

use glassformer::config::{
    Bias, Config, Encoder, Experts, FeedForward, Init, Norm, Placement, Position, Rotary,
};
use glassformer::mask::Masks;
use glassformer::math::{Activation, Overflow, Pairing};
use glassformer::model::{CausalLanguageModel, Given, Transformer};
use glassformer::num::random::RandomStream;
use glassformer::num::Float;
use glassformer::trace::Trace;

/// FNV-1a, 64 bits, over the bytes of each word, low byte first (Fowler, Noll & Vo).
pub struct Digest(u64);

impl Digest {
    /// The digest of nothing.
    pub fn new() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// Takes a word in.
    pub fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The digest as 16 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

/// 40,000 draws of each kind (tails among them) from the stream of each kind.
pub fn stream_digest(kind: &str) -> String {
    let mut stream = if kind == "numpy" { RandomStream::numpy(7) } else { RandomStream::rand(7) };
    let mut digest = Digest::new();
    for i in 0..40_000 {
        digest.add(stream.normal().to_bits());
        digest.add(stream.random().to_bits());
        digest.add(stream.integers(-3, 1000 + i).unwrap() as u64);
    }
    digest.hex()
}

/// Every stage of the responses of a model of several blocks, with this activation.
pub fn trace_digest<F: Float>(activation: Activation, init: Init) -> String {
    let config =
        Config { n_model: 12, n_heads: 3, n_blocks: 3, n_hidden: 20, activation, init, ..Config::new(11) };
    let model = CausalLanguageModel::<F>::from_seed(&config, 2024).unwrap();
    let prompts = [vec![3], vec![0, 1, 2, 3], (0..40).map(|i| i * 7 % 11).collect()];
    digest_of(&prompts.map(|prompt| model.respond_to(&prompt).unwrap()))
}

/// Every cell of every stage of some traces.
pub fn digest_of<F: Float>(traces: &[Trace<F>]) -> String {
    let mut digest = Digest::new();
    for trace in traces {
        for stage in trace.stages() {
            for cell in trace.get(&stage.name()).unwrap().data() {
                digest.add(cell.bits());
            }
        }
    }
    digest.hex()
}

/// Every stage of a model of one style of the family, whose every parameter is drawn, biases and gains too.
pub fn family_digest<F: Float>(style: &str) -> String {
    let base = Config { n_model: 12, n_heads: 4, n_blocks: 2, norm_affine: true, ..Config::new(11) };
    let bias = Bias::all(&base);
    let config = match style {
        "gpt2" => Config {
            position: Position::Learned,
            activation: Activation::GeluTanh,
            bias,
            tied_head: true,
            max_context: 50,
            ..base
        },
        "llama" => Config {
            norm: Norm::Rms,
            n_key_value_heads: Some(2),
            head_width: Some(6),
            position: Position::Rotary(Rotary { pairing: Pairing::Half, ..Rotary::default() }),
            feed_forward: FeedForward::SwiGlu,
            activation: Activation::Silu,
            ..base
        },
        "mixture" => Config {
            feed_forward: FeedForward::Experts(Experts {
                capacity: Some(9),
                overflow: Overflow::Reroute,
                noise: 0.3,
                ..Experts::new(4, 2)
            }),
            bias,
            window: Some(5),
            position: Position::Alibi(None),
            ..base
        },
        _ => Config {
            norm_placement: Placement::Post,
            bias,
            encoder: Some(Encoder { n_vocab: 11, n_blocks: 2 }),
            ..base
        },
    };
    let mut stream = RandomStream::numpy(2025);
    let mut model = Transformer::<F>::new(&config, &mut stream).unwrap();
    let list: Vec<(String, usize)> =
        model.parameters().list().iter().map(|p| (p.name(), p.count())).collect();
    for (name, count) in list {
        let values: Vec<F> = (0..count).map(|_| F::from_f64(0.3 * stream.normal())).collect();
        model.parameters_mut().set(&name, &values).unwrap();
    }
    let target: Vec<u32> = (0..30).map(|i| i * 7 % 11).collect();
    let source = if config.encoder.is_some() { vec![4, 9, 0, 1] } else { vec![] };
    let given = Given::Tokens { target: &target, source: &source };
    digest_of(&[model.respond(given, &Masks::default()).unwrap()])
}

/// What [`stream_digest`] must give.
pub const STREAM_DIGESTS: [(&str, &str); 2] = [("numpy", "64d51b4ddfd8cbbe"), ("rand", "35e95ec6b0e4587e")];

/// What [`trace_digest`] must give for each activation: in float64 by the lesson's recipe, in float32 by GPT-2's.
pub const TRACE_DIGESTS: [(Activation, &str, &str); 5] = [
    (Activation::Relu, "ae4affbe137ca182", "d1cd3f8e1e5be70b"),
    (Activation::Gelu, "d9fc6eb27a265c64", "ac287202d871ba30"),
    (Activation::GeluTanh, "82c4df00822bec3e", "072a7799fe67567d"),
    (Activation::Silu, "2b1e3a045de33482", "06cb9bf5a5569e9c"),
    (Activation::Identity, "2baeeb5eb492ffc4", "37ca765886d25160"),
];

/// What [`family_digest`] must give for each style, in float64 and float32.
pub const FAMILY_DIGESTS: [(&str, &str, &str); 4] = [
    ("gpt2", "b5f9495053278ee5", "bab04c4312b28235"),
    ("llama", "9cb6e42a7967b007", "c401b58b60b8f687"),
    ("mixture", "149ba75164342c64", "3a97986676c393b3"),
    ("encoder_decoder", "7fd33c1f275f12ef", "5b7b11579f10569c"),
];
