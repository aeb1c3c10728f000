//! Files, written so that nothing is lost: beside the old one first, then put in its place in one
//! step; and elsewhere, where the place asked for cannot be written any more.

use anyhow::{Context, Result, anyhow, bail};
use run::RunError;
use run::protocol::Dataset;
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// What is far larger is no circuit and no drawing.
const LARGEST_BYTES: u64 = 1 << 30;
/// Bytes of a safetensors file before its header, which say how long that is; and of the longest that readers of the format take.
const HEAD: usize = 8;
const LONGEST_HEADER: u64 = 100_000_000;

/// Fails where it can be known before training that `path` cannot be written.
pub fn check_writable(path: &Path) -> Result<()> {
    let shown = path.display();
    if path.file_name().is_none() {
        bail!("'{shown}' names no file. Add a file name, as in run.safetensors");
    }
    if path.is_dir() {
        bail!("{shown} is a folder. Add a file name, as in {}", path.join("run.safetensors").display());
    }
    // Renaming over a device or a pipe would replace it.
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        bail!("{shown} is not a regular file. Name another file");
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!("there is no folder {}. Create it, or name a file in another one", folder.display());
    }
    let probe = beside(path);
    let tried = File::create(&probe).and_then(|mut file| file.write_all(b"probe"));
    let removed = fs::remove_file(&probe);
    tried.and(removed).with_context(|| {
        format!(
            "cannot write in {}. Make room, change its permissions, or name a file elsewhere",
            folder.display()
        )
    })
}

/// All of `bytes` or none of them: a crash or a full disk leaves the file that was there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // Behind a link, the file it points to is the one to replace.
    let target = end_of_links(path);
    let temporary = beside(&target);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The first error is the one to tell; what is left of the attempt only takes room.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Where a checkpoint ended up, and why not where it should be.
#[derive(Debug)]
pub struct Kept {
    pub path: PathBuf,
    pub trouble: Option<String>,
}

/// Writes to `path`, else to the first of `refuges` that can be written.
pub fn keep(path: &Path, refuges: &[PathBuf], bytes: &[u8]) -> Result<Kept> {
    let Err(first) = write_whole(path, bytes) else {
        return Ok(Kept { path: path.to_path_buf(), trouble: None });
    };
    for refuge in refuges {
        if write_whole(refuge, bytes).is_ok() {
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

/// Takes a file for this process alone, so that the lines of two runs do not mix.
pub fn claim(file: &File, path: &Path, flag: &str) -> Result<()> {
    // Where the file system knows no locks, nothing is lost but this refusal.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("another run is writing to {}. Let it end, or name another file with {flag}", path.display());
    }
    Ok(())
}

/// How a file begins, at most so many bytes; nothing where there is none.
pub fn beginning(path: &Path, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is told by whoever opens it.
    let _ = File::open(path).and_then(|file| file.take(most as u64).read_to_end(&mut bytes));
    bytes
}

/// Refuses a place for checkpoints where some other file is.
pub fn check_own_save(path: &Path) -> Result<()> {
    if !path.is_file() || beginning(path, 1).is_empty() {
        return Ok(());
    }
    match read_checkpoint(path).and_then(|bytes| Ok(run::room_of(&bytes)?)) {
        Ok(_) => Ok(()),
        Err(error) => match error.downcast_ref() {
            Some(RunError::Foreign { .. }) => {
                bail!("{} is no checkpoint, and would be lost. Name another file with --save", path.display())
            }
            Some(_) => Ok(()),
            None => Err(error),
        },
    }
}

/// `path`, or the first of `…-2`, `…-3` that does not exist: a default name overwrites nothing.
pub fn free_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    let numbered = (2u32..).map(|n| path.with_file_name(format!("{stem}-{n}{extension}")));
    std::iter::once(path.to_path_buf()).chain(numbered).find(|p| !p.exists()).unwrap_or(path.to_path_buf())
}

fn open(path: &Path) -> Result<File> {
    let shown = path.display();
    let file = match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            bail!("there is no file {shown}. `hothouse train --save {shown}` makes one")
        }
        opened => opened.map_err(|e| anyhow!("cannot open {shown} ({e}). Check its permissions"))?,
    };
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        bail!(
            "{shown} is a folder. Name a checkpoint in it, as in {}",
            path.join("run.safetensors").display()
        );
    }
    Ok(file)
}

/// What may be of several kinds, as a circuit is that stands alone or in a checkpoint, or a drawing.
pub fn read_any(path: &Path) -> Result<Vec<u8>> {
    let (shown, mut bytes) = (path.display(), Vec::new());
    open(path)?
        .take(LARGEST_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > LARGEST_BYTES {
        bail!("{shown} is far too large. Choose another file");
    }
    Ok(bytes)
}

/// A checkpoint of any size; of a foreign file, which may be of any size too, no more than its beginning.
pub fn read_checkpoint(path: &Path) -> Result<Vec<u8>> {
    let (shown, file) = (path.display(), open(path)?);
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
    // A byte behind them shows that the file is longer than it says.
    read_on(&mut bytes, tensors.saturating_add(1))?;
    Ok(bytes)
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
        let shown = path.display();
        let found = fs::metadata(path)
            .map_err(|e| anyhow!("cannot read {shown} ({e}). Name a file that is there"))?;
        if found.is_dir() {
            bail!("{shown} is a folder. Name a file in it");
        }
        bytes = found.len();
    }
    Ok(Dataset { name: data_name(path), bytes, hash: String::new(), content: None })
}

