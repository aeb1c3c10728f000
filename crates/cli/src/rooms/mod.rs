//! What rooms have in the terminal beyond what every room has: verbs, options and pictures of their own. A room without any is
//! not named here.

mod backgammon;
mod control;
mod cube;
mod logic;
mod words;

use crate::Usage;
use crate::host::Machine;
use anyhow::Result;
use clap::{ArgMatches, Command};
use ratatui::Frame;
use ratatui::layout::Rect;
use run::Host;
use run::bench::Figure;
use run::protocol::{Config, Row};
use std::time::Instant;

/// A verb of a room's own.
struct RoomVerb {
    /// `["solve"]`, or behind a verb that every room has: `["eval", "backgammon"]`
    path: &'static [&'static str],
    /// Its grammar, under the last word of the path.
    grammar: fn(Command) -> Command,
    obey: fn(&ArgMatches) -> Result<()>,
}

static VERBS: [RoomVerb; 11] = [
    RoomVerb { path: &["solve"], grammar: control::solve::grammar, obey: control::solve::obey },
    RoomVerb { path: &["env"], grammar: control::env::grammar, obey: control::env::obey },
    RoomVerb {
        path: &["eval", "backgammon"],
        grammar: backgammon::eval::grammar,
        obey: backgammon::eval::obey,
    },
    RoomVerb { path: &["play"], grammar: backgammon::play::grammar, obey: backgammon::play::obey },
    RoomVerb { path: &["moves"], grammar: backgammon::moves::grammar, obey: backgammon::moves::obey },
    RoomVerb { path: &["solve", "cube"], grammar: cube::solve::grammar, obey: cube::solve::obey },
    RoomVerb { path: &["eval", "cube"], grammar: cube::eval::grammar, obey: cube::eval::obey },
    RoomVerb { path: &["run", "logic"], grammar: logic::run::grammar, obey: logic::run::obey },
    RoomVerb { path: &["export", "logic"], grammar: logic::export::grammar, obey: logic::export::obey },
    RoomVerb { path: &["export", "words"], grammar: words::export::grammar, obey: words::export::obey },
    RoomVerb { path: &["generate", "words"], grammar: words::generate::grammar, obey: words::generate::obey },
];

pub const EXAMPLES: &str = "  \
  hothouse solve --seeds 5                   every environment from its preset, with the times
  hothouse env Pendulum-v1 --stdio           an environment for another program to drive
  hothouse eval backgammon run.safetensors --against gnubg   games with duplicate dice; also linear, random
  hothouse play backgammon run.safetensors   a game against what was learned, in the terminal
  hothouse play backgammon run.safetensors --stdio   a player of backgammon for another program to ask
  hothouse moves backgammon --stdio          the rules of backgammon for another program to ask
  hothouse solve cube --scramble \"R U2 F'\"   by an agent that has learned it; --facelets, or - for many lines
  hothouse eval cube run.safetensors         greedy play from every state of the 2x2x2, and searches
  hothouse run logic life --grid 4096x4096 --steps 100   a circuit on a grid, a bit a cell
  hothouse export logic run.safetensors --format svg --out circuit.svg   also json, verilog, rust
  hothouse export words run.safetensors > vocab.json   its tokenizer, for --vocab of another run
  hothouse generate words run.safetensors --prompt \"One day, \"   a text, as a trained model goes on
  hothouse bench words --versus pytorch      training steps beside those of an installed PyTorch";

/// The grammar with these verbs.
pub fn extend(grammar: Command) -> Command {
    VERBS.iter().fold(grammar, |grammar, verb| {
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

/// Does what is asked where it is one of these verbs.
pub fn obey(matches: &ArgMatches) -> Option<Result<()>> {
    // Those behind others come after them.
    VERBS.iter().rev().find_map(|verb| {
        let found = verb.path.iter().try_fold(matches, |matches, &name| matches.subcommand_matches(name))?;
        Some((verb.obey)(found))
    })
}

/// Refuses a comparison that cannot be made, before anything is measured.
pub fn check_versus(suite: &str, versus: Option<&str>) -> Result<()> {
    match (suite, versus) {
        (_, None) => Ok(()),
        ("words", Some("pytorch")) => words::versus::check(),
        (_, Some(name)) => {
            let known = "Choose --versus pytorch, of the room words, or leave it out";
            Err(Usage(format!("{suite} is not compared with '{name}'. {known}")).into())
        }
    }
}

/// What is measured of a room by whole processes, after all else, which is `measured`: with other people's software too, where some
/// of that name is asked for.
pub fn bench(
    suite: &str,
    versus: Option<&str>,
    measured: &[Figure],
    machine: &Machine,
    give: &mut dyn FnMut(Figure) -> std::io::Result<()>,
) -> Result<()> {
    match (suite, versus) {
        ("words", Some(_)) => words::versus::bench(measured, machine, give),
        ("control", _) => control::bench::solve(machine, give),
        _ => Ok(()),
    }
}

/// Tests the agent of a checkpoint by so many episodes of this seed, in rooms that have episodes.
pub fn test(
    room: &str,
    bytes: &[u8],
    episodes: Option<u32>,
    seed: Option<u32>,
    host: Host,
) -> Option<Result<Row>> {
    (room == "control").then(|| control::test(bytes, episodes, seed.unwrap_or(1), host))
}

/// Why no test of such a run can reach its variant's goal, where that is so.
pub fn out_of_reach(config: &Config) -> Option<&'static str> {
    let own = config.room == "words" && config.data.is_some();
    own.then_some("The goal is near the entropy floor, which nobody knows of a text of one's own, so it would not end this run.")
}

/// A picture of what is learned, beside the curve on the full screen: it asks the run and draws the answer.
pub trait Picture {
    /// What to ask of the run now, if anything; asked again once it was answered.
    fn question(&mut self, now: Instant) -> Option<serde_json::Value>;
    fn answer(&mut self, json: &[u8], now: Instant);
    fn draw(&self, frame: &mut Frame, area: Rect, knobs: &run::protocol::Knobs);
}

/// The picture of a run of this room, where it has one.
pub fn picture(room: &str, variant: &run::protocol::Variant) -> Option<Box<dyn Picture>> {
    match room {
        "control" => control::picture::Environments::picture(variant),
        _ => None,
    }
}
