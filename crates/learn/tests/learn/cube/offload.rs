//! Offloaded judges (evaluators of cube states). The device is the CPU, so the results must be bit-identical to those of local judges.

use super::{QUARTER, iterate};
use graph::Plan;
use learn::cube::{Cube, CubeLearner, Exhaustive, Judge, Limits, Method, Search, Signal, Supervised, SupervisedConfig};
use learn::offload::{Local, PlanEvaluator};
use learn::{Fault, Learner, Machine};
use math::{Isa, Rng};
use std::sync::Arc;
use worlds::cube::{Actions, Metric, Puzzle, Two};

fn learner<P: Cube>(signal: Signal, updates: usize) -> Supervised<P> {
    let exact = P::EXACT.then(|| QUARTER.clone());
    let mut config = SupervisedConfig::preset::<P>(signal);
    (config.steps.updates, config.net.hidden) = (updates, vec![32, 16]);
    Supervised::new(config, exact, 7, Isa::best()).expect("sound settings")
}

/// A device whose evaluators fail after the given number of runs.
struct Failing(u32);

impl Machine for Failing {
    fn evaluator(&self, plan: &Arc<Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Ok(Box::new(FailingEvaluator(Local.evaluator(plan, weights)?, self.0)))
    }
}

fn lost() -> Fault {
    Fault::Lost { why: "test failure".into() }
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
fn offloaded_judges_agree_with_local_ones_even_after_a_failure() {
    let signals = [Signal::WalkLength, Signal::LastMove];
    for &signal in &signals[..if testkit::all() { 2 } else { 1 }] {
        let mut learner = learner::<Two>(signal, 8);
        iterate(&mut learner, 1);
        let mut judge = learner.judge().expect("a plan");
        let mut search =
            Search::new(Method::Beam { width: 2000 }, Limits::default(), Actions::of::<Two>(Metric::Quarter)).expect("a sound method");
        let start = Two::drawn(&mut Rng::new(3, 3).sequence(0));
        let solved = search.solve(start, &mut judge).unwrap();
        judge.offload(&Failing(u32::MAX)).unwrap();
        // The device has a pending result for other states. The judge must not return this result for the states of the search.
        let others = vec![Two::SOLVED; 2000];
        let mut scores = vec![0.0; others.len() * judge.scores().count(6)];
        assert!(!judge.poll(&others, &mut scores));
        assert_eq!(search.solve(start, &mut judge).unwrap(), solved);
        // If the weights change, the device must use the new weights.
        iterate(&mut learner, 1);
        judge.set(learner.weights());
        let now = Exhaustive::new(QUARTER.clone()).run(&mut judge);
        assert!(judge.is_offloaded());
        judge.end_offload();
        assert_eq!(Exhaustive::new(QUARTER.clone()).run(&mut judge), now);
        // If the device fails during the work, the judge continues on the CPU.
        judge.offload(&Failing(20)).unwrap();
        assert_eq!(Exhaustive::new(QUARTER.clone()).run(&mut judge), now);
        assert!(!judge.is_offloaded());
    }
}
