//! The 2x2x2 and the 3x3x3 cube: states, turns of faces, network inputs, notation, facelet strings, and the exact distance of every state
//! of the 2x2x2.
//!
//! A state has one byte per place, the code of the cubie at this place: the number of the piece plus its orientation (`twist * 8` for a
//! corner, `flip * 12` for an edge). A turn of a face is then a permutation of bytes and an addition modulo 24. Pieces, places and
//! orientations are numbered as by Kociemba. All tables are derived from the names of the places and from two neighbours of each face, the
//! face above and the face to the right.
//!
//! An action is the index of a turn. Quarter turns come first in both metrics, so the first outputs of a network have the same meaning in
//! both metrics.
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
