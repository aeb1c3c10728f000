//! A run of any room: it takes commands, works in short slices and gives events.
//!
//! It refuses to know the time, the platform, files or threads: a shell tells it what the clock says, and the clock never
//! reaches the training, so the same config gives the same weights, whoever watches, asks or tests.

use crate::bench::Bench;
use crate::checkpoint::{self, Header};
use crate::dataset::check_here;
use crate::device::{Devices, Settled};
use crate::digest::{self, Arithmetic, Expected, GPU, MIXED, PARTIAL, arithmetic};
use crate::history::{Clock, History};
use crate::protocol::{
    Backend, Began, Change, Command, Config, Confirmation, DataInfo, Dataset, Device, DeviceWish, Digest, Event, Knob, Knobs, Level, Mark,
    Operation, Progress, RoomInfo, Row, Shared, Value, Variant,
};
use crate::room::{Answer, Policy, Room, Saved, Schema, Setup, goal_of, in_order};
use crate::{DIGEST_EVERY, Host, MOST_CHANGES, RunError, VERSION, check_version, permalink, shared};
use learn::{Fault, Iteration, Learner, Machine, Offload, Progress as _, Sharing, Slice, WorkedOn};
use math::{Isa, Rng};
use std::marker::PhantomData;
use std::ops::Range;

/// Past this many tests every second one is dropped.
const MAX_TESTS: usize = 2048;
/// The stream of random numbers that confirmations alone draw from.
const CONFIRMATIONS: u32 = 0x434F_4E46;
/// Seconds of an iteration after which nobody waits for its end to stop or to save.
const LONG_S: f64 = 0.9;
/// Looks at another machine that does not answer after which a save waits no longer: a native one takes milliseconds each.
const MOST_LOOKS: u32 = 4096;

/// What shells hold: a run, whatever its room.
pub trait AnyRun: Send + Sync {
    /// Does what it is told, or says why not and leaves everything as it was.
    fn command(&mut self, command: Command) -> Result<(), RunError>;
    /// One slice of work; false when there is nothing to do. `now_s` is the shell's clock, in seconds from anywhere.
    fn advance(&mut self, now_s: f64) -> bool;
    /// Whether the last slice found nothing to do but to wait for the other machine.
    fn waiting(&self) -> bool;
    /// What happened since the last call.
    fn events(&mut self) -> Vec<Event>;

    /// A question of the room's `protocol.rs`, as `{ ask: "name", … }`.
    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError>;
    /// Tests what is learned by now, whatever the pace.
    fn test(&mut self) -> Result<Row, RunError> {
        Ok(self.test_while(&mut || true)?.expect("nobody broke it off"))
    }
    /// The same, unless somebody who is asked between its slices breaks it off.
    fn test_while(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError>;
    /// What was learned by now, where it acts on observations.
    fn policy(&self) -> Result<Box<dyn Policy>, RunError>;
    /// The whole run as one file, at once where [`AnyRun::saves`] says so, and else after the iteration in progress: on the processor,
    /// where the other machine does not answer.
    fn save(&mut self) -> Result<Vec<u8>, RunError>;
    /// Where the run stands that can be saved at once. Of a learner that cannot be saved within an iteration it is how a long one
    /// began; nothing where an iteration that may be short has to end first.
    fn saves(&self) -> Option<Progress>;

    /// From here on others do the pieces of its iterations ([`AnyRun::due`]), or it does them itself again.
    fn share(&mut self, shared: bool) -> Result<(), RunError>;
    /// Whether a shared run has pieces to give. It may have other work meanwhile.
    fn is_due(&mut self) -> bool;
    /// Those pieces: their numbers, and what [`AnyRoom::play`] does them with.
    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)>;
    /// Takes the next of them; on a refusal it is as it was.
    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError>;

    /// Whether a shell should open a GPU, and [`AnyRun::offer`] it.
    fn wants_machine(&mut self) -> bool;
    /// A GPU to train on, or why there is none.
    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>);
    fn device_wish(&self) -> DeviceWish;
    /// Where the time of its gradients has gone, operation by operation, since somebody began to look; nothing where the learner has no
    /// plan. `look` says whether somebody looks from here on. It leaves no trace in the training.
    fn operations(&mut self, look: bool) -> Option<Vec<Operation>>;
    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in the training.
    fn set_clock(&mut self, clock: fn() -> f64);
    /// Compare the run with what whoever shared it got.
    fn expect(&mut self, digest: Digest);

    fn schema(&self) -> &'static Schema;
    fn variant(&self) -> &Variant;
    fn config(&self) -> &Config;
    /// The config with all live changes, those that were made and those that are ahead: what starts the same run.
    fn config_now(&self) -> Config;
    /// The run as a link and as a command.
    fn shared(&self) -> Shared;
    fn knobs(&self) -> Vec<Knob>;
    fn running(&self) -> bool;
    fn at_boundary(&self) -> bool;
    /// Nothing is learned yet, and what that needs is still being made.
    fn is_preparing(&self) -> bool;
    fn progress(&self) -> Progress;
    /// Where it was first confirmed to reach the goal: see [`Goal`](crate::protocol::Goal).
    fn solved(&self) -> Option<&Progress>;
    /// Tests that reached the goal where the confirmation did not.
    fn attempts(&self) -> u32;
    fn diverged(&self) -> bool;
    fn digest(&self) -> Digest;
    fn backend(&self) -> Backend;
}

