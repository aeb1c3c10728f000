//! Tests of backgammon. The rules are compared with hand-made cases, with an enumeration of all orders of moves, and with other software:
//! OpenSpiel's results of all rolls and points of finished games, and GNU Backgammon's position ids.

use math::Rng;
use math::rng::Sequence;
use std::collections::BTreeSet;
use testkit::test;
use worlds::backgammon::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/worlds_backgammon.txt");
/// Returns n for tests that cover only every n-th position. `npm test -- --all` covers all positions. In a browser, n is `in_browser`,
/// because integer arithmetic does not depend on the platform.
pub fn stride(in_browser: usize) -> usize {
    match testkit::all() {
        _ if cfg!(target_arch = "wasm32") => in_browser,
        true => 1,
        false => 4,
    }
}

/// Stride of the tests in this file in a browser.
const IN_BROWSER: usize = 16;

pub fn roll(one: u8, other: u8) -> Roll {
    Roll::new(one, other).unwrap()
}

fn numbers(seed: u32) -> Sequence {
    Rng::new(seed, 77).sequence(0)
}

/// Creates a board from pairs of a place and a number of checkers, for each side. Place 25 is the bar; the remaining checkers are borne
/// off.
pub fn board(mine: &[(usize, u8)], theirs: &[(usize, u8)]) -> Board {
    let side = |places: &[(usize, u8)]| {
        let mut all = [0; 25];
        places.iter().for_each(|&(place, count)| all[place - 1] = count);
        all
    };
    Board::new(side(mine), side(theirs)).unwrap()
}

/// Returns chances without gammons and backgammons. `win` is the chance to win a single game.
pub fn singles(win: f32) -> Chances {
    Chances([win, 0.0, 0.0, 1.0 - win, 0.0, 0.0])
}

/// Returns the ids of the results of a roll. Asserts that no result occurs twice.
fn results(of: &Board, roll: Roll) -> BTreeSet<Id> {
    let mut buffer = Results::new();
    let results = of.results(roll, &mut buffer);
    let ids: BTreeSet<Id> = results.iter().map(Board::id).collect();
    assert_eq!(ids.len(), results.len(), "{of:?} {roll:?}: duplicate result");
    ids
}

/// A direct implementation of the rules. The implementation tries the dice in both orders, one step at a time, and keeps the longest plays.
/// If only one die can be played, the implementation keeps the plays of the larger die; if the larger die cannot be played, those of the
/// smaller die.
mod plain {
    use super::*;

    type Sides = [[u8; 25]; 2];

    fn step([mut mine, mut theirs]: Sides, from: usize, die: usize) -> Option<Sides> {
        if mine[from - 1] == 0 || (mine[24] > 0 && from != 25) {
            return None;
        }
        mine[from - 1] -= 1;
        if from > die {
            let to = from - die;
            let other = &mut theirs[24 - to];
            match *other {
                0 => {}
                1 => {
                    *other = 0;
                    theirs[24] += 1;
                }
                _ => return None,
            }
            mine[to - 1] += 1;
        } else {
            let behind = mine[6..].iter().any(|&count| count > 0) || from > 6;
            let farther = mine[from..6].iter().any(|&count| count > 0);
            if behind || (from < die && farther) {
                return None;
            }
        }
        Some([mine, theirs])
    }

    fn all(sides: Sides, dice: &[usize], used: &mut Vec<usize>, ends: &mut Vec<(Vec<usize>, Sides)>) {
        ends.push((used.clone(), sides));
        let Some((&die, rest)) = dice.split_first() else { return };
        for from in 1..=25 {
            if let Some(then) = step(sides, from, die) {
                used.push(die);
                all(then, rest, used, ends);
                used.pop();
            }
        }
    }

