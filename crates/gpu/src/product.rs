//! Matrix product with its epilogue, c = act(a·b + bias + residual), as one kernel. If c has few tiles and k is large, there are two
//! kernels: the first computes partial sums over ranges of k, and the second adds up the partial sums in a fixed order.
//!
//! A [`Product`] specifies the offsets and strides of its factors. The tile comes from a rule, or from the measurements of
//! [`Gpu::tune`](crate::Gpu::tune) on this adapter. `product/codegen.rs` generates the text for the tile. Later measurements do not change
//! the tiles of an existing program. The tile does not affect the bits of c: all candidate tiles add the terms of an element of c in the
//! same order, and the rule's tile always determines the ranges of k.

mod codegen;
mod dispatch;
mod shape;
mod tune;

pub use dispatch::{append, product_by, products};
pub use shape::{Product, Side};
pub use tune::{Timing, noise};
#[cfg(not(target_family = "wasm"))]
pub use tune::{product_rounds_s, rounds_s};
