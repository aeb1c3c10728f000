//! Tests of monitors as files.

use anyhow::Result;
use cli::internals::monitor_file::{Copy, MonitorFile, WRITE_EVERY, is_monitor, open};
use files::{Claim, MONITOR};
use run::monitor::{self, State, Writer};
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

fn create(path: &Path, about: &str) -> Result<MonitorFile> {
    MonitorFile::create(Claim::new(path, MONITOR)?, run::rooms()[0].schema(), about)
}

#[test]
fn monitor_file_shows_whether_its_writer_exists() {
    let folder = testkit::Scratch::new("ring");
    let path = folder.path("run.ring");
    assert!(!is_monitor(&path));
    let writer = create(&path, "{}").unwrap();
    assert!(is_monitor(&path));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "only the lock file of the claim is beside it");
    assert!(create(&path, "other").is_err_and(|error| error.to_string().contains("another run is writing")));
    let (one, mut other) = (open(&path).unwrap(), open(&path).unwrap());
    assert_eq!((one.is_written(), other.is_written()), (Some(true), Some(true)));
    assert_eq!((one.reader.about(), one.reader.state()), ("{}".into(), State::Paused));
    writer.finish().unwrap();
    assert_eq!((one.is_written(), other.is_written()), (Some(false), Some(false)));
    other.refresh().unwrap();
    assert_eq!(other.reader.state(), State::Finished);
    // A new run of the same name replaces the file, but not the file that a reader has open.
    let again = create(&path, "again").unwrap();
    assert_eq!((one.reader.about(), one.is_written()), ("{}".into(), Some(false)));
    assert_eq!(open(&path).unwrap().reader.about(), "again");
    drop(again);
    assert!(create(&folder.path("missing/run.ring"), "").is_err());
}

#[test]
fn a_truncated_file_is_rewritten() {
    let folder = testkit::Scratch::new("ring-cut");
    let path = folder.path("run.ring");
    let writer = create(&path, "{}").unwrap();
    File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    drop(writer);
    assert_eq!(open(&path).unwrap().reader.state(), State::Finished);
}

#[test]
fn a_write_failure_is_reported_once() {
    let folder = testkit::Scratch::new("ring-full");
    let path = folder.path("run.ring");
    fs::write(&path, "").unwrap();
    let schema = run::rooms()[0].schema();
    let memory = monitor::heap(schema);
    let writer = Writer::new(Box::new(memory.clone()), schema, "").unwrap();
    // Writing to a file that was opened for reading fails, as on a full disk.
    let file = MonitorFile::keep(File::open(&path).unwrap(), Copy::default(), memory, writer, None);
    let began = Instant::now();
    let reason = loop {
        match file.status_change() {
            Some(change) => break change,
            None => assert!(began.elapsed() < Duration::from_secs(60), "the failure is not reported"),
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(reason.is_some_and(|reason| !reason.is_empty()));
    std::thread::sleep(3 * WRITE_EVERY);
    assert_eq!(file.status_change(), None, "the failure is reported once");
    let error = file.finish().unwrap_err().to_string();
    assert!(error.contains("the monitor is incomplete"), "{error}");
}
