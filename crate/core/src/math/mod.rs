//! The equations alone, on slices: no configuration, no parameters by name, no trace.

mod activation;
mod attention;
mod loss;
mod multi_head;
mod norm;
mod position;
mod rotary;
mod router;
mod singular;
mod softmax;

pub use activation::Activation;
pub use attention::{average_heads, mix, scores, weights, Sight};
pub use loss::cross_entropy;
pub use multi_head::{Attended, MultiHead, Projection};
pub use norm::{layer_norm, rms_norm, Affine, Frozen};
pub use position::{alibi_slopes, sinusoid, sinusoid_concatenated};
pub use rotary::{rotary_frequencies, rotate, Pairing, RotaryScaling};
pub(crate) use router::ranked;
pub use router::{squared_variation, Overflow, Router};
pub use singular::singular_values;
pub use softmax::{log_softmax, log_sum_exp, softmax};