/// A room, as shells list it.
pub trait AnyRoom: Sync {
    fn schema(&self) -> &'static Schema;
    fn variants(&self) -> Vec<Variant>;
    fn knobs(&self, variant: &str) -> Vec<Knob>;
    /// Refuses a config that no run can start from on this host, and says what would do.
    fn check(&self, config: &Config, host: Host) -> Result<(), RunError>;
    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError>;
    /// With the data it learns from, where the file does not have it.
    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError>;
    /// About what a run allocates, at most.
    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError>;
    /// What it can be given to learn from.
    fn data(&self) -> Option<DataInfo>;
    /// Does pieces of an iteration for a run wherever that is, with what its [`AnyRun::due`] gave: what its [`AnyRun::take`] takes.
    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError>;

    /// The room's figures.
    fn bench(&self, bench: &mut Bench);
    /// Where the time of its training step goes; nothing where it has no planned one.
    fn profile(&self, bench: &mut Bench);

    fn info(&self) -> RoomInfo {
        self.schema().info(self.variants(), self.data())
    }
}

/// The room `R`, as an entry of a list of rooms.
pub struct Entry<R>(PhantomData<fn() -> R>);

impl<R> Entry<R> {
    pub const NEW: Entry<R> = Entry(PhantomData);
}

impl<R: Room> AnyRoom for Entry<R> {
    fn bench(&self, bench: &mut Bench) {
        R::bench(bench);
    }

    fn profile(&self, bench: &mut Bench) {
        R::profile(bench);
    }

    fn schema(&self) -> &'static Schema {
        R::SCHEMA
    }

    fn variants(&self) -> Vec<Variant> {
        R::variants()
    }

    fn knobs(&self, variant: &str) -> Vec<Knob> {
        R::knobs(variant)
    }

    fn check(&self, config: &Config, host: Host) -> Result<(), RunError> {
        check::<R>(config, host).map(|_| ())
    }

    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError> {
        Ok(Box::new(Run::<R>::new(config, host)?))
    }

    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError> {
        Ok(Box::new(Run::<R>::restore_with(bytes, host, data)?))
    }

    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError> {
        bytes::<R>(Setup::new(config, &config.knobs, host))
    }

    fn data(&self) -> Option<DataInfo> {
        R::DATA
    }

    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError> {
        let tensors = shared::unpack::<R>(due, host.isa)?;
        let played = R::play(&|name| learn::part(&tensors, name), pieces, host.isa)?;
        Ok(shared::pack::<R>(played, host.isa))
    }
}

/// Gives the config's variant.
fn check<R: Room>(config: &Config, host: Host) -> Result<Variant, RunError> {
    check_version(config.version)?;
    let schema = R::SCHEMA;
    if config.room != schema.id {
        return Err(RunError::OtherRoom { found: config.room.clone(), here: schema.id.into() });
    }
    let variants = R::variants();
    let variant = variants.iter().find(|variant| variant.id == config.variant).cloned();
    let variant = variant.ok_or_else(|| RunError::UnknownVariant {
        word: schema.variant_word,
        id: config.variant.clone(),
        known: variants.iter().map(|variant| variant.id).collect::<Vec<_>>().join(", "),
    })?;
    let setup = Setup::new(config, &config.knobs, host);
    if R::DATA.is_none() && setup.data.is_some() {
        return Err(RunError::NoData { room: schema.title });
    }
    fits::<R>(setup, host)?;
    check_changes::<R>(config, host)?;
    Ok(variant)
}

fn fits<R: Room>(setup: Setup, host: Host) -> Result<(), RunError> {
    R::check(setup)?;
    // Reckoned before anything is allocated.
    let (needs, has_mb) = (bytes::<R>(setup)?, host.memory_bytes >> 20);
    if needs > host.memory_bytes {
        return Err(match setup.data {
            Some(data) if bytes::<R>(Setup { data: None, ..setup })? <= host.memory_bytes => {
                RunError::DataTooLarge { name: data.name.clone(), data_mb: data.bytes >> 20, has_mb }
            }
            _ => RunError::TooMuchMemory { needs_mb: needs >> 20, has_mb },
        });
    }
    Ok(())
}

/// Each of them beside those before it.
fn check_changes<R: Room>(config: &Config, host: Host) -> Result<(), RunError> {
    let count = config.changes.len();
    if count > MOST_CHANGES {
        return Err(RunError::TooManyChanges { count, most: MOST_CHANGES });
    }
    let known = R::knobs(&config.variant);
    let mut knobs: Knobs = config.knobs.clone();
    for Change { knob, value, .. } in &config.changes {
        knobs.insert(knob.clone(), value.clone());
        fits::<R>(Setup::new(config, &knobs, host), host)?;
        if !known.iter().any(|one| one.name == knob && one.live) {
            return Err(RunError::NotLive { name: knob.clone() });
        }
    }
    Ok(())
}