    pub fn results(of: &Board, roll: Roll) -> BTreeSet<Id> {
        let sides = [of.mine().places(), of.theirs().places()];
        let (high, low) = (roll.high() as usize, roll.low() as usize);
        let mut ends = Vec::new();
        if high == low {
            all(sides, &[high; 4], &mut vec![], &mut ends);
        } else {
            all(sides, &[high, low], &mut vec![], &mut ends);
            all(sides, &[low, high], &mut vec![], &mut ends);
        }
        let longest = ends.iter().map(|(used, _)| used.len()).max().unwrap();
        ends.retain(|(used, _)| used.len() == longest);
        if longest == 1 && ends.iter().any(|(used, _)| used[0] == high) {
            ends.retain(|(used, _)| used[0] == high);
        }
        ends.into_iter().map(|(_, [mine, theirs])| Board::new(mine, theirs).unwrap().id()).collect()
    }
}

/// Calls `meet` with each position and roll of random games. The games start from the start position or from scattered checkers.
fn met(games: u32, seed: u32, mut meet: impl FnMut(Board, Roll)) {
    let (mut numbers, mut buffer) = (numbers(seed), Results::new());
    for game in 0..games {
        let mut now = if game % 2 == 0 { Board::START } else { scattered(&mut numbers) };
        while now.points() == 0 {
            let roll = Roll::drawn(&mut numbers);
            meet(now, roll);
            let results = now.results(roll, &mut buffer);
            now = results[numbers.below(results.len() as u32) as usize].turned();
        }
    }
}

/// Returns a random board with up to fifteen checkers per side. Low points and the bar are more likely than other places.
fn scattered(numbers: &mut Sequence) -> Board {
    loop {
        let mut sides = [[0u8; 25]; 2];
        for side in &mut sides {
            let reach = [6, 12, 25][numbers.below(3) as usize];
            for _ in 0..=numbers.below(15) {
                let place = if numbers.below(9) == 0 { 25 } else { 1 + numbers.below(reach) };
                side[place as usize - 1] += 1;
            }
        }
        if let Ok(board) = Board::new(sides[0], sides[1]) {
            return board;
        }
    }
}

#[test]
fn results_match_an_enumeration_of_all_orders() {
    let mut compared = 0;
    let stride = stride(IN_BROWSER);
    met(if stride == 1 { 120 } else { 20 }, 1, |now, roll| {
        assert_eq!(results(&now, roll), plain::results(&now, roll), "{now:?} {roll:?}");
        compared += 1;
    });
    let mut numbers = numbers(2);
    for _ in 0..16_000 / stride {
        let (now, roll) = (scattered(&mut numbers), Roll::drawn(&mut numbers));
        assert_eq!(results(&now, roll), plain::results(&now, roll), "{now:?} {roll:?}");
    }
    assert!(compared > 500);
}

fn set(boards: &[Board]) -> BTreeSet<Id> {
    boards.iter().map(Board::id).collect()
}

#[test]
fn plays_identify_results_and_halves_combine_to_them() {
    let (mut buffer, mut half_buffer, mut rest_buffer) = (Results::new(), Results::new(), Results::new());
    let (mut single, mut double) = (0, 0);
    met(if cfg!(target_arch = "wasm32") { 2 } else { 40 }, 9, |board, roll| {
        let results = board.results(roll, &mut buffer);
        let found = set(results);
        let plays: BTreeSet<Play> = buffer.plays().iter().copied().collect();
        assert_eq!(plays.len(), found.len(), "{board:?} {roll:?}");
        assert_eq!(buffer.boards() == [board], plays.contains(&[0; 4]), "{board:?} {roll:?}");
        if !roll.is_double() {
            single += 1;
            for (&result, play) in buffer.boards().iter().zip(buffer.plays()) {
                assert_eq!(board.moved(roll, [play[0], play[1]]), result, "{board:?} {roll:?} {play:?}");
            }
            return;
        }
        double += 1;
        let mut whole = BTreeSet::new();
        board.halves(roll, &mut half_buffer);
        for (&half, play) in half_buffer.boards().iter().zip(half_buffer.plays()) {
            assert!(play[0] >= play[1] && play[2..] == [0, 0]);
            assert_eq!(board.moved(roll, [play[0], play[1]]), half, "{board:?} {roll:?} {play:?}");
            let rest = half.halves(roll, &mut rest_buffer);
            assert_eq!(half.can_move(roll.high()), rest != [half]);
            whole.extend(set(rest));
        }
        assert_eq!(whole, found, "{board:?} {roll:?}");
    });
    assert!(single > 500 && double > 100 || cfg!(target_arch = "wasm32"), "{single} {double}");
}

