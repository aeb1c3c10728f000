//! The figures of backgammon: how fast its rules are, its learners, and self-play in the published configuration.

use crate::bench::{Bench, FEW, Figure, ROUND_S, ROUNDS, noise, rounds_s, sustained_s};
use graph::{Executor, Packed, Params};
use learn::backgammon::published::Shape;
use learn::backgammon::{PARTS, Published, PublishedConfig, Strong, StrongConfig, published};
use learn::{Learner, Slice};
use math::Isa;
use math::peak::Peak;
use worlds::backgammon::{Board, Results, Roll};

/// On so many cores where the figure is one core's, and on all of them.
pub(super) fn run(bench: &mut Bench) {
    let (isa, cores, now) = (bench.isa, math::par::threads(), bench.now);
    let sink = &mut *bench.sink;
    sink(Figure::measured("backgammon.rules.decisions_per_s_core", &decided(&now), "decisions/s"));
    published_net(isa, &now, sink);
    searched(isa, cores, &now, sink);
    played_out(isa, now, false, sink);
    played_out(isa, now, true, sink);
    taught(&now, sink);
}

/// The published network whole, with the logits of all actions; inference.
fn published_net(isa: Isa, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const BATCH: usize = 64;
    let gflop = 2e-9 * (BATCH * Shape::PUBLISHED.products()) as f64;
    let plan = published::plan_whole(Shape::PUBLISHED, BATCH, isa).expect("the net is well formed");
    let params = Params::new(plan.table(), 1);
    let packed = Packed::new(&plan, &params);
    let mut executor = Executor::new(&plan);
    executor.input_mut("inputs").copy_from_slice(&noise(BATCH * published::INPUTS));
    let peak = Peak::new(isa, None, now);
    let (mut rates, mut shares) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let peak = peak.gflops(now);
        let call_s = sustained_s(ROUND_S, now, || executor.run(&params, &packed));
        rates.push(BATCH as f64 / call_s);
        shares.push(gflop / call_s / peak);
    }
    sink(Figure::measured("backgammon.published.net_states_per_s_core", &rates, "states/s"));
    sink(Figure::measured("backgammon.published.net_share", &shares, "of peak"));
}

/// The published learner that plays so many actors' games, with its own settings otherwise; it learns or it does not.
fn players(isa: Isa, actors: usize, learns: bool) -> Published {
    let mut config = PublishedConfig { actors, duel_pairs: 0, ..PublishedConfig::default() };
    if !learns {
        config.most_updates = 0;
    }
    Published::new(config, 1, isa).expect("the settings are in range")
}

/// Decisions that the network values a second, for each of some cores, in the whole loop of self-play: rules, inputs, network,
/// tree; nothing is learned. Each round is some slices together.
fn searched(isa: Isa, cores: usize, now: &dyn Fn() -> f64, sink: &mut dyn FnMut(Figure)) {
    const SLICES: usize = 48;
    let mut players = players(isa, cores, false);
    let mut round = || {
        let (began_s, before) = (now(), players.progress().evaluations);
        for _ in 0..SLICES {
            players.advance();
        }
        (players.progress().evaluations - before) as f64 / (now() - began_s) / cores as f64
    };
    // The first decisions are all openings.
    for _ in 0..8 {
        round();
    }
    let peak = Peak::new(isa, None, now);
    let (mut rates, mut whole, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (peak, rate) = (peak.gflops(now), round());
        rates.push(rate);
        whole.push(2e-9 * Shape::PUBLISHED.products() as f64 * rate / peak);
        done.push(2e-9 * Shape::PUBLISHED.search_products() as f64 * rate / peak);
    }
    let mut give = |name: &str, rounds: &[f64], unit: &'static str| sink(Figure::measured(name, rounds, unit));
    give("backgammon.selfplay.evals_per_s_core", &rates, "evaluations/s");
    give("backgammon.selfplay.share", &whole, "of peak, had all inputs and actions been computed");
    give("backgammon.selfplay.dense_share", &done, "of peak, by what dense layers computed");
}

/// Whole games a minute on all threads at 100 evaluations for a roll that is not forced, and where the time goes: of a network that
/// has learned nothing, whose games are long, or of one that learns from them.
fn played_out(isa: Isa, now: fn() -> f64, learns: bool, sink: &mut dyn FnMut(Figure)) {
    /// Evaluations of each table before games end as often as they begin, and those of a round.
    const WARM_UP: u64 = 800_000;
    const COUNTED: u64 = 200_000;
    let actors = math::par::threads();
    let mut players = players(isa, actors, learns);
    players.set_clock(now);
    let mut next = WARM_UP * actors as u64;
    let (mut began_s, mut before, mut parts_s) = (now(), players.progress(), [0.0; PARTS.len()]);
    let mut a_minute = [const { Vec::new() }; 3];
    let mut shares = [const { Vec::new() }; PARTS.len()];
    while a_minute[0].len() < FEW {
        let Slice::Ended(stats) = players.advance() else { continue };
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
    let mut give = |what: &str, rounds: &[f64], unit: String| {
        sink(Figure::measured(format!("{name}.{what}"), rounds, unit));
    };
    for (what, rounds) in ["games", "decisions", "updates"].iter().zip(&a_minute) {
        if learns || *what != "updates" {
            give(&format!("{what}_per_min"), rounds, format!("{what}/min on all threads, {how}"));
        }
    }
    for (part, shares) in PARTS.iter().zip(&shares).filter(|(_, shares)| shares.iter().any(|s| *s > 0.0)) {
        give(&format!("time.{part}"), shares, format!("of the time, {how}"));
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
        if strong.advance() == Slice::Worked {
            continue;
        }
        let (ended_s, after) = (now(), strong.progress());
        if after.iterations > EARLY {
            let core_s = (ended_s - began_s) * math::par::threads() as f64;
            games.push((after.games - before.games) as f64 / core_s);
            evaluations.push((after.evaluations - before.evaluations) as f64 / core_s);
        }
        (began_s, before) = (ended_s, after);
    }
    sink(Figure::measured("backgammon.td.games_per_s_core", &games, "games/s, learning included"));
    sink(Figure::measured("backgammon.td.evals_per_s_core", &evaluations, "evaluations/s, learning included"));
}

/// Decisions a second on one core when each roll's results are all found and one of them is chosen at random, game after
/// game. Each call plays the same games, some forty of them.
fn decided(now: &dyn Fn() -> f64) -> Vec<f64> {
    const DECISIONS: u32 = 4096;
    let mut scratch = Results::new();
    let play = || {
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
    rounds_s(now, play).into_iter().map(|play_s| f64::from(DECISIONS) / play_s).collect()
}
