//! Searches that take longer than a round. They continue over the end of the round, so that every setting makes moves. Their trees are a
//! part of a save.

use super::super::{long, rounds, same, spoiled, word};
use learn::backgammon::{Published, PublishedConfig, PublishedError, SelfTaught};
use learn::{Data, Learner, Parts, SavedError, part};
use math::{Isa, Rng};
use worlds::backgammon::{Board, Roll};

fn learner(config: PublishedConfig) -> Published {
    Published::new(config, 5, Isa::best()).unwrap()
}

fn restored(config: &PublishedConfig, parts: &Parts) -> Result<Published, PublishedError> {
    Published::restore(config.clone(), 5, Isa::best(), &|name| part(parts, name))
}

/// Returns the number of decisions of each game in progress.
fn decisions(learner: &Published) -> Vec<u32> {
    let parts = learner.parts();
    let Some((_, Data::U32(games))) = part(&parts, "games") else { panic!("saved games") };
    games.chunks_exact(16).map(|game| game[10]).collect()
}

/// Each game makes a move after at most as much work as three of its searches, also if a round is shorter than a search.
#[test]
fn every_game_moves_however_short_a_round_is() {
    let settings = [
        PublishedConfig { round_batches: 1, ..long() },
        PublishedConfig { round_batches: 1, batch: 2, ..long() },
        PublishedConfig { round_batches: 1, games: 24, ..long() },
        PublishedConfig { round_batches: 3, evals: 200, games: 3, ..long() },
        long(),
    ];
    for config in settings {
        let mut learner = learner(PublishedConfig { duel_pairs: 0, ..config.clone() });
        let most = (3 * config.evals * config.games * config.actors) as u64;
        while learner.progress().evaluations < most {
            learner.advance();
        }
        while !learner.at_boundary() {
            learner.advance();
        }
        let decided = decisions(&learner);
        let games = learner.progress().games;
        assert!(games > 0 || decided.iter().all(|&count| count > 0), "{config:?}: {decided:?}");
        assert!(learner.progress().moves >= (config.games * config.actors) as u64, "{config:?}");
    }
}

#[test]
fn long_searches_resume_exactly() {
    for config in [long(), PublishedConfig { round_batches: 1, ..long() }] {
        let mut whole = learner(config.clone());
        let mut searched = 0;
        for moment in 0..12 {
            rounds(&mut whole, 3);
            let parts = whole.parts();
            searched += part(&parts, "searches").map_or(0, |(_, words)| words.len());
            let mut again = restored(&config, &parts).unwrap();
            same(&format!("moment {moment}"), &again.parts(), &parts);
            rounds(&mut again, 2);
            rounds(&mut whole, 2);
            same(&format!("after moment {moment}"), &again.parts(), &whole.parts());
        }
        assert!(searched > 10_000 && whole.progress().moves > 0, "{searched} words");
    }
}

/// The searches of the default settings are short compared with a round. They restart with the new weights, and no save contains them.
#[test]
fn short_searches_restart_with_each_round() {
    let config = PublishedConfig { round_batches: 120, ..long() };
    let mut learner = learner(config);
    rounds(&mut learner, 2);
    assert!(decisions(&learner).iter().all(|&count| count >= 4));
    assert_eq!(part(&learner.parts(), "searches"), None);
}

/// Each changed word gives either an error or a learner that trains on.
#[test]
fn damaged_searches_are_rejected_or_harmless() {
    let mut whole = learner(long());
    rounds(&mut whole, 5);
    let parts = whole.parts();
    let Some((_, Data::U32(words))) = part(&parts, "searches") else { panic!("searches continue") };
    let (mut numbers, mut rejected, mut accepted) = (Rng::new(4, 4).sequence(0), 0, 0);
    for case in 0..400 {
        let at = if case < 60 { case } else { numbers.below(words.len() as u32) as usize };
        let to = match numbers.below(4) {
            0 => words[at] ^ 1 << numbers.below(32),
            1 => words[at].wrapping_add(1),
            2 => numbers.word(),
            _ => [0, u32::MAX, 0x7F80_0000, 0xFFFF_0000][case % 4],
        };
        match restored(&long(), &spoiled(&parts, "searches", word(at, to))) {
            Err(PublishedError::Saved(SavedError::BadValue { .. })) => rejected += 1,
            Err(error) => panic!("{at} {to}: {error}"),
            Ok(mut learner) => {
                accepted += 1;
                rounds(&mut learner, 3);
            }
        }
    }
    // Numbers such as priors and values can have any value.
    assert!(rejected > 100 && accepted > 50, "{rejected} {accepted}");
    let fewer = spoiled(&parts, "searches", |data| *data = Data::U32(words[1..].to_vec()));
    assert!(restored(&long(), &fewer).is_err());
    let none: Parts = parts.iter().filter(|part| part.0 != "searches").cloned().collect();
    assert!(restored(&long(), &none).is_err());
}

/// In these positions, one play wins at once, and the others do not. Only the value at the end of the game distinguishes them.
#[test]
fn a_search_finds_the_play_that_wins_at_once() {
    let learner = learner(long());
    let mut player = learner.player(120);
    for (places, roll) in [(&[1usize, 2][..], (2, 1)), (&[1, 3], (3, 1)), (&[2, 5], (5, 2))] {
        let (mut mine, mut theirs) = ([0; 25], [0; 25]);
        places.iter().for_each(|&place| mine[place - 1] += 1);
        theirs[0] = 1;
        let board = Board::new(mine, theirs).unwrap();
        let ranked = player.rank(board, Roll::new(roll.0, roll.1).unwrap());
        assert!(ranked.len() > 1 && ranked.iter().filter(|candidate| candidate.board.points() != 0).count() == 1, "{places:?}");
        assert!(ranked[0].board.points() == 1 && ranked[0].share > 0.5, "{places:?}: {:?}", ranked[0]);
    }
}
