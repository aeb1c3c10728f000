//! Ids with stakes, compared with GNU Backgammon's ids of the same positions (tests/golden/backgammon_ids.py).

use testkit::test;
use worlds::backgammon::*;

const GOLDEN: &str = include_str!("../../../../tests/golden/backgammon_ids.txt");

/// Match length; scores of the player on roll and of the other player; state of the match with respect to the Crawford game.
type Match = (u16, [u16; 2], Crawford);

/// Returns the complete state of a game from the point of view of the player on roll: the board, the pending action, the cube value, the
/// cube's owner and the match. The owner is true for the player on roll, false for the other player, and `None` if the cube is in the
/// middle.
fn seen(game: &Game) -> (Board, GameState, u32, Option<bool>, Option<Match>) {
    let me = game.on_roll();
    let stakes = match game.stakes() {
        Stakes::Money => None,
        Stakes::Match(m) => Some((m.length, [m.score[me as usize], m.score[me.other() as usize]], m.crawford)),
    };
    (game.board(), game.state(), game.cube().value, game.cube().owner.map(|owner| owner == me), stakes)
}

#[test]
fn ids_match_gnu_backgammon_in_both_directions() {
    let (mut count, mut matches, mut doubles, mut turned) = (0, 0, 0, 0);
    for line in GOLDEN.lines().filter(|line| !line.starts_with("cube ")) {
        let [kind, xgid, gnu] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (from_xgid, from_gnu) = (Standing::read(xgid).unwrap(), Standing::read(gnu).unwrap());
        let (game, theirs) = (from_xgid.game, from_gnu.game);
        assert_eq!(seen(&game), seen(&theirs), "{line}");
        assert!(!from_xgid.jacoby && !from_gnu.jacoby && !from_gnu.bare);
        assert_eq!(theirs.gnu_id(), gnu);
        assert_eq!(Standing::read(&theirs.xgid()).unwrap(), from_gnu, "{line}");
        assert_eq!(Standing::read(&game.gnu_id()).unwrap(), from_xgid, "{line}");
        assert_eq!(game.xgid(), xgid);
        assert_eq!(game.state() == GameState::Doubled, kind == "double");
        count += 1;
        matches += usize::from(game.stakes() != Stakes::Money);
        doubles += usize::from(kind == "double");
        turned += usize::from(game.on_roll() == Player::Two);
    }
    assert!(count > 250 && matches > 100 && doubles > 40 && turned > 90, "{count} {matches} {doubles} {turned}");
}

#[test]
fn ids_are_parsed_into_stakes_cube_and_dice() {
    // GNU Backgammon's initial position in money play, with the Jacoby rule on.
    let start = Standing::read("4HPwATDgc/ABMA:cAkAAAAAAAAA").unwrap();
    assert_eq!(seen(&start.game), (Board::START, GameState::ToRoll, 1, None, None));
    assert!(start.jacoby && !start.bare);
    // From GNU Backgammon's manual: match to 9, score 2 to 4, player 0 owns the cube at 2, player 1 rolled 5 and 2.
    let manual = Standing::read(" 4HPwATDgc/ABMA : QYkqASAAIAAA ").unwrap();
    assert_eq!(
        seen(&manual.game),
        (Board::START, GameState::ToPlay(Roll::new(5, 2).unwrap()), 2, Some(false), Some((9, [4, 2], Crawford::Ahead)))
    );
    let bare = Standing::read("4HPwATDgc/ABMA").unwrap();
    assert!(bare.bare && bare.game.stakes() == Stakes::Money);
    let crawford = Standing::read("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:4:2:1:5:10").unwrap().game;
    assert_eq!(seen(&crawford).4, Some((5, [2, 4], Crawford::Now)));
    assert!(!crawford.may_double());
    // The shortest match with a Crawford game that is not its only game.
    let short = Standing::read("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:1:0:1:2:10").unwrap().game;
    assert_eq!(seen(&Standing::read(&short.gnu_id()).unwrap().game).4, Some((2, [0, 1], Crawford::Now)));
    let past = Standing::read("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:4:2:0:5:10").unwrap().game;
    assert_eq!(seen(&past).4, Some((5, [2, 4], Crawford::Past)));
    assert!(past.may_double());
}

