//! Monitors as files. A monitor is a memory area of fixed size with the events of a run; `run::monitor` defines its content. A run
//! writes its events into memory. A thread copies the changed blocks to the file five times a second, and `hothouse watch` reads the file.
//! Training therefore never waits for a disk, and no damage to the file can stop the training.
//!
//! By default, the file is in the user's cache. Its name begins with the start time of the run. The oldest files that no process has
//! claimed are removed. The file contains the 64-bit words of the monitor, then a write counter, which is odd during a write.

use crate::session::saves::{self, KEPT};
use anyhow::{Context, Result, anyhow, bail};
use files::{Claim, MONITOR};
use run::monitor::{self, MAGIC, Reader, State, Writer};
use run::protocol::{Event, Progress};
use run::room::Schema;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EXTENSION: &str = "ring";
/// Interval between two copies of the memory to the file.
pub const WRITE_EVERY: Duration = Duration::from_millis(200);
/// Number of 64-bit words per block. Only changed blocks are written.
const BLOCK: usize = 512;
/// Maximum number of attempts to read the file without a simultaneous write. If every attempt fails, the words of the last attempt are
/// used.
const READ_ATTEMPTS: usize = 200;
/// Maximum size of a monitor in bytes. The rooms' monitors have about 10 MB.
const LARGEST: u64 = 256 << 20;

/// Monitor file of a run in this process. A thread of this process writes the file.
pub struct MonitorFile {
    /// Writer of the run's events. The lock prevents the writing thread from copying an incomplete record.
    writer: Arc<Mutex<Option<Writer>>>,
    stop: Option<Sender<()>>,
    /// Thread that writes the file. It returns the error of its last write.
    thread: Option<JoinHandle<Option<String>>>,
    /// Changes of the write status: `Some` with the error if writing failed, `None` if writing succeeds again.
    status_changes: Receiver<Option<String>>,
    _claim: Option<Claim>,
}

impl MonitorFile {
    /// Creates the claimed file. The file appears under its name only when its content is complete.
    pub fn create(claim: Claim, schema: &Schema, about: &str) -> Result<MonitorFile> {
        let memory = monitor::heap(schema);
        let writer = Writer::new(Box::new(memory.clone()), schema, about)?;
        let mut copy = Copy::default();
        let file = claim.replace(|file| {
            // The error is ignored: on a file system without locks, readers detect a dead process by the missing heartbeat.
            let _ = file.try_lock();
            copy.write(file, &snapshot(&memory))
        })?;
        Ok(MonitorFile::keep(file, copy, memory, writer, Some(claim)))
    }

    pub fn keep(mut file: File, mut copy: Copy, memory: Arc<[AtomicU64]>, writer: Writer, claim: Option<Claim>) -> MonitorFile {
        let writer = Arc::new(Mutex::new(Some(writer)));
        let (stop, stopped) = channel();
        let (changes, status_changes) = channel();
        let shared = writer.clone();
        let thread = std::thread::spawn(move || {
            let mut failure = None;
            loop {
                let last = stopped.recv_timeout(WRITE_EVERY) != Err(RecvTimeoutError::Timeout);
                let words = {
                    let mut writer = lock(&shared);
                    if last {
                        // Dropping the writer marks the run as finished.
                        drop(writer.take());
                    }
                    snapshot(&memory)
                };
                // If the write fails, training continues, and the next interval writes again.
                let now = copy.write(&mut file, &words).err().map(|error| error.to_string());
                if now != failure {
                    // The error is ignored, because the receiver may be gone after the end of the run.
                    let _ = changes.send(now.clone());
                    failure = now;
                }
                if last {
                    return failure;
                }
            }
        });
        MonitorFile { writer, stop: Some(stop), thread: Some(thread), status_changes, _claim: claim }
    }

    /// Returns the latest status change since the last call: `Some(Some(error))` if writing failed, `Some(None)` if writing succeeds again,
    /// `None` if the status did not change.
    pub fn status_change(&self) -> Option<Option<String>> {
        self.status_changes.try_iter().last()
    }

