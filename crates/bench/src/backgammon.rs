//! Benchmarks of backgammon: the rules, the learners, and self-play of the published learner, which has AlphaZero.jl's configuration for
//! backgammon.

#[cfg(feature = "device")]
pub mod device;

use crate::measure::{Bench, Clock, iterate, rates, rates_and_shares};
use crate::training::Inference;
use learn::Learner;
use learn::backgammon::published::{self, Shape};
use learn::backgammon::{PARTS, Published, PublishedConfig, Strong, StrongConfig};
use math::peak::Peak;
use math::rng::Sequence;
use math::rounds::{FEW, ROUNDS, rounds_s};
use math::{Isa, Rng, par};
use worlds::backgammon::{Board, Results, Roll};

/// Runs the CPU benchmarks of backgammon. A figure whose name ends in `_core` is a rate per core.
pub fn measure(bench: &mut Bench) {
    bench.give("backgammon.rules.decisions_per_s_core", &random_decisions(bench.now), "decisions/s");
    published_net(bench);
    search_evaluations(bench);
    self_play(false, bench);
    self_play(true, bench);
    strong_training(bench);
}

/// Measures inference of the whole published network on one core. The whole network computes the logits of all actions.
fn published_net(bench: &mut Bench) {
    const BATCH: usize = 64;
    let (isa, now) = (bench.isa, bench.now);
    let plan = published::plan_whole(Shape::PUBLISHED, BATCH, isa).expect("the net is well formed");
    let mut net = Inference::new(plan);
    let [rates, shares] = net.rates_and_shares("inputs", BATCH, &Peak::new(isa, None, &now), now);
    bench.give("backgammon.published.net_states_per_s_core", &rates, "states/s");
    bench.give("backgammon.published.net_share", &shares, "of peak");
}

/// Creates the published learner with `actors` actors (groups of concurrent games). Duels (matches against the previous generation) are
/// disabled. The other settings have their default values. If `learns` is false, the learner makes no updates.
fn players(isa: Isa, actors: usize, learns: bool) -> Published {
    let mut config = PublishedConfig { actors, duel_pairs: 0, ..PublishedConfig::default() };
    if !learns {
        config.most_updates = 0;
    }
    Published::new(config, 1, isa).expect("the settings are in range")
}

/// Measures network evaluations per second and core in the complete self-play loop (rules, inputs, network, tree search). The loop uses all
/// threads and does not learn. A round consists of several slices (calls of `advance`).
fn search_evaluations(bench: &mut Bench) {
    const SLICES: usize = 48;
    let (isa, cores, now) = (bench.isa, par::threads(), bench.now);
    let mut players = players(isa, cores, false);
    let mut round = || {
        let (began_s, before) = (now(), players.progress().evaluations);
        for _ in 0..SLICES {
            players.advance();
        }
        (players.progress().evaluations - before) as f64 / (now() - began_s) / cores as f64
    };
    // Warm-up, because all games are in the opening at first.
    for _ in 0..8 {
        round();
    }
    let gflop = 2e-9 * Shape::PUBLISHED.products() as f64;
    let [rates, whole] = rates_and_shares(ROUNDS, &Peak::new(isa, None, &now), gflop, now, round);
    let done = Shape::PUBLISHED.search_products() as f64 / Shape::PUBLISHED.products() as f64;
    let done: Vec<f64> = whole.iter().map(|share| done * share).collect();
    bench.give("backgammon.selfplay.evals_per_s_core", &rates, "evaluations/s");
    bench.give("backgammon.selfplay.share", &whole, "of peak, counting all inputs and actions");
    bench.give("backgammon.selfplay.dense_share", &done, "of peak, counting dense layers only");
}

