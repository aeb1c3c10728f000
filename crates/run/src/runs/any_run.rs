//! Implementation of [`AnyRun`] for [`Run`].

use super::{AnyRun, LONG_S, Run, backend};
use crate::checkpoint;
use crate::device::Settled;
use crate::digest::{self, PARTIAL};
use crate::knobs::check_live;
use crate::permalink;
use crate::protocol::{
    Backend, Command, Config, DeviceWish, Digest, Event, Knob, Operation, Progress, Question, Row, Shared, Standing, Variant,
};
use crate::room::{Answer, Policy, Room, States};
use crate::schema::Schema;
use crate::standing::Tested;
use crate::{RunError, networks, shared, tensors};
use learn::{Failure, Fault, Learner, Machine};
use std::ops::Range;

/// While a save waits for another machine: maximum number of consecutive polls without an answer. After these polls, the CPU completes the
/// iteration. A native poll takes milliseconds, so the save waits some seconds.
const MAX_POLLS: u32 = 4096;

impl<R: Room> Run<R> {
    /// Replaces this run by `other` after a reset or a restore. Keeps the undelivered events, the profiling clock, the GPU, and whether the
    /// run is paused. Returns the previous room.
    fn replace_with(&mut self, mut other: Self) -> R {
        other.queue.follow(&mut self.queue);
        other.set_clock(self.clock.now);
        other.devices = self.devices.for_another_run();
        other.set_running(self.running);
        std::mem::replace(self, other).room
    }

    /// Returns true if the run is paused and has nothing to complete. A paused run still completes a short iteration if a save or a live
    /// change was requested.
    fn is_paused(&self) -> bool {
        let change_waits = !self.changes.pending.is_empty() && !self.is_preparing() && self.saves().is_none();
        !self.running && !self.finish_iteration && !self.saves.wanted && !change_waits
    }

