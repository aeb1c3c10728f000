//! `hothouse`: the terminal shell around the `run` crate. The shell contains the command line, files, the clock, threads and signals, on
//! which the `run` crate does not depend. [`main`] prints errors to standard error. The exit status is 2 for an invalid command line, 0 for
//! a closed output pipe, and 1 for any other error.
//!
//! The crate has four layers: `args` (the command line), `session` (runs and their files), `outputs` (the screen, printed lines and
//! exported files) and `verbs` (the commands). Each layer depends only on the layers before it. Each folder of `rooms` contains the code of
//! one room (a task with its learners, such as backgammon). All other code reads the rooms' declarations and works for every room. A
//! program that adds its own room calls `run::add_room` and then [`main`].

mod args;
mod error;
mod format;
mod help;
mod host;
mod outputs;
mod plain;
mod progress;
mod rooms;
mod session;
mod shell;
mod signals;
mod stdio;
mod verbs;

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::args::{Cli, DataArgs, Verb};
    pub use crate::host::{Machine, processor_in};
    pub use crate::outputs::lines::Printer;
    pub use crate::outputs::screen::aside::StderrCapture;
    pub use crate::outputs::screen::draw::{bounds, draw, labels};
    pub use crate::outputs::screen::terminal::{replace_steering, without_colours};
    pub use crate::outputs::screen::{Key, Mode, Screen, share, turned, turned_number};
    pub use crate::outputs::view::{View, points};
    pub use crate::rooms::internals::*;
    pub use crate::rooms::picture;
    pub use crate::session::record::{Ended, EndedBy, Parts, Record, Summary};
    pub use crate::session::target::SaveTarget;
    pub use crate::session::training::{Request, Session, Update};
    pub use crate::signals::Signals;
    pub use crate::verbs::sweep::{Line, Sweep};

    pub mod budget {
        pub use crate::session::budget::{Budget, Pace, PaceSample, Remaining, remaining};
    }
    pub mod csv {
        pub use crate::outputs::export::csv::{header, keep, number};
    }
    pub mod data {
        pub use crate::args::data::{read_folder, read_text};
    }
    pub mod format {
        pub use crate::format::{quoted, remaining};
    }
    pub mod monitor_file {
        pub use crate::session::monitor_file::{Copy, MonitorFile, WRITE_EVERY, is_monitor, open};
    }
    pub mod plain {
        pub use crate::plain::Plain;
    }
    pub mod saves {
        pub use crate::session::saves::{KEPT, choose, leave_newest, stem};
    }
    #[cfg(unix)]
    pub mod signals {
        pub use crate::signals::system::{child_ignores, ignored_in};
    }
    pub mod values {
        pub use crate::args::values::{assignment, change, count, seconds, up_to_a_million};
    }
}

use anyhow::Result;
use args::{Cli, Verb};
use clap::{ArgMatches, FromArgMatches};
use error::Usage;
use signals::SIGNALS;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;
use verbs::{bench, eval, info, sweep, train, verify, watch};

/// Maximum length of an error message in characters. Parts of it may come from a file of any length.
const LONGEST_ERROR: usize = 4000;

pub fn main() -> ExitCode {
    let began = Instant::now();
    signals::report_full_files();
    let matches = match help::grammar().try_get_matches() {
        Ok(matches) => matches,
        Err(answer) => return print_answer(&answer),
    };
    // Flushes explicitly, because an implicit flush at the end of the process would hide a write error.
    let done = dispatch(&matches, began).and_then(|()| Ok(plain::stdout().flush()?));
    done.map_or_else(exit_with, |()| ExitCode::SUCCESS)
}

/// Prints an answer of clap: an error in the command line, or the text of the help or the version. Returns the exit status.
fn print_answer(answer: &clap::Error) -> ExitCode {
    let text = answer.render().to_string();
    // An error quotes the command line.
    let shown = if answer.use_stderr() { shown(&text) } else { text.clone() };
    let printed = match shown == text {
        true => answer.print(),
        false => writeln!(plain::stderr(), "{}", shown.trim_end()),
    };
    let code = ExitCode::from(answer.exit_code() as u8);
    printed.and_then(|()| plain::stdout().flush()).map_or_else(|error| exit_with(error.into()), |()| code)
}

/// Escapes control characters of an error message and bounds its length.
fn shown(message: &str) -> String {
    format::plain(&format::bounded(message, LONGEST_ERROR))
}

/// Prints the error and returns the exit status. A closed output pipe counts as success, because the reading program needs no more output.
fn exit_with(error: anyhow::Error) -> ExitCode {
    // An I/O error without context is a failed write to standard output. All other I/O errors have a context that names the file.
    let output = error.chain().len() == 1 && error.is::<std::io::Error>();
    let message = match error.downcast_ref::<std::io::Error>() {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Some(error) if output => {
            format!("cannot write the output ({error}). Free disk space, or redirect the output")
        }
        _ => format!("{error:#}"),
    };
    let _ = writeln!(plain::stderr(), "error: {}", shown(&message));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

fn dispatch(matches: &ArgMatches, began: Instant) -> Result<()> {
    if let Some(done) = rooms::dispatch(matches) {
        return done;
    }
    let cli = Cli::from_arg_matches(matches).map_err(|error| Usage(error.to_string()))?;
    match cli.command {
        None => train::train(None, cli.train, began),
        Some(Verb::Train { room, args }) => train::train(room, args, began),
        Some(Verb::Info { json, machine }) => info::run(json, &machine),
        Some(Verb::Resume { file, common }) => train::resume(file, common, began),
        Some(Verb::Eval { args }) => eval::run(&args),
        Some(Verb::Bench { suite, versus, profile, json, machine }) => bench::run(&suite, versus.as_deref(), profile, json, &machine),
        Some(Verb::Verify { args }) => verify::run(&args),
        Some(Verb::Watch { list: true, show, .. }) => watch::list(show.json),
        Some(Verb::Watch { file, show, .. }) => watch::watch(file, &show),
        Some(Verb::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut help::grammar(), "hothouse", &mut script);
            Ok(plain::stdout().write_all(&script)?)
        }
        Some(Verb::Sweep { room, args }) => {
            signals::listen()?;
            sweep::run(room.as_deref(), &args, &SIGNALS)
        }
    }
}
