//! Clock of the worker that contains the run, and of the worker's threads.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now_ms() -> f64;
}

/// Returns the time in seconds since the start of the calling worker or thread.
pub fn now_s() -> f64 {
    1e-3 * now_ms()
}
