//! Options by name, as JavaScript and files write them, to and from a configuration.

mod fill_in;
mod given;
mod parse;
mod parts;
mod value;

pub use fill_in::fill_in;
pub use parse::parse;
pub use value::{Options, Seed, Value};