    pub fn event(&self, event: &Event) {
        self.with(|writer| writer.event(event));
    }

    pub fn say(&self, text: &str) {
        self.with(|writer| {
            // The writer drops a text that is too long for the monitor. Readers do not depend on these texts.
            writer.say(text);
        });
    }

    pub fn beat(&self, progress: &Progress) {
        self.with(|writer| writer.beat(progress));
    }

    /// Marks the run as finished. Returns an error if the file does not contain the end of the run.
    pub fn finish(mut self) -> Result<()> {
        match self.end() {
            Some(reason) => bail!("the monitor is incomplete ({reason}). Free disk space, or name another file with --monitor"),
            None => Ok(()),
        }
    }

    /// Ends the writing thread. Returns the error of its last write.
    fn end(&mut self) -> Option<String> {
        drop(self.stop.take());
        self.thread.take()?.join().ok().flatten()
    }

    fn with(&self, write: impl FnOnce(&mut Writer)) {
        if let Some(writer) = lock(&self.writer).as_mut() {
            write(writer);
        }
    }
}

impl Drop for MonitorFile {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn snapshot(memory: &[AtomicU64]) -> Vec<u64> {
    memory.iter().map(|word| word.load(Relaxed)).collect()
}

/// Content of the file: the words that were written last, and the write counter.
#[derive(Default)]
pub struct Copy {
    written: Vec<u64>,
    times: u64,
}

impl Copy {
    fn write(&mut self, file: &mut File, words: &[u64]) -> std::io::Result<()> {
        let full_size = 8 * (words.len() as u64 + 1);
        // If the file was truncated, all blocks are written again.
        if file.metadata()?.len() < full_size {
            self.written.clear();
        }
        let old = |block: usize| self.written.get(block * BLOCK..).map(|rest| &rest[..rest.len().min(BLOCK)]);
        let changed: Vec<usize> = words.chunks(BLOCK).enumerate().filter(|(i, new)| old(*i) != Some(new)).map(|(i, _)| i).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let count = |file: &mut File, times: u64| put(file, words.len(), &[times]);
        count(file, self.times + 1)?;
        for block in changed {
            let end = words.len().min((block + 1) * BLOCK);
            put(file, block * BLOCK, &words[block * BLOCK..end])?;
        }
        self.times += 2;
        count(file, self.times)?;
        self.written = words.to_vec();
        Ok(())
    }
}

fn put(file: &mut File, at: usize, words: &[u64]) -> std::io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    file.seek(SeekFrom::Start(8 * at as u64))?;
    file.write_all(&bytes)
}

/// Creates a monitor file for a benchmark. A thread refreshes the file and reads it repeatedly, until the returned writer is dropped.
pub fn measured(path: &Path, schema: &Schema) -> Result<Writer> {
    let memory = monitor::heap(schema);
    let writer = Writer::new(Box::new(memory.clone()), schema, "")?;
    let mut copy = Copy::default();
    let mut file = Claim::new(path, MONITOR)?.replace(|file| copy.write(file, &snapshot(&memory)))?;
    let mut watched = open(path)?;
    std::thread::spawn(move || {
        for turn in 0.. {
            if turn % 2 == 0 && copy.write(&mut file, &snapshot(&memory)).is_err() || watched.refresh().is_err() {
                return;
            }
            std::hint::black_box(watched.reader.poll());
            if watched.reader.state() == State::Finished {
                return;
            }
            std::thread::sleep(WRITE_EVERY / 2);
        }
    });
    Ok(writer)
}

/// Returns true if the file begins like a monitor. Opens regular files only, because reading a pipe would consume its bytes.
pub fn is_monitor(path: &Path) -> bool {
    path.is_file() && File::open(path).is_ok_and(|mut file| (MONITOR.is_kind)(&mut file))
}

/// An open monitor file that another process writes.
pub struct Watched {
    pub reader: Reader,
    memory: Arc<[AtomicU64]>,
    file: File,
    times: u64,
}

