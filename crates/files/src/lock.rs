//! Lock files. A process that replaces a file locks the file `.NAME.lock` beside it, and writes the new contents to `.NAME.PID.part` first.
//! The operating system unlocks the files of a process that ends in any way, also of a process on another machine. Files of dead processes
//! are therefore recognised without process ids, which systems use again.

use super::{end_of_links, folder_of, is_same};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Maximum number of attempts to lock a file that other processes remove, and of names that are tried for a temporary file.
const ATTEMPTS: u32 = 100;
const LOCK: &str = ".lock";
const PART: &str = ".part";

/// A locked lock file. Dropping this value removes the file.
pub struct Lock {
    path: PathBuf,
    file: File,
    /// False on a file system without locks, where other processes may use the file.
    is_certain: bool,
    /// Process that locked the file. A forked process shares the lock, but must not remove the file.
    process: u32,
}

impl Lock {
    /// Locks the file `target`, which may not exist, and removes its temporary files of dead processes. Returns `None` if another process
    /// has locked it.
    pub fn take(target: &Path) -> Result<Option<Lock>> {
        let path = beside(target, LOCK);
        for _ in 0..ATTEMPTS {
            let Some(file) = open(&path)? else { continue };
            let is_certain = match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                locked => locked.is_ok(),
            };
            let lock = Lock { path: path.clone(), file, is_certain, process: std::process::id() };
            // The previous owner may have removed the file after it was opened here.
            if is_same(&lock.file, &path) {
                lock.remove_parts(target);
                return Ok(Some(lock));
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Removes the temporary files of `target`. As this process owns the lock, the processes that wrote them are dead.
    fn remove_parts(&self, target: &Path) {
        let entries = if self.is_certain { fs::read_dir(folder_of(target)).ok() } else { None };
        for part in entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            if target_of_part(&part).is_some_and(|of| of.file_name() == target.file_name()) {
                // If the removal fails, the next owner of the lock tries again.
                let _ = fs::remove_file(part);
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.process == std::process::id() && is_same(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens a lock file, and creates it if it does not exist. A link is never followed to a file that does not exist. Returns `None` if the
/// file was removed in the meantime.
fn open(path: &Path) -> Result<Option<File>> {
    let mut options = File::options();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => return created.map(Some),
    }
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Creates a temporary file in the folder of `target`, so that renaming stays within one file system. If a file or link with the name
/// exists, the next name is tried: `.NAME.PID.part`, `.NAME.PID-1.part` and so on.
pub fn temporary(target: &Path) -> Result<(PathBuf, File)> {
    let process = std::process::id();
    for attempt in 0..ATTEMPTS {
        let again = if attempt == 0 { String::new() } else { format!("-{attempt}") };
        let path = beside(target, &format!(".{process}{again}{PART}"));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((path, made?)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Returns the path of a hidden file of `target`, whose name ends with `end`.
fn beside(target: &Path, end: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    folder_of(target).join(format!(".{name}{end}"))
}

/// Returns the file to which a lock file belongs; `None` if `path` is no lock file.
fn target_of_lock(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(LOCK)?;
    Some(path.with_file_name(name)).filter(|_| !name.is_empty())
}

/// Returns the file to which a temporary file belongs; `None` if `path` is no temporary file.
fn target_of_part(path: &Path) -> Option<PathBuf> {
    let (name, process) = path.file_name()?.to_str()?.strip_prefix('.')?.strip_suffix(PART)?.rsplit_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_process = process.split_once('-').map_or(is_number(process), |(process, attempt)| is_number(process) && is_number(attempt));
    Some(path.with_file_name(name)).filter(|_| !name.is_empty() && is_process)
}

/// Removes the lock files and temporary files in `folder` whose processes are dead.
pub fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    for target in entries.filter_map(|path| target_of_lock(&path).or_else(|| target_of_part(&path))) {
        // Taking the lock removes temporary files, and dropping it removes the lock file.
        drop(Lock::take(&target));
    }
}

/// Removes a file unless a process has claimed it. On a file system without locks, the file is kept. If the removal fails, the file is kept
/// too.
pub fn remove_unclaimed(path: &Path) {
    if let Ok(Some(lock)) = Lock::take(&end_of_links(path))
        && lock.is_certain
    {
        let _ = fs::remove_file(path);
    }
}
