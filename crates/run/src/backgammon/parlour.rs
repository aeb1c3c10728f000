//! The room as a whole: a learner that teaches itself in slices, judged now and then against yardsticks; the agent as it was,
//! kept to play against; and beside the training an analysis and a table, which leave no trace in what is learned.
//!
//! It refuses to know the time, the platform, files or threads, as [`crate::Experiment`] does: the same config gives the same
//! weights, whoever watches, asks or plays. What is asked is answered by the weights of the last round that has ended.

use super::checkpoint::{self, Header};
use super::opinion::{self, Minds, check_evals};
use super::protocol::{
    Act, Analysis, Branch, Command, Engine, Event, FREEZE_MINUTES, Frozen, Inquiry, Judged, Mark, Metrics,
    PARTS, Progress, Review, Score, Setup, Table, Unfold, Who,
};
use super::school::{Pupil, school};
use super::table::Sitting;
use super::validate;
use crate::course::{Arithmetic, Clock, Counted, GPU, History, MIXED, arithmetic};
use crate::device::{Devices, Lender, Settled, fault_parts};
use crate::digest::Expected;
use crate::error::RunError;
use crate::protocol::{Backend, Config, Device, DeviceWish, Digest, Knob, Level};
use crate::{CONFIG_VERSION, DIGEST_EVERY, digest};
use learn::backgammon::arena::{Duel, Tally};
use learn::backgammon::published::away::Work;
use learn::backgammon::yardstick::{Linear, Random};
use learn::backgammon::{Player, Slice, Stats};
use learn::{Data, Fault, Machine};
use math::Isa;

/// Pairs of games against each yardstick.
const JUDGE_PAIRS: u64 = 100;
/// About what judging costs, in boards valued: two yardsticks, each pair two games of some thirty decisions.
const JUDGE_EVALUATIONS: u64 = 2 * JUDGE_PAIRS * 2 * 30 * 20;
/// Training goes on for so many times that between two judgements; and early on for so many times what it has come to.
const JUDGE_SHARE: u64 = 20;
const JUDGE_GROWTH: u64 = 3;
const MAX_JUDGED: usize = 2048;
/// Players that are kept ready.
const MINDS_KEPT: usize = 6;
/// Looks at another machine that does not answer after which a save waits no longer: a native one takes milliseconds each.
const MOST_LOOKS: u32 = 4096;

/// An agent that is kept as it was.
#[derive(Clone)]
pub(crate) struct Kept {
    pub frozen: Frozen,
    pub weights: Vec<f32>,
}

pub struct Parlour {
    config: Config,
    isa: Isa,
    pupil: Box<dyn Pupil>,
    running: bool,
    /// Work on until the next boundary, also while paused.
    finish_round: bool,
    save_wanted: bool,
    pending: Vec<(String, f64)>,
    events: Vec<Event>,
    history: History<Metrics>,
    marks: Vec<Mark>,
    judged: Vec<Judged>,
    judging: Option<Judging>,
    kept: Vec<Kept>,
    expected: Expected,
    /// What the rounds so far were computed with; see [`Digest`].
    arithmetic: Arithmetic,
    clock: Clock,
    devices: Devices<dyn Pupil>,
    /// The other machine valued some boards of this round, and then it was lost.
    half_away: bool,
    /// Nothing to do until the other machine answers.
    waiting: bool,
    /// At the end of the round before.
    before: Progress,
    table: Option<Sitting>,
    minds: Vec<Mind>,
}

/// A player at hand; of the agent as it is, as it was after so many rounds.
struct Mind {
    engine: Engine,
    rounds: u64,
    player: Box<dyn Player>,
}

/// Whom one can ask and play.
struct Company<'a> {
    pupil: &'a dyn Pupil,
    kept: &'a [Kept],
    minds: &'a mut Vec<Mind>,
}

