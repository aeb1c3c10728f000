//! What is steady allocates nothing, on any thread of a pool: each test counts what its own threads do. Native only, as pools are.
#![cfg(not(target_arch = "wasm32"))]

mod control;
mod cube;
mod dqn;
mod logic;
mod published;
mod strong;
mod words;

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;
