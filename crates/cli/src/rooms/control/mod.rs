//! Terminal commands of the control room, and its picture.

mod bench;
mod env;
mod file;
mod picture;
mod play;
mod raster;
mod solve;

use crate::host::Machine;
use crate::outputs::screen::Picture;
use crate::shell::{Emit, RoomShell, RoomVerb, verb};
use crate::verbs::export;
use ::bench::Figure;
use anyhow::Result;
use run::control::{Control, TEST_EPISODES};
use run::protocol::{Row, Variant};
use run::{AnyRun, Host, Run};

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use super::picture::{Clip, Environments, Stretch};
    pub use super::play::{Game, Key};
    pub use super::raster::Raster;
}

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "control"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<solve::SolveArgs>(), verb::<env::EnvArgs>(), verb::<play::PlayArgs>(), export::verb(&["export", "control"])]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse train control --variant CartPole-v1 --seed 1 --set lr=0.003 --steps 2e6 --save run.safetensors
  hothouse sweep control --knob lr=1e-4..1e-2:log --knob hidden=32,64 --seeds 5
  hothouse solve --seeds 5                   solve every environment with its preset; prints the times
  hothouse train control --world snake.py    train in the environment that a Python file defines
  hothouse play control snake.py             play in it by keys
  hothouse export control run.safetensors --format onnx --out policy.onnx   formats: onnx, c, js
  hothouse env Pendulum-v1 --stdio           serve an environment to another program
",
            "  \
  hothouse sweep control --knob lr=1e-4..1e-2:log --seeds 5
  hothouse sweep control --knob lr=1e-3,3e-3 --knob gamma=0.95..0.99 --points 3 --until-solved --steps 5e6
  hothouse sweep control --seeds 20 --until-solved     one setting, twenty seeds
",
        ]
    }

    fn bench(&self, _versus: bool, _measured: &[Figure], machine: &Machine, emit: Emit) -> Result<()> {
        bench::solve(machine, emit)
    }

    /// Returns the mean, lowest and highest return over newly drawn episodes, and the number of episodes.
    fn test(&self, bytes: &[u8], episodes: Option<u32>, seed: u32, host: Host) -> Option<Result<Row>> {
        let test = || {
            let mut run = Run::<Control>::restore(bytes, host)?;
            let progress = run.progress();
            Ok(Row { progress, values: run.room().evaluate(episodes.unwrap_or(TEST_EPISODES), seed) })
        };
        Some(test())
    }

    fn picture(&self, variant: &Variant) -> Option<Box<dyn Picture>> {
        picture::Environments::picture(variant)
    }
}
