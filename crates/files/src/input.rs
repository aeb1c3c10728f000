//! Files, pipes and standard input, open for reading. A program that reads a pipe or standard input waits for another program, possibly
//! forever.

use crate::error::refused;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, StdinLock};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Number of calls of this module that wait for another program.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Returns true while a call of this module waits for another program.
pub fn is_waiting() -> bool {
    WAITING.load(Relaxed) > 0
}

/// Guard that counts a waiting call until the guard is dropped.
struct Wait;

impl Wait {
    fn new() -> Wait {
        WAITING.fetch_add(1, Relaxed);
        Wait
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Relaxed);
    }
}

/// A file, a pipe or standard input.
pub struct Input<R> {
    from: R,
    /// True for a pipe and for standard input.
    waits: bool,
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let _wait = self.waits.then(Wait::new);
        self.from.read(to)
    }
}

impl Input<File> {
    /// Returns the length of a regular file in bytes; `None` for a pipe.
    pub fn length(&self) -> Option<u64> {
        self.from.metadata().ok().filter(fs::Metadata::is_file).map(|about| about.len())
    }
}

pub fn stdin() -> Input<StdinLock<'static>> {
    Input { from: io::stdin().lock(), waits: true }
}

/// Opens a file or pipe for reading.
pub fn open(path: &Path) -> Result<Input<File>> {
    let waits = is_pipe(&readable(path)?);
    // Opening a pipe waits for a program that writes to it.
    let _wait = waits.then(Wait::new);
    let from = File::open(path).with_context(|| format!("cannot open {}. Check its permissions", path.display()))?;
    Ok(Input { from, waits })
}

/// Returns the metadata of a file or a pipe; an error for any other path. A device is not opened, because opening a device can have side
/// effects.
pub fn readable(path: &Path) -> Result<fs::Metadata> {
    let shown = path.display();
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(refused(error.kind(), format!("the file {shown} does not exist. Choose an existing file")));
        }
        there => there.with_context(|| format!("cannot read {shown}. Check its permissions"))?,
    };
    if there.is_dir() {
        return Err(refused(ErrorKind::IsADirectory, format!("{shown} is a folder. Choose a file in it")));
    }
    if !there.is_file() && !is_pipe(&there) {
        return Err(refused(
            ErrorKind::InvalidInput,
            format!("{shown} is a device, not a file. Choose a file, or pass the data through a pipe"),
        ));
    }
    Ok(there)
}

/// Returns an error if the path is a pipe. Call this function if a user could not interrupt the wait for the bytes of a pipe.
pub fn check_no_pipe(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(there) if is_pipe(&there) => Err(refused(
            ErrorKind::InvalidInput,
            format!("{} is a pipe, and a regular file is needed. Save the bytes of the pipe to a file first", path.display()),
        )),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_pipe(there: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    there.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}
