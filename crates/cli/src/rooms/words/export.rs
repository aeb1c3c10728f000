//! `hothouse export words`: prints a run's tokenizer as one line of JSON, or exports the model. If the line is saved to a file, another run
//! can use the tokenizer through `--vocab`.

use crate::plain;
use crate::shell::VerbArgs;
use crate::verbs::export::{ModelFormat, RunArgs};
use anyhow::{Result, bail};
use clap::Args;
use run::protocol::Event;
use std::io::Write;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Format of the model; without a format, the tokenizer is printed
    #[arg(long, value_enum, value_name = "FORMAT", requires = "out")]
    format: Option<ModelFormat>,
    /// File for the model. The model card is beside it, with the extension md
    #[arg(long, value_name = "FILE", requires = "format")]
    out: Option<PathBuf>,
}

impl VerbArgs for ExportArgs {
    const PATH: &'static [&'static str] = &["export", "words"];
    const ABOUT: &'static str = "Export the tokenizer as one line of JSON to standard output, or the model as ONNX, C or JavaScript";

    fn run(self) -> Result<()> {
        if let (Some(format), Some(out)) = (self.format, &self.out) {
            return self.run.export("words", format.into(), out);
        }
        let events = self.run.restored("words")?.events();
        let notes = events.into_iter().find_map(|event| if let Event::Began(began) = event { Some(began.room) } else { None });
        let Some(notes) = notes else { bail!("the run has no tokenizer. Train it longer, then save it again") };
        let line = run::words::vocabulary_line(&notes["tokenizer"]);
        Ok(plain::data().write_all(line.as_bytes())?)
    }
}
