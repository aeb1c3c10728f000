//! The strong learner. In self-play, the learner always plays the move with the highest estimated equity. It learns the six outcome
//! probabilities of every board after a move (Tesauro, "Temporal difference learning and TD-Gammon", 1995). In a round, the learner plays
//! some games with fixed weights. Afterwards it trains with Adam on the boards of these games, in shuffled minibatches. The target of a
//! board is its λ-return. With look-ahead, the targets also average over all next rolls, and training takes several passes.
//!
//! The dice are the only exploration. If the bear-off table is enabled, a training game ends at the first position that the table contains.
//! The player for matches and analysis uses an average of the weights over about the last eighth of the training. A game depends only on
//! the seed, the game's number and the weights of the round, so the number of threads has no effect.

pub(super) mod shared;

use super::net::{self, NETS, Network, Sample, Shape, StepStats, Trainer, Valuer};
use super::outcomes::{self, OUTCOMES, OutcomeProbs};
use super::search::SearchPlayer;
use super::{PARTS, Player, Progress, SelfTaught, Stats};
use crate::settings;
use crate::settings::{SWITCH, SettingError, Settings, count, linear, log, multiple, whole};
use crate::{Data, Find, Learner, NetworkValues, Offload, Parts, SavedError, Sharing, Slice, Tensor, state};
use graph::PlanError;
use math::rng::Sequence;
use math::{AdamStep, Isa, Rng, graded, par};
use worlds::backgammon::{Board, Roll};

settings! {
    /// Settings of the strong learner.
    #[derive(Copy)]
    pub struct StrongConfig {
        live lr: f32 = 1e-3, [log(1e-5, 0.05).up_to(0.1), "Learning rate", "",
            "Step size of each update at the start of training. A small rate learns slowly; a large one can undo what was learned."];
        live lr_steps: f32 = 2000.0, [log(1.0, 1e6), "Learning-rate decay", "updates",
            "After this many updates the learning rate has fallen to 0.7 of its start. It then falls with the square root of the updates."];
        live lambda: f32 = 0.7, [linear(0.0, 1.0), "TD λ", "",
            "At 0 the target of a position is the estimate of the next position; at 1 it is the result of the game."];
        live games: usize = 128, [count(1.0, 4096.0), "Games per round", "games",
            "Games played with the same networks before the networks learn from them."];
        live batch: usize = 512, [count(16.0, 8192.0), "Minibatch size", "positions",
            "Positions per update of the networks."];
        live look_after: u64 = 3_600_000, [whole(0.0, 1e7), "Look-ahead start", "games",
            "After this many games the targets are averages over all next rolls. They are more accurate and take about twenty times as \
             long. 0: never."];
        live look_games: usize = 32, [count(1.0, 4096.0), "Look-ahead games per round", "games",
            "Games per round once look-ahead has started."];
        live look_lambda: f32 = 0.7, [linear(0.0, 1.0), "Look-ahead TD λ", "",
            "Weight of the game's result relative to the average over all rolls, once look-ahead has started."];
        live look_passes: usize = 3, [count(1.0, 16.0), "Look-ahead epochs", "",
            "Passes over the games of a round, once look-ahead has started."];
        live look_lr: f32 = 1.0, [log(0.01, 10.0), "Look-ahead learning rate", "times",
            "Factor on the learning rate, once look-ahead has started."];
        fixed hidden: usize = 256, [count(16.0, 1024.0), "Hidden units", "units",
            "Units in the first layer of each network; a multiple of 16. Wider networks are stronger and slower."];
        fixed narrow: usize = 32, [count(8.0, 256.0), "Upper layer width", "units",
            "Units in each layer above the first; a multiple of 8."];
        fixed depth: usize = 1, [count(1.0, 8.0), "Upper layers", "layers",
            "Layers of each network between the first layer and the six outcomes."];
        fixed handmade: bool = true, [SWITCH, "Handmade inputs", "",
            "Adds 24 numbers per side that players count by eye (shots, primes, anchors, timing), and the lead. Without them, the \
             networks see only the checkers in each place."];
        fixed bearoff: bool = true, [SWITCH, "Exact bear-off table", "",
            "Uses an exact table of each side's own bear-off once all checkers are home, in training and in play. Without the \
             table, the networks learn these endings too."];
    }
}

