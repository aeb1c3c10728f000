//! Terminal commands of the backgammon room.

mod eval;
mod gnubg;
mod moves;
mod play;
mod player;
mod screen;
mod table;

use crate::shell::{RoomShell, RoomVerb, verb};
use crate::verbs::export;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use super::gnubg::{Connection, Gnubg, START, find};
    pub use super::screen::{Answer, Key, LEAST, MINE, Request, THEIRS, TableScreen, WIDE, answer, draw, serve};
    pub use super::table::{Game, GameOptions};
}

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "backgammon"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<eval::JudgeArgs>(), verb::<play::PlayArgs>(), verb::<moves::MovesArgs>(), export::verb(&["export", "backgammon"])]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse train backgammon --seconds 60 --save bg.safetensors
  hothouse eval backgammon run.safetensors --against gnubg   games with duplicate dice; also linear, random
  hothouse play backgammon run.safetensors   play against the trained agent in the terminal
  hothouse play backgammon run.safetensors --stdio   serve moves to another program
  hothouse moves backgammon --stdio          serve the rules to another program
",
            "  \
  hothouse sweep backgammon --knob lr=0.001,0.003 --seeds 3 --games 20_000
  hothouse sweep backgammon --knob variant=strong,published --seconds 60     compare learners, each with its defaults
",
        ]
    }
}
