//! Positions as angles: queries and keys are rotated, so that their product knows how far apart they are.

use crate::num::float::{cos, pow, sin};
use crate::num::Float;
use alloc::vec::Vec;

/// Which coordinates of a head are rotated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Coordinates 2j and 2j+1 (Su et al. 2021; GPT-J).
    Adjacent,
    /// Coordinates j and j + width/2 (GPT-NeoX, Llama, Hugging Face's `rotate_half`).
    Half,
}

impl Pairing {
    /// Both, in the order the documentation lists them.
    pub const ALL: [Pairing; 2] = [Pairing::Adjacent, Pairing::Half];

    /// The name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Pairing::Adjacent => "adjacent",
            Pairing::Half => "half",
        }
    }
}

/// How frequencies are stretched for contexts longer than those of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RotaryScaling {
    /// Every frequency is divided by `factor` (Chen et al. 2023, arXiv:2306.15595).
    Linear {
        /// By what.
        factor: f64,
    },
    /// Llama 3.1's rule (Llama Team 2024, arXiv:2407.21783; Hugging Face's `rope_type` llama3): waves longer than
    /// `original_context / low_frequency_factor` are divided by `factor`, those shorter than
    /// `original_context / high_frequency_factor` stay, and those between pass smoothly from one to the other.
    Llama3 {
        /// By what long waves are divided.
        factor: f64,
        /// How often a long wave fits into the original context, at most.
        low_frequency_factor: f64,
        /// How often a short wave fits into the original context, at least; greater than the low one.
        high_frequency_factor: f64,
        /// The length of the context in training.
        original_context: f64,
    },
}

impl RotaryScaling {
    fn apply(&self, frequency: f64) -> f64 {
        match *self {
            RotaryScaling::Linear { factor } => frequency / factor,
            RotaryScaling::Llama3 {
                factor,
                low_frequency_factor: low,
                high_frequency_factor: high,
                original_context: context,
            } => {
                let wavelength = 2.0 * core::f64::consts::PI / frequency;
                if wavelength > context / low {
                    frequency / factor
                } else if wavelength < context / high {
                    frequency
                } else {
                    let smooth = (context / wavelength - low) / (high - low);
                    (1.0 - smooth) * frequency / factor + smooth * frequency
                }
            }
        }
    }
}

/// The angle, in radians, that each pair turns by per position: `base^(-2j / width)` for pair j, scaled
/// (Su et al. 2021, arXiv:2104.09864).
///
/// # Shapes
/// `width` / 2 numbers; `width`, the number of coordinates that are rotated, is even.
///
/// ```
/// # use glassformer::math::rotary_frequencies;
/// let rounded: Vec<f64> = rotary_frequencies(8, 10000.0, None).iter().map(|x| (x * 1e9).round() / 1e9).collect();
/// assert_eq!(rounded, [1.0, 0.1, 0.01, 0.001]);
/// ```
pub fn rotary_frequencies(width: usize, base: f64, scaling: Option<&RotaryScaling>) -> Vec<f64> {
    let plain = (0..width / 2).map(|j| pow(base, -((2 * j) as f64) / width as f64));
    match scaling {
        None => plain.collect(),
        Some(scaling) => plain.map(|frequency| scaling.apply(frequency)).collect(),
    }
}

