//! What backgammon has beside what any run has: opinions, a test that takes long, the agent kept as it was.

use crate::common::*;
use run::backgammon::player_from_checkpoint;
use run::backgammon::protocol::{Analysis, AnalysisRequest, Branch, Engine, PlayerKind, Session, Setup};
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
    let AnalysisRequest { id, dice, who, evals } = request;
    let request = json!({ "id": id, "dice": dice, "who": who, "evals": evals });
    ask(run, json!({ "ask": "analyse", "request": request }))
}

fn sit(run: &mut dyn AnyRun, setup: &Setup) -> Result<Session, RunError> {
    ask(run, json!({ "ask": "new_session", "setup": setup }))
}

fn act(run: &mut dyn AnyRun, kind: &str) -> Session {
    ask(run, json!({ "ask": "act", "act": { "kind": kind } })).unwrap()
}

fn table(run: &mut dyn AnyRun) -> Session {
    ask::<Option<Session>>(run, json!({ "ask": "session" })).unwrap().expect("somebody sat down")
}

fn asked(dice: [u8; 2], who: PlayerKind, evals: u32) -> AnalysisRequest {
    AnalysisRequest { id: START.into(), dice: Some(dice), who, evals }
}

fn frozen_at(minutes: u32) -> PlayerKind {
    PlayerKind::Frozen { minutes }
}

#[test]
fn clocks_questions_and_games_leave_no_trace_in_the_weights() {
    let mut plain = start(&strong(8));
    train(&mut *plain, 4);

    let mut busy = start(&strong(8));
    sit(&mut *busy, &Setup { seats: [Some(NOW); 2], length: 0, cube: true, seed: 5 }).unwrap();
    let mut now_s = 100.0;
    while busy.progress().iteration < 4 {
        now_s += 7.0;
        busy.advance(now_s);
        let reply = table(&mut *busy).may.reply;
        act(&mut *busy, if reply { "reply" } else { "next_game" });
        analyse(&mut *busy, &asked([3, 1], PlayerKind::Now, 50)).unwrap();
    }
    assert_eq!(plain.digest(), busy.digest());
}

#[test]
fn what_is_asked_within_a_round_is_answered_by_the_round_before() {
    let mut run = start(&strong(2));
    train(&mut *run, 2);
    let asked = asked([6, 5], PlayerKind::Now, 1);
    let before = analyse(&mut *run, &asked).unwrap();
    assert!(before.candidates.windows(2).all(|pair| pair[0].equity >= pair[1].equity));
    assert_eq!(before.candidates[0].loss, 0.0);
    while run.advance(1.0) && !run.at_boundary() {
        assert_eq!(analyse(&mut *run, &asked).unwrap(), before);
    }
    assert_ne!(analyse(&mut *run, &asked).unwrap(), before, "the round that has ended counts");
}

#[test]
fn what_is_refused_names_what_would_do() {
    let mut run = begin(&strong(1));
    let mut said = |name: &str, value| clear(&run.command(set(name, value)).unwrap_err());
    assert!(said("lr", 7.0).contains("out of range"));
    assert!(said("hidden", 32.0).contains("Reset"));
    assert!(said("wings", 2.0).contains("lambda"));
    let begun = |knob: &str, value: f64| {
        let mut config = strong(1);
        config.knobs.insert(knob.into(), value.into());
        clear(&run::begin(config, host()).err().unwrap())
    };
    assert!(begun("hidden", 17.0).contains("multiples of 16"));
    assert!(begun("games", 0.5).contains("whole number"));
    let config = Config { variant: "CartPole-v1".into(), ..strong(1) };
    assert!(clear(&run::begin(config, host()).err().unwrap()).contains("strong"));
}

