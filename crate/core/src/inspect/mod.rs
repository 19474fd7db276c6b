//! Questions to ask of traces and models.

mod count;
mod describe;
mod diff;
mod entropy;
mod explain;
mod facts;
mod formula;
mod gain;
mod lens;
mod norms;
mod perturb;
mod residual;

pub use count::{count, BlockCount, Count, CrossCount, Crossovers, FlopCount, ParameterCount};
pub use describe::{describe, Description};
pub use diff::{Diff, RowChange, RowSummary, StageChange};
pub use entropy::Entropy;
pub use explain::{Explanation, Factor, Of, Op, Term};
pub use lens::LogitContributions;
pub use norms::{NormKind, Norms};
pub use perturb::{Bump, Response, RowResponse, StageResponse};
pub use residual::ResidualPart;
