//! Description of the transformer for the export to other programs.

use super::knobs::Precision;
use crate::export::{Described, agreement};
use learn::words::Pretrainer;

const TOKENS: &str = "`hothouse export words CHECKPOINT` writes the tokenizer, which converts a text to tokens.";

pub fn described(learner: &Pretrainer, precision: Precision) -> Described {
    let rounded = match precision {
        Precision::F32 | Precision::F16 => None,
        Precision::Bf16 | Precision::Amx => Some(format!(
            "The run computes products in bf16, which keeps 8 bits of each factor. The logits of its own texts and tests differ from those \
             of this model by less than {} of the largest logit.",
            agreement::BF16
        )),
    };
    Described { model: learner.exported(), remarks: std::iter::once(TOKENS.into()).chain(rounded).collect() }
}
