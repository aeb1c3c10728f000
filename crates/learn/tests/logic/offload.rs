//! A population on another machine, of which this processor is the stand-in: to the bit what it becomes here.

use learn::logic::automaton::GateForm;
use learn::logic::experiment::{Config, Preset};
use learn::logic::offload::{Accelerator, Local, OffloadSpec, Trained};
use learn::logic::population::Population;
use learn::logic::train::{Optimiser, StepStats, Trainer};
use learn::offload::{request, serve};
use learn::{Fault, Learner, Machine, Offload, Slice};
use math::Isa;
use std::any::Any;

fn population() -> Population {
    let preset = Config::preset(Preset::Life);
    // So little patience that some begin again.
    let config = Config { population: 3, updates: 3, patience: 6, lr: 0.2, ..preset };
    Population::new(config, 7, Isa::best()).expect("sound settings")
}

fn iterate(population: &mut Population, count: usize) {
    for stats in std::iter::repeat_with(|| population.advance()).filter_map(Slice::ended).take(count) {
        let numbers = [stats.loss, stats.hard_loss, stats.grad_norm];
        assert!(numbers.into_iter().all(|x| x.is_some_and(|x| x > 0.0)), "{stats:?}");
    }
}

fn saved(population: &Population) -> String {
    format!("{:?} {:?}", population.progress(), population.parts())
}

#[test]
fn a_machine_answers_once_for_each_time_that_it_is_asked() {
    let experiment = Config::preset(Preset::Life).experiment().unwrap();
    let spec = OffloadSpec {
        architecture: experiment.architecture.clone(),
        form: GateForm::Softmax,
        rollout: experiment.training.clone(),
        loss_channels: 1,
        members: 2,
    };
    let mut worker = request(&Local(Isa::best()), &spec).unwrap();
    let mut trained = Trained::default();
    assert!(!worker.poll(&mut trained).unwrap());
    assert_eq!(trained, Trained::default(), "nothing is written before there is an answer");
    for _ in 0..2 {
        worker.ask().unwrap();
        assert!(worker.poll(&mut trained).unwrap());
        assert_eq!(trained.sums, [StepStats { loss: 0.0, grad_norm: 0.0 }; 2]);
        assert!(!worker.poll(&mut trained).unwrap());
    }
    let fault = request(&learn::offload::Local, &spec).err();
    assert_eq!(fault, Some(Fault::Unknown { what: "a population of logic automata".into() }), "what it was not taught");
}

/// Its workers stop after so many updates.
struct Failing(u32);

struct FailingWorker(Box<dyn Accelerator>, u32);

impl Machine for Failing {
    fn special(&self, wanted: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(wanted, |spec: &OffloadSpec| {
            let worker = FailingWorker(request(&Local(Isa::best()), spec)?, self.0);
            Ok(Box::new(worker) as Box<dyn Accelerator>)
        })
    }
}

impl Accelerator for FailingWorker {
    fn set_member(&mut self, member: usize, trainer: &Trainer) -> Result<(), Fault> {
        self.0.set_member(member, trainer)
    }

    fn step(&mut self, optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> Result<(), Fault> {
        self.1 = self.1.checked_sub(1).ok_or(Fault::Lost { why: "unplugged".into() })?;
        self.0.step(optimiser, learns, starts, targets)
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.0.ask()
    }

    fn poll(&mut self, trained: &mut Trained) -> Result<bool, Fault> {
        self.0.poll(trained)
    }
}

#[test]
fn a_machine_that_is_lost_takes_no_more_along_than_its_iteration() {
    let (mut here, mut there) = (population(), population());
    iterate(&mut here, 4);
    there.begin_offload(&Failing(5), 0).unwrap();
    iterate(&mut there, 1);
    let fault = loop {
        match there.advance() {
            Slice::Stopped(fault) => break fault,
            Slice::Ended(_) => panic!("it has failed before"),
            Slice::Worked | Slice::Waiting => {}
        }
    };
    assert!(matches!(fault, Fault::Lost { .. }) && there.at_boundary() && !there.is_offloaded());
    iterate(&mut there, 3);
    assert!(saved(&here) == saved(&there));
}
