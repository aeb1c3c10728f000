//! Offloading of the published learner's work to another device, and probes (measurements of the device's speed).
//!
//! If leaves are offloaded, the actors form two lanes. The device evaluates the leaves of one lane while the CPU grows the trees of the
//! other lane. Actors share nothing. An update depends only on its number, the samples and the training state. A round therefore has the
//! same results as on the CPU, except for rounding on the device.

use super::accelerator::{Accelerator, Answer, LANES, OffloadSpec, TrainResult, TrainStateRef, Work, decision_words, packed_sample};
use super::offloaded::{Lane, Offloaded, Probe};
use super::selfplay::Actor;
use super::trainer::TrainState;
use super::{Phase, Published, ROUND_BEGINS, draw};
use crate::backgammon::Stats;
use crate::{Fault, Machine, Offload, Pass, Slice, offload};
use math::par::{self, Pinned};
use std::ops::Range;
use worlds::backgammon::Results;

/// A pass of a probe plays 1/`PROBE_SHARE` of a round's batches.
const PROBE_SHARE: usize = 8;

impl Published {
    fn lane(&self, lane: usize) -> Range<usize> {
        let half = self.actors.len().div_ceil(LANES);
        if lane == 0 { 0..half } else { half..self.actors.len() }
    }

    fn connect(&self, machine: &dyn Machine, work: Work) -> Result<Offloaded, Fault> {
        let spec = OffloadSpec {
            work,
            isa: self.isa,
            shape: self.config.shape(),
            lane_rows: self.lane(0).len() * self.config.batch,
            minibatch: self.config.minibatch,
            replay: self.config.replay,
        };
        let mut accelerator = Pinned::new(offload::request(machine, &spec)?);
        let TrainState { params, optimizer } = &self.trainer.state;
        if work.leaves {
            accelerator.with_mut(|there| there.set_weights(params.values()))?;
        }
        if work.learning {
            let (m, v) = (&optimizer.m, &optimizer.v);
            let state = TrainStateRef { weights: params.values(), m, v, steps: optimizer.steps };
            accelerator.with_mut(|there| there.set_state(&state))?;
            self.store_samples(&mut accelerator, 0..self.replay.samples.len())?;
        }
        Ok(Offloaded {
            work,
            accelerator,
            lanes: [Lane::default(); LANES],
            result_requested: false,
            learned: TrainResult::default(),
            answer: Answer::default(),
            words: Vec::new(),
            waiting_since_s: None,
            waited_s: 0.0,
        })
    }

    /// Sends the samples with the replay indices `places` to the device that trains.
    fn store_samples(&self, accelerator: &mut Pinned<Box<dyn Accelerator>>, places: Range<usize>) -> Result<(), Fault> {
        /// Maximum number of samples per call.
        const MOST: usize = 4096;
        let mut scratch = Results::new();
        let first = places.start;
        for (i, samples) in self.replay.samples[places].chunks(MOST).enumerate() {
            let packed_samples: Vec<_> = samples.iter().map(|sample| packed_sample(sample, &mut scratch)).collect();
            accelerator.with_mut(|there| there.store_samples(first + i * MOST, &packed_samples))?;
        }
        Ok(())
    }

    /// Runs one slice of offloaded work. Returns `Ok(true)` when the round is complete. Returns `Ok(false)` if work remains or nothing is
    /// offloaded. If the device is busy or has failed, returns `Err` with the [`Slice`] that `advance` must return.
    pub(super) fn play_offloaded(&mut self) -> Result<bool, Slice<Stats>> {
        let Some(mut offloaded) = self.away.offloaded.take() else { return Ok(false) };
        if let Some(since_s) = offloaded.waiting_since_s.take() {
            offloaded.waited_s += (self.clock)() - since_s;
        }
        match self.advance_offloaded(&mut offloaded, self.config.round_batches) {
            Ok(OffloadSlice::Worked) => {
                self.away.offloaded = Some(offloaded);
                Ok(false)
            }
            Ok(OffloadSlice::Waiting) => {
                offloaded.waiting_since_s = Some((self.clock)());
                self.away.offloaded = Some(offloaded);
                Err(Slice::Waiting)
            }
            Ok(OffloadSlice::Played) => {
                if offloaded.work.learning {
                    self.take_result(&offloaded.learned);
                }
                self.away.offloaded = Some(offloaded);
                Ok(true)
            }
            Err(fault) => {
                self.resume_locally(&offloaded);
                Err(Slice::Stopped(fault))
            }
        }
    }