impl Minds for Company<'_> {
    fn mind(&mut self, engine: Engine) -> Result<&mut dyn Player, RunError> {
        check_evals(engine.evals)?;
        let learner = self.pupil.learner();
        let rounds = if engine.who == Who::Now { learner.progress().rounds } else { 0 };
        let at = self.minds.iter().position(|mind| (mind.engine, mind.rounds) == (engine, rounds));
        let mind = match at {
            Some(at) => self.minds.remove(at),
            None => {
                let evals = engine.evals.max(1);
                let player: Box<dyn Player> = match engine.who {
                    Who::Now => learner.player(evals),
                    Who::Frozen { minutes } => {
                        let kept = self.kept.iter().find(|kept| kept.frozen.minutes == minutes);
                        let kept = kept.ok_or_else(|| self.not_frozen(minutes))?;
                        learner.player_with(&kept.weights, evals)
                    }
                    Who::Random => Box::new(Random::new(engine.evals)),
                    Who::Linear => Box::new(Linear::new()),
                };
                self.minds.retain(|mind| mind.engine != engine);
                Mind { engine, rounds, player }
            }
        };
        // The one asked last comes last.
        if self.minds.len() >= MINDS_KEPT {
            self.minds.remove(0);
        }
        self.minds.push(mind);
        let last = self.minds.last_mut().expect("it was just put there");
        Ok(&mut *last.player)
    }

    fn name(&mut self, engine: Engine) -> Result<String, RunError> {
        let name = match engine.who {
            Who::Now => "agent".into(),
            Who::Frozen { minutes } => format!("agent at {minutes} min"),
            Who::Random | Who::Linear => return Ok(self.mind(engine)?.name()),
        };
        self.mind(engine)?;
        Ok(name)
    }
}

impl Company<'_> {
    fn not_frozen(&self, minutes: u32) -> RunError {
        let have: Vec<String> = self.kept.iter().map(|kept| kept.frozen.minutes.to_string()).collect();
        let next = match have.is_empty() {
            true => "Train for longer, or choose the agent as it is now".into(),
            false => format!("Choose from {}, or the agent as it is now", have.join(", ")),
        };
        RunError::NotFrozen { minutes, next }
    }
}

/// Games against the yardsticks under way.
struct Judging {
    progress: Progress,
    player: Box<dyn Player>,
    /// Those still to be played, the first of them last; and the scores of the others.
    left: Vec<(Box<dyn Player>, Duel)>,
    scores: Vec<Score>,
}

impl Judging {
    fn new(player: Box<dyn Player>, progress: Progress) -> Judging {
        let duel = || Duel::new(progress.rounds, JUDGE_PAIRS, 2 * JUDGE_PAIRS as usize);
        let random: Box<dyn Player> = Box::new(Random::new(progress.rounds));
        let linear: Box<dyn Player> = Box::new(Linear::new());
        Judging { progress, player, left: vec![(linear, duel()), (random, duel())], scores: Vec::new() }
    }

    /// One turn in each game; what came of them once all have ended.
    fn advance(&mut self) -> Result<Option<Judged>, RunError> {
        let Some((yardstick, duel)) = self.left.last_mut() else { return Ok(None) };
        duel.advance(&mut *self.player, &mut **yardstick)?;
        if !duel.is_over() {
            return Ok(None);
        }
        self.scores.push(score(duel.tally()));
        self.left.pop();
        match self.scores[..] {
            [random, linear] => Ok(Some(Judged { progress: self.progress, random, linear })),
            _ => Ok(None),
        }
    }
}

impl Counted for Metrics {
    fn count(&self) -> u32 {
        self.progress.rounds
    }
}

fn score(tally: &Tally) -> Score {
    let share = |counts: &[u64]| counts.iter().sum::<u64>() as f64 / tally.games().max(1) as f64;
    Score {
        games: tally.games() as u32,
        points: tally.mean(),
        error: tally.standard_error().unwrap_or(0.0),
        wins: tally.win_share(),
        gammons_won: share(&tally.won[1..]),
        gammons_lost: share(&tally.lost[1..]),
    }
}

impl Parlour {
    pub fn new(config: Config, isa: Isa) -> Result<Self, RunError> {
        validate(&config)?;
        let pupil = (school(&config)?.begin)(&config.knobs, config.seed, isa)?;
        let mut parlour = Self::around(config, isa, pupil);
        parlour.announce();
        Ok(parlour)
    }

    fn around(config: Config, isa: Isa, pupil: Box<dyn Pupil>) -> Self {
        let mut parlour = Self {
            config,
            isa,
            pupil,
            running: false,
            finish_round: false,
            save_wanted: false,
            pending: Vec::new(),
            events: Vec::new(),
            history: History::new(),
            marks: Vec::new(),
            judged: Vec::new(),
            judging: None,
            kept: Vec::new(),
            expected: Expected::default(),
            arithmetic: Arithmetic::of(isa),
            clock: Clock::new(),
            devices: Devices::default(),
            half_away: false,
            waiting: false,
            before: Progress::default(),
            table: None,
            minds: Vec::new(),
        };
        parlour.before = parlour.progress();
        parlour
    }