#[test]
fn both_dice_are_played_if_possible_and_otherwise_the_larger() {
    let rest = (1, 14);
    // Point 9 is blocked, so the checker on 20 can play either the 6 or the 5. The 6 is required.
    let theirs = |more: &[(usize, u8)]| [&[(16, 2), (1, 8)], more].concat();
    let one = |place| [(place, 1), rest];
    let now = board(&one(20), &theirs(&[]));
    assert_eq!(results(&now, roll(6, 5)), set(&[board(&one(14), &theirs(&[]))]));
    // If the 6 is also blocked, the 5 is played.
    let closed = theirs(&[(11, 2)]);
    assert_eq!(results(&board(&one(20), &closed), roll(6, 5)), set(&[board(&one(15), &closed)]));
    // If 14 is blocked and 9 is open, the 5 must be played first.
    let closed = [(11, 2), (1, 8)];
    assert_eq!(results(&board(&one(20), &closed), roll(5, 6)), set(&[board(&one(9), &closed)]));
    // Without a legal move, the board is unchanged.
    let shut = [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2)];
    let waiting = board(&[(25, 1), (13, 5)], &shut);
    Roll::ALL.iter().for_each(|&roll| assert_eq!(results(&waiting, roll), set(&[waiting])));
}

#[test]
fn checkers_on_the_bar_enter_first() {
    let theirs = [(1, 2), (2, 2), (3, 2), (5, 2), (6, 2), (4, 1), (13, 4)];
    // Two checkers are on the bar. The 4 enters one checker and hits a blot. The other die cannot be played.
    let now = board(&[(25, 2), (13, 13)], &theirs);
    let hit = [(1, 2), (2, 2), (3, 2), (5, 2), (6, 2), (25, 1), (13, 4)];
    assert_eq!(results(&now, roll(4, 6)), set(&[board(&[(25, 1), (21, 1), (13, 13)], &hit)]));
    assert_eq!(results(&now, roll(6, 5)), set(&[now]));
    // With double 4, both checkers enter. Two more moves are made from 21, 17, 13 or 9.
    let fours = [
        board(&[(13, 14), (21, 1)], &hit),
        board(&[(17, 2), (13, 13)], &hit),
        board(&[(17, 1), (21, 1), (13, 12), (9, 1)], &hit),
        board(&[(21, 2), (13, 11), (9, 2)], &hit),
        board(&[(21, 2), (13, 12), (5, 1)], &hit),
    ];
    assert_eq!(results(&now, roll(4, 4)), set(&fours));
}

#[test]
fn checkers_hit_at_intermediate_and_final_points() {
    // The checker on 8 is borne off with 5 and 3. On its way it hits the blot on 3 or the blot on 5.
    let now = board(&[(8, 1)], &[(22, 1), (20, 1), (25, 13)]);
    let over = [board(&[], &[(20, 1), (25, 14)]), board(&[], &[(22, 1), (25, 14)])];
    assert_eq!(results(&now, roll(5, 3)), set(&over));
    // The checker moves from 10 to 5 with 3 and 2, either over 7, which is empty, or over 8, which has a blot. Point 5 also has a blot.
    let now = board(&[(10, 1), (1, 14)], &[(17, 1), (20, 1), (1, 13)]);
    let over = [board(&[(5, 1), (1, 14)], &[(17, 1), (25, 1), (1, 13)]), board(&[(5, 1), (1, 14)], &[(25, 2), (1, 13)])];
    assert_eq!(results(&now, roll(3, 2)), set(&over));
    // Two checkers move to the point of a blot, which is hit once.
    let now = board(&[(10, 1), (9, 1), (1, 13)], &[(18, 1), (1, 14)]);
    assert!(results(&now, roll(3, 2)).contains(&board(&[(7, 2), (1, 13)], &[(25, 1), (1, 14)]).id()));
}

