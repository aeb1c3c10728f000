//! Files of the shells, the terminal's and Python's: what is written goes over files of the same kind alone, whole or not at all, and
//! elsewhere where the place asked for cannot be written any more. What is read may be by anybody, of any length and without end.

use anyhow::{Context, Error, Result, bail};
use run::RunError;
use run::monitor::MAGIC;
use run::protocol::Dataset;
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

mod memory;

pub use memory::memory_bytes;

/// What is far larger is no circuit, no drawing and no table.
pub const LARGEST_BYTES: u64 = 1 << 30;
/// Bytes of a safetensors file before its header, which say how long that is; and of the longest that readers of the format take.
const HEAD: usize = 8;
const LONGEST_HEADER: u64 = 100_000_000;
/// Names that a temporary file tries before it gives up.
const TEMPORARY_NAMES: u32 = 100;
/// Of data from a pipe where the system does not say how much memory there is.
const MOST_DATA: u64 = 16 << 30;

/// A kind of file that this program writes, and how it is known among others.
#[derive(Clone, Copy)]
pub struct Kind {
    /// `checkpoint`
    pub name: &'static str,
    /// Whether a file that is not empty is one.
    pub is_one: fn(&mut dyn Read) -> bool,
    /// `Name another file with --save`
    pub next: &'static str,
    /// It is written line by line, so that a pipe or a device can take it too.
    pub is_stream: bool,
}

pub const CHECKPOINT: Kind = Kind {
    name: "checkpoint",
    is_one: |file| {
        let head: Vec<u8> = bytes(file, HEAD as u64);
        let length = head.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
        let header = bytes(file, if length <= LONGEST_HEADER { length } else { 0 });
        // One that was cut short begins so all the same.
        header.starts_with(br#"{"__metadata__":{"hothouse":"#)
            || serde_json::from_slice(&header).is_ok_and(|json| tensors_length(&json).is_some())
    },
    next: "Name another file with --save",
    is_stream: false,
};

pub const MONITOR: Kind = Kind {
    name: "monitor",
    is_one: |file| bytes(file, 8) == MAGIC.to_le_bytes(),
    next: "Name another file with --monitor",
    is_stream: false,
};

/// How every file of events begins.
pub const EVENTS_BEGIN: &[u8] = br#"{"kind":"opened""#;

pub const EVENTS: Kind =
    Kind { name: "file of events", is_one: |file| begins(file, EVENTS_BEGIN), next: "Name another file with --events", is_stream: true };

fn bytes(file: &mut dyn Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is no file of any kind.
    let _ = file.take(most).read_to_end(&mut bytes);
    bytes
}

/// Whether a file begins in this way, or is a part of such a beginning.
pub fn begins(file: &mut dyn Read, with: &[u8]) -> bool {
    with.starts_with(&bytes(file, with.len() as u64))
}

/// What cannot be written or read as it is: what is the matter, and the next step.
#[derive(Debug)]
pub struct Refused {
    pub kind: ErrorKind,
    text: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}

fn refused(kind: ErrorKind, text: String) -> Error {
    Refused { kind, text }.into()
}

/// The file behind `path`, through links, where one of this kind may be written: nothing is there yet, or one of the same kind, or
/// nothing in it.
fn place(path: &Path, kind: Kind) -> Result<PathBuf> {
    let (shown, next) = (path.display(), kind.next);
    if path.file_name().is_none() {
        return Err(refused(ErrorKind::InvalidInput, format!("'{shown}' names no file. Add a file name, as in run.safetensors")));
    }
    let there = match fs::metadata(path) {
        // Nor is there anything to lose behind a file that is no folder.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        there => Some(there.with_context(|| format!("cannot write to {shown}. {next}"))?),
    };
    let target = end_of_links(path);
    match there {
        Some(found) if found.is_dir() => Err(refused(
            ErrorKind::IsADirectory,
            format!("{shown} is a folder. Add a file name, as in {}", path.join("run.safetensors").display()),
        )),
        Some(found) if !found.is_file() && kind.is_stream => Ok(path.to_path_buf()),
        // To write beside it and rename would replace it.
        Some(found) if !found.is_file() => Err(refused(
            ErrorKind::AlreadyExists,
            format!("{shown} is a device or a pipe, not a regular file, and a {} cannot be written to it. {next}", kind.name),
        )),
        Some(found) if found.len() > 0 => {
            let mut file = File::open(&target).with_context(|| format!("cannot read {shown}, to see what would be lost. {next}"))?;
            match (kind.is_one)(&mut file) {
                true => Ok(target),
                false => Err(refused(ErrorKind::AlreadyExists, format!("{shown} is no {}, and would be lost. {next}", kind.name))),
            }
        }
        _ => Ok(target),
    }
}

/// Fails where a file of this kind would be written over something else.
pub fn check_place(path: &Path, kind: Kind) -> Result<()> {
    place(path, kind).map(drop)
}

/// Fails where it can be known before training that a file of this kind cannot be written to `path`.
pub fn check(path: &Path, kind: Kind) -> Result<()> {
    let target = place(path, kind)?;
    if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        return Ok(());
    }
    let folder = folder_of(&target);
    if !folder.is_dir() {
        let text = format!("there is no folder {}. Create it, or name a file in another one", folder.display());
        return Err(refused(ErrorKind::NotFound, text));
    }
    let tried = beside(&target).and_then(|(probe, mut file)| {
        let written = file.write_all(b"probe");
        written.and(fs::remove_file(&probe))
    });
    tried.with_context(|| format!("cannot write in {}. Make room, change its permissions, or name a file elsewhere", folder.display()))
}

