//! Backgammon: its learners, who plays for them, and what else judges a position.

mod arena;
mod bearoff;
mod offload;
mod published;
mod search;
mod shared;
mod strong;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