/// Error when the learner is created, configured or restored, or when it receives games from a worker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrongError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("the networks' layers and inputs are fixed; start a new run with these settings")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error("expected games {due:?}, got {found:?}; pass the games of this round in order")]
    OtherGames { found: std::ops::Range<u64>, due: std::ops::Range<u64> },
}

impl StrongConfig {
    /// Returns an upper estimate of the memory of a run with these settings, in bytes. Returns `u64::MAX` for invalid settings. The
    /// estimate assumes games of the maximum length, so a run usually needs much less.
    pub fn bytes(&self) -> u64 {
        if self.check().is_err() {
            return u64::MAX;
        }
        let shape = self.shape();
        let (weights, float) = (shape.weights_len() as f64, size_of::<f32>() as f64);
        let games = self.games.max(if self.look_after == u64::MAX { 0 } else { self.look_games }) as f64;
        // Games usually need a tenth of this memory. The estimate is higher, because games of untrained players may reach the maximum
        // length.
        let samples = games * LONGEST as f64 * size_of::<Sample>() as f64;
        // With look-ahead, fewer games are played at once, and each game evaluates the boards of all 21 rolls.
        let (self_plays, looking) = (SLICE.min(self.games), LOOKAHEAD_SLICE.min(self.games));
        let looking = if self.look_after == u64::MAX { 0 } else { looking };
        let self_plays =
            (self_plays - looking) as f64 * SelfPlay::bytes(shape, boards(false)) + looking as f64 * SelfPlay::bytes(shape, boards(true));
        let learning = Network::bytes(shape) as f64 + Trainer::bytes(shape, self.batch);
        (4.0 * weights * float + learning + self_plays + samples).ceil() as u64
    }

    pub(super) fn shape(&self) -> Shape {
        let &StrongConfig { hidden, narrow, depth, handmade, bearoff, .. } = self;
        Shape { hidden, narrow, depth, handmade, bearoff }
    }

    pub fn check(&self) -> Result<(), StrongError> {
        self.in_range()?;
        multiple("hidden", self.hidden, 16)?;
        Ok(multiple("narrow", self.narrow, 8)?)
    }
}

/// Numbers of the random streams of one seed. The dice of a game also depend on the game's number.
const WEIGHTS: u32 = 0x5754_5300;
const SHUFFLE: u32 = 0x5348_5546;
pub const DICE: u32 = 0x4449_4345;

/// Maximum number of games that the learner plays concurrently in a round without look-ahead.
pub const SLICE: usize = 16;
/// Maximum number of games that the learner plays concurrently in a round with look-ahead.
pub const LOOKAHEAD_SLICE: usize = 4;
/// Maximum number of moves of a game. A longer game is stopped, and the estimate of its last board counts as the outcome.
const LONGEST: usize = 2000;
/// Share of the training over which weights are averaged for players: about the last 1/`PARTS_OF_MEAN` of the training so far, measured in
/// evaluations.
const PARTS_OF_MEAN: f32 = 8.0;

/// Assumed maximum number of results of a roll. The mean over all rolls is assumed to be a quarter of this number.
const RESULTS: usize = 400;

/// Returns the assumed number of boards that are evaluated to choose a move.
pub fn boards(lookahead: bool) -> usize {
    if lookahead { Roll::ALL.len() * RESULTS / 4 } else { RESULTS }
}

/// Returns the number of moves that each of `games` concurrent games plays in a slice of `longest` multiply-adds: from 1 to `LONGEST`.
pub fn moves(shape: Shape, games: usize, lookahead: bool, longest: f64) -> usize {
    let each = games as f64 * boards(lookahead) as f64 * shape.products();
    ((longest / each) as usize).clamp(1, LONGEST)
}

