//! Follows another training process by its monitor or its events file, or reads those of one that
//! has ended. It only reads: it cannot change a run, and the run does not know of it.

use crate::record::Record;
use crate::ring;
use crate::session::{Signals, Update};
use crate::words::{clock, short};
use anyhow::{Context, Result, anyhow, bail};
use run::monitor::{State, Told};
use run::protocol::{Event, Level, PARTS, Progress};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(100);
/// How often a monitor is looked at: as often as the screen is drawn.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// A run that has written nothing for so long may have been killed.
const SILENCE: Duration = Duration::from_secs(10);

/// Gives records until the last one, or until told to stop.
pub fn follow(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    if ring::is_monitor(path) {
        follow_monitor(path, signals, updates)
    } else {
        follow_events(path, signals, updates)
    }
}

fn follow_monitor(path: &Path, signals: &Signals, updates: &SyncSender<Update>) -> Result<()> {
    let shown = path.display();
    let mut watched = ring::open(path)?;
    let mut begun = false;
    let mut silence = Silence::new();
    let mut beats = 0;
    if let Ok(opened) = serde_json::from_str::<Record>(&watched.reader.about())
        && updates.send(Update::Record(Box::new(opened))).is_err()
    {
        return Ok(());
    }
    while !signals.stopping() {
        // Asked before reading, so that nothing written before its end is missed.
        let (state, is_written) = (watched.reader.state(), watched.is_written());
        let over = state == State::Finished || is_written == Some(false);
        for record in records_from(watched.reader.poll()) {
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
                    "Go on from its last save with `hothouse resume FILE`, or start it again.",
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
fn records_from(told: Vec<Told>) -> Vec<Record> {
    let mut records = Vec::new();
    for told in told {
        match told {
            Told::Event(Event::Began {
                config,
                environment,
                knobs,
                history,
                marks,
                evaluations,
                progress,
            }) => {
                let progress = if history.is_empty() { progress } else { Progress::default() };
                let bare = Event::Began {
                    environment,
                    config,
                    knobs,
                    history: Vec::new(),
                    marks: Vec::new(),
                    evaluations: Vec::new(),
                    progress,
                };
                records.push(Record::Event(bare));
                let events = history.into_iter().map(Event::Metrics);
                let events = events.chain(evaluations.into_iter().map(Event::Evaluation));
                records.extend(events.chain(marks.into_iter().map(Event::Mark)).map(Record::Event));
            }
            Told::Event(event) => records.push(Record::Event(event)),
            // Another version's shell may say what this one does not know.
            Told::Shell(text) => records.extend(serde_json::from_str::<Record>(&text).ok()),
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
        Record::Event(Event::Metrics(m)) => Some(m.progress.iteration),
        Record::Event(Event::Evaluation(e)) => Some(e.progress.iteration),
        Record::Event(Event::Mark(m)) => Some(m.progress.iteration),
        Record::Event(Event::Solved { progress, .. }) => Some(progress.iteration),
        Record::Event(Event::Digest(d)) => Some(d.iteration),
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
    let text = format!(
        "{} has told nothing new for {} s: the run may be paused, or gone.",
        path.display(),
        SILENCE.as_secs()
    );
    notice(Level::Warning, &text, "Wait for it, or end the watching with Ctrl-C.")
}

fn notice(level: Level, text: &str, next_step: &str) -> Update {
    let notice = Event::Notice { level, text: text.into(), next_step: next_step.into() };
    Update::Record(Box::new(Record::Event(notice)))
}

/// One line a run that can be watched.
pub fn list(json: bool) -> Result<()> {
    #[derive(serde::Serialize)]
    struct Line {
        state: &'static str,
        env: String,
        seed: u32,
        progress: Progress,
        mean_return: Option<f64>,
        /// Seconds of training by part.
        parts_s: BTreeMap<&'static str, f64>,
        age_s: Option<f64>,
        file: String,
    }
    let mut out = std::io::stdout().lock();
    let runs = ring::kept()?;
    if runs.is_empty() && !json {
        writeln!(out, "There is no run to watch. Start one with `hothouse train`.")?;
    }
    for path in runs {
        // Another version's file, or one that was just removed, is none of this list.
        let Ok(mut watched) = ring::open(&path) else { continue };
        let mut mean_return = None;
        let mut run = None;
        for record in records_from(watched.reader.poll()) {
            match record {
                Record::Event(Event::Began { config, .. }) => run = Some(config),
                Record::Event(Event::Metrics(m)) => mean_return = m.mean_return,
                _ => {}
            }
        }
        let Some(config) = run else { continue };
        let line = Line {
            state: match (watched.reader.state(), watched.is_written()) {
                (State::Finished, _) => "ended",
                (_, Some(false)) => "killed",
                (State::Running, _) => "running",
                (State::Paused, _) => "paused",
            },
            env: config.env,
            seed: config.seed,
            progress: watched.reader.progress(),
            mean_return,
            parts_s: PARTS.into_iter().zip(watched.reader.parts_s()).collect(),
            age_s: ring::age_s(&path),
            file: path.display().to_string(),
        };
        if json {
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            writeln!(
                out,
                "{:<8} {:>8} ago  {}, seed {}, {} steps, return {}\n         {}",
                line.state,
                line.age_s.map_or("-".into(), clock),
                line.env,
                line.seed,
                short(line.progress.env_steps as f64),
                line.mean_return.map_or("-".into(), |r| format!("{r:.1}")),
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
    while !signals.stopping() {
        let read = reader.read_until(b'\n', &mut line).with_context(|| format!("cannot read {shown}"))?;
        place += read as u64;
        if !silence.broken(read > 0) && silence.is_news() && updates.send(silent(path)).is_err() {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            match serde_json::from_slice::<Record>(&line) {
                Ok(record) => {
                    known = true;
                    let last = matches!(record, Record::Summary(_));
                    if updates.send(Update::Record(Box::new(record))).is_err() || last {
                        return Ok(());
                    }
                }
                Err(_) if serde_json::from_slice::<run::backgammon::protocol::Event>(&line).is_ok() => {
                    bail!(
                        "{shown} is of backgammon, which cannot be watched. Its lines are plain: `tail -f {shown}`"
                    )
                }
                // A newer process may write records this one does not know; a foreign file has none.
                Err(_) if known => {}
                Err(_) => {
                    bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`")
                }
            }
            line.clear();
        } else if read == 0 {
            if !known && line.first().is_some_and(|&b| b != b'{') {
                bail!("{shown} holds no events. Name a file written by `hothouse train --events FILE`");
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
    let shown = path.display();
    if path.is_dir() {
        bail!("{shown} is a folder. Name the file that `hothouse train --events FILE` writes");
    }
    let file = File::open(path).map_err(|e| {
        anyhow!("cannot open {shown} ({e}). Start a run with `hothouse train --events {shown}`")
    })?;
    Ok(BufReader::new(file))
}
