//! Matrix product with its epilogue, c = act(a·b + bias + residual), as one kernel. With few tiles and many k, there are two kernels: the
//! first computes partial sums over stretches of k, the second adds these in a fixed order.
//!
//! A [`Product`] specifies the offsets and strides of its factors. The tile comes from a rule, or from the measurements of
//! [`Gpu::tune`](crate::Gpu::tune) on this adapter; `product/codegen.rs` generates the text for the tile. Later measurements do not change
//! the tiles of an existing program. The tile does not affect the bits: all candidates add each number's k in the same order, and the
//! stretches of a split product are those of the rule's tile.

mod codegen;
mod dispatch;
mod shape;
mod tune;

pub use dispatch::{product_by, products};
pub use shape::{Product, Side};
pub use tune::{Timing, noise};
#[cfg(not(target_family = "wasm"))]
pub use tune::{product_rounds_s, rounds_s};
