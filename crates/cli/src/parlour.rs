//! Training backgammon in a terminal: the loop that drives a parlour, its lines for people and for scripts, the budget and the file
//! that continues it. There is no full screen for this room, and no monitor; what does not apply here is refused.

use crate::args::CommonArgs;
use crate::device::Opener;
use crate::files::{self, Kept};
use crate::record::{EndedBy, Opened};
use crate::session::{Budget, Signals, cpu_seconds, now_s};
use crate::words::{self, clock, figure, grouped, quoted, short};
use crate::{Usage, closed_pipe, machine_flags, other_flags, refusal};
use anyhow::{Context, Result, bail};
use math::Isa;
use run::backgammon::protocol::{Command, Event, Judged, Metrics, PARTS, Progress, Score};
use run::backgammon::{self, Parlour};
use run::protocol::{Config, Level};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Seconds of training between two plain lines.
const PLAIN_EVERY_S: f64 = 1.0;

/// One line of `--json` and `--events`.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Record {
    Opened(Opened),
    FileSaved {
        file: String,
        bytes: u64,
    },
    Summary(Box<Summary>),
    #[serde(untagged)]
    Event(Event),
}

/// What a training process did.
#[derive(Serialize)]
struct Summary {
    ended_by: EndedBy,
    room: String,
    env: String,
    seed: u32,
    /// Of the whole run, what was resumed included.
    progress: Progress,
    /// Of this process: on the wall, and of processor time.
    seconds: f64,
    cpu_seconds: f64,
    games_per_min: f64,
    evals_per_s: f64,
    /// The agent at the end.
    judged: Judged,
    digest: String,
    arithmetic: String,
    /// The GPU that trained last, where one did.
    device: Option<String>,
    isa: String,
    threads: u32,
    file: Option<String>,
    /// The command that continues the run.
    resume: Option<String>,
}

pub fn train(
    env: Option<String>,
    seed: u32,
    common: CommonArgs,
    isa: Isa,
    pool: &rayon::ThreadPool,
    began: Instant,
    signals: &Signals,
) -> Result<()> {
    check(&common)?;
    let base = backgammon::default_config();
    let knobs = common.set.iter().cloned().collect();
    let config = Config { env: env.unwrap_or(base.env), seed, knobs, ..base };
    let parlour = Parlour::new(config, isa).map_err(refusal)?;
    let save = common.save.clone();
    session(parlour, &common, save, pool, began, signals)
}

pub fn resume(
    file: &Path,
    bytes: &[u8],
    common: CommonArgs,
    isa: Isa,
    pool: &rayon::ThreadPool,
    began: Instant,
    signals: &Signals,
) -> Result<()> {
    check(&common)?;
    let mut parlour =
        Parlour::restore(bytes, isa).with_context(|| format!("cannot use {}", file.display()))?;
    for (name, value) in &common.set {
        let knob = Command::SetKnob { name: name.clone(), value: *value };
        parlour.command(knob).map_err(refusal)?;
    }
    let save = common.save.clone().or_else(|| Some(file.to_path_buf()));
    session(parlour, &common, save, pool, began, signals)
}

/// Refuses what has no meaning in this room.
fn check(common: &CommonArgs) -> Result<()> {
    let refused = [
        (common.until_solved, "--until-solved", "There is no threshold; give --steps (games) or --seconds"),
        (common.monitor.is_some(), "--monitor", "--events FILE writes all that happens"),
        (common.csv.is_some(), "--csv", "--events FILE writes all that happens"),
        (common.tensorboard.is_some(), "--tensorboard", "--events FILE writes all that happens"),
    ];
    for (given, flag, instead) in refused {
        if given {
            bail!(Usage(format!("backgammon has no {flag}. {instead}")));
        }
    }
    if common.events.is_some() && common.events == common.save {
        bail!(Usage("--save and --events name the same file. Give each its own".into()));
    }
    Ok(())
}

fn session(
    mut parlour: Parlour,
    common: &CommonArgs,
    save: Option<PathBuf>,
    pool: &rayon::ThreadPool,
    began: Instant,
    signals: &Signals,
) -> Result<()> {
    if let Some(path) = &save {
        files::check_writable(path)?;
    }
    let events = match &common.events {
        Some(path) => Some(BufWriter::new(File::create(path).with_context(|| {
            format!("cannot write events to {}. Name a file in a folder that can be written", path.display())
        })?)),
        None => None,
    };
    parlour.command(Command::Device { wish: common.device })?;
    crate::on_interrupt()?;
    let session = Session {
        parlour,
        budget: Budget {
            steps: common.steps,
            seconds: common.seconds,
            cpu_seconds: common.cpu_seconds,
            until_solved: false,
        },
        save,
        flags: machine_flags(&common.machine) + &other_flags(common),
        device: None,
        began,
        signals,
        json: common.show.json,
        events,
        shown_s: f64::NEG_INFINITY,
        parts_s: [0.0; PARTS.len()],
        known_s: 0.0,
    };
    // On a thread of the pool, so that training and its helpers are exactly that many.
    pool.install(|| session.run())
}

