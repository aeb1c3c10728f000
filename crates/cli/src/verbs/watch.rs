//! Follows another training process by its monitor or its events file, or reads those of one that
//! has ended. It only reads: it cannot change a run, and the run does not know of it.

use crate::args::ShowArgs;
use crate::format::{briefs, clock, counted};
use crate::outputs::screen::Screen;
use crate::outputs::show::{RunDisplay, wants_screen};
use crate::session::monitor_file;
use crate::session::record::{By, Names, Record};
use crate::session::training::Update;
use crate::signals::{self, SIGNALS, Signals};
use anyhow::{Context, Result, bail};
use run::monitor::{MonitorItem, State};
use run::protocol::{Began, Event, Level, Progress};
use run::room::Schema;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(100);
/// How often a monitor is looked at: as often as the screen is drawn.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A run that has written nothing for so long may have been killed.
const SILENCE: Duration = Duration::from_secs(10);
/// A file may be empty so long, until the run that made it writes its first line.
const EMPTY: Duration = Duration::from_secs(1);
/// Bytes of a line of events at most: the longest begins a run with its history.
const LONGEST_LINE: u64 = 64 << 20;

/// Shows a run of another process: that of the file, or the newest.
pub fn watch(file: Option<PathBuf>, show: &ShowArgs) -> Result<()> {
    let file = match file {
        Some(file) => file,
        None => {
            let newest = monitor_file::newest()?;
            // What is watched goes to standard output, and this to whoever started it.
            let _ = writeln!(std::io::stderr(), "watching {}", newest.display());
            newest
        }
    };
    signals::listen()?;
    let display = RunDisplay {
        json: show.json,
        screen: wants_screen(show.json || show.plain).then(Screen::watching),
        requests: None,
        panic_message: "reading stopped at an internal error, shown above",
    };
    display.show(|updates| follow(&file, &SIGNALS, &updates), &mut |_| {})
}

/// Gives records until the last one, or until told to stop.
fn follow(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    if monitor_file::is_monitor(path) { follow_monitor(path, signals, updates) } else { follow_events(path, signals, updates) }
}

