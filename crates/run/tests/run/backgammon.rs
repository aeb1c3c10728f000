//! Tests of backgammon only: analyses, tests in many slices, and frozen copies of the agent.

use crate::common::*;
use crate::sessions::Room;
use run::backgammon::player_from_checkpoint;
use run::backgammon::protocol::{
    Act, AllowedActs, Analysis, AnalysisRequest, Branch, Candidate, Depth, Engine, Phase, PlayerKind, Setup, Standing,
};
use run::backgammon::{Board, Roll};
use run::protocol::{Command, Config, Event, Row};
use run::{AnyRun, RunError};
use serde_json::json;

fn strong(seed: u32) -> Config {
    small("backgammon", "strong", seed)
}

const NOW: Engine = Engine { who: PlayerKind::Now, evals: 1 };
const START: &str = "4HPwATDgc/ABMA";

fn analyse(run: &mut dyn AnyRun, request: &AnalysisRequest) -> Result<Analysis, RunError> {
    ask(run, json!({ "ask": "analyse", "request": request }))
}

fn unfold(run: &mut dyn AnyRun, id: &str) -> Vec<Branch> {
    let unfold = json!({ "id": id, "who": PlayerKind::Now, "evals": 1 });
    let branches: Vec<Branch> = ask(run, json!({ "ask": "unfold", "unfold": unfold })).unwrap();
    assert_eq!(branches.iter().map(|branch| branch.ways).sum::<u32>(), 36);
    assert!(branches.iter().all(|branch| branch.equity.abs() <= 3.0 && !branch.text.is_empty()));
    branches
}

/// Returns the mean equity after the other player's best reply to each roll, weighted by the probabilities of the rolls.
fn mean_of_replies(run: &mut dyn AnyRun, id: &str) -> f64 {
    unfold(run, id).iter().map(|branch| f64::from(branch.ways) / 36.0 * branch.equity).sum()
}

fn asked(dice: [u8; 2], who: PlayerKind, evals: u32) -> AnalysisRequest {
    AnalysisRequest { id: START.into(), dice: Some(dice), who, evals }
}

fn frozen_at(minutes: u32) -> PlayerKind {
    PlayerKind::Frozen { minutes }
}

#[test]
fn clock_questions_and_games_do_not_change_the_weights() {
    let plain = trained(&strong(8), 4);

    let mut busy = Room(start(&strong(8)));
    busy.new_session(Setup { seats: [Some(NOW); 2], length: 0, cube: true, seed: 5 }).unwrap();
    let mut now_s = 100.0;
    while busy.0.progress().iteration < 4 {
        now_s += 7.0;
        busy.0.advance(now_s);
        let reply = busy.table().may.reply;
        busy.act(if reply { &Act::Reply } else { &Act::NextGame }).unwrap();
        analyse(&mut *busy.0, &asked([3, 1], PlayerKind::Now, 50)).unwrap();
    }
    assert_eq!(plain.digest(), busy.0.digest());
}

#[test]
fn analyses_within_a_round_use_the_weights_before_it() {
    let mut run = trained(&strong(2), 2);
    let asked = asked([6, 5], PlayerKind::Now, 1);
    let before = analyse(&mut *run, &asked).unwrap();
    assert!(before.candidates.windows(2).all(|pair| pair[0].equity >= pair[1].equity));
    assert_eq!(before.candidates[0].loss, Some(0.0));
    while run.advance(1.0) && !run.at_boundary() {
        assert_eq!(analyse(&mut *run, &asked).unwrap(), before);
    }
    assert_ne!(analyse(&mut *run, &asked).unwrap(), before, "the analysis ignores the completed round");
}

