//! Machines besides the processor that learners can offload work to, a GPU for one.
//!
//! Whatever steps through a plan (forward, backward, Adam on one minibatch) needs no contract of its own: a machine gives it a
//! [`PlanTrainer`]. Where a machine has kernels for more than that, a room defines a [`Request`] beside its learner and the
//! machine serves it; this file knows neither.

mod planned;

pub use planned::{Away, PlanSteps, Planned};

pub(crate) use planned::advance;

use crate::Fault;
use graph::{Adam, Executor, Optimizer, Packed, Params, Plan};
use math::par::{Movable, Pinned};
use std::any::Any;
use std::sync::Arc;

/// Where work can be done: this processor, unless it says otherwise.
pub trait Machine: Movable {
    /// `NVIDIA H200 (Vulkan)`
    fn name(&self) -> String {
        "this processor".into()
    }

    /// It is the processor itself, pretending.
    fn is_software(&self) -> bool {
        true
    }

    /// Gets ready to take training steps of a plan from where a learner stands.
    fn trainer(&self, _plan: &Arc<Plan>, _standing: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Err(Fault::Unknown { what: "the plan".into() })
    }

    /// Gets ready to run a plan that trains nothing, with these weights.
    fn evaluator(&self, _plan: &Arc<Plan>, _weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Err(Fault::Unknown { what: "the plan".into() })
    }

    /// Serves a [`Request`] that it has kernels of its own for, by way of [`serve`]; nothing where it has none. Learners call
    /// [`request`].
    fn special(&self, _request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        None
    }
}

/// Work that needs more than a plan. It says what a machine must know to get ready, and who then works.
pub trait Request: Any {
    type Worker: ?Sized + 'static;
    /// For a machine that has not been taught it.
    const WHAT: &'static str;
}

/// Asks a machine to get ready for some work.
pub fn request<R: Request>(machine: &dyn Machine, request: &R) -> Result<Box<R::Worker>, Fault> {
    let unknown = || Fault::Unknown { what: R::WHAT.into() };
    let worker = machine.special(request).ok_or_else(unknown)??;
    worker.downcast::<Box<R::Worker>>().map(|worker| *worker).map_err(|_| unknown())
}

/// What a machine does with a request of this kind; nothing where it is of another.
pub fn serve<R: Request>(
    request: &dyn Any,
    get_ready: impl FnOnce(&R) -> Result<Box<R::Worker>, Fault>,
) -> Option<Result<Box<dyn Any>, Fault>> {
    let ready = get_ready(request.downcast_ref()?);
    Some(ready.map(|worker| Box::new(worker) as Box<dyn Any>))
}

impl Machine for Pinned<Box<dyn Machine>> {
    fn name(&self) -> String {
        self.with(|machine| machine.name())
    }

    fn is_software(&self) -> bool {
        self.with(|machine| machine.is_software())
    }

    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        self.with(|machine| machine.trainer(plan, state))
    }

    fn evaluator(&self, plan: &Arc<Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        self.with(|machine| machine.evaluator(plan, weights))
    }

    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        self.with(|machine| machine.special(request))
    }
}

/// Parameters and optimiser between two steps.
#[derive(Clone, Copy, Debug)]
pub struct TrainStateRef<'a> {
    /// Laid out as `Params::values`, as are Adam's moments.
    pub weights: &'a [f32],
    pub m: &'a [f32],
    pub v: &'a [f32],
    /// Steps that Adam has taken.
    pub steps: u64,
}

/// What came of some steps. Vectors keep their memory from one answer to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainResult {
    /// The plan's, of the newest run.
    pub outputs: Vec<(Arc<str>, Vec<f32>)>,
    pub weights: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    /// Steps that Adam has taken in all: one whose gradient was no number does not count.
    pub steps: u64,
    /// Length of the newest gradient, before it was clipped.
    pub norm: f32,
}

impl TrainResult {
    /// Puts it where it would stand if the steps had been taken here.
    pub fn put(&self, params: &mut Params, optimizer: &mut Optimizer) {
        params.values_mut().copy_from_slice(&self.weights);
        optimizer.m.copy_from_slice(&self.m);
        optimizer.v.copy_from_slice(&self.v);
        optimizer.steps = self.steps;
    }
}

