//! The 2x2x2 and the 3x3x3 cube: states, turns of faces, network inputs, notation, facelet strings, and the exact distance of every state
//! of the 2x2x2.
//!
//! A cubie is a piece in an orientation. Its code is a byte: the number of the piece, plus `twist * 8` for a corner or `flip * 12` for an
//! edge. A state is described by the code of the cubie at each place. A turn of a face permutes these codes and adds to them modulo 24. The
//! numbers of pieces, places and orientations are those of Kociemba. Two sources determine all tables: the names of the places, and two
//! neighbours of each face, the face above and the face to the right.
//!
//! A metric defines which turns count as one move. An action is the index of a turn. Quarter turns come first in both metrics, so the first
//! outputs of a network have the same meaning in both metrics.
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
