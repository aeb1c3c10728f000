//! A model is a graph, built once for fixed shapes, planned once and run many times.
//!
//! All tensors are two-dimensional, `[rows, cols]`. A [`Graph`] is a list of nodes; [`Graph::gradients`] appends the backward nodes of a
//! loss. A [`Plan`] fuses nodes into kernels and places every tensor in one arena, according to the tensor's lifetime. An [`Executor`] runs
//! the kernels of the plan and allocates nothing. The parameters, the gradients and each of the optimiser's two moments are contiguous
//! slices. This crate contains no environments, learners, clocks or file access.
//!
//! ```
//! use graph::{Adam, Executor, Graph, Init, Isa, Layout, Optimizer, Packed, Params, Plan};
//! use std::sync::Arc;
//!
//! let isa = Isa::best();
//! let mut g = Graph::new();
//! let x = g.input("x", [64, 2]);
//! let target = g.input("target", [64, 1]);
//! let h = g.dense(x, "net.0", 32, Init::Orthogonal(2f32.sqrt()));
//! let h = g.tanh(h);
//! let y = g.dense(h, "net.1", 1, Init::Orthogonal(1.0));
//! let error = g.sub(y, target);
//! let error = g.square(error);
//! let loss = g.mean_all(error);
//! let gradients = g.gradients(loss);
//!
//! let plan = Arc::new(Plan::training(&g, &[("loss", loss)], &gradients, isa)?);
//! let mut params = Params::new(g.table(), 1);
//! let mut packed = Packed::new(&plan, &params);
//! let mut executor = Executor::new(&plan);
//! let mut optimizer = Optimizer::new(&params);
//! let mut grads = vec![0.0; params.values().len()];
//! let adam = Adam { lr: 0.01, max_grad_norm: 0.5, ..Adam::default() };
//! let mut losses = Vec::new();
//! for step in 0..200 {
//!     for row in 0..64 {
//!         let (a, b) = ((row % 8) as f32 / 8.0, (row / 8) as f32 / 8.0);
//!         executor.input_mut("x")[2 * row..][..2].copy_from_slice(&[a, b]);
//!         executor.input_mut("target")[row] = a * b;
//!     }
//!     executor.train(&params, &packed, &mut grads, false);
//!     losses.push(executor.output("loss")[0]);
//!     optimizer.step(isa, &adam, &mut params, &grads);
//!     packed.pack(&params);
//! }
//! assert!(losses[199] < 0.05 * losses[0], "{} -> {}", losses[0], losses[199]);
//!
//! // A second graph with the same parameters and another batch size, for inference. Equal names refer to the same parameters.
//! let mut g = Graph::like(&g);
//! let x = g.input("x", [1024, 2]);
//! let h = g.dense(x, "net.0", 32, Init::Zeros);
//! let h = g.tanh(h);
//! let y = g.dense(h, "net.1", 1, Init::Zeros);
//! let plan = Arc::new(Plan::new(&g, &[("y", y)], Layout::Panels, isa)?);
//! let packed = Packed::new(&plan, &params);
//! let mut executor = Executor::new(&plan);
//! executor.input_mut("x").fill(0.5); // in panels: [1024/32][2][32]
//! executor.run(&params, &packed);
//! assert!((executor.output("y")[0] - 0.25).abs() < 0.1);
//! # Ok::<(), graph::PlanError>(())
//! ```
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

mod exec;
#[cfg(feature = "export")]
pub mod export;
mod gradients;
mod graph;
mod layers;
pub mod models;
mod op;
mod optimizer;
mod params;
mod plan;
pub mod reference;
mod shape;

pub use exec::{Executor, Operation, Packed};
pub use gradients::Gradients;
pub use graph::{Graph, NodeId};
pub use layers::Layer;
pub use math::{Act, Isa, PANEL, panels_len};
pub use op::Sums;
pub use optimizer::{Adam, Optimizer};
pub use params::{Init, ParamSpec, Params, Table};
pub use plan::{Call, ColumnSpan, Layout, Life, NARROW, Place, Plan, PlanError, PlanNode, Port, Step, arrange};
pub use shape::Shape;

/// Items for this crate's own tests.
#[cfg(feature = "export")]
#[doc(hidden)]
pub mod internals {
    pub use crate::export::base64::encoded;
    pub use crate::export::protobuf::Message;
}
