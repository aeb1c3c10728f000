//! The configuration of AlphaZero.jl for backgammon by sile16, like for like (github.com/sile16/AlphaZero.jl; its figures, of a
//! network of 283 thousand parameters: `notes/perf_progress.md`): 344 inputs, a residual network 128 wide with three blocks (both are
//! settings), a policy over 676 actions, five chances as value, and self-play by PUCT with the dice as chance nodes (Silver et al.
//! 2017). "Published" means this configuration.
//!
//!   L = E[-Σ π·ln p] + c·E[Σ BCE(chance, outcome)],  π the shares of a search's visits
//!
//! A **round** is so many batches at each actor. While actors play with the weights that the round began with, the learner takes
//! its steps on samples of the rounds before, and at the end the actors get its weights: playing and learning share all cores and
//! neither waits, and what a round does depends on no clock and no number of threads. Searches begin anew with a round, so a game
//! is saved by where it stands, and the round of an actor can be played anywhere (`shared.rs`).
//!
//! It refuses to be the strong one: there is no look-ahead by rolls and no table of endings, and a generation takes the
//! place of the last whether or not it has beaten it; how it did is told.

pub mod accelerator;
mod inputs;
mod local;
mod net;
mod offload;
mod player;
mod replay;
mod search;
mod selfplay;
pub mod shared;
mod slices;
mod trainer;
mod tree;

use super::arena::{Duel, Tally};
use super::{PARTS, Player, Progress, SelfTaught, Stats};
use crate::settings;
use crate::settings::{Field, SettingError, Settings, between, count, linear, log, multiple, whole};
use crate::{Data, Fault, Find, Learner, Offload, Parts, Sharing, Slice, WorkedOn, state};
use accelerator::Work;
use graph::{Adam, Executor, Params, Plan};
use math::{Isa, Rng, par};
use offload::{Offloaded, Probe};
use player::PublishedPlayer;
use replay::{Replay, WORDS};
use search::Seconds;
use selfplay::{Actor, Playing, SAVED};
use slices::{Limits, Stretch};
use std::ops::Range;
use std::sync::Arc;
use trainer::{SHARDS, TrainState, Trainer};
use tree::Rule;
use worlds::backgammon::{Board, Results};

pub use local::LocalAccelerator;

pub use inputs::{Decision, INPUTS, each as each_input};
pub use net::{ACTIONS, Evaluator, HEADS, Shape, Weights, plan_learning, plan_leaves, plan_search, plan_whole};

