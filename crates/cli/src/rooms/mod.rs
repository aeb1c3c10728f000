//! The rooms that have something of their own in the terminal, each with a folder, in the order of the help.

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

static SHELLS: [&dyn RoomShell; 5] = [&control::Shell, &backgammon::Shell, &cube::Shell, &logic::Shell, &words::Shell];

/// What that room has of its own, where it has anything.
pub fn shell(room: &str) -> Option<&'static dyn RoomShell> {
    SHELLS.into_iter().find(|shell| shell.id() == room)
}

/// The picture of a run of that room, where it has one.
pub fn picture(room: &str, variant: &Variant) -> Option<Box<dyn Picture>> {
    shell(room)?.picture(variant)
}

/// Their lines among the examples of `hothouse --help`, and among those of `hothouse sweep --help`.
pub fn examples() -> [String; 2] {
    let lines = |which: usize| SHELLS.map(|shell| shell.examples()[which]).concat();
    [lines(0), lines(1)]
}

fn verbs() -> Vec<RoomVerb> {
    SHELLS.iter().flat_map(|shell| shell.verbs()).collect()
}

/// The grammar with their verbs.
pub fn extend(grammar: Command) -> Command {
    verbs().into_iter().fold(grammar, |grammar, verb| {
        let name = verb.path[verb.path.len() - 1];
        let verb_grammar = (verb.grammar)(Command::new(name));
        match verb.path {
            [parent, _] => {
                let known = grammar.find_subcommand(*parent).is_some();
                let grammar = if known { grammar } else { grammar.subcommand(of_rooms(parent)) };
                grammar.mut_subcommand(*parent, |parent| parent.subcommand(verb_grammar))
            }
            _ => grammar.subcommand(verb_grammar),
        }
    })
}

/// A verb that is nothing without the name of a room that has it.
fn of_rooms(verb: &'static str) -> Command {
    let about = match verb {
        "run" => "Run what was learned",
        "export" => "Write what was learned for other programs",
        "generate" => "Write as what was learned goes on",
        _ => "",
    };
    Command::new(verb).about(about).subcommand_required(true).arg_required_else_help(true)
}

/// Does what is asked where it is one of their verbs.
pub fn obey(matches: &ArgMatches) -> Option<Result<()>> {
    // Those behind others come after them.
    verbs().iter().rev().find_map(|verb| {
        let found = verb.path.iter().try_fold(matches, |matches, &name| matches.subcommand_matches(name))?;
        Some((verb.obey)(found))
    })
}

/// Refuses a comparison that cannot be made, before anything is measured.
pub fn check_versus(suite: &str, versus: Option<&str>) -> Result<()> {
    let Some(name) = versus else { return Ok(()) };
    match shell(suite).and_then(RoomShell::rival).filter(|rival| rival.name == name) {
        Some(rival) => (rival.check)(),
        None => {
            let rivals = SHELLS.iter().filter_map(|shell| Some((shell.rival()?.name, shell.id())));
            let known: Vec<_> = rivals.map(|(name, room)| format!("--versus {name}, of the room {room}")).collect();
            let known = known.join(", ");
            Err(Usage(format!("{suite} is not compared with '{name}'. Choose {known}, or leave it out")).into())
        }
    }
}
