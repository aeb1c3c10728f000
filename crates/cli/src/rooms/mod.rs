//! Rooms that have their own terminal commands or pictures. Each room has a folder. The help lists the rooms in the order of `SHELLS`.

mod backgammon;
mod control;
mod cube;
mod logic;
mod words;

use crate::error::Usage;
use crate::outputs::screen::Picture;
use crate::shell::{RoomShell, RoomVerb};
use anyhow::Result;
use clap::{ArgMatches, Command};
use run::protocol::Variant;

/// Items for this crate's own tests, by room.
#[doc(hidden)]
pub mod internals {
    pub mod backgammon {
        pub use crate::rooms::backgammon::internals::*;
    }
    pub mod control {
        pub use crate::rooms::control::internals::*;
    }
    pub mod words {
        pub use crate::rooms::words::internals::*;
    }
}

static SHELLS: [&dyn RoomShell; 5] = [&control::Shell, &backgammon::Shell, &cube::Shell, &logic::Shell, &words::Shell];

/// Returns the terminal code (commands, picture, benchmarks) of the room with the id `room`, or `None` if the room has none.
pub fn shell(room: &str) -> Option<&'static dyn RoomShell> {
    SHELLS.into_iter().find(|shell| shell.id() == room)
}

/// Returns the room's picture of a run, or `None` if the room has no picture.
pub fn picture(room: &str, variant: &Variant) -> Option<Box<dyn Picture>> {
    shell(room)?.picture(variant)
}

/// Returns the example commands of all rooms: the first text is for `hothouse --help`, the second for `hothouse sweep --help`.
pub fn examples() -> [String; 2] {
    let lines = |index: usize| SHELLS.map(|shell| shell.examples()[index]).concat();
    [lines(0), lines(1)]
}

fn verbs() -> Vec<RoomVerb> {
    SHELLS.iter().flat_map(|shell| shell.verbs()).collect()
}

/// Adds the rooms' commands to the grammar.
pub fn extend(grammar: Command) -> Command {
    verbs().into_iter().fold(grammar, |grammar, verb| {
        let name = verb.path[verb.path.len() - 1];
        let verb_grammar = (verb.grammar)(Command::new(name));
        match verb.path {
            [parent, _] => {
                let known = grammar.find_subcommand(*parent).is_some();
                let grammar = if known { grammar } else { grammar.subcommand(parent_command(parent)) };
                grammar.mut_subcommand(*parent, |parent| parent.subcommand(verb_grammar))
            }
            _ => grammar.subcommand(verb_grammar),
        }
    })
}

/// Creates a command, such as `export`, whose only purpose is to group subcommands of rooms.
fn parent_command(verb: &'static str) -> Command {
    let about = match verb {
        "play" => "Play a game or in an environment in the terminal",
        "run" => "Run a trained model",
        "export" => "Export a trained model for other programs",
        "generate" => "Generate text with a trained model",
        _ => "",
    };
    Command::new(verb).about(about).subcommand_required(true).arg_required_else_help(true)
}

/// Runs the command if it belongs to a room; otherwise returns `None`.
pub fn dispatch(matches: &ArgMatches) -> Option<Result<()>> {
    // A command can have subcommands, which are later in the list. The reverse order tries the subcommands first.
    verbs().iter().rev().find_map(|verb| {
        let found = verb.path.iter().try_fold(matches, |matches, &name| matches.subcommand_matches(name))?;
        Some((verb.run)(verb.path, found))
    })
}

/// Returns an error if the suite cannot be compared with the software `versus`. Call this function before any measurement.
pub fn check_versus(suite: &str, versus: Option<&str>) -> Result<()> {
    let Some(name) = versus else { return Ok(()) };
    match shell(suite).and_then(RoomShell::rival).filter(|rival| rival.name == name) {
        Some(rival) => (rival.check)(),
        None => {
            let rivals = SHELLS.iter().filter_map(|shell| Some((shell.rival()?.name, shell.id())));
            let known: Vec<_> = rivals.map(|(name, room)| format!("--versus {name} (room {room})")).collect();
            let known = known.join(", ");
            Err(Usage(format!("{suite} cannot be compared with '{name}'. Choose {known}, or omit --versus")).into())
        }
    }
}