settings! {
    pub struct PublishedConfig {
        live lr: f32 = 1e-3, [log(1e-5, 0.1).down_to(0.0).up_to(1.0), "Learning rate", "",
            "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew."];
        /// The two halves of a double share a turn's.
        fixed evals: usize = 100, [count(2.0, 2000.0), "Search: simulations a decision", "ways down",
            "How often each decision of its own games is followed down the tree. More play better, and fewer games."];
        fixed exploration: f32 = 0.5, [linear(0.0, 10.0), "PUCT exploration constant c", "",
            "How much the search tries what the network thinks likely beside what has turned out well (c of PUCT)."];
        /// What an action nobody tried is thought to be worse, in points.
        fixed doubt: f32 = 0.0;
        /// What a way down counts until it comes back, in points.
        fixed virtual_loss: f32 = 1.0;
        fixed noise: f32 = 0.25, [linear(0.0, 1.0), "Dirichlet noise", "",
            "Share of chance in what is searched first, so that games differ."];
        fixed noise_alpha: f32 = 0.3, [linear(0.01, 1.0), "Dirichlet α: shape of the noise", "",
            "Parameter of the Dirichlet distribution: small gives chance to few moves, large to all."];
        fixed temperature: f32 = 0.5, [linear(0.0, 4.0), "Temperature", "",
            "How freely the first moves of a game are drawn from those searched; at 0 the most searched is always played."];
        fixed warm_decisions: u32 = 20, [whole(0.0, 500.0), "Temperature moves", "moves", "How many first moves of a game are drawn so."];
        fixed actors: usize = 8, [as "tables", count(1.0, 256.0), "Self-play actors", "actors", "Groups of games that threads share."];
        fixed games: usize = 48, [count(1.0, 1024.0), "Games an actor", "games", "How many games each table plays at once."];
        fixed batch: usize = 160, [count(2.0, 1024.0), "Positions a batch", "positions",
            "How many positions of a table's games the network values together."];
        /// Ways down one tree in a batch.
        fixed leaves: usize = 4;
        fixed round_batches: usize = 320, [count(1.0, 1e5), "Length of a round", "batches",
            "Batches that each actor has valued before its games are learned from."];
        fixed replay: usize = 65_536, [count(256.0, 1_000_000.0).down_to(1.0), "Replay: positions kept", "positions",
            "How many positions of the last games are kept to learn from."];
        fixed minibatch: usize = 256,
            [count(32.0, 8192.0).down_to(SHARDS as f64).up_to(65_536.0), "Minibatch: positions an update", "positions",
                "How many positions each update of the network is a mean over."];
        live passes: usize = 4, [count(1.0, 100.0), "Epochs: passes over the data", "",
            "How often the positions of a round are learned from, about."];
        live most_updates: usize = 200, [count(1.0, 10_000.0).down_to(0.0).up_to(1e6), "Updates a round at most", "updates",
            "A cap on learning, so that it does not hold up the games."];
        live weight_decay: f32 = 1e-4, [linear(0.0, 0.1), "Weight decay", "", "How fast weights shrink that nothing holds up."];
        live value_coef: f32 = 1.0, [linear(0.0, 10.0).up_to(100.0), "Value coefficient: weight of the outcome", "",
            "How much how the game ended counts beside what the search preferred."];
        live max_grad_norm: f32 = 5.0, [log(0.05, 100.0), "Max gradient norm", "",
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network."];
        fixed generation_rounds: usize = 8, [count(1.0, 1000.0), "Rounds a generation", "rounds",
            "After so many rounds it plays against itself as it was at the last such time."];
        fixed duel_pairs: usize = 64, [whole(0.0, 10_000.0), "Games of that match", "pairs",
            "Pairs of games with the same dice in that match; 0 plays none."];
        fixed width: usize = Shape::PUBLISHED.width, [count(16.0, 1024.0), "Hidden units: width of the network", "units",
            "Units in each layer of the network, a multiple of 16; AlphaZero.jl has 128. More can know more, and take longer."];
        fixed blocks: usize = Shape::PUBLISHED.blocks, [whole(0.0, 16.0), "Depth: residual blocks", "blocks",
            "Blocks of two layers each, one behind the other; AlphaZero.jl has 3."];
    }
}

impl PublishedConfig {
    fn shape(&self) -> Shape {
        Shape { width: self.width, blocks: self.blocks }
    }

    fn rule(&self) -> Rule {
        Rule { exploration: self.exploration, doubt: self.doubt, loss: self.virtual_loss }
    }

    fn adam(&self) -> Adam {
        Adam { lr: self.lr, weight_decay: self.weight_decay, max_grad_norm: self.max_grad_norm, ..Adam::default() }
    }

    /// Bytes that a run with these settings takes, about, and rather more than less: for who has to refuse one that does not fit
    /// before anything is allocated. A save takes a copy of the samples besides. Settings that cannot be used take more than there
    /// is.
    pub fn bytes(&self) -> u64 {
        // A little for plans and names. Casts saturate.
        self.reckoned().map_or(u64::MAX, |bytes| (1.05 * bytes) as u64)
    }

    fn reckoned(&self) -> Result<f64, PublishedError> {
        self.check()?;
        let (isa, shape) = (Isa::best(), self.shape());
        let search = net::plan_search(shape, self.batch, isa)?;
        let player = net::plan_search(shape, player::ROWS, isa)?;
        let rows = self.minibatch / SHARDS;
        let learning = net::plan_learning(shape, rows, isa)?;
        let actors = self.actors as f64 * Actor::bytes(&search, self);
        let replay = self.replay as f64 * size_of::<replay::Sample>() as f64;
        // The weights, those of the generation before, two moments, the gradient's shards and their sum; packed both ways, in panels that
        // are filled up.
        const PANELS: f64 = 1.05;
        let weights = 4.0 * shape.parameters() as f64 * (2.0 + 2.0 + SHARDS as f64 + 1.0 + 2.0 * PANELS);
        let trainer = weights + SHARDS as f64 * (learning.arena_bytes() as f64 + Results::BYTES as f64);
        let duel = if self.duel_pairs > 0 { 2.0 * PublishedPlayer::bytes(&player, shape) } else { 0.0 };
        Ok(actors + replay + trainer + Weights::bytes(shape) + duel)
    }

    pub fn check(&self) -> Result<(), PublishedError> {
        self.in_range()?;
        between("leaves", self.leaves, 1, 64)?;
        for (name, value, most) in [("doubt", self.doubt, 6.0), ("virtual_loss", self.virtual_loss, 100.0)] {
            linear(0.0, most).kind.check(name, &value.get())?;
        }
        multiple("width", self.width, 16)?;
        Ok(multiple("minibatch", self.minibatch, SHARDS)?)
    }
}

/// Settings or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("settings that games and searches are made for were changed; begin a new run with them")]
    Fixed,
    #[error("the checkpoint has no {name} of the right kind and shape; load one saved with the same settings")]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error("actors {found:?} were brought where {due:?} are due; bring those of this round in their order")]
    OtherPieces { found: Range<u64>, due: Range<u64> },
    #[error(transparent)]
    Plan(#[from] graph::PlanError),
}

/// How games ended.
#[derive(Clone, Copy, Debug, Default)]
struct Endings {
    games: u64,
    turns: u64,
    gammons: u64,
    backgammons: u64,
}

impl Endings {
    fn count(&mut self, board: &Board, turns: u32) {
        self.games += 1;
        self.turns += u64::from(turns);
        self.gammons += u64::from(board.points() == 2);
        self.backgammons += u64::from(board.points() == 3);
    }

    fn add(&mut self, other: &Endings) {
        self.games += other.games;
        self.turns += other.turns;
        self.gammons += other.gammons;
        self.backgammons += other.backgammons;
    }
}

/// How a generation did against the one before, neither searching: points a game of the newer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Generation {
    pub number: u64,
    pub points: f64,
    pub standard_error: f64,
}

