//! Inputs of the published learner's network.

use learn::backgammon::published::{Decision, INPUTS, each_input};
use learn::internals::random_play;
use worlds::backgammon::Roll;

/// Computes the inputs by the table in the documentation of `published/inputs.rs`, as a reference.
fn reference(decision: &Decision) -> Vec<f32> {
    let board = decision.board;
    let sides = [board.mine(), board.theirs()];
    let mut all = Vec::new();
    for side in sides {
        for point in 1..=24 {
            let count = f32::from(side.count(point));
            all.extend((1..=5).map(|least| if count >= least as f32 { 1.0 } else { 0.0 }));
            all.push((0.5 * (count - 5.0)).max(0.0));
        }
        let bar = f32::from(side.bar());
        let at_least = |least: f32| if bar >= least { 1.0 } else { 0.0 };
        all.extend([at_least(1.0), at_least(2.0), (0.5 * (bar - 2.0)).max(0.0)]);
        all.extend([0.0, 5.0, 10.0].map(|from| 0.2 * (f32::from(side.off()) - from).clamp(0.0, 5.0)));
        let counts: Vec<u8> = (0..=25).map(|place| side.count(place)).collect();
        let made = |points: &[u8]| points.iter().filter(|&&count| count >= 2).count() as f32;
        let prime = counts[1..25].split(|&count| count < 2).map(<[u8]>::len).max().unwrap() as f32;
        let blots = counts[1..25].iter().filter(|&&count| count == 1).count() as f32;
        let sum = |places: &[u8]| places.iter().map(|&count| f32::from(count)).sum::<f32>();
        let rear = (0..=25).rev().find(|&place| counts[place] > 0).unwrap() as f32;
        all.extend([0.01 * side.pips() as f32, made(&counts[1..7]) / 6.0, prime / 6.0, blots / 5.0]);
        all.extend([rear / 25.0, sum(&counts[19..]) / 5.0, sum(&counts[1..7]) / 15.0]);
    }
    all.push(if board.contact() { 1.0 } else { 0.0 });
    all.push(0.01 * (board.theirs().pips() as f32 - board.mine().pips() as f32));
    let roll = decision.roll();
    all.extend(Roll::ALL.map(|other| if other == roll { 1.0 } else { 0.0 }));
    all.extend((1..=6).map(|die| if die == roll.high() || die == roll.low() { 1.0 } else { 0.0 }));
    all.push(if decision.second { 1.0 } else { 0.0 });
    all
}

#[test]
fn inputs_match_the_reference_and_all_occur() {
    let (mut seen, mut most, mut turn) = (vec![false; INPUTS], 0, 0);
    random_play(60_000, [3, 3], |board, roll, _, numbers| {
        let decision = Decision { second: roll.is_double() && numbers.below(2) == 1, ..Decision::new(*board, roll) };
        assert_eq!(decision.roll(), roll);
        let (mut found, mut count, mut next) = (vec![0.0; INPUTS], 0, 0);
        each_input(&decision, |feature, value| {
            assert!(feature >= next, "in their order, each once");
            (found[feature], count, next) = (value, count + 1, feature + 1);
        });
        most = most.max(count);
        turn += 1;
        // The comparison takes longer than the turn. It includes all turns in which an input occurs for the first time.
        if turn % 16 == 0 || seen.iter().zip(&found).any(|(seen, &x)| !seen && x != 0.0) {
            let expected = reference(&decision);
            for i in 0..INPUTS {
                assert!((found[i] - expected[i]).abs() < 1e-6, "{board:?} input {i}");
            }
        }
        seen.iter_mut().zip(&found).for_each(|(seen, &x)| *seen |= x != 0.0);
    });
    assert!(seen.iter().filter(|seen| !**seen).count() < 20 && most <= 50, "{most} at once");
}
