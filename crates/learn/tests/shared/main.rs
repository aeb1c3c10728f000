//! Tests that concern the learners of all rooms: offloading, faults and memory estimates.

mod estimates;
mod fault;
mod offload;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
