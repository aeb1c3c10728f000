//! The rooms of this module: the page has a module for each (one feature), so that a visit loads no other's.
// The tests' own room begins by itself.
#![cfg(any(feature = "control", feature = "backgammon", feature = "cube", feature = "logic", feature = "words"))]

use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() {
    // Every thread of the pool begins here too.
    if !run::rooms().is_empty() {
        return;
    }
    #[cfg(feature = "control")]
    add::<run::control::Control>(gpu::control::special);
    #[cfg(feature = "backgammon")]
    add::<run::backgammon::Backgammon>(gpu::backgammon::special);
    // It has no kernels of its own.
    #[cfg(feature = "cube")]
    add::<run::cube::Cube>(|_, _| None);
    #[cfg(feature = "logic")]
    add::<run::logic::Logic>(gpu::logic::special);
    // Nor has this one.
    #[cfg(feature = "words")]
    add::<run::words::Words>(|_, _| None);
}

fn add<R: run::room::Room>(special: gpu::Special) {
    run::add_room(&run::Entry::<R>::NEW);
    gpu::add_special(special);
}
