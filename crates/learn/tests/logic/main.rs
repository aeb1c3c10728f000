//! Tests of logic automata: their training and their circuits.

mod automaton;
mod check;
mod circuit;
mod offload;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
