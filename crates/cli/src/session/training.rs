//! The training thread. The thread owns the run, enforces the limits, saves checkpoints and creates the summary. The display receives
//! records (events, as [`Record`]) and sends requests. Training waits for the display only while the queue of records is full.

use crate::format::{counted, quoted};
use crate::session::budget::{Budget, Pace, PaceSample};
use crate::session::device::GpuOpener;
use crate::session::monitor_file::MonitorFile;
use crate::session::record::{Ended, EndedBy, Parts, Record, Summary};
use crate::session::target::SaveTarget;
use crate::signals::Signals;
use anyhow::{Result, bail};
use cpu_time::ProcessTime;
use files::Kept;
use run::protocol::{Command, Event, Level, Progress, Row, Variant};
use run::{AnyRun, RunError, TimeByPart};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// Capacity of the queue between training and the display. Training waits while the queue is full.
pub const BACKLOG: usize = 8192;
/// Maximum time for which a paused run sleeps between two checks of its limits.
const IDLE: Duration = Duration::from_millis(50);
/// Time that a run has to reach the end of its iteration after an interrupt, a closed output or a time limit. Afterwards, the run ends at
/// the next point at which it can be saved. After an interrupt or a closed output, this constant is also the time limit of the last test.
pub const GRACE: Duration = Duration::from_millis(500);
/// Time from a time limit to the end of the last test. A test that takes longer is cut off.
const TEST_GRACE: Duration = Duration::from_millis(1200);
/// Interval between attempts to save an ended run, if the first attempt failed.
const RETRY_EVERY: Duration = Duration::from_millis(500);

/// A request of the display to the run.
pub enum Request {
    Command(Command),
    /// Saves the run to the file that the user named, or else to a new file in the current folder.
    Save,
    /// A room-specific question of the picture to the run.
    Ask(serde_json::Value),
}

pub enum Update {
    Record(Box<Record>),
    /// The run's answer to [`Request::Ask`] as JSON; empty if the question failed.
    Answer(Vec<u8>),
}

pub struct Session<'a> {
    pub run: Box<dyn AnyRun>,
    pub budget: Budget,
    /// Reason why no test can reach the goal; `None` if a test can reach the goal.
    pub out_of_reach: Option<&'static str>,
    pub target: SaveTarget,
    /// True if the run is on the full screen. A user can then resume the run after a pause, or start a new run after a divergence.
    pub interactive: bool,
    /// Program name for the resume command.
    pub program: String,
    /// Flags at the end of the resume command.
    pub resume_flags: String,
    /// Clock: returns the seconds since the program began.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    pub signals: &'a Signals,
    pub requests: Receiver<Request>,
    pub updates: SyncSender<Update>,
    /// Monitor for `watch`, or the reason why there is no monitor.
    pub monitor: std::result::Result<MonitorFile, String>,
    /// True if the user requested the monitor. The run then fails if the monitor is incomplete at its end.
    pub monitor_is_named: bool,
}

/// Measurements of this process, for the summary.
#[derive(Default)]
struct Measured {
    /// Progress of the run when this process began.
    first: Progress,
    metrics: Option<Row>,
    spent: TimeByPart,
    /// GPU that the run uses; `None` if the run uses the CPU.
    device: Option<String>,
    /// Pace of the run, for the estimate of the remaining time.
    pace: Pace,
    seconds: f64,
    cpu_seconds: f64,
}

