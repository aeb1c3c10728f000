//! Bounds of the differences between the results of an exported model and the results of Hothouse's own code. A difference is relative to
//! the largest absolute number of the output, or absolute if this number is below 1. The tests of exports and the model cards use these
//! bounds, and `docs/export.md` states them.

/// Bound for results that Hothouse computes in f32, the arithmetic of exported models. Runs with products in f16 also compute their results
/// in f32.
pub const F32: f64 = 1e-5;
/// Bound for results that a run with products in bf16 computes for itself. [`crate::AnyRun::examples`] are computed in f32.
pub const BF16: f64 = 0.05;