#[test]
fn bearing_off_needs_all_checkers_home_and_takes_the_highest_for_a_larger_die() {
    let at = |places: &[(usize, u8)]| board(places, &[(13, 15)]);
    // Either the 1 moves the last checker into the home board and the 6 bears off a checker, or the 6 moves the last checker.
    let expected = [at(&[(6, 3), (5, 1)]), at(&[(6, 2), (5, 2), (1, 1)]), at(&[(6, 3), (4, 1), (1, 1)])];
    assert_eq!(results(&at(&[(7, 1), (6, 3), (5, 1)]), roll(6, 1)), set(&expected));
    // Both dice are larger than the highest point, so two checkers are borne off from this point.
    assert_eq!(results(&at(&[(4, 2), (2, 3)]), roll(6, 5)), set(&[at(&[(2, 3)])]));
    // The 3 cannot bear off from 2 while a checker is on 4. The 3 moves the checker from 4, or bears off from 3 after the 1.
    assert_eq!(results(&at(&[(4, 1), (2, 1)]), roll(3, 1)), set(&[at(&[(1, 2)]), at(&[(2, 1)])]));
    // A double can bear off four checkers, and a game can end before the whole double is played.
    assert_eq!(results(&at(&[(6, 4), (1, 2)]), roll(6, 6)), set(&[at(&[(1, 2)])]));
    assert_eq!(results(&at(&[(2, 3)]), roll(2, 2)), set(&[at(&[])]));
    // Both orders of the dice bear off the same two checkers, so there is only one result.
    assert_eq!(results(&at(&[(2, 1), (1, 2)]), roll(6, 5)), set(&[at(&[(1, 1)])]));
}

#[test]
fn doubles_are_played_as_often_as_possible() {
    let now = board(&[(24, 1), (12, 1)], &[(7, 2), (19, 2)]);
    assert_eq!(results(&now, roll(6, 6)), set(&[now]));
    // The checker on 24 moves to 12. From 12, no 6 is legal.
    let closed = [(19, 2)];
    assert_eq!(results(&board(&[(24, 1), (12, 1)], &closed), roll(6, 6)), set(&[board(&[(12, 2)], &closed)]));
    // Two checkers on 24, five on 13 and three on 8 can each move once. There are 11 ways to choose four of these moves.
    assert_eq!(results(&Board::START, roll(6, 6)).len(), 11);
}

#[test]
fn points_of_a_game_depend_on_the_losers_checkers() {
    for (loser, points) in [
        (&[(1, 14)][..], 1),
        (&[(25, 1), (24, 13)], 1),
        (&[(1, 15)], 2),
        (&[(18, 1), (1, 14)], 2),
        (&[(19, 1), (1, 14)], 3),
        (&[(24, 15)], 3),
        (&[(25, 1), (1, 14)], 3),
    ] {
        let over = board(&[], loser);
        assert_eq!((over.points(), over.turned().points()), (points, -points), "{loser:?}");
    }
    assert_eq!(Board::START.points(), 0);
}

#[test]
fn turning_twice_is_the_identity_and_contact_ends_after_passing() {
    assert!(Board::START.contact());
    for (mine, theirs, contact) in [
        (&[(12, 15)], &[(12, 15)], false),
        (&[(13, 15)], &[(13, 15)], true),
        (&[(6, 15)], &[(18, 15)], false),
        (&[(6, 15)], &[(20, 15)], true),
        (&[(1, 15)], &[(25, 15)], true),
    ] {
        let now = board(mine, theirs);
        assert_eq!((now.contact(), now.turned().contact()), (contact, contact), "{now:?}");
        assert_eq!(now.turned().turned(), now);
    }
}