    fn announce(&mut self) {
        self.events.push(Event::Began {
            config: self.config.clone(),
            knobs: self.pupil.values(),
            history: self.history.rows().to_vec(),
            marks: self.marks.clone(),
            judged: self.judged.clone(),
            frozen: self.kept.iter().map(|kept| kept.frozen).collect(),
            progress: self.progress(),
        });
        self.events.push(Event::Running { running: self.running });
    }

    /// Does what it is told, or says why not and leaves everything as it was.
    pub fn command(&mut self, command: Command) -> Result<(), RunError> {
        match command {
            Command::Start => self.set_running(true),
            Command::Pause => self.set_running(false),
            Command::Step => {
                self.set_running(false);
                // Mid-round, a step is what is left of it.
                self.finish_round = true;
            }
            Command::Reset { config } => {
                let fresh = Self::new(config.unwrap_or_else(|| self.config.clone()), self.isa)?;
                let table = self.table.take();
                self.become_another(fresh);
                self.table = table;
            }
            Command::SetKnob { name, value } => {
                // Checked now, so that a refusal reaches whoever asked; in force from the boundary.
                self.pupil.check(&name, value)?;
                self.pending.push((name, value));
                if self.at_boundary() {
                    self.apply_pending();
                }
            }
            Command::Device { wish } => self.devices.wish(&mut *self.pupil, wish),
            Command::Save => {
                self.save_wanted = true;
                if self.at_boundary() {
                    self.give_save();
                } else {
                    self.finish_round = true;
                }
            }
            Command::Restore { bytes } => {
                let restored = Self::restore(&bytes, self.isa)?;
                self.become_another(restored);
            }
        }
        Ok(())
    }

    /// A reset or a restore keeps undelivered events, the clock, the device and whether it runs.
    fn become_another(&mut self, mut other: Self) {
        let mut events = std::mem::take(&mut self.events);
        events.append(&mut other.events);
        other.events = events;
        other.lend_clock(self.clock.lent);
        other.devices = self.devices.for_another_run();
        other.set_running(self.running);
        *self = other;
    }

    fn set_running(&mut self, running: bool) {
        if self.running != running {
            self.running = running;
            self.clock.rest();
            self.events.push(Event::Running { running });
        }
    }

