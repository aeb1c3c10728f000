//! The published learner: the configuration of AlphaZero.jl for backgammon by sile16 (github.com/sile16/AlphaZero.jl). The file
//! `notes/perf_progress.md` of that repository has results of the original, whose network has 283 thousand parameters. The network has 344
//! inputs and three residual blocks of width 128; width and number of blocks are settings. Its outputs are the policy, with 676 actions,
//! and the value, with five probabilities. Self-play uses PUCT with the dice as chance nodes (Silver et al. 2017).
//!
//! L = E[-Σ π·ln p] + c·E[Σ BCE(probability, outcome)], π: visit shares of a search, p: policy, c: value coefficient, BCE: binary
//! cross-entropy
//!
//! An **actor** plays several games concurrently and evaluates their leaves in batches. A **round** is a fixed number of batches of each
//! actor. A **stretch** is the part of a round that is played in one slice (one call of [`Learner::advance`]): some batches of some actors.
//! A **generation** consists of the weights after a fixed number of rounds.
//!
//! Actors play with the weights from the start of the round, while the learner trains on samples of earlier rounds. At the end of the
//! round, the new weights replace the actors' weights. Playing and training therefore share all cores without waiting for each other. The
//! result of a round depends on neither the clock nor the number of threads.
//!
//! Searches that are short compared with a round restart with each round, so that they use the new weights. Longer searches continue, and
//! only these are part of a save. The positions, these searches and the weights determine an actor's round, so any machine can play it
//! (`shared.rs`).
//!
//! This learner stays close to the original. It has no bear-off table. Unlike the strong learner (`td.rs`), its training targets do not
//! average over all next rolls. A new generation always replaces the previous one; the result of their match is reported.

pub mod accelerator;
mod config;
#[cfg(feature = "export")]
mod export;
pub(crate) mod inputs;
mod local;
mod memory;
pub(crate) mod net;
mod offload;
mod offloaded;
mod player;
pub(crate) mod replay;
mod saved_games;
mod search;
pub(crate) mod selfplay;
pub(super) mod shared;
pub(crate) mod slices;
pub(crate) mod trainer;
pub(crate) mod tree;
mod values;

use super::arena::{Duel, Tally};
use super::{PARTS, Player, Progress, SelfTaught, Stats};
use crate::settings::Settings;
use crate::state::{bad, floats_of, missing, words};
use crate::{Data, Find, Learner, NetworkValues, Offload, Parts, Sharing, Slice, Tensor, WorkedOn, state};
use accelerator::Work;
use graph::{Executor, Params, Plan, PlanError};
use math::{Isa, Rng, par};
use offloaded::{OffloadSlots, Offloaded};
use player::PublishedPlayer;
use replay::{Replay, WORDS};
use search::Seconds;
use selfplay::{Actor, Endings, Games, Playing, SAVED, Unread};
use slices::{Limits, Stretch};
use std::ops::Range;
use std::sync::Arc;
use trainer::{SHARDS, TrainState, Trainer};
use worlds::backgammon::{Board, Roll};

pub use config::{PublishedConfig, PublishedError};
pub use inputs::{Decision, INPUTS, each as each_input};
pub use local::LocalAccelerator;
pub use net::{ACTIONS, Evaluator, HEADS, Shape, Weights, plan_learning, plan_leaves, plan_search, plan_whole};

/// Result of a match between a generation and the previous generation, both without search. `points` are the mean points per game of the
/// newer generation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generation {
    pub number: u64,
    pub points: f64,
    pub standard_error: f64,
}

/// Limit on the updates of one slice, in batches: a slice makes at most the updates that are due for this number of batches.
const CATCH_UP: usize = 12;
/// Maximum number of concurrent games of a duel.
const ABREAST: usize = 64;
/// Numbers of the random streams: minibatches and duels.
const LEARN: u32 = 0x4C45_4152;
const DUEL: u32 = 0x4455_454C;

