//! Offloading of a learner's iterations to a machine such as a GPU: the inputs of iterations, and the use of their outputs.
//! `accelerator.rs` defines the interface.

use super::accelerator::{Accelerator, IterationInput, IterationOutput, LearnerSpec, Snapshot};
use super::normalizer::Moments;
use super::offloaded::Offloaded;
use super::rollout::LANES;
use super::stats::Episode;
use super::{ACT, IterationStats, Ppo, PpoError, SHUFFLE, nets};
use crate::offload::request;
use crate::{Fault, Learner, Machine, Offload, Pass, Slice};
use graph::Layout;
use math::Rng;
use worlds::control::WorldFault;

/// There is one way of offloading: the machine runs whole iterations.
impl Offload for Ppo {
    fn ways(&self) -> &'static [&'static str] {
        &["The GPU is faster."]
    }

    fn is_offloaded(&self) -> bool {
        self.away.offloaded.is_some()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.end_offload();
        self.away.offloaded = Some(Offloaded::new(self.accelerator(machine)?, self.config.clip_value));
        Ok(())
    }

    fn must_offload_again(&self) -> bool {
        self.away.offloaded.as_ref().is_some_and(|offloaded| offloaded.clip_value != self.config.clip_value)
    }

    /// Stops offloading and discards an iteration in flight. The learner continues from the last boundary between iterations.
    fn end_offload(&mut self) {
        if let Some(offloaded) = self.away.offloaded.take() {
            self.take_environments(&offloaded);
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.away.probe = Some(Offloaded::new(self.accelerator(machine)?, self.config.clip_value));
        Ok(())
    }

    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let Some(mut probe) = self.away.probe.take() else { return Ok(Pass::Waiting) };
        let mut pass = Pass::Waiting;
        if !probe.in_flight {
            self.with_input(false, |input| probe.accelerator.begin(input))?;
            probe.in_flight = true;
        } else if probe.accelerator.poll(&mut probe.output)? {
            probe.in_flight = false;
            pass = Pass::Ended(self.pass_work());
        }
        self.away.probe = Some(probe);
        Ok(pass)
    }

    /// Returns the number of environment steps in an iteration, over all environments.
    fn pass_work(&mut self) -> f64 {
        self.samples() as f64
    }

    fn end_probe(&mut self) {
        self.away.probe = None;
    }
}

impl Ppo {
    /// Prepares a machine to run iterations from the current state. Call this method at a boundary between iterations.
    pub fn accelerator(&self, machine: &dyn Machine) -> Result<Box<dyn Accelerator>, Fault> {
        let snapshot = self.snapshot().map_err(|error| Fault::Refused { why: error.to_string() })?;
        request(machine, &snapshot)
    }

    /// Returns the specification with which another machine sets up this learner.
    pub fn spec(&self) -> Result<LearnerSpec, PpoError> {
        let (task, config) = (self.task, &self.config);
        let minibatch = self.gradients.sharding.rows * self.gradients.sharding.shards;
        Ok(LearnerSpec {
            kind: self.kind.clone(),
            config: config.clone(),
            seed: self.seed,
            head: task.head,
            acting: nets::plan_acting(task, config, config.envs, Layout::Rows, self.isa)?,
            learning: nets::plan_learning(task, config, minibatch, self.isa)?,
            minibatch,
            draws: Rng::new(self.seed, ACT).key,
            shuffles: Rng::new(self.seed, SHUFFLE),
        })
    }

    /// Returns the specification, the weights and the state, with which another machine continues the training.
    pub fn snapshot(&self) -> Result<Snapshot, PpoError> {
        Ok(Snapshot { spec: self.spec()?, params: self.params.clone(), state: self.parts() })
    }

    /// Calls `begin` with the input of the next iteration. If `record` is true, the input requests recorded steps.
    pub fn with_input<R>(&self, record: bool, begin: impl FnOnce(&IterationInput) -> R) -> R {
        let Moments { count, mean, squares } = self.scaling.returns;
        begin(&IterationInput {
            config: &self.config,
            iteration: self.progress.iterations,
            adam: self.adam_at(self.progress.env_steps + self.samples() as u64),
            adam_steps: self.optimizer.steps,
            normalizer_mean: self.scaling.observations.as_ref().map_or(&[], |normalizer| &normalizer.mean),
            normalizer_scale: self.scaling.observations.as_ref().map_or(&[], |normalizer| &normalizer.scale),
            return_moments: [count, mean, if count > 0.0 { squares / count } else { 0.0 }],
            record,
        })
    }