    /// Runs one slice: of the learner, of a test, or of the choice of a device. Returns false if the run is paused and has no short test to
    /// complete.
    fn advance_training(&mut self, now_s: f64) -> bool {
        self.waiting = false;
        let paused = self.is_paused();
        let paused_s = if paused { *self.paused_s.get_or_insert(now_s) } else { now_s };
        self.paused_s = self.paused_s.filter(|_| paused);
        let is_done = self.tests.under_way().is_none() && self.ended.is_none();
        if paused && (is_done || now_s - paused_s > LONG_S) {
            self.clock.rest();
            self.devices.pause();
            return false;
        }
        // If the CPU trains, a test runs before training continues. If another machine trains, a test runs while the machine works. A short
        // test also runs to its end during a pause.
        if self.tests.under_way().is_some() && (paused || !self.is_offloaded()) {
            self.clock.take(now_s);
            self.advance_test();
            return true;
        }
        // If the run's link contains a digest, the automatic choice keeps the CPU until the digest's iteration, because only the CPU can
        // reproduce the digest.
        let bound = self.digests.expected.is_some() && self.devices.wished() == DeviceWish::Auto;
        if self.is_at_boundary() && !bound {
            match self.devices.settle(self.room.offload(), now_s) {
                Settled::Already => {}
                Settled::Trying { waiting } => {
                    self.clock.rest();
                    self.waiting = waiting;
                    return true;
                }
                Settled::Now(device, fault) => {
                    // The time that a machine takes to prepare does not count as training.
                    self.clock.rest();
                    self.queue.device(device, fault.as_ref());
                }
            }
        }
        self.clock.take(now_s);
        self.work();
        if self.waiting && self.tests.under_way().is_some() {
            self.waiting = false;
            self.advance_test();
        }
        true
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
                // Within an iteration, a step runs the rest of that iteration.
                self.finish_iteration = true;
            }
            Command::Reset { config } => {
                let mut config = config.unwrap_or_else(|| self.config.clone());
                config.data.iter_mut().for_each(|data| data.fill(self.config.data.as_ref()));
                let fresh = Self::new(config, self.host)?;
                let before = self.replace_with(fresh);
                self.room.follow(before);
            }
            Command::SetKnob { name, value } => {
                // The change takes effect before the next iteration. The run checks the change now, so that the caller receives the error.
                check_live(&R::knobs(&self.variant.id), &name, &value)?;
                self.room.may_change(&name, &value)?;
                self.changes.pending.push((name, value));
                if self.is_at_boundary() {
                    self.apply_changes();
                }
            }
            Command::Device { wish } => self.devices.wish(self.room.offload().ok(), wish),
            Command::Save => {
                if let Some(error) = self.failure() {
                    return Err(error);
                }
                self.saves.wanted = true;
                if self.saves().is_some() {
                    self.emit_save();
                }
            }
            Command::Restore { bytes, data, follow } => {
                let data = data.as_ref().or(self.config.data.as_ref());
                let mut restored = Self::restore_with(&bytes, self.host, data)?;
                restored.changes.take_kept(&mut self.changes);
                let before = self.replace_with(restored);
                if follow {
                    self.room.follow(before);
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, now_s: f64) -> bool {
        if !self.room.advance_background() {
            return self.advance_training(now_s);
        }
        self.push_room_events();
        // During a background task, a paused run does no other work. A short test in progress waits for the end of the task.
        if !self.is_paused() {
            self.advance_training(now_s);
        }
        self.waiting = false;
        true
    }

    fn waiting(&self) -> bool {
        self.waiting
    }

    fn events(&mut self) -> Vec<Event> {
        self.queue.take()
    }

    fn ask(&mut self, question: serde_json::Value) -> Result<Answer, RunError> {
        if let Ok(question) = serde_json::from_value(question.clone()) {
            let tensors = self.room.learner().map_or(Vec::new(), Learner::tensors);
            return Ok(match question {
                Question::Tensors {} => Box::new(tensors::views(&tensors, &self.room.networks(States::Sample)?)),
                Question::Networks {} => Box::new(networks::views(self.room.networks(States::Shown)?, &tensors)),
            });
        }
        let question = serde_json::from_value(question).map_err(|e| RunError::Question { why: e.to_string() })?;
        self.room.ask(question)
    }

    fn test_while(&mut self, should_continue: &mut dyn FnMut() -> bool) -> Result<Option<Row>, RunError> {
        while self.tests.under_way().is_some() {
            if !should_continue() {
                return Ok(None);
            }
            self.advance_test();
        }
        let progress = self.progress();
        self.tests.run(&mut self.room, progress, should_continue)
    }

    fn policy(&self) -> Result<Box<dyn Policy>, RunError> {
        self.room.policy().ok_or_else(|| RunError::NoPolicy { room: R::SCHEMA.title })
    }

    #[cfg(feature = "export")]
    fn export(&self, format: crate::export::Format) -> Result<crate::export::Exported, RunError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let facts = crate::export::Facts {
            schema: R::SCHEMA,
            variant: &self.variant,
            config: self.config_now(),
            digest: self.digest(),
            count: self.progress().counts[0],
            test: self.tests.rows.last(),
            solved: self.tests.solved.as_ref().map(|progress| progress.counts[0]),
            command: self.shared().command,
        };
        crate::export::exported(&self.room.exported()?, &facts, format)
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::NamedExamples, RunError> {
        let described = self.room.exported()?;
        crate::export::NamedExamples::check(&described.model, count)?;
        Ok(crate::export::NamedExamples::new(&described.model, count, self.room.examples(count, seed)?))
    }

    fn save(&mut self) -> Result<Vec<u8>, RunError> {
        // A save does not wait for remote workers. Instead, this process computes the missing pieces.
        let shared = self.sharing().is_some_and(|sharing| {
            let shared = sharing.is_shared();
            sharing.share(false);
            shared
        });
        let (mut polls, since_s) = (0, (self.clock.now)());
        while self.saves().is_none() {
            let is_long = (self.clock.now)() - since_s > LONG_S;
            if is_long && (self.saves.began.is_some() || self.saves_mid_iteration()) {
                break;
            }
            self.waiting = false;
            self.work();
            polls = if self.waiting { polls + 1 } else { 0 };
            if polls > MAX_POLLS {
                let at = self.worked_on();
                self.fall_back(at, &Fault::Lost { why: "it did not answer".into() });
            }
        }
        if let (true, Some(sharing)) = (shared, self.sharing()) {
            sharing.share(true);
        }
        self.encode_newest()
    }

    fn kept_before(&self) -> Vec<usize> {
        self.changes.kept.iter().flat_map(|(made, _)| made.clone()).collect()
    }

    fn save_before(&self, mark: usize) -> Result<Vec<u8>, RunError> {
        let (_, kept) = self.changes.kept.iter().find(|(made, _)| made.contains(&mark)).ok_or(RunError::NotKept)?;
        Ok(checkpoint::encode(kept.clone(), R::SCHEMA))
    }

    fn saves(&self) -> Option<Progress> {
        if self.is_at_boundary() {
            return Some(self.progress());
        }
        // A short iteration is completed before the save. A long iteration on the CPU is saved in its current state if the learner supports
        // this. In all other cases, the snapshot of the iteration's beginning is saved, if the run has such a snapshot.
        let is_long = self.clock.spent.round_s > if self.waiting { 2.0 * LONG_S } else { LONG_S };
        if !is_long {
            return None;
        }
        if self.saves_mid_iteration() && !self.waiting {
            return Some(self.progress());
        }
        self.saves.began.as_ref().map(|(header, _)| header.progress.clone())
    }

    fn share(&mut self, shared: bool) -> Result<(), RunError> {
        if self.sharing().is_none() {
            return Err(RunError::NotShared);
        }
        if shared && self.is_offloaded() {
            return Err(RunError::Offloaded);
        }
        // A sharing learner offloads nothing to a GPU. So the run discards probes in progress and chooses the device again.
        let wish = self.devices.wished();
        self.devices.wish(self.room.offload().ok(), wish);
        self.sharing().ok_or(RunError::NotShared)?.share(shared);
        Ok(())
    }

    fn is_due(&mut self) -> bool {
        self.sharing().is_some_and(|sharing| sharing.is_shared() && sharing.is_due())
    }

    fn due(&mut self) -> Option<(Range<u64>, Vec<u8>)> {
        let isa = self.isa();
        let sharing = self.sharing().filter(|sharing| sharing.is_shared())?;
        let (pieces, tensors) = sharing.due()?;
        Some((pieces, shared::pack::<R>(tensors, isa)))
    }

    fn take(&mut self, pieces: &[u8]) -> Result<(), RunError> {
        let tensors = shared::unpack::<R>(pieces, self.isa())?;
        let sharing = self.sharing().ok_or(RunError::NotShared)?;
        if !sharing.is_due() {
            return Err(RunError::NothingDue);
        }
        sharing.take(&|name| learn::part(&tensors, name)).map_err(RunError::Below)
    }

    fn wants_machine(&mut self) -> bool {
        // Before the learner exists, the run requests a GPU, because it is unknown whether the learner can use a GPU.
        self.devices.wanted() && (self.is_preparing() || self.offload().is_some())
    }

    fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>) {
        self.devices.offer(self.room.offload().ok(), machine);
    }

