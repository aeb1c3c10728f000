//! From what was typed to a run: a new one, or that of a checkpoint.

use crate::args::DataArgs;
use crate::args::values::set;
use crate::error::{Usage, refusal};
use anyhow::{Context, Result, bail};
use run::protocol::Config;
use run::{AnyRoom, AnyRun};
use std::path::Path;

/// The room of that name, or the first.
pub fn room(id: Option<&str>) -> Result<&'static dyn AnyRoom> {
    id.map_or_else(|| Ok(run::rooms()[0]), |id| run::room(id).map_err(refusal))
}

/// A config of a room with what was set, which no run need be able to start from yet.
pub fn config(room: &dyn AnyRoom, variant: Option<String>, given: &[(String, String)], host: run::Host) -> Result<Config> {
    let mut config = run::config_of(room);
    config.variant = variant.unwrap_or(config.variant);
    // A variant that there is not has no knobs to set.
    room.check(&config, run::Host { memory_bytes: u64::MAX, ..host }).map_err(refusal)?;
    config.knobs = set(given, &room.knobs(&config.variant)).map_err(refusal)?;
    Ok(config)
}

/// Reads what the run is to learn from, unless a run on so much could not begin.
pub fn give_data(config: &mut Config, args: &DataArgs, host: run::Host) -> Result<()> {
    if let Some(data) = args.measured()? {
        config.data = Some(data);
        run::validate(config, host).map_err(refusal)?;
        config.data = args.read()?;
    }
    Ok(())
}

pub fn restored(file: &Path, data: &DataArgs, host: run::Host) -> Result<Box<dyn AnyRun>> {
    restored_from(&files::read_checkpoint(file)?, file, data, host)
}

/// A run from a checkpoint's bytes, and the data beside it.
pub fn restored_from(bytes: &[u8], file: &Path, data: &DataArgs, host: run::Host) -> Result<Box<dyn AnyRun>> {
    check_length(bytes, file, data)?;
    let data = data.read()?;
    let run = run::restore_with(bytes, host, data.as_ref());
    let run = run.with_context(|| format!("cannot use {}", file.display()))?;
    if data.is_some() && run.config().data != data {
        bail!(foreign_data(file));
    }
    Ok(run)
}

fn foreign_data(file: &Path) -> Usage {
    Usage(format!("the run in {} does not learn from the file of --data. Leave it out", file.display()))
}

/// Refuses, before it is read, a text that is longer than what the run learns from: the run's memory was reckoned for that.
fn check_length(checkpoint: &[u8], file: &Path, data: &DataArgs) -> Result<()> {
    let Some(found) = data.length()? else { return Ok(()) };
    // A damaged checkpoint is refused with its own reason.
    let Ok(wanted) = run::data_wanted(checkpoint) else { return Ok(()) };
    match wanted {
        Some(wanted) if found > wanted.bytes => bail!(Usage(format!(
            "the run in {} learns from {}, {} bytes, and the file of --data has {found}. Name that text with --data",
            file.display(),
            wanted.name,
            wanted.bytes
        ))),
        // What lies in the checkpoint is no longer than that.
        None if found > checkpoint.len() as u64 => bail!(foreign_data(file)),
        _ => Ok(()),
    }
}
