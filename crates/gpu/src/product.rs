//! Matrix product with its epilogue, c = act(a·b + bias + residual), as one kernel; or, with few tiles and many k, as two: partial sums by
//! stretches of k, then their sum in a fixed order.
//!
//! A product specifies the offsets and strides of its factors. A rule, or the measurements of [`Gpu::tune`](crate::Gpu::tune) on this
//! adapter, decides the tile, and `product/codegen.rs` generates the text. A program keeps its tiles. The tile does not affect the bits:
//! all candidates add each number's k in the same order, and the stretches of a split product are those of the rule's tile.

mod codegen;
mod dispatch;
mod shape;
mod tune;

pub use dispatch::{product_by, products};
pub use shape::{Product, Side};
pub use tune::{Timing, noise};
#[cfg(not(target_family = "wasm"))]
pub use tune::{product_rounds_s, rounds_s};
