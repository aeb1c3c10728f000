//! The logic room's own verbs in the terminal.

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
  hothouse run logic life --grid 4096x4096 --steps 100   a circuit on a grid, a bit a cell
  hothouse export logic run.safetensors --format svg --out circuit.svg   also json, verilog, rust
",
            "",
        ]
    }
}
