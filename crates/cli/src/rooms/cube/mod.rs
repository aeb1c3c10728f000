//! The cube's own verbs in the terminal.

mod agent;
mod eval;
mod solve;

use crate::shell::{RoomShell, RoomVerb, verb};

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "cube"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<solve::SolveArgs>(), verb::<eval::EvalArgs>()]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse solve cube --scramble \"R U2 F'\"   by an agent that has learned it; --facelets, or - for many lines
  hothouse eval cube run.safetensors         greedy play from every state of the 2x2x2, and searches
",
            "",
        ]
    }
}
