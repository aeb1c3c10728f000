//! Evaluates search leaves and performs optimiser steps on a GPU, for the published learner of backgammon (`learn::backgammon::published`).
//! This learner has the configuration of AlphaZero.jl.
//!
//! One batch contains the leaves of many games. A decision (a position and a roll) is uploaded as nine words. A kernel computes the
//! network's 344 inputs from these words. The value head's probabilities and the policy's last hidden layer are read back. Samples are
//! uploaded once and remain on the GPU, so an optimiser step uploads only the indices of its samples. Weights are read back on request.
//!
//! The network is small, so the CPU evaluates a few hundred leaves faster than a GPU. `hothouse bench gpu` measures the break-even point.
//! This module does not depend on trees or games.

mod inputs;
mod leaves;
mod training;

use crate::device::Gpu;
use graph::Adam;
use inputs::refused;
use learn::Fault;
use learn::backgammon::published::accelerator::{
    Accelerator, Answer, DECISION_WORDS, OffloadSpec, PackedSample, TrainResult, TrainStateRef,
};
use learn::offload::serve;
use leaves::Leaves;
use std::any::Any;
use training::Training;

/// Creates a [`GpuPublished`] if `request` is an [`OffloadSpec`]; else returns `None`.
pub fn special(gpu: &Gpu, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
    serve(request, |spec: &OffloadSpec| Ok(Box::new(GpuPublished::new(gpu, spec)?) as Box<dyn Accelerator>))
}

/// Offloaded work of one learner: evaluation of leaves, training, or both.
pub struct GpuPublished {
    leaves: Option<Leaves>,
    training: Option<Training>,
}

impl GpuPublished {
    /// Creates the evaluation of leaves, the training, or both, as `spec.work` requests.
    pub fn new(gpu: &Gpu, spec: &OffloadSpec) -> Result<GpuPublished, Fault> {
        gpu.check()?;
        let work = spec.work;
        let leaves = work.leaves.then(|| Leaves::new(gpu, spec)).transpose()?;
        let training = work.learning.then(|| Training::new(gpu, spec)).transpose()?;
        gpu.check()?;
        Ok(GpuPublished { leaves, training })
    }

    fn leaves(&mut self) -> Result<&mut Leaves, Fault> {
        self.leaves.as_mut().ok_or_else(|| refused("leaves were requested, but they are not offloaded"))
    }

    fn training(&mut self) -> Result<&mut Training, Fault> {
        self.training.as_mut().ok_or_else(|| refused("learning was requested, but it is not offloaded"))
    }
}

impl Accelerator for GpuPublished {
    fn set_weights(&mut self, weights: &[f32]) -> Result<(), Fault> {
        self.leaves()?.set_weights(weights)
    }

    fn ask(&mut self, lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> Result<(), Fault> {
        self.leaves()?.ask(lane, decisions)
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.leaves()?.answer(lane, answer)
    }

    fn set_state(&mut self, state: &TrainStateRef) -> Result<(), Fault> {
        self.training()?.set_state(state)
    }

    fn store_samples(&mut self, first: usize, packed_samples: &[PackedSample]) -> Result<(), Fault> {
        self.training()?.store_samples(first, packed_samples)
    }

    fn step(&mut self, adam: &Adam, value_coef: f32, drawn: &[u32]) -> Result<(), Fault> {
        self.training()?.step(adam, value_coef, drawn)
    }

    fn request_result(&mut self) -> Result<(), Fault> {
        self.training()?.request_result()
    }

    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault> {
        self.training()?.poll_result(learned)
    }
}
