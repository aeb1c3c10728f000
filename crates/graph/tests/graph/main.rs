//! The tests of the graph crate, one binary: they share small nets, and one of them counts allocations.

mod golden;
mod memory;
mod nets;
mod ops;
mod params;
mod pieces;
mod plans;
mod threads;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
