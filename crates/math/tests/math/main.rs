//! Tests of the math crate in one binary. The guarded allocator detects writes beyond a kernel's buffers.

#[cfg(target_arch = "x86_64")]
mod bf16;
mod buffers;
mod graded;
mod kernels;
mod logic;
mod numbers;
mod packed;
#[cfg(feature = "rivals")]
mod rivals;
mod rounds;
mod shuffle;

#[cfg(not(any(miri, target_arch = "wasm32")))]
#[global_allocator]
static GUARDED: testkit::Guarded = testkit::Guarded;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