/// Where steps have to be caught up with, as many at once as are due in this many batches.
const CATCH_UP: usize = 12;
/// Games of a duel that run at once.
const ABREAST: usize = 64;
/// Words of the counters that are saved.
const COUNTERS: usize = 9;
/// Streams of random numbers of one seed.
const LEARN: u32 = 0x4C45_4152;
const DUEL: u32 = 0x4455_454C;

enum Phase {
    /// Batches of this round that all actors have played, the actor after those that are a stretch ahead, if any, and updates done.
    Play {
        batches: usize,
        ahead: usize,
        updates: usize,
    },
    Duel(Box<(Duel, PublishedPlayer, PublishedPlayer)>),
}

const ROUND_BEGINS: Phase = Phase::Play { batches: 0, ahead: 0, updates: 0 };

/// The published learner.
pub struct Published {
    config: PublishedConfig,
    seed: u32,
    isa: Isa,
    /// For players, whose batches are small.
    player_plan: Arc<Plan>,
    /// What is learned, and what actors play with.
    trainer: Trainer,
    playing: Weights,
    /// Of the generation before.
    last: Params,
    actors: Vec<Actor>,
    replay: Replay,
    /// Places in it that a step learns from.
    drawn: Vec<u32>,
    /// Samples that the last round brought.
    fresh: usize,
    phase: Phase,
    limits: Limits,
    /// Others play its games; so many actors' rounds they have brought in this one.
    shared: bool,
    brought: usize,
    progress: Progress,
    generation: Generation,
    /// A loss or the gradient's length was no number in the last round.
    diverged: bool,
    clock: fn() -> f64,
    learning_s: f64,
    /// Work that another machine does, a machine that failed between two slices, and a probe of one.
    offloaded: Option<Offloaded>,
    failed: Option<Fault>,
    probe: Option<Box<Probe>>,
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
            shared: false,
            brought: 0,
            progress: Progress::default(),
            generation: Generation::default(),
            diverged: false,
            clock: || 0.0,
            learning_s: 0.0,
            offloaded: None,
            failed: None,
            probe: None,
            trainer,
            player_plan,
            config,
            seed,
            isa,
        })
    }

    /// What [`Learner::parts`] gave, made a learner again that goes on as if it had never stopped.
    pub fn restore(config: PublishedConfig, seed: u32, isa: Isa, find: &Find) -> Result<Published, PublishedError> {
        let missing = |name: &str| PublishedError::Missing { name: name.into() };
        // Before anything is allocated: the checkpoint is of as many games as the settings say.
        config.check()?;
        let words = config.actors * config.games * SAVED;
        if find("games").is_none_or(|(_, data)| data.len() != words) {
            return Err(missing("games"));
        }
        let mut it = Self::new(config, seed, isa)?;
        let bad = |name: &str| PublishedError::BadValue { name: name.into() };
        let floats = |name: &str, len: usize| match find(name) {
            Some((_, Data::F32(values))) if values.len() == len => {
                if values.iter().all(|v| v.is_finite()) {
                    Ok(values)
                } else {
                    Err(bad(name))
                }
            }
            _ => Err(missing(name)),
        };
        let words = |name: &str| match find(name) {
            Some((_, Data::U32(values))) => Ok(values),
            _ => Err(missing(name)),
        };
        let TrainState { params, optimizer } = &mut it.trainer.state;
        for spec in params.table().clone().specs() {
            let values = floats(&spec.name, spec.len())?;
            params.values_mut()[spec.range()].copy_from_slice(values);
        }
        let len = params.values().len();
        optimizer.m.copy_from_slice(floats("adam.m", len)?);
        optimizer.v.copy_from_slice(floats("adam.v", len)?);
        it.last.values_mut().copy_from_slice(floats("generation.last", len)?);
        let Some((_, Data::F64(result))) = find("generation.result") else {
            return Err(missing("generation.result"));
        };
        let Some((_, Data::U64(counters))) = find("counters") else { return Err(missing("counters")) };
        let (&[points, standard_error], &[iterations, games, moves, evaluations, updates, steps, fresh, next, number]) =
            (&result[..], &counters[..])
        else {
            return Err(missing("counters"));
        };
        it.progress = Progress { iterations, games, moves, evaluations, updates };
        it.generation = Generation { number, points, standard_error };
        it.trainer.state.optimizer.steps = steps;
        let (samples, rest) = words("replay")?.as_chunks::<WORDS>();
        if !rest.is_empty() || !samples.iter().all(replay::is_sound) {
            return Err(bad("replay"));
        }
        // Where there is less room than there was, the newest stay.
        let oldest_first = samples.iter().cycle().skip(next as usize % samples.len().max(1)).take(samples.len());
        if samples.len() == it.config.replay {
            it.replay.samples.extend(samples);
            it.replay.next = next as usize % it.config.replay;
        } else {
            oldest_first.for_each(|sample| it.replay.add(std::slice::from_ref(sample)));
        }
        it.fresh = (fresh as usize).min(it.replay.samples.len());
        let (games, traces) = (words("games")?, words("traces")?);
        it.restore_games(games, traces).ok_or_else(|| bad("games"))?;
        it.trainer.pack();
        it.playing.set(&it.trainer.state.params);
        Ok(it)
    }

    /// Games as they stand go on; nothing where they cannot be.
    fn restore_games(&mut self, games: &[u32], traces: &[u32]) -> Option<()> {
        let each = self.config.games * SAVED;
        let mut traces = traces;
        for (actor, games) in self.actors.iter_mut().zip(games.chunks_exact(each)) {
            traces = actor.restore(&self.config, self.seed, games, traces)?;
        }
        Some(())
    }

    /// At a boundary.
    fn games(&self) -> Games {
        if let Some(probe) = &self.probe {
            return probe.games.clone();
        }
        let Games { mut games, mut traces } = Games::default();
        self.actors.iter().for_each(|actor| actor.save(&mut games, &mut traces));
        Games { games, traces }
    }

    /// What was learned by the end of the last round.
    fn state(&self) -> &TrainState {
        self.probe.as_ref().map_or(&self.trainer.state, |probe| &probe.state)
    }

    pub fn config(&self) -> &PublishedConfig {
        &self.config
    }

    /// Goes on with other settings, between two rounds; refuses those that need another learner
    /// ([`PublishedConfig::can_become`]).
    pub fn set_config(&mut self, config: PublishedConfig) -> Result<(), PublishedError> {
        config.check()?;
        if !self.config.can_become(&config) {
            return Err(PublishedError::Fixed);
        }
        self.config = config;
        Ok(())
    }

    /// How the newest generation did, once there has been one.
    pub fn generation(&self) -> Option<Generation> {
        (self.generation.number > 0).then_some(self.generation)
    }

    /// Steps of the optimiser in this round: no more than the samples of the last one are worth.
    fn updates_due(&self) -> usize {
        let worth = (self.fresh * self.config.passes).div_ceil(self.config.minibatch);
        if self.replay.samples.is_empty() { 0 } else { worth.min(self.config.most_updates) }
    }

    /// Updates that are done once so many batches are played: spread evenly over the round.
    fn updates_until(&self, batches: usize, updates: usize) -> usize {
        let (due, all) = (self.updates_due(), self.config.round_batches);
        let most = (CATCH_UP * due).div_ceil(all);
        // Who played for it may have left it ahead.
        (due * batches / all).min(updates + most).max(updates)
    }

    /// The next stretch of a round of `all` batches, for actors whose results were not received.
    fn stretch(&self, batches: usize, ahead: usize, all: usize) -> Stretch {
        self.limits.stretch(self.brought.max(ahead)..self.actors.len(), all - batches)
    }

    /// Batches that all have played, and the actor after those that are ahead, once a stretch is played.
    fn after(&self, batches: usize, stretch: &Stretch) -> (usize, usize) {
        match stretch.batches > 0 && stretch.actors.end < self.actors.len() {
            true => (batches, stretch.actors.end),
            false => (batches + stretch.batches, 0),
        }
    }

    /// Plays the next stretch and does the updates that are due and fit beside it; returns whether the round is complete.
    fn play(&mut self, batches: usize, ahead: usize, updates: usize) -> bool {
        let stretch = self.stretch(batches, ahead, self.config.round_batches);
        let due = self.updates_until(batches + stretch.batches, updates) - updates;
        let pieces = self.limits.pieces(&self.trainer.cut, self.limits.played(&stretch));
        let learned = self.beside(stretch.actors.clone(), due, pieces, |actor, playing| {
            (0..stretch.batches).for_each(|_| actor.step(playing));
        });
        let (batches, ahead) = self.after(batches, &stretch);
        let updates = updates + learned;
        self.phase = Phase::Play { batches, ahead, updates };
        batches == self.config.round_batches && updates == self.updates_due()
    }

    /// Runs `work` for some actors and, beside them, `pieces` pieces of the due updates at most; returns how many updates ended.
    fn beside(&mut self, actors: Range<usize>, due: usize, pieces: usize, work: impl Fn(&mut Actor, Playing) + Sync) -> usize {
        let clock = self.clock;
        let playing = Playing { config: &self.config, isa: self.isa, weights: &self.playing, clock };
        let untimed = Playing { clock: || 0.0, ..playing };
        // One actor's time stands for all.
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

    /// Takes in what the actors brought, and gives them what was learned.
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
        // No more than can be learned from, also by who goes on from a save.
        self.fresh = fresh.min(self.config.replay);
        self.playing.set(&self.trainer.state.params);
        for actor in &mut self.actors {
            actor.begin_round(&self.config);
        }
        self.learning_s = 0.0;
        self.announce_round(first, fresh);
        self.progress.iterations += 1;
        (self.phase, self.brought) = (ROUND_BEGINS, 0);
        stats
    }

    fn player_of(&self, params: &Params, evals: u32) -> PublishedPlayer {
        let weights = Arc::new(Weights::new(&self.player_plan, params));
        PublishedPlayer::new(&self.player_plan, weights, self.config.rule(), evals.min(10_000))
    }

    /// The generation that ends with this round against the one before.
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

    fn advance(&mut self) -> Slice<Stats> {
        if let Some(fault) = self.failed.take() {
            self.offloaded = None;
            return Slice::Stopped(fault);
        }
        match &mut self.phase {
            &mut Phase::Play { batches, ahead, updates } => {
                if self.shared && self.is_due() {
                    return self.learn_meanwhile(updates);
                }
                let played = match self.offloaded.is_some() {
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
                // Either of them plays by the rules; one that did not would end the duel where it stands.
                let goes_on = duel.advance(one, other).is_ok() && !duel.is_over();
                if goes_on {
                    return Slice::Worked;
                }
                let tally = *duel.tally();
                self.end_duel(&tally);
                Slice::Ended(self.end_round())
            }
        }
    }

    fn at_boundary(&self) -> bool {
        self.probe.is_some()
            || matches!(self.phase, Phase::Play { batches: 0, ahead: 0, updates: 0 })
                && self.trainer.is_between_steps()
                && self.brought == 0
                && self.offloaded.as_ref().is_none_or(Offloaded::is_idle)
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        if self.shared { Err("Others play this run's games, each on a processor") } else { Ok(self) }
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
        if let Some(probe) = &self.probe {
            return probe.progress;
        }
        let evaluations = self.progress.evaluations + self.evaluated();
        Progress { evaluations, ..self.progress }
    }

    fn parts(&self) -> Parts {
        let mut parts = Parts::new();
        let TrainState { params, optimizer } = self.state();
        for spec in params.table().specs() {
            let values = params.values()[spec.range()].to_vec();
            parts.push((spec.name.to_string(), spec.file_shape().to_vec(), Data::F32(values)));
        }
        let mut add = |name: &str, shape: Vec<usize>, data| parts.push((name.into(), shape, data));
        let len = params.values().len();
        add("adam.m", vec![len], Data::F32(optimizer.m.to_vec()));
        add("adam.v", vec![len], Data::F32(optimizer.v.to_vec()));
        add("generation.last", vec![len], Data::F32(self.last.values().to_vec()));
        let Generation { number, points, standard_error } = self.generation;
        add("generation.result", vec![2], Data::F64(vec![points, standard_error]));
        let samples: Vec<u32> = self.replay.samples.iter().flatten().copied().collect();
        add("replay", vec![self.replay.samples.len(), WORDS], Data::U32(samples));
        let Games { games, traces } = self.games();
        add("games", vec![games.len() / SAVED, SAVED], Data::U32(games));
        add("traces", vec![traces.len() / WORDS, WORDS], Data::U32(traces));
        let Progress { iterations, games, moves, evaluations, updates } = Learner::progress(self);
        let counters =
            [iterations, games, moves, evaluations, updates, optimizer.steps, self.fresh as u64, self.replay.next as u64, number];
        add("counters", vec![COUNTERS], Data::U64(counters.to_vec()));
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
}

/// Places of the samples that step n of a learner's life learns from, each shard's from random numbers of its own.
fn draw(config: &PublishedConfig, seed: u32, n: u64, samples: usize, drawn: &mut [u32]) {
    let rng = Rng::new(seed, LEARN);
    let rows = config.minibatch / SHARDS;
    for (shard, drawn) in drawn.chunks_exact_mut(rows).enumerate() {
        let mut numbers = rng.sequence(n * config.minibatch as u64 + (shard * rows) as u64);
        drawn.iter_mut().for_each(|place| *place = numbers.below(samples as u32));
    }
}

/// Games as they stand, for whoever saves them.
#[derive(Clone, Default)]
struct Games {
    games: Vec<u32>,
    traces: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_learns_from_all_samples_that_are_kept_and_each_from_others() {
        const KEPT: usize = 2000;
        let config = PublishedConfig::default();
        let (mut drawn, mut shares) = (vec![0; config.minibatch], [0usize; 10]);
        let mut last = Vec::new();
        const STEPS: u64 = 200;
        for n in 0..STEPS {
            draw(&config, 5, n, KEPT, &mut drawn);
            drawn.iter().for_each(|&place| shares[place as usize * 10 / KEPT] += 1);
            assert_ne!(drawn, last);
            last.clone_from(&drawn);
        }
        let all = STEPS as f64 * config.minibatch as f64;
        for share in shares {
            assert!((share as f64 / all - 0.1).abs() < 0.006, "{shares:?}");
        }
    }

    #[test]
    fn a_round_in_many_slices_is_one_in_few() {
        let config = PublishedConfig {
            width: 32,
            blocks: 1,
            evals: 8,
            actors: 3,
            games: 6,
            batch: 16,
            round_batches: 30,
            replay: 200,
            minibatch: 32,
            duel_pairs: 0,
            ..PublishedConfig::default()
        };
        let run = |longest: f64| {
            let mut it = Published::new(config.clone(), 5, Isa::best()).unwrap();
            it.limits = Limits::new(&config, longest);
            let plan = net::plan_learning(config.shape(), config.minibatch / SHARDS, it.isa).unwrap();
            it.trainer.cut = trainer::Cut::new(&plan, config.shape(), config.minibatch, longest / 2.0);
            let (mut slices, mut within) = (0, 0);
            while it.progress.iterations < 8 {
                it.advance();
                slices += 1;
                let is_ahead = matches!(it.phase, Phase::Play { ahead: 1.., .. });
                assert!(!is_ahead || !it.at_boundary() && !it.is_due(), "some actors have played");
                within += usize::from(!it.trainer.is_between_steps() && !it.at_boundary());
            }
            (it.parts(), it.progress.updates, slices, within)
        };
        let (whole, updates, few, _) = run(1e12);
        let (pieces, _, many, within) = run(1.0);
        assert!(whole == pieces, "slices changed what was learned");
        assert!(updates > 5 && many > few + 8 * 60, "{updates} updates, {few} and {many} slices");
        assert!(within as u64 > updates, "{within} slices ended within {updates} updates");
    }

    #[test]
    fn the_newest_samples_are_kept_and_no_others() {
        let sample = |n: u32| {
            let mut sample = [0; WORDS];
            sample[10] = n;
            sample
        };
        let mut replay = Replay::new(5);
        let kept = |replay: &Replay| {
            let mut kept: Vec<u32> = replay.samples.iter().map(|sample| sample[10]).collect();
            kept.sort_unstable();
            kept
        };
        replay.add(&[1, 2, 3].map(sample));
        assert_eq!(kept(&replay), [1, 2, 3]);
        replay.add(&[4, 5, 6, 7].map(sample));
        assert_eq!(kept(&replay), [3, 4, 5, 6, 7]);
    }
}
