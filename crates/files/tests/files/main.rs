//! Tests of reading and writing: a write replaces only a file of the same kind, and input of any length and source is read or refused.

mod claims;
mod memory;

use files::internals::{check_room, tensors_length};
use files::{CHECKPOINT, Claim, MONITOR, check, keep, read_at_most, read_checkpoint, write_whole};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use testkit::Scratch;

/// Returns the first bytes of a checkpoint, which identify its kind: the length of the header, and the header.
fn checkpoint(word: &str) -> Vec<u8> {
    let header = format!(r#"{{"__metadata__":{{"hothouse":"{word}"}}}}"#);
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

#[test]
fn a_file_is_replaced_completely_without_leftovers() {
    let folder = Scratch::new("whole");
    let path = folder.join("run.safetensors");
    check(&path, CHECKPOINT).unwrap();
    write_whole(&path, CHECKPOINT, &checkpoint("one")).unwrap();
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    let kept = keep(Some(&claim), &mut None, &[], &checkpoint("two")).unwrap();
    assert_eq!((kept.path.as_path(), kept.trouble), (path.as_path(), None));
    assert_eq!(fs::read(&path).unwrap(), checkpoint("two"));
    drop(claim);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

/// Number of names that are tried for a temporary file.
#[cfg(unix)]
const TEMPORARY_NAMES: usize = 100;

/// Returns the name of a temporary file: `.NAME.PID.part` at attempt 0, `.NAME.PID-1.part` at attempt 1, and so on.
#[cfg(unix)]
fn temporary_name(path: &Path, attempt: usize) -> PathBuf {
    let name = path.file_name().unwrap().to_string_lossy();
    let again = if attempt == 0 { String::new() } else { format!("-{attempt}") };
    path.with_file_name(format!(".{name}.{}{again}.part", std::process::id()))
}

#[test]
#[cfg(unix)]
fn links_with_a_temporary_name_are_not_followed() {
    let folder = Scratch::new("planted");
    let (path, victim) = (folder.join("run.safetensors"), folder.join("victim"));
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink("victim", folder.join(".run.safetensors.lock")).unwrap();
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    for attempt in 0..3 {
        std::os::unix::fs::symlink("victim", temporary_name(&path, attempt)).unwrap();
    }
    claim.write(&checkpoint("one")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), checkpoint("one"));
    for attempt in 0..3 {
        assert!(fs::symlink_metadata(temporary_name(&path, attempt)).unwrap().is_symlink());
    }
    // If all temporary names exist, writing fails and does not change these files.
    for attempt in 3..TEMPORARY_NAMES {
        fs::write(temporary_name(&path, attempt), "foreign").unwrap();
    }
    assert!(claim.write(&checkpoint("two")).unwrap_err().to_string().contains("cannot write"));
    assert_eq!(fs::read(&path).unwrap(), checkpoint("one"));
    assert_eq!(fs::read(temporary_name(&path, 3)).unwrap(), b"foreign");
    drop(claim);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // A link to a file that does not exist is not followed either.
    std::os::unix::fs::symlink("later", folder.join(".run.safetensors.lock")).unwrap();
    assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("cannot write in"));
    assert!(!folder.join("later").exists());
}

#[test]
fn a_missing_folder_selects_a_fallback() {
    let folder = Scratch::new("gone");
    let path = folder.join("missing").join("run.safetensors");
    assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("does not exist"));
    fs::create_dir(folder.join("missing")).unwrap();
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    fs::remove_dir_all(folder.join("missing")).unwrap();
    let mut fallback = None;
    let keep = |fallback: &mut Option<Claim>, names: &[&str]| {
        let refuges: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        keep(Some(&claim), fallback, &refuges, &checkpoint("kept"))
    };
    assert!(keep(&mut fallback, &["no/run"]).unwrap_err().to_string().contains("nor to"));
    fs::write(folder.join("run"), checkpoint("other")).unwrap();
    // A fallback is a new file. Later saves replace it.
    for _ in 0..2 {
        let kept = keep(&mut fallback, &["no/run", "run"]).unwrap();
        assert!(kept.trouble.unwrap().contains("safe in"));
        assert_eq!(kept.path, folder.join("run-2"));
        assert_eq!(fs::read(&kept.path).unwrap(), checkpoint("kept"));
    }
    assert_eq!(fs::read(folder.join("run")).unwrap(), checkpoint("other"));
    // When the requested file can be written again, it is written.
    fs::create_dir(folder.join("missing")).unwrap();
    let kept = keep(&mut fallback, &["run"]).unwrap();
    assert_eq!((kept.path, kept.trouble), (path, None));
    let kept = files::keep(None, &mut None, &[folder.join("new")], &checkpoint("kept")).unwrap();
    assert_eq!((kept.path, kept.trouble), (folder.join("new"), None));
}

