//! Questions to ask of traces and models.

mod count;
mod describe;
mod diff;
mod entropy;
mod facts;
mod formula;
mod gain;
mod norms;

pub use count::{count, BlockCount, Count, CrossCount, Crossovers, FlopCount, ParameterCount};
pub use describe::{describe, Description};
pub use diff::{Diff, RowChange, RowSummary, StageChange};
pub use entropy::Entropy;
pub use norms::{NormKind, Norms};
