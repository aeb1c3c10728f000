//! The time.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now_ms() -> f64;
}

/// The worker's clock, on any of its threads.
pub fn now_s() -> f64 {
    1e-3 * now_ms()
}
