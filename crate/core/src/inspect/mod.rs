//! Questions to ask of traces.

mod diff;

pub use diff::{Diff, RowChange, RowSummary, StageChange};