enum Phase {
    Play {
        /// Number of batches of this round that every actor has played.
        batches: usize,
        /// Number of actors that have already played the next batches. `batches` does not count these batches. These actors are the first
        /// actors in the list.
        ahead: usize,
        /// Number of updates completed in this round.
        updates: usize,
    },
    Duel(Box<(Duel, PublishedPlayer, PublishedPlayer)>),
}

const ROUND_BEGINS: Phase = Phase::Play { batches: 0, ahead: 0, updates: 0 };

/// Games that remote workers play. `on` is true while workers play the games.
#[derive(Default)]
struct Shares {
    on: bool,
    /// Number of actors whose results of this round were received from workers.
    received: usize,
}

/// The published learner.
pub struct Published {
    config: PublishedConfig,
    seed: u32,
    isa: Isa,
    /// Plan for players, whose batches have `player::ROWS` rows.
    player_plan: Arc<Plan>,
    #[doc(hidden)]
    pub trainer: Trainer,
    /// Weights that the actors use in this round, packed for searches.
    playing: Weights,
    /// Weights of the previous generation.
    last: Params,
    actors: Vec<Actor>,
    replay: Replay,
    /// Replay indices of the samples in the current minibatch.
    drawn: Vec<u32>,
    /// Number of samples that the last round added to the replay, at most the replay's capacity.
    fresh: usize,
    phase: Phase,
    #[doc(hidden)]
    pub limits: Limits,
    sharing: Shares,
    progress: Progress,
    generation: Generation,
    /// True if a loss or a gradient norm of the last round was not finite.
    diverged: bool,
    clock: fn() -> f64,
    learning_s: f64,
    away: OffloadSlots,
}

impl Published {
    pub fn new(config: PublishedConfig, seed: u32, isa: Isa) -> Result<Published, PublishedError> {
        config.check()?;
        let shape = config.shape();
        let search_plan = net::plan_search(shape, config.batch, isa)?;
        let player_plan = net::plan_search(shape, player::ROWS, isa)?;
        let trainer = Trainer::new(shape, config.minibatch, seed, isa)?;
        let params = &trainer.state.params;
        let actor = |i| Actor::new(&search_plan, &config, seed, i * config.games);
        Ok(Published {
            playing: Weights::new(&search_plan, params),
            last: params.clone(),
            actors: (0..config.actors).map(actor).collect(),
            replay: Replay::new(config.replay),
            drawn: vec![0; config.minibatch],
            fresh: 0,
            phase: ROUND_BEGINS,
            limits: Limits::new(&config, state::LONGEST),
            sharing: Shares::default(),
            progress: Progress::default(),
            generation: Generation::default(),
            diverged: false,
            clock: || 0.0,
            learning_s: 0.0,
            away: OffloadSlots::default(),
            trainer,
            player_plan,
            config,
            seed,
            isa,
        })
    }

