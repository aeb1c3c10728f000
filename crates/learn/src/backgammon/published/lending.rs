//! The published learner while another machine does some of its work, and trials of that.
//!
//! Where leaves are lent, tables are two lanes: one lane's trees grow while the other's leaves are away. As tables share nothing,
//! and steps depend on nothing but their number and the samples, what comes of a round is the same as at home, but for how the
//! other machine rounds.

use super::away::{Answer, Blueprint, Coach, DECISION_WORDS, LANES, Learned, Work, decision_words, lesson};
use super::selfplay::Table;
use super::student::Standing;
use super::{Games, Phase, Published, ROUND_BEGINS, away, draw};
use crate::backgammon::{Lendable, Progress, Slice, TrialSlice};
use crate::offload;
use crate::{Fault, Machine};
use math::par::{self, Pinned};
use std::ops::Range;
use worlds::backgammon::Results;

/// Of a round's batches, what a trial plays.
const TRIAL_SHARE: usize = 8;

pub(super) struct Lent {
    pub work: Work,
    coach: Pinned<Box<dyn Coach>>,
    lanes: [Lane; LANES],
    /// The round's steps were all begun and their result asked for.
    learned_asked: bool,
    learned: Learned,
    answer: Answer,
    words: Vec<[u32; DECISION_WORDS]>,
    /// Since when there is nothing to do, and how long that and talking to the machine has been in this round.
    waits_since_s: Option<f64>,
    waited_s: f64,
}

#[derive(Clone, Copy, Default)]
struct Lane {
    /// Batches of this round whose answers are in.
    batches: usize,
    /// One more is away.
    asked: bool,
}

impl Lent {
    /// Nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(|lane| lane.batches == 0 && !lane.asked)
    }
}

/// What there was before a trial, and how far its pass has come.
pub(super) struct Trial {
    pub progress: Progress,
    pub games: Games,
    pub standing: Standing,
    lent: Option<Lent>,
    /// Boards valued before this pass.
    before: u64,
}

impl Published {
    fn lane(&self, lane: usize) -> Range<usize> {
        let half = self.tables.len().div_ceil(LANES);
        if lane == 0 { 0..half } else { half..self.tables.len() }
    }

    fn take_on(&self, machine: &dyn Machine, work: Work) -> Result<Lent, Fault> {
        let blueprint = Blueprint {
            work,
            isa: self.isa,
            lane_rows: self.lane(0).len() * self.config.batch,
            minibatch: self.config.minibatch,
            replay: self.config.replay,
        };
        let mut coach = Pinned::new(offload::request(machine, &blueprint)?);
        let Standing { params, optimizer } = &self.student.standing;
        if work.leaves {
            coach.play_with(params.values())?;
        }
        if work.learning {
            let (m, v) = (&optimizer.m, &optimizer.v);
            coach.stand(&away::Standing { weights: params.values(), m, v, steps: optimizer.steps })?;
            self.keep(&mut coach, 0..self.replay.samples.len())?;
        }
        Ok(Lent {
            work,
            coach,
            lanes: [Lane::default(); LANES],
            learned_asked: false,
            learned: Learned::default(),
            answer: Answer::default(),
            words: Vec::new(),
            waits_since_s: None,
            waited_s: 0.0,
        })
    }

    /// Gives the samples in these places to whoever learns from them.
    fn keep(&self, coach: &mut Pinned<Box<dyn Coach>>, places: Range<usize>) -> Result<(), Fault> {
        /// At a time.
        const MOST: usize = 4096;
        let mut room = Results::new();
        let first = places.start;
        for (i, samples) in self.replay.samples[places].chunks(MOST).enumerate() {
            let lessons: Vec<_> = samples.iter().map(|sample| lesson(sample, &mut room)).collect();
            coach.keep(first + i * MOST, &lessons)?;
        }
        Ok(())
    }

    /// One slice while work is lent: whether the round has been played, or why there is nothing more to do.
    pub(super) fn play_lent(&mut self) -> Result<bool, Slice> {
        let Some(mut lent) = self.lent.take() else { return Ok(false) };
        if let Some(since_s) = lent.waits_since_s.take() {
            lent.waited_s += (self.clock)() - since_s;
        }
        match self.advance_lent(&mut lent, self.config.round_batches) {
            Ok(LentSlice::Worked) => {
                self.lent = Some(lent);
                Ok(false)
            }
            Ok(LentSlice::Waiting) => {
                lent.waits_since_s = Some((self.clock)());
                self.lent = Some(lent);
                Err(Slice::Waiting)
            }
            Ok(LentSlice::Played) => {
                if lent.work.learning {
                    self.take_in(&lent.learned);
                }
                self.lent = Some(lent);
                Ok(true)
            }
            Err(fault) => {
                self.go_on_at_home(&lent);
                Err(Slice::Stopped(fault))
            }
        }
    }

