//! Tests of logic automata: their wires, their experiments, their training and their circuits.

mod automaton;
mod check;
mod circuit;
mod experiment;
mod offload;
mod wirings;
