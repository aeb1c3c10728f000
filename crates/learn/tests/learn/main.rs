//! Tests of the learn crate in one binary, because each binary takes seconds to link. `conformance` tests the properties of all learners,
//! and `shared` tests parts that several learners use. A file or folder with the name of a room tests only that room.
//!
//! `COUNTING` counts allocations for `conformance`. The tests of memory estimates need a process of their own (`tests/memory.rs`).

mod backgammon;
mod conformance;
mod control;
mod cube;
mod decimal;
mod logic;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
#[path = "../../../worlds/tests/worlds/rooms.rs"]
mod rooms;
mod settings;
mod shared;
mod words;

#[cfg(not(target_arch = "wasm32"))]
#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
