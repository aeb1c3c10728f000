//! Claims. A claim is the right of one process to replace a file. As long as a process has it, no other process can claim the file, also
//! if the file does not exist yet. Runs claim their checkpoints and monitors until they end.

use super::lock::{Lock, temporary};
use super::{CHECKPOINT, FileKind, Refused, busy, folder_of, identity, place, refused};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of repeated attempts to lock a file, each after a millisecond.
const PATIENCE: u32 = 50;

pub struct Claim {
    path: PathBuf,
    kind: FileKind,
    _lock: Lock,
}

impl Claim {
    /// Claims a file. Returns an error if another process has claimed it, or if a file of this kind cannot be written there.
    pub fn new(path: &Path, kind: FileKind) -> Result<Claim> {
        let target = place(path, kind)?;
        let folder = folder_of(&target);
        if !folder.is_dir() {
            let text = format!("the folder {} does not exist. Create it, or choose another folder", folder.display());
            return Err(refused(ErrorKind::NotFound, text));
        }
        let cannot = || format!("cannot write in {}. Free space, change permissions, or choose another folder", folder.display());
        let lock = patiently(|| Lock::take(&target)).with_context(cannot)?.ok_or_else(|| busy(path, kind))?;
        probe(&target).with_context(cannot)?;
        Ok(Claim { path: path.to_path_buf(), kind, _lock: lock })
    }

    /// Claims `path` if the file does not exist, otherwise the first of `…-2`, `…-3` and so on that does not exist and is not claimed. A
    /// default name therefore does not overwrite a file.
    pub fn free(path: &Path, kind: FileKind) -> Result<Claim> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
        let numbered = (2u32..).map(|n| path.with_file_name(format!("{stem}-{n}{extension}")));
        let mut names = std::iter::once(path.to_path_buf()).chain(numbered);
        let claim = |path: PathBuf| {
            let claimed = Claim::new(&path, kind);
            // This is checked after the claim, because another process may have written the file just before.
            let is_free = fs::symlink_metadata(&path).is_err() && !claimed.as_ref().is_err_and(is_busy);
            is_free.then_some(claimed)
        };
        names.find_map(claim).expect("some number is free")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error if the file exists and does not have the version `known`. Without `known`, any version is accepted.
    pub fn expect_version(&self, known: Option<String>) -> Result<()> {
        match (known, version(&self.path)) {
            (Some(known), Some(found)) if known != found => {
                let text =
                    format!("another process has written {} since this run was read or saved. {}", self.path.display(), self.kind.next);
                Err(refused(ErrorKind::ResourceBusy, text))
            }
            _ => Ok(()),
        }
    }

    /// Writes all of `bytes` or nothing. After a crash or with a full disk, the old file remains.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.replace(|file| file.write_all(bytes).and_then(|()| file.sync_all())).map(drop)
    }

    /// Creates or replaces the file after `write` has written the contents to a temporary file. Returns the open file.
    pub fn replace(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<File> {
        let target = place(&self.path, self.kind)?;
        let made = temporary(&target).and_then(|(temporary, mut file)| {
            let made = write(&mut file).and_then(|()| fs::rename(&temporary, &target));
            if made.is_err() {
                // Only the first error is reported, so an error of the removal is ignored.
                let _ = fs::remove_file(&temporary);
            }
            made.map(|()| file)
        });
        made.with_context(|| format!("cannot write {}. {}", self.path.display(), self.kind.next))
    }
}

/// Repeats an attempt to lock a file for a moment, because another process may have locked it only to remove files of dead processes.
fn patiently(attempt: impl Fn() -> io::Result<Option<Lock>>) -> io::Result<Option<Lock>> {
    for _ in 0..PATIENCE {
        if let Some(lock) = attempt()? {
            return Ok(Some(lock));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    attempt()
}

/// Returns an error if a temporary file of `target` cannot be written, for example on a full disk.
fn probe(target: &Path) -> io::Result<()> {
    let (path, mut file) = temporary(target)?;
    let written = file.write_all(b"probe");
    written.and(fs::remove_file(&path))
}

fn is_busy(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refused>().is_some_and(|refused| refused.kind == ErrorKind::ResourceBusy)
}

/// Returns a text that differs after each write of a file; `None` if the file does not exist.
pub fn version(path: &Path) -> Option<String> {
    let there = fs::metadata(path).ok()?;
    Some(format!("{:?} {} {:?}", identity(path), there.len(), there.modified().ok()?))
}

/// Returns an error if a file of this kind cannot be written to `path`. Call this function before long work.
pub fn check(path: &Path, kind: FileKind) -> Result<()> {
    Claim::new(path, kind).map(drop)
}

/// Writes all of `bytes` or nothing to a file that no other process has claimed.
pub fn write_whole(path: &Path, kind: FileKind, bytes: &[u8]) -> Result<()> {
    Claim::new(path, kind)?.write(bytes)
}

/// Location of a saved checkpoint. `trouble` is the reason why a fallback was used; `None` without a fallback.
#[derive(Debug)]
pub struct Kept {
    pub path: PathBuf,
    pub trouble: Option<String>,
}

/// Writes a checkpoint to the file of `wanted`, or else to a new file: to one of `refuges`, or to a numbered file beside it. `fallback` is
/// the claim of the new file, which later calls write again. Without `wanted`, a new file is no trouble.
pub fn keep(wanted: Option<&Claim>, fallback: &mut Option<Claim>, refuges: &[PathBuf], bytes: &[u8]) -> Result<Kept> {
    let first = match wanted.map(|claim| (claim, claim.write(bytes))) {
        Some((claim, Ok(()))) => return Ok(Kept { path: claim.path.clone(), trouble: None }),
        // For a disk error, only the system's message is used, because the texts below already contain the path.
        Some((claim, Err(error))) => {
            let why = error.downcast_ref::<io::Error>().map_or_else(|| error.to_string(), ToString::to_string);
            Some(format!("cannot save to {} ({why})", claim.path.display()))
        }
        None => None,
    };
    let write = |claim: Claim| claim.write(bytes).is_ok().then_some(claim);
    *fallback = fallback.take().and_then(write);
    if fallback.is_none() {
        *fallback = refuges.iter().find_map(|refuge| write(Claim::free(refuge, CHECKPOINT).ok()?));
    }
    match (fallback, first) {
        (Some(claim), first) => {
            let trouble = first.map(|first| format!("{first}; the run is safe in {}", claim.path.display()));
            Ok(Kept { path: claim.path.clone(), trouble })
        }
        (None, first) => {
            let others: Vec<String> = refuges.iter().map(|refuge| refuge.display().to_string()).collect();
            bail!("{} {}", first.map_or("cannot save to".into(), |first| format!("{first}, nor to")), others.join(" or "))
        }
    }
}