    /// Restores a learner from its [`Learner::parts`]. With the settings and the seed of the saved learner, training continues exactly as
    /// without the interruption.
    pub fn restore(config: PublishedConfig, seed: u32, isa: Isa, find: &Find) -> Result<Published, PublishedError> {
        // Invalid settings and a wrong number of saved games are rejected before anything is allocated.
        config.check()?;
        let mut saved = saved_games::unread(find)?;
        if saved.games.len() != config.actors * config.games * SAVED {
            return Err(missing("games").into());
        }
        let mut it = Self::new(config, seed, isa)?;
        let TrainState { params, optimizer } = &mut it.trainer.state;
        let table = params.table().clone();
        state::load(find, &table, [("", params.values_mut())])?;
        let len = params.values().len();
        optimizer.m.copy_from_slice(floats_of(find, "adam.m", len)?);
        optimizer.v.copy_from_slice(floats_of(find, "adam.v", len)?);
        it.last.values_mut().copy_from_slice(floats_of(find, "generation.last", len)?);
        let Some((_, Data::F64(result))) = find("generation.result") else {
            return Err(missing("generation.result").into());
        };
        let &[points, standard_error] = &result[..] else { return Err(missing("generation.result").into()) };
        if !(points.is_finite() && standard_error.is_finite()) {
            return Err(bad("generation.result").into());
        }
        let [iterations, ended, moves, evaluations, updates, steps, fresh, next, number] = state::counters(find, "counters")?;
        it.progress = Progress { iterations, games: ended, moves, evaluations, updates };
        it.generation = Generation { number, points, standard_error };
        it.trainer.state.optimizer.steps = steps;
        let (samples, rest) = words(find, "replay")?.as_chunks::<WORDS>();
        if !rest.is_empty() || !samples.iter().all(replay::is_sound) {
            return Err(bad("replay").into());
        }
        // If the capacity is now smaller, only the latest samples are kept.
        let oldest_first = samples.iter().cycle().skip(next as usize % samples.len().max(1)).take(samples.len());
        if samples.len() == it.config.replay {
            it.replay.samples.extend(samples);
            it.replay.next = next as usize % it.config.replay;
        } else {
            oldest_first.for_each(|sample| it.replay.add(std::slice::from_ref(sample)));
        }
        it.fresh = (fresh as usize).min(it.replay.samples.len());
        it.restore_games(&mut saved).ok_or_else(|| bad("games"))?;
        it.trainer.pack();
        it.playing.set(&it.trainer.state.params);
        Ok(it)
    }

    /// Restores the actors' games. Returns `None` if a game is invalid or if words are left over.
    fn restore_games(&mut self, saved: &mut Unread) -> Option<()> {
        let Published { actors, config, seed, .. } = self;
        actors.iter_mut().try_for_each(|actor| actor.restore(config, *seed, saved))?;
        saved.is_empty().then_some(())
    }

    /// Returns the state of all games, in the form that a save contains. A probe measures the speed of a device. During a probe, returns
    /// the state from before the probe.
    fn games(&self) -> Games {
        if let Some(probe) = &self.away.probe {
            return probe.games.clone();
        }
        let mut games = Games::default();
        self.actors.iter().for_each(|actor| actor.save(&mut games));
        games
    }

    /// Returns the current weights and optimizer moments. During a probe, returns those from before the probe.
    fn state(&self) -> &TrainState {
        self.away.probe.as_ref().map_or(&self.trainer.state, |probe| &probe.state)
    }

    pub fn config(&self) -> &PublishedConfig {
        &self.config
    }

    /// Changes the settings between two rounds. Returns an error for changes that need a new learner ([`PublishedConfig::can_become`]).
    pub fn set_config(&mut self, config: PublishedConfig) -> Result<(), PublishedError> {
        config.check()?;
        if !self.config.can_become(&config) {
            return Err(PublishedError::Fixed);
        }
        self.config = config;
        Ok(())
    }

    /// Returns the match result of the latest generation, or `None` before the first match.
    pub fn generation(&self) -> Option<Generation> {
        (self.generation.number > 0).then_some(self.generation)
    }

    /// Returns the number of optimizer steps due in this round. The number is proportional to the number of samples from the last round,
    /// and at most `most_updates`. The number is 0 while the replay is empty.
    fn updates_due(&self) -> usize {
        let worth = (self.fresh * self.config.passes).div_ceil(self.config.minibatch);
        if self.replay.samples.is_empty() { 0 } else { worth.min(self.config.most_updates) }
    }

    /// Returns the number of updates that must be complete after the first `batches` batches of the round. `updates` is the current number
    /// of complete updates. Updates are spread evenly over the round. [`CATCH_UP`] limits how many updates are added at once.
    fn updates_until(&self, batches: usize, updates: usize) -> usize {
        let (due, all) = (self.updates_due(), self.config.round_batches);
        let most = (CATCH_UP * due).div_ceil(all);
        // `updates` may already be higher than the number due, if workers played the games.
        (due * batches / all).min(updates + most).max(updates)
    }

