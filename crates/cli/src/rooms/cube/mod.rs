//! Terminal commands of the cube room.

mod agent;
mod eval;
mod solve;

use crate::shell::{RoomShell, RoomVerb, verb};
use crate::verbs::export;

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "cube"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<solve::SolveArgs>(), verb::<eval::EvalArgs>(), export::verb(&["export", "cube"])]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse solve cube --scramble \"R U2 F'\"   solve with a trained agent; also --facelets, or - for many cubes
  hothouse eval cube run.safetensors         test greedy play on every state of the 2x2x2, and searches
",
            "",
        ]
    }
}
