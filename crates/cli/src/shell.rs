//! Interface between the terminal shell and the code of a single room. Each folder of `rooms` implements the interface for its room.

use crate::host::Machine;
use crate::outputs::screen::Picture;
use anyhow::Result;
use bench::Figure;
use clap::{ArgMatches, Args, Command};
use run::protocol::{Config, Row, Variant};
use run::{AnyRun, Host, RunError};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub trait RoomShell: Sync {
    fn id(&self) -> &'static str;

    /// Returns the commands that only this room has.
    fn verbs(&self) -> Vec<RoomVerb> {
        Vec::new()
    }

    /// Returns two texts of example commands: the first for `hothouse --help`, the second for `hothouse sweep --help`.
    fn examples(&self) -> [&'static str; 2];

    /// Returns the other software to which `bench --versus` compares Hothouse in this room; `None` without such software.
    fn rival(&self) -> Option<Rival> {
        None
    }

    /// Runs the benchmarks that start whole processes. The room's other benchmarks ran before; `_measured` contains their figures. If
    /// `_versus` is true, also compares the room with other software.
    fn bench(&self, _versus: bool, _measured: &[Figure], _machine: &Machine, _emit: Emit) -> Result<()> {
        Ok(())
    }

    /// Tests a checkpoint's agent on `_episodes` episodes with this seed. If `_episodes` is `None`, the room chooses the number. Returns
    /// `None` in a room without episodes.
    fn test(&self, _bytes: &[u8], _episodes: Option<u32>, _seed: u32, _host: Host) -> Option<Result<Row>> {
        None
    }

    /// Returns the reason why no test of a run with this config can reach the variant's goal; `None` if a test can reach the goal.
    fn out_of_reach(&self, _config: &Config) -> Option<&'static str> {
        None
    }

    /// Returns the picture for the full screen, beside the curve; `None` if the room has no picture.
    fn picture(&self, _variant: &Variant) -> Option<Box<dyn Picture>> {
        None
    }
}

/// Callback that is called with each figure as soon as the figure is measured.
pub type Emit<'a> = &'a mut dyn FnMut(Figure) -> std::io::Result<()>;

pub struct Rival {
    pub name: &'static str,
    /// Function that returns an error if the software is not installed.
    pub check: fn() -> Result<()>,
}

/// Sends a room-specific question to a run and returns the answer.
pub fn ask<T: DeserializeOwned>(run: &mut dyn AnyRun, question: Value) -> Result<T, RunError> {
    let answer = serde_json::to_value(run.ask(question)?).expect("plain data with string keys");
    Ok(serde_json::from_value(answer).expect("the answer has the type of the question"))
}

/// Arguments of a command that only one room has.
pub trait VerbArgs: Args {
    /// Words of the command, such as `["solve"]`, or `["eval", "cube"]` for a subcommand of a shared command.
    const PATH: &'static [&'static str];
    const ABOUT: &'static str;

    /// Returns the help text that follows the options; may be empty.
    fn help() -> String {
        String::new()
    }

    fn run(self) -> Result<()>;
}

pub struct RoomVerb {
    pub path: &'static [&'static str],
    /// Function that adds the arguments and the help to the command that is the last word of `path`.
    pub grammar: fn(Command) -> Command,
    /// Function that runs the command. Its first argument is `path`.
    pub run: fn(&[&str], &ArgMatches) -> Result<()>,
}

pub fn verb<V: VerbArgs>() -> RoomVerb {
    RoomVerb {
        path: V::PATH,
        grammar: |verb| {
            let verb = V::augment_args(verb).about(V::ABOUT);
            match V::help() {
                help if help.is_empty() => verb,
                help => verb.after_help(help),
            }
        },
        run: |_, matches| V::from_arg_matches(matches)?.run(),
    }
}
