//! The cube: searches and both kinds of learners, here and on another machine.

mod dqn;
mod offload;
mod supervised;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
