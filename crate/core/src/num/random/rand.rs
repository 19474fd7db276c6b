//! Rust's rand 0.8 `StdRng` with the distributions of rand 0.8 and rand_distr 0.4.
//!
//! The distributions are written out here, not taken from rand_distr: that crate's exponential and logarithm
//! go through num-traits, whose `std` feature any other crate of a build can switch on, and then a platform's
//! own library would decide the last bit.

use super::rand_tables::{F, X};
use super::Position;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

/// Where the tail begins.
const R: f64 = X[1];
const EPSILON: f64 = f64::EPSILON;

/// The stream of `StdRng::seed_from_u64(seed)`: ChaCha with 12 rounds (Bernstein 2008).
#[derive(Clone, Debug)]
pub struct RandStream {
    generator: ChaCha12Rng,
    words: u64,
}

impl RandStream {
    pub(super) fn new(seed: u64) -> Self {
        RandStream { generator: ChaCha12Rng::from_seed(expand(seed)), words: 0 }
    }

    pub(super) fn at(seed: u64, words: u64) -> Self {
        let mut stream = RandStream::new(seed);
        // The generator counts in 32-bit words.
        stream.generator.set_word_pos(u128::from(words) * 2);
        stream.words = words;
        stream
    }

    pub(super) fn position(&self) -> Position {
        Position { words: self.words, half: None }
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.words += 1;
        self.generator.next_u64()
    }

    fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// rand's `Open01`: 52 bits, moved by half a step, so that neither 0 nor 1 comes.
    fn open_uniform(&mut self) -> f64 {
        one_to_two(self.next_u64()) - (1.0 - EPSILON / 2.0)
    }

    /// As rand_distr's `StandardNormal`. A word's low 8 bits choose the layer, its high 52 a number in [-1, 1).
    pub(super) fn normal(&mut self) -> f64 {
        loop {
            let word = self.next_u64();
            let layer = (word & 0xff) as usize;
            // In [2, 4), less 3.
            let u = one_to_two(word) * 2.0 - 3.0;
            let x = u * X[layer];
            if x.abs() < X[layer + 1] {
                return x;
            }
            if layer == 0 {
                return self.tail(u < 0.0);
            }
            if F[layer + 1] + (F[layer] - F[layer + 1]) * self.uniform() < libm::exp(-x * x / 2.0) {
                return x;
            }
        }
    }

    fn tail(&mut self, negative: bool) -> f64 {
        loop {
            let x = libm::log(self.open_uniform()) / R;
            let y = libm::log(self.open_uniform());
            if -2.0 * y >= x * x {
                return if negative { x - R } else { R - x };
            }
        }
    }

    /// A number from 0 to `span`, as rand 0.8's `gen_range` on 64-bit integers: the high half of a product,
    /// its low half within a zone that makes all equally likely.
    pub(super) fn below_or_at(&mut self, span: u64) -> u64 {
        let Some(count) = span.checked_add(1) else { return self.next_u64() };
        let zone = (count << count.leading_zeros()).wrapping_sub(1);
        loop {
            let product = u128::from(self.next_u64()) * u128::from(count);
            if product as u64 <= zone {
                return (product >> 64) as u64;
            }
        }
    }

    /// As rand 0.8's `Uniform::new(0.0, high)`: its scale is lowered until the largest draw stays below `high`.
    pub(super) fn uniform_below(&mut self, high: f64) -> f64 {
        let largest = 1.0 - EPSILON;
        let mut scale = high;
        while scale * largest >= high {
            scale = f64::from_bits(scale.to_bits() - 1);
        }
        (one_to_two(self.next_u64()) - 1.0) * scale
    }
}

/// A float in [1, 2) from the high 52 bits.
fn one_to_two(word: u64) -> f64 {
    f64::from_bits(1023 << 52 | word >> 12)
}

/// rand_core 0.6's expansion of a 64-bit seed to ChaCha's 32 bytes, by PCG32 (O'Neill 2014).
fn expand(seed: u64) -> [u8; 32] {
    let mut state = seed;
    let mut out = [0; 32];
    for chunk in out.chunks_exact_mut(4) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(11_634_580_027_462_260_723);
        let shifted = (((state >> 18) ^ state) >> 27) as u32;
        chunk.copy_from_slice(&shifted.rotate_right((state >> 59) as u32).to_le_bytes());
    }
    out
}
