//! Rooms of this WebAssembly module. Each module of the page contains the code of one room, selected by one feature. A visit therefore
//! loads only the code of its own room.
// The test room has its own start function, so this file is empty without a feature.
#![cfg(any(feature = "control", feature = "own", feature = "backgammon", feature = "cube", feature = "logic", feature = "words"))]

use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() {
    // Every thread of the pool calls this function too, but only the first call adds the room.
    if !run::rooms().is_empty() {
        return;
    }
    // The control room has two modules. Only the module with the feature `own` contains the compiler of environment files, so that the
    // other module, which loads first, stays small.
    #[cfg(feature = "own")]
    add::<run::control::Control<run::control::Compiles>>(gpu::control::special);
    #[cfg(all(feature = "control", not(feature = "own")))]
    add::<run::control::Control<run::control::Refuses>>(gpu::control::special);
    #[cfg(feature = "backgammon")]
    add::<run::backgammon::Backgammon>(gpu::backgammon::special);
    // The cube room has no special GPU kernels.
    #[cfg(feature = "cube")]
    add::<run::cube::Cube>(|_, _| None);
    #[cfg(feature = "logic")]
    add::<run::logic::Logic>(gpu::logic::special);
    // The words room has no special GPU kernels.
    #[cfg(feature = "words")]
    add::<run::words::Words>(|_, _| None);
}

fn add<R: run::room::Room>(special: gpu::Special) {
    run::add_room(&run::Entry::<R>::NEW);
    gpu::add_special(special);
}
