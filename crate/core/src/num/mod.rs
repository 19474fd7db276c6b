//! Numbers: the two floating-point types, numbers that carry their derivative, the matrix product, random streams.

mod dual;
pub(crate) mod float;
mod product;
pub mod random;

pub(crate) use dual::Dual;
pub use float::{DType, Float};
pub use product::multiply;
pub(crate) use product::{add_scaled, dot};