    /// One slice of work; false when there is nothing to do. `now_s` is the shell's clock, in seconds from anywhere.
    pub fn advance(&mut self, now_s: f64) -> bool {
        self.waiting = false;
        if !self.running && !self.finish_round {
            self.clock.rest();
            self.devices.pause();
            return false;
        }
        // Judging is no part of a round, and waits where somebody waits for the round's end.
        if self.judging.is_some() && !self.finish_round {
            self.clock.trained(now_s);
            self.devices.pause();
            self.judge();
            return true;
        }
        // Where a link's digest is still to be reached, the run stays on what can reach it until somebody decides.
        let bound = self.expected.is_ahead() && self.devices.wished() == DeviceWish::Auto;
        if self.at_boundary() && !bound {
            match self.devices.settle(&mut *self.pupil, now_s) {
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
        self.clock.round_s += self.clock.trained(now_s);
        self.work();
        true
    }

    /// One slice of the learner's.
    fn work(&mut self) {
        let lent = self.pupil.learner().lent();
        match self.pupil.learner_mut().advance() {
            Slice::Worked => {}
            Slice::Waiting => self.waiting = true,
            Slice::Round(stats) => self.end_round(&stats, lent),
            Slice::Stopped(fault) => self.fall_back(lent, &fault),
        }
    }

    /// Whether the last slice found nothing to do but to wait for the other machine.
    pub fn waiting(&self) -> bool {
        self.waiting
    }

    /// Whether a shell should open a GPU, and [`Parlour::offer`] it.
    pub fn wants_machine(&self) -> bool {
        self.devices.wanted(&*self.pupil)
    }

    pub fn device_wish(&self) -> DeviceWish {
        self.devices.wished()
    }

    /// A GPU to train on, or why there is none.
    pub fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>) {
        self.devices.offer(&mut *self.pupil, machine);
    }

    fn told_device(&mut self, device: Device, fault: Option<&Fault>) {
        self.events.push(Event::Device(device));
        if let Some(fault) = fault {
            let (text, next_step) = fault_parts(fault);
            self.notice(Level::Warning, &text, &next_step);
        }
    }

    /// The learner is at home again, and goes on where it was.
    fn fall_back(&mut self, lent: Option<Work>, fault: &Fault) {
        self.half_away |= lent.is_some_and(|work| work.leaves);
        let device = self.devices.lose(fault);
        self.told_device(device, Some(fault));
    }

    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in the training.
    pub fn lend_clock(&mut self, clock: fn() -> f64) {
        self.clock.lent = clock;
        self.pupil.learner_mut().lend_clock(clock);
    }

    /// What was lent when it ended, if the machine was not lost on the way.
    fn end_round(&mut self, stats: &Stats, lent: Option<Work>) {
        let metrics = self.metrics_from(stats);
        self.before = metrics.progress;
        self.events.push(Event::Metrics(metrics));
        let now = match (std::mem::take(&mut self.half_away), lent) {
            (false, None) => arithmetic(self.isa),
            (false, Some(Work::ALL)) => GPU,
            _ => MIXED,
        };
        self.arithmetic.note(metrics.progress.rounds, now);
        if lent.is_none() && self.pupil.learner_mut().lendable().is_some_and(|learner| learner.is_steady()) {
            self.devices.note_rate(metrics.evals_per_s);
        }
        self.history.add(metrics);
        if !(stats.loss.is_finite() && stats.grad_norm.is_finite()) {
            self.set_running(false);
            self.notice(
                Level::Error,
                "Training diverged: the weights are no longer numbers.",
                "Reset, or load an earlier save, and choose a lower learning rate.",
            );
        }
        self.freeze();
        if metrics.progress.rounds.is_multiple_of(DIGEST_EVERY) {
            let digest = self.digest();
            self.compare(&digest);
            self.events.push(Event::Digest(digest));
        }
        if self.judging.is_none() && self.judging_is_due() {
            self.judging = Some(Judging::new(self.pupil.learner().player(1), metrics.progress));
        }
        self.apply_pending();
        self.finish_round = false;
        self.give_save();
    }

    fn metrics_from(&mut self, stats: &Stats) -> Metrics {
        let round_s = std::mem::take(&mut self.clock.round_s);
        let progress = self.progress();
        let rate = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let known: f64 = stats.parts_s.iter().sum();
        let rest = (round_s - known).max(0.0);
        let mut shares = [0.0; PARTS.len()];
        for (share, part_s) in shares.iter_mut().zip(stats.parts_s.into_iter().chain([rest])) {
            *share = rate(part_s, known + rest);
        }
        Metrics {
            progress,
            loss: stats.loss.into(),
            grad_norm: stats.grad_norm.into(),
            lr: stats.lr.into(),
            games_per_min: 60.0 * rate((progress.games - self.before.games) as f64, round_s),
            evals_per_s: rate((progress.evaluations - self.before.evaluations) as f64, round_s),
            mean_length: stats.mean_length.into(),
            gammons: stats.gammons.into(),
            backgammons: stats.backgammons.into(),
            shares,
        }
    }

    /// Keeps the agent as it is when its minute has come.
    fn freeze(&mut self) {
        for minutes in FREEZE_MINUTES {
            let here = self.kept.iter().any(|kept| kept.frozen.minutes == minutes);
            if !here && self.clock.train_s >= 60.0 * f64::from(minutes) {
                let frozen = Frozen { minutes, progress: self.progress() };
                self.kept.push(Kept { frozen, weights: self.pupil.learner().weights().to_vec() });
                self.events.push(Event::Frozen(frozen));
            }
        }
    }

    /// By what was done and not by the clock, so that it is the same for the same run.
    fn judging_is_due(&self) -> bool {
        let done = self.progress().evaluations;
        let last = self.judged.last().map_or(0, |judged| judged.progress.evaluations);
        let wait = (JUDGE_GROWTH * last).clamp(2 * JUDGE_EVALUATIONS, JUDGE_SHARE * JUDGE_EVALUATIONS);
        done >= last + wait
    }

    fn judge(&mut self) {
        let Some(judging) = &mut self.judging else { return };
        match judging.advance() {
            Ok(None) => {}
            Ok(Some(judged)) => {
                self.judging = None;
                self.take_judged(judged);
            }
            Err(error) => {
                self.judging = None;
                self.notice(
                    Level::Error,
                    &format!("Judging broke off: {error}."),
                    "Training goes on; please report it.",
                );
            }
        }
    }

    fn take_judged(&mut self, judged: Judged) {
        self.judged.push(judged);
        if self.judged.len() > MAX_JUDGED {
            let last = self.judged.len() - 1;
            let mut place = 0..;
            self.judged.retain(|_| place.next().is_some_and(|i: usize| i % 2 == last % 2));
        }
        self.events.push(Event::Judged(judged));
    }

    /// Judges the agent as it is now, whatever the pace.
    pub fn judge_now(&mut self) -> Result<Judged, RunError> {
        let mut judging = Judging::new(self.pupil.learner().player(1), self.progress());
        loop {
            if let Some(judged) = judging.advance()? {
                return Ok(judged);
            }
        }
    }

    fn apply_pending(&mut self) {
        let progress = self.progress();
        for (name, value) in std::mem::take(&mut self.pending) {
            match self.pupil.set(&name, value) {
                Ok((from, to)) if from != to => {
                    let mark = Mark { progress, knob: name, from, to };
                    self.marks.push(mark.clone());
                    self.events.push(Event::Mark(mark));
                }
                Ok(_) => {}
                // Checked when it was asked for, but beside another change it may not be possible.
                Err(error) => self.notice(Level::Warning, &error.to_string(), ""),
            }
        }
    }

    fn give_save(&mut self) {
        if std::mem::take(&mut self.save_wanted) {
            let bytes = self.encode();
            self.events.push(Event::Saved { bytes });
        }
    }

    /// The whole run and the table as one file, once the round in progress is done: at home, where the other machine does not
    /// answer.
    pub fn save(&mut self) -> Vec<u8> {
        let mut looks = 0;
        while !self.at_boundary() {
            self.waiting = false;
            self.work();
            looks = if self.waiting { looks + 1 } else { 0 };
            if looks > MOST_LOOKS {
                let lent = self.pupil.learner().lent();
                self.pupil.come_home();
                self.fall_back(lent, &Fault::Lost { why: "it did not answer".into() });
            }
        }
        self.encode()
    }

    fn encode(&self) -> Vec<u8> {
        let header = Header {
            version: CONFIG_VERSION,
            config: self.config.clone(),
            knobs: self.pupil.values(),
            progress: self.progress(),
            marks: self.marks.clone(),
            judged: self.judged.clone(),
            frozen: self.kept.iter().map(|kept| kept.frozen).collect(),
            arithmetic: self.arithmetic.name().into(),
            table: self.table.as_ref().map(Sitting::kept),
        };
        let mut parts = self.pupil.learner().parts();
        parts.extend(self.kept.iter().map(|kept| {
            let name = checkpoint::frozen_name(kept.frozen.minutes);
            (name, vec![kept.weights.len()], Data::F32(kept.weights.clone()))
        }));
        checkpoint::encode(&header, parts, self.history.rows())
    }

    /// Goes on exactly where [`Parlour::save`] left off.
    pub fn restore(bytes: &[u8], isa: Isa) -> Result<Self, RunError> {
        let (header, mut tensors, history) = checkpoint::decode(bytes)?;
        validate(&header.config)?;
        let pupil = pupil_from(&header, &tensors, isa)?;
        let len = pupil.learner().weights().len();
        let mut kept = Vec::new();
        for frozen in &header.frozen {
            let name = checkpoint::frozen_name(frozen.minutes);
            let place = tensors.iter().position(|(found, ..)| *found == name);
            match place.map(|place| tensors.swap_remove(place).2) {
                Some(Data::F32(weights)) if weights.len() == len && weights.iter().all(|w| w.is_finite()) => {
                    kept.push(Kept { frozen: *frozen, weights });
                }
                _ => return Err(RunError::Damaged { why: format!("{name} is missing or no agent") }),
            }
        }
        let mut parlour = Self::around(header.config, isa, pupil);
        parlour.clock.train_s = header.progress.train_s;
        parlour.before = parlour.progress();
        parlour.history = History::restored(history);
        parlour.marks = header.marks;
        parlour.judged = header.judged;
        parlour.kept = kept;
        parlour.table = header.table.as_ref().map(Sitting::from_kept).transpose()?;
        parlour.announce();
        parlour.arithmetic = Arithmetic::restored(&header.arithmetic);
        if parlour.arithmetic.name() != arithmetic(isa) {
            let (text, next_step) = digest::OTHER_ROUNDING;
            parlour.notice(Level::Info, text, next_step);
        }
        Ok(parlour)
    }

    /// Compare the run with what whoever shared it got.
    pub fn expect(&mut self, digest: Digest) {
        self.expected.set(digest);
    }

    fn compare(&mut self, reached: &Digest) {
        let turned = !self.marks.is_empty();
        if let Some((level, text, next_step)) = self.expected.compare(reached, turned, "rounds") {
            self.notice(level, &text, next_step);
        }
    }

    fn notice(&mut self, level: Level, text: &str, next_step: &str) {
        self.events.push(Event::Notice { level, text: text.into(), next_step: next_step.into() });
    }

    /// What happened since the last call.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn company(&mut self) -> (Company<'_>, Option<&mut Sitting>) {
        let company = Company { pupil: &*self.pupil, kept: &self.kept, minds: &mut self.minds };
        (company, self.table.as_mut())
    }

