//! Tests of claims: a file belongs to one process, and the files of dead processes are removed.

use super::checkpoint;
use files::{CHECKPOINT, Claim, check, remove_leftovers, remove_unclaimed, version, write_whole};
use std::fs::{self, File};
use std::path::Path;
use testkit::Scratch;

/// Returns the sorted names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_claimed_file_belongs_to_one_owner() {
    let folder = Scratch::new("claimed");
    let path = folder.join("run.safetensors");
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    let is_refused = |path: &Path| {
        for done in [check(path, CHECKPOINT), write_whole(path, CHECKPOINT, &checkpoint("other"))] {
            let error = done.unwrap_err().to_string();
            assert!(error.contains("another run is writing to") && error.contains("Name another file with --save"), "{error}");
        }
        remove_unclaimed(path);
    };
    // The claim is valid before and after the first save, and after each replacement of the file.
    is_refused(&path);
    assert!(!path.exists());
    for word in ["one", "two"] {
        claim.write(&checkpoint(word)).unwrap();
        is_refused(&path);
        assert_eq!(fs::read(&path).unwrap(), checkpoint(word));
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("run.safetensors", folder.join("soft")).unwrap();
        is_refused(&folder.join("soft"));
        is_refused(&folder.join(".").join("run.safetensors"));
        fs::remove_file(folder.join("soft")).unwrap();
    }
    // A default name skips files and claims of other processes.
    let free = [(); 2].map(|()| Claim::free(&path, CHECKPOINT).unwrap());
    assert_eq!([free[0].path(), free[1].path()], [folder.join("run-2.safetensors"), folder.join("run-3.safetensors")]);
    drop((claim, free));
    assert_eq!(names(&folder), ["run.safetensors"]);
    write_whole(&path, CHECKPOINT, &checkpoint("other")).unwrap();
    remove_unclaimed(&path);
    assert!(names(&folder).is_empty());
}

/// A killed process leaves an unlocked lock file and its temporary files.
#[test]
fn files_of_dead_processes_are_removed() {
    let folder = Scratch::new("dead");
    let path = folder.join("run");
    let foreign = [".a.part", ".lock", ".run.part", ".run.x7.part", ".run.7-.part", ".run.7-1-1.part", "run.7.part", "run.lock"];
    for name in foreign.iter().chain(&[".run.lock", ".run.7.part", ".run.7-12.part", ".runner.7.part", ".old.lock"]) {
        File::create(folder.join(name)).unwrap();
    }
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    for name in [".run.7.part", ".run.7-12.part"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
    // The temporary file of a live process, as during a write.
    claim
        .replace(|_| {
            remove_leftovers(&folder);
            let has = |end: &str| names(&folder).iter().any(|name| name.starts_with(".run.") && name.ends_with(end));
            assert!(has(&format!("{}.part", std::process::id())) && has("lock"));
            Ok(())
        })
        .unwrap();
    drop(claim);
    let mut left: Vec<String> = foreign.map(String::from).into();
    left.push("run".into());
    left.sort();
    assert_eq!(names(&folder), left);
}

#[test]
fn a_version_differs_after_each_write() {
    let folder = Scratch::new("version");
    let path = folder.join("run");
    assert_eq!(version(&path), None);
    let claim = Claim::new(&path, CHECKPOINT).unwrap();
    let mut before = None;
    for _ in 0..3 {
        claim.write(&checkpoint("same")).unwrap();
        let now = version(&path);
        assert!(now.is_some() && now == version(&path) && now != before);
        claim.expect_version(now.clone()).unwrap();
        if before.is_some() {
            let error = claim.expect_version(before.clone()).unwrap_err().to_string();
            assert!(error.contains("another process has written"), "{error}");
        }
        claim.expect_version(None).unwrap();
        before = now;
    }
    fs::remove_file(&path).unwrap();
    claim.expect_version(before).unwrap();
}
