//! Control as a room: PPO on one of Gymnasium's environments, tested on fresh episodes, with one large environment beside the
//! training that a person can push or drive, and which leaves no trace in it.

use super::knobs;
use super::protocol::{Axis, Environment, Frame, Picture, Question};
use super::schema::SCHEMA;
use super::stage::Stage;
use crate::RunError;
use crate::bench::Bench;
use crate::protocol::{Goal, Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Policy, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::control::{Evaluation, Ppo, PpoConfig, ppo};
use worlds::{Actions, Kind, Of, Spec};

/// Episodes of a test.
pub const TEST_EPISODES: u32 = 100;
/// Iterations between tests, before and after the task is solved, at least.
const TEST_EVERY: [u32; 2] = [2, 16];
/// And so many that the steps of a test are this many times those of training at most.
const TEST_SHARE: f64 = 1.0;
/// Points of a picture along one side at most.
const MAX_PICTURE: u32 = 512;

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

    /// What the policy would do and the critic expects over the environment's plane.
    fn picture(&mut self, width: u32, height: u32) -> Picture {
        let (width, height) = (width.clamp(1, MAX_PICTURE), height.clamp(1, MAX_PICTURE));
        let spec = self.spec();
        let at = |axis: worlds::Axis, i: u32, n: u32| {
            axis.low + (axis.high - axis.low) * (f64::from(i) + 0.5) / f64::from(n)
        };
        let mut observations = Vec::with_capacity((width * height) as usize * spec.observation.len());
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let (x, y) = (at(spec.plane.x, x, width), at(spec.plane.y, y, height));
            observations.extend(spec.plane.observation(x, y).into_iter().map(|x| x as f32));
        }
        let mut odds = vec![0.0; (width * height) as usize * self.ppo.policy_len()];
        let mut values = vec![0.0; (width * height) as usize];
        self.ppo.predict(&observations, &mut odds, &mut values);
        let (channels, policy) = match spec.actions {
            Actions::Choices(count) => (count, odds),
            Actions::Range(low, high) => {
                let (middle, half) = (0.5 * (low + high) as f32, 0.5 * (high - low) as f32);
                (1, odds.chunks_exact(2).map(|pair| (pair[0] - middle) / half).collect())
            }
        };
        Picture { width, height, channels, policy, values }
    }
}

fn kind(id: &str) -> Result<&'static Kind, RunError> {
    let known = || worlds::kinds().iter().map(|kind| kind.spec.id).collect::<Vec<_>>().join(", ");
    worlds::kind(id).ok_or_else(|| RunError::UnknownVariant {
        word: SCHEMA.variant_word,
        id: id.into(),
        known: known(),
    })
}

/// Twice what its preset takes to solve it, or more.
fn sweep_steps(spec: &Spec) -> f64 {
    match spec.id {
        "MountainCar-v0" | "LunarLander-v3" => 3e6,
        _ => 1e6,
    }
}

fn environment(spec: &Spec) -> Environment {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let range = match spec.actions {
        Actions::Choices(count) => [0.0, f64::from(count) - 1.0],
        Actions::Range(low, high) => [low, high],
    };
    let axis = |axis: worlds::Axis| {
        let of = match axis.of {
            Of::Number(i) => vec![i as u32],
            Of::Angle { cos, sin } => vec![cos as u32, sin as u32],
        };
        Axis { name: axis.name.into(), low: axis.low, high: axis.high, of }
    };
    Environment {
        id: spec.id.into(),
        summary: spec.summary.into(),
        choices: names(spec.choices),
        range,
        observation: names(spec.observation),
        state: names(spec.state),
        step_limit: spec.step_limit,
        solved_at: spec.solved_at,
        returns: spec.returns,
        step_s: spec.shown_step_s,
        plane: [axis(spec.plane.x), axis(spec.plane.y)],
    }
}

impl Room for Control {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Ppo;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        let variant = |spec: &'static Spec| Variant {
            id: spec.id,
            name: spec.id.split_once('-').map_or(spec.id, |(name, _)| name),
            summary: spec.summary,
            goal: Some(Goal { column: "mean_return", at: spec.solved_at }),
            sweep_budget: sweep_steps(spec),
            about: serde_json::to_value(environment(spec)).expect("plain data with string keys"),
        };
        worlds::kinds().iter().map(|kind| variant(kind.spec)).collect()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        knobs::table(variant).knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        kind(setup.variant)?;
        knobs::table(setup.variant).settings(setup.knobs)?.check().map_err(RunError::below)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        Ok(settings.bytes(kind(setup.variant)?))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        let ppo = Ppo::new(kind(setup.variant)?, settings.clone(), setup.seed, setup.host.isa)
            .map_err(RunError::below)?;
        Ok(Control::around(setup.seed, settings, ppo))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let settings = knobs::table(setup.variant).settings(setup.knobs)?;
        let kind = kind(setup.variant)?;
        let find = |name: &str| saved.find(name);
        let ppo = Ppo::restore(kind, settings.clone(), setup.seed, setup.host.isa, &find)
            .map_err(RunError::damaged)?;
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
        self.ppo.progress().iterations as u32
            >= last + TEST_EVERY[usize::from(solved)].max(worth_it.ceil() as u32)
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
            Question::Picture { width, height } => Box::new(self.picture(width, height)),
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
    let columns =
        [("mean_return", mean), ("min_return", min), ("max_return", max), ("episodes", episodes as f32)];
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
