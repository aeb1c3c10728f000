//! `hothouse watch`: shows the run of another process. Reads a file of that process: the monitor (a binary file of fixed size) or the
//! events file (JSON lines). The run may still train or may have ended. The command only reads and has no effect on the run.

use crate::args::ShowArgs;
use crate::format::{clock, counted};
use crate::outputs::screen::Screen;
use crate::outputs::show::{RunDisplay, wants_screen};
use crate::session::monitor_file;
use crate::session::record::{By, Names, Record};
use crate::session::training::Update;
use crate::signals::{self, SIGNALS, Signals};
use anyhow::{Context, Result, bail};
use files::Input;
use run::monitor::{MonitorItem, State};
use run::protocol::{Began, Event, Level, Progress, Standing};
use run::room::Schema;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(100);
/// Interval between two reads of a monitor file. The interval between two drawings of the screen is the same.
const READ_EVERY: Duration = Duration::from_millis(50);
/// Time without a change of the file after which a warning states that the run may be paused or killed.
const SILENCE: Duration = Duration::from_secs(10);
/// Time in which a new run must write the first line of its events file. After this time, an empty file is an error.
const EMPTY: Duration = Duration::from_secs(1);
/// Maximum length of a line in an events file, in bytes. The longest line is the `began` record of a resumed run, which contains the
/// history.
const LONGEST_LINE: u64 = 64 << 20;