/// The weights in the file after two rounds are replaced by those of the file after one round. Both tests then measure the same player, and
/// only the dice differ.
#[test]
fn each_test_uses_different_dice() {
    let mut run = start(&strong(4));
    let [mut first, mut second] = [1, 2].map(|rounds| {
        train(&mut *run, rounds);
        apart(&run.save().unwrap())
    });
    for name in ["strong.learned", "strong.weights"] {
        *second.tensor(name) = first.tensor(name).clone();
    }
    let [first, second] = [first, second].map(|file| {
        let mut run = run::restore(&file.together(), host()).unwrap();
        (run.progress().iteration, run.digest().weights, run.test().unwrap().values)
    });
    assert_eq!((first.0, second.0), (1, 2));
    assert_eq!(first.1, second.1);
    assert_ne!(first.2, second.2);
}

#[test]
fn reset_restarts_training_and_keeps_the_table() {
    let mut room = Room(start(&strong(1)));
    room.new_session(Setup { seats: [None, Some(NOW)], length: 3, cube: true, seed: 1 }).unwrap();
    let before = room.act(&Act::Roll).unwrap();
    train(&mut *room.0, 1);
    room.0.command(Command::Reset { config: None }).unwrap();
    assert_eq!(room.0.progress().counts, [0.0; 4]);
    assert!(room.0.running());
    assert_eq!(room.table(), before);
    // A rejected reset keeps the session as well.
    let config = Config { variant: "weak".into(), ..strong(1) };
    room.0.command(Command::Reset { config: Some(config) }).unwrap_err();
    assert_eq!(room.table(), before);
    // A restored run keeps the session of its file. Here the file has no session.
    let other = begin(&strong(2)).save().unwrap();
    room.0.command(restored(other)).unwrap();
    assert_eq!(room.session().unwrap(), None);
}

/// Advances the run until `times` tests are complete. Returns these tests.
fn until_tested(run: &mut dyn AnyRun, times: usize) -> Vec<Row> {
    let events = until(run, |events| events.tests().len() >= times);
    events.tests().into_iter().map(timeless_row).collect()
}

#[test]
fn tests_repeat_during_training_and_are_equal_after_resume() {
    let mut whole = start(&strong(5));
    let first = until_tested(&mut *whole, 1).remove(0);
    let file = whole.save().unwrap();
    // The run is saved within the second test, after a few of its slices.
    let mut under_way = None;
    let mut second = Vec::new();
    let (mut still, mut now_s) = (0, 0.0);
    while second.is_empty() {
        let before = whole.progress();
        now_s += 0.001;
        whole.advance(now_s);
        let tests = Events::drain(&mut *whole);
        second.extend(tests.tests().into_iter().map(timeless_row));
        // On the CPU, the learner does not advance during a test. Three slices without progress at a boundary belong to a test.
        still = if whole.at_boundary() && timeless(&whole.progress()) == timeless(&before) { still + 1 } else { 0 };
        if still == 3 && second.is_empty() {
            under_way = Some(whole.save().unwrap());
        }
    }
    let second = second.remove(0);
    let value = |row: &Row, name: &str| row.values[whole.schema().test(name).unwrap()].unwrap();
    assert_eq!(value(&first, "random_games"), 200.0);
    assert!(second.progress.counts[0] > first.progress.counts[0]);
    for row in [&first, &second] {
        for baselines in ["random", "linear"] {
            let of = |what: &str| value(row, &format!("{baselines}_{what}"));
            let (points, error) = (of("points"), of("error"));
            assert!(points.abs() <= 3.0 && error > 0.0 && error < 0.3, "{row:?}");
            assert!((0.0..=1.0).contains(&of("wins")) && of("gammons_won") <= of("wins"));
        }
    }
    assert!(value(&second, "random_points") > 0.5, "nothing was learned: {second:?}");

    // `npm test` trains only one run again, because each trains for more than a million boards.
    if testkit::all() {
        let again = until_tested(&mut *resume(&file), 1).remove(0);
        assert_eq!(again, second);
    }
    // A run that was saved during a test begins the test again.
    let mut resumed = resume(&under_way.expect("the test took too few slices"));
    let boards = resumed.progress().counts;
    assert_eq!(until_tested(&mut *resumed, 1), [second]);
    assert_eq!(resumed.progress().counts, boards, "the learner advanced before the test");
    let at = whole.progress().iteration + 2;
    train(&mut *whole, at);
    train(&mut *resumed, at);
    assert_eq!(whole.digest(), resumed.digest());
}

