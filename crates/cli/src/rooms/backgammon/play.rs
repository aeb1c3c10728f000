//! `hothouse play`: a game of backgammon. With `--stdio`, another program requests the moves of a player, one at a time or in batches.
//! Otherwise the user plays a game on the full screen or in printed lines.

use super::player::player;
use super::screen;
use super::table::{self, GameOptions};
use crate::args::MachineArgs;
use crate::args::values::up_to_a_million;
use crate::host::Machine;
use crate::outputs::show::wants_screen;
use crate::plain;
use crate::shell::VerbArgs;
use crate::stdio::converse;
use anyhow::Result;
use clap::Args;
use run::backgammon::{PlayerLines, Reply};
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

const STDIO: &str = "\
With --stdio, input lines and their answers. Positions are GNU Backgammon ids from the point of view of the player who rolls,
both before and after the move:
  hello                     name of the player, in one line
  move 4HPwATDgc/ABMA 3 1   id after the move
  batch N                   followed by N `move` lines; N ids after the last of them
  quit                      ends the program; so does the end of the input
An invalid line changes nothing. Its answer, in the same place, is
  error: the problem; the remedy
The same position and roll always get the same answer, in any batch.";

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// Player: a checkpoint, linear or random
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    player: String,
    /// Evaluations per move of a checkpoint's agent; 1 means no look-ahead [default: 1]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    evals: Option<u32>,
    /// Match length in points; 0 is money play [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=64), value_name = "POINTS", conflicts_with = "stdio")]
    length: Option<u16>,
    /// Play without the doubling cube
    #[arg(long, conflicts_with = "stdio")]
    no_cube: bool,
    /// Seed of the dice [default: the clock]
    #[arg(long, value_name = "N", conflicts_with = "stdio")]
    seed: Option<u32>,
    /// Start a new game even if the checkpoint contains an unfinished game; implied by --evals, --length, --no-cube and --seed
    #[arg(long, conflicts_with = "stdio")]
    new: bool,
    /// Checkpoint file for the unfinished game [default: in a terminal, a file in the user's cache]
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    keep: Option<PathBuf>,
    /// Play in lines of text, even in a terminal
    #[arg(long, conflicts_with = "stdio")]
    plain: bool,
    /// Write the match to this text file (.mat) at the end
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    save: Option<PathBuf>,
    /// Serve another program: read requests and write answers, one line each
    #[arg(long)]
    stdio: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for PlayArgs {
    const PATH: &'static [&'static str] = &["play", "backgammon"];
    const ABOUT: &'static str = "Play backgammon in the terminal, or serve a player's moves to another program";

    fn help() -> String {
        format!("{}\n\n{STDIO}", table::COMMANDS)
    }

    fn run(self) -> Result<()> {
        let machine = Machine::new(&self.machine)?;
        let (host, stdin) = (machine.host, std::io::stdin());
        if self.stdio {
            return machine.pool.install(|| {
                let player = player(&self.player, self.evals.unwrap_or(1), 1, host)?;
                serve(&mut PlayerLines::new(player), &mut stdin.lock(), &mut plain::stdout())
            });
        }
        let interactive = stdin.is_terminal();
        let options = GameOptions {
            player: &self.player,
            evals: self.evals,
            length: self.length,
            cube: !self.no_cube,
            seed: self.seed,
            new: self.new,
            save: self.save.as_deref(),
            keep: self.keep.as_deref(),
            interactive,
        };
        if interactive && wants_screen(self.plain) {
            return screen::play(&options, host, &machine.pool);
        }
        machine.pool.install(|| table::play(&options, host, &mut stdin.lock(), &mut plain::stdout()))
    }
}

fn serve(player: &mut PlayerLines, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    converse(input, output, |line| {
        let line = line.map(String::from_utf8_lossy);
        Ok(match player.answer(line.as_deref()) {
            Reply::Lines(lines) => Some(lines.join("\n")),
            Reply::Later => Some(String::new()),
            Reply::Quit => None,
        })
    })?;
    for line in player.end() {
        writeln!(output, "{line}")?;
    }
    Ok(output.flush()?)
}
