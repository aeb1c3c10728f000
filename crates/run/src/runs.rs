//! A run of any room: it executes commands, works in short slices and emits events.
//!
//! The run has no time source, platform, files or threads of its own. The shell passes the time of its clock. The time can affect which
//! device trains and which state a save contains. With the same arithmetic, a config gives the same weights, regardless of time, displays,
//! questions and tests.

mod any_run;
mod changes;
mod check;
mod entry;
mod event_queue;
mod rows;
mod shell;
pub(crate) mod testing;

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
use event_queue::EventQueue;
use learn::{Failure, Fault, Iteration, Learner, Offload, Progress as _, Sharing, Slice, WorkedOn};
use math::Isa;
use testing::Tests;

/// Duration in seconds from which an iteration or a test counts as long. A save does not wait for the end of a long iteration if another
/// state can be saved. A pause does not wait for the end of a long test.
const LONG_S: f64 = 0.9;

#[derive(Default)]
struct Saves {
    /// True if a save was requested and has not been emitted yet.
    wanted: bool,
    /// Snapshot at the beginning of the iteration in progress or of an earlier one, for a save before the end of a long iteration; `None`
    /// if the learner can be saved at any time.
    began: Option<Snapshot>,
    /// True if the previous iteration was short, and no knob has changed since.
    is_brief: bool,
}