/// All of `bytes` or none of them: a crash or a full disk leaves the file that was there.
pub fn write_whole(path: &Path, kind: Kind, bytes: &[u8]) -> Result<()> {
    let written = replace(path, kind, |file| file.write_all(bytes).and_then(|()| file.sync_all()));
    // What was refused says where else it may be.
    written.map(|_| ()).map_err(|error| match error.is::<Refused>() {
        true => error,
        false => error.context(format!("cannot write {}. {}", path.display(), kind.next)),
    })
}

/// A file that appears under its name once `write` has filled it; it stays open.
pub fn replace(path: &Path, kind: Kind, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<File> {
    let target = place(path, kind)?;
    let (temporary, mut file) = beside(&target)?;
    let made = write(&mut file).and_then(|()| fs::rename(&temporary, &target));
    if made.is_err() {
        // The first error is the one to tell; what is left of the attempt only takes room.
        let _ = fs::remove_file(&temporary);
    }
    made?;
    Ok(file)
}

/// Opens what is written line by line, at its beginning and with all that it has; a pipe or a device for writing alone. Whoever has
/// it, has it alone.
pub fn open_lines(path: &Path, kind: Kind) -> Result<File> {
    let (shown, next) = (path.display(), kind.next);
    let target = place(path, kind)?;
    let is_plain = fs::metadata(&target).map_or(true, |there| there.is_file());
    let mut options = File::options();
    options.write(true);
    if is_plain {
        options.read(true).create(true).truncate(false);
    }
    let file = options.open(&target).with_context(|| format!("cannot write {shown}. {next}"))?;
    // Where the file system knows no locks, nothing is lost but this refusal.
    if is_plain && let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("another run is writing to {shown}. Let it end, or choose another place. {next}");
    }
    Ok(file)
}

/// What is written line by line, begun anew.
pub fn begin_lines(path: &Path, kind: Kind) -> Result<File> {
    let file = open_lines(path, kind)?;
    // A pipe or a device has nothing that could be lost.
    if file.metadata().is_ok_and(|there| there.is_file()) {
        file.set_len(0).with_context(|| format!("cannot write {}. {}", path.display(), kind.next))?;
    }
    Ok(file)
}

/// Where a checkpoint ended up, and why not where it should be.
#[derive(Debug)]
pub struct Kept {
    pub path: PathBuf,
    pub trouble: Option<String>,
}

