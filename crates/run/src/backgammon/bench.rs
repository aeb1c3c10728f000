//! The figures of backgammon: how fast its rules are, its learners, and self-play in the published configuration.

use crate::bench::{Bench, Figure, ROUNDS, median, noise, seconds_a_call};
use graph::{Executor, Packed, Params};
use learn::backgammon::{self, Learner, PARTS, Published, PublishedConfig, Strong, StrongConfig, published};
use math::{Isa, peak};
use worlds::backgammon::{Board, Results, Roll};

/// On so many cores where the figure is one core's, and on all of them.
pub(super) fn run(bench: &mut Bench) {
    let (isa, cores, now) = (bench.isa, math::par::threads(), bench.now);
    let sink = &mut *bench.sink;
    let name = "backgammon.rules.decisions_per_s_core".into();
    sink(Figure { name, value: decided(&now), unit: "decisions/s".into() });
    published_net(isa, &now, sink);
    searched(isa, cores, &now, sink);
    played_out(isa, now, sink);
    taught(&now, sink);
}

/// The published network whole, with the logits of all actions; inference.
fn published_net(isa: Isa, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const BATCH: usize = 64;
    let gflop = 2e-9 * (BATCH * published::PRODUCTS) as f64;
    let plan = published::plan_whole(BATCH, isa).expect("the net is well formed");
    let params = Params::new(plan.table(), 1);
    let packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    executor.input_mut("inputs").copy_from_slice(&noise(BATCH * published::INPUTS));
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(isa, now);
        let call_s = seconds_a_call(now, || executor.run(&params, &packed));
        rates.push(BATCH as f64 / call_s);
        shares.push(gflop / call_s / peak);
    }
    let mut give =
        |name: &str, value, unit: &'static str| sink(Figure { name: name.into(), value, unit: unit.into() });
    give("backgammon.published.net_states_per_s_core", median(&mut rates), "states/s");
    give("backgammon.published.net_share", median(&mut shares), "of peak");
}

/// The published learner that plays and does not learn.
fn players(isa: Isa, actors: usize) -> Published {
    let config = PublishedConfig { actors, most_updates: 0, duel_pairs: 0, ..PublishedConfig::default() };
    Published::new(config, 1, isa).expect("the settings are in range")
}

/// Decisions that the network values a second, for each of some cores, in the whole loop of self-play: rules, inputs, network,
/// tree; nothing is learned. Each round is some stretches together.
fn searched(isa: Isa, cores: usize, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const STRETCHES: usize = 24;
    const SLICES: usize = 2;
    let mut players = players(isa, cores);
    let mut stretch = || {
        let (began_s, before) = (now(), players.progress().evaluations);
        for _ in 0..SLICES {
            players.advance();
        }
        (players.progress().evaluations - before) as f64 / (now() - began_s) / cores as f64
    };
    // The first decisions are all openings.
    for _ in 0..8 * STRETCHES {
        stretch();
    }
    let (mut rates, mut whole, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak::peak_gflops(isa, now);
        let rate = (0..STRETCHES).map(|_| stretch()).sum::<f64>() / STRETCHES as f64;
        rates.push(rate);
        whole.push(2e-9 * published::PRODUCTS as f64 * rate / peak);
        done.push(2e-9 * published::SEARCH_PRODUCTS as f64 * rate / peak);
    }
    let mut give =
        |name: &str, value, unit: &'static str| sink(Figure { name: name.into(), value, unit: unit.into() });
    give("backgammon.selfplay.evals_per_s_core", median(&mut rates), "evaluations/s");
    give(
        "backgammon.selfplay.share",
        median(&mut whole),
        "of peak, had all inputs and actions been computed",
    );
    give("backgammon.selfplay.dense_share", median(&mut done), "of peak, by what dense layers computed");
}

