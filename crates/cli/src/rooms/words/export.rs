//! `hothouse export words`: prints a run's tokenizer as one line of JSON. Another run can use a file with this line through `--vocab`.

use crate::args::{DataArgs, MachineArgs};
use crate::error::Usage;
use crate::host::Machine;
use crate::session::begin;
use crate::shell::VerbArgs;
use anyhow::{Result, bail};
use clap::Args;
use run::protocol::Event;
use std::io::Write;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    /// Checkpoint of the room words, saved here or in the page
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for ExportArgs {
    const PATH: &'static [&'static str] = &["export", "words"];
    const ABOUT: &'static str = "Export the tokenizer of a run as one line of JSON to standard output";

    fn run(self) -> Result<()> {
        let machine = Machine::new(&self.machine)?;
        let mut run = machine.pool.install(|| begin::restored(&self.file, &self.data, machine.host))?;
        let notes = run.events().into_iter().find_map(|event| match event {
            Event::Began(began) if run.schema().id == "words" => Some(began.room),
            _ => None,
        });
        let Some(notes) = notes else {
            let (file, room) = (self.file.display(), run.schema().id);
            bail!(Usage(format!("{file} belongs to room '{room}', not 'words'. Name a checkpoint of `hothouse train words`")));
        };
        let line = run::words::vocabulary_line(&notes["tokenizer"]);
        Ok(std::io::stdout().lock().write_all(line.as_bytes())?)
    }
}
