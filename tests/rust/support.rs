//! What the tests share: tolerances, and digests of bits that must be the same everywhere.

mod digest;
pub mod tolerance;

pub use digest::{digest_of, stream_digest, trace_digest, Digest, STREAM_DIGESTS, TRACE_DIGESTS};
