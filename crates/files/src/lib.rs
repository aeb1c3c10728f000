//! File access for the terminal and Python programs. A write replaces only a file of the same kind that no other process has claimed. The
//! file is replaced completely or not at all. If a checkpoint cannot be written to the requested location, a fallback location is used.
//! Input files may come from any source and have any length.

use anyhow::{Context, Result};
use run::RunError;
use run::monitor::MAGIC;
use run::protocol::Dataset;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

mod claim;
mod error;
mod header;
mod input;
mod lock;
mod memory;
mod models;

pub use claim::{Claim, Kept, check, keep, version, write_whole};
pub use error::Refused;
use error::refused;
use header::{HEAD, LONGEST_HEADER, tensors_length};
use input::readable;
pub use input::{Input, check_no_pipe, is_waiting, open, stdin};
pub use lock::{remove_leftovers, remove_unclaimed};
pub use memory::memory_bytes;
use memory::{amount, check_room};
pub use models::{check_model, write_model};

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::header::tensors_length;
    pub use crate::memory::{check_room, from_files};
}

/// Maximum size in bytes of a file such as a circuit, drawing or table.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// Maximum size of training data if the size of the memory is unknown, in bytes.
const MOST_DATA: u64 = 16 << 30;

/// A kind of file that this program writes, and the test that detects it.
#[derive(Clone, Copy)]
pub struct FileKind {
    /// Name of the kind in error messages, such as `checkpoint`.
    pub name: &'static str,
    /// Function that returns true if a nonempty file is of this kind.
    pub is_kind: fn(&mut dyn Read) -> bool,
    /// Remedy in error messages, such as `Name another file with --save`.
    pub next: &'static str,
    /// Example of a file name, for error messages.
    pub example: &'static str,
    /// True if the file is written line by line; the path may then be a pipe or device.
    pub is_stream: bool,
}