    /// One slice of a round that is so many batches long.
    fn advance_lent(&mut self, lent: &mut Lent, all: usize) -> Result<LentSlice, Fault> {
        let Phase::Play { batches, updates } = self.phase else { return Ok(LentSlice::Played) };
        let work = lent.work;
        // What this slice plays; where leaves are lent, that depends on what has been answered.
        let steps = if work.leaves { 0 } else { super::SLICE.min(all - batches) };
        let until = self.updates_until(batches + steps, updates);
        if work.learning {
            self.step_lent(lent, updates..until)?;
            self.phase = Phase::Play { batches, updates: until };
        }
        let mut tables = if work.leaves { 0..0 } else { 0..self.tables.len() };
        if work.leaves {
            (0..LANES).try_for_each(|lane| self.ask(lent, lane, all))?;
            // The one that was asked first.
            let asked = (0..LANES).filter(|&lane| lent.lanes[lane].asked);
            if let Some(lane) = asked.min_by_key(|&lane| lent.lanes[lane].batches) {
                if !self.timed(&mut lent.waited_s, || lent.coach.answer(lane, &mut lent.answer))? {
                    return Ok(LentSlice::Waiting);
                }
                tables = self.lane(lane);
                let mut row = 0;
                for table in &mut self.tables[tables.clone()] {
                    row = table.take(&lent.answer, row);
                }
                lent.lanes[lane] = Lane { batches: lent.lanes[lane].batches + 1, asked: false };
            }
        }
        let at_home = if work.learning { 0..0 } else { updates..until };
        self.beside(tables, at_home, |table, playing| {
            if work.leaves {
                table.answer(playing);
            }
            (0..steps).for_each(|_| table.step(playing));
        });
        let batches = match work.leaves {
            true => lent.lanes.iter().map(|lane| lane.batches).min().unwrap_or(all),
            false => batches + steps,
        };
        self.phase = Phase::Play { batches, updates: until };
        if batches < all || until < self.updates_due() * all / self.config.round_batches {
            return Ok(LentSlice::Worked);
        }
        if work.learning {
            if !lent.learned_asked {
                lent.coach.ask_learned()?;
                lent.learned_asked = true;
            }
            if !self.timed(&mut lent.waited_s, || lent.coach.learned(&mut lent.learned))? {
                return Ok(LentSlice::Waiting);
            }
        }
        lent.lanes = [Lane::default(); LANES];
        lent.learned_asked = false;
        Ok(LentSlice::Played)
    }

    /// A word with the machine, which may wait for a moment.
    fn timed<T>(&self, waited_s: &mut f64, talk: impl FnOnce() -> T) -> T {
        let since_s = (self.clock)();
        let said = talk();
        *waited_s += (self.clock)() - since_s;
        said
    }

    /// Sends a lane's next batch, unless one is away or all have been.
    fn ask(&mut self, lent: &mut Lent, lane: usize, all: usize) -> Result<(), Fault> {
        let tables = self.lane(lane);
        while !lent.lanes[lane].asked && lent.lanes[lane].batches < all {
            self.beside(tables.clone(), 0..0, |table, playing| table.ask(playing));
            lent.words.clear();
            for table in &self.tables[tables.clone()] {
                lent.words.extend(table.asked().map(decision_words));
            }
            if lent.words.is_empty() {
                // Every way ended by the rules.
                self.beside(tables.clone(), 0..0, |table, playing| table.answer(playing));
                lent.lanes[lane].batches += 1;
            } else {
                // Also where that fails: then they are looked at here.
                lent.lanes[lane].asked = true;
                self.timed(&mut lent.waited_s, || lent.coach.ask(lane, &lent.words))?;
            }
        }
        Ok(())
    }

    fn step_lent(&mut self, lent: &mut Lent, updates: Range<usize>) -> Result<(), Fault> {
        let count = updates.len() as u64;
        for n in self.progress.updates..self.progress.updates + count {
            draw(&self.config, self.seed, n, self.replay.samples.len(), &mut self.drawn);
            let (adam, value_coef) = (self.config.adam(), self.config.value_coef);
            self.timed(&mut lent.waited_s, || lent.coach.step(&adam, value_coef, &self.drawn))?;
        }
        self.progress.updates += count;
        Ok(())
    }

    /// What was learned elsewhere in this round.
    fn take_in(&mut self, learned: &Learned) {
        let Standing { params, optimizer } = &mut self.student.standing;
        params.values_mut().copy_from_slice(&learned.weights);
        optimizer.m.copy_from_slice(&learned.m);
        optimizer.v.copy_from_slice(&learned.v);
        optimizer.steps = learned.steps;
        self.student.sums = learned.sums;
        self.student.pack();
    }