/// Result of a game. It contains the number of samples, but not the samples.
#[derive(Clone, Copy)]
pub struct GameResult {
    pub samples: usize,
    pub moves: u64,
    pub evaluations: u64,
    pub outcome: OutcomeProbs,
}

/// One game of self-play: its buffers and its samples.
pub struct SelfPlay {
    dice: Sequence,
    /// Index of the next move's result among the valuer's boards.
    next: usize,
    is_over: bool,
    valuer: Valuer,
    pub samples: Vec<Sample>,
    /// Value of the board after each move so far: an estimate by a network, or an exact value.
    pub estimates: Vec<OutcomeProbs>,
    /// Mean value of each recorded board over all next rolls, each with its best reply. Empty without look-ahead.
    pub ahead: Vec<OutcomeProbs>,
    moves: u64,
    /// Final outcome; for a stopped game, the estimate of its last board.
    outcome: OutcomeProbs,
}

impl Default for SelfPlay {
    fn default() -> SelfPlay {
        SelfPlay {
            dice: Rng::new(0, DICE).sequence(0),
            next: 0,
            is_over: true,
            valuer: Valuer::default(),
            samples: Vec::new(),
            estimates: Vec::new(),
            ahead: Vec::new(),
            moves: 0,
            outcome: [0.0; OUTCOMES],
        }
    }
}

impl SelfPlay {
    /// Returns the memory of a game of maximum length, in bytes.
    fn bytes(shape: Shape, boards: usize) -> f64 {
        let game = LONGEST * (size_of::<Sample>() + 2 * size_of::<OutcomeProbs>());
        Valuer::bytes(shape, boards) + game as f64
    }

    /// Plays one whole game and sets the targets of its samples. With `lookahead`, the results of all 21 rolls are evaluated before every
    /// move except the first.
    pub fn play(&mut self, network: &Network, seed: u32, game: u64, lambda: f32, lookahead: bool) {
        self.begin(network, seed, game);
        self.advance_moves(network, lambda, lookahead, LONGEST);
    }

    fn begin(&mut self, network: &Network, seed: u32, game: u64) {
        self.dice = Rng { key: [seed, DICE, game as u32, (game >> 32) as u32] }.sequence(0);
        self.samples.clear();
        self.estimates.clear();
        self.ahead.clear();
        (self.moves, self.is_over) = (0, false);
        // Discards the evaluations of a game that was abandoned before its end.
        self.valuer.evaluations = 0;
        let roll = Roll::drawn_to_open(&mut self.dice);
        self.valuer.value_rolls(network, &Board::START, &[roll]);
        self.next = self.valuer.best(0);
    }

    /// Plays up to `moves` more moves; stops at the end of the game.
    fn advance_moves(&mut self, network: &Network, lambda: f32, lookahead: bool, moves: usize) {
        for _ in 0..moves {
            if self.is_over {
                return;
            }
            self.is_over = self.record_move();
            if self.is_over {
                self.set_targets(lambda);
            } else {
                self.choose_next(network, lookahead);
            }
        }
    }

    /// Plays the chosen result and records its board as a sample. Returns true if the game is over. A board with an exact value ends the
    /// game and is not recorded.
    fn record_move(&mut self) -> bool {
        let (left, probs) = (self.valuer.boards[self.next], self.valuer.probs[self.next]);
        self.moves += 1;
        self.estimates.push(probs);
        self.outcome = probs;
        let Some(net) = self.valuer.nets[self.next] else { return true };
        self.samples.push(Sample { inputs: self.valuer.inputs[self.next], open: net::open(&left), net: net as u8, target: probs });
        self.samples.len() == LONGEST
    }

