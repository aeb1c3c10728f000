//! The PPO learner of the control room and its training.

mod learning;
mod ppo;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