/// Whoever trains and can offload its work to another machine, all of it between two iterations but for coming back.
pub trait Offload {
    /// What can be offloaded, in the order in which it is tried out, the last of them all there is: what is said where it turned
    /// out to be fastest.
    fn ways(&self) -> &'static [&'static str];
    /// Training goes on here until the other machine is ready to be timed.
    fn trains_meanwhile(&self) -> bool {
        true
    }
    fn is_offloaded(&self) -> bool;
    /// From here on the machine works in this way.
    fn begin_offload(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Where a setting has changed what is to be done, a learner that is offloaded is offloaded anew.
    fn must_offload_again(&self) -> bool {
        false
    }
    /// From here on nobody else works: what was begun there and not answered is done again here.
    fn end_offload(&mut self);

    /// Has the machine work in this way, pass after pass, so that nothing of it stays. The first makes what the rest find made.
    fn begin_probe(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Goes on with it; after a fault it is over.
    fn advance_probe(&mut self) -> Result<Pass, Fault>;
    /// What a pass does at most, in the unit of the rates.
    fn pass_work(&mut self) -> f64;
    /// All stands where it stood before the probe.
    fn end_probe(&mut self);
}

/// What a look at a probe came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    Worked,
    /// There is nothing to do until the other machine answers.
    Waiting,
    /// A pass has ended, which did so much.
    Ended(f64),
}

/// Training steps of one plan on some machine. Steps follow each other without an answer; what came of them is asked for when it is
/// wanted.
pub trait PlanTrainer: Movable {
    /// Goes on from here; what was begun before is given up.
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault>;

    /// Row by row; stays from step to step.
    ///
    /// # Panics
    /// Where the plan reads no such input.
    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault>;

    /// Begins a run of the plan, forward and backward; its gradients are added to those of the runs since the last update.
    fn accumulate(&mut self) -> Result<(), Fault>;

    /// Begins Adam's step by them. Where the gradient's length is not finite nothing changes.
    fn update(&mut self, adam: &Adam) -> Result<(), Fault>;

    /// Begins a step of one run.
    fn step(&mut self, adam: &Adam) -> Result<(), Fault> {
        self.accumulate()?;
        self.update(adam)
    }

    /// Asks for what came of the steps so far; to be answered before it is asked again.
    fn ask(&mut self) -> Result<(), Fault>;

    /// The same for less: weights and moments stay where they are, and what the result holds of them stays as it was.
    fn ask_outputs(&mut self) -> Result<(), Fault>;

    /// Whether the answer is here; then it stands in `result`. It may wait for a moment, where one can.
    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault>;
}

/// Runs of one plan that trains nothing, on some machine, one at a time. Who wants the machine to work without a pause has two of them.
pub trait PlanEvaluator: Movable {
    /// Laid out as `Params::values`; for the runs that follow.
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault>;

    /// Row by row; stays from run to run.
    ///
    /// # Panics
    /// Where the plan reads no such input.
    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault>;

    /// Begins a run; to be answered before the next.
    fn run(&mut self) -> Result<(), Fault>;

    /// Whether the answer is here; then the plan's outputs stand in `outputs`, in their order. It may wait for a moment, where one can.
    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault>;
}

