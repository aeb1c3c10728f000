//! The room of backgammon, driven as a shell drives it.

use math::Isa;
use run::backgammon::protocol::{Act, Command, Engine, Event, Inquiry, Judged, Setup, Unfold, Who};
use run::backgammon::{Parlour, default_config, knob_list, learners, player_from_checkpoint};
use run::protocol::{Config, Digest, Level};
use run::{CONFIG_VERSION, DIGEST_EVERY, Experiment, RunError, permalink, room_of};
use std::collections::BTreeMap;
use worlds::backgammon::{Board, Roll};

/// Networks and rounds that are quick.
fn small(seed: u32) -> Config {
    let knobs = [("hidden", 16.0), ("games", 24.0), ("batch", 128.0)];
    let knobs = knobs.map(|(name, value)| (name.to_string(), value));
    Config { seed, knobs: BTreeMap::from(knobs), ..default_config() }
}

fn start(config: Config) -> Parlour {
    let mut parlour = Parlour::new(config, Isa::best()).unwrap();
    parlour.command(Command::Start).unwrap();
    parlour
}

/// Works until so many rounds are done in all.
fn train(parlour: &mut Parlour, rounds: u32) {
    let mut now_s = 0.0;
    while parlour.progress().rounds < rounds {
        now_s += 0.001;
        assert!(parlour.advance(now_s));
    }
}

fn saved(parlour: &mut Parlour) -> Vec<u8> {
    parlour.command(Command::Save).unwrap();
    let mut now_s = 0.0;
    loop {
        for event in parlour.events() {
            if let Event::Saved { bytes } = event {
                return bytes;
            }
        }
        now_s += 0.001;
        assert!(parlour.advance(now_s), "a save in the middle of a round ends it");
    }
}

fn judged(parlour: &mut Parlour) -> Vec<Judged> {
    let events = parlour.events().into_iter();
    events.filter_map(|event| if let Event::Judged(judged) = event { Some(judged) } else { None }).collect()
}

const NOW: Engine = Engine { who: Who::Now, evals: 1 };
const START: &str = "4HPwATDgc/ABMA";

#[test]
fn a_resumed_run_equals_one_that_never_stopped() {
    let mut whole = start(small(3));
    train(&mut whole, 9);

    let mut first = start(small(3));
    train(&mut first, 4);
    let file = saved(&mut first);
    drop(first);
    assert_eq!(room_of(&file).unwrap(), "backgammon");
    let mut second = Parlour::restore(&file, Isa::best()).unwrap();
    second.command(Command::Start).unwrap();
    train(&mut second, 9);

    assert_eq!(whole.digest(), second.digest());
    assert_eq!(whole.progress().evaluations, second.progress().evaluations);
}

#[test]
fn seeds_and_knobs_change_the_weights() {
    let digest = |config| {
        let mut parlour = start(config);
        train(&mut parlour, 2);
        parlour.digest().weights
    };
    let base = digest(small(1));
    assert_eq!(base, digest(small(1)));
    assert_ne!(base, digest(small(2)));
    let mut other = small(1);
    other.knobs.insert("lambda".into(), 0.2);
    assert_ne!(base, digest(other));
}

#[test]
fn clocks_questions_and_games_leave_no_trace_in_the_weights() {
    let mut plain = start(small(8));
    train(&mut plain, 4);

    let mut busy = start(small(8));
    let setup = Setup { seats: [Some(NOW); 2], length: 0, cube: true, seed: 5 };
    busy.sit(setup).unwrap();
    let mut now_s = 100.0;
    while busy.progress().rounds < 4 {
        now_s += 7.0;
        busy.advance(now_s);
        let table = busy.table().unwrap();
        busy.act(if table.may.reply { &Act::Reply } else { &Act::NextGame }).unwrap();
        let asked = Inquiry { id: START.into(), dice: Some([3, 1]), who: Who::Now, evals: 50 };
        busy.analyse(&asked).unwrap();
    }
    assert_eq!(plain.digest(), busy.digest());
}

