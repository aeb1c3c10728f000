//! Terminal commands of the words room.

mod export;
mod generate;
mod versus;

use crate::host::Machine;
use crate::shell::{Emit, Rival, RoomShell, RoomVerb, verb};
use anyhow::Result;
use bench::Figure;
use run::protocol::Config;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use super::versus::{MODES, Rival, SHAPES, fastest, python};
}

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "words"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<export::ExportArgs>(), verb::<generate::GenerateArgs>()]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse train words --print-config > run.toml; hothouse train --config run.toml --seed 2
  hothouse export words run.safetensors > vocab.json   write the tokenizer, for --vocab of another run
  hothouse generate words run.safetensors --prompt \"One day, \"   generate text with a trained model
  hothouse bench words --versus pytorch      compare training steps with an installed PyTorch
",
            "",
        ]
    }

    fn rival(&self) -> Option<Rival> {
        Some(Rival { name: "pytorch", check: versus::check })
    }

    fn bench(&self, versus: bool, measured: &[Figure], machine: &Machine, emit: Emit) -> Result<()> {
        if versus { versus::bench(measured, machine, emit) } else { Ok(()) }
    }

    fn out_of_reach(&self, config: &Config) -> Option<&'static str> {
        config
            .data
            .is_some()
            .then_some("The goal depends on the entropy floor, which is unknown for user data, so --until-solved cannot end this run.")
    }
}
