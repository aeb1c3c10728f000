//! The cube's learners and judges on another machine, of which this processor is the stand-in: to the bit what they do here.

use super::QUARTER;
use graph::{Adam, Plan};
use learn::cube::{Cube, CubeLearner, Exhaustive, Judge, Limits, Method, Search, Signal, Supervised, SupervisedConfig};
use learn::offload::{Local, PlanEvaluator, PlanTrainer, TrainResult, TrainStateRef};
use learn::{Fault, Learner, Machine, Pass, Slice};
use math::{Isa, Rng};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use worlds::cube::{Actions, Metric, Puzzle, Two};

fn learner<P: Cube>(signal: Signal, updates: usize) -> Supervised<P> {
    let exact = P::EXACT.then(|| QUARTER.clone());
    let mut config = SupervisedConfig::preset::<P>(signal);
    (config.steps.updates, config.net.hidden) = (updates, vec![32, 16]);
    Supervised::new(config, exact, 7, Isa::best()).expect("sound settings")
}

fn iterate<P: Cube>(learner: &mut Supervised<P>, count: usize) {
    let mut left = count;
    while left > 0 {
        match learner.advance() {
            Slice::Ended(stats) => {
                assert!(stats.loss.is_finite() && stats.loss > 0.0 && stats.grad_norm > 0.0 && stats.lr > 0.0);
                left -= 1;
            }
            Slice::Stopped(fault) => panic!("{fault}"),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

fn saved<P: Cube>(learner: &Supervised<P>) -> String {
    format!("{:?} {:?}", learner.progress(), learner.parts())
}

/// Its trainers stop after so many steps.
struct Failing(u32);

struct FailingTrainer(Box<dyn PlanTrainer>, AtomicU32);

impl Machine for Failing {
    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Ok(Box::new(FailingTrainer(Local.trainer(plan, state)?, AtomicU32::new(self.0))))
    }

    fn evaluator(&self, plan: &Arc<Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Ok(Box::new(FailingEvaluator(Local.evaluator(plan, weights)?, self.0)))
    }
}

fn lost() -> Fault {
    Fault::Lost { why: "as was to be shown".into() }
}

impl PlanTrainer for FailingTrainer {
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        self.0.set_state(state)
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.0.set_input(name, values)
    }

    fn accumulate(&mut self) -> Result<(), Fault> {
        if self.1.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(lost());
        }
        self.0.accumulate()
    }

    fn update(&mut self, adam: &Adam) -> Result<(), Fault> {
        self.0.update(adam)
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.0.ask()
    }

    fn ask_outputs(&mut self) -> Result<(), Fault> {
        self.0.ask_outputs()
    }

    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault> {
        self.0.poll(result)
    }
}

struct FailingEvaluator(Box<dyn PlanEvaluator>, u32);

impl PlanEvaluator for FailingEvaluator {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.0.set_weights(weights)
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.0.set_input(name, values)
    }

    fn run(&mut self) -> Result<(), Fault> {
        self.1 = self.1.checked_sub(1).ok_or_else(lost)?;
        self.0.run()
    }

    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        self.0.poll(outputs)
    }
}

#[test]
fn a_machine_that_stops_costs_the_iteration_in_flight_and_nothing_else() {
    let (mut here, mut there) = (learner::<Two>(Signal::WalkLength, 4), learner::<Two>(Signal::WalkLength, 4));
    iterate(&mut here, 4);
    // In the third of its iterations.
    there.offload().expect("it can").begin_offload(&Failing(10), 0).unwrap();
    iterate(&mut there, 2);
    let slice = loop {
        match there.advance() {
            Slice::Worked | Slice::Waiting => {}
            slice => break slice,
        }
    };
    assert_eq!(slice, Slice::Stopped(lost()));
    assert!(there.at_boundary() && there.progress().updates == 8);
    iterate(&mut there, 2);
    assert!(saved(&here) == saved(&there));
    there.offload().expect("it can").begin_probe(&Failing(1), 0).unwrap();
    let found = [0; 2].map(|_| there.offload().expect("it can").advance_probe());
    assert_eq!(found, [Ok(Pass::Worked), Err(lost())]);
}

#[test]
fn judges_that_are_lent_say_the_same_whether_the_machine_lasts_or_not() {
    for signal in [Signal::WalkLength, Signal::LastMove] {
        let mut learner = learner::<Two>(signal, 8);
        iterate(&mut learner, 1);
        let mut judge = learner.judge().expect("a plan");
        let mut search =
            Search::new(Method::Beam { width: 2000 }, Limits::default(), Actions::of::<Two>(Metric::Quarter)).expect("a sound method");
        let start = Two::drawn(&mut Rng::new(3, 3).sequence(0));
        let solved = search.solve(start, &mut judge).unwrap();
        judge.lend(&Failing(u32::MAX)).unwrap();
        // What is under way for somebody else is no answer.
        let others = vec![Two::SOLVED; 2000];
        let mut scores = vec![0.0; others.len() * judge.scores().count(6)];
        assert!(!judge.poll(&others, &mut scores));
        assert_eq!(search.solve(start, &mut judge).unwrap(), solved);
        // With other weights it is another judge, here and there.
        iterate(&mut learner, 1);
        judge.set(learner.weights());
        let now = Exhaustive::new(QUARTER.clone()).run(&mut judge);
        assert!(judge.is_lent());
        judge.end_lending();
        assert_eq!(Exhaustive::new(QUARTER.clone()).run(&mut judge), now);
        // A machine that is lost on the way.
        judge.lend(&Failing(20)).unwrap();
        assert_eq!(Exhaustive::new(QUARTER.clone()).run(&mut judge), now);
        assert!(!judge.is_lent());
    }
}
