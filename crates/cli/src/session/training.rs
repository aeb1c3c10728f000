//! Training on a thread of its own: it owns the run, keeps the budget, saves, and sums up. Whoever shows the run gets records
//! and sends wishes; the training never waits for a screen.

use crate::format::{counted, quoted};
use crate::session::budget::{Budget, Look, Pace};
use crate::session::device::Opener;
use crate::session::monitor_file::MonitorFile;
use crate::session::record::{Ended, EndedBy, Parts, Record, Summary};
use crate::session::saves;
use crate::signals::Signals;
use anyhow::{Result, bail};
use cpu_time::ProcessTime;
use files::Kept;
use run::protocol::{Command, Event, Level, Progress, Row, Variant};
use run::{AnyRun, RunError, TimeByPart};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

/// Records that may wait to be shown before training waits for them.
pub const BACKLOG: usize = 8192;
/// How long a paused run sleeps between looks at its budget.
const IDLE: Duration = Duration::from_millis(50);
/// How long a run that is to end has to reach a boundary, after which it ends wherever it can be saved; and where somebody waits for the
/// end, how long its last test may take.
const GRACE: Duration = Duration::from_millis(500);
/// How often a run that has ended tries to save itself where nothing can be written.
const TRY_EVERY: Duration = Duration::from_millis(500);

/// What a person asks of a run in progress.
pub enum Wish {
    Command(Command),
    /// Save to the file the session has.
    Save,
    /// A question of the room's, for a picture of it.
    Ask(serde_json::Value),
}

pub enum Update {
    Record(Box<Record>),
    /// An answer as JSON; empty where the question could not be answered.
    Answer(Vec<u8>),
}

/// Where a run is saved.
pub struct Place {
    /// Where `--save` says, or the file that was resumed; else one in the cache.
    asked: Option<PathBuf>,
    cached: Option<PathBuf>,
    /// Where it goes when it cannot go there.
    refuges: Vec<PathBuf>,
    /// What was told of it last.
    trouble: Option<String>,
    /// The training time that the newest save has.
    saved_s: f64,
    /// Seconds of training after which the run saves itself.
    every_s: f64,
}

impl Place {
    pub fn new(asked: Option<PathBuf>, every_s: f64) -> Place {
        Place { asked, cached: None, refuges: Vec::new(), trouble: None, saved_s: 0.0, every_s }
    }

    fn path(&mut self, run: &dyn AnyRun) -> Result<PathBuf> {
        let known = self.asked.clone().or_else(|| self.cached.clone());
        let path = known.map_or_else(|| saves::fresh(&run.config().variant, run.config().seed), Ok)?;
        if self.asked.is_none() {
            self.cached = Some(path.clone());
        }
        Ok(path)
    }

    fn write(&mut self, run: &dyn AnyRun, bytes: &[u8]) -> Result<Kept> {
        let wanted = self.path(run);
        let name = wanted.as_ref().ok().and_then(|path| Some(PathBuf::from(path.file_name()?)));
        let name = name.unwrap_or_else(|| default_name(run));
        if self.refuges.is_empty() {
            let cache = saves::folder().ok().filter(|_| wanted.is_ok());
            let folders = cache.into_iter().chain([std::env::temp_dir(), PathBuf::from(".")]);
            self.refuges = folders.map(|folder| files::free_name(&folder.join(&name))).collect();
        }
        // Where there is no cache, the other places are asked for first of all.
        let wanted = wanted.unwrap_or_else(|_| self.refuges[0].clone());
        let kept = files::keep(&wanted, &self.refuges, bytes)?;
        saves::prune(&kept.path);
        Ok(kept)
    }
}

/// A name in the current folder, for a person who asks for a save and said nothing of a place.
fn default_name(run: &dyn AnyRun) -> PathBuf {
    let config = run.config();
    files::free_name(Path::new(&format!("hothouse-{}-seed{}.safetensors", config.variant, config.seed)))
}

