//! Training on a thread of its own: it owns the experiment, keeps the budget, saves, and sums up.
//! Whoever shows the run gets records and sends wishes; the training never waits for a screen.

use crate::device::Opener;
use crate::files::{self, Kept};
use crate::record::{EndedBy, Record, Summary};
use crate::words::{grouped, quoted};
use anyhow::{Result, bail};
use cpu_time::ProcessTime;
use run::EVALUATION_EPISODES;
use run::Experiment;
use run::monitor::Writer;
use run::protocol::{Command, Event, Frame, Level, Progress};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// Records that may wait to be shown before training waits for them.
pub const BACKLOG: usize = 8192;
/// How long a paused run sleeps between looks at its budget.
const IDLE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug, Default)]
pub struct Budget {
    pub steps: Option<u64>,
    pub seconds: Option<f64>,
    pub cpu_seconds: Option<f64>,
    pub until_solved: bool,
}

impl Budget {
    pub fn is_endless(&self) -> bool {
        self.steps.is_none() && self.seconds.is_none() && self.cpu_seconds.is_none() && !self.until_solved
    }
}

/// What a person asks of a run in progress.
pub enum Wish {
    Command(Command),
    /// Save to the file the session has.
    Save,
}

pub enum Update {
    Record(Box<Record>),
    Frame(Frame),
}

/// What other threads tell the training without waiting for it.
pub struct Signals {
    /// Ctrl-C so far.
    pub interrupts: AtomicU32,
    pub output_closed: AtomicBool,
    pub frame_wanted: AtomicBool,
    /// The terminal is in the hands of the UI.
    pub screen: AtomicBool,
}

impl Signals {
    pub const fn new() -> Signals {
        Signals {
            interrupts: AtomicU32::new(0),
            output_closed: AtomicBool::new(false),
            frame_wanted: AtomicBool::new(false),
            screen: AtomicBool::new(false),
        }
    }

    /// The first asks for a clean end; the second ends the process at once.
    pub fn interrupt(&self) {
        if self.interrupts.fetch_add(1, Relaxed) > 0 {
            if self.screen.load(Relaxed) {
                ratatui::restore();
            }
            std::process::exit(130);
        }
    }

    pub fn stopping(&self) -> bool {
        self.interrupts.load(Relaxed) > 0 || self.output_closed.load(Relaxed)
    }
}

pub struct Session<'a> {
    pub experiment: Experiment,
    pub budget: Budget,
    /// Where `--save` says; the run is saved there however it ends.
    pub save: Option<PathBuf>,
    /// Where a run without `--save` goes when it is interrupted.
    pub default_save: PathBuf,
    /// Somebody can go on after a pause.
    pub interactive: bool,
    /// The words before and after the file in the command that resumes.
    pub program: String,
    pub resume_flags: String,
    pub began: Instant,
    pub signals: &'a Signals,
    pub wishes: Receiver<Wish>,
    pub updates: SyncSender<Update>,
    /// Where `watch` looks; or why it cannot.
    pub monitor: std::result::Result<Writer, String>,
}

/// What the summary tells that the experiment does not know.
#[derive(Default)]
struct Measured {
    /// Where this process took the run up.
    first: Progress,
    mean_return: Option<f64>,
    /// The GPU that trained last, where one did.
    device: Option<String>,
    seconds: f64,
    cpu_seconds: f64,
}

