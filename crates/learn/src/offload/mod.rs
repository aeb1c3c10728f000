//! Machines other than the CPU, such as a GPU, to which learners can offload work.
//!
//! A plan is a compiled graph of the crate `graph`. A learner uses a machine's [`PlanTrainer`] if each optimiser step of the learner
//! consists of runs of one plan and an Adam update. For other work, the module of a learner defines a [`Request`]. A machine accepts the
//! request if the machine has kernels for this work. This module depends on no particular learner or machine.
//!
//! A training run compares devices by rate, in work per second. The learner defines the unit of work, such as tokens or environment steps.
//! A probe measures the rate: the machine repeats a fixed piece of work, called a pass, and the results are discarded.

mod planned;

pub use planned::{OffloadSlots, PlanSteps, Planned};

pub(crate) use planned::advance;

use crate::Fault;
use graph::{Adam, Executor, Optimizer, Packed, Params, Plan};
use math::par::{Movable, Pinned};
use std::any::Any;
use std::sync::Arc;

/// Machine to which work can be offloaded. The default methods describe the CPU and accept no work.
pub trait Machine: Movable {
    /// Returns the name that users see, such as `NVIDIA H200 (Vulkan)`.
    fn name(&self) -> String {
        "this CPU".into()
    }

    /// Returns true if the machine computes on the CPU, for example as an emulated GPU.
    fn is_software(&self) -> bool {
        true
    }

    /// Creates a trainer for `plan` that starts from `state`.
    fn trainer(&self, _plan: &Arc<Plan>, _state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Err(Fault::Unknown { what: "the plan".into() })
    }

    /// Creates an evaluator, which runs `plan` with `weights` and does not train.
    fn evaluator(&self, _plan: &Arc<Plan>, _weights: &[f32]) -> Result<Box<dyn PlanEvaluator>, Fault> {
        Err(Fault::Unknown { what: "the plan".into() })
    }

    /// Prepares the worker of a [`Request`], or returns `None` if the machine does not implement the request. Implementations call
    /// [`serve`]. Learners call [`request`], not this method.
    fn special(&self, _request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        None
    }
}

/// Work that a [`PlanTrainer`] cannot do. A request contains the data that a machine needs to prepare a [`Request::Worker`], the object
/// that does the work.
pub trait Request: Any {
    type Worker: ?Sized + 'static;
    /// Name of the work in the error that [`request`] returns if a machine does not implement the work.
    const WHAT: &'static str;
}

/// Returns the worker that `machine` prepares for `request`, or an error if the machine does not implement the work.
pub fn request<R: Request>(machine: &dyn Machine, request: &R) -> Result<Box<R::Worker>, Fault> {
    let unknown = || Fault::Unknown { what: R::WHAT.into() };
    let worker = machine.special(request).ok_or_else(unknown)??;
    worker.downcast::<Box<R::Worker>>().map(|worker| *worker).map_err(|_| unknown())
}

/// Calls `prepare` if `request` has the type `R`, otherwise returns `None`. Implementations of [`Machine::special`] call this function.
pub fn serve<R: Request>(
    request: &dyn Any,
    prepare: impl FnOnce(&R) -> Result<Box<R::Worker>, Fault>,
) -> Option<Result<Box<dyn Any>, Fault>> {
    let ready = prepare(request.downcast_ref()?);
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

/// Parameters and optimiser state between two optimiser steps.
#[derive(Clone, Copy, Debug)]
pub struct TrainStateRef<'a> {
    /// Weights in the layout of `Params::values`. Adam's moments have the same layout.
    pub weights: &'a [f32],
    /// Adam's first moments.
    pub m: &'a [f32],
    /// Adam's second moments.
    pub v: &'a [f32],
    /// Number of Adam steps so far.
    pub steps: u64,
}

/// Result of training steps. [`PlanTrainer::poll`] overwrites the previous result and reuses its vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainResult {
    /// Name and values of each output of the plan. The values are those of the latest run.
    pub outputs: Vec<(Arc<str>, Vec<f32>)>,
    pub weights: Vec<f32>,
    pub m: Vec<f32>,
    pub v: Vec<f32>,
    /// Total number of Adam steps. A step with a non-finite gradient does not count.
    pub steps: u64,
    /// Euclidean norm of the latest step's gradient, before clipping.
    pub norm: f32,
}

impl TrainResult {
    /// Copies the result into a learner's parameters and optimiser.
    pub fn put(&self, params: &mut Params, optimizer: &mut Optimizer) {
        params.values_mut().copy_from_slice(&self.weights);
        optimizer.m.copy_from_slice(&self.m);
        optimizer.v.copy_from_slice(&self.v);
        optimizer.steps = self.steps;
    }
}

/// A learner that can offload its work to another machine. Methods that change the learner may be called only between two iterations. The
/// only exception is [`Offload::end_offload`].
pub trait Offload {
    /// Returns the options of offloading, such as all or a part of the work, in the order in which probes measure the options. The last
    /// option offloads all work. Each text is the message that users see if the option is the fastest. The parameter `way` of other methods
    /// is an index into these options.
    fn ways(&self) -> &'static [&'static str];
    /// Returns true if training continues on the CPU while the other machine prepares for a probe.
    fn trains_meanwhile(&self) -> bool {
        true
    }
    fn is_offloaded(&self) -> bool;
    /// Starts offloading the work of option `way` to `machine`.
    fn begin_offload(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Returns true if a changed setting requires another call of [`Offload::begin_offload`].
    fn must_offload_again(&self) -> bool {
        false
    }
    /// Stops offloading. Work whose result has not been received is repeated on the CPU.
    fn end_offload(&mut self);

    /// Starts a probe of option `way`: `machine` repeats the work of this option in passes. The first pass includes one-time preparation.
    fn begin_probe(&mut self, machine: &dyn Machine, way: usize) -> Result<(), Fault>;
    /// Runs one slice of the probe. An error ends the probe.
    fn advance_probe(&mut self) -> Result<Pass, Fault>;
    /// Returns the maximum amount of work in a pass, in the learner's unit of work.
    fn pass_work(&mut self) -> f64;
    /// Ends the probe. A probe does not change the learner's state.
    fn end_probe(&mut self);
}

