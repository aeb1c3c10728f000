//! The tests of the graph crate in one binary, because they share small nets. `memory` sets a counting allocator for
//! the whole binary.

#[cfg(feature = "export")]
mod export;
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