    pub fn analyse(&mut self, asked: &Inquiry) -> Result<Analysis, RunError> {
        opinion::analyse(&mut self.company().0, asked)
    }

    /// The tree one level on from a move.
    pub fn unfold(&mut self, asked: &Unfold) -> Result<Vec<Branch>, RunError> {
        opinion::unfold(&mut self.company().0, asked)
    }

    /// Begins a game at the table, in place of the one that was there.
    pub fn sit(&mut self, setup: Setup) -> Result<Table, RunError> {
        let sitting = Sitting::new(setup, &mut self.company().0)?;
        Ok(self.table.insert(sitting).view())
    }

    pub fn act(&mut self, act: &Act) -> Result<Table, RunError> {
        let (mut company, table) = self.company();
        let table = table.ok_or(RunError::NoTable)?;
        table.act(act, &mut company)?;
        Ok(table.view())
    }

    pub fn table(&self) -> Option<Table> {
        self.table.as_ref().map(Sitting::view)
    }

    /// What somebody would do now at the table.
    pub fn hint(&mut self, engine: Engine) -> Result<Analysis, RunError> {
        let (mut company, table) = self.company();
        table.ok_or(RunError::NoTable)?.hint(engine, &mut company)
    }

    /// How bad was a person's last turn at the table.
    pub fn review(&mut self, engine: Engine) -> Result<Review, RunError> {
        let (mut company, table) = self.company();
        table.ok_or(RunError::NoTable)?.review(engine, &mut company)
    }

