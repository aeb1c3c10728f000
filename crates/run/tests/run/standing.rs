//! Tests of the number and the state that lead a headline.

use crate::bandit::Bandit;
use crate::common::*;
use run::internals::{Tested, thin};
use run::protocol::{Command, Event, Goal, Progress, Row, RunState, Standing};
use run::room::{Failure, Schema};
use run::{AnyRun, Run};

const GOAL: Goal = Goal { column: "mean_return", at: 475.0 };

/// Returns the schema of control.
fn schema() -> &'static Schema {
    run::rooms()[0].schema()
}

fn progress(schema: &Schema, iteration: u32) -> Progress {
    Progress { iteration, counts: vec![f64::from(iteration) * 100_000.0; schema.counters.len()], train_s: f64::from(iteration) }
}

/// Returns a test of control after each iteration from 1 on. The first column has these values, and the column of the episodes has 100.
fn tests(means: &[Option<f64>]) -> Vec<Row> {
    let row =
        |(i, &mean): (usize, &Option<f64>)| Row { progress: progress(schema(), i as u32 + 1), values: vec![mean, None, None, Some(100.0)] };
    means.iter().enumerate().map(row).collect()
}

/// Returns the standing of a run of control with these tests. `solved` is the iteration of the solution.
fn standing(means: &[Option<f64>], goal: Option<Goal>, solved: Option<u32>, failure: Option<&Failure>) -> Standing {
    let solved = solved.map(|iteration| progress(schema(), iteration));
    let tested = Tested { schema: schema(), goal, tests: &tests(means), solved: solved.as_ref() };
    tested.standing(0, failure, &progress(schema(), 9))
}

/// Values of the tests, iteration of the solution, and the expected state, its first iteration and its words.
type Case<'a> = (&'a [Option<f64>], Option<u32>, RunState, Option<u32>, &'a str);

#[test]
fn every_transition_has_its_state_and_its_words() {
    use RunState::{Learning, LostAgain, Solved, StillSolved};
    let (low, high, none) = (Some(9.35), Some(500.0), None);
    let cases: [Case; 11] = [
        (&[], None, Learning, None, "learning"),
        (&[low, high], None, Learning, None, "learning"),
        (&[low, high], Some(2), Solved, Some(2), "solved at 200 thousand steps"),
        (&[low, high, high], Some(2), StillSolved, Some(2), "solved at 200 thousand steps and still so"),
        (&[high, high, low], Some(2), LostAgain, Some(3), "solved at 200 thousand steps, lost again at 300 thousand steps"),
        (&[high, low, low, low], Some(1), LostAgain, Some(2), "solved at 100 thousand steps, lost again at 200 thousand steps"),
        (&[high, low, high], Some(1), Solved, Some(3), "solved again at 300 thousand steps"),
        (&[high, low, high, high], Some(1), StillSolved, Some(3), "solved again at 300 thousand steps and still so"),
        (&[high, low, high, low], Some(1), LostAgain, Some(4), "solved at 100 thousand steps, lost again at 400 thousand steps"),
        // A test without a value changes nothing, nor does a test before the solution.
        (&[low, high, none], Some(2), Solved, Some(2), "solved at 200 thousand steps"),
        (&[high, low, none, low], Some(1), LostAgain, Some(2), "solved at 100 thousand steps, lost again at 200 thousand steps"),
    ];
    for (means, solved, state, since, words) in cases {
        let found = standing(means, Some(GOAL), solved, None);
        let since = since.map(|iteration| progress(schema(), iteration));
        assert_eq!((found.state, found.since, &*found.words), (state, since, words), "{means:?} solved at {solved:?}");
    }
}