#[test]
fn results_keep_all_checkers_and_move_at_most_the_pips_of_the_dice() {
    let (mut buffer, mut seen, mut hashes) = (Results::new(), BTreeSet::new(), BTreeSet::new());
    let stride = stride(IN_BROWSER);
    met(200 / stride as u32, 3, |now, roll| {
        let (low, high) = (u32::from(roll.low()), u32::from(roll.high()));
        let total = if roll.is_double() { 4 * high } else { low + high };
        for after in now.results(roll, &mut buffer) {
            let mut hits = 0;
            for (before, after) in [(now.mine(), after.mine()), (now.theirs(), after.theirs())] {
                let on_board: u8 = after.places().iter().sum();
                assert_eq!(on_board + after.off(), CHECKERS, "{now:?} {roll:?}");
                assert!(after.off() >= before.off());
            }
            hits += u32::from(after.theirs().bar() - now.theirs().bar());
            assert!(hits <= 4 && after.theirs().off() == now.theirs().off());
            // A hit costs the other side the pips that the checker on the bar had moved before. Nothing else changes the other side's pip
            // count.
            let lost = after.theirs().pips() - now.theirs().pips();
            assert!(lost >= hits && lost <= 24 * hits);
            let gone = now.mine().pips() - after.mine().pips();
            assert!(gone <= total, "{now:?} {roll:?}");
            let (id, hash) = (after.id(), after.hash64());
            assert_eq!(Board::from_id(id.as_str()).as_ref(), Ok(after));
            assert_eq!(Board::new(after.mine().places(), after.theirs().places()).as_ref(), Ok(after));
            seen.insert(id);
            hashes.insert(hash);
        }
    });
    assert!(seen.len() > 20_000 / stride);
    assert_eq!(seen.len(), hashes.len(), "two boards have the same hash");
}

#[test]
fn rolls_have_the_distribution_of_two_dice() {
    assert_eq!(Roll::ALL.iter().map(|roll| roll.ways()).sum::<u32>(), 36);
    assert_eq!(BTreeSet::from(Roll::ALL.map(|roll| (roll.high(), roll.low()))).len(), 21);
    assert_eq!((roll(2, 5), roll(2, 5).high(), roll(2, 5).low()), (roll(5, 2), 5, 2));
    for (one, other, bad) in [(0, 1, 0), (3, 7, 7), (255, 0, 255)] {
        assert_eq!(Roll::new(one, other), Err(NoSuchRoll(bad)));
    }
    let mut numbers = numbers(4);
    let mut met = [0u32; 21];
    for _ in 0..36_000 {
        let drawn = Roll::drawn(&mut numbers);
        met[Roll::ALL.iter().position(|&roll| roll == drawn).unwrap()] += 1;
    }
    for (met, roll) in met.into_iter().zip(Roll::ALL) {
        // The tolerance is five standard deviations.
        let expected = 1000.0 * f64::from(roll.ways());
        assert!((f64::from(met) - expected).abs() < 5.0 * expected.sqrt(), "{roll:?}: {met}");
    }
    assert!((0..200).all(|_| !Roll::drawn_to_open(&mut numbers).is_double()));
}

#[test]
fn position_ids_match_gnu_backgammon() {
    assert_eq!(Board::START.id().as_str(), "4HPwATDgc/ABMA");
    // The expected id is GNU Backgammon's id of the position after the play 8/5 6/5, from the point of view of the next player on roll.
    let played = board(&[(24, 2), (13, 5), (8, 2), (6, 4), (5, 2)], &[(24, 2), (13, 5), (8, 3), (6, 5)]);
    assert_eq!(played.turned().id().as_str(), "sGfwATDgc/ABMA");
    assert_eq!(played.id().to_string(), "4HPwATCwZ/ABMA");
    let mut compared = 0;
    for line in GOLDEN.lines() {
        if let ["id", id, mine, theirs] = line.split(' ').collect::<Vec<_>>()[..] {
            let places = |text: &str| {
                let counts: Vec<u8> = text.split(',').map(|count| count.parse().unwrap()).collect();
                <[u8; 25]>::try_from(counts).unwrap()
            };
            let board = Board::new(places(mine), places(theirs)).unwrap();
            assert_eq!(board.id().as_str(), id);
            assert_eq!(Board::from_id(id), Ok(board));
            compared += 1;
        }
    }
    assert_eq!(compared, 300);
}