    /// The games at the table as text that other programs import.
    pub fn transcript(&self) -> Result<String, RunError> {
        Ok(self.table.as_ref().ok_or(RunError::NoTable)?.transcript())
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The config with the knobs as they are now: what a link to this run and a command for it start.
    pub fn config_now(&self) -> Config {
        let mut config = self.config.clone();
        config.knobs.extend(self.marks.iter().map(|mark| (mark.knob.clone(), mark.to)));
        config
    }

    pub fn running(&self) -> bool {
        self.running
    }

    pub fn at_boundary(&self) -> bool {
        self.pupil.learner().at_boundary()
    }

    pub fn progress(&self) -> Progress {
        let p = self.pupil.learner().progress();
        Progress {
            rounds: p.rounds as u32,
            games: p.games,
            moves: p.moves,
            evaluations: p.evaluations,
            updates: p.updates,
            train_s: self.clock.train_s,
        }
    }

    /// The agents that are kept as they were.
    pub fn frozen(&self) -> Vec<Frozen> {
        self.kept.iter().map(|kept| kept.frozen).collect()
    }

    pub fn knobs(&self) -> Vec<Knob> {
        super::knob_list(&self.config.env)
    }

    pub fn digest(&self) -> Digest {
        Digest {
            iteration: self.progress().rounds,
            weights: digest::of_weights(self.pupil.learner().weights()),
            arithmetic: self.arithmetic.name().into(),
        }
    }

    pub fn backend(&self) -> Backend {
        crate::experiment::backend(self.isa)
    }
}

fn pupil_from(
    header: &Header,
    tensors: &[(String, Vec<usize>, Data)],
    isa: Isa,
) -> Result<Box<dyn Pupil>, RunError> {
    let find =
        |name: &str| tensors.iter().find(|t| t.0 == name).map(|(_, shape, data)| (shape.as_slice(), data));
    (school(&header.config)?.restore)(&header.knobs, header.config.seed, isa, &find)
}

/// The agent of a checkpoint, which with more than one evaluation a decision searches.
pub fn player_from_checkpoint(bytes: &[u8], evals: u32, isa: Isa) -> Result<Box<dyn Player>, RunError> {
    let (header, tensors, _) = checkpoint::decode(bytes)?;
    validate(&header.config)?;
    Ok(pupil_from(&header, &tensors, isa)?.learner().player(evals.max(1)))
}
