//! Backgammon's own verbs in the terminal.

mod eval;
mod gnubg;
mod moves;
mod play;
mod player;
mod screen;
mod table;

use crate::shell::{RoomShell, RoomVerb, verb};

pub struct Shell;

impl RoomShell for Shell {
    fn id(&self) -> &'static str {
        "backgammon"
    }

    fn verbs(&self) -> Vec<RoomVerb> {
        vec![verb::<eval::JudgeArgs>(), verb::<play::PlayArgs>(), verb::<moves::MovesArgs>()]
    }

    fn examples(&self) -> [&'static str; 2] {
        [
            "  \
  hothouse train backgammon --seconds 60 --save bg.safetensors
  hothouse eval backgammon run.safetensors --against gnubg   games with duplicate dice; also linear, random
  hothouse play backgammon run.safetensors   a game against what was learned, in the terminal
  hothouse play backgammon run.safetensors --stdio   a player of backgammon for another program to ask
  hothouse moves backgammon --stdio          the rules of backgammon for another program to ask
",
            "  \
  hothouse sweep backgammon --knob lr=0.001,0.003 --seeds 3 --games 20_000
  hothouse sweep backgammon --knob variant=strong,published --seconds 60     learners side by side, each with its defaults
",
        ]
    }
}