fn bytes<R: Room>(setup: Setup) -> Result<u64, RunError> {
    Ok(R::bytes(setup)?.saturating_add(setup.data.map_or(0, |data| data.bytes)))
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
    save_wanted: bool,
    pending: Vec<(String, Value)>,
    /// How many of the config's changes are behind it.
    replayed: usize,
    /// Somebody changed a knob in this session, apart from those.
    turned: bool,
    /// The newest that was told.
    told_digest: Option<Digest>,
    events: Vec<Event>,
    history: History,
    marks: Vec<Mark>,
    tests: Vec<Row>,
    testing: Option<Testing>,
    /// An iteration that ended on another machine before the test beside it, and where that was. The run ends it after the test.
    ended: Option<(Iteration, WorkedOn)>,
    /// When the run paused with a test under way.
    paused_s: Option<f64>,
    solved: Option<Progress>,
    attempts: u32,
    expected: Expected,
    /// What the iterations so far were computed with; see [`Digest`].
    arithmetic: Arithmetic,
    /// Some of this iteration was done elsewhere, and then that machine was lost.
    partly_away: bool,
    clock: Clock,
    /// Seconds of testing in this iteration, and whether the last slice was one of a test.
    tests_s: f64,
    tested: bool,
    devices: Devices,
    /// Nothing to do until the other machine answers.
    waiting: bool,
    diverged: bool,
    /// At the end of the iteration before.
    before: Progress,
    /// As this iteration began, where nothing else can be saved and it may be a long one.
    began: Option<(Progress, Vec<u8>)>,
    /// The iteration before was over soon, with the knobs as they are.
    is_brief: bool,
    /// It was restored within this iteration, whose time is not known.
    partly_here: bool,
}

/// A test under way, of what was learned by then.
struct Testing {
    progress: Progress,
    /// It confirms another.
    confirms: bool,
}

impl<R: Room> Run<R> {
    pub fn new(mut config: Config, host: Host) -> Result<Self, RunError> {
        config.changes.sort_by_key(|change| change.iteration);
        let variant = check::<R>(&config, host)?;
        check_here(&config)?;
        let room = R::begin(Setup::new(&config, &config.knobs, host))?;
        let mut run = Self::around(config, variant, host, room);
        run.announce();
        if let [first, ..] = &run.config.changes[..] {
            let (count, after, unit) = (run.config.changes.len(), first.iteration, R::SCHEMA.iteration_word);
            let text = format!(
                "This run makes {} of knobs again, the first after {after} {unit}s.",
                if count == 1 { "a live change".into() } else { format!("{count} live changes") }
            );
            run.notice(Level::Info, &text, "Nothing to do; a knob that you change makes it a run of your own.");
        }
        if run.is_at_boundary() {
            run.apply_changes();
        }
        Ok(run)
    }