#[test]
fn a_reset_begins_again_and_keeps_the_table() {
    let mut run = start(&strong(1));
    sit(&mut *run, &Setup { seats: [None, Some(NOW)], length: 3, cube: true, seed: 1 }).unwrap();
    let before = act(&mut *run, "roll");
    train(&mut *run, 1);
    run.command(Command::Reset { config: None }).unwrap();
    assert_eq!(run.progress().counts, [0.0; 4]);
    assert!(run.running());
    assert_eq!(table(&mut *run), before);
    // A refused one keeps it too.
    let config = Config { variant: "weak".into(), ..strong(1) };
    run.command(Command::Reset { config: Some(config) }).unwrap_err();
    assert_eq!(table(&mut *run), before);
    // One that was restored brings its own.
    let other = begin(&strong(2)).save().unwrap();
    run.command(Command::Restore { bytes: other }).unwrap();
    assert_eq!(ask::<Option<Session>>(&mut *run, json!({ "ask": "session" })).unwrap(), None);
}

/// Works until so many tests have been done; gives those since the last call.
fn until_tested(run: &mut dyn AnyRun, times: usize) -> Vec<Row> {
    let (mut all, mut now_s) = (Vec::new(), 0.0);
    while all.len() < times {
        now_s += 0.001;
        assert!(run.advance(now_s));
        all.extend(Told::by(run).tests().into_iter().map(timeless_row));
    }
    all
}