impl Session<'_> {
    pub fn train(mut self) -> Result<()> {
        self.report(Record::Opened(self.run.backend()));
        // The `Began` event is reported before the initial notices, because it clears the notice on the screen.
        let mut measured = Measured::default();
        self.report_events(&mut measured);
        self.report_initial_notices();
        self.run.set_clock(now_s);
        let mut opener = GpuOpener::begin(self.run.as_mut());
        self.run.command(Command::Start)?;
        let mut stop_requested_s = None;
        let mut late_s = None;
        let ended_by = loop {
            self.report_events(&mut measured);
            if self.run.failure().is_some() && !self.interactive {
                break EndedBy::Diverged;
            }
            let progress = self.run.progress();
            if let Some(reason) = self.reason(&progress) {
                let stopped = is_stop(reason);
                let by_time = stopped || matches!(reason, EndedBy::Seconds | EndedBy::CpuSeconds);
                let now_s = (self.clock)();
                let late = now_s - *stop_requested_s.get_or_insert(now_s) > GRACE.as_secs_f64();
                late_s = stop_requested_s.filter(|_| by_time && !stopped);
                let is_preparing = self.run.is_preparing();
                if self.run.at_boundary() || stopped && is_preparing || by_time && late && (is_preparing || self.run.saves().is_some()) {
                    break reason;
                }
                if !self.run.running() {
                    self.run.command(Command::Step)?;
                }
            }
            self.report_monitor_status();
            self.autosave(&progress);
            while let Ok(request) = self.requests.try_recv() {
                self.handle(request);
            }
            let now_s = (self.clock)();
            measured.seconds = now_s;
            opener.poll(self.run.as_mut(), now_s);
            let worked = self.run.advance(now_s);
            if let Ok(monitor) = &self.monitor {
                monitor.beat(&progress);
            }
            if !worked && let Ok(request) = self.requests.recv_timeout(IDLE) {
                self.handle(request);
            }
        };
        opener.finish(self.run.as_mut());
        measured.seconds = (self.clock)();
        measured.cpu_seconds = cpu_seconds();
        self.conclude(ended_by, measured, late_s)
    }

    fn report_initial_notices(&mut self) {
        if let Err(reason) = &self.monitor {
            let text = format!("This run cannot be watched: {reason}.");
            self.notice(Level::Warning, &text, "Training continues; name another file with --monitor.");
        }
        if self.budget.is_endless() && !self.interactive {
            let text = "No limit was given: training runs until Ctrl-C, which saves it.";
            self.notice(Level::Info, text, "");
        }
        let (first, done) = (&self.run.schema().counters[0], self.run.progress().counts[0]);
        if done > 0.0 && self.budget.steps.is_some_and(|steps| steps as f64 <= done) {
            let done = counted(first, done);
            let text = format!("This run already has {done}, and --steps counts from its beginning.");
            self.notice(Level::Warning, &text, "Use a larger --steps, or --seconds.");
        }
        const STOP: &str = "Stop it with Ctrl-C, or use --steps or --seconds.";
        let endless = match self.run.variant() {
            Variant { goal: None, name, .. } => {
                let goal = if name.ends_with(".py") { "Write a goal such as `solved = 0.9` in the class. " } else { "" };
                Some((format!("{name} has no goal, so --until-solved cannot end this run."), format!("{goal}{STOP}")))
            }
            _ => self.out_of_reach.map(|text| (text.into(), STOP.into())),
        };
        if let Some((text, next_step)) = endless.filter(|_| self.budget.until_solved) {
            self.notice(Level::Warning, &text, &next_step);
        }
        self.target.saved_s = self.run.progress().train_s;
    }

    fn report_events(&mut self, measured: &mut Measured) {
        for event in self.run.events() {
            match &event {
                Event::Began(began) => {
                    measured.pace = Pace::default();
                    measured.first = began.progress.clone();
                    measured.spent = TimeByPart::since(&began.progress, self.run.schema().all_parts().count());
                    measured.metrics = began.history.last().cloned();
                    self.target.saved_s = began.progress.train_s;
                }
                Event::Metrics(row) => {
                    measured.spent.add(row);
                    measured.metrics = Some(row.clone());
                    let (at_s, count) = (measured.seconds, row.progress.counts[0]);
                    let now = PaceSample { at_s, cpu_s: cpu_seconds(), count };
                    if let Some(remaining) = measured.pace.sample(&self.budget, now) {
                        self.report(Record::Remaining(remaining));
                    }
                }
                Event::Device(device) => {
                    measured.pace = Pace::default();
                    measured.device = device.gpu.clone().filter(|_| device.on_gpu);
                }
                // A pause would distort the pace, so the samples are dropped.
                Event::Running { .. } => measured.pace = Pace::default(),
                _ => {}
            }
            self.report(Record::Event(event));
        }
    }

    /// Returns the reason why the run must end; `None` if the run can continue.
    fn reason(&self, progress: &Progress) -> Option<EndedBy> {
        let budget = &self.budget;
        let spent = |limit: Option<f64>, used: fn(&Self) -> f64| limit.is_some_and(|l| used(self) >= l);
        if self.signals.output_closed.load(Relaxed) {
            Some(EndedBy::ClosedOutput)
        } else if self.signals.interrupts.load(Relaxed) > 0 {
            Some(EndedBy::Interrupt)
        } else if budget.until_solved && self.run.solved().is_some() {
            Some(EndedBy::Solved)
        } else if budget.steps.is_some_and(|steps| progress.counts[0] >= steps as f64) {
            Some(EndedBy::Steps)
        } else if spent(budget.seconds, |s| (s.clock)()) {
            Some(EndedBy::Seconds)
        } else if spent(budget.cpu_seconds, |_| cpu_seconds()) {
            Some(EndedBy::CpuSeconds)
        } else {
            None
        }
    }

    fn handle(&mut self, request: Request) {
        let result = match request {
            Request::Command(command) => self.run.command(command).map_err(anyhow::Error::from),
            Request::Save => {
                let named = self.target.name(self.run.config());
                named.and_then(|()| self.save()).map(drop)
            }
            Request::Ask(question) => {
                let answer = self.run.ask(question).ok();
                let json = answer.and_then(|answer| serde_json::to_vec(&*answer).ok());
                self.send(Update::Answer(json.unwrap_or_default()));
                Ok(())
            }
        };
        if let Err(error) = result {
            self.notice(Level::Warning, &format!("{error:#}."), "");
        }
    }

    /// Reports a failed write to the monitor file, and the first successful write after a failure.
    fn report_monitor_status(&mut self) {
        match self.monitor.as_ref().ok().and_then(MonitorFile::status_change) {
            Some(Some(reason)) => {
                let text = format!("The monitor cannot be written ({reason}): `hothouse watch` shows nothing new.");
                self.notice(Level::Warning, &text, "Free disk space; training continues and retries.");
            }
            Some(None) => self.notice(Level::Info, "The monitor is written again.", ""),
            None => {}
        }
    }

    /// Saves the run if the interval since the last save or attempt has passed.
    fn autosave(&mut self, progress: &Progress) {
        let due_s = self.target.saved_s + self.target.every_s;
        let due = progress.train_s >= due_s && self.run.saves().is_some_and(|at| at.train_s >= due_s);
        if !due || self.run.failure().is_some() {
            return;
        }
        // The interval begins again even if the save fails.
        self.target.saved_s = progress.train_s;
        match self.save() {
            Ok(_) => {}
            Err(error) if error.is::<RunError>() => {}
            Err(error) => self.warn_once(
                &format!("{error:#}"),
                "Training continues; free disk space or raise the limit of file sizes, or the run is lost.",
            ),
        }
    }

    /// Saves the run to its checkpoint file and reports the path.
    fn save(&mut self) -> Result<Kept> {
        let bytes = self.run.save()?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<Kept> {
        let kept = self.target.write(self.run.config(), bytes)?;
        match &kept.trouble {
            Some(trouble) => {
                self.warn_once(&trouble.clone(), "Free disk space, raise the limit of file sizes, or name another file with --save.");
            }
            None => self.target.warning = None,
        }
        self.target.saved_s = self.run.progress().train_s;
        let file = kept.path.display().to_string();
        self.report(Record::FileSaved { file, bytes: bytes.len() as u64 });
        Ok(kept)
    }

    /// Shows a warning unless the last warning had the same text and the same next step.
    fn warn_once(&mut self, text: &str, next_step: &str) {
        let warning = Some((text.into(), next_step.into()));
        if self.target.warning != warning {
            self.target.warning = warning;
            self.notice(Level::Warning, &format!("{text}."), next_step);
        }
    }

    /// Saves a run that has ended. If no file can be written, waits for disk space. Returns `None` if there is nothing to save or the run
    /// has failed.
    fn save_at_end(&mut self) -> Result<Option<Kept>> {
        if self.run.is_preparing() {
            let text = "The run stopped during preparation, before training began; nothing was saved.";
            self.notice(Level::Info, text, "Start it again, with more time if it had a time limit.");
            return Ok(None);
        }
        let (now, saved) = (self.run.progress(), self.run.saves());
        let begun = saved.is_some_and(|at| at.iteration > 0 || at == now && !self.run.at_boundary());
        let nothing_yet = !begun && !self.target.is_named();
        // Diverged weights must not replace the last save.
        if self.run.failure().is_some() || nothing_yet {
            return Ok(None);
        }
        let bytes = match self.run.save() {
            Err(RunError::Diverged) => return Ok(None),
            saved => saved?,
        };
        loop {
            match self.write(&bytes) {
                Ok(kept) => return Ok(Some(kept)),
                Err(error) => {
                    let next =
                        "Free disk space or raise the limit of file sizes: the run waits for it, then ends. Ctrl-C quits without saving.";
                    self.warn_once(&format!("{error:#}"), next);
                    if let Ok(monitor) = &self.monitor {
                        monitor.beat(&self.run.progress());
                    }
                    std::thread::sleep(RETRY_EVERY);
                }
            }
        }
    }

    /// Tests the run at its end. A stop or a time limit cuts the test off. `late_s` is the time at which a time limit ended the run; `None`
    /// if something else ended it. Returns `None` for a test that was cut off.
    fn test_at_end(&mut self, mut late_s: Option<f64>) -> Result<Option<Row>, RunError> {
        let Session { run, budget, signals, clock, .. } = self;
        let mut stopped_s = None;
        run.test_while(&mut || {
            let now_s = clock();
            let is_late = budget.seconds.is_some_and(|most| now_s >= most) || budget.cpu_seconds.is_some_and(|most| cpu_seconds() >= most);
            let has_time = |over: bool, since_s: &mut Option<f64>, grace: Duration| {
                !over || now_s - *since_s.get_or_insert(now_s) <= grace.as_secs_f64()
            };
            has_time(signals.stopping(), &mut stopped_s, GRACE) && has_time(is_late, &mut late_s, TEST_GRACE)
        })
    }

    fn conclude(mut self, ended_by: EndedBy, mut measured: Measured, late_s: Option<f64>) -> Result<()> {
        let kept = self.save_at_end()?;
        let nothing_kept = kept.is_none() && self.run.progress().iteration > 0;
        let failure = self.run.failure().or(nothing_kept.then_some(RunError::Diverged));
        let untested = failure.is_some() || self.run.is_preparing();
        let test = if untested { None } else { self.test_at_end(late_s)? };
        self.report_events(&mut measured);
        let (file, trouble) = kept.map_or((None, None), |kept| (Some(kept.path), kept.trouble));
        let (progress, config) = (self.run.progress(), self.run.config());
        let (backend, digest) = (self.run.backend(), self.run.digest());
        let trained_s = progress.train_s - measured.first.train_s;
        let done = progress.counts[0] - measured.first.counts.first().copied().unwrap_or(0.0);
        let summary = Summary {
            ended_by: match &failure {
                Some(RunError::WorldFailed { .. }) => EndedBy::WorldFailed,
                Some(_) => EndedBy::Diverged,
                None => ended_by,
            },
            room: config.room.clone(),
            variant: config.variant.clone(),
            seed: config.seed,
            seconds: measured.seconds,
            cpu_seconds: measured.cpu_seconds,
            per_second: if trained_s > 0.0 { done / trained_s } else { 0.0 },
            standing: Some(self.run.standing(test.as_ref())),
            test,
            solved: self.run.solved().cloned(),
            attempts: self.run.attempts(),
            machine: Ended {
                link: self.run.shared().address,
                digest: digest.weights,
                arithmetic: digest.arithmetic,
                device: measured.device.clone(),
                isa: backend.isa,
                threads: backend.threads,
                resume: file.as_ref().map(|file| self.resume_command(file, ended_by, &measured)),
                file: file.map(|f| f.display().to_string()),
            },
            progress,
            metrics: measured.metrics,
            parts_s: Parts(measured.spent.parts_s),
        };
        self.report(Record::Summary(Box::new(summary)));
        let watched = self.monitor.map_or(Ok(()), MonitorFile::finish);
        match failure {
            Some(RunError::Diverged) => bail!(
                "training diverged: the weights contain NaN or infinity, so they were not saved. Start a new run with a lower learning \
                 rate, as in --set lr=0.0005"
            ),
            Some(error) => bail!("{error}"),
            None => {}
        }
        match trouble {
            Some(trouble) => bail!("{trouble}"),
            None if self.monitor_is_named => watched,
            None => Ok(()),
        }
    }

    /// Returns the command that resumes the run. If the run was stopped before its limits, the command also contains the remaining limits.
    fn resume_command(&self, file: &Path, ended_by: EndedBy, measured: &Measured) -> String {
        let mut command = format!("{} resume {}", quoted(&self.program), quoted(&file.to_string_lossy()));
        if is_stop(ended_by) {
            if let Some(steps) = self.budget.steps {
                command += &format!(" --steps {steps}");
            }
            for (flag, limit, used) in
                [("--seconds", self.budget.seconds, measured.seconds), ("--cpu-seconds", self.budget.cpu_seconds, measured.cpu_seconds)]
            {
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
        self.report(Record::Event(Event::Notice { level, text: text.into(), next_step: next_step.into() }));
    }

    fn report(&mut self, record: Record) {
        if let Ok(monitor) = &self.monitor {
            match &record {
                Record::Event(event) => monitor.event(event),
                // The monitor already contains this record: `MonitorFile::create` received the record as `about`.
                Record::Opened(_) => {}
                // This record is too frequent for the monitor, whose space for shell records is small.
                Record::Remaining(_) => {}
                Record::FileSaved { .. } | Record::Summary(_) => monitor.say(&record.line(self.run.schema())),
            }
        }
        self.send(Update::Record(Box::new(record)));
    }

    fn send(&self, update: Update) {
        if self.updates.send(update).is_err() {
            // A failed send means that the display has ended.
            self.signals.output_closed.store(true, Relaxed);
        }
    }
}

/// Returns true if the user or a closed output stopped the run, false if the run ended by itself.
fn is_stop(reason: EndedBy) -> bool {
    matches!(reason, EndedBy::Interrupt | EndedBy::ClosedOutput)
}

/// Returns the seconds since the first call.
pub fn now_s() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Returns the CPU time of this process in seconds.
pub fn cpu_seconds() -> f64 {
    ProcessTime::try_now().map_or(0.0, |t| t.as_duration().as_secs_f64())
}
