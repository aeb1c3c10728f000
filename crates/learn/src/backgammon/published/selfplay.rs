//! Self-play. An actor plays several games concurrently. Each decision of a game has its own search. A turn with only one legal play is
//! played without a search. Self-play allocates memory only if a game or a round has unusually many samples.

use super::accelerator::Answer;
use super::config::PublishedConfig;
use super::inputs::Decision;
use super::net::{Weights, play};
use super::replay::{self, Sample};
use super::search::{Search, Seconds};
use super::tree::{self, ROOT};
use graph::Plan;
use math::rng::Sequence;
use math::{Isa, Rng, poly};
use std::sync::Arc;
use worlds::backgammon::{Board, Roll};

/// Expected maximum number of samples of a game. The buffers of longer games grow.
const LONG: usize = 192;
/// Number of the random stream of the games.
const GAMES: u32 = 0x4741_4D45;
/// Number of words of a saved game without its samples and its search.
pub const SAVED: usize = 16;
/// Index of the word with the number of samples of a saved game.
pub const TRACED: usize = 14;
/// Index of the word with the number of words of a saved game's search; 0 if the search restarts.
pub const SEARCHED: usize = 15;
/// Minimum number of decisions of a game in a round with which the game's search restarts in the next round. The searches of a game with
/// fewer decisions take about half a round or longer, so they continue.
const RESTARTS: u32 = 2;

pub struct Game {
    pub decision: Decision,
    /// Index of the player who decides: 0 or 1.
    decider: u32,
    /// Number of decisions so far.
    pub decisions: u32,
    /// Number of turns of both sides so far, including forced turns.
    turns: u32,
    numbers: Sequence,
    /// Number of decisions in this round.
    decided: u32,
    trace: Vec<Sample>,
}

/// Totals over finished games.
#[derive(Clone, Copy, Debug, Default)]
pub struct Endings {
    pub games: u64,
    pub turns: u64,
    pub gammons: u64,
    pub backgammons: u64,
}

impl Endings {
    fn count(&mut self, board: &Board, turns: u32) {
        self.games += 1;
        self.turns += u64::from(turns);
        self.gammons += u64::from(board.points() == 2);
        self.backgammons += u64::from(board.points() == 3);
    }

    pub fn add(&mut self, other: &Endings) {
        self.games += other.games;
        self.turns += other.turns;
        self.gammons += other.gammons;
        self.backgammons += other.backgammons;
    }
}

/// Saved state of several games. `games` has [`SAVED`] words for each game; `traces` are the samples of all games; `searches` are the
/// searches that continue.
#[derive(Clone, Default)]
pub struct Games {
    pub games: Vec<u32>,
    pub traces: Vec<u32>,
    pub searches: Vec<u32>,
}

impl Games {
    pub fn unread(&self) -> Unread<'_> {
        Unread { games: &self.games, traces: &self.traces, searches: &self.searches }
    }
}

/// Part of [`Games`] that has not been read yet.
#[derive(Clone, Copy)]
pub struct Unread<'a> {
    pub games: &'a [u32],
    pub traces: &'a [u32],
    pub searches: &'a [u32],
}

impl Unread<'_> {
    pub fn is_empty(&self) -> bool {
        self.games.is_empty() && self.traces.is_empty() && self.searches.is_empty()
    }

    pub fn to_owned(self) -> Games {
        let Unread { games, traces, searches } = self;
        Games { games: games.to_vec(), traces: traces.to_vec(), searches: searches.to_vec() }
    }

    /// Takes the next `games` games. Returns `None` if there are fewer.
    pub fn split_off(&mut self, games: usize) -> Option<Self> {
        let (mine, games) = self.games.split_at_checked(games * SAVED)?;
        let count = |word: usize| {
            let sum = mine.chunks_exact(SAVED).map(|game| u64::from(game[word])).sum::<u64>();
            usize::try_from(sum).ok()
        };
        let (traces, left) = self.traces.split_at_checked(count(TRACED)?.checked_mul(replay::WORDS)?)?;
        let (searches, further) = self.searches.split_at_checked(count(SEARCHED)?)?;
        *self = Unread { games, traces: left, searches: further };
        Some(Unread { games: mine, traces, searches })
    }
}

/// Values that all actors need for playing. They do not change during a slice.
#[derive(Clone, Copy)]
pub struct Playing<'a> {
    pub config: &'a PublishedConfig,
    pub isa: Isa,
    pub weights: &'a Weights,
    pub clock: fn() -> f64,
}

