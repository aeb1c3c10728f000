//! Tests a property of the runs of every room: with any valid knobs, a run can be saved at any time and resumes bit for bit. `npm test`
//! runs a few cases of each variant, and `npm test -- --all` runs more. `FUZZ=75` runs 75 cases of each variant, about 2,000 in total.

use crate::common::*;
use math::Rng;
use math::rng::Sequence;
use run::protocol::{Command, Config, Event, Knob, KnobKind, Mark, Row, Value};
use run::{AnyRoom, AnyRun, RunError, permalink};
use serde_json::json;

/// Returns a random valid value of the knob. An integer is at most `small`, or at most the knob's default if `small` is `None`.
fn any_value(knob: &Knob, small: Option<&Value>, dice: &mut Sequence) -> Value {
    let part = f64::from(dice.uniform());
    match knob.kind {
        KnobKind::Float { min, max, log } => {
            let value = match dice.below(4) {
                0 => min,
                1 => max,
                _ if log => min * (max / min).powf(part),
                _ => min + (max - min) * part,
            };
            Value::Number(value)
        }
        KnobKind::Int { min, max, .. } => {
            let usual = match small.unwrap_or(&knob.default) {
                Value::Number(usual) => *usual,
                Value::Text(_) => min,
            };
            let value = match dice.below(3) {
                0 => min,
                1 => usual,
                _ => min + ((usual - min) * part).round(),
            };
            Value::Number(value.clamp(min, max))
        }
        KnobKind::Bool => Value::Number(f64::from(dice.below(2))),
        KnobKind::Choice { options } => options[dice.below(options.len() as u32) as usize].name.into(),
        KnobKind::Text { .. } => knob.default.clone(),
    }
}

fn any_config(room: &dyn AnyRoom, small: &Config, dice: &mut Sequence) -> Config {
    for _ in 0..100 {
        let mut config = small.clone();
        for knob in room.knobs(&small.variant) {
            if dice.below(2) == 0 {
                let value = any_value(&knob, small.knobs.get(knob.name), dice);
                config.knobs.insert(knob.name.into(), value);
            }
        }
        if room.check(&config, host()).is_ok() {
            return config;
        }
    }
    small.clone()
}