/// Writes a checkpoint to `path`, else to the first of `refuges` that can be written.
pub fn keep(path: &Path, refuges: &[PathBuf], bytes: &[u8]) -> Result<Kept> {
    let Err(first) = write_whole(path, CHECKPOINT, bytes) else {
        return Ok(Kept { path: path.to_path_buf(), trouble: None });
    };
    // Of a disk's trouble the reason alone: which file it is stands before it.
    let first = first.downcast_ref::<std::io::Error>().map_or_else(|| first.to_string(), ToString::to_string);
    for refuge in refuges {
        if write_whole(refuge, CHECKPOINT, bytes).is_ok() {
            let shown = refuge.display();
            let trouble = format!("cannot save to {} ({first}); the run is safe in {shown}", path.display());
            return Ok(Kept { path: refuge.clone(), trouble: Some(trouble) });
        }
    }
    let others: Vec<String> = refuges.iter().map(|refuge| refuge.display().to_string()).collect();
    bail!("cannot save to {} ({first}), nor to {}", path.display(), others.join(" or "))
}

/// What tells that two names are of the same file: also through links, and before the file is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Device and number on it, which hard links share.
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

/// Where links lead, also to a file that is not there yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    // As many as systems follow.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}

/// `path`, or the first of `…-2`, `…-3` that does not exist: a default name overwrites nothing.
pub fn free_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    let numbered = (2u32..).map(|n| path.with_file_name(format!("{stem}-{n}{extension}")));
    std::iter::once(path.to_path_buf()).chain(numbered).find(|p| fs::symlink_metadata(p).is_err()).unwrap_or(path.to_path_buf())
}

/// Refuses what is neither a file nor a pipe: a device has no end, and a folder has no bytes. To open one may do something to it.
fn readable(path: &Path) -> Result<fs::Metadata> {
    let shown = path.display();
    let there = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(refused(error.kind(), format!("there is no file {shown}. Name a file that is there")));
        }
        there => there.with_context(|| format!("cannot read {shown}. Check its permissions"))?,
    };
    if there.is_dir() {
        return Err(refused(ErrorKind::IsADirectory, format!("{shown} is a folder. Name a file in it")));
    }
    if !there.is_file() && !is_pipe(&there) {
        return Err(refused(
            ErrorKind::InvalidInput,
            format!("{shown} is a device, not a file, and may have no end. Name a file, or send what is to be read through a pipe"),
        ));
    }
    Ok(there)
}

/// Opens a file or a pipe to read it.
pub fn open(path: &Path) -> Result<File> {
    readable(path)?;
    File::open(path).with_context(|| format!("cannot open {}. Check its permissions", path.display()))
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

/// All that there is to read, where it is no more than `most` bytes; `shown` names it.
pub fn read_at_most(from: impl Read, most: u64, shown: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > most {
        return Err(refused(
            ErrorKind::FileTooLarge,
            format!("{shown} has more than {}, and no more than that is read. Give a smaller part of it", amount(most)),
        ));
    }
    Ok(bytes)
}

fn amount(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MB", bytes >> 20) }
}

/// What may be of several kinds, as a circuit is that stands alone or in a checkpoint, or a drawing.
pub fn read_any(path: &Path) -> Result<Vec<u8>> {
    read_at_most(open(path)?, LARGEST_BYTES, &path.display().to_string())
}

/// A checkpoint of any size that fits the memory; of a foreign file, which may be of any size too, no more than its beginning.
pub fn read_checkpoint(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    if fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = format!("there is no file {shown}. `hothouse train --save {shown}` makes one");
        return Err(refused(ErrorKind::NotFound, text));
    }
    if path.is_dir() {
        let example = path.join("run.safetensors");
        return Err(refused(ErrorKind::IsADirectory, format!("{shown} is a folder. Name a checkpoint in it, as in {}", example.display())));
    }
    let file = open(path)?;
    let mut bytes = Vec::new();
    let read_on = |bytes: &mut Vec<u8>, most: u64| {
        let read = (&file).take(most).read_to_end(bytes);
        read.map(|_| ()).with_context(|| format!("cannot read {shown}"))
    };
    read_on(&mut bytes, HEAD as u64)?;
    let header = bytes.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
    if header <= LONGEST_HEADER {
        read_on(&mut bytes, header)?;
    }
    // What is no such file as a whole is told by whoever takes it apart.
    let Ok(json) = serde_json::from_slice(&bytes[HEAD.min(bytes.len())..]) else { return Ok(bytes) };
    let Some(tensors) = tensors_length(&json) else {
        let why = "a safetensors file without Hothouse's metadata".into();
        return Err(RunError::Foreign { why }).with_context(|| format!("cannot use {shown}"));
    };
    let length = file.metadata().ok().filter(fs::Metadata::is_file).map_or(u64::MAX, |file| file.len());
    check_room(tensors.min(length), memory_bytes(), &shown.to_string())?;
    // A byte behind them shows that the file is longer than it says.
    read_on(&mut bytes, tensors.saturating_add(1))?;
    Ok(bytes)
}