pub struct Actor {
    pub search: Search,
    pub games: Vec<Game>,
    /// Second tree, to which a reused subtree is copied.
    spare: tree::Tree,
    /// Samples of the games that ended in this round.
    pub finished_samples: Vec<Sample>,
    pub endings: Endings,
    pub moves: u64,
    pub seconds: Seconds,
}

impl Actor {
    pub fn bytes(plan: &Plan, config: &PublishedConfig) -> f64 {
        let &PublishedConfig { evals, games, batch, round_batches, width, .. } = config;
        let sample = size_of::<Sample>() as f64;
        let game = size_of::<Game>() as f64 + LONG as f64 * sample;
        // `expected` is the initial capacity for the samples of a round. `decided` is an estimate of the number of decisions in a round:
        // one per `evals` rows, with a margin. If `decided` is larger than `expected`, the vector doubles its capacity until it suffices.
        let expected = LONG as f64 * games as f64;
        let decided = 1.3 * round_batches as f64 * batch as f64 / evals as f64;
        let grown = if decided > expected { 2.0 * decided } else { 0.0 };
        let search = Search::bytes(plan, width, batch, games, evals) + tree::Tree::bytes(evals) as f64;
        search + games as f64 * game + (expected + grown) * sample
    }

    /// Creates an actor whose first game has the number `first`. The random numbers of a game depend on the seed and the game's number.
    pub fn new(plan: &Arc<Plan>, config: &PublishedConfig, seed: u32, first: usize) -> Actor {
        let game = |i| {
            let numbers = Rng::new(seed, GAMES).sequence(((first + i) as u64) << 40);
            let decision = Decision::new(Board::START, Roll::ALL[1]);
            let trace = Vec::with_capacity(LONG);
            let mut game = Game { decision, decider: 0, decisions: 0, turns: 0, numbers, decided: 0, trace };
            game.begin();
            game
        };
        let mut actor = Actor {
            search: Search::new(plan, config.batch, config.games, config.leaves, config.evals),
            games: (0..config.games).map(game).collect(),
            spare: tree::Tree::new(config.evals),
            finished_samples: Vec::with_capacity(LONG * config.games),
            endings: Endings::default(),
            moves: 0,
            seconds: [0.0; 4],
        };
        actor.begin_round(config);
        actor
    }

    /// Begins a round. Searches that are short compared with a round restart with the new weights.
    pub fn begin_round(&mut self, config: &PublishedConfig) {
        self.finished_samples.clear();
        self.endings = Endings::default();
        (self.moves, self.seconds) = (0, [0.0; 4]);
        self.search.rewind(self.next());
        for i in 0..self.games.len() {
            if !self.continues(i) {
                self.restart_search(i, config);
            }
            self.games[i].decided = 0;
        }
    }

    fn restart_search(&mut self, i: usize, config: &PublishedConfig) {
        let game = &self.games[i];
        self.search.slots[i].begin(game.decision, game.salt(), game.evals(config));
    }

    /// Returns true if the search of game `i` continues in the next round.
    fn continues(&self, i: usize) -> bool {
        self.games[i].decided < RESTARTS && self.search.slots[i].tree.is_open()
    }

    /// Returns the index of the first tree from which the first batch of the next round is filled. If a search continues, the trees keep
    /// their turns, so that every tree gets simulations even if a round has few batches.
    fn next(&self) -> usize {
        if (0..self.games.len()).any(|i| self.continues(i)) { self.search.next } else { 0 }
    }

    pub fn evaluated(&self) -> u64 {
        self.search.evaluated
    }

    /// Plays one batch in three phases: selects the decisions, evaluates them, and backs up the results.
    pub fn step(&mut self, playing: Playing) {
        self.select(playing);
        self.evaluate(playing);
        self.back_up(playing);
    }

    /// First phase of a batch: selects the decisions to evaluate.
    pub fn select(&mut self, playing: Playing) {
        self.search.select(&playing.config.rule(), &playing.clock, &mut self.seconds);
    }

    pub fn selected(&self) -> impl ExactSizeIterator<Item = &Decision> {
        self.search.selected()
    }

    /// Second phase of a batch: evaluates the decisions on the CPU.
    pub fn evaluate(&mut self, playing: Playing) {
        self.search.evaluate(playing.weights, &playing.clock, &mut self.seconds);
    }