pub const CHECKPOINT: FileKind = FileKind {
    name: "checkpoint",
    is_kind: |file| {
        let head: Vec<u8> = bytes(file, HEAD as u64);
        let length = head.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
        let header = bytes(file, if length <= LONGEST_HEADER { length } else { 0 });
        // This beginning also identifies a truncated checkpoint, whose header may be incomplete.
        header.starts_with(br#"{"__metadata__":{"hothouse":"#)
            || serde_json::from_slice(&header).is_ok_and(|json| tensors_length(&json).is_some())
    },
    next: "Name another file with --save",
    example: "run.safetensors",
    is_stream: false,
};

pub const MONITOR: FileKind = FileKind {
    name: "monitor",
    is_kind: |file| bytes(file, 8) == MAGIC.to_le_bytes(),
    next: "Name another file with --monitor",
    example: "run.ring",
    is_stream: false,
};

/// First bytes of every file of events.
pub const EVENTS_BEGIN: &[u8] = br#"{"kind":"opened""#;

pub const EVENTS: FileKind = FileKind {
    name: "file of events",
    is_kind: |file| begins(file, EVENTS_BEGIN),
    next: "Name another file with --events",
    example: "run.jsonl",
    is_stream: true,
};

fn bytes(file: &mut dyn Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The error is ignored: a file that cannot be read is of no known kind.
    let _ = file.take(most).read_to_end(&mut bytes);
    bytes
}

/// Returns true if the file starts with `with`. Also returns true if the whole file is a prefix of `with`, as after an interrupted write.
pub fn begins(file: &mut dyn Read, with: &[u8]) -> bool {
    with.starts_with(&bytes(file, with.len() as u64))
}

/// Resolves links in `path` and returns the target. Returns an error if `path` has no file name. Also returns an error if the target exists
/// and is neither an empty file nor a file of this kind. If `kind.is_stream` is true, the target may also be a pipe or a device; in this
/// case, `path` is returned unchanged.
fn place(path: &Path, kind: FileKind) -> Result<PathBuf> {
    let (shown, next) = (path.display(), kind.next);
    if path.file_name().is_none() {
        return Err(refused(ErrorKind::InvalidInput, format!("'{shown}' names no file. Add a file name, such as {}", kind.example)));
    }
    let there = match fs::metadata(path) {
        // A path below a regular file does not exist either.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        there => Some(there.with_context(|| format!("cannot write to {shown}. {next}"))?),
    };
    let target = end_of_links(path);
    match there {
        Some(found) if found.is_dir() => Err(refused(
            ErrorKind::IsADirectory,
            format!("{shown} is a folder. Add a file name, such as {}", path.join(kind.example).display()),
        )),
        Some(found) if !found.is_file() && kind.is_stream => Ok(path.to_path_buf()),
        // Returns an error, because a rename onto the path would remove the device or the pipe.
        Some(found) if !found.is_file() => Err(refused(
            ErrorKind::AlreadyExists,
            format!("{shown} is a device or a pipe, not a regular file, so it cannot contain a {}. {next}", kind.name),
        )),
        Some(found) if found.len() > 0 => {
            let mut file =
                File::open(&target).with_context(|| format!("cannot read {shown} to check what would be overwritten. {next}"))?;
            match (kind.is_kind)(&mut file) {
                true => Ok(target),
                false => Err(refused(ErrorKind::AlreadyExists, format!("{shown} is not a {} and would be lost. {next}", kind.name))),
            }
        }
        _ => Ok(target),
    }
}

/// Opens a file that is written line by line. Its contents are kept, and the position is at the start. Pipes and devices are opened for
/// writing only. A regular file is locked, because it is written in place; returns an error if another process has locked it.
pub fn open_lines(path: &Path, kind: FileKind) -> Result<File> {
    let (shown, next) = (path.display(), kind.next);
    let target = place(path, kind)?;
    let is_plain = fs::metadata(&target).map_or(true, |there| there.is_file());
    let mut options = File::options();
    options.write(true);
    if is_plain {
        options.read(true).create(true).truncate(false);
    }
    let file = options.open(&target).with_context(|| format!("cannot write {shown}. {next}"))?;
    // On file systems without locks, two processes that write to the same file are not detected.
    if is_plain && let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(busy(path, kind));
    }
    Ok(file)
}

/// Returns the error for a file that another process is writing.
fn busy(path: &Path, kind: FileKind) -> anyhow::Error {
    let text = format!("another run is writing to {}. Wait until it ends. {}", path.display(), kind.next);
    refused(ErrorKind::ResourceBusy, text)
}

/// Opens a file that is written line by line, and removes its contents.
pub fn create_lines(path: &Path, kind: FileKind) -> Result<File> {
    let file = open_lines(path, kind)?;
    // Pipes and devices cannot be cleared.
    if file.metadata().is_ok_and(|there| there.is_file()) {
        file.set_len(0).with_context(|| format!("cannot write {}. {}", path.display(), kind.next))?;
    }
    Ok(file)
}

/// Identity of a file, which may not exist yet. Symbolic links have the identity of their target. On Unix, all hard links to a file also
/// have the same identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Device number and inode number, which are the same for all hard links.
    Number(u64, u64),
    Path(PathBuf),
}

pub fn identity(path: &Path) -> Identity {
    let target = end_of_links(path);
    #[cfg(unix)]
    if let Ok(metadata) = fs::metadata(&target) {
        use std::os::unix::fs::MetadataExt;
        return Identity::Number(metadata.dev(), metadata.ino());
    }
    let name = target.file_name().unwrap_or_default();
    let place = fs::canonicalize(&target).or_else(|_| Ok(fs::canonicalize(folder_of(&target))?.join(name)));
    Identity::Path(place.unwrap_or_else(|_: std::io::Error| target.clone()))
}

/// Returns true if an open file still has this path.
#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |there: fs::Metadata| (there.dev(), there.ino());
    matches!((file.metadata().map(number), fs::metadata(path).map(number)), (Ok(open), Ok(there)) if open == there)
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Follows symbolic links and returns the path of their target, which may not exist yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // Most operating systems follow at most 40 links.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