#[test]
fn invalid_position_ids_return_specific_errors() {
    for (id, error) in [
        ("", BoardError::Length(0)),
        ("4HPwATDgc/ABM", BoardError::Length(13)),
        ("4HPwATDgc/ABMA=", BoardError::Length(15)),
        ("4HPwATDgc/ABM=", BoardError::Character('=')),
        ("4HPwATDgc/ABMé", BoardError::Character('é')),
        ("4HPwATDgc ABMA", BoardError::Character(' ')),
        ("4HPwATDgc/ABMB", BoardError::Tail),
        ("4HPwATDgc/ABMI", BoardError::Tail),
        ("AAAAAAAAAAAAgA", BoardError::Tail),
        ("BwAA8P8PAAAAAA", BoardError::Checkers(16)),
        ("//8AAAAOAAAAAA", BoardError::Checkers(16)),
        ("//////////////", BoardError::Checkers(80)),
        ("AACABAAAAAAAAA", BoardError::SharedPoint(1)),
        ("AAAAAAAAAAAAAA", BoardError::BothDone),
        ("27YBANC2bQAABA", BoardError::BothShutOut),
    ] {
        let found = Board::from_id(id);
        assert_eq!(found, Err(error.clone()), "{id}");
        assert!(error.to_string().contains("; "), "{error}");
    }
    let full = [1; 25];
    assert_eq!(Board::new(full, [0; 25]), Err(BoardError::Checkers(25)));
    assert_eq!(Board::new([255; 25], [0; 25]), Err(BoardError::Checkers(6375)));
}

#[test]
fn accepted_ids_are_written_unchanged() {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut read, stride) = (numbers(5), 0, stride(IN_BROWSER));
    for tried in 0..300_000 / stride {
        // A text is a real id with some digits changed, or consists of random digits. The last digit is not changed, because its low bits
        // must be 0.
        let mut text = if tried % 4 == 0 { [b'A'; 14] } else { *b"4HPwATDgc/ABMA" };
        for _ in 0..if tried % 4 == 0 { 14 } else { 1 + numbers.below(3) } {
            text[numbers.below(13) as usize] = DIGITS[numbers.below(64) as usize];
        }
        let text = std::str::from_utf8(&text).unwrap();
        if let Ok(board) = Board::from_id(text) {
            assert_eq!(board.id().as_str(), text);
            read += 1;
        }
    }
    assert!(read > 1000 / stride, "{read}");
}

/// Returns the FNV-1a hash of 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

fn joined(ids: &BTreeSet<Id>) -> String {
    ids.iter().map(Id::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn results_of_all_rolls_match_openspiel() {
    let (mut kinds, stride): (Vec<(&str, usize)>, _) = (Vec::new(), stride(IN_BROWSER));
    for line in GOLDEN.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["kind", name] => kinds.push((name, 0)),
            [id, hash] => {
                let count = &mut kinds.last_mut().unwrap().1;
                *count += 1;
                if !count.is_multiple_of(stride) {
                    continue;
                }
                let now = Board::from_id(id).unwrap();
                let mut text = String::new();
                for low in 1..=6 {
                    for high in low..=6 {
                        text += &format!("{low}{high} {}\n", joined(&results(&now, roll(low, high))));
                    }
                }
                assert_eq!(format!("{:016x}", fnv(&text))[..12], *hash, "{id}");
            }
            _ => {}
        }
    }
    assert!(kinds.iter().map(|(_, count)| count).sum::<usize>() >= 20_000, "{kinds:?}");
    for name in ["bar", "bars", "closed", "home", "contact", "end", "open"] {
        assert!(kinds.iter().any(|&(kind, count)| kind == name && count >= 30), "{name}: {kinds:?}");
    }
}

#[test]
fn result_sets_and_points_of_finished_games_match_openspiel() {
    let (mut sets, mut points) = (0, [0; 3]);
    for line in GOLDEN.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["set", id, one, other, ref after @ ..] => {
                let roll = roll(one.parse().unwrap(), other.parse().unwrap());
                let found = joined(&results(&Board::from_id(id).unwrap(), roll));
                assert_eq!(found.split(' ').collect::<Vec<_>>(), after, "{id} {roll:?}");
                sets += 1;
            }
            ["points", id, count] => {
                let count: i32 = count.parse().unwrap();
                assert_eq!(Board::from_id(id).unwrap().points(), count, "{id}");
                points[count as usize - 1] += 1;
            }
            _ => {}
        }
    }
    assert!(sets >= 200 && points.iter().all(|&count| count >= 100), "{sets} {points:?}");
}