/// A run of the room `R`.
pub struct Run<R: Room> {
    config: Config,
    variant: Variant,
    host: Host,
    room: R,
    running: bool,
    /// True after [`Command::Step`](crate::protocol::Command::Step): although paused, the run continues to the end of an iteration.
    finish_iteration: bool,
    /// Time at which the run paused, in seconds of the shell's clock; `None` while the run is not paused.
    paused_s: Option<f64>,
    /// True if the run has no work until another machine answers.
    waiting: bool,
    /// Reason why the run cannot continue; `None` if the run can continue.
    failure: Option<Failure>,
    queue: EventQueue,
    clock: Clock,
    history: History,
    /// Progress at the end of the previous iteration.
    before: Progress,
    /// True if the run was restored from a file that was saved within the current iteration. The total time of such an iteration is
    /// unknown.
    partly_here: bool,
    /// An iteration that ended while a test was in progress, and the device that computed the iteration. The run records the iteration
    /// after the test.
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
        let mut run = Self::from_room(config, variant, host, room);
        run.announce();
        run.announce_replay();
        if run.is_at_boundary() {
            run.apply_changes();
        }
        Ok(run)
    }

    fn from_room(config: Config, variant: Variant, host: Host, room: R) -> Self {
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
            failure: None,
            queue: EventQueue::default(),
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

    /// Restores a run, which continues exactly from the saved state.
    pub fn restore(bytes: &[u8], host: Host) -> Result<Self, RunError> {
        Self::restore_with(bytes, host, None)
    }

    /// Restores a run with its user data, which are required if the file does not contain them.
    pub fn restore_with(bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Self, RunError> {
        let (mut header, tensors, history) = checkpoint::decode(bytes, R::SCHEMA)?;
        header.config.data.iter_mut().for_each(|wanted| wanted.fill(data));
        // The current values of the knobs determine the allocation. They may differ from the config's values because of live changes.
        let in_force = Config { knobs: header.knobs.clone(), ..header.config.clone() };
        check::<R>(&header.config, host)?;
        let variant = check::<R>(&in_force, host)?;
        check_here(&in_force)?;
        let setup = Setup::new(&in_force, &in_force.knobs, host);
        let room = R::restore(setup, Saved { tensors: &tensors, notes: &header.room })?;
        let mut run = Self::from_room(header.config, variant, host, room);
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
            run.queue.notice(Level::Info, text, next_step);
        }
        Ok(run)
    }

    /// Returns the room of this run, for tests and for programs that serve a single room.
    pub fn room(&mut self) -> &mut R {
        &mut self.room
    }

    fn announce(&mut self) {
        self.queue.push(Event::Began(Box::new(Began {
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
        self.queue.push(Event::Running { running: self.running });
        self.push_standing();
    }

    fn push_standing(&mut self) {
        let standing = self.standing(None);
        self.queue.push(Event::Standing(standing));
    }

    fn announce_replay(&mut self) {
        let [first, ..] = &self.config.changes[..] else { return };
        let (count, after, unit) = (self.config.changes.len(), first.iteration, R::SCHEMA.iteration_word);
        let changes = if count == 1 { "a live change".into() } else { format!("{count} live changes") };
        let text = format!("This run replays {changes} of knobs, the first after {after} {unit}s.");
        self.queue.notice(Level::Info, &text, "You need to do nothing. A knob that you change makes this a different run.");
    }

    fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.clock.rest();
            self.queue.push(Event::Running { running });
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

    /// Returns the current value of every knob.
    fn values(&self) -> Knobs {
        let knobs = R::knobs(&self.variant.id);
        let mut values = self.room.values();
        values.retain(|name, _| knobs.iter().any(|knob| knob.name == name));
        values
    }

    /// Returns the instruction set that the room uses on the CPU.
    fn isa(&self) -> Isa {
        self.room.isa(self.host.isa)
    }

    fn iteration(&self) -> u32 {
        self.room.learner().map_or(0, |learner| learner.progress().iterations() as u32)
    }

    /// Returns true if the learner is between two iterations.
    fn is_between(&self) -> bool {
        self.room.learner().is_some_and(Learner::at_boundary)
    }

    /// Returns true if the learner is between two iterations and the run has recorded the previous iteration.
    fn is_at_boundary(&self) -> bool {
        self.ended.is_none() && self.is_between()
    }

    /// Returns true if the run can be saved in the middle of an iteration. During a test, this is impossible: the restored run repeats the
    /// test, which needs the weights from the beginning of the iteration.
    fn saves_mid_iteration(&self) -> bool {
        let saves = self.room.learner().is_some_and(Learner::saves_mid_iteration);
        saves && self.ended.is_none() && self.tests.under_way().is_none()
    }

    /// Runs one slice of the learner. If an iteration has ended but a test delays its record, runs one slice of the test instead. After the
    /// end of this test, the next call only records the iteration.
    fn work(&mut self) {
        if let Some((iteration, at)) = self.ended.take() {
            return self.end_iteration(iteration, at);
        }
        let at = self.worked_on();
        self.snapshot_beginning();
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
                self.push_room_events();
            }
        }
        // Usually, `end_iteration` makes the changes. But a learner that first prepares its data, such as a text, reaches its first
        // boundary without an iteration. The changes that are due at this boundary are made here.
        if self.changes.are_due(&self.config, self.iteration()) && self.is_at_boundary() {
            self.apply_changes();
        }
        if self.saves.wanted && self.saves().is_some() {
            self.emit_save();
        }
    }

    /// Between two iterations, keeps a snapshot if the next iteration cannot be saved before its end, or if a test may delay its record.
    /// After brief iterations, an older snapshot suffices, because a next one that is long is rare.
    fn snapshot_beginning(&mut self) {
        if !self.is_between() {
            return;
        }
        let delayed = self.tests.holds_back();
        let may_be_wanted = delayed || !self.saves_mid_iteration();
        let may_be_older = self.saves.is_brief && !delayed;
        let suffices = |at: &Progress| at.iteration == self.iteration() || may_be_older && self.clock.train_s - at.train_s < LONG_S;
        let is_kept = self.saves.began.as_ref().is_some_and(|(header, _)| suffices(&header.progress));
        if !(may_be_wanted && is_kept) {
            self.saves.began = if may_be_wanted { self.snapshot().ok() } else { None };
        }
    }

    fn push_room_events(&mut self) {
        for (event, text) in self.room.take_events(self.clock.train_s) {
            self.queue.push(Event::Room { event, text });
        }
    }

    /// Ends offloading after a fault. The learner continues on the CPU from its current state.
    fn fall_back(&mut self, at: WorkedOn, fault: &Fault) {
        if let Some(offload) = self.offload() {
            offload.end_offload();
        }
        self.digests.partly_away |= at == WorkedOn::Offloaded && !self.is_between();
        let device = self.devices.lose(fault);
        self.queue.device(device, Some(fault));
    }

    fn end_iteration(&mut self, iteration: Iteration, at: WorkedOn) {
        if self.tests.holds_back() {
            self.advance_test();
            self.ended = Some((iteration, at));
            return;
        }
        self.take_iteration(&iteration, at);
        if let Some(failure) = iteration.failure {
            self.fail(failure);
        }
        self.push_room_events();
        // The claims about a run are compared at the iteration of its link's digest; a test is one of them.
        let is_compared = self.digests.awaits(self.iteration());
        self.push_digest();
        let is_free = self.failure.is_none() && self.tests.under_way().is_none();
        if is_free && (is_compared || self.room.test_is_due(&self.tests.rows, self.tests.solved.is_some())) {
            self.begin_test(false);
        }
        self.apply_changes();
        self.finish_iteration = false;
        self.emit_save();
    }

    /// Emits the row of an iteration and adds it to the history. Records the arithmetic for the digest. If the CPU computed the whole
    /// iteration, also records the iteration's speed.
    fn take_iteration(&mut self, iteration: &Iteration, at: WorkedOn) {
        let spent = std::mem::take(&mut self.clock.spent);
        let row = rows::row(R::SCHEMA, iteration, &self.before, self.progress(), spent);
        self.before = row.progress.clone();
        self.queue.push(Event::Metrics(row.clone()));
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

    /// Stops the run permanently, and reports the reason.
    fn fail(&mut self, failure: Failure) {
        self.set_running(false);
        let (text, next_step) = match &failure {
            Failure::Diverged => (
                "Training diverged: the weights are no longer numbers.".into(),
                "Reset, or load an earlier save, and choose a lower learning rate.".into(),
            ),
            Failure::World(fault) => {
                let error = RunError::WorldFailed { fault: fault.clone() };
                (error.what(), error.next_step())
            }
        };
        self.queue.notice(Level::Error, &text, &next_step);
        self.failure = Some(failure);
        self.push_standing();
    }

    /// Emits a digest if the number of iterations is a multiple of [`DIGEST_EVERY`], or if the link that opened the run contains a digest
    /// of this iteration.
    fn push_digest(&mut self) {
        if !self.iteration().is_multiple_of(DIGEST_EVERY) && !self.digests.awaits(self.iteration()) {
            return;
        }
        let digest = self.digest();
        let unit = format!("{}s", R::SCHEMA.iteration_word);
        if let Some((level, text, next_step)) = self.digests.compare(&digest, self.changes.user_changed, &unit) {
            self.queue.notice(level, &text, next_step);
        }
        self.digests.newest = Some(digest.clone());
        self.queue.push(Event::Digest(digest));
    }

    /// Begins a test or, if `confirms` is true, a confirmation. Returns false if a confirmation was requested but the room's tests need
    /// none.
    fn begin_test(&mut self, confirms: bool) -> bool {
        let progress = self.progress();
        self.tests.begin(&mut self.room, progress, self.config.seed, confirms)
    }

    fn advance_test(&mut self) {
        if self.tests.under_way().is_none() {
            return;
        }
        self.clock.tests();
        let goal = self.variant.goal;
        let (row, confirms) = match self.tests.advance(&mut self.room, &mut self.queue) {
            Ok(Some(ended)) => ended,
            Ok(None) => return,
            Err(fault) => return self.fail(Failure::World(fault)),
        };
        let is_decided = confirms || self.tests.take(&row, R::SCHEMA, goal, &mut self.queue) && !self.begin_test(true);
        if is_decided {
            self.tests.take_confirmation(&row, R::SCHEMA, goal, &mut self.queue);
        }
        self.tests.thin(R::SCHEMA, goal);
        self.push_standing();
    }

    /// Makes the config's live changes that are due, and all requested live changes. The run must be between two iterations.
    fn apply_changes(&mut self) {
        let progress = self.progress();
        let replayed = self.changes.replay(&mut self.room, &self.config, &progress, &mut self.queue);
        let requested = std::mem::take(&mut self.changes.pending);
        let before = if requested.is_empty() { None } else { self.snapshot().ok() };
        let made = self.changes.make(requested, &mut self.room, &progress, &mut self.queue);
        if let Some(before) = before.filter(|_| !made.is_empty()) {
            let needs = bytes::<R>(Setup::new(&self.config, &self.values(), self.host)).unwrap_or(u64::MAX);
            self.changes.keep(made.clone(), before, self.host.memory_bytes.saturating_sub(needs));
        }
        if replayed || !made.is_empty() {
            (self.saves.is_brief, self.saves.began) = (false, None);
            self.tests.forget();
            // The test in progress began with the earlier settings. It begins again, as it would after a restore.
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

    /// Saves the run and emits the file, if a save was requested.
    fn emit_save(&mut self) {
        if std::mem::take(&mut self.saves.wanted) {
            let saved = self.encode_newest();
            self.queue.saved(saved);
        }
    }

    /// Encodes the latest state that can be saved as a file.
    fn encode_newest(&mut self) -> Result<Vec<u8>, RunError> {
        match &self.saves.began {
            Some(began) if !self.is_at_boundary() && !self.saves_mid_iteration() => {
                let (done, unit) = (began.0.progress.iteration, R::SCHEMA.iteration_word);
                // The page replaces an earlier notice with the same text. `text` must therefore be the same in every notice, so only `next`
                // contains the number of iterations.
                let text = format!("The {unit} in progress is long, so the saved run does not contain it.");
                let next = format!("A run loaded from the file continues after {done} {unit}s, with the same result.");
                self.queue.notice(Level::Info, &text, &next);
                Ok(checkpoint::encode(began.clone(), R::SCHEMA))
            }
            _ => Ok(checkpoint::encode(self.snapshot()?, R::SCHEMA)),
        }
    }

    fn snapshot(&self) -> Result<Snapshot, RunError> {
        let mut tensors = self.room.learner().map_or(Vec::new(), Learner::parts);
        tensors.extend(self.room.more_parts());
        // All tensors are checked, because no room restores a run from optimizer moments with NaN or infinity.
        if let Some(error) = self.failure() {
            return Err(error);
        }
        if !tensors.iter().all(|(_, _, data)| data.is_finite()) {
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
