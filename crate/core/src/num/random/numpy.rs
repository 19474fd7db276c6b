//! NumPy's `Generator(PCG64)`.

use super::numpy_tables::{F, K, X};
use super::seed_sequence::generate_state;
use super::Position;
use rand_core::Rng;
use rand_pcg::Pcg64;

/// Where the base layer ends and the tail begins, and the reciprocal, as NumPy has them.
const R: f64 = X[1];
const RECIPROCAL_R: f64 = 0.273_661_237_329_758_3;

/// The stream of `np.random.default_rng(seed)`: SeedSequence, then PCG64 with the XSL-RR output
/// (O'Neill 2014, HMC-CS-2014-0905), which is what `rand_pcg` calls `Pcg64`.
#[derive(Clone, Debug)]
pub struct NumpyStream {
    generator: Pcg64,
    words: u64,
    /// The high half of a word whose low half served a 32-bit draw.
    half: Option<u32>,
}

impl NumpyStream {
    pub(super) fn new(seed: u64) -> Self {
        let [a, b, c, d] = generate_state(seed);
        let wide = |high, low| u128::from(high) << 64 | u128::from(low);
        NumpyStream { generator: Pcg64::new(wide(a, b), wide(c, d)), words: 0, half: None }
    }

    pub(super) fn at(seed: u64, position: Position) -> Self {
        let mut stream = NumpyStream::new(seed);
        stream.generator.advance(u128::from(position.words));
        NumpyStream { words: position.words, half: position.half, ..stream }
    }

    pub(super) fn position(&self) -> Position {
        Position { words: self.words, half: self.half }
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.words += 1;
        self.generator.next_u64()
    }

    fn next_u32(&mut self) -> u32 {
        self.half.take().unwrap_or_else(|| {
            let word = self.next_u64();
            self.half = Some((word >> 32) as u32);
            word as u32
        })
    }

    fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// As NumPy's `random_standard_normal`. A word's low 8 bits choose the layer, the next one the sign, the
    /// 52 above them the place in the layer.
    pub(super) fn normal(&mut self) -> f64 {
        loop {
            let word = self.next_u64();
            let layer = layer(word);
            let negative = word >> 8 & 1 == 1;
            let place = word >> 9 & ((1 << 52) - 1);
            let signed = |x: f64| if negative { -x } else { x };
            // The edge times 2^-52 is exact.
            let x = signed(place as f64 * (X[layer] * (1.0 / 4_503_599_627_370_496.0)));
            if place < K[layer] {
                return x;
            }
            if layer == 0 {
                // Marsaglia's method for the tail; its sign is another bit of the same word.
                let beyond = self.tail();
                return if place >> 8 & 1 == 1 { -(R + beyond) } else { R + beyond };
            }
            let height = (F[layer + 1] - F[layer]) * self.uniform();
            if height + F[layer] < libm::exp(-0.5 * x * x) {
                return x;
            }
        }
    }

    fn tail(&mut self) -> f64 {
        loop {
            let x = -RECIPROCAL_R * libm::log1p(-self.uniform());
            let y = -libm::log1p(-self.uniform());
            if y + y > x * x {
                return x;
            }
        }
    }

    /// A number from 0 to `span`, by Lemire's method (2019, arXiv:1805.10941), on 32 bits where they suffice.
    pub(super) fn below_or_at(&mut self, span: u64) -> u64 {
        if span == 0 {
            0
        } else if span < u64::from(u32::MAX) {
            u64::from(self.bounded_32(span as u32))
        } else if span == u64::from(u32::MAX) {
            u64::from(self.next_u32())
        } else if span == u64::MAX {
            self.next_u64()
        } else {
            self.bounded_64(span)
        }
    }

    fn bounded_32(&mut self, span: u32) -> u32 {
        let count = span + 1;
        let mut product = u64::from(self.next_u32()) * u64::from(count);
        if (product as u32) < count {
            let threshold = (u32::MAX - span) % count;
            while (product as u32) < threshold {
                product = u64::from(self.next_u32()) * u64::from(count);
            }
        }
        (product >> 32) as u32
    }

    fn bounded_64(&mut self, span: u64) -> u64 {
        let count = span + 1;
        let mut product = u128::from(self.next_u64()) * u128::from(count);
        if (product as u64) < count {
            let threshold = (u64::MAX - span) % count;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }
}

/// NumPy counts its layers from the top: 1 to 255 upwards in width, and 0 for the base.
fn layer(word: u64) -> usize {
    (256 - (word & 0xff) as usize) % 256
}