    pub(super) fn advance_offloaded(&mut self, mut offloaded: Offloaded) -> Slice<IterationStats> {
        // If the start of an environment's first episode failed, the CPU runs the iteration and reports the error.
        if !offloaded.in_flight && self.rollout_fault().is_some() {
            return Slice::Worked;
        }
        match self.poll_offloaded(&mut offloaded) {
            // The machine has learned from the failed rollout, so offloading ends. The learner takes the environments' state from the
            // machine, but not the weights.
            Ok(slice) if self.fault.is_some() => {
                self.take_environments(&offloaded);
                slice
            }
            Ok(slice) => {
                self.away.offloaded = Some(offloaded);
                slice
            }
            Err(fault) => {
                self.take_environments(&offloaded);
                Slice::Stopped(fault)
            }
        }
    }

    fn poll_offloaded(&mut self, offloaded: &mut Offloaded) -> Result<Slice<IterationStats>, Fault> {
        if !offloaded.in_flight {
            offloaded.began_s = (self.timing.clock)();
            self.with_input(self.away.record, |input| offloaded.accelerator.begin(input))?;
            offloaded.in_flight = true;
        } else if offloaded.accelerator.poll(&mut offloaded.output)? {
            (offloaded.in_flight, offloaded.has_output) = (false, true);
            self.timing.times.device += (self.timing.clock)() - offloaded.began_s;
            return Ok(Slice::Ended(self.take_output(&offloaded.output)));
        }
        Ok(Slice::Waiting)
    }

    /// Copies the environments' state from the machine's latest output, if there is one.
    fn take_environments(&mut self, offloaded: &Offloaded) {
        let Some(output) = offloaded.newest() else { return };
        let IterationOutput { states, steps, episodes, episode_returns, discounted_returns, .. } = output;
        let width = self.acting.actors[0].world.state_len();
        for (env, state) in states.chunks_exact(width).enumerate() {
            let (actor, lane) = (&mut self.acting.actors[env / LANES], env % LANES);
            // If the machine's state is invalid (from non-finite weights), the CPU's environment keeps its older state.
            let _ = actor.world.set_environment(lane, state, steps[env], episodes[env]);
            actor.episode_returns[lane] = episode_returns[env];
            if let Some(&sum) = discounted_returns.get(env) {
                actor.discounted_returns[lane] = sum;
            }
        }
    }

    /// Copies a machine's output into the learner and ends the iteration. If an environment failed, the weights stay the same, and the
    /// returned statistics contain the error. If several environments failed, the statistics contain the error that the CPU would report:
    /// the earliest error of the failed actor with the lowest index.
    fn take_output(&mut self, output: &IterationOutput) -> IterationStats {
        let samples = self.samples();
        self.progress.env_steps += samples as u64;
        self.progress.episodes += output.episodes_ended;
        let newest = self.progress.episodes - output.finished.len() as u64;
        for (episode, &(total, length)) in (newest..).zip(&output.finished) {
            self.recent.set(episode, Episode { total, length });
        }
        self.iteration.stats.episodes = output.episodes_ended;
        let place = |(step, fault): &&(u32, WorldFault)| (fault.env as usize / LANES, *step, fault.env);
        if let Some((_, fault)) = output.faults.iter().min_by_key(place) {
            return self.end_with_fault(fault.clone());
        }
        self.params.values_mut().copy_from_slice(&output.params);
        self.optimizer.m.copy_from_slice(&output.adam_m);
        self.optimizer.v.copy_from_slice(&output.adam_v);
        self.optimizer.steps += u64::from(output.sums.updates);
        if self.config.normalize_reward {
            let [sum, squares] = output.return_sums;
            self.scaling.returns.merge(samples as f64, 0.0, sum, squares);
        }
        if let Some(normalizer) = &mut self.scaling.observations {
            normalizer.merge(samples as f64, |i| output.observation_sums[i]);
        }
        self.iteration.stats.explained_variance = output.explained_variance;
        self.iteration.sums = output.sums;
        self.end_iteration()
    }
}
