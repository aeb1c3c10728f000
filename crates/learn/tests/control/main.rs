//! Tests of the control room's PPO learner and its training.

mod faults;
mod learning;
mod masks;
mod numbers;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
mod ppo;
#[path = "../../../worlds/tests/worlds/rooms.rs"]
mod rooms;
mod script;
mod wide;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
