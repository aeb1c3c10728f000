//! Tests of the offloaded training of a population. The machine is the CPU.

use learn::Fault;
use learn::logic::automaton::GateForm;
use learn::logic::experiment::{Config, Preset};
use learn::logic::offload::{Local, OffloadSpec, Trained};
use learn::logic::train::StepStats;
use learn::offload::{self, request};
use math::Isa;

#[test]
fn a_machine_returns_one_result_per_request() {
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
    assert_eq!(trained, Trained::default(), "no result before a request");
    for _ in 0..2 {
        worker.ask().unwrap();
        assert!(worker.poll(&mut trained).unwrap());
        assert_eq!(trained.sums, [StepStats { loss: 0.0, grad_norm: 0.0 }; 2]);
        assert!(!worker.poll(&mut trained).unwrap());
    }
    let fault = request(&offload::Local, &spec).err();
    assert_eq!(fault, Some(Fault::Unknown { what: "a population of logic automata".into() }), "not implemented by this machine");
}