    /// Rolls the dice and chooses the next result.
    fn choose_next(&mut self, network: &Network, lookahead: bool) {
        let board = self.valuer.boards[self.next].turned();
        let roll = Roll::drawn(&mut self.dice);
        if !lookahead {
            self.valuer.value_rolls(network, &board, &[roll]);
            self.next = self.valuer.best(0);
            return;
        }
        self.valuer.value_rolls(network, &board, &Roll::ALL);
        let mut ahead = [0.0; OUTCOMES];
        for (i, of) in Roll::ALL.iter().enumerate() {
            let place = self.valuer.best(i);
            let share = of.ways() as f32 / 36.0;
            ahead.iter_mut().zip(self.valuer.probs[place]).for_each(|(sum, p)| *sum += share * p);
            if *of == roll {
                self.next = place;
            }
        }
        self.ahead.push(outcomes::turned(&ahead));
    }

    /// Sets the targets (λ-returns) of the samples, from the last sample to the first.
    fn set_targets(&mut self, lambda: f32) {
        let mut target = self.outcome;
        for t in (0..self.samples.len()).rev() {
            if let Some(next) = self.estimates.get(t + 1) {
                let ahead = self.ahead.get(t).copied().unwrap_or(outcomes::turned(next));
                let mut surprise = [0.0; OUTCOMES];
                for i in 0..OUTCOMES {
                    surprise[i] = target[i] - next[i];
                }
                target = outcomes::turned(&surprise);
                for i in 0..OUTCOMES {
                    target[i] = ahead[i] + lambda * target[i];
                }
            }
            self.samples[t].target = target;
        }
        self.valuer.stopwatch.spent(net::TARGETS);
    }

    /// Returns the result of the finished game and resets the evaluation count.
    fn take_result(&mut self) -> GameResult {
        GameResult {
            samples: self.samples.len(),
            moves: self.moves,
            evaluations: std::mem::take(&mut self.valuer.evaluations),
            outcome: self.outcome,
        }
    }
}

/// Current phase of a round.
#[derive(Clone, Copy, PartialEq)]
enum Phase {
    /// Games are being played. The field is the number of games of this round that are complete.
    Playing(usize),
    /// A network is being trained. The fields are the index of the network, and the number of minibatches on which the network was trained
    /// in this round.
    Learning(usize, usize),
}

/// The strong learner. The module documentation describes the algorithm.
pub struct Strong {
    settings: StrongConfig,
    seed: u32,
    shape: Shape,
    isa: Isa,
    learned: Vec<f32>,
    /// Average of `learned` over about the last eighth of the training. Players use this average.
    weights: Vec<f32>,
    moments: [Vec<f32>; 2],
    /// Number of optimizer steps of each network.
    steps: [u64; NETS],
    network: Network,
    trainer: Trainer,
    self_plays: Vec<SelfPlay>,
    /// Number of games in progress. Their results have not been added to the round yet.
    #[doc(hidden)]
    pub under_way: usize,
    /// Maximum number of multiply-adds of a slice.
    #[doc(hidden)]
    pub longest: f64,
    samples: [Vec<Sample>; NETS],
    phase: Phase,
    progress: Progress,
    #[doc(hidden)]
    pub round: Round,
    /// True if a loss or a gradient norm of the last round was not finite.
    diverged: bool,
    /// True if remote workers play the learner's games.
    shared: bool,
    clock: Option<fn() -> f64>,
}

/// Sums over the games and updates of a round.
#[derive(Clone, Copy, Default)]
pub struct Round {
    loss: f64,
    grad_norm: f64,
    updates: u64,
    pub evaluations: u64,
    pub moves: u64,
    pub games: u64,
    pub gammons: f64,
    pub backgammons: f64,
    parts_s: [f64; PARTS.len()],
}