pub fn open(path: &Path) -> Result<Watched> {
    let shown = path.display();
    let mut file = File::open(path).map_err(|e| anyhow!("cannot open {shown} ({e}). Check its permissions"))?;
    let words = read_between_writes(&mut file).with_context(|| format!("cannot read {shown}"))?;
    let times = words.last().copied().unwrap_or_default();
    let count = words.len().saturating_sub(1);
    let memory: Arc<[AtomicU64]> = words[..count].iter().map(|&word| AtomicU64::new(word)).collect();
    let reader = Reader::open(Box::new(memory.clone())).with_context(|| format!("cannot watch {shown}"))?;
    Ok(Watched { reader, memory, file, times })
}

/// Reads all words of the file, if possible while no write is in progress.
fn read_between_writes(file: &mut File) -> std::io::Result<Vec<u64>> {
    let mut words = Vec::new();
    for _ in 0..READ_ATTEMPTS {
        words = read(file)?;
        let Some(&times) = words.last() else { return Ok(words) };
        if times % 2 == 0 && read_word(file, words.len() - 1)? == Some(times) {
            return Ok(words);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // The words are used although the counter is odd, because a process that was killed during a write leaves it odd.
    Ok(words)
}

fn read(file: &mut File) -> std::io::Result<Vec<u64>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let text = format!("it is larger than a monitor, which has at most {} MB", LARGEST >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    Ok(bytes.chunks_exact(8).map(word).collect())
}

fn read_word(file: &mut File, at: usize) -> std::io::Result<Option<u64>> {
    let mut bytes = [0; 8];
    file.seek(SeekFrom::Start(8 * at as u64))?;
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u64::from_le_bytes(bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

impl Watched {
    /// Reads the words again if the file has changed. If the file was truncated, keeps the previous words.
    pub fn refresh(&mut self) -> std::io::Result<()> {
        let count = self.memory.len();
        match read_word(&mut self.file, count)? {
            Some(times) if times != self.times => {}
            _ => return Ok(()),
        }
        let words = read_between_writes(&mut self.file)?;
        if words.len() == count + 1 && words[0] == MAGIC {
            self.memory.iter().zip(&words).for_each(|(word, &new)| word.store(new, Relaxed));
            self.times = words[count];
        }
        Ok(())
    }

    /// Returns true if the writing process still exists; `None` if the file system has no locks.
    pub fn is_written(&self) -> Option<bool> {
        match self.file.try_lock_shared() {
            Ok(()) => {
                let _ = self.file.unlock();
                Some(false)
            }
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Removes the oldest monitors from the cache. The latest `KEPT - 1` monitors and the monitors of running processes are kept. Returns the
/// claim of a new monitor in the cache.
pub fn fresh(variant: &str, seed: u32) -> Result<Claim> {
    let folder = saves::folder()?;
    saves::remove_old(&folder, &kept()?, KEPT - 1);
    Claim::new(&folder.join(format!("{}.{EXTENSION}", saves::stem(variant, seed))), MONITOR)
}

/// Lists all monitors in the cache, latest first.
pub fn kept() -> Result<Vec<PathBuf>> {
    let mut rings = saves::cached(EXTENSION)?;
    // File names begin with the start time in milliseconds.
    rings.sort_by(|a, b| b.file_name().cmp(&a.file_name()));
    Ok(rings)
}

/// Returns the seconds since the start of the run, computed from the file name; `None` if the name contains no time.
pub fn age_s(path: &Path) -> Option<f64> {
    let started_ms: f64 = path.file_name()?.to_str()?.split('-').next()?.parse().ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some((now.as_secs_f64() - started_ms / 1e3).max(0.0))
}

/// Returns the path of the latest monitor in the cache, or an error if there is none.
pub fn newest() -> Result<PathBuf> {
    match kept()?.into_iter().next() {
        Some(path) => Ok(path),
        None => bail!("there is no run to watch. Start one with `hothouse train`, or name a file"),
    }
}