/// Refuses what is larger than the memory before it is read.
fn check_room(bytes: u64, memory: u64, shown: &str) -> Result<()> {
    if bytes <= memory {
        return Ok(());
    }
    Err(refused(
        ErrorKind::FileTooLarge,
        format!("{shown} has {}, more than the {} of memory that are free. Use a machine with more", amount(bytes), amount(memory)),
    ))
}

/// Bytes of the tensors of a checkpoint with this header; none where it is not Hothouse's.
fn tensors_length(header: &Value) -> Option<u64> {
    header["__metadata__"]["hothouse"].as_str()?;
    let ends = header.as_object()?.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64());
    Some(ends.max().unwrap_or(0))
}

/// The name that stands for standard input.
pub const STDIN: &str = "-";

/// What `--data` names, by its length alone where that is known before it is read.
pub fn measured_data(path: &Path) -> Result<Dataset> {
    let mut bytes = 0;
    if path.as_os_str() != STDIN {
        // Not opened: what comes through a pipe comes once.
        bytes = readable(path)?.len();
    }
    Ok(Dataset { name: data_name(path), bytes, hash: String::new(), content: None })
}

/// What is to be learned from, where it fits half of the memory: a run keeps what it makes of it beside it.
pub fn read_data(path: &Path) -> Result<Dataset> {
    let (name, most) = (data_name(path), most_data());
    let content = match path.as_os_str() == STDIN {
        true => read_at_most(std::io::stdin().lock(), most, &name),
        false => read_at_most(open(path)?, most, &name),
    };
    Ok(Dataset::new(name, content?))
}

/// Bytes of data that are read at most.
pub fn most_data() -> u64 {
    match memory_bytes() {
        u64::MAX => MOST_DATA,
        memory => memory / 2,
    }
}

/// The file's own, without its folders.
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

/// A new file in the same folder, so that renaming never crosses a file system. A link or a file that has one of its names already
/// stays as it is, and the next name is taken.
fn beside(path: &Path) -> std::io::Result<(PathBuf, File)> {
    let taken = |error: &std::io::Error| error.kind() == ErrorKind::AlreadyExists;
    let tries = (0..TEMPORARY_NAMES).map(|attempt| {
        let temporary = temporary_name(path, attempt);
        let file = File::options().read(true).write(true).create_new(true).open(&temporary)?;
        Ok((temporary, file))
    });
    let mut tries = tries.skip_while(|made| made.as_ref().is_err_and(taken));
    tries.next().unwrap_or_else(|| Err(ErrorKind::AlreadyExists.into()))
}

