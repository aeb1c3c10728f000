//! The matrix product with what follows it, c = act(a·b + bias + residual), as one kernel; or, where there are few
//! tiles and many k, as two: partial sums by stretches of k, then their sum in a fixed order.
//!
//! A product names where its factors lie and by which strides; which tile computes it is decided here, by a rule or by
//! what [`Gpu::tune`](crate::Gpu::tune) measured on this adapter, and its text is made in `product/codegen.rs`. A tile is
//! decided when a program is built and stays for as long as that program lives. No bit depends on it: the tiles to choose
//! from add each number's k in the same order, and the stretches of a product that is split are those of the rule's tile.

mod codegen;
mod dispatch;
mod shape;
mod tune;

pub use dispatch::{product_by, products};
pub use shape::{Product, Side};
pub use tune::{Timing, noise};
#[cfg(not(target_family = "wasm"))]
pub use tune::{product_rounds_s, rounds_s};
