//! Network inputs, computed on the GPU; shared by the kernels of leaves and of training.

use crate::text::Text;
use learn::Fault;
use learn::backgammon::published::accelerator::{DECISION_WORDS, PACKED_SAMPLE_WORDS};
use learn::backgammon::published::{ACTIONS, HEADS, INPUTS};

/// Prepends the constants and functions for the inputs of decisions to a kernel's text.
pub fn with_inputs(text: &str) -> String {
    let constants = Text::default().words(&[
        ("INPUTS", INPUTS),
        ("ACTIONS", ACTIONS),
        ("HEADS", HEADS),
        ("DECISION_WORDS", DECISION_WORDS),
        ("PACKED_SAMPLE_WORDS", PACKED_SAMPLE_WORDS),
        ("SAMPLE_WORDS", PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32)),
    ]);
    constants.add(include_str!("inputs.wgsl")).add(text).text
}

pub fn refused(why: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: why.to_string() }
}
