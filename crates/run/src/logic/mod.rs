//! The room where cellular automata of logic gates are learned: a population of them, their tests, and beside it grids that can be
//! damaged and the circuits that automata harden to.

pub mod protocol;