impl Session<'_> {
    pub fn run(mut self) -> Result<()> {
        self.tell(Record::Opened(self.experiment.backend().into()));
        if let Err(why) = &self.monitor {
            let text = format!("This run cannot be watched: {why}.");
            self.notice(Level::Warning, &text, "Training goes on; name a file elsewhere with --monitor.");
        }
        if self.budget.is_endless() && !self.interactive {
            self.notice(
                Level::Info,
                "No budget was given, so training goes on until Ctrl-C, which saves it.",
                "",
            );
        }
        let done = self.experiment.progress().env_steps;
        if done > 0 && self.budget.steps.is_some_and(|steps| steps <= done) {
            self.notice(
                Level::Warning,
                &format!(
                    "This run has {} steps already, and --steps counts from its beginning.",
                    grouped(done)
                ),
                "Ask for more than that, or use --seconds.",
            );
        }
        self.experiment.lend_clock(now_s);
        let mut opener = Opener::begin(&mut self.experiment);
        self.experiment.command(Command::Start)?;
        let mut solved = None;
        let mut diverged = false;
        let mut measured = Measured::default();
        let ended_by = loop {
            for event in self.experiment.events() {
                match &event {
                    Event::Began { environment, evaluations, progress, .. } => {
                        measured.first = *progress;
                        let first = evaluations.iter().find(|e| e.mean_return >= environment.solved_at);
                        solved = first.map(|e| e.progress);
                        diverged = false;
                    }
                    Event::Metrics(metrics) => measured.mean_return = metrics.mean_return,
                    Event::Device(device) => {
                        measured.device = device.gpu.clone().filter(|_| device.on_gpu);
                    }
                    Event::Solved { progress, .. } => solved = Some(*progress),
                    Event::Notice { level: Level::Error, .. } => diverged = true,
                    _ => {}
                }
                self.tell(Record::Event(event));
            }
            if diverged && !self.interactive {
                break EndedBy::Diverged;
            }
            if let Some(reason) = self.reason(solved.is_some()) {
                if self.experiment.at_boundary() {
                    break reason;
                }
                if !self.experiment.running() {
                    self.experiment.command(Command::Step)?;
                }
            }
            while let Ok(wish) = self.wishes.try_recv() {
                self.grant(wish);
            }
            if self.signals.frame_wanted.swap(false, Relaxed) {
                let frame = self.experiment.frame();
                self.send(Update::Frame(frame));
            }
            opener.look(&mut self.experiment, self.began.elapsed());
            let worked = self.experiment.advance(self.began.elapsed().as_secs_f64());
            if let Ok(monitor) = &mut self.monitor {
                monitor.beat(&self.experiment.progress());
            }
            if !worked && let Ok(wish) = self.wishes.recv_timeout(IDLE) {
                self.grant(wish);
            }
        };
        opener.hand_over(&mut self.experiment);
        measured.seconds = self.began.elapsed().as_secs_f64();
        measured.cpu_seconds = cpu_seconds();
        self.conclude(ended_by, solved, diverged, measured)
    }

    /// Why the run should end at the next boundary, if it should.
    fn reason(&self, solved: bool) -> Option<EndedBy> {
        let budget = &self.budget;
        let spent = |limit: Option<f64>, used: fn(&Self) -> f64| limit.is_some_and(|l| used(self) >= l);
        if self.signals.output_closed.load(Relaxed) {
            Some(EndedBy::ClosedOutput)
        } else if self.signals.interrupts.load(Relaxed) > 0 {
            Some(EndedBy::Interrupt)
        } else if budget.until_solved && solved {
            Some(EndedBy::Solved)
        } else if budget.steps.is_some_and(|steps| self.experiment.progress().env_steps >= steps) {
            Some(EndedBy::Steps)
        } else if spent(budget.seconds, |s| s.began.elapsed().as_secs_f64()) {
            Some(EndedBy::Seconds)
        } else if spent(budget.cpu_seconds, |_| cpu_seconds()) {
            Some(EndedBy::CpuSeconds)
        } else {
            None
        }
    }

    fn grant(&mut self, wish: Wish) {
        let granted = match wish {
            Wish::Command(command) => self.experiment.command(command).map_err(anyhow::Error::from),
            Wish::Save => self.save_now().map(|_| ()),
        };
        if let Err(refusal) = granted {
            self.notice(Level::Warning, &format!("{refusal:#}"), "");
        }
    }

    /// Ends the iteration, writes the file and says where it is.
    fn save_now(&mut self) -> Result<Kept> {
        let path = self.save.clone().unwrap_or_else(|| files::free_name(&self.default_save));
        let bytes = self.experiment.save();
        let kept = files::keep(&path, &bytes)?;
        if let Some(trouble) = &kept.trouble {
            self.notice(Level::Warning, trouble, "Make room, or name another file with --save.");
        }
        // The next save of this run replaces this one.
        self.save = Some(kept.path.clone());
        self.tell(Record::FileSaved { file: kept.path.display().to_string(), bytes: bytes.len() as u64 });
        Ok(kept)
    }

    fn conclude(
        mut self,
        ended_by: EndedBy,
        solved: Option<Progress>,
        diverged: bool,
        measured: Measured,
    ) -> Result<()> {
        // A terminal that goes away may be noticed before its signal comes.
        let left = ended_by == EndedBy::Interrupt || self.interactive && ended_by == EndedBy::ClosedOutput;
        let wants_file = self.save.is_some() || left;
        // Weights that are no numbers must not replace an earlier save.
        let kept = if wants_file && !diverged { Some(self.save_now()?) } else { None };
        let (file, trouble) = kept.map_or((None, None), |kept| (Some(kept.path), kept.trouble));
        let evaluation = self.experiment.evaluate(EVALUATION_EPISODES, self.experiment.progress().iteration);
        for event in self.experiment.events() {
            self.tell(Record::Event(event));
        }
        let progress = self.experiment.progress();
        let config = self.experiment.config();
        let (backend, digest) = (self.experiment.backend(), self.experiment.digest());
        let trained_s = progress.train_s - measured.first.train_s;
        let summary = Summary {
            ended_by,
            room: config.room.clone(),
            env: config.env.clone(),
            seed: config.seed,
            steps: progress.env_steps,
            iterations: progress.iteration,
            episodes: progress.episodes,
            seconds: measured.seconds,
            cpu_seconds: measured.cpu_seconds,
            steps_per_s: match (progress.env_steps.saturating_sub(measured.first.env_steps)) as f64
                / trained_s
            {
                rate if rate.is_finite() => rate,
                _ => 0.0,
            },
            mean_return: measured.mean_return,
            evaluation,
            solved,
            digest: digest.weights,
            arithmetic: digest.arithmetic,
            device: measured.device.clone(),
            isa: backend.isa,
            threads: backend.threads,
            resume: file.as_ref().map(|file| self.resume_command(file, ended_by, &measured)),
            file: file.map(|f| f.display().to_string()),
        };
        self.tell(Record::Summary(summary));
        if diverged {
            bail!(
                "training diverged: the weights are no longer numbers{}. Start again with a lower learning rate, as in --set lr=0.0005",
                if wants_file { ", so nothing was saved" } else { "" }
            );
        }
        match trouble {
            Some(trouble) => bail!("{trouble}"),
            None => Ok(()),
        }
    }

    /// What is left of the budget goes with it, so that pasting it ends where the run would have.
    fn resume_command(&self, file: &Path, ended_by: EndedBy, measured: &Measured) -> String {
        let mut command = format!("{} resume {}", quoted(&self.program), quoted(&file.to_string_lossy()));
        if matches!(ended_by, EndedBy::Interrupt | EndedBy::ClosedOutput) {
            if let Some(steps) = self.budget.steps {
                command += &format!(" --steps {steps}");
            }
            for (flag, limit, used) in [
                ("--seconds", self.budget.seconds, measured.seconds),
                ("--cpu-seconds", self.budget.cpu_seconds, measured.cpu_seconds),
            ] {
                if let Some(limit) = limit {
                    command += &format!(" {flag} {:.1}", (limit - used).max(0.1));
                }
            }
            if self.budget.until_solved {
                command += " --until-solved";
            }
        }
        command + &self.resume_flags
    }

    fn notice(&mut self, level: Level, text: &str, next_step: &str) {
        self.tell(Record::Event(Event::Notice { level, text: text.into(), next_step: next_step.into() }));
    }

    fn tell(&mut self, record: Record) {
        if let Ok(monitor) = &mut self.monitor {
            match &record {
                Record::Event(event) => monitor.event(event),
                // It stands in the monitor from the start.
                Record::Opened(_) => {}
                Record::FileSaved { .. } | Record::Summary(_) => {
                    monitor.say(&record.line());
                }
            }
        }
        self.send(Update::Record(Box::new(record)));
    }

    fn send(&self, update: Update) {
        if self.updates.send(update).is_err() {
            // Nobody shows the run any more.
            self.signals.output_closed.store(true, Relaxed);
        }
    }
}

/// Seconds since it was first asked.
pub fn now_s() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}

pub fn cpu_seconds() -> f64 {
    ProcessTime::try_now().map_or(0.0, |t| t.as_duration().as_secs_f64())
}
