//! The equations alone, on slices: no configuration, no parameters by name, no trace.

mod activation;
mod norm;
mod position;
mod softmax;

pub use activation::Activation;
pub use norm::layer_norm;
pub use position::sinusoid;
pub use softmax::softmax;
