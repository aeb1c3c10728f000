//! `hothouse export ROOM`: writes the trained model of a run as ONNX, C or JavaScript, with a model card. The same code serves all rooms.

use crate::args::{DataArgs, MachineArgs};
use crate::error::Usage;
use crate::host::Machine;
use crate::session::begin;
use crate::shell::RoomVerb;
use anyhow::{Result, bail};
use clap::{Args, FromArgMatches, ValueEnum};
use run::AnyRun;
use run::export::Format;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ModelFormat {
    /// For onnxruntime and other runtimes
    Onnx,
    /// One C99 file without dependencies
    C,
    /// JavaScript module for browsers and Node
    Js,
}

impl From<ModelFormat> for Format {
    fn from(format: ModelFormat) -> Format {
        match format {
            ModelFormat::Onnx => Format::Onnx,
            ModelFormat::C => Format::C,
            ModelFormat::Js => Format::Js,
        }
    }
}

/// Arguments that name the run whose model is exported.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Checkpoint of a run of this room, saved here or in the page
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

impl RunArgs {
    /// Restores the run. A run of another room is an error.
    pub fn restored(&self, room: &str) -> Result<Box<dyn AnyRun>> {
        let machine = Machine::new(&self.machine)?;
        let run = machine.pool.install(|| begin::restored(&self.file, &self.data, machine.host))?;
        let found = run.schema().id;
        if found != room {
            let file = self.file.display();
            bail!(Usage(format!("{file} belongs to room '{found}', not '{room}'. Name a checkpoint of `hothouse train {room}`")));
        }
        Ok(run)
    }

    /// Writes the model of the run, and the model card.
    pub fn export(&self, room: &str, format: Format, out: &Path) -> Result<()> {
        files::check_model(out, format)?;
        let card = files::write_model(out, format, &self.restored(room)?.export(format)?)?;
        Ok(writeln!(crate::plain::stdout(), "Wrote {} and its model card {}.", out.display(), card.display())?)
    }
}

#[derive(Clone, Debug, Args)]
struct ModelArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Format of the model
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: ModelFormat,
    /// File for the model. The model card is beside it, with the extension md
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Returns the export command of a room. The last word of `path` is the room.
pub fn verb(path: &'static [&'static str]) -> RoomVerb {
    RoomVerb {
        path,
        grammar: |verb| ModelArgs::augment_args(verb).about("Export the trained model as ONNX, C or JavaScript, with a model card"),
        run: |path, matches| {
            let ModelArgs { run, format, out } = ModelArgs::from_arg_matches(matches)?;
            run.export(path[path.len() - 1], format.into(), &out)
        },
    }
}
