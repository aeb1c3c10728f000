//! Tests of solved runs. If a test reaches the goal, a confirmation repeats it with separate random draws. A failed confirmation is
//! reported and saved. Tests and confirmations do not change training.

use crate::bandit::Bandit;
use crate::common::*;
use graph::Plan;
use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainStateRef};
use learn::{Fault, Learner, Machine};
use run::backgammon::baselines::Linear;
use run::backgammon::{Backgammon, arena, player_from_checkpoint};
use run::control::Control;
use run::cube::Cube;
use run::logic::Logic;
use run::protocol::{Command, Config, Confirmation, Knob, Row, Variant};
use run::room::{Answer, ByName, Room, Saved, Schema, Setup};
use run::words::Words;
use run::{AnyRun, Run, RunError};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Returns the result of a test, or of a confirmation if `confirmation` contains its seed. The learner does not advance during the test.
fn found<R: Room>(room: &mut R, confirmation: Option<u32>) -> Vec<Option<f64>> {
    match confirmation {
        None => room.begin_test(),
        Some(seed) => assert!(room.begin_confirmation(seed)),
    }
    loop {
        if let Some(found) = room.advance_test().unwrap() {
            return R::SCHEMA.test_row(&found);
        }
    }
}

/// The bandit with a confirmation that fails in the first iterations.
struct Doubtful {
    bandit: Bandit,
    /// True while a confirmation is in progress.
    confirms: bool,
}

impl Doubtful {
    /// Number of iterations before which a confirmation fails.
    const CONFIRMED_FROM: u32 = 20;
    /// Value of a failed confirmation.
    const FAILED: f64 = 0.5;

    fn of(bandit: Bandit) -> Self {
        Doubtful { bandit, confirms: false }
    }
}

impl Room for Doubtful {
    const SCHEMA: &'static Schema = Bandit::SCHEMA;
    type Learner = Bandit;
    type Question = <Bandit as Room>::Question;

    fn variants() -> Vec<Variant> {
        Bandit::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        <Bandit as Room>::knobs(variant)
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        <Bandit as Room>::check(setup)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        <Bandit as Room>::bytes(setup)
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        Bandit::begin(setup).map(Doubtful::of)
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        <Bandit as Room>::restore(setup, saved).map(Doubtful::of)
    }

    fn learner(&self) -> Option<&Bandit> {
        self.bandit.learner()
    }

    fn learner_mut(&mut self) -> Option<&mut Bandit> {
        self.bandit.learner_mut()
    }

    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool {
        self.bandit.test_is_due(tests, solved)
    }

    fn begin_test(&mut self) {
        self.confirms = false;
    }

    fn begin_confirmation(&mut self, _: u32) -> bool {
        self.confirms = true;
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        if self.confirms && self.bandit.progress().iterations < u64::from(Self::CONFIRMED_FROM) {
            return Ok(Some(vec![("best", Some(Self::FAILED))]));
        }
        self.bandit.advance_test()
    }

    fn ask(&mut self, question: Self::Question) -> Result<Answer, RunError> {
        self.bandit.ask(question)
    }
}

/// Only a confirmation solves a run, because a test may reach the goal by luck.
#[test]
fn failed_confirmation_is_reported_and_saved_as_an_attempt() {
    let mut run = Run::<Doubtful>::new(small("bandit", "three-arms", 1), host()).unwrap();
    run.command(Command::Start).unwrap();
    let events = until(&mut run, |events| !events.confirmations().is_empty());
    let all = events.confirmations();
    assert_eq!(all.len(), 1);
    let Confirmation { progress, value, goal, confirmed } = all[0];
    let test = events.tests().pop().unwrap();
    assert_eq!((test.progress.iteration, *goal, *value), (progress.iteration, 0.9, Some(Doubtful::FAILED)));
    assert!(test.values[0] >= Some(0.9) && !confirmed, "{test:?}");
    assert_eq!((events.is_solved(), run.solved(), run.attempts()), (false, None, 1));
    let mut again = Run::<Doubtful>::restore(&run.save().unwrap(), host()).unwrap();
    assert_eq!((again.attempts(), again.solved()), (1, None));
    assert_eq!(Events::drain(&mut again).began().attempts, 1);
    // Training continues until a confirmation reaches the goal.
    again.command(Command::Start).unwrap();
    let events = until(&mut again, Events::is_solved);
    let confirmed: Vec<bool> = events.confirmations().iter().map(|one| one.confirmed).collect();
    let failed = confirmed.len() - 1;
    assert!(confirmed[failed] && confirmed[..failed].iter().all(|confirmed| !confirmed), "{confirmed:?}");
    assert_eq!(again.attempts() as usize, 1 + failed);
    assert!(again.solved().unwrap().iteration >= Doubtful::CONFIRMED_FROM);
    let restored = Run::<Doubtful>::restore(&again.save().unwrap(), host()).unwrap();
    assert_eq!((restored.attempts(), restored.solved()), (again.attempts(), again.solved()));
}

