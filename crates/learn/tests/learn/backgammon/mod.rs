//! Tests of the backgammon learners, their networks, players and evaluations.

mod arena;
mod bearoff;
mod inputs;
mod net;
mod offload;
mod published;
mod search;
mod shared;
mod strong;
mod td;
mod values;

use learn::backgammon::{PublishedConfig, SelfTaught};
use learn::{Data, Parts};
use math::Rng;
use worlds::backgammon::{Board, Roll};

/// Returns small settings of the published learner. Every second round ends with a match between generations.
fn small() -> PublishedConfig {
    PublishedConfig {
        evals: 12,
        actors: 3,
        games: 8,
        batch: 32,
        round_batches: 60,
        replay: 300,
        minibatch: 64,
        generation_rounds: 2,
        duel_pairs: 4,
        ..PublishedConfig::default()
    }
}

/// Returns settings in which a search needs several rounds.
fn long() -> PublishedConfig {
    PublishedConfig {
        evals: 60,
        actors: 3,
        games: 5,
        batch: 8,
        round_batches: 9,
        width: 16,
        blocks: 0,
        replay: 300,
        minibatch: 32,
        generation_rounds: 7,
        duel_pairs: 1,
        ..PublishedConfig::default()
    }
}

fn rounds(learner: &mut impl SelfTaught, count: u64) {
    let end = learner.progress().iterations + count;
    while learner.progress().iterations < end {
        learner.advance();
    }
}

#[track_caller]
fn same(what: &str, one: &Parts, other: &Parts) {
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        assert!(one == other, "{what}: {} differs", one.0);
    }
}

/// Returns a copy of `parts` in which `spoil` has changed the array called `name`.
fn spoiled(parts: &Parts, name: &str, spoil: impl Fn(&mut Data)) -> Parts {
    let mut spoiled = parts.clone();
    spoil(&mut spoiled.iter_mut().find(|part| part.0 == name).expect("a part of it").2);
    spoiled
}

/// Returns an argument for [`spoiled`] that sets the word at index `at` to `to`.
fn word(at: usize, to: u32) -> impl Fn(&mut Data) {
    move |data| match data {
        Data::U32(words) => words[at] = to,
        _ => panic!("words"),
    }
}

/// Returns `count` positions with their rolls, from successive games. `play` returns the board after a move.
fn sample_decisions(count: usize, seed: u32, mut play: impl FnMut(Board, Roll) -> Board) -> Vec<(Board, Roll)> {
    let (mut dice, mut board, mut decisions) = (Rng::new(seed, seed).sequence(0), Board::START, Vec::new());
    while decisions.len() < count {
        let roll = Roll::drawn(&mut dice);
        decisions.push((board, roll));
        let left = play(board, roll);
        board = if left.points() == 0 { left.turned() } else { Board::START };
    }
    decisions
}
