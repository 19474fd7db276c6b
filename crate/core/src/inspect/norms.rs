//! How long the rows of the residual stream are, and what each branch adds to them.

use crate::error::Error;
use crate::memory::{reserved, zeroed};
use crate::num::Float;
use crate::stage::{Kind, Stage};
use crate::trace::Trace;
use alloc::vec::Vec;

/// Whether rows are the stream's or a branch's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormKind {
    /// The residual stream.
    Stream,
    /// What a branch contributes to it.
    Branch,
}

impl NormKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            NormKind::Stream => "stream",
            NormKind::Branch => "branch",
        }
    }
}

/// The lengths of one stage's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Norms {
    /// The stage.
    pub stage: Stage,
    /// What its rows are.
    pub kind: NormKind,
    /// T numbers: each row's L2 norm.
    pub norms: Vec<f64>,
    /// Of a branch T numbers: its norm over that of the stream as it was before the branch.
    pub ratios: Option<Vec<f64>>,
}

impl<F: Float> Trace<F> {
    /// The L2 norm of each row of the residual stream, from `positioned` to the last `hidden`, and of each branch's
    /// contribution, in execution order.
    ///
    /// A branch's ratio is its norm over that of the stream it is added to: of attention what enters the block, of the
    /// feed-forward branch what stands behind the attention branches (of parallel branches too). Without residual
    /// connections, and of post-norm blocks, it is the same stream, before the sum and its norm.
    ///
    /// # Shapes
    /// Each list has as many numbers as its stage has rows.
    ///
    /// # Numerics
    /// In float64, whatever the trace is of; squares are added in the order of the coordinates. Over a stream of zeros a
    /// ratio is infinite, or NaN where the branch is zero too.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// ```
    /// # use glassformer::{config::Config, model::CausalLanguageModel};
    /// let model = CausalLanguageModel::<f64>::from_seed(&Config::new(7), 7)?;
    /// let norms = model.respond_to(&[0, 1, 2])?.norms()?;
    /// assert_eq!(norms[1].stage.name(), "blocks.0.attention.output");
    /// assert_eq!(norms[1].ratios.as_ref().map(|ratios| ratios[2] == norms[1].norms[2] / norms[0].norms[2]), Some(true));
    /// # Ok::<(), glassformer::error::Error>(())
    /// ```
    pub fn norms(&self) -> Result<Vec<Norms>, Error> {
        let stages = self.stages().iter().filter_map(|&stage| Some((stage, kind_of(stage)?)));
        let mut out: Vec<Norms> = reserved("the norms", stages.clone().count() as f64)?;
        // The stream as it stood last: what the next branch is added to.
        let mut stream: Option<usize> = None;
        for (stage, kind) in stages {
            let rows = self.plan().rows(stage, self.lengths());
            let mut norms = zeroed("the norms", rows as f64)?;
            for (t, norm) in norms.iter_mut().enumerate() {
                *norm = length(self.row(stage, t));
            }
            let ratios = match (kind, stream) {
                (NormKind::Branch, Some(at)) => {
                    let mut ratios: Vec<f64> = reserved("the norms", rows as f64)?;
                    ratios.extend(norms.iter().zip(&out[at].norms).map(|(branch, stream)| branch / stream));
                    Some(ratios)
                }
                _ => None,
            };
            if kind == NormKind::Stream {
                stream = Some(out.len());
            }
            out.push(Norms { stage, kind, norms, ratios });
        }
        Ok(out)
    }
}

fn kind_of(stage: Stage) -> Option<NormKind> {
    match stage.kind {
        Kind::Positioned | Kind::AfterAttention | Kind::AfterCrossAttention | Kind::Hidden => {
            Some(NormKind::Stream)
        }
        Kind::AttentionOutput | Kind::CrossOutput | Kind::FeedForwardOutput => Some(NormKind::Branch),
        _ => None,
    }
}

/// The root of the sum of squares.
fn length<F: Float>(row: &[F]) -> f64 {
    let squares = |scale: f64| {
        row.iter().fold(0.0, |sum, x| {
            let x = x.to_f64() / scale;
            sum + x * x
        })
    };
    let plain = squares(1.0);
    if plain.is_finite() && plain >= f64::MIN_POSITIVE {
        return Float::sqrt(plain);
    }
    // Squares that are past the largest number, or below the smallest: taken of the numbers over the largest of them.
    let largest = row.iter().fold(0.0, |largest: f64, x| largest.max(x.to_f64().abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * Float::sqrt(squares(largest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_neither_overflow_nor_vanish() {
        assert_eq!(length(&[3.0, 4.0]), 5.0);
        assert!((length(&[3e200, -4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert!((length(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert_eq!(length(&[0.0, -0.0]), 0.0);
        assert_eq!(length(&[3.0f32, 4.0]), 5.0);
    }
}
