//! What the tests share: tolerances, and digests of bits that must be the same everywhere.

mod digest;
mod picker;
pub mod tolerance;

pub use digest::{
    digest_of, family_digest, stream_digest, trace_digest, Digest, FAMILY_DIGESTS, STREAM_DIGESTS,
    TRACE_DIGESTS,
};
pub use picker::Picker;