    /// Runs one slice of a round that has `all` batches.
    fn advance_offloaded(&mut self, offloaded: &mut Offloaded, all: usize) -> Result<OffloadSlice, Fault> {
        let Phase::Play { batches, ahead, updates } = self.phase else { return Ok(OffloadSlice::Played) };
        let work = offloaded.work;
        // If leaves are offloaded, this stretch is empty, because an actor continues only when the results of its lane are complete.
        let stretch = self.stretch(batches, ahead, if work.leaves { batches } else { all });
        let until = self.updates_until(batches + stretch.batches, updates);
        let pieces = self.limits.pieces(&self.trainer.cut, self.limits.played(&stretch));
        let (mut updates, mut due) = (updates, until - updates);
        if work.learning {
            // The device may be this CPU. Therefore at most as many updates are sent as this CPU completes in a slice.
            let most = self.limits.pieces(&self.trainer.cut, 0.0).div_ceil(self.trainer.cut.pieces());
            let sent = due.min(most);
            self.step_offloaded(offloaded, sent)?;
            (updates, due) = (updates + sent, 0);
            self.phase = Phase::Play { batches, ahead, updates };
        }
        let mut actors = stretch.actors.clone();
        if work.leaves {
            (0..LANES).try_for_each(|lane| self.ask(offloaded, lane, all))?;
            // Selects the lane whose request has been pending the longest.
            let asked = (0..LANES).filter(|&lane| offloaded.lanes[lane].asked);
            if let Some(lane) = asked.min_by_key(|&lane| offloaded.lanes[lane].batches) {
                let answer = &mut offloaded.answer;
                if !self.timed(&mut offloaded.waited_s, || offloaded.accelerator.with_mut(|there| there.answer(lane, answer)))? {
                    return Ok(OffloadSlice::Waiting);
                }
                actors = self.lane(lane);
                let mut row = 0;
                for actor in &mut self.actors[actors.clone()] {
                    row = actor.take(&offloaded.answer, row);
                }
                offloaded.lanes[lane] = Lane { batches: offloaded.lanes[lane].batches + 1, asked: false };
            }
        }
        updates += self.beside(actors, due, pieces, |actor, playing| {
            if work.leaves {
                actor.back_up(playing);
            }
            (0..stretch.batches).for_each(|_| actor.step(playing));
        });
        let (batches, ahead) = match work.leaves {
            true => (offloaded.lanes.iter().map(|lane| lane.batches).min().unwrap_or(all), 0),
            false => self.progress_after(batches, &stretch),
        };
        self.phase = Phase::Play { batches, ahead, updates };
        if batches < all || updates < self.updates_due() * all / self.config.round_batches {
            return Ok(OffloadSlice::Worked);
        }
        if work.learning {
            if !offloaded.result_requested {
                offloaded.accelerator.with_mut(|there| there.request_result())?;
                offloaded.result_requested = true;
            }
            let learned = &mut offloaded.learned;
            if !self.timed(&mut offloaded.waited_s, || offloaded.accelerator.with_mut(|there| there.poll_result(learned)))? {
                return Ok(OffloadSlice::Waiting);
            }
        }
        offloaded.lanes = [Lane::default(); LANES];
        offloaded.result_requested = false;
        Ok(OffloadSlice::Played)
    }

    /// Runs `call`, which calls the device, and adds its duration in seconds to `waited_s`.
    fn timed<T>(&self, waited_s: &mut f64, call: impl FnOnce() -> T) -> T {
        let since_s = (self.clock)();
        let result = call();
        *waited_s += (self.clock)() - since_s;
        result
    }