/// The texts are copied from both programs. The test reads each text unchanged, and also with all lines joined, as in a one-line text
/// field.
#[test]
fn ids_are_found_in_surrounding_text() {
    const XGID: &str = "XGID=-b----E-C---eE---c-e----B-:0:0:1:61:2:1:0:7:10";
    let xg = format!(
        "{XGID}\n\nX:Ann   O:Bob\nScore is X:2 O:1 7 pt.(s) match.\n +13-14-15-16-17-18------19-20-21-22-23-24-+\n \
         | X           O    |   | O              X |\n +12-11-10--9--8--7-------6--5--4--3--2--1-+\nPip count  X: 167  O: 167 \
         X-O: 2-1/7\nCube: 1\nX to play 61\n\n    1. 3-ply       13/7 8/7                     eq:-0,012\n"
    );
    let expected = Standing::read(XGID).unwrap();
    assert_eq!(expected.game.state(), GameState::ToPlay(Roll::new(6, 1).unwrap()));
    for text in [
        &xg,
        &xg.replace('\n', ""),
        &xg.replace('\n', "\r\n"),
        &format!("Look at this: {xg}"),
        &xg.to_lowercase().replace(&XGID.to_lowercase(), XGID),
    ] {
        assert_eq!(Standing::read(text), Ok(expected), "{text}");
    }
    let expected = Standing::read("4HPwATDgc/ABMA:QYkqASAAIAAA").unwrap();
    for text in [
        "Position ID: 4HPwATDgc/ABMA   Match ID   : QYkqASAAIAAA",
        "Position ID: 4HPwATDgc/ABMA\nMatch ID   : QYkqASAAIAAA",
        " GNU Backgammon  Position ID: 4HPwATDgc/ABMA\n                 Match ID   : QYkqASAAIAAA\n \
         +12-11-10--9--8--7-------6--5--4--3--2--1-+     O: gnubg\n",
        "Position ID: 4HPwATDgc/ABMAMatch ID: QYkqASAAIAAA",
        "match id=QYkqASAAIAAA position id=4HPwATDgc/ABMA",
    ] {
        assert_eq!(Standing::read(text), Ok(expected), "{text}");
    }
    // The id contains the letters `xgid`, which must not be read as a label.
    let error = Standing::read("4HPxgidgc/ABM").unwrap_err().to_string();
    assert!(error.contains("position id: a position id has 14"), "{error}");
    let bare = Standing::read("Position ID: 4HPwATDgc/ABMA").unwrap();
    assert!(bare.bare && bare.game.board() == Board::START);
    let error = Standing::read("Position ID: 4HPwATDgc/ABMA Match ID: QYkqAS").unwrap_err().to_string();
    assert!(error.contains("12 characters, found 6"), "{error}");
    let error = Standing::read("XGID=-b----E-C---eE---c-e----B-:0:0:1 and more").unwrap_err().to_string();
    assert!(error.contains("found 4"), "{error}");
}

#[test]
fn invalid_ids_are_rejected_with_the_wrong_part() {
    let xg = |rest: &str| format!("XGID=-b----E-C---eE---c-e----B-:{rest}");
    for (id, words) in [
        ("".into(), "the id is empty"),
        ("4HPwATDgc/ABM".into(), "position id: a position id has 14"),
        ("4HPwATDgc/ABM:cAkAAAAAAAAA".into(), "position id: a position id has 14"),
        ("4HPwATDgc/AB!A:cAkAAAAAAAAA".into(), "position id: invalid character '!'"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA".into(), "a match id has 12 characters, found 11"),
        ("4HPwATDgc/ABMA:cAkAAAAAA=AA".into(), "'='"),
        ("4HPwATDgc/ABMA:cAkAAAAAAA\u{e9}A".into(), "'\u{e9}'"),
        ("4HPwATDgc/ABMA:YAkAAAAAAAAE".into(), "the cube's owner"),
        ("4HPwATDgc/ABMA:fQkAAAAAAAAE".into(), "the cube in this id is 2 to the power of 13"),
        ("4HPwATDgc/ABMA:cAoAAAAAAAAE".into(), "the game's state"),
        ("4HPwATDgc/ABMA:cCkAAAAAAAAE".into(), "a resignation"),
        ("4HPwATDgc/ABMA:cIkAAAAAAAAE".into(), "the roll"),
        (xg("0:0:1:00:0:0:0:0"), "found 9"),
        (xg("0:0:1:00:0:0:0:0:10:1"), "found 11"),
        ("XGID=-b----E-C---eE---c-e----B:0:0:1:00:0:0:0:0:10".into(), "26 characters, found 25"),
        ("XGID=-b----E-C---eE---c-e-----B-:0:0:1:00:0:0:0:0:10".into(), "found 27"),
        ("XGID=-b----E-C---eE---c-e---zB-:0:0:1:00:0:0:0:0:10".into(), "'z'"),
        ("XGID=Bb----E-C---eE---c-e------:0:0:1:00:0:0:0:0:10".into(), "the bar"),
        ("XGID=-b----E-C---eE---c-e----O-:0:0:1:00:0:0:0:0:10".into(), "position: each side has at most 15"),
        (xg("13:1:1:00:0:0:0:0:10"), "the cube in this id is 2 to the power of 13"),
        (xg("x:1:1:00:0:0:0:0:10"), "the cube in this id is \"x\""),
        (xg("1:2:1:00:0:0:0:0:10"), "the cube's owner"),
        (xg("1:1:0:00:0:0:0:0:10"), "the turn"),
        (xg("1:1:1:07:0:0:0:0:10"), "the roll"),
        (xg("1:1:1:B:0:0:0:0:10"), "beaver"),
        (xg("1:-1:1:D:0:0:0:0:10"), "a double"),
        (xg("0:0:1:00:7:0:0:7:10"), "a score in this id is 7"),
        (xg("0:0:1:00:-1:0:0:7:10"), "the bottom player's score"),
        (xg("0:0:1:00:2:1:1:7:10"), "the Crawford flag"),
        (xg("0:0:1:00:2:1:2:7:10"), "Crawford and Jacoby"),
        (xg("0:0:1:00:2:1:0:99999:10"), "the match's length"),
    ] {
        let error = Standing::read(&id).unwrap_err().to_string();
        assert!(error.contains(words), "{id}: {error}");
        assert!(error.contains(';') || error.contains(", "), "{error}");
    }
}
