//! Checkpoint file of a run, and the schedule of its saves.

use crate::session::saves;
use anyhow::Result;
use files::{CHECKPOINT, Claim, Kept};
use run::protocol::Config;
use std::path::PathBuf;

pub struct SaveTarget {
    /// Claim of the file that the user named: the file of `--save`, or the resumed checkpoint.
    named: Option<Claim>,
    /// Claim of the file in the cache; `None` before the first save, or if the user named a file.
    cached: Option<Claim>,
    /// Claim of the file to which the latest save went because the named or cached file could not be written.
    fallback: Option<Claim>,
    /// Text and next step of the last warning; `None` after a successful save.
    pub warning: Option<(String, String)>,
    /// Training time in seconds at the latest of these events: beginning or restoration of the run, save, failed automatic save.
    pub saved_s: f64,
    /// Training time between two automatic saves, in seconds.
    pub every_s: f64,
}

impl SaveTarget {
    pub fn new(named: Option<Claim>, every_s: f64) -> SaveTarget {
        SaveTarget { named, cached: None, fallback: None, warning: None, saved_s: 0.0, every_s }
    }

    pub fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// Names a new file in the current folder, unless the user has named a file. All later saves go to the same file.
    pub fn name(&mut self, config: &Config) -> Result<()> {
        if self.named.is_none() {
            self.named = Some(Claim::free(&default_name(config), CHECKPOINT)?);
        }
        Ok(())
    }

    /// Writes a checkpoint to the named or cached file, or else to a fallback.
    pub fn write(&mut self, config: &Config, bytes: &[u8]) -> Result<Kept> {
        if self.named.is_none() && self.cached.is_none() {
            // If there is no cache folder, the checkpoint goes to a fallback.
            self.cached = saves::fresh(&config.variant, config.seed).ok();
        }
        let wanted = self.named.as_ref().or(self.cached.as_ref());
        let name = wanted.and_then(|claim| Some(PathBuf::from(claim.path().file_name()?))).unwrap_or_else(|| default_name(config));
        let cache = saves::folder().ok().filter(|_| wanted.is_some());
        let folders = cache.into_iter().chain([std::env::temp_dir(), PathBuf::from(".")]);
        let refuges: Vec<PathBuf> = folders.map(|folder| folder.join(&name)).collect();
        let kept = files::keep(wanted, &mut self.fallback, &refuges, bytes)?;
        saves::prune(&kept.path);
        Ok(kept)
    }
}

/// Returns the name of a checkpoint for which neither the user nor the cache has a name.
fn default_name(config: &Config) -> PathBuf {
    PathBuf::from(format!("hothouse-{}-seed{}.safetensors", config.variant, config.seed))
}