    /// Sends the next batch of a lane's decisions. A batch without decisions is completed without the device. Does nothing if a batch of
    /// the lane is pending or if the lane's `all` batches are complete.
    fn ask(&mut self, offloaded: &mut Offloaded, lane: usize, all: usize) -> Result<(), Fault> {
        let actors = self.lane(lane);
        while !offloaded.lanes[lane].asked && offloaded.lanes[lane].batches < all {
            self.beside(actors.clone(), 0, 0, |actor, playing| actor.select(playing));
            offloaded.words.clear();
            for actor in &self.actors[actors.clone()] {
                offloaded.words.extend(actor.selected().map(decision_words));
            }
            if offloaded.words.is_empty() {
                // No decision needs an evaluation: every simulation reached the end of a game.
                self.beside(actors.clone(), 0, 0, |actor, playing| actor.back_up(playing));
                offloaded.lanes[lane].batches += 1;
            } else {
                // The flag is set before the call. If the call fails, the CPU therefore evaluates these leaves.
                offloaded.lanes[lane].asked = true;
                let words = &offloaded.words;
                self.timed(&mut offloaded.waited_s, || offloaded.accelerator.with_mut(|there| there.ask(lane, words)))?;
            }
        }
        Ok(())
    }

    fn step_offloaded(&mut self, offloaded: &mut Offloaded, count: usize) -> Result<(), Fault> {
        let count = count as u64;
        for n in self.progress.updates..self.progress.updates + count {
            draw(&self.config, self.seed, n, self.replay.samples.len(), &mut self.drawn);
            let (adam, value_coef) = (self.config.adam(), self.config.value_coef);
            let step = |there: &mut Box<dyn Accelerator>| there.step(&adam, value_coef, &self.drawn);
            self.timed(&mut offloaded.waited_s, || offloaded.accelerator.with_mut(step))?;
        }
        self.progress.updates += count;
        Ok(())
    }

    /// Replaces the training state by the result of the device.
    fn take_result(&mut self, learned: &TrainResult) {
        let TrainState { params, optimizer } = &mut self.trainer.state;
        params.values_mut().copy_from_slice(&learned.weights);
        optimizer.m.copy_from_slice(&learned.m);
        optimizer.v.copy_from_slice(&learned.v);
        optimizer.steps = learned.steps;
        self.trainer.sums = learned.sums;
        self.trainer.pack();
    }

    /// Prepares the round for completion on the CPU. Evaluates pending leaves and advances both lanes to the same batch. If the device
    /// trained, resets the number of updates to 0, so that the CPU repeats the updates.
    fn resume_locally(&mut self, offloaded: &Offloaded) {
        let Phase::Play { mut batches, ahead, updates } = self.phase else { return };
        if offloaded.work.leaves {
            let mut lanes = offloaded.lanes;
            for (lane, Lane { batches, asked }) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.asked) {
                self.beside(self.lane(lane), 0, 0, |actor, playing| {
                    actor.evaluate(playing);
                    actor.back_up(playing);
                });
                (*batches, *asked) = (*batches + 1, false);
            }
            batches = lanes.iter().map(|lane| lane.batches).max().unwrap_or(0);
            for (lane, Lane { batches: behind, .. }) in lanes.into_iter().enumerate() {
                self.beside(self.lane(lane), 0, 0, |actor, playing| {
                    (behind..batches).for_each(|_| actor.step(playing));
                });
            }
        }
        let done = if offloaded.work.learning { 0 } else { updates };
        self.progress.updates -= (updates - done) as u64;
        self.phase = Phase::Play { batches, ahead, updates: done };
    }

    /// Sends the state of a new round to the device. A device that evaluates leaves receives the weights. A device that trains receives the
    /// `fresh` samples of the last round, which start at replay index `first`.
    pub(super) fn announce_round(&mut self, first: usize, fresh: usize) {
        let Some(mut offloaded) = self.away.offloaded.take() else { return };
        let since_s = (self.clock)();
        let mut send = || {
            if offloaded.work.leaves {
                offloaded.accelerator.with_mut(|there| there.set_weights(self.trainer.state.params.values()))?;
            }
            if offloaded.work.learning {
                let all = self.replay.samples.len();
                let last = first + fresh.min(self.config.replay);
                self.store_samples(&mut offloaded.accelerator, first..last.min(all))?;
                self.store_samples(&mut offloaded.accelerator, 0..last.saturating_sub(self.config.replay))?;
            }
            Ok(())
        };
        let sent = send();
        offloaded.waited_s = (self.clock)() - since_s;
        match sent {
            Ok(()) => self.away.offloaded = Some(offloaded),
            // The next call of `advance` reports the fault.
            Err(fault) => self.away.failed = Some(fault),
        }
    }

    /// Returns the seconds that the learner waited for the device in this round, times the number of threads. The factor makes the time
    /// comparable to the actors' times, which are sums over threads.
    pub(super) fn waited_s(&self) -> f64 {
        self.away.offloaded.as_ref().map_or(0.0, |offloaded| offloaded.waited_s * par::threads() as f64)
    }
}

