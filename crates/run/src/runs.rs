//! A run of any room: it takes commands, works in short slices and gives events.
//!
//! It refuses to know the time, the platform, files or threads: a shell tells it what the clock says, and the clock never
//! reaches the training, so the same config gives the same weights, whoever watches, asks or tests.

mod changes;
mod check;
mod entry;
mod held;
mod rows;
mod shell;
mod testing;
mod told;

pub use entry::Entry;
pub use shell::{AnyRoom, AnyRun, config_of};

use crate::checkpoint::{self, Header, Snapshot};
use crate::dataset::check_here;
use crate::device::Devices;
use crate::digest::{self, Arithmetic, DIGEST_EVERY, Digests, arithmetic};
use crate::history::{Clock, History};
use crate::protocol::{Backend, Began, Config, Dataset, Event, Knobs, Level, Progress, Variant};
use crate::room::{Room, Saved, Setup};
use crate::version::VERSION;
use crate::{Host, RunError};
use changes::Changes;
use check::{bytes, check};
use learn::{Fault, Iteration, Learner, Offload, Progress as _, Sharing, Slice, WorkedOn};
use math::Isa;
use testing::Tests;
use told::Told;

/// Seconds of an iteration after which nobody waits for its end to stop or to save.
const LONG_S: f64 = 0.9;

#[derive(Default)]
struct Saves {
    /// Somebody waits for a file.
    wanted: bool,
    /// As this iteration began, where nothing else can be saved and it may be a long one.
    began: Option<Snapshot>,
    /// The iteration before was over soon, with the knobs as they are.
    is_brief: bool,
}

/// A run of the room `R`.
pub struct Run<R: Room> {
    config: Config,
    variant: Variant,
    host: Host,
    room: R,
    running: bool,
    /// Work on until the next boundary, also while paused.
    finish_iteration: bool,
    /// When the run paused with a test under way.
    paused_s: Option<f64>,
    /// Nothing to do until the other machine answers.
    waiting: bool,
    diverged: bool,
    told: Told,
    clock: Clock,
    history: History,
    /// At the end of the iteration before.
    before: Progress,
    /// It was restored within this iteration, whose time is not known.
    partly_here: bool,
    /// An iteration that ended on another machine before the test beside it, and where that was. The run ends it after the test.
    ended: Option<(Iteration, WorkedOn)>,
    tests: Tests,
    changes: Changes,
    saves: Saves,
    digests: Digests,
    devices: Devices,
}

impl<R: Room> Run<R> {
    pub fn new(mut config: Config, host: Host) -> Result<Self, RunError> {
        config.changes.sort_by_key(|change| change.iteration);
        let variant = check::<R>(&config, host)?;
        check_here(&config)?;
        let room = R::begin(Setup::new(&config, &config.knobs, host))?;
        let mut run = Self::around(config, variant, host, room);
        run.announce();
        run.tell_changes_ahead();
        if run.is_at_boundary() {
            run.apply_changes();
        }
        Ok(run)
    }

    fn around(config: Config, variant: Variant, host: Host, room: R) -> Self {
        let mut run = Self {
            digests: Digests::of(Arithmetic::of(room.isa(host.isa))),
            config,
            variant,
            host,
            room,
            running: false,
            finish_iteration: false,
            paused_s: None,
            waiting: false,
            diverged: false,
            told: Told::default(),
            clock: Clock::new(),
            history: History::default(),
            before: Progress::default(),
            partly_here: false,
            ended: None,
            tests: Tests::default(),
            changes: Changes::default(),
            saves: Saves::default(),
            devices: Devices::default(),
        };
        run.before = run.progress();
        run
    }

    /// Goes on exactly where a save left off.
    pub fn restore(bytes: &[u8], host: Host) -> Result<Self, RunError> {
        Self::restore_with(bytes, host, None)
    }

