//! Questions to ask of traces.

mod describe;
mod diff;
mod facts;
mod formula;

pub use describe::{describe, Description};
pub use diff::{Diff, RowChange, RowSummary, StageChange};