/// Planned events of one iteration. The first number of each event is the number of slices since the beginning of the iteration.
struct IterationPlan {
    knob: Option<(u32, String, Value)>,
    /// Slice before which a restored run replaces the run, and the way in which the run is saved and restored.
    cut: Option<(u32, CutBy)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum CutBy {
    /// The command `Save` saves the run. A new run restores the file.
    Command,
    /// [`AnyRun::save`] saves the run. A new run restores the file.
    Save,
    /// [`AnyRun::save`] saves the run. The same run restores the file by a command.
    Restore,
}

fn timeless_mark(mark: &Mark) -> Mark {
    Mark { progress: timeless(&mark.progress), ..mark.clone() }
}

/// Observations of a run. All fields except `notices` must be equal with and without cuts.
#[derive(Debug, Default, PartialEq)]
struct Trace {
    digests: Vec<String>,
    tests: Vec<Row>,
    marks: Vec<Mark>,
    solved: Vec<(u32, f64)>,
    /// Number of each iteration, with its metrics that are not rates.
    metrics: Vec<(u32, Vec<Option<f64>>)>,
    notices: usize,
}

impl Trace {
    fn take(&mut self, run: &mut dyn AnyRun) -> Option<Vec<u8>> {
        let schema = run.schema();
        let mut saved = None;
        for event in run.events() {
            match event {
                Event::Metrics(row) => {
                    self.metrics.push((row.progress.iteration, unrated(schema.metrics, &row)));
                }
                Event::Test(row) => self.tests.push(timeless_row(&row)),
                Event::Mark(mark) => self.marks.push(timeless_mark(&mark)),
                Event::Solved { progress, goal } => self.solved.push((progress.iteration, goal)),
                Event::Saved { bytes } => saved = Some(bytes),
                Event::Began(began) if began.progress.iteration > 0 => {
                    let restored_rows: Vec<Row> = began.tests.iter().map(timeless_row).collect();
                    assert_eq!(restored_rows, self.tests, "a restored run reports other tests");
                    let restored_rows: Vec<Mark> = began.marks.iter().map(timeless_mark).collect();
                    assert_eq!(restored_rows, self.marks);
                    let restored_rows: Vec<u32> = began.history.iter().map(|row| row.progress.iteration).collect();
                    assert_eq!(restored_rows, self.metrics.iter().map(|m| m.0).collect::<Vec<_>>());
                    assert_eq!(began.solved.map(|s| s.iteration), self.solved.first().map(|s| s.0));
                }
                Event::Notice { .. } => self.notices += 1,
                _ => {}
            }
        }
        saved
    }
}

/// In backgammon, makes one act of a session, and begins the session first if `sit` is true. Returns the session; `None` if no act was
/// possible. In other rooms, does nothing and returns `None`.
fn play(run: &mut dyn AnyRun, sit: bool) -> Option<serde_json::Value> {
    if run.schema().id != "backgammon" {
        return None;
    }
    if sit {
        let engine = |kind: &str| json!({ "who": { "kind": kind }, "evals": 1 });
        let setup = json!({ "seats": [engine("random"), engine("linear")], "length": 5, "cube": true, "seed": 4 });
        ask::<serde_json::Value>(run, json!({ "ask": "new_session", "setup": setup })).unwrap();
    }
    let mut act = |kind: &str| ask::<serde_json::Value>(run, json!({ "ask": "act", "act": { "kind": kind } }));
    let mut table = act("reply").or_else(|_| act("next_game")).ok();
    // A save lacks the last reply of an engine, so the reply is not compared.
    if let Some(table) = &mut table {
        table["reply"] = json!(null);
    }
    table
}

/// Trains a run. If `cut` is true, saves and restores the run as planned. Returns the observations and the final file.
fn train_with_cuts(config: &Config, plans: &[IterationPlan], cut: bool, now_s: &mut f64) -> (Trace, Result<Vec<u8>, RunError>) {
    let mut run = start(config);
    let mut trace = Trace::default();
    for (done, plan) in plans.iter().enumerate() {
        let table = play(&mut *run, done == 0);
        let mut cut_to_do = plan.cut.filter(|_| cut);
        let mut slice = 0;
        while run.progress().iteration as usize == done && run.failure().is_none() {
            if let Some((at, name, value)) = &plan.knob
                && *at == slice
            {
                run.command(set(name, value.clone())).unwrap();
            }
            if cut_to_do.is_some_and(|(at, _)| at == slice) {
                let how = cut_to_do.take().map(|(_, how)| how);
                let file = match how {
                    Some(CutBy::Command) => {
                        run.command(Command::Save).unwrap();
                        loop {
                            if let Some(file) = trace.take(&mut *run) {
                                break Ok(file);
                            }
                            if run.failure().is_some() {
                                break Err(RunError::Diverged);
                            }
                            *now_s += 0.001;
                            assert!(run.advance(*now_s));
                        }
                    }
                    _ => run.save(),
                };
                trace.take(&mut *run);
                let Ok(file) = file else { break };
                let digest = run.digest();
                if how == Some(CutBy::Restore) {
                    run.command(restored(file)).unwrap();
                } else {
                    run = resume(&file);
                }
                assert_eq!(run.digest(), digest, "{how:?}");
                let now = ask::<serde_json::Value>(&mut *run, json!({ "ask": "session" })).ok();
                assert!(table.is_none() || now == table, "the game changed");
                continue;
            }
            *now_s += 0.001;
            run.advance(*now_s);
            trace.take(&mut *run);
            slice += 1;
        }
        trace.take(&mut *run);
        trace.digests.push(run.digest().weights);
    }
    run.command(Command::Pause).unwrap();
    while run.advance(*now_s) {}
    trace.take(&mut *run);
    trace.digests.push(run.digest().weights);
    (trace, run.save())
}

fn check_case(room: &dyn AnyRoom, small: &Config, case: u32) {
    let rng = Rng::new(case, 0x5052_4F50);
    let mut dice = rng.sequence(u64::from(small.seed) << 40);
    let config = any_config(room, small, &mut dice);
    let knobs: Vec<Knob> = room.knobs(&small.variant).into_iter().filter(|knob| knob.live).collect();
    let plans: Vec<IterationPlan> = (0..5)
        .map(|_| {
            let cut = [CutBy::Command, CutBy::Save, CutBy::Restore][dice.below(3) as usize];
            // A knob changes before the cut, so that the file may contain a pending change.
            let at = dice.below(3);
            let knob = &knobs[dice.below(knobs.len() as u32) as usize];
            let value = any_value(knob, small.knobs.get(knob.name), &mut dice);
            let mut changed = config.clone();
            changed.knobs.insert(knob.name.into(), value.clone());
            let legal = room.check(&changed, host()).is_ok();
            IterationPlan {
                knob: (legal && dice.below(2) == 0).then(|| (at, knob.name.to_string(), value)),
                cut: (dice.below(4) > 0).then(|| (at + dice.below(4), cut)),
            }
        })
        .collect();
    let mut now_s = 0.0;
    let (whole, last) = train_with_cuts(&config, &plans, false, &mut now_s);
    let (cut, other) = train_with_cuts(&config, &plans, true, &mut now_s);
    let what = format!("case {case}: {config:?}");
    let ended = whole.digests.last().cloned();
    assert_eq!(Trace { notices: 0, ..whole }, Trace { notices: 0, ..cut }, "{what}");
    match (last, other) {
        (Ok(last), Ok(other)) => {
            // The link of a run reproduces the run, including the live changes of knobs.
            let link = run::restore(&last, host()).unwrap().shared().link;
            let mut again = start(&permalink::decode(&link, host()).unwrap().config);
            settle(&mut *again, plans.len() as u32);
            assert_eq!(again.digest().weights, ended.unwrap(), "{link}: {what}");
            let (last, other) = (apart(&last), apart(&other));
            for (a, b) in last.state().zip(other.state()) {
                assert!(a == b, "{} differs: {what}", a.0);
            }
            assert_eq!(last.tensors.len(), other.tensors.len(), "{what}");
            for place in ["config", "knobs", "arithmetic", "testing", "names", "room"] {
                assert_eq!(last.header[place], other.header[place], "{place}: {what}");
            }
        }
        (Err(RunError::Diverged), Err(RunError::Diverged)) => {}
        (last, other) => panic!("{:?} and {:?}: {what}", last.is_ok(), other.is_ok()),
    }
}

/// Checks `few` of the `count` cases for each variant, and all of them in `npm test -- --all`. Successive variants begin with different
/// cases.
fn cases(id: &str, few: u32, count: u32) {
    let checked = testkit::cases(if testkit::all() { count } else { few });
    for ((room, small), first) in every(1).into_iter().filter(|(room, _)| room.schema().id == id).zip(0..) {
        for case in (first..first + checked).map(|case| case % count.max(checked)) {
            check_case(room, &Config { seed: case, ..small.clone() }, case);
        }
    }
}

macro_rules! of_rooms {
    ($($test:ident: $room:literal, $few:literal, $cases:literal;)*) => {
        $(#[test]
        fn $test() {
            cases($room, $few, $cases);
        })*
    };
}

of_rooms! {
    control_resumes_bit_for_bit_from_any_save: "control", 1, 6;
    backgammon_resumes_bit_for_bit_from_any_save: "backgammon", 2, 6;
    cubes_resume_bit_for_bit_from_any_save: "cube", 1, 6;
    logic_resumes_bit_for_bit_from_any_save: "logic", 1, 3;
    words_resume_bit_for_bit_from_any_save: "words", 1, 3;
}

#[test]
fn any_other_room_resumes_bit_for_bit_from_any_save() {
    let known = ["control", "backgammon", "cube", "logic", "words"];
    rooms().iter().map(|room| room.schema().id).filter(|id| !known.contains(id)).for_each(|id| cases(id, 12, 12));
}
