//! The page's WebAssembly module with the bandit added to its rooms.

pub use web;

#[wasm_bindgen::prelude::wasm_bindgen(start)]
fn start() {
    crate::add();
}
