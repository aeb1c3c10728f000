//! Monitors as files: the memory that a run tells into is a mapped file, which `watch` maps too.
//! Every run keeps one in the user's cache, under a name that begins with its start, and the oldest
//! of them go. The one place here that is unsafe: a file that is mapped can change at any time, so
//! it is only ever looked at as atomic words. It refuses to know what they mean; that is `run::monitor`.

use crate::files;
use anyhow::{Context, Result, anyhow, bail};
use memmap2::{MmapOptions, MmapRaw};
use run::monitor::{MAGIC, Memory, Reader, WORDS, Writer};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

/// Monitors of runs that have ended which are kept, the newest.
const KEPT: usize = 20;
const EXTENSION: &str = "ring";

struct Mapped {
    map: MmapRaw,
    /// Open for as long as it is mapped: the writer's holds the lock that tells it is alive.
    _file: File,
}

impl Memory for Mapped {
    #[allow(unsafe_code)]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the map begins at a page, so its words are aligned; it has at least as many bytes, and
        // lives as long as `self`. Others may write it meanwhile, which atomics are for; through a map for
        // reading alone, `Reader` only loads, relaxed.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), self.map.len() / 8) }
    }
}

/// Makes the file and gives what writes it. It appears under its name when it can be read.
pub fn create(path: &Path, about: &str) -> Result<Writer> {
    let part = files::beside(path);
    let made = fill(&part).and_then(|mapped| {
        let writer = Writer::new(Box::new(mapped), about)?;
        fs::rename(&part, path)?;
        Ok(writer)
    });
    made.map_err(|error| {
        // The first error is the one to tell; what is left of the attempt only takes room.
        let _ = fs::remove_file(&part);
        error.context(format!("cannot write {}", path.display()))
    })
}

fn fill(path: &Path) -> Result<Mapped> {
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    // Where locks are unknown, readers go by the heartbeat.
    let _ = file.try_lock();
    // Written and not only made so long: a map of blocks that the disk cannot give ends the process.
    file.write_all(&vec![0; 8 * WORDS])?;
    let map = MmapOptions::new().len(8 * WORDS).map_raw(&file)?;
    Ok(Mapped { map, _file: file })
}

/// The file begins as a monitor does.
pub fn is_monitor(path: &Path) -> bool {
    let mut magic = [0; 8];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == MAGIC.to_le_bytes()
}

/// A monitor that is read.
pub struct Watched {
    pub reader: Reader,
    file: File,
}

pub fn open(path: &Path) -> Result<Watched> {
    let shown = path.display();
    let file = File::open(path).map_err(|e| anyhow!("cannot open {shown} ({e}). Check its permissions"))?;
    let mapped = file.try_clone().and_then(|copy| {
        let map = MmapOptions::new().map_raw_read_only(&copy)?;
        Ok(Mapped { map, _file: copy })
    });
    let mapped = mapped.with_context(|| format!("cannot map {shown}. Copy it to a local disk"))?;
    let reader = Reader::open(Box::new(mapped)).with_context(|| format!("cannot watch {shown}"))?;
    Ok(Watched { reader, file })
}

impl Watched {
    /// Whether the process that writes is there; unknown where the file system has no locks.
    pub fn is_written(&self) -> Option<bool> {
        match self.file.try_lock_shared() {
            Ok(()) => {
                // Closing would give it back as well.
                let _ = self.file.unlock();
                Some(false)
            }
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Where monitors are kept that were given no other place.
pub fn folder() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = || {
        from("HOME")
            .map(|home| home.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }))
    };
    let cache = from("XDG_CACHE_HOME").or_else(|| from("LOCALAPPDATA")).or_else(home);
    cache.unwrap_or_else(std::env::temp_dir).join("hothouse")
}

/// A name in that folder for a run that starts now, after the oldest have been removed.
pub fn fresh(env: &str, seed: u32) -> Result<PathBuf> {
    let folder = folder();
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for old in kept()?.into_iter().skip(KEPT - 1) {
        if open(&old).map_or(true, |watched| watched.is_written() == Some(false)) {
            // Whoever cannot remove it now can later.
            let _ = fs::remove_file(old);
        }
    }
    let since_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(folder.join(format!("{since_ms:013}-{env}-seed{seed}-{}.{EXTENSION}", std::process::id())))
}

/// All monitors in that folder, the newest first.
pub fn kept() -> Result<Vec<PathBuf>> {
    let folder = folder();
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let mut rings: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == EXTENSION))
        .collect();
    // Names begin with the time of the start, in milliseconds.
    rings.sort_by(|a, b| b.file_name().cmp(&a.file_name()));
    Ok(rings)
}

/// Seconds since the run of that name was started.
pub fn age_s(path: &Path) -> Option<f64> {
    let started_ms: f64 = path.file_name()?.to_str()?.split('-').next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some((now.as_secs_f64() - started_ms / 1e3).max(0.0))
}

/// The newest of them, for whoever names none.
pub fn newest() -> Result<PathBuf> {
    match kept()?.into_iter().next() {
        Some(path) => Ok(path),
        None => bail!("there is no run to watch. Start one with `hothouse train`, or name a file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::monitor::State;

    #[test]
    fn a_file_tells_whether_its_writer_is_there() {
        let folder = std::env::temp_dir().join(format!("hothouse-ring-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("run.ring");
        assert!(!is_monitor(&path));
        let writer = create(&path, "{}").unwrap();
        assert!(is_monitor(&path));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        let (one, other) = (open(&path).unwrap(), open(&path).unwrap());
        assert_eq!((one.is_written(), other.is_written()), (Some(true), Some(true)));
        assert_eq!((one.reader.about(), one.reader.state()), ("{}".into(), State::Paused));
        drop(writer);
        assert_eq!((one.is_written(), other.is_written()), (Some(false), Some(false)));
        assert_eq!(other.reader.state(), State::Finished);
        // A new run of the same name leaves those who watch the old one alone.
        let again = create(&path, "again").unwrap();
        assert_eq!((one.reader.about(), one.is_written()), ("{}".into(), Some(false)));
        assert_eq!(open(&path).unwrap().reader.about(), "again");
        drop(again);
        assert!(create(&folder.join("missing/run.ring"), "").is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