impl Strong {
    pub fn new(settings: StrongConfig, seed: u32, isa: Isa) -> Result<Strong, StrongError> {
        settings.check()?;
        let shape = settings.shape();
        let weights = shape.first_weights(isa, seed, WEIGHTS);
        Ok(Strong {
            settings,
            seed,
            shape,
            isa,
            network: Network::new(isa, shape, &weights),
            learned: weights.clone(),
            moments: [vec![0.0; shape.weights_len()], vec![0.0; shape.weights_len()]],
            weights,
            steps: [0; NETS],
            trainer: Trainer::new(isa, shape),
            self_plays: std::iter::repeat_with(SelfPlay::default).take(SLICE.min(settings.games)).collect(),
            under_way: 0,
            longest: state::LONGEST,
            samples: Default::default(),
            phase: Phase::Playing(0),
            progress: Progress::default(),
            round: Round::default(),
            diverged: false,
            shared: false,
            clock: None,
        })
    }

    /// Restores a learner from its [`Learner::parts`]. With the settings and the seed of the saved learner, training continues exactly as
    /// without the interruption.
    pub fn restore(settings: StrongConfig, seed: u32, isa: Isa, find: &Find) -> Result<Strong, StrongError> {
        settings.check()?;
        // Checks the size of the saved networks before memory is allocated.
        let floats = |name: &str| state::floats_of(find, name, settings.shape().weights_len());
        let (learned, weights) = (floats("strong.learned")?, floats("strong.weights")?);
        let moments = [floats("strong.adam.m")?, floats("strong.adam.v")?].map(<[f32]>::to_vec);
        let [iterations, games, moves, evaluations, updates, contact, race] = state::counters(find, "strong.progress")?;
        let mut strong = Strong {
            learned: learned.to_vec(),
            weights: weights.to_vec(),
            moments,
            steps: [contact, race],
            progress: Progress { iterations, games, moves, evaluations, updates },
            ..Strong::new(settings, seed, isa)?
        };
        strong.network.load(&strong.learned);
        Ok(strong)
    }

    pub fn config(&self) -> &StrongConfig {
        &self.settings
    }

    /// Changes the settings between two rounds. Returns an error for changes that need a new learner ([`StrongConfig::can_become`]).
    pub fn set_config(&mut self, settings: StrongConfig) -> Result<(), StrongError> {
        settings.check()?;
        if !self.settings.can_become(&settings) {
            return Err(StrongError::Fixed);
        }
        self.under_way = 0;
        self.self_plays.resize_with(SLICE.min(settings.games), SelfPlay::default);
        self.settings = settings;
        Ok(())
    }

    fn now(&self) -> f64 {
        self.clock.map_or(0.0, |clock| clock())
    }

    fn rate(&self, net: usize) -> f32 {
        let decay = 1.0 + self.steps[net] as f32 / self.settings.lr_steps;
        self.settings.lr / decay.sqrt() * if self.looks_ahead() { self.settings.look_lr } else { 1.0 }
    }

    /// Returns true if this round uses look-ahead. The result does not change during a round.
    fn looks_ahead(&self) -> bool {
        self.progress.games - self.round.games >= self.settings.look_after
    }

    fn lambda(&self) -> f32 {
        if self.looks_ahead() { self.settings.look_lambda } else { self.settings.lambda }
    }

    fn games(&self) -> usize {
        if self.looks_ahead() { self.settings.look_games } else { self.settings.games }
    }

    /// Plays one slice of the games in progress. If no games are in progress, begins the next games. Once all games in progress are over,
    /// adds them to the round. Returns the next phase.
    fn play(&mut self, played: usize) -> Phase {
        let begins = self.under_way == 0;
        if begins {
            let most = if self.looks_ahead() { LOOKAHEAD_SLICE } else { SLICE };
            self.under_way = self.self_plays.len().min(most).min(self.games() - played);
        }
        let count = self.under_way;
        self.play_slice(begins);
        if !self.self_plays[..count].iter().all(|self_play| self_play.is_over) {
            return Phase::Playing(played);
        }
        self.under_way = 0;
        for i in 0..count {
            let game = self.self_plays[i].take_result();
            let samples = std::mem::take(&mut self.self_plays[i].samples);
            self.add_game(&game, &samples);
            self.self_plays[i].samples = samples;
        }
        self.next_phase(played + count)
    }