    /// Returns the next stretch (some batches of some actors) after `batches` of the `all` batches of a round. The stretch excludes the
    /// actors whose results were received from workers. It also excludes the actors before index `ahead`, which have already played the
    /// next batches.
    fn stretch(&self, batches: usize, ahead: usize, all: usize) -> Stretch {
        self.limits.stretch(self.sharing.received.max(ahead)..self.actors.len(), all - batches)
    }

    /// Returns the new values of `batches` and `ahead` in [`Phase::Play`] after `stretch` has been played.
    fn progress_after(&self, batches: usize, stretch: &Stretch) -> (usize, usize) {
        match stretch.batches > 0 && stretch.actors.end < self.actors.len() {
            true => (batches, stretch.actors.end),
            false => (batches + stretch.batches, 0),
        }
    }

    /// Plays the next stretch (some batches of some actors). In parallel, makes the due updates, as far as they fit in the slice. Returns
    /// true when the round is complete.
    fn play(&mut self, batches: usize, ahead: usize, updates: usize) -> bool {
        let stretch = self.stretch(batches, ahead, self.config.round_batches);
        let due = self.updates_until(batches + stretch.batches, updates) - updates;
        let pieces = self.limits.pieces(&self.trainer.cut, self.limits.played(&stretch));
        let learned = self.beside(stretch.actors.clone(), due, pieces, |actor, playing| {
            (0..stretch.batches).for_each(|_| actor.step(playing));
        });
        let (batches, ahead) = self.progress_after(batches, &stretch);
        let updates = updates + learned;
        self.phase = Phase::Play { batches, ahead, updates };
        batches == self.config.round_batches && updates == self.updates_due()
    }

    /// Runs `work` for the given actors. In parallel, trains at most `due` updates. Updates are trained in pieces (parts of one update), of
    /// which at most `pieces` are run. Returns the number of completed updates.
    fn beside(&mut self, actors: Range<usize>, due: usize, pieces: usize, work: impl Fn(&mut Actor, Playing) + Sync) -> usize {
        let clock = self.clock;
        let playing = Playing { config: &self.config, isa: self.isa, weights: &self.playing, clock };
        let untimed = Playing { clock: || 0.0, ..playing };
        // Only the first actor is timed. Its times represent those of all actors.
        let timed = usize::from(actors.start > 0);
        let actors = &mut self.actors[actors];
        let (config, samples, drawn, trainer) = (&self.config, &self.replay.samples, &mut self.drawn, &mut self.trainer);
        let (seed, done) = (self.seed, self.progress.updates);
        let adam = self.config.adam();
        let (_, (learned, learning_s)) = par::join(
            || {
                par::each_mut(actors, |i, actor| {
                    work(actor, if timed + i == 0 { playing } else { untimed });
                });
            },
            || {
                let began_s = clock();
                let mut learned = 0;
                for _ in 0..pieces {
                    if learned == due {
                        break;
                    }
                    if trainer.is_between_steps() {
                        draw(config, seed, done + learned as u64, samples.len(), drawn);
                    }
                    learned += usize::from(trainer.advance(&adam, config.value_coef, samples, drawn));
                }
                (learned, clock() - began_s)
            },
        );
        self.learning_s += learning_s;
        self.progress.updates += learned as u64;
        learned
    }

