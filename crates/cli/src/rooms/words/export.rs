//! `hothouse export words`: the tokenizer of a run as a file of its own, for `--vocab` of another run.

use crate::args::{DataArgs, MachineArgs};
use crate::host::Machine;
use crate::{Usage, train};
use anyhow::{Result, bail};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use run::protocol::Event;
use std::io::Write;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
struct ExportArgs {
    /// A checkpoint of `hothouse train words`, or of the page
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

pub fn grammar(verb: Command) -> Command {
    ExportArgs::augment_args(verb).about("Write the tokenizer of a run, one line of JSON, to standard output")
}

pub fn obey(matches: &ArgMatches) -> Result<()> {
    let args = ExportArgs::from_arg_matches(matches)?;
    let machine = Machine::new(&args.machine)?;
    let mut run = machine.pool.install(|| train::restored(&args.file, &args.data, machine.host))?;
    let notes = run.events().into_iter().find_map(|event| match event {
        Event::Began(began) if run.schema().id == "words" => Some(began.room),
        _ => None,
    });
    let Some(notes) = notes else {
        let (file, room) = (args.file.display(), run.schema().id);
        bail!(Usage(format!(
            "{file} is of the room '{room}', which has no tokens. Name one of `hothouse train words`"
        )));
    };
    let line = run::words::vocabulary_line(&notes["tokenizer"]);
    Ok(std::io::stdout().lock().write_all(line.as_bytes())?)
}
