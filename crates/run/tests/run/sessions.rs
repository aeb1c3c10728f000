//! Tests of backgammon sessions: rejected actions change nothing, saved sessions continue, and reviews compare decisions with the best.

use crate::common::{ask, begin, clear, host, small};
use run::backgammon::protocol::{
    Act, Analysis, Candidate, CubeAct, CubeReview, EndedBy, Engine, EngineAct, Judged, Moment, Phase, PlayerKind, Review, Session, Setup,
    Standing, Verdict,
};
use run::internals::review_cube;
use run::protocol::Command;
use run::{AnyRun, RunError};
use serde_json::json;
use worlds::backgammon::{Board, Chances, Cube, Game, Player as Seat, Stakes};

const AGENT: Engine = Engine { who: PlayerKind::Now, evals: 1 };
const RANDOM: Engine = Engine { who: PlayerKind::Random, evals: 1 };
const LINEAR: Engine = Engine { who: PlayerKind::Linear, evals: 1 };

/// A run of backgammon, with one method for each question about game sessions.
pub struct Room(pub Box<dyn AnyRun>);

fn room() -> Room {
    Room(begin(&small("backgammon", "strong", 1)))
}

macro_rules! asks {
    ($($name:ident($($arg:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(pub fn $name(&mut self, $($arg: $type),*) -> Result<$answer, RunError> {
            ask(&mut *self.0, json!({ "ask": stringify!($name), $(stringify!($arg): $arg),* }))
        })*
    };
}

impl Room {
    asks! {
        session() -> Option<Session>;
        new_session(setup: Setup) -> Session;
        former_session() -> Session;
        act(act: &Act) -> Session;
        hint(engine: Engine) -> Analysis;
        review(engine: Engine) -> Review;
        review_cube(engine: Engine) -> Option<CubeReview>;
        moment(at: usize) -> Moment;
        judge(at: usize, engine: Engine) -> Judged;
        read_id(id: &str) -> Standing;
        transcript() -> String;
    }

    /// Returns the current session.
    pub fn table(&mut self) -> Session {
        self.session().unwrap().expect("a session")
    }
}

fn setup(seats: [Option<Engine>; 2], length: u16, seed: u32) -> Setup {
    Setup { seats, length, cube: true, seed }
}

/// Advances the session until `until` returns true for it. A user takes the first legal step.
fn play_on(room: &mut Room, until: impl Fn(&Session) -> bool) -> Session {
    let mut table = room.table();
    while !until(&table) {
        let act = if table.may.reply {
            Act::Reply
        } else if table.may.answer {
            Act::Take
        } else if table.may.roll {
            Act::Roll
        } else if table.may.confirm {
            Act::Confirm
        } else if let Some(step) = table.legal.first() {
            Act::Step { from: step.from, to: step.to }
        } else {
            assert!(table.may.next_game, "no action is possible: {table:?}");
            Act::NextGame
        };
        table = room.act(&act).unwrap();
    }
    table
}

fn checkers(table: &Session) -> u32 {
    let sum = |counts: &[u8]| counts.iter().map(|&count| u32::from(count)).sum::<u32>();
    sum(&table.position.mine) + sum(&table.position.theirs)
}

#[test]
fn human_turn_is_played_undone_and_confirmed_by_steps() {
    let mut room = room();
    assert!(matches!(room.act(&Act::Roll), Err(RunError::Refused { .. })));
    let opened = room.new_session(setup([None, Some(RANDOM)], 3, 8)).unwrap();
    assert_eq!((opened.phase, opened.dice, opened.score), (Phase::Opening, None, [0, 0]));
    assert!(opened.may.roll && !opened.may.double && !opened.may.reply);
    assert!(opened.names[0] == "you" && !opened.names[1].ends_with(')'), "{:?}", opened.names);
    let mut table = play_on(&mut room, |table| table.phase == Phase::ToPlay && table.turn == 0);
    let whole = table.clone();
    assert_eq!(table.left.len(), 2);
    // A rejected action changes nothing.
    for act in [
        Act::Roll,
        Act::Double,
        Act::Take,
        Act::Reply,
        Act::Confirm,
        Act::NextGame,
        Act::Undo { all: false },
        Act::Step { from: 1, to: 0 },
        Act::Play { id: "4HPwATDgc/ABMA".into() },
        Act::Play { id: "no such id".into() },
        Act::Resign { points: 4 },
    ] {
        let text = room.act(&act).unwrap_err().to_string();
        assert!(text.len() > 20, "{act:?} is rejected without a reason: {text}");
        assert_eq!(room.table(), whole, "{act:?}");
    }
    while let Some(step) = table.legal.first().copied() {
        table = room.act(&Act::Step { from: step.from, to: step.to }).unwrap();
        assert_eq!(checkers(&table), 30);
    }
    assert!(table.may.confirm && table.left.is_empty());
    let stepped = table.position.clone();
    room.act(&Act::Undo { all: false }).unwrap();
    assert_eq!(room.act(&Act::Undo { all: true }).unwrap(), whole);

    // A move by a candidate's id gives the same position as the steps.
    let hint = room.hint(AGENT).unwrap();
    assert_eq!(hint.position, whole.position);
    // In a match, a candidate's id also contains the stakes.
    let is_same = |candidate: &&Candidate| candidate.id.split(':').next() == Some(&*stepped.id);
    let same = hint.candidates.iter().find(is_same).unwrap();
    let laid = room.act(&Act::Play { id: same.id.clone() }).unwrap();
    assert_eq!(laid.position, stepped);
    assert_eq!(laid.steps.len(), same.steps.len());
    let done = room.act(&Act::Confirm).unwrap();
    assert!(done.may.reply && done.may.review && done.turn == 1);
    assert_eq!(done.moves.last().unwrap().text, same.text);

    let worst = hint.candidates.last().unwrap();
    let review = room.review(AGENT).unwrap();
    assert_eq!((review.yours.id.as_str(), review.best.id.as_str()), (same.id.as_str(), hint.candidates[0].id.as_str()));
    assert!((review.error - same.loss.unwrap()).abs() < 1e-9 && same.loss <= worst.loss);
    assert_eq!((review.reviewed, review.lost), (1, review.error));
    assert_eq!(room.review(AGENT).unwrap().reviewed, 1, "a turn was counted twice");
    assert_eq!(review.verdict == Verdict::Best, review.rank == 1);
    assert!(matches!(room.review(RANDOM), Err(RunError::Refused { .. })));

    let replied = room.act(&Act::Reply).unwrap();
    let reply = replied.reply.unwrap();
    assert_eq!((reply.seat, reply.did), (1, EngineAct::Played));
    assert!(replied.may.roll && replied.turn == 0);
}

/// The rank counts all results of the roll, although an engine with one evaluation per decision searches no result.
#[test]
fn review_ranks_a_move_among_all_results() {
    for from_last in [0, 1, 2] {
        let mut room = room();
        room.new_session(setup([None, Some(RANDOM)], 0, 8)).unwrap();
        play_on(&mut room, |table| table.phase == Phase::ToPlay && table.turn == 0);
        let all = room.hint(AGENT).unwrap().candidates;
        let played = &all[all.len() - 1 - from_last];
        room.act(&Act::Play { id: played.id.clone() }).unwrap();
        room.act(&Act::Confirm).unwrap();
        let review = room.review(AGENT).unwrap();
        let better = all.iter().filter(|of| of.equity > played.equity).count();
        assert!(better > 1, "{better}");
        assert_eq!((review.rank as usize, review.of as usize), (1 + better, all.len()));
    }
}

#[test]
fn match_ends_at_its_length_and_repeats_with_equal_dice() {
    let play = || {
        let mut room = room();
        room.new_session(setup([Some(LINEAR), Some(RANDOM)], 5, 3)).unwrap();
        let over = |table: &Session| table.ending.is_some_and(|ending| ending.match_over);
        let table = play_on(&mut room, over);
        assert_eq!(table.score.iter().max(), Some(&5));
        assert!(room.act(&Act::NextGame).is_err() && room.act(&Act::Reply).is_err());
        (table, room.transcript().unwrap())
    };
    assert_eq!(play(), play());
}

#[test]
fn cube_is_doubled_taken_and_passed_by_the_rules() {
    let mut room = room();
    room.new_session(setup([None, None], 0, 4)).unwrap();
    let to_roll = |table: &Session| table.phase == Phase::ToRoll;
    let first = play_on(&mut room, to_roll);
    assert!(first.may.double);
    let doubled = room.act(&Act::Double).unwrap();
    assert_eq!((doubled.phase, doubled.cube, doubled.turn), (Phase::Doubled, 1, 1 - first.turn));
    assert!(room.act(&Act::Roll).is_err() && doubled.may.answer && !doubled.may.roll);
    let taken = room.act(&Act::Take).unwrap();
    assert_eq!((taken.cube, taken.cube_owner), (2, Some(1 - first.turn)));
    assert!(!taken.may.double, "the opponent owns the cube");
    room.act(&Act::Roll).unwrap();
    let next = play_on(&mut room, to_roll);
    assert!(next.may.double);
    room.act(&Act::Double).unwrap();
    let passed = room.act(&Act::Pass).unwrap();
    let ending = passed.ending.unwrap();
    assert_eq!((ending.points, ending.how, ending.winner), (2, EndedBy::Passed, next.turn));
    assert_eq!(passed.score[usize::from(next.turn)], 2);

    let second = room.act(&Act::NextGame).unwrap();
    assert_eq!((second.game, second.cube, second.phase, second.score), (2, 1, Phase::Opening, passed.score));
    play_on(&mut room, to_roll);
    let given_up = room.act(&Act::Resign { points: 2 }).unwrap();
    let ending = given_up.ending.unwrap();
    assert_eq!((ending.points, ending.level, ending.how), (2, 2, EndedBy::Resigned));
    assert!(!given_up.may.roll && given_up.may.next_game && given_up.legal.is_empty());

    room.new_session(Setup { cube: false, ..setup([None, None], 0, 4) }).unwrap();
    assert!(!play_on(&mut room, to_roll).may.double && room.act(&Act::Double).is_err());
    room.new_session(setup([None, None], 1, 4)).unwrap();
    assert!(!play_on(&mut room, to_roll).may.double, "a match to one point has no cube");
    assert!(room.new_session(setup([None, None], 65, 4)).unwrap_err().to_string().contains("1 to 64"));
}

#[test]
fn session_resumes_in_the_middle_of_a_match() {
    let mut whole = room();
    whole.new_session(setup([Some(RANDOM), Some(LINEAR)], 7, 9)).unwrap();
    play_on(&mut whole, |table| table.game == 2 && table.moves.len() == 9);
    let file = whole.0.save().unwrap();
    let mut resumed = Room(run::restore(&file, host()).unwrap());
    let seen = |room: &mut Room| Session { reply: None, ..room.table() };
    assert_eq!(seen(&mut resumed), seen(&mut whole));
    let over = |table: &Session| table.ending.is_some_and(|ending| ending.match_over);
    assert_eq!(play_on(&mut resumed, over), play_on(&mut whole, over));
    assert_eq!(resumed.transcript().unwrap(), whole.transcript().unwrap());
}

#[test]
fn game_resigned_within_a_turn_is_equal_after_restore() {
    let mut room = room();
    room.new_session(setup([None, None], 0, 4)).unwrap();
    play_on(&mut room, |table| table.phase == Phase::ToPlay && table.moves.len() >= 2);
    let given_up = room.act(&Act::Resign { points: 1 }).unwrap();
    assert!(given_up.ending.is_some() && given_up.left.is_empty());
    let mut resumed = Room(run::restore(&room.0.save().unwrap(), host()).unwrap());
    assert_eq!(resumed.table(), given_up);
}

/// GNU Backgammon reads the golden file (`import mat`) without errors and writes the same games.
#[test]
fn transcript_equals_the_golden_file() {
    let mut room = room();
    room.new_session(setup([None, None], 3, 2)).unwrap();
    play_on(&mut room, |table| table.phase == Phase::ToRoll && table.moves.len() >= 4);
    room.act(&Act::Double).unwrap();
    room.act(&Act::Take).unwrap();
    play_on(&mut room, |table| table.phase == Phase::ToRoll && table.moves.len() >= 20);
    if room.table().may.double {
        room.act(&Act::Double).unwrap();
        room.act(&Act::Pass).unwrap();
    } else {
        room.act(&Act::Resign { points: 1 }).unwrap();
    }
    room.act(&Act::NextGame).unwrap();
    play_on(&mut room, |table| table.ending.is_some());
    let text = room.transcript().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/backgammon_match.mat");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap());
}

#[test]
fn former_session_returns_and_follows_to_another_run() {
    let mut room = room();
    let begin_one = |room: &mut Room, seed: u32| room.new_session(setup([None, Some(RANDOM)], 3, seed)).unwrap();
    begin_one(&mut room, 1);
    clear(&room.former_session().unwrap_err());
    let first = room.act(&Act::Roll).unwrap();
    let second = begin_one(&mut room, 2);
    assert_ne!(first, second);
    assert_eq!(room.former_session().unwrap(), first);
    assert_eq!(room.former_session().unwrap(), second, "the sessions were not swapped back");
    room.former_session().unwrap();
    // A checkpoint contains both sessions.
    let mut resumed = Room(run::restore(&room.0.save().unwrap(), host()).unwrap());
    assert_eq!((resumed.table(), resumed.former_session().unwrap()), (first.clone(), second));

    // The file contains no session. If `follow` is true, the restored run takes over the current session.
    let bytes = self::room().0.save().unwrap();
    for (follow, expected) in [(true, Some(first)), (false, None)] {
        room.0.command(Command::Restore { bytes: bytes.clone(), data: None, follow }).unwrap();
        assert_eq!(room.session().unwrap(), expected);
    }
}

#[test]
fn cube_decisions_are_reviewed() {
    let mut room = room();
    let table = room.new_session(setup([None, None], 5, 4)).unwrap();
    assert_eq!(table.names, ["you (1)", "you (2)"]);
    let to_roll = |table: &Session| table.phase == Phase::ToRoll;
    play_on(&mut room, to_roll);
    assert_eq!(room.review_cube(AGENT).unwrap(), None, "a cube review before the first decision");
    let review = |room: &mut Room, act: Act, did: CubeAct| {
        let outlook = room.hint(AGENT).unwrap().outlook.unwrap().cube;
        room.act(&act).unwrap();
        let review = room.review_cube(AGENT).unwrap().unwrap();
        assert_eq!((review.did, &review.outlook), (did, &outlook));
        assert!(review.error >= 0.0 && (review.error == 0.0 || review.best != review.did));
        let (kept, taken, passed) = (outlook.no_double, outlook.double_take, outlook.double_pass);
        let error = match did {
            CubeAct::NoDouble => taken.min(passed) - kept,
            CubeAct::Double => kept - taken.min(passed),
            CubeAct::Take => taken - passed,
            CubeAct::Pass => passed - taken,
        };
        assert!((review.error - error.max(0.0)).abs() < 1e-9);
        assert_eq!(review.verdict == Verdict::Blunder, review.error >= 0.16);
    };
    review(&mut room, Act::Roll, CubeAct::NoDouble);
    play_on(&mut room, to_roll);
    review(&mut room, Act::Double, CubeAct::Double);
    review(&mut room, Act::Take, CubeAct::Take);
    room.act(&Act::Roll).unwrap();
    assert_eq!(room.review_cube(AGENT).unwrap(), None, "the opponent owns the cube");
    play_on(&mut room, to_roll);
    review(&mut room, Act::Double, CubeAct::Double);
    review(&mut room, Act::Pass, CubeAct::Pass);
}

#[test]
fn game_is_replayed_and_evaluated_move_by_move() {
    let mut room = room();
    room.new_session(setup([None, None], 5, 4)).unwrap();
    let to_roll = |table: &Session| table.phase == Phase::ToRoll && table.moves.len() >= 3;
    play_on(&mut room, to_roll);
    room.act(&Act::Double).unwrap();
    room.act(&Act::Take).unwrap();
    let table = play_on(&mut room, |table| table.moves.len() == 12 && table.phase == Phase::ToRoll);
    let (mut moves, mut cubes) = (0, 0);
    for (at, played) in table.moves.iter().enumerate() {
        let moment = room.moment(at).unwrap();
        assert_eq!((moment.seat, &moment.text, moment.dice), (played.seat, &played.text, played.dice));
        assert_eq!(moment.id, played.id);
        // The id contains the stakes and the position. If the second seat is on roll, the id has the position from that seat's point of
        // view.
        let standing = room.read_id(&moment.id).unwrap();
        assert_eq!((standing.length, standing.dice, standing.cube), (5, moment.dice, moment.cube));
        let mine = if standing.xgid.split(':').nth(3) == Some("1") { 0 } else { 1 };
        let of = [&standing.position.mine, &standing.position.theirs];
        assert_eq!(of[mine], &moment.position.mine);
        // The steps of an entry lead to the position of the next entry.
        if let Some(next) = table.moves.get(at + 1).filter(|_| played.dice.is_some()) {
            let mut places = moment.position.mine.clone();
            if played.seat == 0 {
                for step in &moment.steps {
                    places[usize::from(step.from)] -= 1;
                    places[usize::from(step.to)] += 1;
                }
                assert_eq!(room.moment(at + 1).unwrap().position.mine, places, "{next:?}");
            }
        }
        let judged = room.judge(at, AGENT).unwrap();
        assert!(judged.equity.abs() < 3.5, "{judged:?}");
        let worst = judged.move_error.unwrap_or(0.0).max(judged.cube_error.unwrap_or(0.0));
        assert_eq!(judged.verdict == Verdict::Best, worst < 0.0005);
        assert_eq!(judged.best_move.is_some(), judged.move_error.is_some_and(|error| error > 0.0));
        moves += usize::from(judged.move_error.is_some());
        cubes += usize::from(judged.cube_error.is_some());
        if played.dice.is_none() {
            assert!(judged.move_error.is_none() && judged.cube_error.is_some(), "{played:?}");
        }
    }
    assert!(moves > 5 && cubes > 3, "{moves} {cubes}");
    assert_eq!(room.judge(0, AGENT).unwrap().cube_error, None, "no player may double at the opening");
    assert!(room.moment(12).is_err() && room.judge(99, AGENT).is_err());
    assert!(table.xgid.starts_with("XGID=") && room.read_id(&table.xgid).unwrap().cube == 2);
}

/// The expected equities follow from the cube model. There are no gammons, and after a take the other player owns the cube at 2. The
/// equity with a live cube is -2 at a winning chance of 20% and 2 at 100%. With a dead cube, it is -2 at 0% and 2 at 100%. Both
/// equities are linear between these points. The model's equity is 32% of the equity with a dead cube plus 68% of the equity with a
/// live cube.
#[test]
fn cube_decisions_are_compared_with_the_best_one() {
    use CubeAct::{Double, NoDouble, Pass, Take};
    let cube = Cube { value: 1, owner: None };
    let to_roll = Game::at(Board::START, Seat::One, cube, Stakes::Money).unwrap();
    let mut doubled = to_roll;
    doubled.double().unwrap();
    for (win, did, best, error) in [
        // Equities: 0.936 without a double, 1.532 after a take, 1 after a pass.
        (0.9, NoDouble, Double, 0.064),
        (0.9, Double, Double, 0.0),
        (0.9, Take, Pass, 0.532),
        (0.9, Pass, Pass, 0.0),
        // Equities: 0 without a double, -0.34 after a take.
        (0.5, NoDouble, NoDouble, 0.0),
        (0.5, Double, NoDouble, 0.34),
        (0.5, Take, Take, 0.0),
        (0.5, Pass, Take, 1.34),
    ] {
        let game = if matches!(did, Take | Pass) { doubled } else { to_roll };
        let review = review_cube(&game, &Chances([win, 0.0, 0.0, 1.0 - win, 0.0, 0.0]), did);
        assert_eq!((review.did, review.best), (did, best), "{win}");
        assert!((review.error - error).abs() < 1e-6, "{win} {did:?}: {}", review.error);
    }
}