#[test]
fn frozen_agent_keeps_its_weights_and_plays() {
    let mut room = Room(start(&strong(4)));
    let kept = Engine { who: frozen_at(1), evals: 1 };
    let setup = Setup { seats: [Some(kept), Some(NOW)], length: 1, cube: true, seed: 2 };
    let refusal = clear(&room.new_session(setup.clone()).unwrap_err());
    assert!(refusal.contains("minute 1") && refusal.contains("Train for longer"), "{refusal}");
    let (mut now_s, mut frozen) = (0.0, Vec::new());
    while frozen.is_empty() {
        now_s += 0.25;
        room.0.advance(now_s);
        frozen.extend(room.0.events().into_iter().filter_map(|event| match event {
            Event::Room { event, text } => Some((event, text)),
            _ => None,
        }));
    }
    let (frozen, text) = frozen.remove(0);
    assert_eq!(text, "A copy of the agent after 1 min was kept as an opponent.");
    assert_eq!((&frozen["kind"], &frozen["minutes"]), (&json!("frozen"), &json!(1)));
    let train_s = frozen["progress"]["train_s"].as_f64().unwrap();
    assert!((60.0..90.0).contains(&train_s), "{frozen:?}");
    let then = analyse(&mut *room.0, &asked([2, 1], frozen_at(1), 1)).unwrap();
    let rounds = room.0.progress().iteration;
    train(&mut *room.0, rounds + 1);
    assert_eq!(analyse(&mut *room.0, &asked([2, 1], frozen_at(1), 1)).unwrap().candidates, then.candidates);
    assert_ne!(analyse(&mut *room.0, &asked([2, 1], PlayerKind::Now, 1)).unwrap().candidates, then.candidates);

    room.new_session(setup).unwrap();
    let mut restored = run::restore(&room.0.save().unwrap(), host()).unwrap();
    let events = Events::drain(&mut *restored);
    let mut parts = apart(&room.0.save().unwrap());
    let agent = parts.tensors.iter_mut().find(|tensor| tensor.0 == "frozen.1").unwrap();
    (agent.2, agent.3) = (vec![1], agent.3[..4].to_vec());
    let error = clear(&run::restore(&parts.together(), host()).err().unwrap());
    assert!(error.contains("frozen.1 is missing or invalid"), "{error}");
    let kept = &events.began().room["frozen"];
    assert_eq!((kept.as_array().unwrap().len(), &kept[0]["progress"]), (1, &frozen["progress"]));
    assert_eq!(analyse(&mut *restored, &asked([2, 1], frozen_at(1), 1)).unwrap().candidates, then.candidates);
    let mut restored = Room(restored);
    let mut table = restored.table();
    while table.ending.is_none() {
        table = restored.act(&Act::Reply).unwrap();
    }
    assert!(table.ending.unwrap().match_over);
}

#[test]
fn player_from_a_file_equals_the_agent_of_the_run() {
    let mut run = trained(&strong(6), 3);
    let mut player = player_from_checkpoint(&run.save().unwrap(), 1, host()).unwrap();
    let mut chosen = Vec::new();
    let decisions = Roll::ALL.map(|roll| (Board::START, roll));
    player.choose(&decisions, &mut chosen);
    for ((board, roll), after) in decisions.into_iter().zip(chosen) {
        let dice = Some([roll.high(), roll.low()]);
        let asked = AnalysisRequest { id: board.id().to_string(), dice, who: PlayerKind::Now, evals: 1 };
        assert_eq!(analyse(&mut *run, &asked).unwrap().candidates[0].id, after.id().to_string());
    }
    let published = begin(&small("backgammon", "published", 6)).save().unwrap();
    player_from_checkpoint(&published, 20, host()).unwrap();
    let control = begin(&small("control", "CartPole-v1", 1)).save().unwrap();
    let error = player_from_checkpoint(&control, 1, host()).err().unwrap();
    assert!(matches!(error, RunError::OtherRoom { .. }), "{error}");
}

