//! `hothouse play`: a player for other programs, a line of text to each answer, or as many as a batch has lines.

use super::eval::player;
use crate::Usage;
use crate::args::{MachineArgs, up_to_a_million};
use crate::host::Machine;
use crate::stdio::converse;
use anyhow::{Result, bail};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use run::backgammon::{PlayerLines, Reply};
use std::io::{BufRead, Write};

const HELP: &str = "\
Lines read and what they are answered with. Positions are ids as GNU Backgammon writes them, seen by the player who makes
the roll (as the player on roll), before and after it:
  hello                     who plays, in one line
  move 4HPwATDgc/ABMA 3 1   the id that the move leaves
  batch N                   then N lines like the one above; N ids, once the last of them has come
  quit                      ends the program, as the end of the input does
A line that cannot be answered gets, in its place,
  error: what is wrong; what would do
and changes nothing. The same position and roll get the same answer, in any batch.";

#[derive(Debug, Args)]
struct PlayArgs {
    /// The game to play
    game: String,
    /// Who plays: a checkpoint, linear or random
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    player: String,
    /// Evaluations that a checkpoint's agent may spend on each move; 1 means no look-ahead
    #[arg(long, default_value = "1", value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    evals: u32,
    /// Read requests and write answers, a line each
    #[arg(long)]
    stdio: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

pub fn grammar(verb: Command) -> Command {
    PlayArgs::augment_args(verb.about("Let another program ask a player for its moves")).after_help(HELP)
}

/// Answers whoever started this program.
pub fn obey(matches: &ArgMatches) -> Result<()> {
    let args = PlayArgs::from_arg_matches(matches)?;
    let (game, stdio) = (&args.game, args.stdio);
    if game != "backgammon" {
        bail!(Usage(format!("'{game}' is not played here. Choose backgammon")));
    }
    if !stdio {
        bail!(Usage(
            "the player is asked line by line. Start `hothouse play backgammon --stdio` and send it a line such as \
             move 4HPwATDgc/ABMA 3 1; `hothouse play --help` says what it answers"
                .into()
        ));
    }
    let machine = Machine::new(&args.machine)?;
    machine.pool.install(|| {
        let mut lines = PlayerLines::new(player(&args.player, args.evals, 1, machine.host)?);
        serve(&mut lines, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())
    })
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