/// Whole games a minute on all threads at 100 evaluations for a roll that is not forced, of a network that has learned nothing,
/// whose games are long; and where the time goes.
fn played_out(isa: Isa, now: fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    /// Evaluations of each table before games end as often as they begin, and those that count.
    const WARM_UP: u64 = 800_000;
    const COUNTED: u64 = 1_000_000;
    let actors = math::par::threads();
    let mut players = players(isa, actors);
    players.set_clock(now);
    let (mut parts, mut shared) = ([0.0; PARTS.len()], 0.0);
    let (mut began_s, mut before) = (now(), players.progress());
    loop {
        let backgammon::Slice::Round(stats) = players.advance() else { continue };
        let progress = players.progress();
        if progress.evaluations < WARM_UP * actors as u64 {
            (began_s, before) = (now(), progress);
            continue;
        }
        parts.iter_mut().zip(stats.parts_s).for_each(|(sum, part_s)| *sum += part_s);
        shared += stats.parts_s.iter().sum::<f64>();
        if progress.evaluations >= (WARM_UP + COUNTED) * actors as u64 {
            break;
        }
    }
    let (after, took_s) = (players.progress(), now() - began_s);
    let mut give =
        |name: &str, value, unit: &'static str| sink(Figure { name: name.into(), value, unit: unit.into() });
    let a_minute = |count: u64| 60.0 * count as f64 / took_s;
    give(
        "backgammon.selfplay.games_per_min",
        a_minute(after.games - before.games),
        "games/min on all threads",
    );
    give(
        "backgammon.selfplay.decisions_per_min",
        a_minute(after.moves - before.moves),
        "decisions/min on all threads",
    );
    for (part, seconds) in PARTS.iter().zip(parts).filter(|(_, seconds)| *seconds > 0.0) {
        give(&format!("backgammon.selfplay.time.{part}"), seconds / shared, "of the time");
    }
}

/// Games a second for each of the cores at hand, of the strong learner with its own settings, learning included, once it plays sensibly;
/// and the boards that its networks value meanwhile.
fn taught(now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const EARLY: u64 = 8;
    let mut strong = Strong::new(StrongConfig::default(), 1, Isa::best()).expect("settings of its own");
    let (mut games, mut evaluations) = (Vec::new(), Vec::new());
    let (mut began_s, mut before) = (now(), strong.progress());
    while games.len() < ROUNDS {
        if strong.advance() == backgammon::Slice::Worked {
            continue;
        }
        let (ended_s, after) = (now(), strong.progress());
        if after.rounds > EARLY {
            let core_s = (ended_s - began_s) * math::par::threads() as f64;
            games.push((after.games - before.games) as f64 / core_s);
            evaluations.push((after.evaluations - before.evaluations) as f64 / core_s);
        }
        (began_s, before) = (ended_s, after);
    }
    let mut give =
        |name: &str, value, unit: &'static str| sink(Figure { name: name.into(), value, unit: unit.into() });
    give("backgammon.td.games_per_s_core", median(&mut games), "games/s");
    give("backgammon.td.evals_per_s_core", median(&mut evaluations), "evaluations/s");
}

/// Decisions a second on one core when each roll's results are all found and one of them is chosen at random, game after
/// game. Each call plays the same games, some forty of them, so that the best one is no luckier than the rest.
fn decided(now: &dyn Fn() -> f64) -> f64 {
    const DECISIONS: u32 = 4096;
    let mut scratch = Results::new();
    let mut play = || {
        let mut numbers = math::Rng::new(7, 1).sequence(0);
        let mut board = Board::START;
        for _ in 0..DECISIONS {
            let opening = board == Board::START;
            let roll = if opening { Roll::drawn_to_open(&mut numbers) } else { Roll::drawn(&mut numbers) };
            let results = board.results(roll, &mut scratch);
            let after = results[numbers.below(results.len() as u32) as usize];
            board = if after.points() == 0 { after.turned() } else { Board::START };
        }
        std::hint::black_box(board);
    };
    let mut rates: Vec<f64> =
        (0..ROUNDS).map(|_| f64::from(DECISIONS) / seconds_a_call(now, &mut play)).collect();
    median(&mut rates)
}
