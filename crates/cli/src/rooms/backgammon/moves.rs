//! `hothouse moves`: the rules of a game for other programs, a line of text to each answer. A line that cannot be answered
//! gets one that says why and what would do, and changes nothing.

use crate::error::Usage;
use crate::shell::VerbArgs;
use crate::stdio::{LINE_BYTES, converse};
use anyhow::{Result, bail};
use clap::Args;
use run::backgammon::RulesLines;
use std::io::{BufRead, Write};

const HELP: &str = "\
Each line read gets one line in answer. Positions are ids as GNU Backgammon writes them, seen by the player who
makes the roll (as the player on roll), before and after it:
  4HPwATDgc/ABMA 3 1        every distinct result of this roll, sorted, with spaces between; the id itself
                            where no move is legal
  points ID                 1, 2 or 3: what a finished game counts, seen by its winner, before any cube
  quit                      ends the program, as the end of the input does
A line that cannot be answered gets
  error: what is wrong; what would do
and changes nothing.";

#[derive(Debug, Args)]
pub struct MovesArgs {
    /// The game whose rules to tell
    game: String,
    /// Read positions and write answers, a line each
    #[arg(long)]
    stdio: bool,
}

impl VerbArgs for MovesArgs {
    const PATH: &'static [&'static str] = &["moves"];
    const ABOUT: &'static str = "Tell another program what rolls can lead to and what finished games count";

    fn help() -> String {
        HELP.into()
    }

    /// Answers the calling program.
    fn run(self) -> Result<()> {
        let MovesArgs { game, stdio } = self;
        if game != "backgammon" {
            bail!(Usage(format!("the rules of '{game}' are not known here. Choose backgammon")));
        }
        if !stdio {
            bail!(Usage(
                "the moves are told line by line. Start `hothouse moves backgammon --stdio` and send it a line such as \
                 4HPwATDgc/ABMA 3 1; `hothouse moves --help` says what it answers"
                    .into()
            ));
        }
        serve(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_too_long_or_not_text_gets_one_answer() {
        let mut lines = vec![b'A'; 2 * LINE_BYTES as usize];
        lines.extend_from_slice(b"\n\xff\xfe 3 1\n4HPwATDgc/ABMA 6 6\nquit\n4HPwATDgc/ABMA 6 6\n");
        let mut out = Vec::new();
        serve(&mut &*lines, &mut out).unwrap();
        let answers: Vec<_> = std::str::from_utf8(&out).unwrap().lines().collect();
        assert_eq!(answers.len(), 3, "nothing after quit: {answers:?}");
        assert!(answers[0].starts_with("error: ") && answers[0].contains("longer"));
        assert!(answers[1].starts_with("error: ") && !answers[1].contains("longer"));
        assert_eq!(answers[2].split(' ').count(), 11);
    }
}
