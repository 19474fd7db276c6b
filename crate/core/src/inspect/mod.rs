//! Questions to ask of traces.

mod describe;
mod diff;

pub use describe::{describe, Description};
pub use diff::{Diff, RowChange, RowSummary, StageChange};