/// Trains with one seed after the other, until a test reaches the goal by luck and its confirmation fails.
#[test]
#[ignore = "all: failed_confirmation_is_reported_and_saved_as_an_attempt"]
fn failed_confirmation_of_control_is_reported_and_saved_as_an_attempt() {
    let mut failed = false;
    for seed in 1..=60 {
        let mut run = start(&small("control", "CartPole-v1", seed));
        let events = until(&mut *run, |events| !events.confirmations().is_empty());
        let all = events.confirmations();
        assert_eq!(all.len(), 1, "seed {seed}");
        let Confirmation { progress, value, goal, confirmed } = all[0];
        let test = events.tests().pop().unwrap();
        assert_eq!((test.progress.iteration, *goal), (progress.iteration, 475.0));
        assert!(test.values[0] >= Some(475.0), "{test:?}");
        assert_eq!(*confirmed, *value >= Some(475.0));
        assert_eq!((events.is_solved(), run.solved().is_some()), (*confirmed, *confirmed), "seed {seed}");
        assert_eq!(run.attempts(), u32::from(!confirmed));
        if *confirmed {
            continue;
        }
        failed = true;
        let mut again = resume(&run.save().unwrap());
        assert_eq!((again.attempts(), again.solved()), (1, None));
        assert_eq!(Events::drain(&mut *again).began().attempts, 1);
        // Training continues until a confirmation reaches the goal.
        until(&mut *again, Events::is_solved);
        let attempts = again.attempts();
        assert!(attempts >= 1 && again.solved().unwrap().iteration > progress.iteration);
        let again = run::restore(&again.save().unwrap(), host()).unwrap();
        assert_eq!(again.attempts(), attempts);
        break;
    }
    assert!(failed, "no confirmation of sixty runs failed");
}

#[test]
fn tests_and_confirmations_do_not_change_the_weights() {
    let config = small("control", "CartPole-v1", 1);
    let mut tested = start(&config);
    until(&mut *tested, |events| !events.confirmations().is_empty());
    let iterations = tested.progress().iteration;
    let mut untested = Run::<Control>::new(config, host()).unwrap();
    while untested.progress().iteration < iterations {
        untested.room().learner_mut().unwrap().advance();
    }
    assert_eq!(untested.digest().weights, tested.digest().weights);
}

/// Each test uses new episodes. A confirmation uses episodes that no test has used.
#[test]
fn each_test_and_confirmation_uses_different_episodes() {
    // The learning rate is so low that different episodes change the return more than training does.
    let config = with(small("control", "Pendulum-v1", 3), "lr=0.00001 epochs=1");
    let mut run = Run::<Control>::new(config, host()).unwrap();
    run.command(Command::Start).unwrap();
    let (mut means, mut drift) = (Vec::new(), Vec::new());
    for iterations in 1..=6 {
        train(&mut run, iterations);
        means.push(run.test().unwrap().values[0].unwrap());
        drift.push(run.room().evaluate(100, 7)[0].unwrap());
    }
    let most = |values: &[f64]| values.windows(2).map(|two| (two[0] - two[1]).abs()).fold(0.0, f64::max);
    assert!(most(&means) > 5.0 * most(&drift), "{means:?}, {drift:?}");
    let mut confirmation = |seed| found(run.room(), Some(seed))[0].unwrap();
    let confirmed = [confirmation(1), confirmation(2), confirmation(1)];
    assert_eq!(confirmed[0], confirmed[2]);
    assert!(confirmed[0] != confirmed[1] && confirmed[0] != means[5], "{confirmed:?}, {means:?}");
}

/// Returns true if the room confirms a test of this run by a test with other random draws.
fn is_confirmed<R: Room>(config: &Config) -> bool {
    let mut run = Run::<R>::new(config.clone(), host()).unwrap();
    // The words room prepares its text at the beginning of the first test.
    run.room().begin_test();
    run.room().begin_confirmation(1)
}

/// Returns true if a test of the variant needs no confirmation, because chance cannot affect its value in the goal's column. On the 2x2x2,
/// a test covers all states. In logic, a test covers all neighbourhoods of a rule, or the single start grid of a pattern. In the bandit, a
/// test computes an exact probability.
fn leaves_nothing_to_chance(room: &str, variant: &str) -> bool {
    match room {
        "cube" => variant.starts_with("2x2x2"),
        "logic" => !variant.starts_with("checkerboard"),
        "bandit" => true,
        _ => false,
    }
}

