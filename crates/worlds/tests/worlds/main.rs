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
mod grammar;
mod logic;
mod lunar_lander;
mod many;
mod numbers;
mod numpy;
mod point;
mod poles;
mod recorded;
mod rigid;
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
mod script_limits;
#[cfg(not(target_arch = "wasm32"))]
mod script_lists;
#[cfg(not(target_arch = "wasm32"))]
mod script_messages;
#[cfg(not(target_arch = "wasm32"))]
mod script_operations;
#[cfg(not(target_arch = "wasm32"))]
mod script_parser;
#[cfg(not(target_arch = "wasm32"))]
mod script_parts;
mod words;

/// Returns the instruction sets of long tests whose result is the same on every set. `npm test -- --all` covers all sets of this machine.
pub fn sets() -> Vec<math::Isa> {
    let mut sets = math::Isa::available();
    if !testkit::all() {
        // The sets are sorted by speed. The last set is the portable one.
        sets.drain(1..sets.len().max(2) - 1);
    }
    sets
}

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
