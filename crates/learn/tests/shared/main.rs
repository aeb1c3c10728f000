//! What learners of all rooms share: work on other machines, faults, memory that is reckoned, and saves.

mod fault;
mod offload;
mod reckoned;
#[cfg(not(target_arch = "wasm32"))]
mod resume;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
