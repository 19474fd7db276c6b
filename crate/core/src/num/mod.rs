//! Numbers: floating-point types and random streams.
pub mod random;
