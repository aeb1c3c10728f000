//! What runs keep in the user's cache without being asked: their monitors, and the saves of runs that were given no place.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Of each kind so many stay, the newest.
pub const KEPT: usize = 20;
const EXTENSION: &str = "safetensors";

fn cache() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || {
        from("HOME")
            .map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
    };
    let cache = from("XDG_CACHE_HOME").or_else(|| from("LOCALAPPDATA")).or_else(home);
    cache.unwrap_or_else(std::env::temp_dir).join("hothouse")
}

/// The folder, made where it was not there.
pub fn folder() -> Result<PathBuf> {
    let folder = cache();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    Ok(folder)
}

/// How the names of what a run keeps begin.
pub fn stem(variant: &str, seed: u32) -> String {
    let since_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("{since_ms:013}-{variant}-seed{seed}-{}", std::process::id())
}

/// All files of that kind in the folder.
pub fn cached(extension: &str) -> Result<Vec<PathBuf>> {
    let folder = cache();
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    Ok(paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect())
}

/// Where a run saves itself that was told no place.
pub fn fresh(variant: &str, seed: u32) -> Result<PathBuf> {
    Ok(folder()?.join(format!("{}.{EXTENSION}", stem(variant, seed))))
}

/// Runs that saved themselves here, the newest save first.
fn kept() -> Result<Vec<PathBuf>> {
    let mut saves = cached(EXTENSION)?;
    let written = |path: &PathBuf| fs::metadata(path).and_then(|m| m.modified()).unwrap_or(UNIX_EPOCH);
    saves.sort_by_cached_key(|path| std::cmp::Reverse((written(path), path.clone())));
    Ok(saves)
}

/// Removes the oldest, after `path` was written; those of runs that go on are written again and again.
pub fn prune(path: &Path) {
    if path.parent() == Some(&cache()) {
        for old in kept().unwrap_or_default().into_iter().skip(KEPT) {
            // Whoever cannot remove it now can later.
            let _ = fs::remove_file(old);
        }
    }
}

pub fn newest() -> Result<PathBuf> {
    match kept()?.into_iter().next() {
        Some(path) => Ok(path),
        None => bail!("there is no run to go on with. Start one with `hothouse train`, or name a checkpoint"),
    }
}
