//! Random streams that go draw for draw as those of NumPy and of Rust's `rand` do.
//!
//! Two generators ([`NumpyStream`], [`RandStream`]) behind one face, [`RandomStream`].

mod numpy;
mod numpy_tables;
mod rand;
mod rand_tables;
mod seed_sequence;

pub use numpy::NumpyStream;
pub use rand::RandStream;

use crate::error::Error;
use alloc::{format, string::ToString, vec, vec::Vec};

/// A seeded stream of draws.
#[derive(Clone, Debug)]
// A stream is made once and lent; a heap allocation would only move its state further away.
#[allow(clippy::large_enum_variant)]
pub enum RandomStream {
    /// NumPy's `np.random.default_rng(seed)`.
    Numpy(NumpyStream),
    /// Rust's rand 0.8 `StdRng::seed_from_u64(seed)`, with the distributions of rand 0.8 and rand_distr 0.4.
    Rand(RandStream),
}

/// Where a stream stands: behind so many draws of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Position {
    /// How many 64-bit words were drawn.
    pub words: u64,
    /// The high half of an earlier word, where it still waits for the next 32-bit draw (NumPy's `uinteger`).
    pub half: Option<u32>,
}

macro_rules! either {
    ($stream:expr, $inner:ident => $body:expr) => {
        match $stream {
            RandomStream::Numpy($inner) => $body,
            RandomStream::Rand($inner) => $body,
        }
    };
}

impl RandomStream {
    /// NumPy's stream of this seed.
    pub fn numpy(seed: u64) -> Self {
        RandomStream::Numpy(NumpyStream::new(seed))
    }

    /// Rust's stream of this seed.
    pub fn rand(seed: u64) -> Self {
        RandomStream::Rand(RandStream::new(seed))
    }

    /// The stream of a kind (`numpy` or `rand`) and a seed, as it stands at a position.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for another kind, or half a word before the first one.
    pub fn at(kind: &str, seed: u64, position: Position) -> Result<Self, Error> {
        let refused = |option: &str, value: &str, reason: &str| Error::InvalidOption {
            option: option.into(),
            value: value.into(),
            reason: reason.into(),
            nearest: vec![],
        };
        match kind {
            "numpy" if position.half.is_some() && position.words == 0 => {
                Err(refused("half", "a half", "no word was drawn yet"))
            }
            "rand" if position.half.is_some() => {
                Err(refused("half", "a half", "this stream draws whole words only"))
            }
            "numpy" => Ok(RandomStream::Numpy(NumpyStream::at(seed, position))),
            "rand" => Ok(RandomStream::Rand(RandStream::at(seed, position.words))),
            _ => Err(refused("stream", &format!("{kind:?}"), "it must be \"numpy\" or \"rand\"")),
        }
    }

    /// Where the stream stands.
    pub fn position(&self) -> Position {
        either!(self, stream => stream.position())
    }

