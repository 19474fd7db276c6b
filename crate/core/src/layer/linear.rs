//! A row times a matrix, with a bias where there is one.

use crate::num::{multiply, Float};

/// `out[t,j] = Σ_i x[t,i] W[i,j] + b[j]`; the bias is added last, as PyTorch's definition has it.
pub(crate) fn linear<F: Float>(
    x: &[F],
    matrix: &[F],
    bias: Option<&[F]>,
    (inputs, outputs): (usize, usize),
    out: &mut [F],
) {
    multiply(x, matrix, inputs, outputs, out);
    if let Some(bias) = bias {
        for row in out.chunks_exact_mut(outputs) {
            for (cell, &b) in row.iter_mut().zip(bias) {
                *cell += b;
            }
        }
    }
}
