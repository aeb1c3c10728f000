//! What a room may have in the terminal beyond what every room has. Each folder of `rooms` says it of its room.

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

    /// Verbs of its own.
    fn verbs(&self) -> Vec<RoomVerb> {
        Vec::new()
    }

    /// Lines of what `hothouse --help` gives as examples, and of those of `hothouse sweep --help`.
    fn examples(&self) -> [&'static str; 2];

    /// Other people's software that it is measured beside, where it is.
    fn rival(&self) -> Option<Rival> {
        None
    }

    /// What is measured by whole processes, after all else, which is `measured`: beside other people's software too, where that is
    /// asked for.
    fn bench(&self, _versus: bool, _measured: &[Figure], _machine: &Machine, _give: Give) -> Result<()> {
        Ok(())
    }

    /// Tests the agent of a checkpoint by so many episodes of this seed; none in a room that has no episodes.
    fn test(&self, _bytes: &[u8], _episodes: Option<u32>, _seed: u32, _host: Host) -> Option<Result<Row>> {
        None
    }

    /// Why no test of such a run can reach its variant's goal, where that is so.
    fn out_of_reach(&self, _config: &Config) -> Option<&'static str> {
        None
    }

    /// What stands beside the curve on the full screen.
    fn picture(&self, _variant: &Variant) -> Option<Box<dyn Picture>> {
        None
    }
}

/// Takes each figure as soon as it is known.
pub type Give<'a> = &'a mut dyn FnMut(Figure) -> std::io::Result<()>;

pub struct Rival {
    pub name: &'static str,
    /// Refuses where it is not installed.
    pub check: fn() -> Result<()>,
}

/// A run's answer to a question of its room.
pub fn ask<T: DeserializeOwned>(run: &mut dyn AnyRun, question: Value) -> Result<T, RunError> {
    let answer = serde_json::to_value(run.ask(question)?).expect("plain data with string keys");
    Ok(serde_json::from_value(answer).expect("it is the answer to that question"))
}

/// The arguments of a verb of a room's own.
pub trait VerbArgs: Args {
    /// `["solve"]`, or behind a verb that every room has: `["eval", "cube"]`
    const PATH: &'static [&'static str];
    const ABOUT: &'static str;

    /// What its help says behind the options.
    fn help() -> String {
        String::new()
    }

    fn obey(self) -> Result<()>;
}

pub struct RoomVerb {
    pub path: &'static [&'static str],
    /// Its grammar, under the last word of the path.
    pub grammar: fn(Command) -> Command,
    pub obey: fn(&ArgMatches) -> Result<()>,
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
        obey: |matches| V::from_arg_matches(matches)?.obey(),
    }
}
