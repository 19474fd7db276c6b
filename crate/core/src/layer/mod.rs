//! The layers: each composes equations and announces its stages, in execution order.

pub(crate) mod attention;
pub(crate) mod block;
pub(crate) mod dense;
pub(crate) mod embed;
pub(crate) mod head;
