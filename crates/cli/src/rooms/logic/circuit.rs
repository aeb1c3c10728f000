//! Loads the circuit that the command line names.

use crate::error::Usage;
use anyhow::{Context, Result, bail};
use run::logic::Circuit;
use run::{AnyRun, Host, RunError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments that select a circuit.
#[derive(Clone, Debug, clap::Args)]
pub struct CircuitArgs {
    /// JSON circuit of `hothouse export logic`, checkpoint of `hothouse train logic`, or life: Conway's Life, built by hand
    #[arg(value_name = "CIRCUIT")]
    file: PathBuf,
    /// Member of a checkpoint's population, counted from 0 [default: the best member]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    member: Option<u32>,
}

impl CircuitArgs {
    pub fn read(&self, host: Host) -> Result<Circuit> {
        let shown = self.file.display();
        if self.file == Path::new("life") && !self.file.exists() {
            self.refuse_member()?;
            return Ok(Circuit::life());
        }
        if !self.file.exists() {
            bail!("there is no file {shown}. Create it with `hothouse export logic CHECKPOINT --format json --out {shown}`")
        }
        let bytes = files::read_any(&self.file)?;
        let from_json = |text: &str| Circuit::from_json(text).with_context(|| format!("cannot use {shown}"));
        let text = files::without_mark(&bytes);
        if let (Some(b'{'), Ok(text)) = (text.trim_ascii_start().first(), str::from_utf8(text)) {
            self.refuse_member()?;
            return from_json(text);
        }
        match run::origin(&bytes).map(|origin| origin.room) {
            Ok(room) if room == "logic" => {
                let mut run = run::restore(&bytes, host).with_context(|| format!("cannot use {shown}"))?;
                from_json(&exported(&mut *run, self.member)?)
            }
            Ok(room) => {
                Err(Usage(format!("{shown} belongs to room '{room}', not 'logic'. Name a checkpoint of `hothouse train logic`")).into())
            }
            Err(RunError::Foreign { .. }) => {
                bail!(
                    "{shown} is not a circuit. Name a JSON file of `hothouse export logic`, a checkpoint of `hothouse train logic`, or life"
                )
            }
            Err(error) => Err(error).with_context(|| format!("cannot use {shown}")),
        }
    }

    /// Returns an error if `--member` is set, because a single circuit has no population.
    fn refuse_member(&self) -> Result<()> {
        match self.member {
            Some(_) => Err(Usage("--member requires a checkpoint, and this is a single circuit. Omit --member".into()).into()),
            None => Ok(()),
        }
    }
}

/// Exports the circuit of the given member of the run's population as JSON. If `member` is `None`, exports the best member's circuit.
fn exported(run: &mut dyn AnyRun, member: Option<u32>) -> Result<String> {
    let mut ask = |question| crate::shell::ask::<Value>(run, question);
    let member = match member {
        Some(member) => json!(member),
        None => ask(json!({ "ask": "population" }))?["best"].clone(),
    };
    let answer = ask(json!({ "ask": "export", "member": member, "format": "json" }))?;
    Ok(answer["text"].as_str().context("the room's answer contains a circuit's text")?.into())
}
