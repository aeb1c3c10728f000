//! Description of the transformer for the export to other programs.

use crate::export::Described;
use learn::words::Pretrainer;

const TOKENS: &str = "`hothouse export words CHECKPOINT` writes the tokenizer, which converts a text to tokens.";

pub fn described(learner: &Pretrainer) -> Described {
    Described { model: learner.exported(), remarks: vec![TOKENS.into()] }
}