    /// The same with the data it learns from, where the file does not have it.
    pub fn restore_with(bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Self, RunError> {
        let (mut header, tensors, history) = checkpoint::decode(bytes, R::SCHEMA)?;
        header.config.data.iter_mut().for_each(|wanted| wanted.fill(data));
        // The values in force, which may be others than the config's, decide what is allocated.
        let in_force = Config { knobs: header.knobs.clone(), ..header.config.clone() };
        check::<R>(&header.config, host)?;
        let variant = check::<R>(&in_force, host)?;
        check_here(&in_force)?;
        let setup = Setup::new(&in_force, &in_force.knobs, host);
        let room = R::restore(setup, Saved { tensors: &tensors, notes: &header.room })?;
        let mut run = Self::around(header.config, variant, host, room);
        run.clock.train_s = header.progress.train_s;
        run.before = run.progress();
        run.history = History::restored(history, header.progress.iteration);
        run.changes = Changes::restored(&run.config, run.before.iteration, header.marks);
        run.tests = Tests::restored(header.tests, header.solved, header.attempts);
        run.digests = Digests::of(Arithmetic::restored(&header.arithmetic));
        run.partly_here = !run.is_at_boundary();
        if header.testing {
            run.begin_test(header.confirming);
        }
        run.announce();
        if run.digests.arithmetic.name() != arithmetic(run.isa()) {
            let (text, next_step) = digest::OTHER_ROUNDING;
            run.told.notice(Level::Info, text, next_step);
        }
        Ok(run)
    }

    /// What the room alone knows, for tests and for programs that are about one room.
    pub fn room(&mut self) -> &mut R {
        &mut self.room
    }

    fn announce(&mut self) {
        self.told.push(Event::Began(Box::new(Began {
            config: self.config.clone(),
            knobs: self.values(),
            progress: self.progress(),
            solved: self.tests.solved.clone(),
            attempts: self.tests.attempts,
            history: self.history.rows().to_vec(),
            tests: self.tests.rows.clone(),
            marks: self.changes.marks.clone(),
            room: self.room.notes(),
        })));
        self.told.push(Event::Running { running: self.running });
    }

    fn tell_changes_ahead(&mut self) {
        let [first, ..] = &self.config.changes[..] else { return };
        let (count, after, unit) = (self.config.changes.len(), first.iteration, R::SCHEMA.iteration_word);
        let changes = if count == 1 { "a live change".into() } else { format!("{count} live changes") };
        let text = format!("This run makes {changes} of knobs again, the first after {after} {unit}s.");
        self.told.notice(Level::Info, &text, "Nothing to do; a knob that you change makes it a run of your own.");
    }

    fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.clock.rest();
            self.told.push(Event::Running { running });
        }
    }

    fn offload(&mut self) -> Option<&mut dyn Offload> {
        self.room.offload().ok()
    }

    fn is_offloaded(&mut self) -> bool {
        self.offload().is_some_and(|offload| offload.is_offloaded())
    }

    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        self.room.learner_mut()?.sharing()
    }

    fn worked_on(&self) -> WorkedOn {
        self.room.learner().map_or(WorkedOn::Processor, Learner::worked_on)
    }

    /// Every knob with its value in force.
    fn values(&self) -> Knobs {
        let knobs = R::knobs(self.variant.id);
        let mut values = self.room.values();
        values.retain(|name, _| knobs.iter().any(|knob| knob.name == name));
        values
    }

    /// What the room computes with here.
    fn isa(&self) -> Isa {
        self.room.isa(self.host.isa)
    }

    fn iteration(&self) -> u32 {
        self.room.learner().map_or(0, |learner| learner.progress().iterations() as u32)
    }

    /// The learner is between two iterations.
    fn is_between(&self) -> bool {
        self.room.learner().is_some_and(Learner::at_boundary)
    }

    /// The learner is between two iterations, and the run has taken in the one that ended.
    fn is_at_boundary(&self) -> bool {
        self.ended.is_none() && self.is_between()
    }

    /// The state within an iteration can be saved: a test under way needs the weights of the boundary.
    fn saves_within(&self) -> bool {
        let saves = self.room.learner().is_some_and(Learner::saves_within);
        saves && self.ended.is_none() && self.tests.under_way().is_none()
    }

    /// One slice: of the learner, or of a test that holds back the end of an iteration.
    fn work(&mut self) {
        if let Some((iteration, at)) = self.ended.take() {
            return self.end_iteration(iteration, at);
        }
        let at = self.worked_on();
        self.keep_beginning();
        match self.room.learner_mut().map(Learner::advance) {
            Some(Slice::Ended(stats)) => {
                let mut iteration = stats.into();
                self.room.end_iteration(&mut iteration);
                self.end_iteration(iteration, at);
            }
            slice => {
                match slice {
                    Some(Slice::Stopped(fault)) => {
                        self.fall_back(at, &fault);
                    }
                    Some(slice) => self.waiting |= matches!(slice, Slice::Waiting),
                    None => self.room.prepare(),
                }
                self.tell();
            }
        }
        // A learner that had to prepare itself, as by reading a text, comes to its first boundary without an iteration.
        if self.changes.are_due(&self.config, self.iteration()) && self.is_at_boundary() {
            self.apply_changes();
        }
        if self.saves.wanted && self.saves().is_some() {
            self.give_save();
        }
    }

    /// At a boundary: of an iteration that may be a long one and cannot be saved within, or whose end a test may hold back.
    fn keep_beginning(&mut self) {
        let may_be_wanted = self.tests.holds_back() || !(self.saves.is_brief || self.saves_within());
        let is_kept = self.saves.began.as_ref().is_some_and(|(header, _)| header.progress.iteration == self.iteration());
        if self.is_between() && !(may_be_wanted && is_kept) {
            self.saves.began = if may_be_wanted { self.snapshot().ok() } else { None };
        }
    }

    /// What the room has to tell.
    fn tell(&mut self) {
        for (event, text) in self.room.tell(self.clock.train_s) {
            self.told.push(Event::Room { event, text });
        }
    }

    /// The learner works here again, and goes on where it was.
    fn fall_back(&mut self, at: WorkedOn, fault: &Fault) {
        if let Some(offload) = self.offload() {
            offload.end_offload();
        }
        self.digests.partly_away |= at == WorkedOn::Offloaded && !self.is_between();
        let device = self.devices.lose(fault);
        self.told.device(device, Some(fault));
    }

    fn end_iteration(&mut self, iteration: Iteration, at: WorkedOn) {
        if self.tests.holds_back() {
            self.advance_test();
            self.ended = Some((iteration, at));
            return;
        }
        self.take_iteration(&iteration, at);
        if !iteration.finite {
            self.diverge();
        }
        self.tell();
        self.tell_digest();
        let is_free = !self.diverged && self.tests.under_way().is_none();
        if is_free && self.room.test_is_due(&self.tests.rows, self.tests.solved.is_some()) {
            self.begin_test(false);
        }
        self.apply_changes();
        self.finish_iteration = false;
        self.give_save();
    }

    /// Its row, its arithmetic and its speed.
    fn take_iteration(&mut self, iteration: &Iteration, at: WorkedOn) {
        let spent = std::mem::take(&mut self.clock.spent);
        let row = rows::row(R::SCHEMA, iteration, &self.before, self.progress(), spent);
        self.before = row.progress.clone();
        self.told.push(Event::Metrics(row.clone()));
        self.digests.note(row.progress.iteration, at, self.isa());
        self.saves.is_brief = spent.round_s < LONG_S;
        let whole = !std::mem::take(&mut self.partly_here);
        if let (WorkedOn::Processor, Some(work)) = (at, iteration.work)
            && whole
            && spent.round_s > 0.0
        {
            self.devices.note_rate(work / spent.round_s);
        }
        self.history.add(row);
    }

    fn diverge(&mut self) {
        self.diverged = true;
        self.set_running(false);
        self.told.notice(
            Level::Error,
            "Training diverged: the weights are no longer numbers.",
            "Reset, or load an earlier save, and choose a lower learning rate.",
        );
    }

    /// Where one is due.
    fn tell_digest(&mut self) {
        if !self.iteration().is_multiple_of(DIGEST_EVERY) {
            return;
        }
        let digest = self.digest();
        let unit = format!("{}s", R::SCHEMA.iteration_word);
        if let Some((level, text, next_step)) = self.digests.compare(&digest, self.changes.turned, &unit) {
            self.told.notice(level, &text, next_step);
        }
        self.digests.told = Some(digest.clone());
        self.told.push(Event::Digest(digest));
    }

    /// False where it is to confirm a test that needs none.
    fn begin_test(&mut self, confirms: bool) -> bool {
        let progress = self.progress();
        self.tests.begin(&mut self.room, progress, self.config.seed, confirms)
    }

    /// A slice of the test under way.
    fn advance_test(&mut self) {
        if self.tests.under_way().is_none() {
            return;
        }
        self.clock.tests();
        let goal = self.variant.goal;
        let Some((row, confirms)) = self.tests.advance(&mut self.room, &mut self.told) else { return };
        if confirms {
            self.tests.take_confirmation(&row, R::SCHEMA, goal, &mut self.told);
            return;
        }
        if self.tests.take(&row, R::SCHEMA, goal, &mut self.told) && !self.begin_test(true) {
            self.tests.take_confirmation(&row, R::SCHEMA, goal, &mut self.told);
        }
        self.tests.thin();
    }

    /// At a boundary.
    fn apply_changes(&mut self) {
        let progress = self.progress();
        let replayed = self.changes.replay(&mut self.room, &self.config, &progress, &mut self.told);
        let asked = std::mem::take(&mut self.changes.pending);
        let before = if asked.is_empty() { None } else { self.snapshot().ok() };
        let made = self.changes.make(asked, &mut self.room, &progress, &mut self.told);
        if let Some(before) = before.filter(|_| !made.is_empty()) {
            let needs = bytes::<R>(Setup::new(&self.config, &self.values(), self.host)).unwrap_or(u64::MAX);
            self.changes.keep(made.clone(), before, self.host.memory_bytes.saturating_sub(needs));
        }
        if replayed || !made.is_empty() {
            (self.saves.is_brief, self.saves.began) = (false, None);
            // A test is one of the settings in force, as it will be where the run is loaded again.
            if let Some(confirms) = self.tests.under_way() {
                self.begin_test(confirms);
            }
        }
        let again = match self.room.offload() {
            Ok(offload) if offload.is_offloaded() && offload.must_offload_again() => self.devices.offload_again(offload),
            _ => Ok(()),
        };
        if let Err(fault) = again {
            self.fall_back(WorkedOn::Processor, &fault);
        }
    }

    /// Where somebody waits for it.
    fn give_save(&mut self) {
        if std::mem::take(&mut self.saves.wanted) {
            let saved = self.encode_newest();
            self.told.saved(saved);
        }
    }

    /// What [`AnyRun::saves`] promises.
    fn encode_newest(&mut self) -> Result<Vec<u8>, RunError> {
        match &self.saves.began {
            Some(began) if !self.is_at_boundary() && !self.saves_within() => {
                let (done, unit) = (began.0.progress.iteration, R::SCHEMA.iteration_word);
                let text = format!("The {unit} in progress is a long one, so the file has the run as it was after {done}.");
                self.told.notice(Level::Info, &text, "What goes on from the file does this one again, to the same end.");
                Ok(checkpoint::encode(began.clone(), R::SCHEMA))
            }
            _ => Ok(checkpoint::encode(self.snapshot()?, R::SCHEMA)),
        }
    }

    fn snapshot(&self) -> Result<Snapshot, RunError> {
        let mut tensors = self.room.learner().map_or(Vec::new(), Learner::parts);
        tensors.extend(self.room.more_parts());
        // Not the weights alone: no room takes up a run from moments that are no numbers either.
        if self.diverged || !tensors.iter().all(|(_, _, data)| data.is_finite()) {
            return Err(RunError::Diverged);
        }
        let header = Header {
            version: VERSION,
            config: self.changes.config_with_pending::<R>(&self.config, self.iteration(), self.host),
            knobs: self.values(),
            progress: self.progress(),
            marks: self.changes.marks.clone(),
            tests: self.tests.rows.clone(),
            testing: self.tests.under_way().is_some(),
            confirming: self.tests.under_way() == Some(true),
            solved: self.tests.solved.clone(),
            attempts: Some(self.tests.attempts),
            arithmetic: self.digests.arithmetic.name().into(),
            room: self.room.notes(),
        };
        tensors.push(checkpoint::history(self.history.rows(), R::SCHEMA));
        Ok((header, tensors))
    }
}

pub(crate) fn backend(isa: Isa) -> Backend {
    Backend {
        isa: isa.name().into(),
        threads: math::par::threads() as u32,
        arithmetic: arithmetic(isa).into(),
        version: env!("CARGO_PKG_VERSION").into(),
    }
}