    /// Ends the round: adds the actors' samples to the replay, replaces the actors' weights, and returns the round's statistics.
    fn end_round(&mut self) -> Stats {
        let (mut endings, mut fresh) = (Endings::default(), 0);
        let (first, evaluations) = (self.replay.next, self.evaluated());
        for actor in &self.actors {
            self.replay.add(&actor.finished_samples);
            fresh += actor.finished_samples.len();
            endings.add(&actor.endings);
            self.progress.moves += actor.moves;
        }
        self.progress.evaluations += evaluations;
        self.progress.games += endings.games;
        let updates = self.updates_due().max(1) as f64;
        let [rules, inputs, network, tree]: Seconds = self.actors[0].seconds.map(|s| s * self.actors.len() as f64);
        let [policy_loss, value_loss, grad_norm] = std::mem::take(&mut self.trainer.sums).map(|sum| sum / updates);
        let share = |count: u64| count as f32 / endings.games.max(1) as f32;
        let stats = Stats {
            loss: (policy_loss + f64::from(self.config.value_coef) * value_loss) as f32,
            grad_norm: grad_norm as f32,
            lr: self.config.lr,
            mean_length: share(endings.turns),
            gammons: share(endings.gammons),
            backgammons: share(endings.backgammons),
            parts_s: [rules, inputs, network, tree, 0.0, self.learning_s, self.waited_s()],
            steady_evaluations: self.is_steady().then_some(evaluations),
        };
        const _: () = assert!(PARTS.len() == 7);
        self.diverged = !stats.is_finite();
        // The number is limited to the replay's capacity, so that it is the same after a restore.
        self.fresh = fresh.min(self.config.replay);
        self.playing.set(&self.trainer.state.params);
        for actor in &mut self.actors {
            actor.begin_round(&self.config);
        }
        self.learning_s = 0.0;
        self.announce_round(first, fresh);
        self.progress.iterations += 1;
        (self.phase, self.sharing.received) = (ROUND_BEGINS, 0);
        stats
    }

    fn player_of(&self, params: &Params, evals: u32) -> PublishedPlayer {
        let weights = Arc::new(Weights::new(&self.player_plan, params));
        PublishedPlayer::new(&self.player_plan, weights, self.config.rule(), evals.min(10_000))
    }

    /// Returns the phase of the match between the current weights and the previous generation. Returns `None` if no match is due after this
    /// round.
    fn begin_duel(&mut self) -> Option<Phase> {
        let pairs = self.config.duel_pairs as u64;
        if pairs == 0 || !(self.progress.iterations + 1).is_multiple_of(self.config.generation_rounds as u64) {
            return None;
        }
        let seed = Rng::new(self.seed, DUEL).block([self.generation.number as u32, 0, 0, 0])[0];
        let (one, other) = (self.player_of(&self.trainer.state.params, 1), self.player_of(&self.last, 1));
        Some(Phase::Duel(Box::new((Duel::new(seed, pairs, ABREAST), one, other))))
    }

    fn end_duel(&mut self, tally: &Tally) {
        self.generation =
            Generation { number: self.generation.number + 1, points: tally.mean(), standard_error: tally.standard_error().unwrap_or(0.0) };
        self.last.values_mut().copy_from_slice(self.trainer.state.params.values());
    }
}

impl Learner for Published {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(config, set_config, PublishedConfig::check);

    fn advance(&mut self) -> Slice<Stats> {
        if let Some(fault) = self.away.failed.take() {
            self.away.offloaded = None;
            return Slice::Stopped(fault);
        }
        match &mut self.phase {
            &mut Phase::Play { batches, ahead, updates } => {
                if self.sharing.on && self.is_due() {
                    return self.learn_meanwhile(updates);
                }
                let played = match self.away.offloaded.is_some() {
                    true => match self.play_offloaded() {
                        Ok(played) => played,
                        Err(other) => return other,
                    },
                    false => self.play(batches, ahead, updates),
                };
                if !played {
                    return Slice::Worked;
                }
                match self.begin_duel() {
                    Some(duel) => {
                        self.phase = duel;
                        Slice::Worked
                    }
                    None => Slice::Ended(self.end_round()),
                }
            }
            Phase::Duel(duel) => {
                let (duel, one, other) = &mut **duel;
                // Both players choose only legal moves. An illegal move would end the match early.
                let continues = duel.advance(one, other).is_ok() && !duel.is_over();
                if continues {
                    return Slice::Worked;
                }
                let tally = *duel.tally();
                self.end_duel(&tally);
                Slice::Ended(self.end_round())
            }
        }
    }

