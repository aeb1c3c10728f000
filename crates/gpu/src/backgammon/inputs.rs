//! WGSL text that computes the network's inputs. The kernels for leaves and for training share this text.

use crate::shader::include_wgsl;
use crate::text::Text;
use learn::Fault;
use learn::backgammon::published::accelerator::{DECISION_WORDS, PACKED_SAMPLE_WORDS};
use learn::backgammon::published::{ACTIONS, HEADS, INPUTS};

/// Returns a kernel's text, preceded by the constants and functions that compute the inputs of a decision.
pub fn with_inputs(text: &str) -> String {
    let constants = Text::default().words(&[
        ("INPUTS", INPUTS),
        ("ACTIONS", ACTIONS),
        ("HEADS", HEADS),
        ("DECISION_WORDS", DECISION_WORDS),
        ("PACKED_SAMPLE_WORDS", PACKED_SAMPLE_WORDS),
        ("SAMPLE_WORDS", PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32)),
    ]);
    constants.add(include_wgsl!("inputs.wgsl")).add(text).text
}

pub fn refused(why: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: why.to_string() }
}