    /// In the middle of a round: what the machine did not answer is looked at here, both lanes come to stand alike, and its steps
    /// are done anew.
    fn go_on_at_home(&mut self, lent: &Lent) {
        let Phase::Play { mut batches, updates } = self.phase else { return };
        if lent.work.leaves {
            let mut lanes = lent.lanes;
            for (lane, Lane { batches, asked }) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.asked)
            {
                self.beside(self.lane(lane), 0..0, |table, playing| {
                    table.look(playing);
                    table.answer(playing);
                });
                (*batches, *asked) = (*batches + 1, false);
            }
            batches = lanes.iter().map(|lane| lane.batches).max().unwrap_or(0);
            for (lane, Lane { batches: behind, .. }) in lanes.into_iter().enumerate() {
                self.beside(self.lane(lane), 0..0, |table, playing| {
                    (behind..batches).for_each(|_| table.step(playing));
                });
            }
        }
        let kept = if lent.work.learning { 0 } else { updates };
        self.progress.updates -= (updates - kept) as u64;
        self.phase = Phase::Play { batches, updates: kept };
    }

    /// A new round begins: whoever plays elsewhere needs its weights, and whoever learns there the samples of the last one, which
    /// begin at this place.
    pub(super) fn tell_round(&mut self, first: usize, fresh: usize) {
        let Some(mut lent) = self.lent.take() else { return };
        let since_s = (self.clock)();
        let mut tell = || {
            if lent.work.leaves {
                lent.coach.play_with(self.student.standing.params.values())?;
            }
            if lent.work.learning {
                let all = self.replay.samples.len();
                let last = first + fresh.min(self.config.replay);
                self.keep(&mut lent.coach, first..last.min(all))?;
                self.keep(&mut lent.coach, 0..last.saturating_sub(self.config.replay))?;
            }
            Ok(())
        };
        let told = tell();
        lent.waited_s = (self.clock)() - since_s;
        match told {
            Ok(()) => self.lent = Some(lent),
            // The round has ended and is told first.
            Err(fault) => self.failed = Some(fault),
        }
    }

    /// In this round, summed as tables' times are: over threads.
    pub(super) fn waited_s(&self) -> f64 {
        self.lent.as_ref().map_or(0.0, |lent| lent.waited_s * par::threads() as f64)
    }
}

enum LentSlice {
    Worked,
    Waiting,
    /// Everything is back.
    Played,
}

impl Published {
    fn trial_batches(&self) -> usize {
        self.config.round_batches.div_ceil(TRIAL_SHARE)
    }

    fn evaluated(&self) -> u64 {
        self.tables.iter().map(Table::evaluated).sum()
    }
}

impl Lendable for Published {
    fn lend(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault> {
        self.lent = Some(self.take_on(machine, work)?);
        Ok(())
    }

    fn come_home(&mut self) {
        if let Some(lent) = self.lent.take() {
            self.go_on_at_home(&lent);
        }
    }

    fn is_steady(&self) -> bool {
        self.progress.games >= (self.config.tables * self.config.games) as u64
    }

    fn begin_trial(&mut self, machine: &dyn Machine, work: Work) -> Result<(), Fault> {
        let lent = self.take_on(machine, work)?;
        self.trial = Some(Box::new(Trial {
            progress: self.progress,
            games: self.games(),
            standing: self.student.standing.clone(),
            lent: self.lent.replace(lent),
            before: 0,
        }));
        Ok(())
    }

    fn advance_trial(&mut self) -> TrialSlice {
        let Some(mut lent) = self.lent.take() else { return TrialSlice::Worked };
        let slice = self.advance_lent(&mut lent, self.trial_batches());
        self.lent = Some(lent);
        match slice {
            Ok(LentSlice::Worked) => TrialSlice::Worked,
            Ok(LentSlice::Waiting) => TrialSlice::Waiting,
            Ok(LentSlice::Played) => {
                self.phase = ROUND_BEGINS;
                let now = self.evaluated();
                let before = self.trial.as_mut().map_or(0, |trial| std::mem::replace(&mut trial.before, now));
                TrialSlice::Passed { evaluations: now - before }
            }
            Err(fault) => {
                self.end_trial();
                TrialSlice::Stopped(fault)
            }
        }
    }

    fn trial_evaluations(&self) -> u64 {
        (self.trial_batches() * self.config.tables * self.config.batch) as u64
    }

    fn end_trial(&mut self) {
        let Some(trial) = self.trial.take() else { return };
        let Trial { progress, games, standing, lent, .. } = *trial;
        (self.progress, self.lent, self.phase) = (progress, lent, ROUND_BEGINS);
        (self.student.standing, self.student.sums, self.learning_s) = (standing, [0.0; 3], 0.0);
        self.student.pack();
        self.seat(&games.games, &games.traces).expect("they were saved from these tables");
    }
}
