//! The WebAssembly module of the page with the additional room `bandit`.

pub use web;

#[wasm_bindgen::prelude::wasm_bindgen(start)]
fn start() {
    crate::add();
}
