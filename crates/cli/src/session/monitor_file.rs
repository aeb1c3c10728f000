//! Monitors as files. What a run tells goes into memory of its process, and a thread writes the blocks that changed into the
//! file a few times a second; `watch` reads the file. So the training never waits for a disk, and nothing that is done to the
//! file can end it. Every run keeps one in the user's cache, under a name that begins with its start, and the oldest of them
//! go. This file refuses to know what the words mean; that is `run::monitor`.
//!
//! The file has the words of the monitor, and behind them one that counts how often it was written, odd while it is.

use crate::session::saves::{self, KEPT};
use anyhow::{Context, Result, anyhow, bail};
use files::MONITOR;
use run::monitor::{self, MAGIC, Reader, State, Writer};
use run::protocol::{Event, Progress};
use run::room::Schema;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EXTENSION: &str = "ring";
/// How often the file is brought up to date.
const WRITE_EVERY: Duration = Duration::from_millis(200);
/// Words written at once.
const BLOCK: usize = 512;
/// Looks at a file that is just being written before it is taken as it is.
const LOOKS: usize = 200;
/// Bytes of a monitor at most; those of the rooms have some 10 MB.
const LARGEST: u64 = 256 << 20;

/// A monitor in a file, for the process that trains.
pub struct MonitorFile {
    /// The lock keeps a record whole while the memory is copied.
    writer: Arc<Mutex<Option<Writer>>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Why the file could not be brought up to date; nothing once it could be again. Each is told once.
    news: Receiver<Option<String>>,
}

impl MonitorFile {
    /// Makes the file, which appears under its name when it can be read.
    pub fn create(path: &Path, schema: &Schema, about: &str) -> Result<MonitorFile> {
        let memory = monitor::heap(schema);
        let writer = Writer::new(Box::new(memory.clone()), schema, about)?;
        MonitorFile::begin(path, memory, writer)
    }

    fn begin(path: &Path, memory: Arc<[AtomicU64]>, writer: Writer) -> Result<MonitorFile> {
        let mut copy = Copy::default();
        let file = files::replace(path, MONITOR, |file| {
            // Where locks are unknown, readers go by the heartbeat.
            let _ = file.try_lock();
            copy.write(file, &snapshot(&memory))
        });
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(MonitorFile::keep(file, copy, memory, writer))
    }

    fn keep(mut file: File, mut copy: Copy, memory: Arc<[AtomicU64]>, writer: Writer) -> MonitorFile {
        let writer = Arc::new(Mutex::new(Some(writer)));
        let (stop, stopped) = channel();
        let (told, news) = channel();
        let held = writer.clone();
        let thread = std::thread::spawn(move || {
            let mut trouble = None;
            loop {
                let last = stopped.recv_timeout(WRITE_EVERY) != Err(RecvTimeoutError::Timeout);
                let words = {
                    let mut writer = lock(&held);
                    if last {
                        // Its end tells readers that the run is over.
                        drop(writer.take());
                    }
                    snapshot(&memory)
                };
                // A disk that is full now may have room at the next turn; and training does not depend on it.
                let now = copy.write(&mut file, &words).err().map(|error| error.to_string());
                if now != trouble {
                    // When the run has ended, no receiver is left.
                    let _ = told.send(now.clone());
                    trouble = now;
                }
                if last {
                    return;
                }
            }
        });
        MonitorFile { writer, stop: Some(stop), thread: Some(thread), news }
    }

    /// What has become of the file since this was last asked: why it cannot be written, or nothing where it can be again.
    pub fn news(&self) -> Option<Option<String>> {
        self.news.try_iter().last()
    }

    pub fn event(&self, event: &Event) {
        self.with(|writer| writer.event(event));
    }

    pub fn say(&self, text: &str) {
        self.with(|writer| {
            // What is too long for it is for other shells to do without.
            writer.say(text);
        });
    }

    pub fn beat(&self, progress: &Progress) {
        self.with(|writer| writer.beat(progress));
    }

    fn with(&self, tell: impl FnOnce(&mut Writer)) {
        if let Some(writer) = lock(&self.writer).as_mut() {
            tell(writer);
        }
    }
}

