//! Clock of the worker and its threads.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now_ms() -> f64;
}

/// Time in seconds, on any thread of the worker.
pub fn now_s() -> f64 {
    1e-3 * now_ms()
}