    fn device_wish(&self) -> DeviceWish {
        self.devices.wished()
    }

    fn operations(&mut self, record: bool) -> Option<Vec<Operation>> {
        let executor = self.room.learner_mut()?.executor_mut()?;
        let operations = executor.operations();
        if record != executor.is_timed() {
            executor.time_calls(record.then_some(self.clock.now));
        }
        Some(operations.into_iter().map(Operation::from).collect())
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock.now = clock;
        self.room.set_clock(clock);
        if let Some(learner) = self.room.learner_mut() {
            learner.set_clock(clock);
        }
    }

    fn expect(&mut self, digest: Digest) {
        // The run never reaches a past iteration again, so it could never compare a digest of such an iteration.
        if digest.iteration > self.iteration() {
            self.digests.expected = Some(digest);
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
        self.changes.config_now(&self.config)
    }

    fn shared(&self) -> Shared {
        let (now, arithmetic) = (self.iteration(), self.digests.arithmetic.name());
        permalink::share(self.config_now(), now, self.digests.newest.as_ref(), arithmetic, R::SCHEMA.iteration_word)
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
        self.tests.solved.as_ref()
    }

    fn attempts(&self) -> u32 {
        self.tests.attempts
    }

    fn standing(&self, last: Option<&Row>) -> Standing {
        let tested = self.tests.tested(R::SCHEMA, self.variant.goal);
        let newest = tested.tests.last().map(|row| row.progress.iteration);
        let last = last.filter(|row| Some(row.progress.iteration) > newest).cloned();
        let rows: Vec<Row> = tested.tests.iter().cloned().chain(last).collect();
        Tested { tests: &rows, ..tested }.standing(self.tests.attempts, self.failure.as_ref(), &self.progress())
    }

    fn failure(&self) -> Option<RunError> {
        Some(match self.failure.as_ref()? {
            Failure::Diverged => RunError::Diverged,
            Failure::World(fault) => RunError::WorldFailed { fault: fault.clone() },
        })
    }

    fn digest(&self) -> Digest {
        Digest {
            iteration: self.iteration(),
            weights: digest::of_weights(self.room.learner().map_or(&[], Learner::weights)),
            arithmetic: if self.is_at_boundary() { self.digests.arithmetic.name() } else { PARTIAL }.into(),
        }
    }

    fn backend(&self) -> Backend {
        backend(self.host.isa)
    }
}