#[test]
fn every_goal_is_confirmed_unless_its_test_is_exhaustive() {
    for (room, config) in every(1) {
        let id = room.schema().id;
        let variant = room.variants().into_iter().find(|variant| variant.id == config.variant).unwrap();
        if variant.goal.is_none() {
            continue;
        }
        let is_confirmed: fn(&Config) -> bool = match id {
            "control" => is_confirmed::<Control>,
            "backgammon" => is_confirmed::<Backgammon>,
            "cube" => is_confirmed::<Cube>,
            "logic" => is_confirmed::<Logic>,
            "words" => is_confirmed::<Words>,
            "bandit" => is_confirmed::<Bandit>,
            _ => panic!("this test has no case for the room {id}"),
        };
        assert_eq!(is_confirmed(&config), !leaves_nothing_to_chance(id, &variant.id), "{id} {}", variant.id);
    }
}

/// A confirmation generates a new text from the confirmation's seed. The next test uses the learner's text again.
#[test]
fn words_confirmation_uses_a_separate_text() {
    // The tokens are bytes, because another text may contain a character that the learner's text lacks.
    let config = with(small("words", "char", 5), "tokenizer=bytes");
    let mut run = Run::<Words>::new(config, host()).unwrap();
    let test = found(run.room(), None);
    let confirmed = [1, 2, 1].map(|seed| found(run.room(), Some(seed)));
    assert_eq!(confirmed[0], confirmed[2]);
    for name in ["val_loss", "floor"] {
        let column = Words::SCHEMA.test(name).unwrap();
        let [test, one, other] = [&test, &confirmed[0], &confirmed[1]].map(|values| values[column].unwrap());
        assert!(test != one && test != other && one != other, "{name}: {test}, {one}, {other}");
    }
    assert_eq!(found(run.room(), None), test);
}

/// A machine that records the first states that it receives for evaluation, and then fails.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<f32>>>);

impl Machine for Recorder {
    fn name(&self) -> String {
        "a recorder".into()
    }

    fn is_software(&self) -> bool {
        false
    }

    fn evaluator(&self, _: &Arc<Plan>, _: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Ok(Box::new(self.clone()))
    }

    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Local.trainer(plan, state)
    }
}

impl PlanEvaluator for Recorder {
    fn set_weights(&mut self, _: &[f32]) -> Result<(), Fault> {
        Ok(())
    }

    fn set_input(&mut self, _: &str, values: &[f32]) -> Result<(), Fault> {
        *self.0.lock().unwrap() = values.to_vec();
        Err(Fault::Refused { why: "the states are recorded".into() })
    }