#[test]
fn invalid_questions_are_rejected() {
    let mut run = begin(&strong(1));
    let asked = |id: &str, dice, who, evals| AnalysisRequest { id: id.into(), dice, who, evals };
    let mut said = |request| analyse(&mut *run, &request).unwrap_err().to_string();
    assert!(said(asked("4HPwATDgc", None, PlayerKind::Now, 1)).contains("14 characters"));
    assert!(said(asked("4HPwATDgc/AB!!", None, PlayerKind::Now, 1)).contains("in position id"));
    assert!(said(asked("////////////AA", None, PlayerKind::Now, 1)).len() > 20);
    assert!(said(asked(START, Some([7, 1]), PlayerKind::Now, 1)).contains("no die shows 7"));
    assert!(said(asked(START, Some([2, 1]), PlayerKind::Random, 1)).contains("gives no evaluations"));
    assert!(said(asked(START, Some([2, 1]), frozen_at(3), 1)).contains("minute 3"));
    assert!(said(asked(START, Some([2, 1]), PlayerKind::Now, 1_000_000)).contains("at most"));
    // The player on roll has no checkers left, because all of them are borne off.
    let over = Board::new([0; 25], {
        let mut places = [0; 25];
        places[0] = 2;
        places
    })
    .unwrap()
    .id();
    assert!(said(asked(over.as_str(), None, PlayerKind::Now, 1)).contains("end of a game"));

    // A match id follows the position id, in the form that GNU Backgammon copies.
    let both = analyse(&mut *run, &asked("4HPwATDgc/ABMA:cAkAAAAAAAAA", None, PlayerKind::Now, 1)).unwrap();
    let outlook = both.outlook.unwrap();
    assert!((outlook.chances.iter().sum::<f64>() - 1.0).abs() < 1e-4 && outlook.cube.may_double);
    let standing = both.standing.unwrap();
    assert!(standing.jacoby && !standing.bare && standing.length == 0, "{standing:?}");
}

/// Asserts the order of candidates: searched candidates come before unsearched ones, and each group has descending equities. Also asserts
/// that each loss is a difference of equities of the same depth.
fn assert_in_order(found: &[Candidate]) {
    let searched = found.iter().any(|of| matches!(of.depth, Depth::Rolls { .. } | Depth::Visits { .. }));
    let compared = |of: &Candidate| !searched || of.depth != Depth::Static;
    for of in found {
        assert!(!matches!(of.depth, Depth::Rolls { rolls } if rolls != 21), "{of:?}");
        assert_eq!(of.loss.is_some(), compared(of), "{of:?}");
        let adds_up = |loss: f64| loss >= 0.0 && (loss - (found[0].equity - of.equity)).abs() < 1e-9;
        assert!(of.loss.is_none_or(adds_up), "{of:?}");
    }
    for pair in found.windows(2) {
        let [before, next] = [compared(&pair[0]), compared(&pair[1])];
        assert!(before || !next, "unsearched moves come last: {pair:?}");
        assert!(before != next || pair[0].equity >= pair[1].equity, "{pair:?}");
    }
}