#[test]
fn what_is_asked_within_a_round_is_answered_by_the_round_before() {
    let mut parlour = start(small(2));
    train(&mut parlour, 2);
    let asked = Inquiry { id: START.into(), dice: Some([6, 5]), who: Who::Now, evals: 1 };
    let before = parlour.analyse(&asked).unwrap();
    assert!(before.candidates.windows(2).all(|pair| pair[0].equity >= pair[1].equity));
    assert_eq!(before.candidates[0].loss, 0.0);
    while parlour.advance(1.0) && !parlour.at_boundary() {
        if !parlour.at_boundary() {
            assert_eq!(parlour.analyse(&asked).unwrap(), before);
        }
    }
    assert_ne!(parlour.analyse(&asked).unwrap(), before, "the round that has ended counts");
}

#[test]
fn a_knob_changes_at_the_boundary_and_leaves_a_mark_that_the_file_keeps() {
    let mut parlour = start(small(1));
    parlour.advance(0.0);
    parlour.command(Command::SetKnob { name: "lr".into(), value: 0.0005 }).unwrap();
    train(&mut parlour, 2);
    let mut marks = parlour.events().into_iter().filter_map(|event| match event {
        Event::Mark(mark) => Some((mark.knob, mark.to, mark.progress.rounds)),
        _ => None,
    });
    assert_eq!(marks.next(), Some(("lr".to_string(), 0.0005, 1)));
    assert_eq!(marks.next(), None);
    drop(marks);

    let mut now = small(1);
    now.knobs.insert("lr".into(), 0.0005);
    assert_eq!(parlour.config_now(), now, "a link to it carries what is in force");
    let file = saved(&mut parlour);
    let mut restored = Parlour::restore(&file, Isa::best()).unwrap();
    assert_eq!(restored.config_now(), now);
    match restored.events().remove(0) {
        Event::Began { marks, knobs, history, .. } => {
            assert_eq!(marks.len(), 1);
            assert_eq!(knobs["lr"], 0.0005);
            assert_eq!(history.len(), 2);
        }
        other => panic!("expected the run to begin, got {other:?}"),
    }
}

#[test]
fn refused_commands_name_what_would_do() {
    let mut parlour = Parlour::new(small(1), Isa::best()).unwrap();
    let said = |parlour: &mut Parlour, name: &str, value| {
        parlour.command(Command::SetKnob { name: name.into(), value }).unwrap_err().to_string()
    };
    assert!(said(&mut parlour, "lr", 7.0).contains("out of range"));
    assert!(said(&mut parlour, "hidden", 32.0).contains("Reset"));
    assert!(said(&mut parlour, "wings", 2.0).contains("lambda"));
    let begun = |knob: &str, value| {
        let mut config = small(1);
        config.knobs.insert(knob.into(), value);
        Parlour::new(config, Isa::best()).err().unwrap().to_string()
    };
    assert!(begun("hidden", 17.0).contains("multiples of 16"));
    assert!(begun("games", 0.5).contains("whole number"));
    let config = Config { env: "CartPole-v1".into(), ..default_config() };
    assert!(Parlour::new(config, Isa::best()).err().unwrap().to_string().contains("strong"));
}

#[test]
fn a_step_is_one_round_and_then_a_pause() {
    let mut parlour = Parlour::new(small(1), Isa::best()).unwrap();
    assert!(!parlour.advance(0.0), "nothing happens before a command");
    parlour.command(Command::Step).unwrap();
    while parlour.advance(0.0) {}
    assert_eq!(parlour.progress().rounds, 1);
    assert!(!parlour.running());
}

#[test]
fn a_reset_begins_again_and_keeps_the_table() {
    let mut parlour = start(small(1));
    parlour.sit(Setup { seats: [None, Some(NOW)], length: 3, cube: true, seed: 1 }).unwrap();
    let table = parlour.act(&Act::Roll).unwrap();
    train(&mut parlour, 1);
    parlour.command(Command::Reset { config: None }).unwrap();
    assert_eq!(parlour.progress().games, 0);
    assert!(parlour.running());
    assert_eq!(parlour.table().unwrap(), table);
}

