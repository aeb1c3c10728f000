//! `hothouse play`: a game for a person, on the full screen or in lines, or a player for other programs, a line of text to each answer, or
//! as many as a batch has lines.

use super::player::player;
use super::screen;
use super::table::{self, Table};
use crate::args::MachineArgs;
use crate::args::values::up_to_a_million;
use crate::error::Usage;
use crate::host::Machine;
use crate::outputs::show::wants_screen;
use crate::shell::VerbArgs;
use crate::stdio::converse;
use anyhow::{Result, bail};
use clap::Args;
use run::backgammon::{PlayerLines, Reply};
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

const STDIO: &str = "\
With --stdio, lines read and what they are answered with. Positions are ids as GNU Backgammon writes them, seen by the player who makes
the roll (as the player on roll), before and after it:
  hello                     who plays, in one line
  move 4HPwATDgc/ABMA 3 1   the id that the move leaves
  batch N                   then N lines like the one above; N ids, once the last of them has come
  quit                      ends the program, as the end of the input does
A line that cannot be answered gets, in its place,
  error: what is wrong; what would do
and changes nothing. The same position and roll get the same answer, in any batch.";

#[derive(Debug, Args)]
pub struct PlayArgs {
    /// The game to play
    game: String,
    /// Who plays: a checkpoint, linear or random
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    player: String,
    /// Evaluations that a checkpoint's agent may spend on each move; 1 means no look-ahead [default: 1]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    evals: Option<u32>,
    /// Points of the match; 0 is money play [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u16).range(0..=64), value_name = "POINTS", conflicts_with = "stdio")]
    length: Option<u16>,
    /// Play without the doubling cube
    #[arg(long, conflicts_with = "stdio")]
    no_cube: bool,
    /// Of the dice; by the clock where it is left out
    #[arg(long, value_name = "N", conflicts_with = "stdio")]
    seed: Option<u32>,
    /// Begin a new game, also where the checkpoint has one that goes on; so do --evals, --length, --no-cube and --seed
    #[arg(long, conflicts_with = "stdio")]
    new: bool,
    /// Where the game is kept, to go on with later [default: the user's cache, where somebody plays in a terminal]
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    keep: Option<PathBuf>,
    /// Play in lines of text, also in a terminal
    #[arg(long, conflicts_with = "stdio")]
    plain: bool,
    /// Where to write the match as text (.mat) in the end
    #[arg(long, value_name = "FILE", conflicts_with = "stdio")]
    save: Option<PathBuf>,
    /// Answer another program: read requests and write answers, a line each
    #[arg(long)]
    stdio: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for PlayArgs {
    const PATH: &'static [&'static str] = &["play"];
    const ABOUT: &'static str = "Play a game in the terminal, or let another program ask a player for its moves";

    fn help() -> String {
        format!("{}\n\n{STDIO}", table::WORDS)
    }

    fn run(self) -> Result<()> {
        if self.game != "backgammon" {
            bail!(Usage(format!("'{}' is not played here. Choose backgammon", self.game)));
        }
        let machine = Machine::new(&self.machine)?;
        let (host, stdin, stdout) = (machine.host, std::io::stdin(), std::io::stdout());
        if self.stdio {
            return machine.pool.install(|| {
                let player = player(&self.player, self.evals.unwrap_or(1), 1, host)?;
                serve(&mut PlayerLines::new(player), &mut stdin.lock(), &mut stdout.lock())
            });
        }
        let person = stdin.is_terminal();
        let table = Table {
            player: &self.player,
            evals: self.evals,
            length: self.length,
            cube: !self.no_cube,
            seed: self.seed,
            new: self.new,
            save: self.save.as_deref(),
            keep: self.keep.as_deref(),
            person,
        };
        if person && wants_screen(self.plain) {
            return screen::play(&table, host, &machine.pool);
        }
        machine.pool.install(|| table::play(&table, host, &mut stdin.lock(), &mut stdout.lock()))
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
