//! What the tests share: tolerances, and digests of bits that must be the same everywhere.

mod digest;
mod picker;
pub mod tolerance;

use glassformer::config::{Config, Init};
use glassformer::math::Activation;

pub use digest::{
    digest_of, family_digest, stream_digest, trace_digest, Digest, FAMILY_DIGESTS, STREAM_DIGESTS,
    TRACE_DIGESTS,
};
pub use picker::Picker;

/// The block of the lesson that is written in Rust.
pub fn rustlab_block() -> Config {
    Config {
        n_model: 8,
        n_heads: 2,
        n_hidden: 32,
        activation: Activation::GeluTanh,
        init: Init::Rustlab,
        final_norm: false,
        ..Config::new(0)
    }
}