#[test]
fn moves_are_sorted_and_losses_compare_one_depth() {
    let mut run = trained(&strong(2), 3);
    let (mut searched, mut left_out) = (0, 0);
    for roll in Roll::ALL {
        let dice = [roll.high(), roll.low()];
        let found = analyse(&mut *run, &asked(dice, PlayerKind::Now, 100)).unwrap().candidates;
        assert_in_order(&found);
        assert_eq!(found[0].depth, Depth::Rolls { rolls: 21 });
        searched += found.iter().filter(|of| of.depth == Depth::Rolls { rolls: 21 }).count();
        left_out += found.iter().filter(|of| of.loss.is_none()).count();
        let plain = analyse(&mut *run, &asked(dice, PlayerKind::Now, 1)).unwrap().candidates;
        assert_in_order(&plain);
        assert!(plain.iter().all(|of| of.depth == Depth::Static && of.loss.is_some()));
        for of in found.iter().filter(|of| of.depth == Depth::Static) {
            assert_eq!(of.equity, plain.iter().find(|plain| plain.id == of.id).unwrap().equity);
        }
    }
    assert!(searched > 40 && left_out > 100, "{searched} {left_out}");
    // The order also holds after a tree search, even if the search's policy prefers a candidate that is not the best.
    let mut run = trained(&small("backgammon", "published", 1), 2);
    for roll in Roll::ALL {
        for evals in [1, 40] {
            let asked = asked([roll.high(), roll.low()], PlayerKind::Now, evals);
            assert_in_order(&analyse(&mut *run, &asked).unwrap().candidates);
        }
    }
}

/// The user's move is compared with the best move at the same depth. The error is the difference of their equities.
#[test]
fn review_error_is_measured_at_the_depth_of_the_best_move() {
    for (variant, evals) in [("strong", 60), ("published", 8)] {
        let mut room = Room(trained(&small("backgammon", variant, 4), 2));
        let mut table = room.new_session(Setup { seats: [None, Some(NOW)], length: 0, cube: false, seed: 3 }).unwrap();
        let judge = Engine { who: PlayerKind::Now, evals };
        let mut unsearched = 0;
        for _ in 0..12 {
            while table.phase != Phase::ToPlay || table.turn != 0 {
                let act = match table.may {
                    AllowedActs { reply: true, .. } => Act::Reply,
                    AllowedActs { roll: true, .. } => Act::Roll,
                    _ => Act::NextGame,
                };
                table = room.act(&act).unwrap();
            }
            let hint = room.hint(judge).unwrap();
            assert_in_order(&hint.candidates);
            let worst = hint.candidates.last().unwrap();
            unsearched += usize::from(worst.loss.is_none());
            room.act(&Act::Play { id: worst.id.clone() }).unwrap();
            table = room.act(&Act::Confirm).unwrap();
            let review = room.review(judge).unwrap();
            let lost = review.best.equity - review.yours.equity;
            assert!(review.error >= 0.0 && (review.error - lost).abs() < 1e-9, "{review:?}");
            assert_eq!((review.yours.loss, review.best.loss), (Some(review.error), Some(0.0)));
            if review.yours.depth != Depth::Exact && review.best.depth != Depth::Exact {
                let kinds = [review.yours.depth, review.best.depth].map(|depth| matches!(depth, Depth::Visits { .. }));
                assert_eq!(kinds[0], kinds[1], "{review:?}");
            }
        }
        assert!(unsearched > 2, "{variant}: {unsearched}");
    }
}

#[test]
fn forced_move_is_searched_one_ply_deeper() {
    let mut run = trained(&strong(3), 2);
    let mut places = ([0; 25], [0; 25]);
    // Two checkers are on the bar, and only one of the two dice can enter a checker.
    places.0[24] = 2;
    places.0[5] = 13;
    for at in [1, 2, 3, 5] {
        places.1[at - 1] = 3;
    }
    places.1[12] = 3;
    let id = Board::new(places.0, places.1).unwrap().id().to_string();
    let request = AnalysisRequest { id, dice: Some([4, 2]), who: PlayerKind::Now, evals: 100 };
    let found = analyse(&mut *run, &request).unwrap().candidates;
    let one = &found[0];
    assert_eq!(found.len(), 1);
    assert_eq!(one.depth, Depth::Rolls { rolls: 21 });
    let mean = mean_of_replies(&mut *run, &one.id);
    assert!((mean - one.equity).abs() < 1e-5, "the mean of the tree: {mean} {}", one.equity);
}

