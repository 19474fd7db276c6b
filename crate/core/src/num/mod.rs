//! Numbers: the two floating-point types, the matrix product, random streams.

pub(crate) mod float;
mod product;
pub mod random;

pub use float::{DType, Float};
pub use product::multiply;
pub(crate) use product::{add_scaled, dot};
