//! From token ids, or a caller's rows, to what enters the first block.

use crate::math::sinusoid;
use crate::num::Float;
use crate::stage::{Kind, Stage};
use crate::trace::Pass;

/// Token rows of the table (V,D) plus position rows.
pub(crate) fn embed<F: Float>(pass: &mut Pass<'_, F>, table: &[F], width: usize, tokens: &[u32]) {
    let first = pass.first();
    let [embedding, position, positioned] =
        [Kind::Embedding, Kind::Position, Kind::Positioned].map(|kind| Stage::new(kind, 0));
    pass.step(embedding, |_, out| {
        for (row, &token) in out.chunks_exact_mut(width).zip(tokens) {
            row.copy_from_slice(&table[token as usize * width..][..width]);
        }
    });
    pass.step(position, |_, out| {
        for (t, row) in out.chunks_exact_mut(width).enumerate() {
            sinusoid(first + t, row);
        }
    });
    pass.step(positioned, |earlier, out| {
        add(earlier.rows(embedding), earlier.rows(position), out);
    });
}

/// A caller's rows, as they are.
pub(crate) fn given<F: Float>(pass: &mut Pass<'_, F>, rows: &[F]) {
    pass.step(Stage::new(Kind::Positioned, 0), |_, out| out.copy_from_slice(rows));
}

/// `out = a + b`, cell by cell.
pub(crate) fn add<F: Float>(a: &[F], b: &[F], out: &mut [F]) {
    for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *o = a + b;
    }
}