/// `.NAME.PID.part`, then `.NAME.PID-1.part`
fn temporary_name(path: &Path, attempt: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let process = std::process::id();
    let again = if attempt == 0 { String::new() } else { format!("-{attempt}") };
    folder_of(path).join(format!(".{name}.{process}{again}.part"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Scratch;

    /// A checkpoint for whoever looks at its beginning alone.
    fn checkpoint(word: &str) -> Vec<u8> {
        let header = format!(r#"{{"__metadata__":{{"hothouse":"{word}"}}}}"#);
        [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = Scratch::new("whole");
        let path = folder.join("run.safetensors");
        check(&path, CHECKPOINT).unwrap();
        write_whole(&path, CHECKPOINT, &checkpoint("one")).unwrap();
        let kept = keep(&path, &[], &checkpoint("two")).unwrap();
        assert_eq!((kept.path.as_path(), kept.trouble), (path.as_path(), None));
        assert_eq!(fs::read(&path).unwrap(), checkpoint("two"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(free_name(&path), folder.join("run-2.safetensors"));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_under_the_name_of_a_temporary_file_is_not_followed() {
        let folder = Scratch::new("planted");
        let (path, victim) = (folder.join("run.safetensors"), folder.join("victim"));
        fs::write(&victim, "precious").unwrap();
        for attempt in 0..3 {
            std::os::unix::fs::symlink("victim", temporary_name(&path, attempt)).unwrap();
        }
        check(&path, CHECKPOINT).unwrap();
        write_whole(&path, CHECKPOINT, &checkpoint("one")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert_eq!(fs::read(&path).unwrap(), checkpoint("one"));
        for attempt in 0..3 {
            assert!(fs::symlink_metadata(temporary_name(&path, attempt)).unwrap().is_symlink());
        }
        // Where all its names are taken, it says so and touches none of them.
        for attempt in 3..TEMPORARY_NAMES {
            fs::write(temporary_name(&path, attempt), "another's").unwrap();
        }
        assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("cannot write in"));
        assert!(write_whole(&path, CHECKPOINT, &checkpoint("two")).is_err());
        assert_eq!(fs::read(&path).unwrap(), checkpoint("one"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 + TEMPORARY_NAMES as usize);
    }

    #[test]
    fn a_place_that_is_gone_sends_the_run_elsewhere() {
        let folder = Scratch::new("gone");
        let path = folder.join("missing").join("run.safetensors");
        assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("no folder"));
        assert!(keep(&path, &[folder.join("no/run")], b"kept").unwrap_err().to_string().contains("nor to"));
        let kept = keep(&path, &[folder.join("no/run"), folder.join("run")], b"kept").unwrap();
        assert!(kept.trouble.unwrap().contains("safe in"));
        assert_eq!(fs::read(&kept.path).unwrap(), b"kept");
    }

    #[test]
    fn what_is_not_of_a_kind_is_not_written_over() {
        let folder = Scratch::new("foreign");
        let (notes, empty) = (folder.join("notes.txt"), folder.join("empty"));
        fs::write(&notes, "these are notes").unwrap();
        fs::write(&empty, "").unwrap();
        for kind in [CHECKPOINT, MONITOR] {
            for path in [&notes, &*folder, Path::new("")] {
                for done in [check(path, kind), write_whole(path, kind, b"x"), keep(path, &[], b"x").map(drop)] {
                    assert!(done.is_err(), "{}", path.display());
                }
            }
            let error = format!("{:#}", write_whole(&notes, kind, b"x").unwrap_err());
            assert!(error.contains("would be lost. Name another file with --"), "{error}");
            assert_eq!(fs::read_to_string(&notes).unwrap(), "these are notes");
            check(&empty, kind).unwrap();
        }
        assert!(read_checkpoint(&folder).unwrap_err().to_string().contains("folder"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "nothing is left beside them");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_and_a_link_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let folder = Scratch::new("special");
        let (pipe, round, dangling) = (folder.join("pipe"), folder.join("round"), folder.join("dangling"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink("pipe", folder.join("to-pipe")).unwrap();
        symlink("round", &round).unwrap();
        symlink("later", &dangling).unwrap();
        for name in [&pipe, &folder.join("to-pipe"), &round] {
            for kind in [CHECKPOINT, MONITOR] {
                assert!(check(name, kind).is_err(), "{}", name.display());
                assert!(write_whole(name, kind, b"x").is_err(), "{}", name.display());
            }
        }
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(fs::symlink_metadata(&round).unwrap().is_symlink());
        write_whole(&dangling, CHECKPOINT, &checkpoint("")).unwrap();
        write_whole(&dangling, CHECKPOINT, &checkpoint("again")).unwrap();
        assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink(), "a link stays one");
        assert_eq!(fs::read(folder.join("later")).unwrap(), checkpoint("again"));
    }

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        assert_eq!(read_at_most(&b"abc"[..], 3, "it").unwrap(), b"abc");
        let error = read_at_most(std::io::repeat(0), 5 << 20, "standard input").unwrap_err().to_string();
        assert_eq!(error, "standard input has more than 5 MB, and no more than that is read. Give a smaller part of it");
        check_room(7, 7, "it").unwrap();
        let error = check_room(3 << 30, 1 << 30, "run.safetensors").unwrap_err().to_string();
        assert!(error.contains("3072 MB") && error.contains("1024 MB of memory"), "{error}");
    }

    /// As long as the header says, and with nothing in it that takes room on the disk.
    fn sparse(path: &Path, header: &str, bytes: u64) {
        let mut file = File::create(path).unwrap();
        file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        file.write_all(header.as_bytes()).unwrap();
        file.set_len(bytes).unwrap();
    }

    #[test]
    fn how_much_of_a_file_is_read_follows_from_its_beginning() {
        let length = |header: &str| tensors_length(&serde_json::from_str(header).unwrap());
        let tensors = |last: u64| {
            let part = |from: u64, to: u64| format!(r#"{{"dtype":"F32","shape":[9],"data_offsets":[{from},{to}]}}"#);
            let (a, b) = (part(0, 36), part(36, last));
            format!(r#"{{"__metadata__":{{"hothouse":"{{}}"}},"b":{b},"a":{a}}}"#)
        };
        // About 89 million parameters with both moments, and far more.
        for last in [1 << 20, (1 << 30) - 1, 1 << 30, (1 << 30) + 4, 1 << 40] {
            assert_eq!(length(&tensors(last)), Some(last));
        }
        assert_eq!(length(r#"{"__metadata__":{"hothouse":"{}"}}"#), Some(0));
        for foreign in [r#"{"__metadata__":{"format":"pt"}}"#, r#"{"a":{"data_offsets":[0,4]}}"#, "[]", "7"] {
            assert_eq!(length(foreign), None, "{foreign}");
        }

        let folder = Scratch::new("beginning");
        let path = folder.join("some.safetensors");
        const HUGE: u64 = 3 << 30;
        // Cut to the length it has, as a checkpoint is that others appended something to.
        sparse(&path, &tensors(72), HUGE);
        let bytes = read_checkpoint(&path).unwrap();
        assert_eq!(bytes.len(), HEAD + tensors(72).len() + 72 + 1);
        check(&path, CHECKPOINT).unwrap();
        // A model of somebody else's, zeros, and a text whose ninth letter is a brace.
        sparse(&path, r#"{"a":{"dtype":"U8","shape":[3221225396],"data_offsets":[0,3221225396]}}"#, HUGE);
        let error = format!("{:#}", read_checkpoint(&path).unwrap_err());
        assert!(error.contains("some.safetensors") && error.contains("no Hothouse checkpoint"), "{error}");
        assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("would be lost"));
        for text in ["", r#"{"data":{"a":1}}"#] {
            fs::write(&path, text).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(HUGE).unwrap();
            assert_eq!(read_checkpoint(&path).unwrap().len(), HEAD);
            assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("would be lost"), "{text}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_is_known_by_every_name_it_has() {
        let folder = Scratch::new("names");
        let path = folder.join("run");
        let (soft, hard, later) = (folder.join("soft"), folder.join("hard"), folder.join("later"));
        std::os::unix::fs::symlink("run", &soft).unwrap();
        assert_eq!(identity(&path), identity(&soft), "before the file is there");
        assert_eq!(identity(&path), identity(&folder.join(".").join("run")));
        fs::write(&path, "x").unwrap();
        fs::hard_link(&path, &hard).unwrap();
        assert!([&soft, &hard].iter().all(|name| identity(name) == identity(&path)));
        assert_ne!(identity(&path), identity(&later));
        assert!(check(&soft, CHECKPOINT).unwrap_err().to_string().contains("--save"));
        fs::write(&path, checkpoint("one")).unwrap();
        write_whole(&soft, CHECKPOINT, &checkpoint("two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), checkpoint("two"), "behind a link, the file it points to is replaced");
    }
}