/// Measures games, decisions and updates per minute on all threads, and the share of time of each part of self-play. The search makes 100
/// evaluations for each roll with several legal results. If `learns` is false, the network stays untrained, and its games are long.
fn self_play(learns: bool, bench: &mut Bench) {
    /// Number of evaluations per actor before the first round. After this number, games end about as often as games start.
    const WARM_UP: u64 = 800_000;
    /// Minimum number of evaluations per actor in a round.
    const COUNTED: u64 = 200_000;
    let (actors, now) = (par::threads(), bench.now);
    let mut players = players(bench.isa, actors, learns);
    players.set_clock(now);
    let mut next = WARM_UP * actors as u64;
    let (mut began_s, mut before, mut parts_s) = (now(), players.progress(), [0.0; PARTS.len()]);
    let mut a_minute = [const { Vec::new() }; 3];
    let mut shares = [const { Vec::new() }; PARTS.len()];
    while a_minute[0].len() < FEW {
        let stats = iterate(&mut players).expect("nothing is offloaded");
        parts_s.iter_mut().zip(stats.parts_s).for_each(|(sum, part_s)| *sum += part_s);
        let (after, ended_s) = (players.progress(), now());
        if after.evaluations < next {
            continue;
        }
        if next > WARM_UP * actors as u64 {
            let done = [after.games - before.games, after.moves - before.moves, after.updates - before.updates];
            for (rounds, done) in a_minute.iter_mut().zip(done) {
                rounds.push(60.0 * done as f64 / (ended_s - began_s));
            }
            let all_s: f64 = parts_s.iter().sum();
            shares.iter_mut().zip(parts_s).for_each(|(shares, part_s)| shares.push(part_s / all_s));
        }
        next = after.evaluations + COUNTED * actors as u64;
        (began_s, before, parts_s) = (ended_s, after, [0.0; PARTS.len()]);
    }
    let (name, how) = if learns { ("backgammon.published", "learning on") } else { ("backgammon.selfplay", "nothing learned") };
    for (what, rounds) in ["games", "decisions", "updates"].iter().zip(&a_minute) {
        if learns || *what != "updates" {
            bench.give(format!("{name}.{what}_per_min"), rounds, format!("{what}/min on all threads, {how}"));
        }
    }
    for (part, shares) in PARTS.iter().zip(&shares).filter(|(_, shares)| shares.iter().any(|s| *s > 0.0)) {
        bench.give(format!("{name}.time.{part}"), shares, format!("of the time, {how}"));
    }
}

/// Measures games and network evaluations per second and core of the strong learner with default settings, on all threads and including
/// learning. The early iterations are not measured.
fn strong_training(bench: &mut Bench) {
    const EARLY: u64 = 8;
    let now = bench.now;
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("default settings");
    let (mut games, mut evaluations) = (Vec::new(), Vec::new());
    while games.len() < ROUNDS {
        let (began_s, before) = (now(), strong.progress());
        iterate(&mut strong).expect("nothing is offloaded");
        let after = strong.progress();
        if after.iterations > EARLY {
            let core_s = (now() - began_s) * par::threads() as f64;
            games.push((after.games - before.games) as f64 / core_s);
            evaluations.push((after.evaluations - before.evaluations) as f64 / core_s);
        }
    }
    bench.give("backgammon.td.games_per_s_core", &games, "games/s, learning included");
    bench.give("backgammon.td.evals_per_s_core", &evaluations, "evaluations/s, learning included");
}

/// Returns the decisions per second on one core, in each round. For each decision, the benchmark lists the positions that a roll can lead
/// to, and plays one of them at random. Each timed call plays the same games, about forty.
fn random_decisions(now: Clock) -> Vec<f64> {
    const DECISIONS: u32 = 4096;
    let mut results = Results::new();
    let play = || {
        let mut game = RandomGame::new(Rng::new(7, 1).sequence(0));
        (0..DECISIONS).for_each(|_| _ = game.decide(&mut results));
        std::hint::black_box(game.board);
    };
    rates(f64::from(DECISIONS), &rounds_s(&now, play))
}

/// A sequence of games in which both players move at random.
struct RandomGame {
    board: Board,
    numbers: Sequence,
}

impl RandomGame {
    fn new(numbers: Sequence) -> RandomGame {
        RandomGame { board: Board::START, numbers }
    }

    /// Draws a roll and plays one of its legal results at random. Returns the position before the move, and the roll.
    fn decide(&mut self, results: &mut Results) -> (Board, Roll) {
        let board = self.board;
        let opening = board == Board::START;
        let roll = if opening { Roll::drawn_to_open(&mut self.numbers) } else { Roll::drawn(&mut self.numbers) };
        let results = board.results(roll, results);
        let after = results[self.numbers.below(results.len() as u32) as usize];
        self.board = if after.points() == 0 { after.turned() } else { Board::START };
        (board, roll)
    }
}
