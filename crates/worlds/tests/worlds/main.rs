//! The tests of the worlds crate in one binary. The counting allocator counts per thread, so tests in other threads do not affect a count.

#[cfg(not(target_arch = "wasm32"))] // too slow
mod allocation;
mod backgammon;
mod backgammon_cube;
mod backgammon_ids;
mod backgammon_notation;
mod classic;
mod cube;
mod fleet;
#[cfg(not(target_arch = "wasm32"))]
mod fuzz;
mod lunar_lander;
mod many;
mod numbers;
mod point;
mod poles;
mod recorded;
#[cfg(not(target_arch = "wasm32"))]
mod script_advice;
#[cfg(not(target_arch = "wasm32"))]
mod script_checks;
mod script_fleet;
mod script_golden;
#[cfg(not(target_arch = "wasm32"))]
mod script_kinds;
#[cfg(not(target_arch = "wasm32"))]
mod script_lanes;
#[cfg(not(target_arch = "wasm32"))]
mod script_messages;
#[cfg(not(target_arch = "wasm32"))]
mod script_parser;
mod words;

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