pub fn read_data(path: &Path) -> Result<Dataset> {
    let mut content = Vec::new();
    let read = match path.as_os_str() == STDIN {
        true => std::io::stdin().lock().read_to_end(&mut content),
        false => File::open(path).and_then(|mut file| file.read_to_end(&mut content)),
    };
    read.map_err(|e| anyhow!("cannot read {} ({e}). Name a file that is there", data_name(path)))?;
    Ok(Dataset::new(data_name(path), content))
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

/// A name in the same folder, so that renaming never crosses a file system.
pub fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder_of(path).join(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hothouse-files-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = scratch("whole");
        let path = folder.join("run.safetensors");
        check_writable(&path).unwrap();
        write_whole(&path, b"one").unwrap();
        let kept = keep(&path, &[], b"two").unwrap();
        assert_eq!((kept.path.as_path(), kept.trouble), (path.as_path(), None));
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        assert_eq!(free_name(&path), folder.join("run-2.safetensors"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_place_that_is_gone_sends_the_run_elsewhere() {
        let folder = scratch("gone");
        let path = folder.join("missing").join("run.safetensors");
        assert!(check_writable(&path).unwrap_err().to_string().contains("no folder"));
        assert!(keep(&path, &[folder.join("no/run")], b"kept").unwrap_err().to_string().contains("nor to"));
        let kept = keep(&path, &[folder.join("no/run"), folder.join("run")], b"kept").unwrap();
        assert!(kept.trouble.unwrap().contains("safe in"));
        assert_eq!(fs::read(&kept.path).unwrap(), b"kept");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn folders_and_devices_are_refused() {
        let folder = scratch("folder");
        assert!(check_writable(&folder).unwrap_err().to_string().contains("folder"));
        assert!(check_writable(Path::new("")).is_err());
        assert!(read_checkpoint(&folder).unwrap_err().to_string().contains("folder"));
        #[cfg(unix)]
        assert!(check_writable(Path::new("/dev/null")).unwrap_err().to_string().contains("regular"));
        fs::remove_dir_all(folder).unwrap();
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
            format!(
                r#"{{"__metadata__":{{"hothouse":"{{}}"}},"b":{{"dtype":"F32","shape":[9],"data_offsets":[36,{last}]}},"a":{{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}}}"#
            )
        };
        // About 89 million parameters with both moments, and far more.
        for last in [1 << 20, (1 << 30) - 1, 1 << 30, (1 << 30) + 4, 1 << 40] {
            assert_eq!(length(&tensors(last)), Some(last));
        }
        assert_eq!(length(r#"{"__metadata__":{"hothouse":"{}"}}"#), Some(0));
        for foreign in [r#"{"__metadata__":{"format":"pt"}}"#, r#"{"a":{"data_offsets":[0,4]}}"#, "[]", "7"] {
            assert_eq!(length(foreign), None, "{foreign}");
        }

        let folder = scratch("beginning");
        let path = folder.join("some.safetensors");
        const HUGE: u64 = 3 << 30;
        // Cut to the length it has, as a checkpoint is that others appended something to.
        sparse(&path, &tensors(72), HUGE);
        let bytes = read_checkpoint(&path).unwrap();
        assert_eq!(bytes.len(), HEAD + tensors(72).len() + 72 + 1);
        check_own_save(&path).unwrap();
        // A model of somebody else's, zeros, and a text whose ninth letter is a brace.
        sparse(&path, r#"{"a":{"dtype":"U8","shape":[3221225396],"data_offsets":[0,3221225396]}}"#, HUGE);
        let error = format!("{:#}", read_checkpoint(&path).unwrap_err());
        assert!(error.contains("some.safetensors") && error.contains("no Hothouse checkpoint"), "{error}");
        assert!(check_own_save(&path).unwrap_err().to_string().contains("would be lost"));
        for text in ["", r#"{"data":{"a":1}}"#] {
            fs::write(&path, text).unwrap();
            File::options().write(true).open(&path).unwrap().set_len(HUGE).unwrap();
            assert_eq!(read_checkpoint(&path).unwrap().len(), HEAD);
            assert!(check_own_save(&path).unwrap_err().to_string().contains("would be lost"), "{text}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_file_is_known_by_every_name_it_has() {
        let folder = scratch("names");
        let path = folder.join("run");
        let (soft, hard, later) = (folder.join("soft"), folder.join("hard"), folder.join("later"));
        std::os::unix::fs::symlink("run", &soft).unwrap();
        assert_eq!(identity(&path), identity(&soft), "before the file is there");
        assert_eq!(identity(&path), identity(&folder.join(".").join("run")));
        fs::write(&path, "x").unwrap();
        fs::hard_link(&path, &hard).unwrap();
        assert!([&soft, &hard].iter().all(|name| identity(name) == identity(&path)));
        assert_ne!(identity(&path), identity(&later));
        assert!(check_own_save(&soft).unwrap_err().to_string().contains("--save"));
        write_whole(&soft, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two", "behind a link, the file it points to is replaced");
        fs::remove_dir_all(folder).unwrap();
    }
}