#[test]
fn files_of_another_kind_are_not_overwritten() {
    let folder = Scratch::new("foreign");
    let (notes, empty) = (folder.join("notes.txt"), folder.join("empty"));
    fs::write(&notes, "these are notes").unwrap();
    fs::write(&empty, "").unwrap();
    for kind in [CHECKPOINT, MONITOR] {
        for path in [&notes, &*folder, Path::new("")] {
            for done in [check(path, kind), write_whole(path, kind, b"x")] {
                assert!(done.is_err(), "{}", path.display());
            }
        }
        let error = format!("{:#}", write_whole(&notes, kind, b"x").unwrap_err());
        assert!(error.contains("would be lost. Name another file with --"), "{error}");
        assert_eq!(fs::read_to_string(&notes).unwrap(), "these are notes");
        check(&empty, kind).unwrap();
    }
    assert!(read_checkpoint(&folder).unwrap_err().to_string().contains("folder"));
    for (kind, example) in [(CHECKPOINT, "run.safetensors"), (MONITOR, "run.ring")] {
        for place in [&*folder, Path::new("")] {
            let error = check(place, kind).unwrap_err().to_string();
            assert!(error.ends_with(example) && error.contains("Add a file name"), "{error}");
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no leftovers");
}

#[test]
#[cfg(unix)]
fn pipes_and_links_are_not_replaced() {
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
    assert!(fs::symlink_metadata(&dangling).unwrap().is_symlink(), "the link remains");
    assert_eq!(fs::read(folder.join("later")).unwrap(), checkpoint("again"));
}

#[test]
fn endless_input_is_rejected() {
    assert_eq!(read_at_most(&b"abc"[..], 3, "it").unwrap(), b"abc");
    let error = read_at_most(std::io::repeat(0), 5 << 20, "standard input").unwrap_err().to_string();
    assert_eq!(error, "standard input is larger than the limit of 5 MB. Pass a smaller part of it");
    check_room(7, 7, "it").unwrap();
    let error = check_room(3 << 30, 1 << 30, "run.safetensors").unwrap_err().to_string();
    assert!(error.contains("3072 MB") && error.contains("1024 MB of memory"), "{error}");
}

/// Creates a sparse file of `bytes` bytes. It begins with the length of `header` as a little-endian `u64`; `header` itself follows.
fn sparse(path: &Path, header: &str, bytes: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.set_len(bytes).unwrap();
}

#[test]
fn the_header_determines_how_much_is_read() {
    let length = |header: &str| tensors_length(&serde_json::from_str(header).unwrap());
    let tensors = |last: u64| {
        let part = |from: u64, to: u64| format!(r#"{{"dtype":"F32","shape":[9],"data_offsets":[{from},{to}]}}"#);
        let (a, b) = (part(0, 36), part(36, last));
        format!(r#"{{"__metadata__":{{"hothouse":"{{}}"}},"b":{b},"a":{a}}}"#)
    };
    // 1 GiB is the size of about 89 million parameters with both moments.
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
    // The header determines how many bytes are read. Of the trailing data, only one byte is read.
    sparse(&path, &tensors(72), HUGE);
    let bytes = read_checkpoint(&path).unwrap();
    assert_eq!(bytes.len(), 8 + tensors(72).len() + 72 + 1);
    check(&path, CHECKPOINT).unwrap();
    // The three files are a model of another program, zeros, and a text whose ninth character is a brace.
    sparse(&path, r#"{"a":{"dtype":"U8","shape":[3221225396],"data_offsets":[0,3221225396]}}"#, HUGE);
    let error = format!("{:#}", read_checkpoint(&path).unwrap_err());
    assert!(error.contains("some.safetensors") && error.contains("no Hothouse checkpoint"), "{error}");
    assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("would be lost"));
    for text in ["", r#"{"data":{"a":1}}"#] {
        fs::write(&path, text).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(HUGE).unwrap();
        assert_eq!(read_checkpoint(&path).unwrap().len(), 8);
        assert!(check(&path, CHECKPOINT).unwrap_err().to_string().contains("would be lost"), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn links_have_the_identity_of_their_file() {
    use files::identity;
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
    assert_eq!(fs::read(&path).unwrap(), checkpoint("two"), "the target of the link is replaced");
}
