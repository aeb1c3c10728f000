//! Creates a run from the command line, or restores a run from a checkpoint.

use crate::args::DataArgs;
use crate::args::values::set;
use crate::error::{Usage, usage_error};
use anyhow::{Context, Result, bail};
use run::protocol::Config;
use run::{AnyRoom, AnyRun};
use std::path::Path;

/// Returns the room with this id, or the first room if `id` is `None`.
pub fn room(id: Option<&str>) -> Result<&'static dyn AnyRoom> {
    id.map_or_else(|| Ok(run::rooms()[0]), |id| run::room(id).map_err(usage_error))
}

/// Returns the variant of a run: `given`, or else the room's variant for user data if `data` names user data. `None` means the default
/// variant.
pub fn variant(room: &dyn AnyRoom, given: Option<&String>, data: &DataArgs) -> Option<String> {
    given.cloned().or_else(|| data.data.as_ref().and(room.data_variant()).map(String::from))
}

/// Returns a config with the given variant and knobs, or an error if one of them is invalid. Starting a run with the config may still fail
/// for lack of data or memory.
pub fn config(room: &dyn AnyRoom, variant: Option<String>, given: &[(String, String)], host: run::Host) -> Result<Config> {
    let mut config = run::config_of(room);
    config.variant = variant.unwrap_or(config.variant);
    // The variant is checked before the knobs, because an unknown variant has no knobs.
    room.check(&config, run::Host { memory_bytes: u64::MAX, ..host }).map_err(usage_error)?;
    config.knobs = set(given, &room.knobs(&config.variant)).map_err(usage_error)?;
    Ok(config)
}

/// Reads the user data into the config. Validates the config with the length of the data before the content is read.
pub fn give_data(config: &mut Config, args: &DataArgs, host: run::Host) -> Result<()> {
    if let Some(data) = args.measured()? {
        config.data = Some(data);
        run::validate(config, host).map_err(usage_error)?;
        config.data = args.read()?;
    }
    Ok(())
}

pub fn restored(file: &Path, data: &DataArgs, host: run::Host) -> Result<Box<dyn AnyRun>> {
    restored_from(&files::read_checkpoint(file)?, file, data, host)
}

/// Restores a run from the bytes of its checkpoint. If `--data` is set, the run gets this user data. `file` is the checkpoint's path, for
/// error messages.
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
    Usage(format!("the run in {} was not trained on the file of --data. Omit --data", file.display()))
}

/// Returns an error if the user data is longer than the run's training data. Call this function before reading the content: the memory
/// limit was checked only for the length of the training data, so a longer text may not fit into memory.
fn check_length(checkpoint: &[u8], file: &Path, data: &DataArgs) -> Result<()> {
    let Some(found) = data.length()? else { return Ok(()) };
    // If the checkpoint is damaged, restoring the run reports the error.
    let Ok(wanted) = run::data_wanted(checkpoint) else { return Ok(()) };
    match wanted {
        Some(wanted) if found > wanted.bytes => bail!(Usage(format!(
            "the run in {} was trained on {} of {} bytes, but the file of --data has {found}. Name the original text with --data",
            file.display(),
            wanted.name,
            wanted.bytes
        ))),
        // If the data is saved inside the checkpoint, it cannot be longer than the checkpoint.
        None if found > checkpoint.len() as u64 => bail!(foreign_data(file)),
        _ => Ok(()),
    }
}