/// Result of [`Offload::advance_probe`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
    Worked,
    /// No work is possible until the machine of the probe responds.
    Waiting,
    /// A pass ended. Contains the amount of work of the pass, in the learner's unit of work.
    Ended(f64),
}

/// Trainer of one plan on a machine. The methods that start work return no results. The caller requests the result of all steps so far with
/// [`PlanTrainer::ask`].
pub trait PlanTrainer: Movable {
    /// Replaces the weights and the optimiser state, and discards unfinished work.
    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault>;

    /// Sets the input called `name` to `values`, in row-major order. The input keeps these values until the next call.
    ///
    /// # Panics
    /// If the plan has no such input.
    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault>;

    /// Starts a forward and backward run of the plan. The run's gradients are added to those of earlier runs since the last update.
    fn accumulate(&mut self) -> Result<(), Fault>;

    /// Starts an Adam step with the sum of the gradients since the last update. If the norm of this sum is not finite, the step changes
    /// neither the weights nor the optimiser state.
    fn update(&mut self, adam: &Adam) -> Result<(), Fault>;

    /// Starts a run, as [`PlanTrainer::accumulate`] does, and then an Adam step, as [`PlanTrainer::update`] does.
    fn step(&mut self, adam: &Adam) -> Result<(), Fault> {
        self.accumulate()?;
        self.update(adam)
    }

    /// Requests the result of all steps so far: outputs, weights and moments. Only one request may be pending at a time.
    fn ask(&mut self) -> Result<(), Fault>;

    /// Requests the plan's outputs without weights and moments. [`PlanTrainer::poll`] then leaves the weights and moments in `result`
    /// unchanged.
    fn request_outputs(&mut self) -> Result<(), Fault>;

    /// If the requested result has arrived, copies the result to `result` and returns true. The call may block for a moment on platforms
    /// that allow blocking.
    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault>;
}

/// Evaluator of one plan on a machine, without training. An evaluator does one run at a time. To keep a machine busy, a caller can
/// alternate between two evaluators.
pub trait PlanEvaluator: Movable {
    /// Sets the weights of later runs, in the layout of `Params::values`.
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault>;

    /// Sets the input called `name` to `values`, in row-major order. The input keeps these values until the next call.
    ///
    /// # Panics
    /// If the plan has no such input.
    fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Fault>;

    /// Starts a run. Before the next run, the caller must receive the outputs of this run with [`PlanEvaluator::poll`].
    fn run(&mut self) -> Result<(), Fault>;

    /// If the run has ended, copies the plan's outputs to `outputs`, in declaration order, and returns true. The call may block for a
    /// moment on platforms that allow blocking.
    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault>;
}

/// Implements a trait for a pinned trait object. Each method calls the object's method of the same name.
macro_rules! pinned {
    ($trait:ident: $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl $trait for Pinned<Box<dyn $trait>> {
            $(fn $name(&mut self, $($argument: $type),*) -> $result {
                self.with_mut(|pinned| pinned.$name($($argument),*))
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
    request_outputs() -> Result<(), Fault>;
    poll(result: &mut TrainResult) -> Result<bool, Fault>;
}

pinned! { PlanEvaluator:
    set_weights(weights: &[f32]) -> Result<(), Fault>;
    set_input(name: &str, values: &[f32]) -> Result<(), Fault>;
    run() -> Result<(), Fault>;
    poll(outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault>;
}

/// The CPU as a machine. Tests compare other machines with this machine.
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
        let mut evaluator = LocalEvaluator { executor: Executor::new(plan), params, packed, requested: false };
        evaluator.set_weights(weights)?;
        Ok(Box::new(evaluator))
    }
}

/// Trainer on the CPU. The results are bit-identical to those of a learner that runs the same plan without offloading.
pub struct LocalTrainer {
    executor: Executor,
    params: Params,
    packed: Packed,
    grads: Vec<f32>,
    /// Number of runs since the last update.
    runs: usize,
    optimizer: Optimizer,
    norm: f32,
    /// Pending request: `Some(true)` for outputs, weights and moments, `Some(false)` for outputs only. `None` if there is no request.
    requested: Option<bool>,
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
            requested: None,
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
        (self.runs, self.requested) = (0, None);
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
        self.requested = Some(true);
        Ok(())
    }

    fn request_outputs(&mut self) -> Result<(), Fault> {
        self.requested = Some(false);
        Ok(())
    }

    fn poll(&mut self, result: &mut TrainResult) -> Result<bool, Fault> {
        let Some(all) = self.requested.take() else { return Ok(false) };
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
    requested: bool,
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
        self.requested = true;
        Ok(())
    }

    fn poll(&mut self, outputs: &mut Vec<Vec<f32>>) -> Result<bool, Fault> {
        if !std::mem::take(&mut self.requested) {
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