    /// The generator's next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        either!(self, stream => stream.next_u64())
    }

    /// A draw from the standard normal distribution, by the generator's own 256-layer ziggurat
    /// (Marsaglia & Tsang 2000, Journal of Statistical Software 5(8)).
    ///
    /// # Numerics
    /// Equal to the original's bits in the layers. In the tail (one draw in about 4,000) and where a draw lands
    /// in the corner of a layer, logarithm and exponential come from `libm`, which may differ from a platform's
    /// library by one unit in the last place; here every platform gives the same.
    ///
    /// ```
    /// # use glassformer::num::random::RandomStream;
    /// let mut rng = RandomStream::numpy(7); // np.random.default_rng(7)
    /// assert_eq!([rng.normal(), rng.normal()], [0.0012301533574825742, 0.2987455375084699]);
    /// ```
    pub fn normal(&mut self) -> f64 {
        either!(self, stream => stream.normal())
    }

    /// A uniform draw from [0, 1), a multiple of 2^-53.
    ///
    /// ```
    /// # use glassformer::num::random::RandomStream;
    /// assert_eq!(RandomStream::numpy(0).random(), 0.6369616873214543); // np.random.default_rng(0).random()
    /// ```
    pub fn random(&mut self) -> f64 {
        // Both generators make a float of the high 53 bits in this way.
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A whole number from `low` to `high - 1`, all equally likely.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] when `high` is not above `low`.
    ///
    /// ```
    /// # use glassformer::num::random::RandomStream;
    /// let mut rng = RandomStream::numpy(0); // np.random.default_rng(0).integers(0, 1000, 3)
    /// assert_eq!([0; 3].map(|_| rng.integers(0, 1000).unwrap()), [850, 636, 511]);
    /// ```
    pub fn integers(&mut self, low: i64, high: i64) -> Result<i64, Error> {
        if high <= low {
            return Err(Error::InvalidOption {
                option: "high".to_string(),
                value: high.to_string(),
                reason: format!("it must be above low, which is {low}"),
                nearest: vec![],
            });
        }
        // The distance to the last number that may come, which always fits.
        let span = (high - 1).wrapping_sub(low) as u64;
        Ok(low.wrapping_add(either!(self, stream => stream.below_or_at(span)) as i64))
    }

    /// An index below the number of probabilities, drawn with them: one uniform draw.
    ///
    /// # Errors
    /// As [`Choice::new`].
    ///
    /// ```
    /// # use glassformer::num::random::RandomStream;
    /// let p = [0.05, 0.1, 0.15, 0.2, 0.25, 0.2, 0.05];
    /// assert_eq!(RandomStream::numpy(0).choice(&p).unwrap(), 4); // np.random.default_rng(0).choice(7, p=p)
    /// ```
    pub fn choice(&mut self, p: &[f64]) -> Result<usize, Error> {
        Ok(self.choose(&Choice::new(p)?))
    }

    /// An index drawn with probabilities that were checked once.
    pub fn choose(&mut self, choice: &Choice) -> usize {
        let last = choice.cumulative[choice.cumulative.len() - 1];
        let reached = |cumulative: &&f64, drawn: f64| **cumulative <= drawn;
        match self {
            // NumPy divides the running sums by the last and counts those that the draw has reached.
            RandomStream::Numpy(_) => choice.index_of(self.random()),
            // rand's WeightedIndex draws below the total and counts the running sums, the total left out.
            RandomStream::Rand(stream) => {
                let drawn = stream.uniform_below(last);
                let but_last = &choice.cumulative[..choice.cumulative.len() - 1];
                but_last.iter().filter(|c| reached(c, drawn)).count()
            }
        }
    }
}

/// Probabilities, checked and summed up for many draws.
#[derive(Clone, Debug)]
pub struct Choice {
    cumulative: Vec<f64>,
}

impl Choice {
    /// How far from 1 probabilities may sum, as NumPy allows: the root of float64's epsilon.
    pub const TOLERANCE: f64 = 1.490_116_119_384_765_6e-8;

    /// Probabilities, one for each index.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] when there are none, when one is negative, infinite
    /// or NaN, or when they do not sum to 1 within [`TOLERANCE`](Self::TOLERANCE).
    pub fn new(p: &[f64]) -> Result<Self, Error> {
        Self::within(p, Self::TOLERANCE)
    }

    /// As [`new`](Self::new), for probabilities that were float32 numbers: their sum may be off by the root of that
    /// type's epsilon, as NumPy allows.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_float32(p: &[f64]) -> Result<Self, Error> {
        Self::within(p, 3.452_669_8e-4)
    }

    /// The index that NumPy draws with a number from [0, 1): the first whose running sum, divided by the last, exceeds it.
    ///
    /// ```
    /// # use glassformer::num::random::Choice;
    /// let choice = Choice::new(&[0.25, 0.0, 0.75]).unwrap();
    /// assert_eq!([0.0, 0.25, 0.999].map(|drawn| choice.index_of(drawn)), [0, 2, 2]);
    /// ```
    pub fn index_of(&self, drawn: f64) -> usize {
        let last = self.cumulative[self.cumulative.len() - 1];
        self.cumulative.iter().filter(|&&c| c / last <= drawn).count()
    }

    fn within(p: &[f64], tolerance: f64) -> Result<Self, Error> {
        let refused = |value: f64, reason: &str| Error::InvalidOption {
            option: "p".into(),
            value: value.to_string(),
            reason: reason.into(),
            nearest: vec![],
        };
        if p.is_empty() {
            return Err(refused(0.0, "it must have at least one probability"));
        }
        if let Some((i, &bad)) = p.iter().enumerate().find(|(_, &x)| !(x.is_finite() && x >= 0.0)) {
            return Err(refused(bad, &format!("the probability at {i} must be 0 or more and finite")));
        }
        let mut sum = 0.0;
        let cumulative = p.iter().map(|&x| {
            sum += x;
            sum
        });
        let cumulative: Vec<f64> = cumulative.collect();
        if (sum - 1.0).abs() > tolerance {
            return Err(refused(sum, &format!("the probabilities must sum to 1, within {tolerance:e}")));
        }
        Ok(Choice { cumulative })
    }
}
