//! Tests of properties that all learners have. Each test checks all cases, and a failure names its case.

#[cfg(not(target_arch = "wasm32"))]
mod allocation;
mod cases;
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
mod drawn;
#[path = "../../../worlds/tests/worlds/point.rs"]
mod point;
mod properties;
#[path = "../../../worlds/tests/worlds/rooms.rs"]
mod rooms;
mod subject;

#[cfg(not(target_arch = "wasm32"))]
#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