    /// Second phase of a batch, instead of [`Actor::evaluate`]: stores the results of a device that evaluated the decisions. The actor's
    /// results begin at row `first` of `answer`. Returns the index after the actor's last row.
    pub fn take(&mut self, answer: &Answer, first: usize) -> usize {
        let rows = self.selected().len();
        let hidden = answer.hidden.chunks_exact(self.search.width()).skip(first);
        for (row, (hidden, heads)) in hidden.zip(&answer.heads.as_chunks().0[first..]).take(rows).enumerate() {
            self.search.set_row(row, hidden, heads);
        }
        first + rows
    }

    /// Third phase of a batch: backs up the results, and plays the chosen action in each game whose search is complete.
    pub fn back_up(&mut self, playing: Playing) {
        let Playing { config, isa, weights, clock } = playing;
        let games = &mut self.games;
        self.search.back_up(weights, &clock, &mut self.seconds, |i, tree| {
            tree.add_noise(isa, &mut games[i].numbers, config.noise, config.noise_alpha);
        });
        let began_s = clock();
        for i in 0..self.games.len() {
            if self.search.slots[i].left == 0 {
                self.decide(i, playing);
            }
        }
        self.seconds[3] += clock() - began_s;
    }

    /// Ends the search of game `i`: plays the chosen action and continues to the next decision that is not forced.
    fn decide(&mut self, i: usize, playing: Playing) {
        let (game, slot) = (&mut self.games[i], &mut self.search.slots[i]);
        let edges = slot.tree.edges(ROOT);
        game.trace.push(replay::sample(&game.decision, game.decider, edges));
        let chosen = game.choose(edges, playing);
        let action = edges[chosen].action;
        game.decisions += 1;
        game.decided += 1;
        self.moves += 1;
        let mut continues = game.play(play(action));
        let mut forced = false;
        // A turn with only one play is forced and needs no search.
        while continues {
            tree::list(&game.decision, &mut self.search.scratch);
            let &[only] = self.search.scratch.plays() else { break };
            forced = true;
            continues = game.play([only[0], only[1]]);
        }
        let salt = game.salt();
        if !continues {
            self.endings.count(&game.decision.board, game.turns);
            game.end(&mut self.finished_samples);
            game.begin();
            slot.tree.begin(game.decision, game.salt());
        } else if forced {
            slot.tree.begin(game.decision, salt);
        } else if slot.tree.reuse_subtree(chosen, game.decision, salt, &mut self.spare, playing.config.evals) {
            slot.tree.add_noise(playing.isa, &mut game.numbers, playing.config.noise, playing.config.noise_alpha);
        }
        slot.left = game.evals(playing.config);
    }

    /// Sets the samples and statistics of a round that a worker played. Before this call, the caller must restore the games with
    /// [`Actor::restore`].
    pub fn credit(&mut self, samples: &[Sample], endings: Endings, moves: u64, evaluated: u64) {
        self.finished_samples.extend(samples);
        (self.endings, self.moves, self.search.evaluated) = (endings, moves, evaluated);
    }

    /// Appends the state of the games, as it is at the beginning of the next round, to `to`. No evaluation may be pending.
    pub fn save(&self, to: &mut Games) {
        let next = self.next();
        for (i, game) in self.games.iter().enumerate() {
            let (position, before) = (game.numbers.position(), to.searches.len());
            if self.continues(i) {
                to.searches.push(self.search.slots[i].left);
                self.search.slots[i].tree.save(&mut to.searches);
            }
            // The first game has the first turn unless another game is marked.
            let decider = game.decider | u32::from(i == next && i > 0) << 1;
            to.games.extend(replay::decision_words(&game.decision));
            to.games.extend([decider, game.decisions, game.turns, position as u32, (position >> 32) as u32]);
            to.games.extend([game.trace.len() as u32, (to.searches.len() - before) as u32]);
            to.traces.extend(game.trace.iter().flatten());
        }
    }

    /// Restores the games from the words of [`Actor::save`], and begins a round. Takes the words of this actor's games from the front of
    /// `saved`. Returns `None` for invalid words.
    pub fn restore(&mut self, config: &PublishedConfig, seed: u32, saved: &mut Unread) -> Option<()> {
        let mut mine = saved.split_off(self.games.len())?;
        self.search.next = 0;
        for i in 0..self.games.len() {
            let Unread { games: words, traces, searches } = mine.split_off(1)?;
            let game = &mut self.games[i];
            game.decision = replay::read_decision(words)?;
            (game.decider, game.decisions, game.turns, game.decided) = (words[9] & 1, words[10], words[11], 0);
            game.numbers = Rng::new(seed, GAMES).sequence(u64::from(words[12]) | u64::from(words[13]) << 32);
            game.trace.clear();
            game.trace.extend(traces.as_chunks::<{ replay::WORDS }>().0);
            if !game.trace.iter().all(|sample| replay::is_sound(sample) && sample[9] < 2) {
                return None;
            }
            tree::list(&game.decision, &mut self.search.scratch);
            if self.search.scratch.plays().len() < 2 {
                return None;
            }
            if words[9] & 2 != 0 {
                self.search.next = i;
            }
            self.restart_search(i, config);
            if !searches.is_empty() {
                self.restore_search(i, searches)?;
            }
        }
        self.begin_round(config);
        Some(())
    }

