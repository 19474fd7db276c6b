//! Singular values of a matrix.

use crate::num::Float;
use alloc::vec::Vec;

/// More sweeps than any matrix needs: each squares what is left, so a handful suffices.
const MOST_SWEEPS: usize = 60;

/// The singular values of a matrix, the largest first: how much it stretches the directions that it keeps at right angles.
/// One-sided Jacobi rotations (Hestenes 1958): columns are turned in pairs until all are orthogonal; their lengths are
/// then the values.
///
/// # Shapes
/// `columns` holds the matrix column by column, each of `rows` numbers; of a transposed matrix the values are the same.
///
/// # Numerics
/// Pairs go in order, sweep after sweep, until no cosine between two columns is above 1e-15. Each value is good to about
/// that, relative to the largest. Numbers are divided by the largest of them first, so that squares do not overflow.
///
/// # Panics
/// When the numbers are no multiple of `rows`.
///
/// ```
/// # use glassformer::math::singular_values;
/// assert_eq!(singular_values(&[3.0, 0.0, 0.0, -4.0], 2), [4.0, 3.0]);
/// ```
pub fn singular_values(columns: &[f64], rows: usize) -> Vec<f64> {
    assert_eq!(columns.len() % rows, 0);
    let largest = columns.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if largest == 0.0 {
        return columns.chunks_exact(rows).map(|_| 0.0).collect();
    }
    let mut scaled: Vec<f64> = columns.iter().map(|x| x / largest).collect();
    let count = scaled.len() / rows;
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for j in 1..count {
            let (before, rest) = scaled.split_at_mut(j * rows);
            for a in before.chunks_exact_mut(rows) {
                turned |= make_orthogonal(a, &mut rest[..rows]);
            }
        }
        if !turned {
            break;
        }
    }
    let mut values: Vec<f64> =
        scaled.chunks_exact(rows).map(|column| Float::sqrt(inner(column, column)) * largest).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Turns two columns in their plane until they are at right angles; says whether they were not.
fn make_orthogonal(a: &mut [f64], b: &mut [f64]) -> bool {
    let (alpha, beta, gamma) = (inner(a, a), inner(b, b), inner(a, b));
    // Not `<=` turned around: what is not a number is left.
    let is_oblique = gamma.abs() > 1e-15 * Float::sqrt(alpha * beta);
    if !is_oblique {
        return false;
    }
    // The smaller of the two angles that do it, as its tangent.
    let zeta = (beta - alpha) / (2.0 * gamma);
    let tangent = 1.0f64.copysign(zeta) / (zeta.abs() + Float::sqrt(1.0 + zeta * zeta));
    let cosine = 1.0 / Float::sqrt(1.0 + tangent * tangent);
    for (x, y) in a.iter_mut().zip(b) {
        let (p, q) = (*x, *y);
        *x = cosine * (p - tangent * q);
        *y = cosine * (q + tangent * p);
    }
    true
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len());
        let scale = want[0];
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 4e-15 * scale), "{got:?}, not {want:?}");
    }

    #[test]
    fn known_matrices_have_their_values() {
        // The golden ratio and its reciprocal.
        let golden = (1.0 + Float::sqrt(5.0f64)) / 2.0;
        close(&singular_values(&[1.0, 0.0, 1.0, 1.0], 2), &[golden, golden - 1.0]);
        // A^T A = ((5, 4), (4, 5)), with eigenvalues 9 and 1.
        close(&singular_values(&[1.0, 2.0, 2.0, 1.0], 2), &[3.0, 1.0]);
        close(&singular_values(&[4.0, 3.0, 0.0, -5.0], 2), &[Float::sqrt(40.0f64), Float::sqrt(10.0f64)]);
        // Three rows of one column.
        close(&singular_values(&[1.0, 2.0, 2.0], 3), &[3.0]);
    }

    #[test]
    fn turned_axes_and_lost_directions_are_found() {
        // 5 u v^T for unit vectors u and v: one value, and zeros.
        let (u, v) = ([0.6, 0.8, 0.0], [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]);
        let one: Vec<f64> = v.iter().flat_map(|v| u.map(|u| 5.0 * u * v)).collect();
        close(&singular_values(&one, 3), &[5.0, 0.0, 0.0]);
        assert_eq!(singular_values(&[0.0; 4], 2), [0.0, 0.0]);
        // Numbers whose squares are past every number.
        close(&singular_values(&[3e200, 0.0, 0.0, 4e200], 2), &[4e200, 3e200]);
    }

    #[test]
    fn the_squares_of_the_values_sum_to_those_of_the_cells() {
        let cells: Vec<f64> = (0..36).map(|i| crate::num::float::sin(f64::from(i * i) + 0.3)).collect();
        let values = singular_values(&cells, 6);
        assert!((inner(&values, &values) - inner(&cells, &cells)).abs() < 1e-13);
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
    }
}
