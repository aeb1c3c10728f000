//! The 2x2x2 and the 3x3x3 cube: states, turns of faces, what a network is shown of them, notation, facelet strings, and the exact
//! distance of every state of the 2x2x2.
//!
//! A cubie is one byte: which piece it is, and above that how it is turned (`twist * 8` at a corner, `flip * 12` at an edge), so
//! that a turn is a shuffle of bytes and a sum modulo 24. Pieces, places and their orientation are Kociemba's; every table
//! follows from which faces lie above and to the right of each, and his names of the places.
//!
//! An action is a number: the quarter turns come first in both metrics, so a network's outputs keep their meaning.
mod distance;
mod facelets;
mod fold;
mod moves;
pub mod notation;
mod pieces;
mod puzzle;
mod ranks;
mod symmetry;
mod three;
mod two;

pub use distance::Distances;
pub use facelets::{CubeError, Scheme, Typed, Why, turn_stickers};
pub use moves::{Metric, Move};
pub use notation::NotationError;
pub use pieces::{CODES, Face};
pub use puzzle::{Actions, Puzzle};
pub use three::Three;
pub use two::Two;
