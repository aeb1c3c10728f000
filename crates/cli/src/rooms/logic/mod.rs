//! Terminal commands of the logic room.

mod circuit;
mod export;
mod run;

use crate::shell::{RoomShell, RoomVerb, verb};

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "logic"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<run::RunArgs>(), verb::<export::ExportArgs>()]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse run logic life --grid 4096x4096 --steps 100   run a circuit on a grid, one bit per cell
  hothouse export logic run.safetensors --format svg --out circuit.svg   formats: svg, json, verilog, rust
",
            "",
        ]
    }
}