/// The score is 6-5 in a match to 7, so the player on roll needs one point and the other player needs two. For the player on roll, winning
/// a gammon has no additional value, and losing a gammon loses the match.
#[test]
fn match_score_changes_equities_and_move_ranking() {
    let mut run = trained(&strong(2), 3);
    let mut other_best = 0;
    for (evals, roll) in [1, 100].into_iter().flat_map(|evals| Roll::ALL.map(|roll| (evals, roll))) {
        let dice = Some([roll.high(), roll.low()]);
        let mut found = |stakes: &str| {
            let id = format!("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:{stakes}:10");
            analyse(&mut *run, &AnalysisRequest { id, dice, who: PlayerKind::Now, evals }).unwrap().candidates
        };
        let (money, at_match) = (found("0:0:0:0"), found("6:5:1:7"));
        assert_eq!(money.len(), at_match.len());
        for Candidate { equity, chances: [won, gammon, backgammon, lost, lost_gammon, lost_backgammon], .. } in &at_match {
            let worth = won + gammon + backgammon - lost - 3.0 * (lost_gammon + lost_backgammon);
            assert!((equity - worth).abs() < 1e-4, "{equity} {worth}");
        }
        assert_in_order(&at_match);
        other_best += usize::from(money[0].text != at_match[0].text);
        if evals == 1 {
            continue;
        }
        // The equities in the tree of replies have the same scale as the equities of the candidates.
        let mean = mean_of_replies(&mut *run, &at_match[0].id);
        assert!((mean - at_match[0].equity).abs() < 1e-4, "the mean of the tree: {mean} {}", at_match[0].equity);
    }
    assert!(other_best > 0);
}

#[test]
fn match_ids_are_read_composed_and_analysed() {
    let mut room = Room(begin(&strong(1)));
    let xgid = "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:52:3:1:0:7:10";
    let standing = room.read_id(xgid).unwrap();
    assert_eq!(
        (standing.length, standing.score, standing.cube, standing.cube_is_mine, standing.dice),
        (7, [1, 3], 2, Some(true), Some([5, 2]))
    );
    assert_eq!(standing.xgid, xgid);
    let same = room.read_id(&standing.gnu_id).unwrap();
    assert_eq!((&same.xgid, same.score), (&standing.xgid, standing.score));
    // The request contains no dice, so the analysis of the match position contains the cube decision.
    let request = AnalysisRequest { id: xgid.into(), dice: None, who: PlayerKind::Now, evals: 1 };
    let analysis = analyse(&mut *room.0, &request).unwrap();
    let (cube, before) = (analysis.outlook.unwrap().cube, analysis.standing.unwrap());
    assert!(cube.may_double && before.dice.is_none() && before.length == 7);
    assert!((cube.double_pass - 1.0).abs() < 1e-9);
    assert!(cube.match_chances.unwrap().iter().all(|chance| (0.0..=1.0).contains(chance)));
    // A draft of the position editor with the same data gives the position and score of the match id.
    let draft = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut draft = json!({
            "mine": standing.position.mine[1..], "theirs": standing.position.theirs[1..], "dice": [5, 2], "cube": 2,
            "cube_is_mine": true, "length": 7, "score": [1, 3], "crawford": false,
        });
        change(&mut draft);
        json!({ "ask": "compose", "draft": draft })
    };
    let composed: Standing = ask(&mut *room.0, draft(&|_| ())).unwrap();
    assert_eq!(composed.gnu_id.len(), standing.gnu_id.len());
    assert_eq!((composed.position, composed.score), (standing.position.clone(), standing.score));
    for (name, value, words) in [
        ("cube", json!(3), "power of two"),
        ("cube", json!(1), "in the middle"),
        ("dice", json!([7, 1]), "no die"),
        ("score", json!([7, 3]), "a score"),
        ("crawford", json!(true), "Crawford"),
        ("mine", json!([1, 2]), "places"),
        ("mine", json!(vec![1; 25]), "point"),
        ("theirs", json!(vec![0; 25]), "has ended"),
    ] {
        let error = ask::<Standing>(&mut *room.0, draft(&|draft| draft[name] = value.clone())).unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
}