    fn at_boundary(&self) -> bool {
        self.away.probe.is_some()
            || matches!(self.phase, Phase::Play { batches: 0, ahead: 0, updates: 0 })
                && self.trainer.is_between_steps()
                && self.sharing.received == 0
                && self.away.offloaded.as_ref().is_none_or(Offloaded::is_idle)
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        if self.sharing.on { Err("This run's games are played by remote workers on the CPU") } else { Ok(self) }
    }

    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        Some(self)
    }

    fn worked_on(&self) -> WorkedOn {
        match self.offloaded() {
            None => WorkedOn::Processor,
            Some(Work::ALL) => WorkedOn::Offloaded,
            Some(_) => WorkedOn::Both,
        }
    }

    fn progress(&self) -> Progress {
        if let Some(probe) = &self.away.probe {
            return probe.progress;
        }
        let moves = self.actors.iter().map(|actor| actor.moves).sum::<u64>();
        Progress { evaluations: self.progress.evaluations + self.evaluated(), moves: self.progress.moves + moves, ..self.progress }
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let TrainState { params, optimizer } = self.state();
        state::tensors(params.table(), params.values(), &optimizer.m)
    }

    fn parts(&self) -> Parts {
        let TrainState { params, optimizer } = self.state();
        let mut parts = state::save(params.table(), [("", params.values())]);
        let mut add = |name: &str, shape: Vec<usize>, data| parts.push((name.into(), shape, data));
        let len = params.values().len();
        add("adam.m", vec![len], Data::F32(optimizer.m.to_vec()));
        add("adam.v", vec![len], Data::F32(optimizer.v.to_vec()));
        add("generation.last", vec![len], Data::F32(self.last.values().to_vec()));
        let Generation { number, points, standard_error } = self.generation;
        add("generation.result", vec![2], Data::F64(vec![points, standard_error]));
        let samples: Vec<u32> = self.replay.samples.iter().flatten().copied().collect();
        add("replay", vec![self.replay.samples.len(), WORDS], Data::U32(samples));
        saved_games::games_parts(std::iter::once(&self.games())).into_iter().for_each(|(name, shape, data)| add(&name, shape, data));
        let Progress { iterations, games, moves, evaluations, updates } = Learner::progress(self);
        let counters =
            [iterations, games, moves, evaluations, updates, optimizer.steps, self.fresh as u64, self.replay.next as u64, number];
        add("counters", vec![counters.len()], Data::U64(counters.to_vec()));
        parts
    }

    fn is_finite(&self) -> bool {
        let TrainState { params, optimizer } = self.state();
        let all = [params.values(), &optimizer.m, &optimizer.v, self.last.values()];
        !self.diverged && all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    fn weights(&self) -> &[f32] {
        self.state().params.values()
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn executor_mut(&mut self) -> Option<&mut Executor> {
        Some(self.trainer.executor_mut())
    }
}

impl SelfTaught for Published {
    fn player_with(&self, weights: &[f32], evals: u32) -> Box<dyn Player> {
        let mut params = self.trainer.state.params.clone();
        params.values_mut().copy_from_slice(weights);
        Box::new(self.player_of(&params, evals))
    }

    fn networks(&self, boards: &[(Board, Roll)]) -> Result<Vec<NetworkValues>, PlanError> {
        self.values(boards)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model {
        self.model()
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError> {
        self.example_decisions(count, seed)
    }
}

/// Draws the replay indices of the minibatch for update `n`. Each shard (a part of the minibatch) uses its own part of the random stream.
#[doc(hidden)]
pub fn draw(config: &PublishedConfig, seed: u32, n: u64, samples: usize, drawn: &mut [u32]) {
    let rng = Rng::new(seed, LEARN);
    let rows = config.minibatch / SHARDS;
    for (shard, drawn) in drawn.chunks_exact_mut(rows).enumerate() {
        let mut numbers = rng.sequence(n * config.minibatch as u64 + (shard * rows) as u64);
        drawn.iter_mut().for_each(|place| *place = numbers.below(samples as u32));
    }
}