/// Takes random actions until a player is to roll or the game is over.
fn to_roll(game: &mut Game, numbers: &mut Sequence, buffer: &mut Results) {
    while !matches!(game.state(), GameState::ToRoll | GameState::Over(_)) {
        if let GameState::ToPlay(roll) = game.state() {
            let results = game.board().results(roll, buffer);
            let after = results[numbers.below(results.len() as u32) as usize];
            game.play(after, buffer).unwrap();
        } else {
            game.roll([1 + numbers.below(6) as u8, 1 + numbers.below(6) as u8]).unwrap();
        }
    }
}

#[test]
fn the_higher_opening_die_begins_and_equal_dice_are_rolled_again() {
    let mut game = Game::new(Stakes::Money);
    assert!(!game.may_double());
    game.roll([3, 3]).unwrap();
    assert_eq!(game.state(), GameState::Opening);
    let mut other = game;
    game.roll([2, 5]).unwrap();
    assert_eq!((game.on_roll(), game.state()), (Player::Two, GameState::ToPlay(roll(5, 2))));
    other.roll([6, 1]).unwrap();
    assert_eq!((other.on_roll(), other.state()), (Player::One, GameState::ToPlay(roll(6, 1))));
    assert_eq!(game.board(), Board::START);
}

#[test]
fn illegal_actions_return_errors_and_change_nothing() {
    let (mut numbers, mut buffer) = (numbers(6), Results::new());
    let mut game = Game::new(Stakes::Money);
    let before = game;
    assert_eq!(game.play(Board::START, &mut buffer), Err(GameError::Play(GameState::Opening)));
    assert_eq!(game.double(), Err(GameError::Double(GameState::Opening)));
    assert_eq!(game.take(), Err(GameError::Answer(GameState::Opening)));
    assert_eq!(game.pass(), Err(GameError::Answer(GameState::Opening)));
    assert_eq!(game.roll([0, 3]), Err(GameError::Dice(NoSuchRoll(0))));
    assert_eq!(game, before);
    game.roll([3, 1]).unwrap();
    let before = game;
    assert_eq!(game.roll([3, 1]), Err(GameError::Roll(game.state())));
    let refused = game.play(Board::START, &mut buffer).unwrap_err();
    assert_eq!(refused, GameError::Illegal(Board::START.id(), 16));
    assert_eq!(game, before);
    to_roll(&mut game, &mut numbers, &mut buffer);
    game.double().unwrap();
    let before = game;
    assert_eq!(game.roll([3, 1]), Err(GameError::Roll(GameState::Doubled)));
    assert_eq!(game.double(), Err(GameError::Double(GameState::Doubled)));
    assert_eq!(game, before);
    game.pass().unwrap();
    let over = GameState::Over(Ending { winner: game.on_roll(), points: 1 });
    assert_eq!((game.state(), game.roll([3, 1])), (over, Err(GameError::Roll(over))));
    for state in [GameState::Opening, GameState::ToRoll, GameState::Doubled, GameState::ToPlay(roll(1, 1)), over] {
        assert!(GameError::Roll(state).to_string().contains("; "));
    }
    for value in [0, 3, 8192] {
        let cube = Cube { value, owner: None };
        assert_eq!(Game::at(Board::START, Player::One, cube, Stakes::Money), Err(GameError::Cube(value)));
    }
}

#[test]
fn the_taker_owns_the_cube_and_it_multiplies_the_points() {
    let (mut numbers, mut buffer, mut ends) = (numbers(7), Results::new(), [0; 4]);
    for _ in 0..400 / stride(IN_BROWSER) {
        let mut game = Game::new(Stakes::Money);
        let mut value = 1;
        loop {
            to_roll(&mut game, &mut numbers, &mut buffer);
            if let GameState::Over(Ending { winner, points }) = game.state() {
                let won = if winner == game.on_roll() { game.board() } else { game.board().turned() };
                assert_eq!(points, won.points() as u32 * value);
                ends[won.points() as usize] += 1;
                break;
            }
            let may = game.cube().owner.is_none_or(|owner| owner == game.on_roll());
            assert_eq!(game.may_double(), may && value < 4096);
            if game.may_double() && numbers.below(20) == 0 {
                game.double().unwrap();
                game.take().unwrap();
                value *= 2;
                assert_eq!(game.cube(), Cube { value, owner: Some(game.on_roll().other()) });
                assert!(!game.may_double());
            }
            game.roll([1 + numbers.below(6) as u8, 1 + numbers.below(6) as u8]).unwrap();
        }
    }
    assert!(ends[1..].iter().all(|&count| count > 0), "{ends:?}");
}