/// Reads all bytes. Returns an error if there are more than `most` bytes. `shown` is the name for error messages.
pub fn read_at_most(from: impl Read, most: u64, shown: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > most {
        return Err(refused(
            ErrorKind::FileTooLarge,
            format!("{shown} is larger than the limit of {}. Pass a smaller part of it", amount(most)),
        ));
    }
    Ok(bytes)
}

/// Returns the bytes of a text without the byte order mark that some editors write.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
}

/// Reads a file that may be of several kinds, such as a circuit, a checkpoint that contains a circuit, or a drawing.
pub fn read_any(path: &Path) -> Result<Vec<u8>> {
    read_at_most(open(path)?, MAX_FILE_BYTES, &path.display().to_string())
}

/// Reads a checkpoint of any size that fits into memory. If the file is not a checkpoint of Hothouse, only the beginning of the file is
/// read.
pub fn read_checkpoint(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    if fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = format!("the file {shown} does not exist. `hothouse train --save {shown}` creates it");
        return Err(refused(ErrorKind::NotFound, text));
    }
    if path.is_dir() {
        let example = path.join("run.safetensors");
        return Err(refused(ErrorKind::IsADirectory, format!("{shown} is a folder. Name a checkpoint in it, as in {}", example.display())));
    }
    let mut file = open(path)?;
    let length = file.length().unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let mut read_more = |bytes: &mut Vec<u8>, most: u64| {
        let read = file.by_ref().take(most).read_to_end(bytes);
        read.map(|_| ()).with_context(|| format!("cannot read {shown}"))
    };
    read_more(&mut bytes, HEAD as u64)?;
    let header = bytes.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
    if header <= LONGEST_HEADER {
        read_more(&mut bytes, header)?;
    }
    // Content that is not JSON is returned, because the parser of checkpoints reports the error.
    let Ok(json) = serde_json::from_slice(&bytes[HEAD.min(bytes.len())..]) else { return Ok(bytes) };
    let Some(tensors) = tensors_length(&json) else {
        let why = "a safetensors file without Hothouse's metadata".into();
        return Err(RunError::Foreign { why }).with_context(|| format!("cannot use {shown}"));
    };
    check_room(tensors.min(length), memory_bytes(), &shown.to_string())?;
    // One more byte is read, so that the parser can detect trailing data.
    read_more(&mut bytes, tensors.saturating_add(1))?;
    Ok(bytes)
}

/// File name that means standard input.
pub const STDIN: &str = "-";

/// Describes the file of `--data` by its name and length, without reading the file. The length of standard input or of a pipe is 0.
pub fn measured_data(path: &Path) -> Result<Dataset> {
    let mut bytes = 0;
    if path.as_os_str() != STDIN {
        // The file is not opened, because data from a pipe can be read only once.
        bytes = readable(path)?.len();
    }
    Ok(Dataset { name: data_name(path), bytes, hash: String::new(), content: None })
}

/// Reads training data of at most [`max_data_bytes`] bytes. The run needs the remaining memory for derived data.
pub fn read_data(path: &Path) -> Result<Dataset> {
    let (name, most) = (data_name(path), max_data_bytes());
    let content = match path.as_os_str() == STDIN {
        true => read_at_most(stdin(), most, &name),
        false => read_at_most(open(path)?, most, &name),
    };
    Ok(Dataset::new(name, content?))
}

/// Returns the maximum size of training data in bytes: half of the free memory, or 16 GiB if the size of the memory is unknown.
pub fn max_data_bytes() -> u64 {
    match memory_bytes() {
        u64::MAX => MOST_DATA,
        memory => memory / 2,
    }
}

/// Returns the name of training data in messages: the file name without folders, or `standard input`.
fn data_name(path: &Path) -> String {
    if path.as_os_str() == STDIN {
        return "standard input".into();
    }
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