    /// Restores the search of game `i`, whose decision must be the root of the saved tree.
    fn restore_search(&mut self, i: usize, mut words: &[u32]) -> Option<()> {
        let (slot, game) = (&mut self.search.slots[i], &self.games[i]);
        let left = *words.split_off_first()?;
        slot.tree.restore(&mut words, &mut self.search.scratch)?;
        let sound =
            words.is_empty() && slot.tree.is_open() && *slot.tree.decision(ROOT) == game.decision && (1..=slot.left).contains(&left);
        slot.left = left;
        sound.then_some(())
    }
}

impl Game {
    /// Begins a new game. Every opening roll has several plays, so the first turn is never forced.
    fn begin(&mut self) {
        let roll = Roll::drawn_to_open(&mut self.numbers);
        self.decision = Decision::new(Board::START, roll);
        self.decider = self.numbers.below(2);
        (self.decisions, self.turns) = (0, 0);
        self.trace.clear();
    }

    /// Returns a number from which the tree derives the order of the dice. The number differs between searches.
    fn salt(&self) -> u64 {
        self.numbers.position().wrapping_mul(0xC2B2_AE3D_27D4_EB4F)
    }

    /// Returns the number of simulations for the current decision. Each half of a double gets half the simulations of a turn.
    pub fn evals(&self, config: &PublishedConfig) -> u32 {
        let evals = config.evals as u32;
        if self.decision.roll().is_double() { evals.div_ceil(2) } else { evals }
    }

    /// Returns the index of the chosen edge. In the first `warm_decisions` decisions of a game, the choice is random: the weight of an edge
    /// is its number of visits to the power 1/temperature. Later, and at temperature 0, the edge with the most visits is chosen.
    pub fn choose(&mut self, edges: &[tree::Edge], playing: Playing) -> usize {
        let Playing { config, isa, .. } = playing;
        let most = edges.iter().map(|edge| edge.visits).max().unwrap_or(0);
        if self.decisions < config.warm_decisions && config.temperature > 0.0 && most > 0 {
            let weight = |edge: &tree::Edge| {
                let share = f32::from(edge.visits) / f32::from(most);
                match edge.visits {
                    0 => 0.0,
                    _ if config.temperature == 1.0 => share,
                    _ => poly::exp_1(isa, poly::ln_1(isa, share) / config.temperature),
                }
            };
            let all: f32 = edges.iter().map(weight).sum();
            let mut left = all * self.numbers.uniform();
            for (i, edge) in edges.iter().enumerate() {
                left -= weight(edge);
                if left < 0.0 {
                    return i;
                }
            }
        }
        // If several edges have the most visits, chooses the first, because the search tried it before the others.
        edges.iter().position(|edge| edge.visits == most).unwrap_or(0)
    }

    /// Plays the two moves of an action. If the turn is over, rolls for the other player. Returns false at the end of the game.
    fn play(&mut self, moves: [u8; 2]) -> bool {
        let Decision { board, second, .. } = self.decision;
        let roll = self.decision.roll();
        let after = board.moved(roll, moves);
        if roll.is_double() && !second && after.can_move(roll.high()) {
            self.decision = Decision { board: after, second: true, ..self.decision };
            return true;
        }
        self.turns += 1;
        if after.points() != 0 {
            self.decision.board = after;
            return false;
        }
        self.decision = Decision::new(after.turned(), Roll::drawn(&mut self.numbers));
        self.decider = 1 - self.decider;
        true
    }

    /// Appends the game's samples to `finished_samples`. Each sample gets the outcome for the player who decided. The player of the last
    /// turn has won.
    fn end(&mut self, finished_samples: &mut Vec<Sample>) {
        let points = self.decision.board.points().clamp(1, 3) as u32;
        for sample in &mut self.trace {
            let lost = u32::from(sample[9] != self.decider);
            sample[9] = 3 * lost + points - 1;
        }
        finished_samples.extend(&self.trace);
    }
}