    fn around(config: Config, variant: Variant, host: Host, room: R) -> Self {
        let mut run = Self {
            arithmetic: Arithmetic::of(room.isa(host.isa)),
            config,
            variant,
            host,
            room,
            running: false,
            finish_iteration: false,
            save_wanted: false,
            pending: Vec::new(),
            replayed: 0,
            turned: false,
            told_digest: None,
            events: Vec::new(),
            history: History::new(),
            marks: Vec::new(),
            tests: Vec::new(),
            testing: None,
            ended: None,
            paused_s: None,
            solved: None,
            attempts: 0,
            expected: Expected::default(),
            partly_away: false,
            clock: Clock::new(),
            tests_s: 0.0,
            tested: false,
            devices: Devices::default(),
            waiting: false,
            diverged: false,
            before: Progress::default(),
            began: None,
            is_brief: false,
            partly_here: false,
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
        // A file is written behind the changes of its boundary.
        run.replayed = run.config.changes.partition_point(|change| change.iteration <= run.before.iteration);
        run.history = History::restored(history);
        run.marks = header.marks;
        run.tests = header.tests;
        // A file from before there were confirmations calls solved what a single test did.
        (run.solved, run.attempts) = header.attempts.map_or((None, 0), |attempts| (header.solved, attempts));
        run.arithmetic = Arithmetic::restored(&header.arithmetic);
        run.partly_here = !run.is_at_boundary();
        if header.testing {
            run.begin_test(header.confirming);
        }
        run.announce();
        if run.arithmetic.name() != arithmetic(run.room.isa(host.isa)) {
            let (text, next_step) = digest::OTHER_ROUNDING;
            run.notice(Level::Info, text, next_step);
        }
        Ok(run)
    }

    /// What the room alone knows, for tests and for programs that are about one room.
    pub fn room(&mut self) -> &mut R {
        &mut self.room
    }

    fn announce(&mut self) {
        self.events.push(Event::Began(Box::new(Began {
            config: self.config.clone(),
            knobs: self.room.values(),
            progress: self.progress(),
            solved: self.solved.clone(),
            attempts: self.attempts,
            history: self.history.rows().to_vec(),
            tests: self.tests.clone(),
            marks: self.marks.clone(),
            room: self.room.notes(),
        })));
        self.events.push(Event::Running { running: self.running });
    }

    /// A reset or a restore keeps undelivered events, the clock, the device and whether it runs; gives what the room was.
    fn become_another(&mut self, mut other: Self) -> R {
        let mut events = std::mem::take(&mut self.events);
        events.append(&mut other.events);
        other.events = events;
        other.set_clock(self.clock.lent);
        other.devices = self.devices.for_another_run();
        other.set_running(self.running);
        std::mem::replace(self, other).room
    }

    fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.clock.rest();
            self.events.push(Event::Running { running });
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

    fn iteration(&self) -> u32 {
        self.room.learner().map_or(0, |learner| learner.progress().iterations() as u32)
    }

    /// The learner is between two iterations.
    fn is_between(&self) -> bool {
        self.room.learner().is_some_and(Learner::at_boundary)
    }

    /// The time since the last slice was training; whose, that slice says.
    fn take_time(&mut self, now_s: f64) {
        let passed_s = self.clock.trained(now_s);
        if std::mem::take(&mut self.tested) {
            self.tests_s += passed_s;
        } else {
            self.clock.round_s += passed_s;
        }
    }

    /// The learner is between two iterations, and the run has taken in the one that ended.
    fn is_at_boundary(&self) -> bool {
        self.ended.is_none() && self.is_between()
    }

    /// A test that the end of an iteration waits for. A confirmation is long, and goes on beside the next iteration.
    fn holds_back(&self) -> bool {
        self.testing.as_ref().is_some_and(|testing| !testing.confirms)
    }

    /// The state within an iteration can be saved: a test under way needs the weights of the boundary.
    fn saves_within(&self) -> bool {
        let saves = self.room.learner().is_some_and(Learner::saves_within);
        saves && self.ended.is_none() && self.testing.is_none()
    }

    /// One slice: of the learner, or of a test that holds back the end of an iteration.
    fn work(&mut self) {
        if let Some((iteration, at)) = self.ended.take() {
            return self.end_iteration(iteration, at);
        }
        let at = self.worked_on();
        if self.is_between() {
            let iteration = self.iteration();
            if !self.holds_back() && (self.is_brief || self.saves_within()) {
                self.began = None;
            } else if self.began.as_ref().is_none_or(|(began, _)| began.iteration != iteration) {
                self.began = self.encode().ok().map(|bytes| (self.progress(), bytes));
            }
        }
        let slice = self.room.learner_mut().map(Learner::advance);
        if let Some(Slice::Ended(stats)) = slice {
            let mut iteration = stats.into();
            self.room.end_iteration(&mut iteration);
            self.end_iteration(iteration, at);
        } else {
            match slice {
                Some(Slice::Stopped(fault)) => {
                    self.end_offload();
                    self.fall_back(at, &fault);
                }
                Some(slice) => self.waiting |= matches!(slice, Slice::Waiting),
                None => self.room.prepare(),
            }
            self.tell();
        }
        // A learner that had to prepare itself, as by reading a text, comes to its first boundary without an iteration.
        if self.changes_are_due() && self.is_at_boundary() {
            self.apply_changes();
        }
        if self.save_wanted && self.saves().is_some() {
            self.give_save();
        }
    }

    fn told_device(&mut self, device: Device, fault: Option<&Fault>) {
        self.events.push(Event::Device(device));
        if let Some(fault) = fault {
            self.notice(Level::Warning, &fault.what(), fault.next_step());
        }
    }

    /// What the room has to tell.
    fn tell(&mut self) {
        let told = self.room.tell(self.clock.train_s);
        self.events.extend(told.into_iter().map(|(event, text)| Event::Room { event, text }));
    }

    fn end_offload(&mut self) {
        if let Some(offload) = self.offload() {
            offload.end_offload();
        }
    }

    /// The learner works here again, and goes on where it was.
    fn fall_back(&mut self, at: WorkedOn, fault: &Fault) {
        self.partly_away |= at == WorkedOn::Offloaded && !self.is_between();
        let device = self.devices.lose(fault);
        self.told_device(device, Some(fault));
    }

    fn end_iteration(&mut self, iteration: Iteration, at: WorkedOn) {
        if self.holds_back() {
            self.advance_test();
            self.ended = Some((iteration, at));
            return;
        }
        let round_s = self.clock.round_s;
        let row = self.row(&iteration);
        let progress = row.progress.clone();
        self.before = progress.clone();
        self.events.push(Event::Metrics(row.clone()));
        let now = match (std::mem::take(&mut self.partly_away), at) {
            (false, WorkedOn::Processor) => arithmetic(self.room.isa(self.host.isa)),
            (false, WorkedOn::Offloaded) => GPU,
            _ => MIXED,
        };
        self.arithmetic.note(progress.iteration, now);
        self.is_brief = round_s < LONG_S;
        let whole = !std::mem::take(&mut self.partly_here);
        if let (WorkedOn::Processor, Some(work)) = (at, iteration.work)
            && whole
            && round_s > 0.0
        {
            self.devices.note_rate(work / round_s);
        }
        self.history.add(row);
        if !iteration.finite {
            self.diverged = true;
            self.set_running(false);
            self.notice(
                Level::Error,
                "Training diverged: the weights are no longer numbers.",
                "Reset, or load an earlier save, and choose a lower learning rate.",
            );
        }
        self.tell();
        if progress.iteration.is_multiple_of(DIGEST_EVERY) {
            let digest = self.digest();
            self.compare(&digest);
            self.told_digest = Some(digest.clone());
            self.events.push(Event::Digest(digest));
        }
        self.apply_changes();
        let is_free = !self.diverged && self.testing.is_none();
        if is_free && self.room.test_is_due(&self.tests, self.solved.is_some()) {
            self.begin_test(false);
        }
        self.finish_iteration = false;
        self.give_save();
    }

    fn row(&mut self, iteration: &Iteration) -> Row {
        let (round_s, tests_s) = (std::mem::take(&mut self.clock.round_s), std::mem::take(&mut self.tests_s));
        let progress = self.progress();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let schema = R::SCHEMA;
        let metrics = in_order(schema.id, schema.metrics.iter().map(|column| column.name), &iteration.metrics);
        let mut values: Vec<Option<f64>> = schema
            .metrics
            .iter()
            .zip(metrics)
            .map(|(column, told)| match column.rate {
                Some(rate) => {
                    let at = schema.counter(rate.counter).expect("a rate is one of the room's counters");
                    let grown = progress.counts[at] - self.before.counts[at];
                    Some(rate.seconds * share(grown, round_s))
                }
                None => told.flatten(),
            })
            .collect();
        let parts_s = in_order(schema.id, schema.parts.iter().map(|part| part.name), &iteration.parts_s);
        let known: f64 = iteration.parts_s.iter().map(|(_, part_s)| part_s).sum();
        let rest = (round_s - known).max(0.0);
        let whole = known + tests_s + rest;
        let parts_s = parts_s.into_iter().chain([Some(tests_s), Some(rest)]);
        values.extend(parts_s.map(|part_s| part_s.map(|part_s| share(part_s, whole))));
        Row { progress, values }
    }

    /// False where it is to confirm a test that needs none.
    fn begin_test(&mut self, confirms: bool) -> bool {
        let progress = self.progress();
        if confirms {
            let seed = Rng::new(self.config.seed, CONFIRMATIONS).block([progress.iteration, 0, 0, 0])[0];
            if !self.room.begin_confirmation(seed) {
                return false;
            }
        } else {
            self.room.begin_test();
        }
        self.testing = Some(Testing { progress, confirms });
        true
    }

    /// A slice of the test under way.
    fn advance_test(&mut self) {
        let Some(Testing { progress, confirms }) = self.testing.take() else { return };
        self.tested = true;
        match self.room.advance_test().map(|found| found.map(|found| R::SCHEMA.test_row(&found))) {
            Ok(None) => self.testing = Some(Testing { progress, confirms }),
            Ok(Some(values)) if confirms => self.take_confirmation(&Row { progress, values }),
            Ok(Some(values)) => self.take_test(Row { progress, values }),
            Err(error) => {
                let text = format!("A test broke off: {}.", error.what());
                self.notice(Level::Warning, &text, "Training goes on; please report it.");
            }
        }
    }

    fn take_test(&mut self, row: Row) {
        self.tests.push(row.clone());
        self.events.push(Event::Test(row.clone()));
        let reaches = goal_of(R::SCHEMA, self.variant.goal, &row.values).is_some_and(|(_, _, reached)| reached);
        if reaches && self.solved.is_none() && !self.begin_test(true) {
            self.take_confirmation(&row);
        }
        if self.tests.len() > MAX_TESTS {
            thin(&mut self.tests, self.solved.as_ref());
        }
    }

    /// The run is solved, or has tried once more.
    fn take_confirmation(&mut self, Row { progress, values }: &Row) {
        let Some((value, goal, confirmed)) = goal_of(R::SCHEMA, self.variant.goal, values) else { return };
        let progress = progress.clone();
        self.events.push(Event::Confirmation(Confirmation { progress: progress.clone(), value, goal, confirmed }));
        if confirmed {
            self.solved = Some(progress.clone());
            self.events.push(Event::Solved { progress, goal });
        } else {
            self.attempts += 1;
        }
    }

    /// At a boundary: the config's own that are due, and then what somebody asked for.
    fn changes_are_due(&self) -> bool {
        let next = self.config.changes.get(self.replayed);
        !self.pending.is_empty() || next.is_some_and(|change| change.iteration <= self.iteration())
    }

    fn apply_changes(&mut self) {
        let iteration = self.iteration();
        let marks = self.marks.len();
        while let Some(change) = self.config.changes.get(self.replayed)
            && change.iteration <= iteration
        {
            let Change { knob, value, .. } = change.clone();
            self.replayed += 1;
            self.apply(knob, &value);
        }
        for (name, value) in std::mem::take(&mut self.pending) {
            self.turned |= self.apply(name, &value);
        }
        // A test is one of the settings in force, as it will be where the run is loaded again.
        let under_way = self.testing.as_ref().map(|testing| testing.confirms);
        if let (Some(confirms), true) = (under_way, self.marks.len() > marks) {
            self.begin_test(confirms);
        }
        let again = match self.room.offload() {
            Ok(offload) if offload.is_offloaded() && offload.must_offload_again() => self.devices.offload_again(offload),
            _ => Ok(()),
        };
        if let Err(fault) = again {
            self.fall_back(WorkedOn::Processor, &fault);
        }
    }

    /// Whether it changed anything.
    fn apply(&mut self, knob: String, value: &Value) -> bool {
        match self.room.set(&knob, value) {
            Ok((from, to)) if from != to => {
                let mark = Mark { progress: self.progress(), knob, from, to };
                self.marks.push(mark.clone());
                self.events.push(Event::Mark(mark));
                (self.is_brief, self.began) = (false, None);
                return true;
            }
            Ok(_) => {}
            // Checked when it was asked for, but beside another change it may not be possible.
            Err(error) => self.notice(Level::Warning, &error.what(), &error.next_step()),
        }
        false
    }

    fn give_save(&mut self) {
        if std::mem::take(&mut self.save_wanted) {
            match self.encode_newest() {
                Ok(bytes) => self.events.push(Event::Saved { bytes }),
                Err(error) => {
                    let (text, next_step) = (sentence(&error.what()), sentence(&error.next_step()));
                    self.events.push(Event::NotSaved { text, next_step });
                }
            }
        }
    }

    /// What [`AnyRun::saves`] promises.
    fn encode_newest(&mut self) -> Result<Vec<u8>, RunError> {
        match &self.began {
            Some((began, bytes)) if !self.is_at_boundary() && !self.saves_within() => {
                let (bytes, done, unit) = (bytes.clone(), began.iteration, R::SCHEMA.iteration_word);
                let text = format!("The {unit} in progress is a long one, so the file has the run as it was after {done}.");
                self.notice(Level::Info, &text, "What goes on from the file does this one again, to the same end.");
                Ok(bytes)
            }
            _ => self.encode(),
        }
    }

    /// The config with what somebody asked for within this iteration, which comes into force where it ends.
    fn config_with_pending(&self) -> Config {
        let mut config = self.config.clone();
        let iteration = self.iteration() + 1;
        let changes = self.pending.iter().map(|(knob, value)| Change { iteration, knob: knob.clone(), value: value.clone() });
        config.changes.extend(changes);
        config.changes.sort_by_key(|change| change.iteration);
        // What cannot be beside the others is refused when its time comes, and the file can be read all the same.
        if check_changes::<R>(&config, self.host).is_ok() { config } else { self.config.clone() }
    }

    fn encode(&self) -> Result<Vec<u8>, RunError> {
        let mut tensors = self.room.learner().map_or(Vec::new(), Learner::parts);
        tensors.extend(self.room.more_parts());
        // Not the weights alone: no room takes up a run from moments that are no numbers either.
        if self.diverged || !tensors.iter().all(|(_, _, data)| data.is_finite()) {
            return Err(RunError::Diverged);
        }
        let header = Header {
            version: VERSION,
            config: if self.pending.is_empty() { self.config.clone() } else { self.config_with_pending() },
            knobs: self.room.values(),
            progress: self.progress(),
            marks: self.marks.clone(),
            tests: self.tests.clone(),
            testing: self.testing.is_some(),
            confirming: self.testing.as_ref().is_some_and(|testing| testing.confirms),
            solved: self.solved.clone(),
            attempts: Some(self.attempts),
            arithmetic: self.arithmetic.name().into(),
            room: self.room.notes(),
        };
        Ok(checkpoint::encode(header, R::SCHEMA, tensors, self.history.rows()))
    }

    fn compare(&mut self, reached: &Digest) {
        let unit = format!("{}s", R::SCHEMA.iteration_word);
        if let Some((level, text, next_step)) = self.expected.compare(reached, self.turned, &unit) {
            self.notice(level, &text, next_step);
        }
    }

    /// Begins with a capital and ends with a full stop, as all do that a person reads.
    fn notice(&mut self, level: Level, text: &str, next_step: &str) {
        let (text, next_step) = (sentence(text), sentence(next_step));
        self.events.push(Event::Notice { level, text, next_step });
    }
}

impl<R: Room> AnyRun for Run<R> {
    fn command(&mut self, command: Command) -> Result<(), RunError> {
        match command {
            Command::Start => self.set_running(true),
            Command::Pause => {
                self.set_running(false);
                self.finish_iteration = false;
            }
            Command::Step => {
                self.set_running(false);
                // Mid-iteration, a step is what is left of it.
                self.finish_iteration = true;
            }
            Command::Reset { config } => {
                let mut config = config.unwrap_or_else(|| self.config.clone());
                config.data.iter_mut().for_each(|data| data.fill(self.config.data.as_ref()));
                let fresh = Self::new(config, self.host)?;
                let before = self.become_another(fresh);
                self.room.follow(before);
            }
            Command::SetKnob { name, value } => {
                // Checked now, so that a refusal reaches whoever asked; in force from the boundary.
                self.room.may_set(&name, &value)?;
                self.pending.push((name, value));
                if self.is_at_boundary() {
                    self.apply_changes();
                }
            }
            Command::Device { wish } => self.devices.wish(self.room.offload().ok(), wish),
            Command::Save => {
                if self.diverged {
                    return Err(RunError::Diverged);
                }
                self.save_wanted = true;
                if self.saves().is_some() {
                    self.give_save();
                }
            }
            Command::Restore { bytes, data, follow } => {
                let data = data.as_ref().or(self.config.data.as_ref());
                let restored = Self::restore_with(&bytes, self.host, data)?;
                let before = self.become_another(restored);
                if follow {
                    self.room.follow(before);
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, now_s: f64) -> bool {
        self.waiting = false;
        let paused = !self.running && !self.finish_iteration && !self.save_wanted;
        let paused_s = if paused { *self.paused_s.get_or_insert(now_s) } else { now_s };
        self.paused_s = self.paused_s.filter(|_| paused);
        let is_done = self.testing.is_none() && self.ended.is_none();
        if paused && (is_done || now_s - paused_s > LONG_S) {
            self.clock.rest();
            self.devices.pause();
            return false;
        }
        // On the processor a test comes first; beside another machine it runs while that works. A short test ends also where the run
        // pauses.
        if self.testing.is_some() && (paused || !self.is_offloaded()) {
            self.take_time(now_s);
            self.advance_test();
            return true;
        }
        // Where a link's digest is still to be reached, the run stays on what can reach it until somebody decides.
        let bound = self.expected.is_ahead() && self.devices.wished() == DeviceWish::Auto;
        if self.is_at_boundary() && !bound {
            match self.devices.settle(self.room.offload(), now_s) {
                Settled::Already => {}
                Settled::Trying { waiting } => {
                    self.clock.rest();
                    self.waiting = waiting;
                    return true;
                }
                Settled::Now(device, fault) => {
                    // What a machine makes before it begins is not training.
                    self.clock.rest();
                    self.told_device(device, fault.as_ref());
                }
            }
        }
        self.take_time(now_s);
        self.work();
        if self.waiting && self.testing.is_some() {
            self.waiting = false;
            self.advance_test();
        }
        true
    }

    fn waiting(&self) -> bool {
        self.waiting
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError> {
        let question = serde_json::from_value(question).map_err(|e| RunError::Question { why: e.to_string() })?;
        self.room.ask(question)
    }

    fn test_while(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError> {
        while self.testing.is_some() {
            if !goes_on() {
                return Ok(None);
            }
            self.advance_test();
        }
        let progress = self.progress();
        self.room.begin_test();
        while goes_on() {
            if let Some(found) = self.room.advance_test()? {
                return Ok(Some(Row { progress, values: R::SCHEMA.test_row(&found) }));
            }
        }
        Ok(None)
    }

    fn policy(&self) -> Result<Box<dyn Policy>, RunError> {
        self.room.policy().ok_or_else(|| RunError::NoPolicy { room: R::SCHEMA.title })
    }

    fn save(&mut self) -> Result<Vec<u8>, RunError> {
        // Whoever saves waits for nobody: what others have not brought is done here.
        let shared = self.sharing().is_some_and(|sharing| {
            let shared = sharing.is_shared();
            sharing.share(false);
            shared
        });
        let (mut looks, since_s) = (0, (self.clock.lent)());
        while self.saves().is_none() {
            let is_long = (self.clock.lent)() - since_s > LONG_S;
            if is_long && (self.began.is_some() || self.saves_within()) {
                break;
            }
            self.waiting = false;
            self.work();
            looks = if self.waiting { looks + 1 } else { 0 };
            if looks > MOST_LOOKS {
                let at = self.worked_on();
                self.end_offload();
                self.fall_back(at, &Fault::Lost { why: "it did not answer".into() });
            }
        }
        if let (true, Some(sharing)) = (shared, self.sharing()) {
            sharing.share(true);
        }
        self.encode_newest()
    }

    fn saves(&self) -> Option<Progress> {
        if self.is_at_boundary() {
            return Some(self.progress());
        }
        // A short iteration ends first: another machine must end it, the processor can stop within it.
        let is_long = self.clock.round_s > if self.waiting { 2.0 * LONG_S } else { LONG_S };
        if !is_long {
            return None;
        }
        if self.saves_within() && !self.waiting {
            return Some(self.progress());
        }
        self.began.as_ref().map(|(began, _)| began.clone())
    }

    fn share(&mut self, shared: bool) -> Result<(), RunError> {
        if self.sharing().is_none() {
            return Err(RunError::NotShared);
        }
        if shared && self.is_offloaded() {
            return Err(RunError::Offloaded);
        }
        // Who shares has nothing for a GPU, so what was tried out is given up and what there is to choose is another.
        let wish = self.devices.wished();
        self.devices.wish(self.room.offload().ok(), wish);
        self.sharing().ok_or(RunError::NotShared)?.share(shared);
        Ok(())
    }

    fn is_due(&mut self) -> bool {
        self.sharing().is_some_and(|sharing| sharing.is_shared() && sharing.is_due())
    }

    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)> {
        let isa = self.room.isa(self.host.isa);
        let sharing = self.sharing().filter(|sharing| sharing.is_shared())?;
        let (pieces, tensors) = sharing.due()?;
        Some((pieces, shared::pack::<R>(tensors, isa)))
    }

    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError> {
        let tensors = shared::unpack::<R>(pieces, self.room.isa(self.host.isa))?;
        let sharing = self.sharing().ok_or(RunError::NotShared)?;
        if !sharing.is_due() {
            return Err(RunError::NothingDue);
        }
        sharing.take(&|name| learn::part(&tensors, name)).map_err(RunError::Below)
    }

    fn wants_machine(&mut self) -> bool {
        // Before there is a learner, it is not known that it has no use for one.
        self.devices.wanted() && (self.is_preparing() || self.offload().is_some())
    }

    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>) {
        self.devices.offer(self.room.offload().ok(), machine);
    }

    fn device_wish(&self) -> DeviceWish {
        self.devices.wished()
    }

    fn operations(&mut self, look: bool) -> Option<Vec<Operation>> {
        let executor = self.room.learner_mut()?.executor_mut()?;
        let operations = executor.operations();
        if look != executor.is_timed() {
            executor.time_calls(look.then_some(self.clock.lent));
        }
        Some(operations.into_iter().map(Operation::from).collect())
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock.lent = clock;
        self.room.set_clock(clock);
        if let Some(learner) = self.room.learner_mut() {
            learner.set_clock(clock);
        }
    }

    fn expect(&mut self, digest: Digest) {
        // What is behind it is never reached.
        if digest.iteration > self.iteration() {
            self.expected.set(digest);
        }
    }

    fn schema(&self) -> &'static Schema {
        R::SCHEMA
    }

    fn variant(&self) -> &Variant {
        &self.variant
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn config_now(&self) -> Config {
        let made =
            self.marks.iter().map(|mark| Change { iteration: mark.progress.iteration, knob: mark.knob.clone(), value: mark.to.clone() });
        let ahead = self.config.changes[self.replayed..].iter().cloned();
        Config { changes: made.chain(ahead).collect(), ..self.config.clone() }
    }

    fn shared(&self) -> Shared {
        let (now, arithmetic) = (self.iteration(), self.arithmetic.name());
        permalink::share(self.config_now(), now, self.told_digest.as_ref(), arithmetic, R::SCHEMA.iteration_word)
    }

    fn knobs(&self) -> Vec<Knob> {
        R::knobs(&self.config.variant)
    }

    fn running(&self) -> bool {
        self.running
    }

    fn at_boundary(&self) -> bool {
        self.is_at_boundary()
    }

    fn is_preparing(&self) -> bool {
        self.room.learner().is_none()
    }

    fn progress(&self) -> Progress {
        let schema = R::SCHEMA;
        let counts = match self.room.learner() {
            Some(learner) => schema.counts(&learner.counts()),
            None => vec![0.0; schema.counters.len()],
        };
        Progress { iteration: self.iteration(), counts, train_s: self.clock.train_s }
    }

    fn solved(&self) -> Option<&Progress> {
        self.solved.as_ref()
    }

    fn attempts(&self) -> u32 {
        self.attempts
    }

    fn diverged(&self) -> bool {
        self.diverged
    }

    fn digest(&self) -> Digest {
        Digest {
            iteration: self.iteration(),
            weights: digest::of_weights(self.room.learner().map_or(&[], Learner::weights)),
            arithmetic: if self.is_at_boundary() { self.arithmetic.name() } else { PARTIAL }.into(),
        }
    }

    fn backend(&self) -> Backend {
        backend(self.host.isa)
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

/// Drops every second test but the newest and the one that solved the task: shells tell from it when that was.
fn thin(tests: &mut Vec<Row>, solved: Option<&Progress>) {
    let solved = solved.and_then(|solved| tests.iter().position(|t| t.progress.iteration == solved.iteration));
    let last = tests.len().saturating_sub(1);
    let mut place = 0..;
    tests.retain(|_| place.next().is_some_and(|i: usize| i % 2 == last % 2 || Some(i) == solved));
}

pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(letters).collect();
    sentence.push('.');
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_tests_keep_the_newest_and_the_one_that_solved() {
        let test = |iteration| Row { progress: Progress { iteration, ..Progress::default() }, values: vec![] };
        let mut tests: Vec<_> = (1..=9).map(test).collect();
        thin(&mut tests, Some(&test(6).progress));
        let kept: Vec<_> = tests.iter().map(|test| test.progress.iteration).collect();
        assert_eq!(kept, [1, 3, 5, 6, 7, 9]);
    }
}