#[test]
fn leading_number_has_a_name() {
    let lead = |means: &[Option<f64>], goal| {
        let Standing { progress, name, value, number, .. } = standing(means, goal, None, None);
        (progress.iteration, name, value, number)
    };
    let average = "average of 100 test episodes";
    for goal in [Some(GOAL), None] {
        assert_eq!(lead(&[], goal), (9, "test return".into(), None, "no test yet".into()));
        assert_eq!(lead(&[Some(20.0), Some(-87.54)], goal), (2, average.into(), Some(-87.54), "-87.5".into()));
    }
    // If the test has no value in the goal's column, the first column with a value leads.
    assert_eq!(lead(&[None], Some(GOAL)), (1, "test episodes".into(), Some(100.0), "100".into()));
    for room in rooms() {
        let schema = room.schema();
        let tests = [Row { progress: progress(schema, 1), values: vec![Some(0.5); schema.tests.len()] }];
        for variant in room.variants() {
            let name = Tested { schema, goal: variant.goal, tests: &tests, solved: None }.standing(0, None, &tests[0].progress).name;
            assert!(!name.is_empty() && !name.contains(['{', '}']), "{}: {name}", variant.id);
        }
    }
}

#[test]
fn failures_and_failed_confirmations_are_in_the_words() {
    let failed = |solved, failure| standing(&[Some(500.0)], Some(GOAL), solved, Some(failure)).words;
    assert_eq!(failed(None, &Failure::Diverged), "diverged at 900 thousand steps");
    let world = Failure::World("line 3: a division by 0".into());
    assert_eq!(failed(Some(1), &world), "solved at 100 thousand steps, stopped by an error of the environment at 900 thousand steps");
    let none = Tested { schema: schema(), goal: Some(GOAL), tests: &[], solved: None };
    let words = [0, 1, 1234].map(|attempts| none.standing(attempts, None, &progress(schema(), 0)).words);
    let plural = "learning: 1,234 tests reached the goal and were not confirmed";
    assert_eq!(words, ["learning", "learning: one test reached the goal and was not confirmed", plural]);
}

/// A long run drops tests. Its standing stays the same.
#[test]
fn thinned_tests_have_the_same_standing() {
    let (low, high) = (Some(9.0), Some(500.0));
    for means in [vec![high; 9], vec![high, high, low, high, high, high, high], vec![high, high, low, low, low, low]] {
        let mut rows = tests(&means);
        let solved = progress(schema(), 2);
        let of = |tests: &[Row]| Tested { schema: schema(), goal: Some(GOAL), tests, solved: Some(&solved) }.standing(0, None, &solved);
        let before = of(&rows);
        let kept = Tested { schema: schema(), goal: Some(GOAL), tests: &rows, solved: Some(&solved) }.kept();
        thin(&mut rows, &kept);
        assert!(rows.len() < means.len());
        assert_eq!(of(&rows), before);
    }
}

#[test]
fn a_run_reports_its_standing_after_each_test_and_after_a_restore() {
    let standings = |events: &Events| -> Vec<Standing> {
        events.0.iter().filter_map(|event| if let Event::Standing(standing) = event { Some(standing.clone()) } else { None }).collect()
    };
    let mut run = Run::<Bandit>::new(small("bandit", "three-arms", 1), host()).unwrap();
    let first = standings(&Events::drain(&mut run)).pop().unwrap();
    assert_eq!((first.state, &*first.name, &*first.number, &*first.words), (RunState::Learning, "best arm", "no test yet", "learning"));
    run.command(Command::Start).unwrap();
    let events = until(&mut run, |events| standings(events).iter().any(|one| one.state == RunState::StillSolved));
    let (all, numbers) = (standings(&events), events.tests());
    assert!(all.len() >= numbers.len() && numbers.len() >= 2);
    assert!(numbers.iter().all(|test| all.iter().any(|one| one.progress == test.progress && one.value == test.values[0])));
    let last = all.last().unwrap();
    assert_eq!((last, last.since.as_ref()), (&run.standing(None), run.solved()));
    let mut again = Run::<Bandit>::restore(&run.save().unwrap(), host()).unwrap();
    assert_eq!(standings(&Events::drain(&mut again)).pop().as_ref(), Some(last));
    // A further test by the shell counts.
    let lost = Row { progress: Progress { iteration: 1000, counts: vec![5e6], train_s: 1.0 }, values: vec![Some(0.25)] };
    let Standing { number, words, .. } = run.standing(Some(&lost));
    assert!(number == "25%" && words.ends_with(", lost again at 5 million pulls"), "{number}: {words}");
}