#[test]
fn the_agent_is_tested_as_training_goes_on_and_the_same_after_a_resume() {
    let mut whole = start(&strong(5));
    let first = until_tested(&mut *whole, 1).remove(0);
    let file = whole.save().unwrap();
    // Into the second, of which a few turns have been played.
    let mut under_way = None;
    let mut second = Vec::new();
    let (mut still, mut now_s) = (0, 0.0);
    while second.is_empty() {
        let before = whole.progress();
        now_s += 0.001;
        whole.advance(now_s);
        let tests = Told::by(&mut *whole);
        second.extend(tests.tests().into_iter().map(timeless_row));
        // At home nothing is learned while a test is under way.
        still = if whole.at_boundary() && timeless(&whole.progress()) == timeless(&before) {
            still + 1
        } else {
            0
        };
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
    assert!(value(&second, "random_points") > 0.5, "it has learned something: {second:?}");

    let again = until_tested(&mut *go_on(&file), 1).remove(0);
    assert_eq!(again, second);
    // What is saved in the midst of a test begins it again.
    let mut resumed = go_on(&under_way.expect("a test takes many slices"));
    let boards = resumed.progress().counts;
    assert_eq!(until_tested(&mut *resumed, 1), [second]);
    assert_eq!(resumed.progress().counts, boards, "before anything else is learned");
    let at = whole.progress().iteration + 2;
    train(&mut *whole, at);
    train(&mut *resumed, at);
    assert_eq!(whole.digest(), resumed.digest());
}

#[test]
fn the_agent_is_kept_as_it_was_and_can_be_played() {
    let mut run = start(&strong(4));
    let kept = Engine { who: frozen_at(1), evals: 1 };
    let setup = Setup { seats: [Some(kept), Some(NOW)], length: 1, cube: true, seed: 2 };
    let refusal = clear(&sit(&mut *run, &setup).unwrap_err());
    assert!(refusal.contains("1 minutes") && refusal.contains("Train for longer"), "{refusal}");
    let (mut now_s, mut frozen) = (0.0, Vec::new());
    while frozen.is_empty() {
        now_s += 0.25;
        run.advance(now_s);
        frozen.extend(run.events().into_iter().filter_map(|event| match event {
            Event::Room { event, text } => Some((event, text)),
            _ => None,
        }));
    }
    let (frozen, text) = frozen.remove(0);
    assert_eq!(text, "The agent as it is after 1 min is kept, to play against later.");
    assert_eq!((&frozen["kind"], &frozen["minutes"]), (&json!("frozen"), &json!(1)));
    let train_s = frozen["progress"]["train_s"].as_f64().unwrap();
    assert!((60.0..90.0).contains(&train_s), "{frozen:?}");
    let then = analyse(&mut *run, &asked([2, 1], frozen_at(1), 1)).unwrap();
    let rounds = run.progress().iteration;
    train(&mut *run, rounds + 1);
    assert_eq!(analyse(&mut *run, &asked([2, 1], frozen_at(1), 1)).unwrap().candidates, then.candidates);
    assert_ne!(analyse(&mut *run, &asked([2, 1], PlayerKind::Now, 1)).unwrap().candidates, then.candidates);

    sit(&mut *run, &setup).unwrap();
    let mut restored = run::restore(&run.save().unwrap(), host()).unwrap();
    let told = Told::by(&mut *restored);
    let kept = &told.began().room["frozen"];
    assert_eq!((kept.as_array().unwrap().len(), &kept[0]["progress"]), (1, &frozen["progress"]));
    assert_eq!(analyse(&mut *restored, &asked([2, 1], frozen_at(1), 1)).unwrap().candidates, then.candidates);
    while table(&mut *restored).ending.is_none() {
        act(&mut *restored, "reply");
    }
    assert!(table(&mut *restored).ending.unwrap().match_over);
}

#[test]
fn a_player_from_a_file_is_the_agent_of_the_run() {
    let mut run = start(&strong(6));
    train(&mut *run, 3);
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
fn questions_that_make_no_sense_are_refused() {
    let mut run = begin(&strong(1));
    let asked = |id: &str, dice, who, evals| AnalysisRequest { id: id.into(), dice, who, evals };
    let mut said = |request| analyse(&mut *run, &request).unwrap_err().to_string();
    assert!(said(asked("4HPwATDgc", None, PlayerKind::Now, 1)).contains("14 characters"));
    assert!(said(asked("4HPwATDgc/AB!!", None, PlayerKind::Now, 1)).contains("no position id"));
    assert!(said(asked("////////////AA", None, PlayerKind::Now, 1)).len() > 20);
    assert!(said(asked(START, Some([7, 1]), PlayerKind::Now, 1)).contains("no die shows 7"));
    assert!(said(asked(START, Some([2, 1]), PlayerKind::Random, 1)).contains("no opinion"));
    assert!(said(asked(START, Some([2, 1]), frozen_at(3), 1)).contains("3 minutes"));
    assert!(said(asked(START, Some([2, 1]), PlayerKind::Now, 1_000_000)).contains("at most"));
    // All of one side are off.
    let over = Board::new([0; 25], {
        let mut places = [0; 25];
        places[0] = 2;
        places
    })
    .unwrap()
    .id();
    assert!(said(asked(over.as_str(), None, PlayerKind::Now, 1)).contains("has ended"));

    // With the match's id behind it, as GNU Backgammon copies it.
    let both = analyse(&mut *run, &asked("4HPwATDgc/ABMA:cAkAAAAAAAAA", None, PlayerKind::Now, 1)).unwrap();
    let outlook = both.outlook.unwrap();
    assert!((outlook.chances.iter().sum::<f64>() - 1.0).abs() < 1e-4 && outlook.may_double);
}

#[test]
fn the_tree_one_level_on_has_every_roll() {
    let mut run = begin(&strong(1));
    let best = analyse(&mut *run, &asked([3, 1], PlayerKind::Now, 1)).unwrap().candidates.remove(0);
    let unfold = json!({ "id": best.id, "who": PlayerKind::Now, "evals": 1 });
    let branches: Vec<Branch> = ask(&mut *run, json!({ "ask": "unfold", "unfold": unfold })).unwrap();
    assert_eq!(branches.iter().map(|branch| branch.ways).sum::<u32>(), 36);
    assert!(branches.iter().all(|branch| branch.equity.abs() <= 3.0 && !branch.text.is_empty()));
}

#[test]
fn the_published_learner_searches_where_it_is_asked_to() {
    let mut run = start(&small("backgammon", "published", 1));
    train(&mut *run, 2);
    let analysis = analyse(&mut *run, &asked([3, 1], PlayerKind::Now, 20)).unwrap();
    assert!((analysis.candidates.iter().map(|c| c.share).sum::<f64>() - 1.0).abs() < 1e-3);
}