#[test]
fn other_rooms_foreign_files_and_damage_are_named() {
    let mut parlour = start(small(1));
    parlour.sit(Setup { seats: [None, Some(NOW)], length: 3, cube: true, seed: 1 }).unwrap();
    parlour.act(&Act::Roll).unwrap();
    let file = parlour.save();
    let said = |bytes: &[u8]| Parlour::restore(bytes, Isa::best()).err().unwrap().to_string();
    assert!(said(b"not a checkpoint at all").contains("no Hothouse checkpoint"));
    assert!(said(&file[..file.len() - 9]).contains("damaged"));
    // Somewhere in the text, in the lengths, and in the weights.
    for at in [9, 300, file.len() / 2, file.len() - 2] {
        let mut wrong = file.clone();
        wrong[at] ^= 1;
        let text = said(&wrong);
        assert!(text.contains("damaged") || text.contains("no Hothouse"), "byte {at}: {text}");
    }
    let newer = {
        let text = String::from_utf8_lossy(&file[8..]).into_owned();
        let at = 8 + text.find(r#"\"version\":1"#).unwrap() + r#"\"version\":"#.len();
        let mut newer = file.clone();
        newer[at] = b'9';
        newer
    };
    assert!(said(&newer).contains("newer Hothouse"));

    let knobs = [("envs", 32.0), ("hidden", 8.0)].map(|(name, value)| (name.to_string(), value));
    let config = Config { knobs: BTreeMap::from(knobs), ..run::default_config() };
    let control = Experiment::new(config.clone(), Isa::best()).unwrap().save();
    assert!(said(&control).contains("room 'control'"));
    let other = Experiment::restore(&file, Isa::best()).err().unwrap();
    assert!(matches!(other, RunError::OtherRoom { .. }), "{other}");
    assert!(matches!(Experiment::new(small(1), Isa::best()), Err(RunError::OtherRoom { .. })));
    assert!(matches!(Parlour::new(config, Isa::best()), Err(RunError::OtherRoom { .. })));
}

#[test]
fn the_agent_is_judged_as_training_goes_on_and_the_same_after_a_resume() {
    let mut whole = start(small(5));
    let until_judged = |parlour: &mut Parlour, times: usize| {
        let (mut all, mut now_s) = (Vec::new(), 0.0);
        while all.len() < times {
            now_s += 0.001;
            assert!(parlour.advance(now_s));
            all.extend(judged(parlour));
        }
        all
    };
    let first = until_judged(&mut whole, 1)[0];
    let file = whole.save();
    let second = until_judged(&mut whole, 1)[0];
    assert_eq!(first.random.games, 200);
    assert!(second.progress.games > first.progress.games);
    for score in [first.random, first.linear, second.random, second.linear] {
        assert!(score.points.abs() <= 3.0 && score.error > 0.0 && score.error < 0.3, "{score:?}");
        assert!((0.0..=1.0).contains(&score.wins) && score.gammons_won <= score.wins);
    }
    assert!(second.random.points > 0.5, "it has learned something: {second:?}");

    let mut resumed = Parlour::restore(&file, Isa::best()).unwrap();
    resumed.command(Command::Start).unwrap();
    let timeless = |judged: Judged| {
        let mut progress = judged.progress;
        progress.train_s = 0.0;
        Judged { progress, ..judged }
    };
    assert_eq!(timeless(until_judged(&mut resumed, 1)[0]), timeless(second));
}

#[test]
fn the_agent_is_kept_as_it_was_and_can_be_played() {
    let mut parlour = start(small(4));
    let mut now_s = 0.0;
    let setup = Setup {
        seats: [Some(Engine { who: Who::Frozen { minutes: 1 }, evals: 1 }), Some(NOW)],
        length: 1,
        cube: true,
        seed: 2,
    };
    let refusal = parlour.sit(setup.clone()).unwrap_err().to_string();
    assert!(refusal.contains("1 minutes") && refusal.contains("Train for longer"), "{refusal}");
    while parlour.frozen().is_empty() {
        now_s += 0.25;
        parlour.advance(now_s);
    }
    let frozen = parlour.frozen()[0];
    assert_eq!(frozen.minutes, 1);
    assert!((60.0..90.0).contains(&frozen.progress.train_s), "{frozen:?}");
    let asked = |who| Inquiry { id: START.into(), dice: Some([2, 1]), who, evals: 1 };
    let then = parlour.analyse(&asked(frozen_at(1))).unwrap();
    let rounds = parlour.progress().rounds;
    train(&mut parlour, rounds + 1);
    assert_eq!(parlour.analyse(&asked(frozen_at(1))).unwrap().candidates, then.candidates);
    assert_ne!(parlour.analyse(&asked(Who::Now)).unwrap().candidates, then.candidates);

    parlour.sit(setup).unwrap();
    let file = parlour.save();
    let mut restored = Parlour::restore(&file, Isa::best()).unwrap();
    assert_eq!(restored.frozen(), [frozen]);
    assert_eq!(restored.analyse(&asked(frozen_at(1))).unwrap().candidates, then.candidates);
    while restored.table().unwrap().ending.is_none() {
        restored.act(&Act::Reply).unwrap();
    }
    assert!(restored.table().unwrap().ending.unwrap().match_over);
}

fn frozen_at(minutes: u32) -> Who {
    Who::Frozen { minutes }
}

#[test]
fn a_player_from_a_file_is_the_agent_of_the_run() {
    let mut parlour = start(small(6));
    train(&mut parlour, 3);
    let mut player = player_from_checkpoint(&parlour.save(), 1, Isa::best()).unwrap();
    let mut chosen = Vec::new();
    let decisions = Roll::ALL.map(|roll| (Board::START, roll));
    player.choose(&decisions, &mut chosen);
    for ((board, roll), after) in decisions.into_iter().zip(chosen) {
        let dice = Some([roll.high(), roll.low()]);
        let asked = Inquiry { id: board.id().to_string(), dice, who: Who::Now, evals: 1 };
        assert_eq!(parlour.analyse(&asked).unwrap().candidates[0].id, after.id().to_string());
    }
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let mut parlour = Parlour::new(small(1), Isa::best()).unwrap();
    let asked = |id: &str, dice, who, evals| Inquiry { id: id.into(), dice, who, evals };
    let mut said = |inquiry| parlour.analyse(&inquiry).unwrap_err().to_string();
    assert!(said(asked("4HPwATDgc", None, Who::Now, 1)).contains("14 characters"));
    assert!(said(asked("4HPwATDgc/AB!!", None, Who::Now, 1)).contains("no position id"));
    assert!(said(asked("////////////AA", None, Who::Now, 1)).len() > 20);
    assert!(said(asked(START, Some([7, 1]), Who::Now, 1)).contains("no die shows 7"));
    assert!(said(asked(START, Some([2, 1]), Who::Random, 1)).contains("no opinion"));
    assert!(said(asked(START, Some([2, 1]), frozen_at(3), 1)).contains("3 minutes"));
    assert!(said(asked(START, Some([2, 1]), Who::Now, 1_000_000)).contains("at most"));
    // All of one side are off.
    let over = Board::new([0; 25], {
        let mut places = [0; 25];
        places[0] = 2;
        places
    })
    .unwrap()
    .id();
    assert!(said(asked(over.as_str(), None, Who::Now, 1)).contains("has ended"));

    // With the match's id behind it, as GNU Backgammon copies it.
    let both = parlour.analyse(&asked("4HPwATDgc/ABMA:cAkAAAAAAAAA", None, Who::Now, 1)).unwrap();
    let outlook = both.outlook.unwrap();
    assert!((outlook.chances.iter().sum::<f64>() - 1.0).abs() < 1e-4 && outlook.may_double);
}

#[test]
fn the_tree_one_level_on_has_every_roll() {
    let mut parlour = Parlour::new(small(1), Isa::best()).unwrap();
    let inquiry = Inquiry { id: START.into(), dice: Some([3, 1]), who: Who::Now, evals: 1 };
    let best = parlour.analyse(&inquiry).unwrap().candidates.remove(0);
    let branches = parlour.unfold(&Unfold { id: best.id, who: Who::Now, evals: 1 }).unwrap();
    assert_eq!(branches.iter().map(|branch| branch.ways).sum::<u32>(), 36);
    assert!(branches.iter().all(|branch| branch.equity.abs() <= 3.0 && !branch.text.is_empty()));
}

#[test]
fn a_link_carries_the_run_and_tells_whether_it_was_reproduced() {
    let mut first = start(small(7));
    train(&mut first, DIGEST_EVERY);
    let digest = first.digest();
    let link = permalink::encode(&first.config_now(), Some(&digest));
    assert!(link.starts_with("#/backgammon?env=strong&seed=7&"), "{link}");
    let read = permalink::decode(&link).unwrap();
    assert_eq!(read.config, small(7));
    assert_eq!(read.digest.as_ref(), Some(&digest));
    assert!(permalink::decode("#/backgammon?wings=2").unwrap_err().to_string().contains("no knob"));
    assert_eq!(permalink::decode("#/backgammon").unwrap().config, default_config());
    assert!(permalink::native_command(&small(7)).contains("train backgammon --env strong --seed 7"));

    let told = |expected: Digest| {
        let mut again = start(small(7));
        again.expect(expected);
        train(&mut again, DIGEST_EVERY);
        again.events().into_iter().find_map(|event| match event {
            Event::Notice { level, text, .. } => Some((level, text)),
            _ => None,
        })
    };
    let (level, text) = told(digest.clone()).unwrap();
    assert!(level == Level::Info && text.contains("Reproduced: after 16 rounds"), "{text}");
    let (level, _) = told(Digest { weights: "0".repeat(16), ..digest }).unwrap();
    assert_eq!(level, Level::Warning);
    assert_eq!(read.config.version, CONFIG_VERSION);
}

#[test]
fn defaults_lie_in_their_own_ranges() {
    for learner in learners() {
        let knobs = knob_list(learner.id);
        let all = knobs.iter().map(|knob| (knob.name.to_string(), knob.default)).collect();
        let config = Config { env: learner.id.into(), knobs: all, ..default_config() };
        permalink::decode(&permalink::encode(&config, None)).unwrap();
    }
}

#[test]
fn the_published_learner_is_resumed_and_played_too() {
    let knobs = [
        ("tables", 2.0),
        ("games", 4.0),
        ("batch", 16.0),
        ("evals", 8.0),
        ("round_batches", 40.0),
        ("minibatch", 32.0),
        ("replay", 1024.0),
    ];
    let knobs = BTreeMap::from(knobs.map(|(name, value)| (name.to_string(), value)));
    let config = Config { env: "published".into(), knobs, ..default_config() };
    let mut whole = start(config.clone());
    train(&mut whole, 3);
    let mut first = start(config);
    train(&mut first, 1);
    first.command(Command::SetKnob { name: "lr".into(), value: 0.001 }).unwrap();
    let file = saved(&mut first);
    let mut second = Parlour::restore(&file, Isa::best()).unwrap();
    second.command(Command::Start).unwrap();
    train(&mut second, 3);
    assert_eq!(whole.digest(), second.digest());
    let asked = Inquiry { id: START.into(), dice: Some([3, 1]), who: Who::Now, evals: 20 };
    let opinion = second.analyse(&asked).unwrap();
    assert!((opinion.candidates.iter().map(|c| c.share).sum::<f64>() - 1.0).abs() < 1e-3);
}