/// Shows the run of another process. `file` is a monitor file or an events file; `None` selects the latest monitor file in the cache.
pub fn watch(file: Option<PathBuf>, show: &ShowArgs) -> Result<()> {
    let file = match file {
        Some(file) => file,
        None => {
            let newest = monitor_file::newest()?;
            // Standard output is reserved for the run.
            let _ = writeln!(crate::plain::stderr(), "watching {}", newest.display());
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

/// Sends the records of the file to the display, up to the summary, a stop signal or the end of the display. For a monitor file, also stops
/// when the writing process has ended.
fn follow(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    if monitor_file::is_monitor(path) { follow_monitor(path, signals, updates) } else { follow_events(path, signals, updates) }
}

fn follow_monitor(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    let shown = path.display();
    let mut watched = monitor_file::open(path)?;
    let mut begun = false;
    let mut silence = Silence::new();
    let mut beats = 0;
    // Schema of the current run.
    let mut schema = None;
    if let Some(opened) = Record::read(watched.reader.about().as_bytes(), &mut schema)
        && updates.send(Update::Record(Box::new(opened))).is_err()
    {
        return Ok(());
    }
    while !signals.stopping() {
        // `is_written` is determined before the records are read, so that records written just before the end are not missed.
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
                bail!("{shown} contains no run: its process ended before a run began. Start another run");
            }
            let (text, next_step) = match state {
                State::Finished => ("This run ended without a summary.", "Check the terminal in which the run trained."),
                _ => (
                    "The training process ended unexpectedly: it was killed, or the machine stopped.",
                    "Resume from the last save with `hothouse resume`, or start a new run.",
                ),
            };
            // A failed send is ignored, because it means that the display has ended.
            let _ = updates.send(notice(Level::Error, text, next_step));
            return Ok(());
        }
        if silence.reset_if(beats != watched.reader.heartbeat()) {
            beats = watched.reader.heartbeat();
        } else if silence.is_due() && updates.send(silent(path)).is_err() {
            return Ok(());
        }
        std::thread::sleep(READ_EVERY);
    }
    Ok(())
}

/// Converts monitor items to records. If a `Began` event contains a history, the records of the history follow the event, which then has no
/// history. A watcher that starts late therefore receives all records from the beginning. Adjacent records that have an iteration are
/// sorted by iteration.
fn records_from(items: Vec<MonitorItem>, schema: &mut Option<&'static Schema>) -> Vec<Record> {
    let mut records = Vec::new();
    for item in items {
        match item {
            MonitorItem::Event(Event::Began(began)) => {
                *schema = run::room(&began.config.room).ok().map(|room| room.schema());
                let Began { config, knobs, progress, solved, attempts, history, tests, marks, room } = *began;
                // A run with a history is shown from its start, so the progress of its `Began` event is 0.
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
            // A record of another program version may be unknown. Unknown records are omitted.
            MonitorItem::Shell(text) => records.extend(Record::read(text.as_bytes(), schema)),
        }
    }
    let timed = |record: &Record| iteration_of(record).is_some();
    for stretch in records.chunk_by_mut(|a, b| timed(a) == timed(b)) {
        stretch.sort_by_key(iteration_of);
    }
    records
}

/// Returns the iteration of a record; `None` if the record has no iteration.
fn iteration_of(record: &Record) -> Option<u32> {
    match record {
        Record::Event(Event::Metrics(row) | Event::Test(row)) => Some(row.progress.iteration),
        Record::Event(Event::Mark(mark)) => Some(mark.progress.iteration),
        Record::Event(Event::Confirmation(confirmation)) => Some(confirmation.progress.iteration),
        Record::Event(Event::Standing(standing)) => Some(standing.progress.iteration),
        Record::Event(Event::Solved { progress, .. }) => Some(progress.iteration),
        Record::Event(Event::Digest(digest)) => Some(digest.iteration),
        _ => None,
    }
}

/// Time since the run's last sign of activity. A long silence is reported once.
struct Silence {
    since: Instant,
    reported: bool,
}

impl Silence {
    fn new() -> Silence {
        Silence { since: Instant::now(), reported: false }
    }

    /// Restarts the silence if `has_news` is true. Returns `has_news`.
    fn reset_if(&mut self, has_news: bool) -> bool {
        if has_news {
            *self = Silence::new();
        }
        has_news
    }

    /// Returns true once per silence, when the silence exceeds its limit.
    fn is_due(&mut self) -> bool {
        let now = !self.reported && self.since.elapsed() > SILENCE;
        self.reported |= now;
        now
    }
}

fn silent(path: &Path) -> Update {
    let text = format!("{} has not changed for {} s: the run may be paused or killed.", path.display(), SILENCE.as_secs());
    notice(Level::Warning, &text, "Wait, or stop watching with Ctrl-C.")
}

fn notice(level: Level, text: &str, next_step: &str) -> Update {
    let notice = Event::Notice { level, text: text.into(), next_step: next_step.into() };
    Update::Record(Box::new(Record::Event(notice)))
}

/// Prints the runs that the user can watch: one line of JSON or two lines of text for each run.
pub fn list(json: bool) -> Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        state: &'static str,
        room: String,
        variant: String,
        seed: u32,
        progress: By<'a, Progress>,
        standing: Option<By<'a, Standing>>,
        /// Latest values of the metrics that printed lines contain.
        metrics: BTreeMap<&'static str, Option<f64>>,
        /// Seconds that training spent on each part of the iteration.
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
        // A file of another version, or a file that was just removed, is omitted.
        let Ok(mut watched) = monitor_file::open(&path) else { continue };
        let (mut config, mut standing, mut values, mut schema) = (None, None, Vec::new(), None);
        for record in records_from(watched.reader.poll(), &mut schema) {
            match record {
                Record::Event(Event::Began(began)) => config = Some(began.config),
                Record::Event(Event::Metrics(row)) => values = row.values,
                Record::Event(Event::Standing(latest)) => standing = Some(latest),
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
            standing: standing.as_ref().map(|standing| By(standing, Names::of(schema))),
            metrics: named.map(|(column, &value)| (column.name, value)).collect(),
            parts_s: schema.all_parts().map(|part| part.name).zip(watched.reader.parts_s()).collect(),
            age_s: monitor_file::age_s(&path),
            file: path.display().to_string(),
        };
        if json {
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            let count = counted(&schema.counters[0], progress.counts[0]);
            writeln!(
                out,
                "{:<8} {:>8} ago  {} / {}, seed {}, {count}{}\n         {}",
                line.state,
                line.age_s.map_or("-".into(), clock),
                line.room,
                line.variant,
                line.seed,
                standing.as_ref().map_or(String::new(), |Standing { words, name, number, .. }| format!(", {words}; {name} {number}")),
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
    // `position` is the number of bytes read so far. `known` is true if the file has contained a valid record.
    let (mut position, mut known) = (0u64, false);
    let mut silence = Silence::new();
    let (mut schema, began) = (None, Instant::now());
    while !signals.stopping() {
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        let read = read.with_context(|| format!("cannot read {shown}"))?;
        position += read as u64;
        if line.len() as u64 >= LONGEST_LINE || !known && line.first().is_some_and(|&b| b != b'{') {
            bail!("{shown} contains no events. Name a file written by `hothouse train --events FILE`");
        }
        if !silence.reset_if(read > 0) && silence.is_due() && updates.send(silent(path)).is_err() {
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
                // If the file contained a valid record before, this record comes from a newer version. Otherwise the file is of another
                // kind.
                None if known => {}
                None => {
                    bail!("{shown} contains no events. Name a file written by `hothouse train --events FILE`")
                }
            }
            line.clear();
        } else if read == 0 {
            if position == 0 && began.elapsed() > EMPTY {
                bail!("{shown} is empty: no run has written to it. Name a file written by `hothouse train --events FILE`");
            }
            std::thread::sleep(POLL);
            // If a new run has truncated the file, reading starts again.
            if std::fs::metadata(path).is_ok_and(|m| m.len() < position) {
                reader = open(path)?;
                line.clear();
                (position, known) = (0, false);
            }
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufReader<Input<File>>> {
    if !path.exists() {
        let shown = path.display();
        bail!("there is no file {shown}. Start a run with `hothouse train --events {shown}`");
    }
    Ok(BufReader::new(files::open(path)?))
}