enum OffloadSlice {
    Worked,
    Waiting,
    /// The round (in a probe, the pass) is complete, and all results of the device were received. Also returned if the phase is not
    /// [`Phase::Play`].
    Played,
}

impl Published {
    fn probe_batches(&self) -> usize {
        self.config.round_batches.div_ceil(PROBE_SHARE)
    }

    /// Returns the number of boards evaluated so far in this round.
    pub(super) fn evaluated(&self) -> u64 {
        self.actors.iter().map(Actor::evaluated).sum()
    }

    /// Returns true once games end about as often as they begin. This is assumed as soon as the number of ended games reaches the number of
    /// concurrent games.
    pub fn is_steady(&self) -> bool {
        self.progress.games >= (self.config.actors * self.config.games) as u64
    }

    /// Returns the work that is currently offloaded. Returns `None` if no work is offloaded, and during a probe.
    pub fn offloaded(&self) -> Option<Work> {
        self.away.offloaded.as_ref().filter(|_| self.away.probe.is_none()).map(|offloaded| offloaded.work)
    }

    /// Offloads `work` to a device from now on.
    pub fn offload_work(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault> {
        self.away.offloaded = Some(self.connect(machine, work)?);
        Ok(())
    }

    /// Begins a probe of `work`. Each pass plays a part of a round, and its results are discarded.
    pub fn probe_work(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault> {
        let offloaded = self.connect(machine, work)?;
        self.away.probe = Some(Box::new(Probe {
            progress: self.progress,
            games: self.games(),
            state: self.trainer.state.clone(),
            offloaded: self.away.offloaded.replace(offloaded),
            before: 0,
        }));
        Ok(())
    }
}

/// Work of each option in [`Offload::ways`], in the same order. Training without leaves is an option, because the fastest division of the
/// work depends on the machine.
const WORK: [Work; 2] = [Work::LEARNING, Work::ALL];

impl Offload for Published {
    fn ways(&self) -> &'static [&'static str] {
        &["Fastest: training on the GPU, games on the CPU.", "Fastest: training and evaluating boards on the GPU."]
    }

    /// Returns false, because training does not continue during a probe: the probe advances the learner's own games.
    fn trains_meanwhile(&self) -> bool {
        false
    }

    fn is_offloaded(&self) -> bool {
        self.offloaded().is_some()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault> {
        self.offload_work(machine, WORK[way])
    }

    fn end_offload(&mut self) {
        if let Some(offloaded) = self.away.offloaded.take() {
            self.resume_locally(&offloaded);
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault> {
        self.probe_work(machine, WORK[way])
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let Some(mut offloaded) = self.away.offloaded.take() else { return Ok(Pass::Worked) };
        let slice = self.advance_offloaded(&mut offloaded, self.probe_batches());
        self.away.offloaded = Some(offloaded);
        match slice {
            Ok(OffloadSlice::Worked) => Ok(Pass::Worked),
            Ok(OffloadSlice::Waiting) => Ok(Pass::Waiting),
            Ok(OffloadSlice::Played) => {
                self.phase = ROUND_BEGINS;
                let now = self.evaluated();
                let before = self.away.probe.as_mut().map_or(0, |probe| std::mem::replace(&mut probe.before, now));
                Ok(Pass::Ended((now - before) as f64))
            }
            Err(fault) => {
                self.end_probe();
                Err(fault)
            }
        }
    }

    /// Returns the number of boards evaluated in a pass if all batches are full.
    fn pass_work(&mut self) -> f64 {
        (self.probe_batches() * self.config.actors * self.config.batch) as f64
    }

    fn end_probe(&mut self) {
        let Some(probe) = self.away.probe.take() else { return };
        let Probe { progress, games, state, offloaded, .. } = *probe;
        (self.progress, self.away.offloaded, self.phase) = (progress, offloaded, ROUND_BEGINS);
        (self.trainer.state, self.trainer.sums, self.learning_s) = (state, [0.0; 3], 0.0);
        self.trainer.abandon();
        self.trainer.pack();
        self.restore_games(&mut games.unread()).expect("saved from these actors");
    }
}