/// What is pinned to its thread does all that it could do there.
macro_rules! pinned {
    ($trait:ident: $($name:ident($($given:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl $trait for Pinned<Box<dyn $trait>> {
            $(fn $name(&mut self, $($given: $type),*) -> $answer {
                self.with_mut(|pinned| pinned.$name($($given),*))
            })*
        }
    };
}

pinned! { PlanTrainer:
    set_state(state: &TrainStateRef) -> Result<(), Fault>;
    set_input(name: &str, values: &[f32]) -> Result<(), Fault>;
    accumulate() -> Result<(), Fault>;
    update(adam: &Adam) -> Result<(), Fault>;
    step(adam: &Adam) -> Result<(), Fault>;
    ask() -> Result<(), Fault>;
    ask_outputs() -> Result<(), Fault>;
    poll(result: &mut TrainResult) -> Result<bool, Fault>;
}

pinned! { PlanEvaluator:
    set_weights(weights: &[f32]) -> Result<(), Fault>;
    set_input(name: &str, values: &[f32]) -> Result<(), Fault>;
    run() -> Result<(), Fault>;
    poll(outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault>;
}

/// This processor as a machine: what others are held to.
pub struct Local;

impl Machine for Local {
    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        let mut trainer = LocalTrainer::new(plan);
        trainer.set_state(state)?;
        Ok(Box::new(trainer))
    }

    fn evaluator(&self, plan: &Arc<Plan>, weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        let params = Params::new(plan.table(), 0);
        let packed = Packed::new(plan, &params);
        let mut evaluator = LocalEvaluator { executor: Executor::new(plan), params, packed, asked: false };
        evaluator.set_weights(weights)?;
        Ok(Box::new(evaluator))
    }
}

/// The same steps on this processor, to the bits of a learner that takes them itself.
pub struct LocalTrainer {
    executor: Executor,
    params: Params,
    packed: Packed,
    grads: Vec<f32>,
    /// Runs since the last update.
    runs: usize,
    optimizer: Optimizer,
    norm: f32,
    /// Whether it was asked, and for weights and moments too.
    asked: Option<bool>,
}

impl LocalTrainer {
    pub fn new(plan: &Arc<Plan>) -> LocalTrainer {
        let params = Params::new(plan.table(), 0);
        LocalTrainer {
            executor: Executor::new(plan),
            packed: Packed::new(plan, &params),
            grads: vec![0.0; params.values().len()],
            optimizer: Optimizer::new(&params),
            params,
            runs: 0,
            norm: 0.0,
            asked: None,
        }
    }
}

impl PlanTrainer for LocalTrainer {
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        self.params.values_mut().copy_from_slice(state.weights);
        self.optimizer.m.copy_from_slice(state.m);
        self.optimizer.v.copy_from_slice(state.v);
        self.optimizer.steps = state.steps;
        self.packed.pack(&self.params);
        (self.runs, self.asked) = (0, None);
        Ok(())
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.executor.input_mut(name).copy_from_slice(values);
        Ok(())
    }

    fn accumulate(&mut self) -> Result<(), Fault> {
        self.executor.train(&self.params, &self.packed, &mut self.grads, self.runs > 0);
        self.runs += 1;
        Ok(())
    }

    fn update(&mut self, adam: &Adam) -> Result<(), Fault> {
        let isa = self.executor.plan().isa();
        self.norm = self.optimizer.step(isa, adam, &mut self.params, &self.grads);
        self.packed.pack(&self.params);
        self.runs = 0;
        Ok(())
    }

    fn ask(&mut self) -> Result<(), Fault> {
        self.asked = Some(true);
        Ok(())
    }

    fn ask_outputs(&mut self) -> Result<(), Fault> {
        self.asked = Some(false);
        Ok(())
    }

    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault> {
        let Some(all) = self.asked.take() else { return Ok(false) };
        let ports = self.executor.plan().outputs();
        result.outputs.resize_with(ports.len(), || ("".into(), Vec::new()));
        for (port, (name, values)) in ports.iter().zip(&mut result.outputs) {
            name.clone_from(&port.name);
            values.clear();
            values.extend_from_slice(self.executor.output(&port.name));
        }
        let state = [(&mut result.weights, self.params.values()), (&mut result.m, &self.optimizer.m), (&mut result.v, &self.optimizer.v)];
        for (to, from) in state.into_iter().filter(|_| all) {
            to.clear();
            to.extend_from_slice(from);
        }
        (result.steps, result.norm) = (self.optimizer.steps, self.norm);
        Ok(true)
    }
}

struct LocalEvaluator {
    executor: Executor,
    params: Params,
    packed: Packed,
    asked: bool,
}

impl PlanEvaluator for LocalEvaluator {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.params.values_mut().copy_from_slice(weights);
        self.packed.pack(&self.params);
        Ok(())
    }

    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault> {
        self.executor.input_mut(name).copy_from_slice(values);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Fault> {
        self.executor.run(&self.params, &self.packed);
        self.asked = true;
        Ok(())
    }

    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        if !std::mem::take(&mut self.asked) {
            return Ok(false);
        }
        let ports = self.executor.plan().outputs();
        outputs.resize_with(ports.len(), Vec::new);
        for (port, values) in ports.iter().zip(outputs) {
            values.clear();
            values.extend_from_slice(self.executor.output(&port.name));
        }
        Ok(true)
    }
}