fn won(winner: Player, points: u32) -> Ending {
    Ending { winner, points }
}

#[test]
fn the_crawford_game_follows_when_a_player_first_needs_one_point() {
    let mut standing = Match::new(5);
    standing = standing.after(won(Player::One, 3));
    assert_eq!((standing.score, standing.crawford), ([3, 0], Crawford::Ahead));
    standing = standing.after(won(Player::One, 1));
    assert_eq!((standing.score, standing.crawford), ([4, 0], Crawford::Now));
    let cube = Cube { value: 1, owner: None };
    let game = |standing| Game::at(Board::START, Player::Two, cube, Stakes::Match(standing)).unwrap();
    assert!(!game(standing).may_double());
    standing = standing.after(won(Player::Two, 4));
    assert_eq!((standing.score, standing.crawford), ([4, 4], Crawford::Past));
    assert!(game(standing).may_double());
    assert_eq!(standing.winner(), None);
    standing = standing.after(won(Player::Two, 12));
    assert_eq!((standing.score, standing.winner()), ([4, 5], Some(Player::Two)));
    assert_eq!(Match::new(1).crawford, Crawford::Now);
}

#[test]
fn match_chances_fall_with_the_points_needed_and_are_certain_at_the_end() {
    for crawford in [Crawford::Now, Crawford::Past] {
        let of = |away: u16| Match { length: 99, score: [98, 99 - away], crawford }.chance(Player::Two);
        assert!((1..98).all(|away| of(away + 1) <= of(away)), "{crawford:?}");
    }
    assert_eq!(Match::new(7).chance(Player::One), 0.5);
    let over = Match::new(3).after(won(Player::Two, 8));
    assert_eq!((over.chance(Player::One), over.chance(Player::Two)), (0.0, 1.0));
}

#[test]
fn cube_decisions_follow_the_estimated_chances() {
    let middle = Cube { value: 1, owner: None };
    let money = Game::at(Board::START, Player::One, middle, Stakes::Money).unwrap();
    let doubled = |game: Game| {
        let mut game = game;
        game.double().unwrap();
        game
    };
    for (win, double) in [(0.3, false), (0.5, false), (0.69, false), (0.71, true), (0.8, true), (0.95, true)] {
        assert_eq!(money.should_double(&singles(win)), double, "{win}");
    }
    for (win, take) in [(0.05, false), (0.2, false), (0.24, true), (0.5, true)] {
        assert_eq!(doubled(money).should_take(&singles(win)), take, "{win}");
        assert!(!money.should_take(&singles(win)), "no double was offered");
    }
    // A take is wrong if gammon losses are likely.
    assert!(!doubled(money).should_take(&Chances([0.3, 0.0, 0.0, 0.3, 0.4, 0.0])));
    // A player does not double without access to the cube, or with chances that are NaN.
    let theirs = Cube { value: 2, owner: Some(Player::Two) };
    assert!(!Game::at(Board::START, Player::One, theirs, Stakes::Money).unwrap().should_double(&singles(0.75)));
    assert!(!money.should_double(&Chances([f32::NAN; 6])));
    // The leader of the match gains nothing by doubling.
    let standing = Match { length: 7, score: [3, 6], crawford: Crawford::Past };
    let ahead = Game::at(Board::START, Player::Two, middle, Stakes::Match(standing)).unwrap();
    assert!((0..=10).all(|tenth| !ahead.should_double(&singles(0.1 * tenth as f32))));
    let sides = Chances([0.3, 0.2, 0.1, 0.15, 0.15, 0.1]);
    assert!((sides.equity() + sides.turned().equity()).abs() < 1e-6 && (sides.win() - 0.6).abs() < 1e-6);
}
