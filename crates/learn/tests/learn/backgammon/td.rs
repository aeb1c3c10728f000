//! Self-play of the strong learner: targets, slices of rounds, and games of workers.

use learn::backgammon::{Strong, StrongConfig};
use learn::internals::LONGEST;
use learn::internals::strong::{
    DICE, GameResult, LOOKAHEAD_SLICE, Network, OUTCOMES, OutcomeProbs, SLICE, SelfPlay, Shape, Valuer, boards, moves, turned,
};
use learn::{Learner, Slice};
use math::{Isa, Rng};
use worlds::backgammon::{Board, Roll};

const SHAPE: Shape = Shape { hidden: 32, narrow: 32, depth: 1, handmade: true, bearoff: true };

fn network() -> Network {
    let mut weights = SHAPE.first_weights(Isa::best(), 3, 1);
    // The weights are doubled, so that the estimates of different boards differ more.
    weights.iter_mut().for_each(|w| *w *= 2.0);
    Network::new(Isa::best(), SHAPE, &weights)
}

/// Plays a complete game and sets the targets of its boards.
fn played(lambda: f32, lookahead: bool) -> SelfPlay {
    let mut self_play = SelfPlay::default();
    self_play.play(&network(), 5, 2, lambda, lookahead);
    assert!(self_play.samples.len() > 20 && self_play.estimates.len() > self_play.samples.len());
    self_play
}

fn close(one: &OutcomeProbs, other: &OutcomeProbs, t: usize) {
    let far = one.iter().zip(other).any(|(a, b)| (a - b).abs() > 2e-5);
    assert!(!far, "board {t}: {one:?} {other:?}");
}

#[test]
fn lambda_one_targets_the_outcome_and_lambda_zero_the_next_estimate() {
    let (whole, next) = (played(1.0, false), played(0.0, false));
    let last = whole.estimates.len() - 1;
    for (t, sample) in whole.samples.iter().enumerate() {
        let turns = (last - t) % 2 == 1;
        let outcome = whole.estimates[last];
        close(&sample.target, &if turns { turned(&outcome) } else { outcome }, t);
        close(&next.samples[t].target, &turned(&next.estimates[t + 1]), t);
    }
    // With λ between 0 and 1, the target mixes the next estimate and the next target.
    let mixed = played(0.6, false);
    for t in 0..last - 1 {
        let came = mixed.samples[t + 1].target;
        let probs: OutcomeProbs = std::array::from_fn(|i| 0.4 * mixed.estimates[t + 1][i] + 0.6 * came[i]);
        close(&mixed.samples[t].target, &turned(&probs), t);
    }
}

#[test]
fn look_ahead_targets_the_mean_of_the_best_replies_and_leaves_the_game_unchanged() {
    let (plain, looked) = (played(0.0, false), played(0.0, true));
    assert!(plain.estimates == looked.estimates && looked.ahead.len() == looked.samples.len());
    for (t, sample) in looked.samples.iter().enumerate() {
        close(&sample.target, &looked.ahead[t], t);
    }
    // The expected target of the first board is the mean over the rolls after this board.
    let (mut valuer, network) = (Valuer::default(), network());
    let mut dice = Rng { key: [5, DICE, 2, 0] }.sequence(0);
    valuer.value_rolls(&network, &Board::START, &[Roll::drawn_to_open(&mut dice)]);
    let left = valuer.boards[valuer.best(0)];
    let mut mean = [0.0; OUTCOMES];
    for roll in Roll::ALL {
        valuer.value_rolls(&network, &left.turned(), &[roll]);
        let best = valuer.probs[valuer.best(0)];
        mean.iter_mut().zip(best).for_each(|(sum, p)| *sum += roll.ways() as f32 / 36.0 * p);
    }
    close(&looked.samples[0].target, &turned(&mean), 0);
    // With λ above 0, the target also includes λ times the difference between the next target and the next estimate.
    let mixed = played(0.5, true);
    for t in 0..mixed.samples.len() - 1 {
        let (next, came) = (mixed.estimates[t + 1], mixed.samples[t + 1].target);
        let surprise = turned(&std::array::from_fn(|i| came[i] - next[i]));
        let probs: OutcomeProbs = std::array::from_fn(|i| mixed.ahead[t][i] + 0.5 * surprise[i]);
        close(&mixed.samples[t].target, &probs, t);
    }
}

