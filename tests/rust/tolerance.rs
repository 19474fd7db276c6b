//! Every tolerance there is, with its reason.

/// Lesson traces were computed by NumPy, whose matrix product sums in another order: the golden files' own.
pub const LESSON_RTOL: f64 = 1e-11;
/// As [`LESSON_RTOL`], for numbers near 0.
pub const LESSON_ATOL: f64 = 1e-12;
/// The lesson's gains are singular values of a Jacobian by forward differences of 1e-5, good to six digits.
pub const LESSON_GAIN_RTOL: f64 = 1e-6;
