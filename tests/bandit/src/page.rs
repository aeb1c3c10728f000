//! The page's module with one room more.

pub use web;

#[wasm_bindgen::prelude::wasm_bindgen(start)]
fn start() {
    crate::add();
}
