//! The matrix product: the one loop that all projections run through.

use super::Float;

/// `out[t, j] = sum over i of x[t, i] * w[i, j]`, for each row t.
///
/// # Shapes
/// `x` T,I; `w` I,J; `out` T,J, all row-major. T is what the lengths say.
///
/// # Numerics
/// Every sum starts at 0 and takes its terms in the order of i, whatever T and J are, and no multiply-add is
/// fused: so a row's bits depend on that row and `w` alone. Going through j innermost lets a compiler use
/// vector registers without changing that order.
///
/// # Panics
/// When the lengths do not fit each other.
///
/// ```
/// # use glassformer::num::multiply;
/// let mut out = [0.0; 2];
/// multiply(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], 2, 2, &mut out); // (1 2) times ((3 4) (5 6))
/// assert_eq!(out, [13.0, 16.0]);
/// ```
pub fn multiply<F: Float>(x: &[F], w: &[F], inputs: usize, outputs: usize, out: &mut [F]) {
    assert_eq!(w.len(), inputs * outputs);
    assert_eq!(x.len() * outputs, out.len() * inputs);
    for (x_row, out_row) in x.chunks_exact(inputs).zip(out.chunks_exact_mut(outputs)) {
        out_row.fill(F::ZERO);
        for (&x_i, w_row) in x_row.iter().zip(w.chunks_exact(outputs)) {
            add_scaled(x_i, w_row, out_row);
        }
    }
}

/// `out[j] += a * x[j]`.
#[inline]
pub(crate) fn add_scaled<F: Float>(a: F, x: &[F], out: &mut [F]) {
    for (o, &x_j) in out.iter_mut().zip(x) {
        *o += a * x_j;
    }
}

/// The inner product, its terms added in order, from 0.
#[inline]
pub(crate) fn dot<F: Float>(a: &[F], b: &[F]) -> F {
    let mut sum = F::ZERO;
    for (&x, &y) in a.iter().zip(b) {
        sum += x * y;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_equals_the_definition_to_the_bit() {
        let (t, i, j) = (3, 5, 4);
        let x: alloc::vec::Vec<f64> = (0..t * i).map(|n| (n as f64 * 0.7).sin_like()).collect();
        let w: alloc::vec::Vec<f64> = (0..i * j).map(|n| (n as f64 * 1.3).sin_like()).collect();
        let mut out = alloc::vec![f64::NAN; t * j];
        multiply(&x, &w, i, j, &mut out);
        for row in 0..t {
            for col in 0..j {
                let mut sum = 0.0;
                for k in 0..i {
                    sum += x[row * i + k] * w[k * j + col];
                }
                assert_eq!(out[row * j + col].to_bits(), sum.to_bits());
            }
        }
    }

    trait SinLike {
        fn sin_like(self) -> f64;
    }
    impl SinLike for f64 {
        fn sin_like(self) -> f64 {
            super::super::float::sin(self)
        }
    }
}
