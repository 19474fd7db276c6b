//! Questions to ask of traces.

mod describe;
mod diff;
mod explain;
mod facts;
mod formula;
mod lens;
mod perturb;
mod residual;

pub use describe::{describe, Description};
pub use diff::{Diff, RowChange, RowSummary, StageChange};
pub use explain::{Explanation, Factor, Of, Op, Term};
pub use lens::LogitContributions;
pub use perturb::{Bump, Response, RowResponse, StageResponse};
pub use residual::ResidualPart;
