//! What the kernels of leaves and of training share: the network's inputs, made on the device.

use learn::Fault;
use learn::backgammon::published::accelerator::{DECISION_WORDS, PACKED_SAMPLE_WORDS};
use learn::backgammon::published::{ACTIONS, HEADS, INPUTS};

/// The text of a kernel that makes inputs of decisions, after what it has to know.
pub fn with_inputs(text: &str) -> String {
    let mut whole = String::new();
    for (name, value) in [
        ("INPUTS", INPUTS),
        ("ACTIONS", ACTIONS),
        ("HEADS", HEADS),
        ("DECISION_WORDS", DECISION_WORDS),
        ("PACKED_SAMPLE_WORDS", PACKED_SAMPLE_WORDS),
        ("SAMPLE_WORDS", PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32)),
    ] {
        whole += &format!("const {name} = {value}u;\n");
    }
    whole + include_str!("inputs.wgsl") + text
}

pub fn refused(why: impl std::fmt::Display) -> Fault {
    Fault::Refused { why: why.to_string() }
}