impl Drop for MonitorFile {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn snapshot(memory: &[AtomicU64]) -> Vec<u64> {
    memory.iter().map(|word| word.load(Relaxed)).collect()
}

/// What of the memory the file has.
#[derive(Default)]
struct Copy {
    written: Vec<u64>,
    times: u64,
}

impl Copy {
    fn write(&mut self, file: &mut File, words: &[u64]) -> std::io::Result<()> {
        let whole = 8 * (words.len() as u64 + 1);
        // Cut short by somebody, it is written anew.
        if file.metadata()?.len() < whole {
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

/// A monitor in a file that is read ten times a second for as long as it is written, for a measurement.
pub fn measured(path: &Path, schema: &Schema) -> Result<Writer> {
    let memory = monitor::heap(schema);
    let writer = Writer::new(Box::new(memory.clone()), schema, "")?;
    let mut copy = Copy::default();
    let mut file = files::replace(path, MONITOR, |file| copy.write(file, &snapshot(&memory)))?;
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

/// The file begins as a monitor does. What is no file is left alone: what comes through a pipe comes once.
pub fn is_monitor(path: &Path) -> bool {
    path.is_file() && File::open(path).is_ok_and(|mut file| (MONITOR.is_kind)(&mut file))
}

/// A monitor that is read.
pub struct Watched {
    pub reader: Reader,
    memory: Arc<[AtomicU64]>,
    file: File,
    times: u64,
}

pub fn open(path: &Path) -> Result<Watched> {
    let shown = path.display();
    let mut file = File::open(path).map_err(|e| anyhow!("cannot open {shown} ({e}). Check its permissions"))?;
    let words = settled(&mut file).with_context(|| format!("cannot read {shown}"))?;
    let times = words.last().copied().unwrap_or_default();
    let count = words.len().saturating_sub(1);
    let memory: Arc<[AtomicU64]> = words[..count].iter().map(|&word| AtomicU64::new(word)).collect();
    let reader = Reader::open(Box::new(memory.clone())).with_context(|| format!("cannot watch {shown}"))?;
    Ok(Watched { reader, memory, file, times })
}

/// All words of the file, between two times that it is written.
fn settled(file: &mut File) -> std::io::Result<Vec<u64>> {
    let mut words = Vec::new();
    for _ in 0..LOOKS {
        words = read(file)?;
        let Some(&times) = words.last() else { return Ok(words) };
        if times % 2 == 0 && read_word(file, words.len() - 1)? == Some(times) {
            return Ok(words);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // Whoever wrote it was stopped in the middle.
    Ok(words)
}

fn read(file: &mut File) -> std::io::Result<Vec<u64>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let text = format!("it has more than {} MB, and no monitor has", LARGEST >> 20);
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
    /// Takes in what was written meanwhile. A file that was cut short is shown as it last was.
    pub fn refresh(&mut self) -> std::io::Result<()> {
        let count = self.memory.len();
        match read_word(&mut self.file, count)? {
            Some(times) if times != self.times => {}
            _ => return Ok(()),
        }
        let words = settled(&mut self.file)?;
        if words.len() == count + 1 && words[0] == MAGIC {
            self.memory.iter().zip(&words).for_each(|(word, &new)| word.store(new, Relaxed));
            self.times = words[count];
        }
        Ok(())
    }

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

/// A name in the cache for a run that starts now, after the oldest have been removed.
pub fn fresh(variant: &str, seed: u32) -> Result<PathBuf> {
    let folder = saves::folder()?;
    for old in kept()?.into_iter().skip(KEPT - 1) {
        if open(&old).map_or(true, |watched| watched.is_written() == Some(false)) {
            // Whoever cannot remove it now can later.
            let _ = fs::remove_file(old);
        }
    }
    Ok(folder.join(format!("{}.{EXTENSION}", saves::stem(variant, seed))))
}

/// All monitors in the cache, the newest first.
pub fn kept() -> Result<Vec<PathBuf>> {
    let mut rings = saves::cached(EXTENSION)?;
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

    fn create(path: &Path, about: &str) -> Result<MonitorFile> {
        MonitorFile::create(path, run::rooms()[0].schema(), about)
    }

    #[test]
    fn a_file_tells_whether_its_writer_is_there() {
        let folder = testkit::Scratch::new("ring");
        let path = folder.path("run.ring");
        assert!(!is_monitor(&path));
        let writer = create(&path, "{}").unwrap();
        assert!(is_monitor(&path));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        let (one, mut other) = (open(&path).unwrap(), open(&path).unwrap());
        assert_eq!((one.is_written(), other.is_written()), (Some(true), Some(true)));
        assert_eq!((one.reader.about(), one.reader.state()), ("{}".into(), State::Paused));
        drop(writer);
        assert_eq!((one.is_written(), other.is_written()), (Some(false), Some(false)));
        other.refresh().unwrap();
        assert_eq!(other.reader.state(), State::Finished);
        // A new run of the same name leaves those who watch the old one alone.
        let again = create(&path, "again").unwrap();
        assert_eq!((one.reader.about(), one.is_written()), ("{}".into(), Some(false)));
        assert_eq!(open(&path).unwrap().reader.about(), "again");
        drop(again);
        assert!(create(&folder.path("missing/run.ring"), "").is_err());
    }

    #[test]
    fn a_file_that_is_cut_short_is_mended() {
        let folder = testkit::Scratch::new("ring-cut");
        let path = folder.path("run.ring");
        let writer = create(&path, "{}").unwrap();
        File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        drop(writer);
        assert_eq!(open(&path).unwrap().reader.state(), State::Finished);
    }

    #[test]
    fn a_file_that_cannot_be_written_any_more_is_told_of_once_and_so_is_its_end() {
        let folder = testkit::Scratch::new("ring-full");
        let path = folder.path("run.ring");
        fs::write(&path, "").unwrap();
        let schema = run::rooms()[0].schema();
        let memory = monitor::heap(schema);
        let writer = Writer::new(Box::new(memory.clone()), schema, "").unwrap();
        // A file that is open for reading takes nothing, like one on a full disk.
        let file = MonitorFile::keep(File::open(&path).unwrap(), Copy::default(), memory, writer);
        let news = || file.news.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(news().is_some_and(|why| !why.is_empty()));
        std::thread::sleep(3 * WRITE_EVERY);
        assert_eq!(file.news(), None, "it is told once");
    }
}