fn follow_monitor(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    let shown = path.display();
    let mut watched = monitor_file::open(path)?;
    let mut begun = false;
    let mut silence = Silence::new();
    let mut beats = 0;
    // What the shell says is of the run that began last.
    let mut schema = None;
    if let Some(opened) = Record::read(watched.reader.about().as_bytes(), &mut schema)
        && updates.send(Update::Record(Box::new(opened))).is_err()
    {
        return Ok(());
    }
    while !signals.stopping() {
        // Asked before reading, so that nothing written before its end is missed.
        let is_written = watched.is_written();
        watched.refresh().with_context(|| format!("cannot read {shown}"))?;
        let state = watched.reader.state();
        let over = state == State::Finished || is_written == Some(false);
        for record in records_from(watched.reader.poll(), &mut schema) {
            begun = true;
            let last = matches!(record, Record::Summary(_));
            if updates.send(Update::Record(Box::new(record))).is_err() || last {
                return Ok(());
            }
        }
        if over {
            if !begun {
                bail!("{shown} holds no run: its process ended before one began. Start another run");
            }
            let (text, next_step) = match state {
                State::Finished => ("This run ended without a summary.", "See what its own terminal says."),
                _ => (
                    "The process that trained this run is gone: it was killed, or the machine went down.",
                    "Go on from its last save with `hothouse resume`, or start it again.",
                ),
            };
            // Whoever watches sees all there is, and this.
            let _ = updates.send(notice(Level::Error, text, next_step));
            return Ok(());
        }
        if silence.broken(beats != watched.reader.heartbeat()) {
            beats = watched.reader.heartbeat();
        } else if silence.is_news() && updates.send(silent(path)).is_err() {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// A beginning with its history becomes the lines that were told in its course, so that attaching late
/// shows what watching from the start does.
fn records_from(told: Vec<MonitorItem>, schema: &mut Option<&'static Schema>) -> Vec<Record> {
    let mut records = Vec::new();
    for told in told {
        match told {
            MonitorItem::Event(Event::Began(began)) => {
                *schema = run::room(&began.config.room).ok().map(|room| room.schema());
                let Began { config, knobs, progress, solved, attempts, history, tests, marks, room } = *began;
                // A run that was watched from its start had come nowhere and was not solved yet.
                let from_start = !history.is_empty();
                let start = Progress { counts: vec![0.0; progress.counts.len()], ..Progress::default() };
                let bare = Began {
                    config,
                    knobs,
                    progress: if from_start { start } else { progress },
                    solved: solved.filter(|_| !from_start),
                    attempts: if from_start { 0 } else { attempts },
                    history: Vec::new(),
                    tests: Vec::new(),
                    marks: Vec::new(),
                    room,
                };
                records.push(Record::Event(Event::Began(Box::new(bare))));
                let events = history.into_iter().map(Event::Metrics);
                let events = events.chain(tests.into_iter().map(Event::Test));
                records.extend(events.chain(marks.into_iter().map(Event::Mark)).map(Record::Event));
            }
            MonitorItem::Event(event) => records.push(Record::Event(event)),
            // Another version's shell may say what this one does not know.
            MonitorItem::Shell(text) => records.extend(Record::read(text.as_bytes(), schema)),
        }
    }
    let timed = |record: &Record| iteration_of(record).is_some();
    for stretch in records.chunk_by_mut(|a, b| timed(a) == timed(b)) {
        stretch.sort_by_key(iteration_of);
    }
    records
}

/// The iteration after which something was told, where that is known.
fn iteration_of(record: &Record) -> Option<u32> {
    match record {
        Record::Event(Event::Metrics(row) | Event::Test(row)) => Some(row.progress.iteration),
        Record::Event(Event::Mark(mark)) => Some(mark.progress.iteration),
        Record::Event(Event::Confirmation(confirmation)) => Some(confirmation.progress.iteration),
        Record::Event(Event::Solved { progress, .. }) => Some(progress.iteration),
        Record::Event(Event::Digest(digest)) => Some(digest.iteration),
        _ => None,
    }
}

/// A run that has told nothing for long may be gone; that is said once each time.
struct Silence {
    heard: Instant,
    told: bool,
}

impl Silence {
    fn new() -> Silence {
        Silence { heard: Instant::now(), told: false }
    }

    fn broken(&mut self, heard: bool) -> bool {
        if heard {
            *self = Silence::new();
        }
        heard
    }

    fn is_news(&mut self) -> bool {
        let now = !self.told && self.heard.elapsed() > SILENCE;
        self.told |= now;
        now
    }
}

fn silent(path: &Path) -> Update {
    let text = format!("{} has told nothing new for {} s: the run may be paused, or gone.", path.display(), SILENCE.as_secs());
    notice(Level::Warning, &text, "Wait for it, or end the watching with Ctrl-C.")
}

fn notice(level: Level, text: &str, next_step: &str) -> Update {
    let notice = Event::Notice { level, text: text.into(), next_step: next_step.into() };
    Update::Record(Box::new(Record::Event(notice)))
}

/// One line a run that can be watched.
pub fn list(json: bool) -> Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        state: &'static str,
        room: String,
        variant: String,
        seed: u32,
        progress: By<'a, Progress>,
        /// Of the newest metrics, what a line of the terminal has.
        metrics: BTreeMap<&'static str, Option<f64>>,
        /// Seconds of training by part.
        parts_s: BTreeMap<&'static str, f64>,
        age_s: Option<f64>,
        file: String,
    }
    let mut out = crate::plain::stdout();
    let runs = monitor_file::kept()?;
    if runs.is_empty() && !json {
        writeln!(out, "There is no run to watch. Start one with `hothouse train`.")?;
    }
    for path in runs {
        // Another version's file, or one that was just removed, is none of this list.
        let Ok(mut watched) = monitor_file::open(&path) else { continue };
        let (mut config, mut values, mut schema) = (None, Vec::new(), None);
        for record in records_from(watched.reader.poll(), &mut schema) {
            match record {
                Record::Event(Event::Began(began)) => config = Some(began.config),
                Record::Event(Event::Metrics(row)) => values = row.values,
                _ => {}
            }
        }
        let (Some(config), Some(schema)) = (config, schema) else { continue };
        let progress = watched.reader.progress();
        let named = schema.metrics.iter().zip(&values).filter(|(column, _)| !column.brief.is_empty());
        let line = Line {
            state: match (watched.reader.state(), watched.is_written()) {
                (State::Finished, _) => "ended",
                (_, Some(false)) => "killed",
                (State::Running, _) => "running",
                (State::Paused, _) => "paused",
            },
            room: config.room,
            variant: config.variant,
            seed: config.seed,
            progress: By(&progress, Names::of(schema)),
            metrics: named.map(|(column, &value)| (column.name, value)).collect(),
            parts_s: schema.all_parts().map(|part| part.name).zip(watched.reader.parts_s()).collect(),
            age_s: monitor_file::age_s(&path),
            file: path.display().to_string(),
        };
        if json {
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            let count = counted(&schema.counters[0], progress.counts[0]);
            let first = briefs(schema.metrics, &values).into_iter().next();
            writeln!(
                out,
                "{:<8} {:>8} ago  {} / {}, seed {}, {count}{}\n         {}",
                line.state,
                line.age_s.map_or("-".into(), clock),
                line.room,
                line.variant,
                line.seed,
                first.map_or(String::new(), |(name, value)| format!(", {name} {value}")),
                line.file
            )?;
        }
    }
    Ok(())
}

fn follow_events(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    let shown = path.display();
    let mut reader = open(path)?;
    let mut line = Vec::new();
    // Bytes read, and whether anything in the file was a record.
    let (mut place, mut known) = (0u64, false);
    let mut silence = Silence::new();
    let (mut schema, began) = (None, Instant::now());
    while !signals.stopping() {
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let read = read.with_context(|| format!("cannot read {shown}"))?;
        place += read as u64;
        if line.len() as u64 >= LONGEST_LINE || !known && line.first().is_some_and(|&b| b != b'{') {
            bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`");
        }
        if !silence.broken(read > 0) && silence.is_news() && updates.send(silent(path)).is_err() {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            match Record::read(&line, &mut schema) {
                Some(record) => {
                    known = true;
                    let last = matches!(record, Record::Summary(_));
                    if updates.send(Update::Record(Box::new(record))).is_err() || last {
                        return Ok(());
                    }
                }
                // A newer process may write records this one does not know; a foreign file has none.
                None if known => {}
                None => {
                    bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`")
                }
            }
            line.clear();
        } else if read == 0 {
            if place == 0 && began.elapsed() > EMPTY {
                bail!("{shown} is empty: no run has written to it. Name a file written by `hothouse train --events FILE`");
            }
            std::thread::sleep(POLL);
            // A new run writes the file anew.
            if std::fs::metadata(path).is_ok_and(|m| m.len() < place) {
                reader = open(path)?;
                line.clear();
                (place, known) = (0, false);
            }
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufReader<File>> {
    if !path.exists() {
        let shown = path.display();
        bail!("there is no file {shown}. Start a run with `hothouse train --events {shown}`");
    }
    Ok(BufReader::new(files::open(path)?))
}