    /// Plays the moves of one slice in each game in progress. If `begins` is true, begins the games first.
    fn play_slice(&mut self, begins: bool) {
        let (lookahead, lambda, first) = (self.looks_ahead(), self.lambda(), self.progress.games);
        let (network, seed) = (&self.network, self.seed);
        let moves = moves(self.shape, self.under_way, lookahead, self.longest);
        let (start, clock) = (self.now(), self.clock);
        let self_plays = &mut self.self_plays[..self.under_way];
        // Only one running game is timed. All games are assumed to divide their time in the same way.
        let timed = self_plays.iter().position(|self_play| begins || !self_play.is_over).unwrap_or(0);
        par::each_mut(self_plays, |i, self_play| {
            self_play.valuer.stopwatch.begin(if i == timed { clock } else { None });
            if begins {
                self_play.begin(network, seed, first + i as u64);
            }
            self_play.advance_moves(network, lambda, lookahead, moves);
        });
        let spent_s = self.self_plays[timed].valuer.stopwatch.spent_s;
        let share = (self.now() - start) / spent_s.iter().sum::<f64>().max(f64::EPSILON);
        self.round.parts_s.iter_mut().zip(spent_s).for_each(|(sum, spent)| *sum += share * spent);
    }

    /// Adds a complete game and its samples to the round.
    #[doc(hidden)]
    pub fn add_game(&mut self, game: &GameResult, samples: &[Sample]) {
        let games = self.games();
        for sample in samples {
            let kept = &mut self.samples[usize::from(sample.net)];
            if kept.len() == kept.capacity() {
                // Doubles the capacity, up to the maximum number of samples of a round.
                let most = games * LONGEST - kept.len();
                kept.reserve_exact(kept.len().max(1024).min(most));
            }
            kept.push(*sample);
        }
        let [_, won_gammon, won_backgammon, _, lost_gammon, lost_backgammon] = game.outcome.map(f64::from);
        self.round.gammons += won_gammon + lost_gammon;
        self.round.backgammons += won_backgammon + lost_backgammon;
        self.round.moves += game.moves;
        self.round.evaluations += game.evaluations;
        self.progress.evaluations += game.evaluations;
        self.round.games += 1;
        self.progress.games += 1;
    }

    /// Returns the phase after `played` games of the round. Shuffles the samples if training begins.
    fn next_phase(&mut self, played: usize) -> Phase {
        if played < self.games() {
            return Phase::Playing(played);
        }
        let mut order = Rng::new(self.seed, SHUFFLE).sequence(self.progress.iterations << 32);
        for samples in &mut self.samples {
            order.shuffle(samples);
        }
        Phase::Learning(0, 0)
    }

    fn learn(&mut self, net: usize, learned: usize) -> Phase {
        let all = &self.samples[net];
        // The last minibatch also includes the samples that remain after the division.
        let count = (all.len() / self.settings.batch).max(1);
        let passes = if self.looks_ahead() { self.settings.look_passes } else { 1 };
        let piece = learned % count;
        let end = if piece + 1 == count { all.len() } else { (piece + 1) * self.settings.batch };
        let samples = &all[piece * self.settings.batch..end];
        if !samples.is_empty() {
            self.steps[net] += 1;
            let step = AdamStep::new(self.steps[net], self.rate(net), 0.9, 0.999, 1e-8);
            let len = self.shape.net_len();
            let here = net * len..(net + 1) * len;
            let [m, v] = &mut self.moments;
            let moments = [&mut m[here.clone()], &mut v[here.clone()]];
            let weights = &mut self.learned[here];
            let StepStats { loss, grad_norm } = self.trainer.learn(&mut self.network, net, weights, moments, step, samples);
            self.round.loss += f64::from(loss);
            self.round.grad_norm += f64::from(grad_norm);
            self.round.updates += 1;
            self.progress.updates += 1;
        }
        if learned + 1 < count * passes { Phase::Learning(net, learned + 1) } else { Phase::Learning(net + 1, 0) }
    }