/// The largest networks and the largest minibatch.
const LARGEST: (Shape, usize) = (Shape { hidden: 1024, narrow: 256, depth: 8, handmade: true, bearoff: true }, 8192);

#[test]
fn slices_stay_within_the_limit() {
    let (shape, batch) = LARGEST;
    let Shape { hidden, narrow, depth, .. } = shape;
    let settings = StrongConfig { hidden, narrow, depth, batch, ..StrongConfig::default() };
    assert_eq!(settings.check(), Ok(()));
    for (shape, games, lookahead) in [(shape, SLICE, false), (shape, LOOKAHEAD_SLICE, true), (SHAPE, SLICE, false), (SHAPE, 1, true)] {
        let moves = moves(shape, games, lookahead, LONGEST);
        let all = (moves * games * boards(lookahead)) as f64 * shape.products();
        assert!(moves > 1 && all <= LONGEST, "{moves} moves, {all:e} multiply-adds");
    }
    // Training on a board needs three times as many multiply-adds as its evaluation. The last minibatch of a round may be almost twice
    // as large.
    assert!(3.0 * (2 * batch - 1) as f64 * shape.products() <= LONGEST);
    // A typical game has some 60 moves and fits in one slice.
    let StrongConfig { hidden, narrow, depth, handmade, bearoff, .. } = StrongConfig::default();
    assert!(moves(Shape { hidden, narrow, depth, handmade, bearoff }, SLICE, false, LONGEST) > 120);
}

#[test]
fn games_do_not_depend_on_slices() {
    let settings = StrongConfig { hidden: 32, games: 10, batch: 128, ..StrongConfig::default() };
    let settings = StrongConfig { look_after: 20, look_games: 3, ..settings };
    let run = |longest: f64| {
        let mut strong = Strong::new(settings, 4, Isa::best()).expect("sound settings");
        strong.longest = longest;
        let (mut slices, mut within) = (0, 0);
        while strong.progress().iterations < 4 {
            strong.advance();
            slices += 1;
            within += usize::from(strong.under_way > 0 && !strong.at_boundary());
        }
        (strong.parts(), slices, within)
    };
    let (whole, few, _) = run(f64::INFINITY);
    let (pieces, many, within) = run(0.0);
    assert!(pieces == whole && many > few + 100 && within > 100, "{few} and {many} slices");
}

#[test]
fn gammons_and_backgammons_of_both_sides_are_counted() {
    let settings = StrongConfig { hidden: 32, games: 10, batch: 128, ..StrongConfig::default() };
    let mut strong = Strong::new(settings, 4, Isa::best()).expect("sound settings");
    // Numbers of single games, gammons and backgammons won, then lost.
    for (ending, games) in [3, 1, 0, 2, 2, 1].into_iter().enumerate() {
        let mut outcome = [0.0; OUTCOMES];
        outcome[ending] = 1.0;
        let game = GameResult { samples: 0, moves: 50, evaluations: 900, outcome };
        (0..games).for_each(|_| strong.add_game(&game, &[]));
    }
    let round = &strong.round;
    assert_eq!((round.games, round.gammons, round.backgammons), (9, 3.0, 1.0));
    assert_eq!((round.moves, round.evaluations), (450, 8100));
}

#[test]
fn received_games_replace_games_in_progress() {
    let settings = StrongConfig { hidden: 32, games: 6, batch: 128, ..StrongConfig::default() };
    let begin = |longest: f64| {
        let mut strong = Strong::new(settings, 4, Isa::best()).expect("sound settings");
        strong.longest = longest;
        strong
    };
    let (mut own, mut shared) = (begin(f64::INFINITY), begin(0.0));
    (0..30).for_each(|_| assert!(shared.advance() == Slice::Worked));
    assert!(shared.under_way == 6 && !shared.at_boundary());
    let round = shared.round().expect("its games are due");
    let first = round.games.start;
    shared.take_games(&round.play(Isa::best(), first..first + 2)).expect("games that are due");
    while shared.progress().iterations == 0 {
        shared.advance();
    }
    while own.progress().iterations == 0 {
        own.advance();
    }
    assert!(own.parts() == shared.parts());
}
