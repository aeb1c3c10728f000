//! Control as a room: PPO on one of Gymnasium's environments, tested on fresh episodes, with one large environment beside the
//! training that a person can push or drive, and which leaves no trace in it.

use super::protocol::{Frame, Question};
use super::schema::SCHEMA;
use super::stage::Stage;
use super::{environments, knobs};
use crate::RunError;
use crate::bench::Bench;
use crate::protocol::{Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Policy, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::control::{Evaluation, Ppo, PpoConfig, ppo};
use worlds::control::Spec;

/// Episodes of a test.
pub const TEST_EPISODES: u32 = 100;
/// Iterations between tests, before and after the task is solved, at least.
const TEST_EVERY: [u32; 2] = [2, 16];
/// And so many that the steps of a test are this many times those of training at most.
const TEST_SHARE: f64 = 1.0;

pub struct Control {
    settings: PpoConfig,
    ppo: Ppo,
    stage: Stage,
}

impl Control {
    fn around(seed: u32, settings: PpoConfig, ppo: Ppo) -> Control {
        let stage = Stage::new(ppo.kind(), seed);
        Control { settings, ppo, stage }
    }

    fn spec(&self) -> &'static Spec {
        self.ppo.kind().spec
    }

    fn samples(&self) -> f64 {
        (self.settings.envs * self.settings.rollout_steps) as f64
    }

    /// Mean, least and greatest return of fresh episodes, which leave no trace in the training.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Vec<Option<f64>> {
        SCHEMA.test_row(&columns(self.ppo.evaluate(episodes, seed), episodes))
    }

    /// What the shown environments lived through since the last call.
    pub fn frame(&mut self) -> Frame {
        let trajectory = self.ppo.trajectory();
        let frame = Frame {
            shown: trajectory.envs as u32,
            steps: trajectory.steps as u32,
            features: trajectory.features as u32,
            observations: trajectory.observations().to_vec(),
            ended: trajectory.ended().to_vec(),
        };
        self.ppo.clear_trajectory();
        frame
    }
}

impl Room for Control {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Ppo;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        environments::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        knobs::table(variant).knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        environments::kind(setup.variant)?;
        knobs::table(setup.variant).settings(setup.knobs)?.check().map_err(RunError::below)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        Ok(settings.bytes(environments::kind(setup.variant)?))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        let ppo = Ppo::new(environments::kind(setup.variant)?, settings.clone(), setup.seed, setup.host.isa).map_err(RunError::below)?;
        Ok(Control::around(setup.seed, settings, ppo))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        let kind = environments::kind(setup.variant)?;
        let find = |name: &str| saved.find(name);
        let ppo = Ppo::restore(kind, settings.clone(), setup.seed, setup.host.isa, &find).map_err(RunError::damaged)?;
        Ok(Control::around(setup.seed, settings, ppo))
    }

    fn learner(&self) -> Option<&Ppo> {
        Some(&self.ppo)
    }

    fn learner_mut(&mut self) -> Option<&mut Ppo> {
        Some(&mut self.ppo)
    }

    fn values(&self) -> Knobs {
        knobs::table(self.spec().id).values(&self.settings)
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        knobs::table(self.spec().id).changed(&self.settings, name, value).map(|_| ())
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (settings, change) = knobs::table(self.spec().id).changed(&self.settings, name, value)?;
        self.ppo.set_config(settings.clone()).map_err(RunError::below)?;
        self.settings = settings;
        Ok(change)
    }

    /// Of the episodes that train it is known how long one takes.
    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool {
        let last = tests.last().map_or(0, |test| test.progress.iteration);
        let length = self.ppo.mean_length().map_or(self.spec().step_limit.into(), f64::from);
        let worth_it = f64::from(TEST_EPISODES) * length / (self.samples() * TEST_SHARE);
        self.ppo.progress().iterations as u32 >= last + TEST_EVERY[usize::from(solved)].max(worth_it.ceil() as u32)
    }

    /// A test's episodes follow from the iteration after which it begins.
    fn begin_test(&mut self) {
        let seed = self.ppo.progress().iterations as u32;
        self.ppo.begin_evaluation(TEST_EPISODES, seed);
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // No iteration gets that far.
        self.ppo.begin_evaluation(TEST_EPISODES, seed | 1 << 31);
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        Ok(self.ppo.advance_evaluation().map(|evaluation| columns(evaluation, TEST_EPISODES)))
    }

    fn policy(&self) -> Option<Box<dyn Policy>> {
        // The plan is the learner's own, which could be made.
        self.ppo.policy().ok().map(|policy| Box::new(policy) as Box<dyn Policy>)
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Frame {} => Box::new(self.frame()),
            Question::Picture { width, height } => Box::new(environments::picture(&mut self.ppo, width, height)),
            Question::Touch { touch } => Box::new(self.stage.touch(&mut self.ppo, touch)),
            Question::Plan {} => Box::new(super::plan::view(&self.ppo)),
        })
    }

    fn bench(bench: &mut Bench) {
        super::bench::run(bench);
    }
}

/// Mean, least and greatest return, and their number.
fn columns(Evaluation { mean, min, max }: Evaluation, episodes: u32) -> ByName<Option<f64>> {
    let columns = [("mean_return", mean), ("min_return", min), ("max_return", max), ("episodes", episodes as f32)];
    columns.map(|(name, value)| (name, Some(value.into()))).to_vec()
}

impl Policy for ppo::Policy {
    fn observation_len(&self) -> usize {
        self.observation_len()
    }

    fn policy_len(&self) -> usize {
        self.policy_len()
    }

    fn act(&mut self, observations: &[f32], actions: &mut [f32]) {
        self.act(observations, actions);
    }

    fn predict(&mut self, observations: &[f32], policy: &mut [f32], values: &mut [f32]) {
        self.predict(observations, policy, values);
    }
}