struct Session<'a> {
    parlour: Parlour,
    /// Steps are games.
    budget: Budget,
    save: Option<PathBuf>,
    /// Of the command that resumes.
    flags: String,
    /// The GPU that trained last, where one did.
    device: Option<String>,
    began: Instant,
    signals: &'a Signals,
    json: bool,
    events: Option<BufWriter<File>>,
    /// Training time of the last plain line.
    shown_s: f64,
    /// Seconds by part, and the training time that they reach to.
    parts_s: [f64; PARTS.len()],
    known_s: f64,
}

impl Session<'_> {
    fn run(mut self) -> Result<()> {
        self.tell(Record::Opened(self.parlour.backend().into()));
        let first = self.parlour.progress();
        if self.budget.is_endless() {
            self.notice("No budget was given, so training goes on until Ctrl-C, which saves it.", "");
        }
        if first.games > 0 && self.budget.steps.is_some_and(|games| games <= first.games) {
            let text = format!(
                "This run has {} games already, and --steps counts from its beginning.",
                grouped(first.games)
            );
            self.notice(&text, "Ask for more than that, or use --seconds.");
        }
        self.parlour.lend_clock(now_s);
        let mut opener = Opener::begin(&mut self.parlour);
        self.parlour.command(Command::Start)?;
        let ended_by = loop {
            if self.tell_events() {
                break EndedBy::Diverged;
            }
            match self.reason() {
                Some(reason) if self.parlour.at_boundary() => break reason,
                // What is left of the round.
                Some(_) if !self.parlour.running() => {}
                Some(_) => self.parlour.command(Command::Step)?,
                None => {}
            }
            opener.look(&mut self.parlour, self.began.elapsed());
            self.parlour.advance(self.began.elapsed().as_secs_f64());
        };
        opener.hand_over(&mut self.parlour);
        self.conclude(ended_by, first)
    }

    /// Tells what happened, and whether training diverged.
    fn tell_events(&mut self) -> bool {
        let mut diverged = false;
        for event in self.parlour.events() {
            diverged |= matches!(event, Event::Notice { level: Level::Error, .. });
            if let Event::Device(device) = &event {
                self.device = device.gpu.clone().filter(|_| device.on_gpu);
            }
            self.tell(Record::Event(event));
        }
        diverged
    }

    fn reason(&self) -> Option<EndedBy> {
        let budget = &self.budget;
        if self.signals.output_closed.load(Relaxed) {
            Some(EndedBy::ClosedOutput)
        } else if self.signals.interrupts.load(Relaxed) > 0 {
            Some(EndedBy::Interrupt)
        } else if budget.steps.is_some_and(|games| self.parlour.progress().games >= games) {
            Some(EndedBy::Steps)
        } else if budget.seconds.is_some_and(|limit| self.began.elapsed().as_secs_f64() >= limit) {
            Some(EndedBy::Seconds)
        } else if budget.cpu_seconds.is_some_and(|limit| cpu_seconds() >= limit) {
            Some(EndedBy::CpuSeconds)
        } else {
            None
        }
    }

    fn conclude(mut self, ended_by: EndedBy, first: Progress) -> Result<()> {
        let (seconds, cpu) = (self.began.elapsed().as_secs_f64(), cpu_seconds());
        let diverged = ended_by == EndedBy::Diverged;
        let wants_file = self.save.is_some() || ended_by == EndedBy::Interrupt;
        // Weights that are no numbers must not replace an earlier save.
        let kept = if wants_file && !diverged { Some(self.keep()?) } else { None };
        let (file, trouble) = kept.map_or((None, None), |kept| (Some(kept.path), kept.trouble));
        if diverged {
            bail!(
                "training diverged: the weights are no longer numbers{}. Start again with a lower learning rate, as in --set lr=0.0005",
                if wants_file { ", so nothing was saved" } else { "" }
            );
        }
        self.tell_events();
        let judged = self.parlour.judge_now()?;
        let progress = self.parlour.progress();
        let config = self.parlour.config().clone();
        let (backend, digest) = (self.parlour.backend(), self.parlour.digest());
        let trained_s = progress.train_s - first.train_s;
        let rate = |now: u64, then: u64| if trained_s > 0.0 { (now - then) as f64 / trained_s } else { 0.0 };
        let summary = Summary {
            ended_by,
            room: config.room,
            env: config.env,
            seed: config.seed,
            progress,
            seconds,
            cpu_seconds: cpu,
            games_per_min: 60.0 * rate(progress.games, first.games),
            evals_per_s: rate(progress.evaluations, first.evaluations),
            judged,
            digest: digest.weights,
            arithmetic: digest.arithmetic,
            device: self.device.clone(),
            isa: backend.isa,
            threads: backend.threads,
            resume: file.as_ref().map(|file| self.resume_command(file, ended_by, seconds, cpu)),
            file: file.map(|file| file.display().to_string()),
        };
        self.tell(Record::Summary(Box::new(summary)));
        match trouble {
            Some(trouble) => bail!("{trouble}"),
            None => Ok(()),
        }
    }

    fn keep(&mut self) -> Result<Kept> {
        let config = self.parlour.config();
        let default = format!("hothouse-{}-{}-seed{}.safetensors", config.room, config.env, config.seed);
        let path = self.save.clone().unwrap_or_else(|| files::free_name(Path::new(&default)));
        let bytes = self.parlour.save();
        let kept = files::keep(&path, &bytes)?;
        self.tell(Record::FileSaved { file: kept.path.display().to_string(), bytes: bytes.len() as u64 });
        Ok(kept)
    }

    /// What is left of the budget goes with it, so that pasting it ends where the run would have.
    fn resume_command(&self, file: &Path, ended_by: EndedBy, seconds: f64, cpu_seconds: f64) -> String {
        let program = std::env::args().next().unwrap_or("hothouse".into());
        let mut command = format!("{} resume {}", quoted(&program), quoted(&file.to_string_lossy()));
        if matches!(ended_by, EndedBy::Interrupt | EndedBy::ClosedOutput) {
            if let Some(games) = self.budget.steps {
                command += &format!(" --steps {games}");
            }
            for (flag, limit, used) in [
                ("--seconds", self.budget.seconds, seconds),
                ("--cpu-seconds", self.budget.cpu_seconds, cpu_seconds),
            ] {
                if let Some(limit) = limit {
                    command += &format!(" {flag} {:.1}", (limit - used).max(0.1));
                }
            }
        }
        command + &self.flags
    }

    fn notice(&mut self, text: &str, next_step: &str) {
        let (text, next_step) = (text.into(), next_step.into());
        self.tell(Record::Event(Event::Notice { level: Level::Info, text, next_step }));
    }

    /// Shows it, and writes it down. Whoever does not read any more ends the run.
    fn tell(&mut self, record: Record) {
        if let Record::Event(Event::Saved { .. }) = record {
            return;
        }
        let line = serde_json::to_string(&record).unwrap_or_default();
        if let Some(file) = &mut self.events
            && let Err(error) = writeln!(file, "{line}").and_then(|()| file.flush())
        {
            let text = format!("warning: events are no longer written ({error}); training goes on");
            let _ = writeln!(std::io::stderr(), "{text}");
            self.events = None;
        }
        let shown = if self.json { Some(line) } else { self.plain(&record) };
        let Some(shown) = shown else { return };
        if let Err(error) = writeln!(std::io::stdout(), "{shown}") {
            if !closed_pipe(&error.into()) {
                let _ = writeln!(std::io::stderr(), "warning: standard output cannot be written");
            }
            self.signals.output_closed.store(true, Relaxed);
        }
    }

    fn plain(&mut self, record: &Record) -> Option<String> {
        match record {
            Record::Opened(o) => {
                let threads = if o.threads == 1 { "thread" } else { "threads" };
                Some(format!(
                    "Hothouse {}: {}, {} arithmetic, {} {threads}",
                    o.version, o.isa, o.arithmetic, o.threads
                ))
            }
            Record::FileSaved { file, .. } => Some(format!("saved {file}")),
            Record::Summary(summary) => Some(self.summary(summary)),
            Record::Event(event) => self.event(event),
        }
    }

    fn event(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Began { config, progress, .. } => {
                (self.shown_s, self.known_s) = (f64::NEG_INFINITY, progress.train_s);
                let mut line = format!("{} / {}, seed {}", config.room, config.env, config.seed);
                for (name, value) in &config.knobs {
                    line += &format!(", {name}={value}");
                }
                if progress.games > 0 {
                    line += &format!(", from game {}", grouped(progress.games));
                }
                Some(line)
            }
            Event::Metrics(m) => {
                let passed_s = m.progress.train_s - self.known_s;
                self.known_s = m.progress.train_s;
                self.parts_s.iter_mut().zip(m.shares).for_each(|(part_s, share)| *part_s += share * passed_s);
                if m.progress.train_s < self.shown_s + PLAIN_EVERY_S {
                    return None;
                }
                self.shown_s = m.progress.train_s;
                Some(metrics(m))
            }
            Event::Judged(judged) => Some(format!(
                "{:>8}  judged without look-ahead, points a game: {}",
                clock(judged.progress.train_s),
                scores(judged)
            )),
            Event::Frozen(frozen) => Some(format!(
                "{:>8}  kept as it is after {} {} of training",
                clock(frozen.progress.train_s),
                frozen.minutes,
                if frozen.minutes == 1 { "minute" } else { "minutes" }
            )),
            Event::Mark(m) => {
                Some(format!("{:>8}  {} {} -> {}", clock(m.progress.train_s), m.knob, m.from, m.to))
            }
            Event::Device(device) => Some(words::device(device)),
            Event::Notice { level, text, next_step } => {
                let prefix = match level {
                    Level::Info => "",
                    Level::Warning => "warning: ",
                    Level::Error => "error: ",
                };
                Some(format!("{prefix}{text} {next_step}").trim_end().to_string())
            }
            Event::Running { .. } | Event::Digest(_) | Event::Saved { .. } => None,
        }
    }

    fn summary(&self, s: &Summary) -> String {
        let why = match s.ended_by {
            EndedBy::Steps => "the games asked for are played",
            EndedBy::Seconds => "the time is up",
            EndedBy::CpuSeconds => "the processor time is up",
            EndedBy::ClosedOutput => "nobody reads the output",
            EndedBy::Interrupt | EndedBy::Solved | EndedBy::Diverged => "stopped",
        };
        let mut lines = vec![
            format!("\n{} {} seed {}: {why}.", s.room, s.env, s.seed),
            format!(
                "  strength    {} points a game over {} games each",
                scores(&s.judged),
                s.judged.random.games
            ),
            format!(
                "  did         {} games, {} moves, {} evaluations, {} updates",
                grouped(s.progress.games),
                grouped(s.progress.moves),
                grouped(s.progress.evaluations),
                grouped(s.progress.updates)
            ),
            format!(
                "  took        {}, {} of processor time, {} games/min, {} evaluations/s",
                clock(s.seconds),
                clock(s.cpu_seconds),
                grouped(s.games_per_min as u64),
                short(s.evals_per_s)
            ),
        ];
        let whole_s: f64 = self.parts_s.iter().sum();
        if whole_s > 0.0 {
            let mut parts: Vec<(f64, &str)> = self.parts_s.into_iter().zip(PARTS).collect();
            parts.sort_by(|a, b| b.0.total_cmp(&a.0));
            parts.retain(|(part_s, _)| part_s / whole_s >= 0.005);
            let words: Vec<String> = parts
                .iter()
                .map(|(part_s, name)| format!("{name} {:.0}%", 100.0 * part_s / whole_s))
                .collect();
            lines.push(format!("  time        {}", words.join(", ")));
        }
        lines.extend(s.device.iter().map(|device| format!("  device      {device}")));
        lines.push(format!("  digest      {} ({})", s.digest, s.arithmetic));
        lines.extend(s.file.iter().map(|file| format!("  saved       {file}")));
        lines.extend(s.resume.iter().map(|resume| format!("  continue    {resume}")));
        lines.join("\n")
    }
}

fn metrics(m: &Metrics) -> String {
    format!(
        "{:>8}  games {:>9}  {:>7}/min  {:>7} evals/s  loss {:<8}  length {:>5.1}  gammons {:>2.0}%",
        clock(m.progress.train_s),
        grouped(m.progress.games),
        grouped(m.games_per_min as u64),
        short(m.evals_per_s),
        figure(m.loss),
        m.mean_length,
        100.0 * (m.gammons + m.backgammons)
    )
}

fn scores(judged: &Judged) -> String {
    let words = |name: &str, score: &Score| format!("{name} {:+.2} ±{:.2}", score.points, score.error);
    format!("{}, {}", words("random", &judged.random), words("linear", &judged.linear))
}
