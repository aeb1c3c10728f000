//! The smallest complete room: a gradient bandit (Sutton and Barto 2018, section 2.8). Copy this file to start a new room.
//!
//! The learner is a softmax policy over arms with one preference per arm. An iteration pulls a fixed number of arms and updates the
//! preferences after each pull. The file contains, in this order: the question that the page can ask, the schema of counters, metrics and
//! tests, the settings, the learner, and the room.

#[cfg(target_family = "wasm")]
pub mod page;

use math::Rng;
use run::knobs::Table;
use run::protocol::{Column, DataInfo, Goal, Knob, Row, Variant};
use run::room::{Answer, ByName, Failure, Iteration, Room, Saved, Schema, Setup, Tensors};
use run::settings::{SettingError, Settings as _, count, log, one_of, text};
use run::{Data, Learner, RunError, Slice, choices, settings};

run::questions! {
    /// Returns the probability of each arm.
    Policy {} -> Vec<f64>,
}

/// Names and columns of the room, for charts, tables and files.
static SCHEMA: Schema = Schema {
    id: "bandit",
    title: "Bandit",
    variant_word: "machine",
    iteration_word: "iteration",
    counters: &[Column::new("pulls", "Pulls", "Number of arms pulled.").unit("pulls").brief("pulls")],
    metrics: &[
        Column::new("mean_reward", "Reward", "Mean reward of the iteration's pulls.").chart("reward").brief("reward"),
        Column::new("pulls_per_s", "Pulls per second", "").chart("speed").rate("pulls", 1.0),
    ],
    tests: &[Column::new("best", "Best arm", "Probability of the arm with the highest payout.").chart("reward").brief("best").share()],
    parts: &[],
};

choices! {
    /// Baseline that is subtracted from a reward.
    enum Baseline {
        Mean = "mean", "Mean reward";
        None = "none", "None";
    }
}

settings! {
    struct Settings {
        live lr: f32, [log(1e-3, 1.0), "Learning rate", "", "Step size of an update."];
        fixed pulls: usize, [count(1.0, 65536.0), "Pulls", "pulls", "Number of pulls per iteration."];
        live baseline: Baseline, [one_of::<Baseline>(), "Baseline", "", "Value that is subtracted from each reward."];
        fixed payouts: String, [text(200), "Payouts", "", "Mean reward of each arm, separated by spaces."];
    }
}

/// Returns the settings with their defaults.
fn table() -> Table<Settings> {
    let payouts = "0.2 0.5 0.9".into();
    Table::new(Settings { lr: 0.1, pulls: 256, baseline: Baseline::Mean, payouts })
}

/// Returns the mean reward of each arm, from the user data if the user provides data, otherwise from the setting `payouts`.
fn means(setup: Setup, settings: &Settings) -> Result<Vec<f32>, RunError> {
    let data = setup.content().map(|content| String::from_utf8_lossy(content));
    let payouts = data.as_deref().unwrap_or(&settings.payouts);
    let means: Result<Vec<f32>, _> = payouts.split_whitespace().map(str::parse).collect();
    let valid = means.ok().filter(|means| means.len() >= 2 && means.iter().all(|m| m.is_finite()));
    valid.ok_or_else(|| RunError::refused("payouts must be two or more numbers", "Write them as in 0.2 0.9"))
}

pub struct Bandit {
    settings: Settings,
    /// Mean reward of each arm.
    means: Vec<f32>,
    rng: Rng,
    /// The preference of each arm, followed by the running mean of the rewards.
    weights: Vec<f32>,
    iterations: u64,
}

run::progress! { pulls }

impl Bandit {
    /// Returns the probability of each arm: the softmax of the preferences.
    fn policy(&self) -> Vec<f64> {
        let arms = &self.weights[..self.means.len()];
        let top = arms.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let odds: Vec<f64> = arms.iter().map(|&w| f64::from(w - top).exp()).collect();
        let sum: f64 = odds.iter().sum();
        odds.into_iter().map(|p| p / sum).collect()
    }

    fn take_settings(&mut self, settings: Settings) -> Result<(), SettingError> {
        self.settings = settings;
        Ok(())
    }

    /// Pulls one arm, updates the preferences, and returns the reward.
    fn pull(&mut self, numbers: &mut math::rng::Sequence) -> f32 {
        let policy = self.policy();
        let mut left = f64::from(numbers.uniform());
        let arm = policy.iter().position(|p| (left -= p, left < 0.0).1).unwrap_or(policy.len() - 1);
        let reward = self.means[arm] + numbers.uniform() - 0.5;
        let mean = self.weights[policy.len()];
        let advantage = if self.settings.baseline == Baseline::Mean { reward - mean } else { reward };
        for (i, p) in policy.iter().enumerate() {
            let chosen = if i == arm { 1.0 } else { 0.0 };
            self.weights[i] += self.settings.lr * advantage * (chosen - *p as f32);
        }
        self.weights[policy.len()] += 0.01 * (reward - mean);
        reward
    }
}

