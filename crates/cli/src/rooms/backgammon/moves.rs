//! `hothouse moves`: serves the rules of a game to other programs, with one line per answer. An invalid line changes no state. The
//! answer to an invalid line is an error with a remedy.

use crate::error::Usage;
use crate::shell::VerbArgs;
use crate::stdio::{LINE_BYTES, converse};
use anyhow::{Result, bail};
use clap::Args;
use run::backgammon::RulesLines;
use std::io::{BufRead, Write};

const HELP: &str = "\
Each input line gets one answer line. Positions are GNU Backgammon ids from the point of view of the player who rolls,
both before and after the move:
  4HPwATDgc/ABMA 3 1        all distinct results of this roll, sorted, separated by spaces; the same id if no
                            move is legal
  points ID                 points of a finished game, 1 to 3, from the winner's view, without the cube
  quit                      ends the program; so does the end of the input
An invalid line changes nothing. Its answer is
  error: the problem; the remedy";

#[derive(Debug, Args)]
pub struct MovesArgs {
    /// Game: backgammon
    game: String,
    /// Read positions and write answers, one line each
    #[arg(long)]
    stdio: bool,
}

impl VerbArgs for MovesArgs {
    const PATH: &'static [&'static str] = &["moves"];
    const ABOUT: &'static str = "Serve the rules of a game to another program";

    fn help() -> String {
        HELP.into()
    }

    fn run(self) -> Result<()> {
        let MovesArgs { game, stdio } = self;
        if game != "backgammon" {
            bail!(Usage(format!("there are no rules for '{game}'. Choose backgammon")));
        }
        if !stdio {
            bail!(Usage(
                "--stdio is required. Start `hothouse moves backgammon --stdio` and send it a line such as \
                 4HPwATDgc/ABMA 3 1; `hothouse moves --help` explains the answers"
                    .into()
            ));
        }
        serve(&mut std::io::stdin().lock(), &mut crate::plain::stdout())
    }
}

fn serve(input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    let mut rules = RulesLines::new();
    converse(input, output, |line| {
        let Some(line) = line else {
            return Ok(Some(format!("error: the line is longer than {LINE_BYTES} bytes; send ID D1 D2")));
        };
        let line = String::from_utf8_lossy(line);
        if line.trim_ascii() == "quit" {
            return Ok(None);
        }
        Ok(Some(rules.answer(&line).unwrap_or_else(|error| format!("error: {error}"))))
    })
}