    fn end_round(&mut self) -> Stats {
        self.progress.iterations += 1;
        self.progress.moves += self.round.moves;
        let evaluations = (self.progress.evaluations - self.round.evaluations) as f32;
        let new = PARTS_OF_MEAN * self.round.evaluations as f32;
        let share = new / (evaluations + new).max(1.0);
        graded::approach(self.isa, share, &self.learned, &mut self.weights);
        self.samples.iter_mut().for_each(Vec::clear);
        let Round { loss, grad_norm, updates, moves, games, gammons, backgammons, parts_s, .. } = std::mem::take(&mut self.round);
        let of = |sum: f64, count: u64| (sum / count.max(1) as f64) as f32;
        self.diverged = !(loss.is_finite() && grad_norm.is_finite());
        Stats {
            loss: of(loss, updates),
            grad_norm: of(grad_norm, updates),
            lr: self.rate(0),
            mean_length: of(moves as f64, games),
            gammons: of(gammons, games),
            backgammons: of(backgammons, games),
            parts_s,
            steady_evaluations: None,
        }
    }
}

impl Learner for Strong {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(settings, set_config, StrongConfig::check);

    fn advance(&mut self) -> Slice<Stats> {
        self.phase = match self.phase {
            Phase::Playing(_) if self.shared => return Slice::Waiting,
            Phase::Playing(played) => self.play(played),
            Phase::Learning(net, learned) => {
                let start = self.now();
                let next = self.learn(net, learned);
                self.round.parts_s[net::LEARNING] += self.now() - start;
                next
            }
        };
        if self.phase != Phase::Learning(NETS, 0) {
            return Slice::Worked;
        }
        self.phase = Phase::Playing(0);
        Slice::Ended(self.end_round())
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Err("This learner trains on the CPU only: its first layer has no version for a GPU")
    }

    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        Some(self)
    }

    fn at_boundary(&self) -> bool {
        self.phase == Phase::Playing(0) && self.under_way == 0
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let [gradients, _] = &self.moments;
        let of =
            |net::ParamTensor { name, shape, at }| Tensor { name, shape, weights: &self.learned[at.clone()], gradients: &gradients[at] };
        self.shape.parts().into_iter().map(of).collect()
    }

    fn parts(&self) -> Parts {
        let len = self.shape.weights_len();
        let floats = |name: &str, values: &[f32]| (name.to_string(), vec![len], Data::F32(values.to_vec()));
        let Progress { iterations, games, moves, evaluations, updates } = self.progress;
        let [contact, race] = self.steps;
        let counters = vec![iterations, games, moves, evaluations, updates, contact, race];
        vec![
            floats("strong.learned", &self.learned),
            floats("strong.weights", &self.weights),
            floats("strong.adam.m", &self.moments[0]),
            floats("strong.adam.v", &self.moments[1]),
            ("strong.progress".into(), vec![counters.len()], Data::U64(counters)),
        ]
    }

    fn is_finite(&self) -> bool {
        let all = [&self.learned, &self.weights, &self.moments[0], &self.moments[1]];
        !self.diverged && all.iter().all(|values| values.iter().all(|x| x.is_finite()))
    }

    /// Returns the averaged weights, which players use.
    fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = Some(clock);
    }
}

impl SelfTaught for Strong {
    fn player_with(&self, weights: &[f32], evals: u32) -> Box<dyn Player> {
        Box::new(SearchPlayer::new(Network::new(self.isa, self.shape, weights), evals))
    }

    fn networks(&self, boards: &[(Board, Roll)]) -> Result<Vec<NetworkValues>, PlanError> {
        let left: Vec<Board> = boards.iter().map(|(board, _)| board.turned()).collect();
        net::values::values(self.shape, &self.learned, &left, self.isa)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model {
        net::export::model(&Network::new(self.isa, self.shape, &self.weights), &self.weights)
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError> {
        Ok(net::export::examples(&Network::new(self.isa, self.shape, &self.weights), count, seed))
    }
}