impl Learner for Bandit {
    type Stats = Iteration;
    type Progress = Progress;

    run::learner_settings!(settings, take_settings, Settings::in_range);

    /// Trains for one slice, which is a whole iteration in this room. The random numbers depend only on the seed and the iteration. A
    /// restored run therefore continues bit-identically.
    fn advance(&mut self) -> Slice<Iteration> {
        let mut numbers = self.rng.sequence(self.iterations << 32);
        let total: f32 = (0..self.settings.pulls).map(|_| self.pull(&mut numbers)).sum();
        self.iterations += 1;
        Slice::Ended(Iteration {
            metrics: vec![("mean_reward", Some(f64::from(total) / self.settings.pulls as f64))],
            failure: Failure::unless(self.is_finite()),
            ..Iteration::default()
        })
    }

    /// Returns true: every slice ends an iteration, so the learner is always between two iterations.
    fn at_boundary(&self) -> bool {
        true
    }

    fn progress(&self) -> Progress {
        Progress { iterations: self.iterations, pulls: self.iterations * self.settings.pulls as u64 }
    }

    fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Returns the tensors of a checkpoint. [`Bandit::restore`] reads these tensors.
    fn parts(&self) -> Tensors {
        let weights = ("weights".into(), vec![self.weights.len()], Data::F32(self.weights.clone()));
        vec![weights, ("iterations".into(), vec![1], Data::U32(vec![self.iterations as u32]))]
    }

    fn is_finite(&self) -> bool {
        self.weights.iter().all(|weight| weight.is_finite())
    }

    fn set_clock(&mut self, _: fn() -> f64) {}
}

impl Room for Bandit {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Bandit;
    type Question = Question;
    const DATA: Option<DataInfo> = Some(DataInfo { label: "Payouts", help: "Mean reward of each arm: two or more numbers." });

    fn variants() -> Vec<Variant> {
        let goal = Some(Goal { column: "best", at: 0.9 });
        let about = serde_json::Value::Null;
        let summary = "Find the best of three arms.".into();
        vec![Variant { id: "three-arms".into(), name: "Three arms".into(), summary, goal, sweep_budget: 1000.0, about }]
    }

    fn knobs(_: &str) -> Vec<Knob> {
        table().knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        means(setup, &table().settings(setup.knobs)?).map(|_| ())
    }

    /// Returns an upper bound of the memory of a run, in bytes.
    fn bytes(setup: Setup) -> Result<u64, RunError> {
        Ok((1 << 16) + setup.data.map_or(0, |data| 4 * data.bytes))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let settings = table().settings(setup.knobs)?;
        let means = means(setup, &settings)?;
        let (weights, rng) = (vec![0.0; means.len() + 1], Rng::new(setup.seed, 1));
        Ok(Bandit { settings, means, rng, weights, iterations: 0 })
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let mut bandit = Bandit::begin(setup)?;
        match (saved.find("weights"), saved.find("iterations")) {
            (Some((_, Data::F32(weights))), Some((_, Data::U32(count)))) if weights.len() == bandit.weights.len() && count.len() == 1 => {
                bandit.weights.copy_from_slice(weights);
                bandit.iterations = count[0].into();
                Ok(bandit)
            }
            _ => Err(RunError::damaged("its weights do not match the number of arms")),
        }
    }

    fn learner(&self) -> Option<&Bandit> {
        Some(self)
    }

    fn learner_mut(&mut self) -> Option<&mut Bandit> {
        Some(self)
    }

    /// Returns true if at least four iterations have passed since the last test, or since the start if no test has run.
    fn test_is_due(&self, tests: &[Row], _: bool) -> bool {
        self.iterations >= tests.last().map_or(0, |test| test.progress.iteration.into()) + 4
    }

    /// Returns false, because no confirmation is needed: a test computes the exact probability of the best arm.
    fn begin_confirmation(&mut self, _: u32) -> bool {
        false
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let best = (0..self.means.len()).max_by(|&a, &b| self.means[a].total_cmp(&self.means[b]));
        Ok(Some(vec![("best", best.map(|best| self.policy()[best]))]))
    }

    fn ask(&mut self, Question::Policy {}: Question) -> Result<Answer, RunError> {
        Ok(Box::new(self.policy()))
    }
}

/// Adds the room to the program. Call this function before the program uses its list of rooms.
pub fn add() {
    run::add_room(&run::Entry::<Bandit>::NEW);
}