    fn run(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn poll(&mut self, _: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// After a short training, no scramble of the 3x3x3 is solved, so the results of different scrambles are equal. This test therefore
/// compares the first states that a machine receives for evaluation.
#[test]
fn cube_confirmation_uses_separate_scrambles() {
    let mut run = Run::<Cube>::new(small("cube", "3x3x3", 5), host()).unwrap();
    let mut first = |confirmation: Option<u32>| {
        let (room, recorder) = (run.room(), Recorder::default());
        match confirmation {
            None => room.begin_test(),
            Some(seed) => assert!(room.begin_confirmation(seed)),
        }
        room.offload().unwrap().begin_offload(&recorder, 0).unwrap();
        while recorder.0.lock().unwrap().is_empty() {
            assert_eq!(room.advance_test().unwrap(), None, "the test ended before an evaluation");
        }
        std::mem::take(&mut *recorder.0.lock().unwrap())
    };
    // The test also uses the seed 0, but from another random stream.
    let [test, again] = [None, None].map(&mut first);
    let [zero, one, same] = [Some(0), Some(1), Some(0)].map(&mut first);
    assert!(test == again && zero == same, "equal draws gave different states");
    assert!(test != zero && test != one && zero != one, "different draws gave equal states");
}

/// A confirmation plays more games than a test, with the dice of its seed. The highest bit of a confirmation's seed is 1, and that of a
/// test's seed is 0. Therefore, no test and no confirmation have the same dice.
#[test]
fn backgammon_confirmation_uses_separate_dice() {
    let mut run = Run::<Backgammon>::new(small("backgammon", "strong", 3), host()).unwrap();
    let mut player = player_from_checkpoint(&run.save().unwrap(), 1, host()).unwrap();
    let column = |name: &str| Backgammon::SCHEMA.test(name).unwrap();
    let [points, error, games] = ["linear_points", "linear_error", "linear_games"].map(column);
    let result = |values: &[Option<f64>]| [values[points], values[error]];
    // Plays a duel with as many games as `values` state, and with the dice of this seed.
    let mut duel = |values: &[Option<f64>], seed: u32| {
        let pairs = values[games].unwrap() as u64 / 2;
        let tally = arena::duel(&mut *player, &mut Linear::new(), seed, pairs, 64).unwrap();
        [Some(tally.mean()), tally.standard_error()]
    };
    let (test, confirmation) = (found(run.room(), None), found(run.room(), Some(1)));
    assert!(confirmation[games] > test[games], "{test:?} {confirmation:?}");
    assert_eq!(result(&test), duel(&test, 0));
    assert_eq!(result(&confirmation), duel(&confirmation, 1 << 31 | 1));
}

/// The default run reaches the goal within a budget; without training, its circuits have wrong cells. A confirmation has many short slices.
/// A run that was saved during a confirmation repeats the confirmation after the restore.
#[test]
fn checkerboard_is_learned_and_its_confirmation_continues_after_restore() {
    let config = Config { variant: "checkerboard".into(), ..run::config_of(room("logic")) };
    let mut run = start(&config);
    let reaches = |test: &&Row| test.values[0] == Some(1.0);
    let events = until(&mut *run, |events| events.tests().iter().any(reaches));
    let test = events.tests().pop().unwrap();
    assert!(test.progress.counts[0] <= 6000.0, "{test:?}");
    let column = |name: &str| test.values[run.schema().test(name).unwrap()].unwrap();
    assert!(column("larger") > 0.99 && column("healed") > 0.99, "{test:?}");
    assert!(run.solved().is_none(), "a test without confirmation solved the run");
    (0..3).for_each(|_| assert!(run.advance(0.0)));
    let file = run.save().unwrap();
    let mut again = run::restore(&file, host()).unwrap();
    assert_eq!(again.solved(), None);
    // The run is paused, but completes the confirmation in progress.
    let ends = |run: &mut dyn AnyRun| {
        let mut slices = 0;
        run.command(Command::Pause).unwrap();
        while run.advance(0.0) {
            slices += 1;
        }
        let events = Events::drain(run);
        assert!(events.tests().is_empty(), "the test was repeated");
        (slices, events.confirmations()[0].clone())
    };
    let ((slices, one), (_, other)) = (ends(&mut *run), ends(&mut *again));
    assert!(slices > 20, "{slices}");
    assert_eq!((one.value, one.confirmed), (other.value, other.confirmed));
    assert_eq!(one.progress.counts, other.progress.counts);
    // A reset ends the confirmation in progress.
    run.command(restored(file)).unwrap();
    assert!(run.advance(0.0), "the confirmation is not in progress");
    run.command(Command::Reset { config: None }).unwrap();
    assert!(!run.advance(0.0), "the confirmation continued");
    assert_eq!((run.solved(), run.progress().iteration), (None, 0));
    assert!(Events::drain(&mut *run).confirmations().is_empty());
}

/// If a circuit passes a test but is wrong on other grids, the run reports a failed confirmation instead of a solution.
#[test]
fn confirmed_circuits_are_right_on_other_grids() {
    // With each of these seeds, the first circuit that is right on the 64 grids of a test is wrong on some of 20,000 other grids. Another
    // arithmetic may change this, so `npm test` ends at the first seed with a failed confirmation.
    let mut failed = 0;
    for seed in [26, 40, 30, 36] {
        if failed > 0 && !testkit::all() {
            break;
        }
        let config = Config { variant: "checkerboard".into(), seed, ..run::config_of(room("logic")) };
        let mut run = start(&config);
        let events = until(&mut *run, Events::is_solved);
        let all = events.confirmations();
        assert_eq!(all.iter().filter(|one| !one.confirmed).count(), run.attempts() as usize);
        failed += run.attempts();
        assert_eq!(all.last().unwrap().value, Some(1.0));
        let best: serde_json::Value = ask(&mut *run, json!({ "ask": "population" })).unwrap();
        for grid in 0..200 {
            let begin = json!({
                "ask": "grid", "width": 16, "height": 16, "start": "random", "seed": 1000 + grid, "member": best["best"], "soft": false
            });
            let _: serde_json::Value = ask(&mut *run, begin).unwrap();
            let left: serde_json::Value = ask(&mut *run, json!({ "ask": "advance", "steps": 20 })).unwrap();
            assert_eq!(left["wrong"], 0.0, "seed {seed}, grid {grid}");
        }
    }
    assert!(failed > 0, "no confirmation failed");
}
