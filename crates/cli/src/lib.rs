//! `hothouse`: the shell in a terminal. It owns what a run must not know: the command line, files, the clock, threads and
//! signals. Errors end in [`main`], with the next step, and status 1; a wrong command line has status 2.
//!
//! In layers, each of which knows only those before it: `args` (what is typed), `session` (runs and their files),
//! `outputs` (the screen, lines and records), `verbs`. A folder of `rooms` holds the code of one room; the code outside serves every room
//! and reads what a room declares.
//! A program that adds a room of its own calls `run::add_room` and then [`main`].

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

use anyhow::Result;
use args::{Cli, Verb};
use clap::{ArgMatches, FromArgMatches};
use error::Usage;
use signals::SIGNALS;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::time::Instant;
use verbs::{bench, eval, info, sweep, train, watch};

/// The whole program.
pub fn main() -> ExitCode {
    let began = Instant::now();
    let matches = match help::grammar().try_get_matches() {
        Ok(matches) => matches,
        Err(answer) => {
            // Help and version come this way too.
            let printed = answer.print().and_then(|()| std::io::stdout().flush());
            let code = ExitCode::from(answer.exit_code() as u8);
            return printed.map_or_else(|error| ended(error.into()), |()| code);
        }
    };
    // What was told but not yet written must not be lost in silence.
    let done = obey(&matches, began).and_then(|()| Ok(std::io::stdout().flush()?));
    done.map_or_else(ended, |()| ExitCode::SUCCESS)
}

/// Says why it failed. Whoever closed the pipe has read what they wanted.
fn ended(error: anyhow::Error) -> ExitCode {
    // Whatever else is read or written is named in its error.
    let output = error.chain().len() == 1 && error.is::<std::io::Error>();
    let told = match error.downcast_ref::<std::io::Error>() {
        Some(error) if error.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Some(error) if output => {
            format!("cannot write the output ({error}). Make room, or send it elsewhere")
        }
        _ => format!("{error:#}"),
    };
    let _ = writeln!(std::io::stderr(), "error: {}", plain::text(&told));
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

fn obey(matches: &ArgMatches, began: Instant) -> Result<()> {
    if let Some(done) = rooms::obey(matches) {
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
        Some(Verb::Watch { list: true, show, .. }) => watch::list(show.json),
        Some(Verb::Watch { file, show, .. }) => watch::watch(file, &show),
        Some(Verb::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut help::grammar(), "hothouse", &mut script);
            Ok(std::io::stdout().write_all(&script)?)
        }
        Some(Verb::Sweep { room, args }) => {
            signals::listen()?;
            sweep::run(room.as_deref(), &args, &SIGNALS)
        }
    }
}
