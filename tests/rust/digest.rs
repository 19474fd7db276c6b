//! Digests of bits, computed by the same code natively and in wasm and compared with the same constants.

use glassformer::config::{Config, Init};
use glassformer::math::Activation;
use glassformer::model::CausalLanguageModel;
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