/// Turns each pair (a, b) of one head's row by its angle: `(a cos - b sin, a sin + b cos)`, with the angle
/// `position * frequency` (Su et al. 2021, arXiv:2104.09864, section 3.2.2).
///
/// # Shapes
/// `row` K, changed in place: its first 2 × (number of frequencies) coordinates; the others stay.
///
/// # Numerics
/// Angle, sine and cosine are computed in float64 and rounded once to `F`. An angle of 0 leaves its pair to the bit (as a
/// product with a cosine of 1 and a sine of 0, the sign of a zero could change).
///
/// # Panics
/// When the row is shorter than what is rotated.
///
/// ```
/// # use glassformer::math::{rotate, Pairing};
/// let mut row = [1.0, 0.0];
/// rotate(&mut row, 1.0, &[core::f64::consts::FRAC_PI_2], Pairing::Adjacent); // by 90 degrees
/// assert_eq!(row.map(|x: f64| x.round()), [0.0, 1.0]);
/// ```
pub fn rotate<F: Float>(row: &mut [F], position: f64, frequencies: &[f64], pairing: Pairing) {
    let half = frequencies.len();
    assert!(2 * half <= row.len());
    for (j, &frequency) in frequencies.iter().enumerate() {
        let angle = position * frequency;
        if angle == 0.0 {
            continue;
        }
        let (first, second) = match pairing {
            Pairing::Adjacent => (2 * j, 2 * j + 1),
            Pairing::Half => (j, j + half),
        };
        let (cos, sin) = (F::from_f64(cos(angle)), F::from_f64(sin(angle)));
        let (a, b) = (row[first], row[second]);
        row[first] = a * cos - b * sin;
        row[second] = a * sin + b * cos;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::FRAC_PI_2;

    fn product(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn a_quarter_turn_of_one_takes_the_product_away_and_of_both_keeps_it() {
        let fixed = [1.0, 0.0];
        for pairing in Pairing::ALL {
            let mut turned = fixed;
            assert_eq!(product(&turned, &fixed), 1.0);
            rotate(&mut turned, 1.0, &[FRAC_PI_2], pairing);
            assert!(product(&turned, &fixed).abs() < 1e-15);
            let mut other = fixed;
            rotate(&mut other, 1.0, &[FRAC_PI_2], pairing);
            assert!((product(&turned, &other) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn products_depend_on_the_distance_alone() {
        let (q, k) = ([0.3, -1.2, 0.7, 2.0, 5.0], [1.1, 0.4, -0.6, 0.2, 3.0]);
        let frequencies = rotary_frequencies(4, 10000.0, None);
        for pairing in Pairing::ALL {
            let at = |t: f64, s: f64| {
                let (mut q, mut k) = (q, k);
                rotate(&mut q, t, &frequencies, pairing);
                rotate(&mut k, s, &frequencies, pairing);
                assert_eq!((q[4], k[4]), (5.0, 3.0), "a coordinate beyond the width stays");
                product(&q, &k)
            };
            assert!((at(7.0, 3.0) - at(104.0, 100.0)).abs() < 1e-13);
            assert!((at(7.0, 3.0) - at(7.0, 4.0)).abs() > 1e-3);
        }
    }

    #[test]
    fn position_zero_is_the_identity_to_the_bit() {
        let row = [-0.0f64, -1.0, f64::INFINITY, -0.0];
        for pairing in Pairing::ALL {
            let mut turned = row;
            rotate(&mut turned, 0.0, &[1.0, 0.1], pairing);
            assert_eq!(turned.map(f64::to_bits), row.map(f64::to_bits));
        }
    }

    #[test]
    fn pairings_differ_and_are_one_another_in_another_order() {
        let row = [1.0f64, 2.0, 3.0, 4.0];
        let frequencies = rotary_frequencies(4, 100.0, None);
        let (mut adjacent, mut half) = (row, row);
        rotate(&mut adjacent, 3.0, &frequencies, Pairing::Adjacent);
        rotate(&mut half, 3.0, &frequencies, Pairing::Half);
        assert_ne!(adjacent, half);
        let mut reordered = [row[0], row[2], row[1], row[3]];
        rotate(&mut reordered, 3.0, &frequencies, Pairing::Half);
        assert_eq!(adjacent, [reordered[0], reordered[2], reordered[1], reordered[3]]);
    }

    #[test]
    fn scaling_divides_long_waves_and_leaves_short_ones() {
        let plain = rotary_frequencies(64, 500000.0, None);
        let linear = rotary_frequencies(64, 500000.0, Some(&RotaryScaling::Linear { factor: 4.0 }));
        assert!(plain.iter().zip(&linear).all(|(a, b)| a / 4.0 == *b));
        let llama = RotaryScaling::Llama3 {
            factor: 8.0,
            low_frequency_factor: 1.0,
            high_frequency_factor: 4.0,
            original_context: 8192.0,
        };
        let scaled = rotary_frequencies(64, 500000.0, Some(&llama));
        assert_eq!(scaled[..10], plain[..10]);
        assert!(plain.iter().zip(&scaled).skip(20).all(|(a, b)| a / 8.0 == *b));
        let between = plain.iter().zip(&scaled).filter(|(a, b)| **b < **a && **b > **a / 8.0).count();
        assert!(between > 1);
        assert!(scaled.windows(2).all(|pair| pair[0] > pair[1]));
    }
}
