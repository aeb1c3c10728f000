//! Inputs of the strong learner's networks. Handmade features are compared with plain searches for hits and points.

use learn::internals::random_play;
use learn::internals::strong::{Changes, INPUTS, Inputs, READ, USED, broken_prime, layout, prime, read_inputs, ways_past};
use math::Isa;
use worlds::backgammon::{BAR, Board, Results, Roll};

/// Number of places of a side: borne off, 24 points, bar.
const PLACES: usize = BAR + 1;
/// Mask of the points 1 to 24.
const POINTS: u32 = (1 << BAR) - 2;

/// Returns boards from random games, each after a move.
fn random_boards(count: usize) -> Vec<Board> {
    let mut boards = Vec::new();
    random_play(count, [5, 5], |_, _, results, numbers| boards.push(results[numbers.below(results.len() as u32) as usize]));
    boards
}

fn read_all(isa: Isa, boards: &[Board]) -> Vec<Inputs> {
    let mut inputs = vec![[0; INPUTS]; boards.len()];
    read_inputs(isa, true, boards, &mut inputs);
    inputs
}

#[test]
fn inputs_agree_on_every_instruction_set_and_all_occur() {
    let boards = random_boards(4000);
    let first = read_all(Isa::Portable, &boards);
    for isa in Isa::available() {
        assert!(read_all(isa, &boards) == first, "{isa:?}");
    }
    for input in 0..USED {
        assert!(first.iter().any(|inputs| inputs[input] > 0), "input {input} never occurs");
    }
}

#[test]
fn without_handmade_features_only_places_are_read() {
    let boards = random_boards(300);
    let mut bare = vec![[0; INPUTS]; boards.len()];
    read_inputs(Isa::best(), false, &boards, &mut bare);
    const SECOND: usize = PLACES + READ;
    for (bare, whole) in bare.iter().zip(read_all(Isa::best(), &boards)) {
        for (input, (&bare, whole)) in bare.iter().zip(whole).enumerate() {
            let place = input % SECOND < PLACES && input < 2 * SECOND;
            assert_eq!(bare, if place { whole } else { 0 }, "input {input}");
        }
    }
}

#[test]
fn changes_transform_the_rows_of_one_board_into_those_of_another() {
    let boards = random_boards(300);
    let inputs = read_all(Isa::best(), &boards);
    let (layout, mut changes, mut rows) = (layout(), Changes::default(), Vec::new());
    let set = |inputs: &Inputs, rows: &mut Vec<u16>| {
        layout.all(inputs, rows);
        rows.iter().copied().collect::<std::collections::BTreeSet<u16>>()
    };
    for pair in inputs.windows(2) {
        let (mut from, to) = (set(&pair[0], &mut rows), set(&pair[1], &mut rows));
        layout.changes(Isa::best(), &pair[0], &pair[1], &mut changes);
        assert!(changes.taken().iter().all(|row| from.remove(row)));
        assert!(changes.added().iter().all(|row| from.insert(*row)));
        assert_eq!(from, to);
    }
}

/// Returns true if the dice, played in this order, can hit a checker. The move may end with the hit, before all dice are used. Each
/// side's places are numbered from its own point of view.
fn can_hit(mine: &mut [u8; PLACES], theirs: &[u8; PLACES], dice: &[usize]) -> bool {
    let [die, then @ ..] = dice else { return false };
    let from = if mine[BAR] > 0 { BAR..=BAR } else { 1..=BAR - 1 };
    for from in from.filter(|from| from > die) {
        let there = theirs[25 - (from - die)];
        if mine[from] == 0 || there > 1 {
            continue;
        }
        mine[from] -= 1;
        mine[from - die] += 1;
        let hit = there == 1 || can_hit(mine, theirs, then);
        mine[from] += 1;
        mine[from - die] -= 1;
        if hit {
            return true;
        }
    }
    false
}

#[test]
fn shots_are_the_rolls_that_can_hit() {
    const SHOTS: usize = 2 * PLACES + READ;
    let (boards, mut scratch) = (random_boards(3000), Results::new());
    let (mut tested, mut waiting, mut beyond) = (0, 0, 0);
    for (board, inputs) in boards.iter().zip(read_all(Isa::best(), &boards)) {
        if !board.contact() || board.points() != 0 {
            continue;
        }
        let (mut mine, theirs) = (board.theirs().counts(), board.mine().counts());
        let mut ways = 0;
        for roll in Roll::ALL {
            let (high, low) = (usize::from(roll.high()), usize::from(roll.low()));
            let hit = if high == low {
                can_hit(&mut mine, &theirs, &[high; 4])
            } else {
                [[high, low], [low, high]].iter().any(|dice| can_hit(&mut mine, &theirs, dice))
            };
            ways += if hit { roll.ways() } else { 0 };
            // `can_hit` finds every hit that the rules allow. It also finds some hits that are illegal, because the rules require the
            // largest possible number of dice to be played.
            let results = board.turned().results(roll, &mut scratch);
            let allowed = results.iter().any(|after| after.theirs().bar() > board.mine().bar());
            assert!(hit || !allowed, "{board:?} {roll:?}");
            beyond += u32::from(hit && !allowed);
        }
        assert_eq!(u32::from(inputs[SHOTS]), ways, "{board:?}");
        tested += 1;
        waiting += u32::from(mine[BAR] > 0);
    }
    assert!(tested > 2500 && waiting > 200 && beyond < 50, "{tested} {waiting} {beyond}");
}

#[test]
fn reachable_outfield_counts_open_points_from_the_seventh_that_one_die_reaches() {
    const OUTFIELD: usize = PLACES + 20;
    let boards = random_boards(1000);
    for (board, inputs) in boards.iter().zip(read_all(Isa::best(), &boards)) {
        if !board.contact() {
            continue;
        }
        let (mine, theirs) = (board.mine().counts(), board.theirs().counts());
        let is_reached = |&point: &usize| theirs[BAR - point] < 2 && (1..=6usize).any(|die| point + die <= BAR && mine[point + die] > 0);
        let reached = (7..BAR).filter(is_reached).count();
        assert_eq!(usize::from(inputs[OUTFIELD]), reached, "{board:?}");
    }
}

#[test]
fn primes_and_ways_past_them() {
    assert_eq!([prime(0), prime(0b1011_1101), prime(0b11_1111 << 4)], [0, 4, 6]);
    for made in (0..1 << 25).step_by(9973) {
        let made = made & POINTS;
        let slow = (0..25).map(|low| (made >> low & 63).count_ones()).max();
        assert_eq!(Some(u32::from(broken_prime(made))), slow, "{made:b}");
    }
    // Without walls 23 rolls pass: nine non-doubles, each in two ways, and the doubles 2-2 to 6-6.
    assert_eq!(ways_past()[0], 23);
    assert_eq!(ways_past()[0b11_1111], 0);
}