pub struct Session<'a> {
    pub run: Box<dyn AnyRun>,
    pub budget: Budget,
    /// Why no test can reach the goal, where that is so.
    pub out_of_reach: Option<&'static str>,
    pub place: Place,
    /// Somebody can go on after a pause.
    pub interactive: bool,
    /// The words before and after the file in the command that resumes.
    pub program: String,
    pub resume_flags: String,
    /// Seconds since the program began.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    pub signals: &'a Signals,
    pub wishes: Receiver<Wish>,
    pub updates: SyncSender<Update>,
    /// Where `watch` looks; or why it cannot.
    pub monitor: std::result::Result<MonitorFile, String>,
}

/// What the summary tells that the run does not know.
#[derive(Default)]
struct Measured {
    /// Where this process took the run up.
    first: Progress,
    metrics: Option<Row>,
    spent: TimeByPart,
    /// The GPU that trained last, where one did.
    device: Option<String>,
    /// Of what is told of the budget meanwhile.
    pace: Pace,
    seconds: f64,
    cpu_seconds: f64,
}

impl Session<'_> {
    pub fn train(mut self) -> Result<()> {
        self.tell(Record::Opened(self.run.backend()));
        // What is told before a run begins is off the screen once it does.
        let mut measured = Measured::default();
        self.tell_events(&mut measured);
        self.say_beforehand();
        self.run.set_clock(now_s);
        let mut opener = Opener::begin(self.run.as_mut());
        self.run.command(Command::Start)?;
        let mut asked_s = None;
        let ended_by = loop {
            self.tell_events(&mut measured);
            if self.run.diverged() && !self.interactive {
                break EndedBy::Diverged;
            }
            let progress = self.run.progress();
            if let Some(reason) = self.reason(&progress) {
                let stopped = is_stop(reason);
                let by_time = stopped || matches!(reason, EndedBy::Seconds | EndedBy::CpuSeconds);
                let now_s = (self.clock)();
                let late = now_s - *asked_s.get_or_insert(now_s) > GRACE.as_secs_f64();
                if self.run.at_boundary() || stopped && self.run.is_preparing() || by_time && late && self.run.saves().is_some() {
                    break reason;
                }
                if !self.run.running() {
                    self.run.command(Command::Step)?;
                }
            }
            self.look_at_monitor();
            self.save_by_itself(&progress);
            while let Ok(wish) = self.wishes.try_recv() {
                self.grant(wish);
            }
            let now_s = (self.clock)();
            measured.seconds = now_s;
            opener.look(self.run.as_mut(), now_s);
            let worked = self.run.advance(now_s);
            if let Ok(monitor) = &self.monitor {
                monitor.beat(&progress);
            }
            if !worked && let Ok(wish) = self.wishes.recv_timeout(IDLE) {
                self.grant(wish);
            }
        };
        opener.hand_over(self.run.as_mut());
        measured.seconds = (self.clock)();
        measured.cpu_seconds = cpu_seconds();
        self.conclude(ended_by, measured)
    }

    fn say_beforehand(&mut self) {
        if let Err(why) = &self.monitor {
            let text = format!("This run cannot be watched: {why}.");
            self.notice(Level::Warning, &text, "Training goes on; name a file elsewhere with --monitor.");
        }
        if self.budget.is_endless() && !self.interactive {
            let text = "No budget was given, so training goes on until Ctrl-C, which saves it.";
            self.notice(Level::Info, text, "");
        }
        let (first, done) = (&self.run.schema().counters[0], self.run.progress().counts[0]);
        if done > 0.0 && self.budget.steps.is_some_and(|steps| steps as f64 <= done) {
            let done = counted(first, done);
            let text = format!("This run has {done} already, and --steps counts from its beginning.");
            self.notice(Level::Warning, &text, "Ask for more than that, or use --seconds.");
        }
        let endless = match self.run.variant() {
            Variant { goal: None, name, .. } => Some(format!("{name} has no goal that would end this run.")),
            _ => self.out_of_reach.map(String::from),
        };
        if let Some(text) = endless.filter(|_| self.budget.until_solved) {
            self.notice(Level::Warning, &text, "End it with Ctrl-C, or give --steps or --seconds.");
        }
        self.place.saved_s = self.run.progress().train_s;
    }

    fn tell_events(&mut self, measured: &mut Measured) {
        for event in self.run.events() {
            match &event {
                Event::Began(began) => {
                    measured.pace = Pace::default();
                    measured.first = began.progress.clone();
                    measured.spent = TimeByPart::since(&began.progress, self.run.schema().all_parts().count());
                    measured.metrics = began.history.last().cloned();
                    self.place.saved_s = began.progress.train_s;
                }
                Event::Metrics(row) => {
                    measured.spent.add(row);
                    measured.metrics = Some(row.clone());
                    let (at_s, count) = (measured.seconds, row.progress.counts[0]);
                    let now = Look { at_s, cpu_s: cpu_seconds(), count };
                    if let Some(left) = measured.pace.look(&self.budget, now) {
                        self.tell(Record::Left(left));
                    }
                }
                Event::Device(device) => {
                    measured.pace = Pace::default();
                    measured.device = device.gpu.clone().filter(|_| device.on_gpu);
                }
                // While it pauses, it has no pace.
                Event::Running { .. } => measured.pace = Pace::default(),
                _ => {}
            }
            self.tell(Record::Event(event));
        }
    }

    /// Why the run should end, if it should.
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

    fn grant(&mut self, wish: Wish) {
        let granted = match wish {
            Wish::Command(command) => self.run.command(command).map_err(anyhow::Error::from),
            Wish::Save => {
                // Who asks for a file finds it in the current folder, and the run is saved there from now on.
                let path = self.place.asked.clone().unwrap_or_else(|| default_name(self.run.as_ref()));
                self.place.asked = Some(path);
                self.save().map(|_| ())
            }
            Wish::Ask(question) => {
                let answer = self.run.ask(question).ok();
                let json = answer.and_then(|answer| serde_json::to_vec(&*answer).ok());
                self.send(Update::Answer(json.unwrap_or_default()));
                Ok(())
            }
        };
        if let Err(refusal) = granted {
            self.notice(Level::Warning, &format!("{refusal:#}."), "");
        }
    }

    /// A disk that is full is told of, and so is that it has room again.
    fn look_at_monitor(&mut self) {
        match self.monitor.as_ref().ok().and_then(MonitorFile::news) {
            Some(Some(why)) => {
                let text = format!("The monitor cannot be written ({why}): who watches this run sees nothing new.");
                self.notice(Level::Warning, &text, "Make room; training goes on, and it is tried again.");
            }
            Some(None) => self.notice(Level::Info, "The monitor is written again.", ""),
            None => {}
        }
    }

    /// Every so often, so that little is lost whatever happens.
    fn save_by_itself(&mut self, progress: &Progress) {
        let due_s = self.place.saved_s + self.place.every_s;
        let due = progress.train_s >= due_s && self.run.saves().is_some_and(|at| at.train_s >= due_s);
        if !due || self.run.diverged() {
            return;
        }
        // What cannot be saved now is tried again at the next turn.
        self.place.saved_s = progress.train_s;
        match self.save() {
            Ok(_) => {}
            Err(error) if error.is::<RunError>() => {}
            Err(error) => self.trouble(&format!("{error:#}"), "Training goes on; make room, or it is lost."),
        }
    }

    /// Writes the file and says where it is.
    fn save(&mut self) -> Result<Kept> {
        let bytes = self.run.save()?;
        self.write(&bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<Kept> {
        let kept = self.place.write(self.run.as_ref(), bytes)?;
        match &kept.trouble {
            Some(trouble) => {
                self.trouble(&trouble.clone(), "Make room, or name another file with --save.");
            }
            None => self.place.trouble = None,
        }
        self.place.saved_s = self.run.progress().train_s;
        let file = kept.path.display().to_string();
        self.tell(Record::FileSaved { file, bytes: bytes.len() as u64 });
        Ok(kept)
    }

    /// Said once, and again when it is another.
    fn trouble(&mut self, text: &str, next_step: &str) {
        if self.place.trouble.as_deref() != Some(text) {
            self.place.trouble = Some(text.into());
            self.notice(Level::Warning, &format!("{text}."), next_step);
        }
    }

    /// Saves the run that has ended, and waits where there is no room for it anywhere; none where it diverged.
    fn save_at_last(&mut self) -> Result<Option<Kept>> {
        if self.run.is_preparing() {
            let text = "The run was still being prepared: nothing is learned yet, and nothing was saved.";
            self.notice(Level::Info, text, "Begin it again with the same command.");
            return Ok(None);
        }
        let (now, saved) = (self.run.progress(), self.run.saves());
        let begun = saved.is_some_and(|at| at.iteration > 0 || at == now && !self.run.at_boundary());
        let nothing_yet = !begun && self.place.asked.is_none();
        // Weights that are no numbers must not replace an earlier save.
        if self.run.diverged() || nothing_yet {
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
                    let next = "The run waits for room there, and then ends. Ctrl-C gives it up.";
                    self.trouble(&format!("{error:#}"), next);
                    if let Ok(monitor) = &self.monitor {
                        monitor.beat(&self.run.progress());
                    }
                    std::thread::sleep(TRY_EVERY);
                }
            }
        }
    }

    fn conclude(mut self, ended_by: EndedBy, mut measured: Measured) -> Result<()> {
        let kept = self.save_at_last()?;
        let diverged = self.run.diverged() || kept.is_none() && self.run.progress().iteration > 0;
        let (clock, end_s) = (self.clock, (self.clock)() + GRACE.as_secs_f64());
        let mut goes_on = || !is_stop(ended_by) || clock() < end_s;
        let untested = diverged || self.run.is_preparing();
        let test = if untested { None } else { self.run.test_while(&mut goes_on)? };
        self.tell_events(&mut measured);
        let (file, trouble) = kept.map_or((None, None), |kept| (Some(kept.path), kept.trouble));
        let (progress, config) = (self.run.progress(), self.run.config());
        let (backend, digest) = (self.run.backend(), self.run.digest());
        let trained_s = progress.train_s - measured.first.train_s;
        let done = progress.counts[0] - measured.first.counts.first().copied().unwrap_or(0.0);
        let summary = Summary {
            ended_by: if diverged { EndedBy::Diverged } else { ended_by },
            room: config.room.clone(),
            variant: config.variant.clone(),
            seed: config.seed,
            seconds: measured.seconds,
            cpu_seconds: measured.cpu_seconds,
            per_second: if trained_s > 0.0 { done / trained_s } else { 0.0 },
            test,
            solved: self.run.solved().cloned(),
            attempts: self.run.attempts(),
            machine: Ended {
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
        self.tell(Record::Summary(Box::new(summary)));
        if diverged {
            bail!(
                "training diverged: the weights are no longer numbers, so they were not saved. Start a new run with a lower learning \
                 rate, as in --set lr=0.0005"
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
        self.tell(Record::Event(Event::Notice { level, text: text.into(), next_step: next_step.into() }));
    }

    fn tell(&mut self, record: Record) {
        if let Ok(monitor) = &self.monitor {
            match &record {
                Record::Event(event) => monitor.event(event),
                // It stands in the monitor from the start.
                Record::Opened(_) => {}
                // There is room for few words of the shell's, and this is told each second.
                Record::Left(_) => {}
                Record::FileSaved { .. } | Record::Summary(_) => monitor.say(&record.line(self.run.schema())),
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

/// Somebody waits for the end.
fn is_stop(reason: EndedBy) -> bool {
    matches!(reason, EndedBy::Interrupt | EndedBy::ClosedOutput)
}

/// Seconds since it was first asked.
pub fn now_s() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn cpu_seconds() -> f64 {
    ProcessTime::try_now().map_or(0.0, |t| t.as_duration().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::Host;
    use run::protocol::DeviceWish;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::{channel, sync_channel};

    /// Whatever ends a process at any moment, its run is in the file as it was 30 seconds of training ago at most, and one iteration.
    #[test]
    fn a_run_saves_itself_every_30_seconds_and_what_it_left_goes_on() {
        const SLICE_S: f64 = 0.25;
        const SAVE_EVERY_S: f64 = 30.0;
        let folder = testkit::Scratch::new("autosave");
        let file = folder.path("run.safetensors");
        let host = Host::new(math::Isa::best());
        let small = [("envs", 64.0), ("rollout_steps", 16.0), ("hidden", 16.0), ("minibatches", 2.0)];
        let knobs = small.map(|(name, value)| (name.to_string(), value.into())).into();
        let config = run::protocol::Config { knobs, ..run::config_of(run::room("control").unwrap()) };
        let mut run = run::begin(config, host).unwrap();
        run.command(Command::Device { wish: DeviceWish::Cpu }).unwrap();
        let schema = run.schema();
        let monitor = MonitorFile::create(&folder.path("run.ring"), schema, "about").unwrap();

        let (looks, signals) = (AtomicU64::new(0), Signals::new());
        let clock = || looks.fetch_add(1, Relaxed) as f64 * SLICE_S;
        let (_wish, wishes) = channel();
        // Nothing waits to be told: what is told of a save has just happened.
        let (update, updates) = sync_channel(0);
        let session = Session {
            run,
            budget: Budget { seconds: Some(200.0), ..Budget::default() },
            out_of_reach: None,
            place: Place::new(Some(file.clone()), SAVE_EVERY_S),
            interactive: false,
            program: "hothouse".into(),
            resume_flags: String::new(),
            clock: &clock,
            signals: &signals,
            wishes,
            updates: update,
            monitor: Ok(monitor),
        };
        // The training time of each iteration, and of each save with what was in the file then.
        let (mut trained_s, mut saves) = (vec![0.0], Vec::new());
        std::thread::scope(|scope| {
            let trainer = scope.spawn(|| session.train());
            for update in &updates {
                match update {
                    Update::Record(record) => match *record {
                        Record::Event(Event::Metrics(row)) => trained_s.push(row.progress.train_s),
                        Record::FileSaved { .. } => {
                            saves.push((trained_s.len() - 1, std::fs::read(&file).unwrap()));
                        }
                        _ => {}
                    },
                    Update::Answer(_) => {}
                }
            }
            trainer.join().unwrap().unwrap();
        });
        // The last of them is the end's.
        let (_, ended) = saves.pop().unwrap();
        let last_s = trained_s[trained_s.len() - 1];
        assert_eq!(saves.len(), (last_s / SAVE_EVERY_S) as usize, "{last_s} s");
        let mut before_s = 0.0;
        for (at, left) in &saves {
            let (due_s, now_s) = (before_s + SAVE_EVERY_S, trained_s[*at]);
            assert!(now_s >= due_s && trained_s[at - 1] < due_s, "saved at {now_s} s, due at {due_s} s");
            before_s = now_s;
            let mut run = run::restore(left, host).unwrap();
            assert_eq!((run.progress().iteration as usize, run.progress().train_s), (*at, now_s));
            run.command(Command::Start).unwrap();
            while run.progress().iteration as usize + 1 < trained_s.len() {
                run.advance(0.0);
            }
            assert_eq!(run.digest(), run::restore(&ended, host).unwrap().digest(), "it goes on as if nothing had been");
        }
    }
}
