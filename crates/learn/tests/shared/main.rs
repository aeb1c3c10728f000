//! What learners of all rooms share: work on other machines, faults, and memory that is reckoned.

mod fault;
mod offload;
mod reckoned;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
