//! Everything that crosses the boundary between an experiment and its shells, as plain data.
//!
//! The page and the terminal render the same events: what is not here, neither can show. The
//! TypeScript of these types (`www/run/protocol.ts`) is generated from this file, never written.
//! This file refuses to hold behaviour.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// What an experiment is: enough to start the same run anywhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Config {
    /// The format of this record; see [`crate::CONFIG_VERSION`].
    pub version: u32,
    /// `control`
    pub room: String,
    /// `CartPole-v1`
    pub env: String,
    pub seed: u32,
    /// Knobs by name; those left out have their default.
    pub knobs: BTreeMap<String, f64>,
}

/// One setting of a learner, described well enough for a page or a `--help` to present it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Knob {
    /// `lr`: the name in `--set lr=0.003`, in permalinks and in checkpoints.
    pub name: &'static str,
    /// `Learning rate`
    pub label: &'static str,
    pub kind: KnobKind,
    pub default: f64,
    /// `steps`, `environments`, or empty for a plain number.
    pub unit: &'static str,
    /// One or two sentences that a newcomer understands.
    pub help: &'static str,
    /// Applies to the running experiment from its next iteration; the others need a reset.
    pub live: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KnobKind {
    Float {
        min: f64,
        max: f64,
        /// Sliders move on a logarithmic scale.
        log: bool,
    },
    Int {
        min: f64,
        max: f64,
        log: bool,
    },
    /// 0 or 1
    Bool,
}

/// An environment of the room, described well enough to draw it and to take its controls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Environment {
    /// `CartPole-v1`
    pub id: String,
    /// What there is to do, in half a sentence.
    pub summary: String,
    /// What each choice does; empty where an action is a number.
    pub choices: Vec<String>,
    /// Least and greatest action where it is a number, else the first and last choice.
    pub range: [f64; 2],
    /// The numbers of an observation and of a state, with their units.
    pub observation: Vec<String>,
    pub state: Vec<String>,
    pub step_limit: u32,
    /// Mean return of an evaluation from which on the task counts as solved.
    pub solved_at: f64,
    /// About the least and the greatest return of an episode, for an axis.
    pub returns: [f64; 2],
    /// Seconds in which a step of the large environment is shown.
    pub step_s: f64,
    /// The plane through the observations over which states, policy and values are drawn.
    pub plane: [Axis; 2],
}

/// One axis of the plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Axis {
    pub name: String,
    pub low: f64,
    pub high: f64,
    /// The number of the observation that it is of, or those of a cosine and a sine whose angle it is.
    pub of: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Command {
    Start,
    Pause,
    /// One whole iteration, then pause.
    Step,
    /// Begin again, with another config where one is given.
    Reset {
        config: Option<Config>,
    },
    SetKnob {
        name: String,
        value: f64,
    },
    /// What should train, from the next iteration on.
    Device {
        wish: DeviceWish,
    },
    /// Ends the iteration in progress, then gives [`Event::Saved`].
    Save,
    Restore {
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        bytes: Vec<u8>,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// A run has begun, was reset or was restored: draw afresh.
    Began {
        config: Config,
        environment: Box<Environment>,
        /// Every knob with the value in force.
        knobs: BTreeMap<String, f64>,
        /// History of a restored run, oldest first; empty for a new one.
        history: Vec<Metrics>,
        marks: Vec<Mark>,
        evaluations: Vec<Evaluation>,
        progress: Progress,
    },
    /// Training started or paused.
    Running { running: bool },
    /// What trains, and why: told once it is decided, and whenever it changes.
    Device(Device),
    /// Once an iteration.
    Metrics(Metrics),
    /// A knob changed while the run went on.
    Mark(Mark),
    /// The policy was judged on fresh episodes that do not train it.
    Evaluation(Evaluation),
    /// The evaluation first reached the task's published threshold.
    Solved { progress: Progress, threshold: f64 },
    /// The digest of all weights, every [`crate::DIGEST_EVERY`] iterations.
    Digest(Digest),
    Saved {
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        bytes: Vec<u8>,
    },
    /// Something the person should know, with the next step they can take.
    Notice { level: Level, text: String, next_step: String },
}

/// What should train.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum DeviceWish {
    /// What turns out to be faster.
    #[default]
    Auto,
    Cpu,
    Gpu,
}

/// What trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Device {
    pub wish: DeviceWish,
    pub on_gpu: bool,
    /// The GPU's name, where there is one to use.
    pub gpu: Option<String>,
    /// Work a second on the processor and with the GPU, where both were measured: steps of environments, or boards valued.
    pub rates: Option<[f64; 2]>,
    /// Why, in a sentence.
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Progress {
    pub iteration: u32,
    /// Steps of all environments together.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub env_steps: u64,
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub episodes: u64,
    /// Seconds spent training, pauses left out.
    pub train_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Metrics {
    pub progress: Progress,
    /// Mean return of the last 100 finished training episodes; null before the first.
    pub mean_return: Option<f64>,
    pub mean_length: Option<f64>,
    pub policy_loss: f64,
    pub value_loss: f64,
    pub entropy: f64,
    pub approx_kl: f64,
    pub clip_fraction: f64,
    pub explained_variance: f64,
    pub grad_norm: f64,
    pub lr: f64,
    pub steps_per_s: f64,
    /// Share of the iteration's time that went to each of [`PARTS`].
    pub shares: [f64; PARTS.len()],
}

/// Where the time of an iteration goes: `rest` is what happens between two slices (evaluating, publishing,
/// answering), `device` all of an iteration on a GPU.
pub const PARTS: [&str; 8] =
    ["policy", "world", "advantages", "gather", "gradient", "update", "rest", "device"];

/// A live change of a knob, to be drawn on the curves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Mark {
    pub progress: Progress,
    pub knob: String,
    pub from: f64,
    pub to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Evaluation {
    pub progress: Progress,
    pub episodes: u32,
    pub mean_return: f64,
    pub min_return: f64,
    pub max_return: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Digest {
    pub iteration: u32,
    /// 16 hexadecimal digits.
    pub weights: String,
    /// `fused` or `unfused`: only digests of the same arithmetic can be equal. `gpu` where a GPU did every iteration,
    /// whose digests hold on that GPU alone, and `mixed` where a run has been on several: links carry neither.
    pub arithmetic: String,
}

/// What many environments lived through since the last frame, for a shell that draws them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Frame {
    /// Environments shown: the first of those that train.
    pub shown: u32,
    /// Environment steps in this frame; 0 when nothing happened.
    pub steps: u32,
    /// Numbers of an observation.
    pub features: u32,
    /// What they showed before each step, in panels of 32: `[steps][shown/32, rounded up][features][32]`
    #[serde(with = "serde_bytes_f32")]
    #[cfg_attr(feature = "typescript", ts(type = "Float32Array"))]
    pub observations: Vec<f32>,
    /// `[steps][shown]`: 1 where the episode ended at this step.
    #[serde(with = "serde_bytes")]
    #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
    pub ended: Vec<u8>,
    pub progress: Progress,
}

/// What a hand does to the one large environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Touch {
    /// Seconds of the real world since the last touch.
    pub dt_s: f64,
    /// CartPole alone: newtons on the cart, and on the tip of the pole.
    pub cart_force: f64,
    pub tip_force: f64,
    /// The action of whoever has taken the controls; null leaves them to the agent. Taking them begins
    /// an episode, in which the agent plays beside from the same start.
    pub drive: Option<f64>,
}

/// The one large environment, stepped in real time by the policy as it is now or by a hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Stage {
    /// Who has the controls is in `player`: the agent, or the hand that took them.
    pub player: Body,
    /// While a hand has the controls: the agent, which began where the hand did.
    pub rival: Option<Body>,
    /// Finished rounds against the agent, newest last, twenty at most.
    pub rounds: Vec<Round>,
    /// What the policy thinks of the player's state: the probability of each choice, or, where an action
    /// is a number, its mean and spread.
    pub odds: Vec<f64>,
    /// The critic's estimate of the return still to come, discounted.
    pub value: f64,
    /// The agent's best return on this stage so far.
    pub best: Option<f64>,
    /// The part of a step that has passed since the state was taken, from 0 to 1, for a smooth drawing.
    pub ahead: f64,
}

/// One environment on the stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Body {
    /// Gymnasium's internal state before and after the newest step, named by [`Environment::state`].
    pub before: Vec<f64>,
    pub state: Vec<f64>,
    pub observation: Vec<f64>,
    /// The last action: a choice, or a number.
    pub action: f64,
    pub steps: u32,
    /// The return so far.
    pub total: f64,
    /// The episode has ended; another begins in a moment.
    pub over: bool,
    /// It ended by the rules, not by the time limit.
    pub terminated: bool,
}

/// A finished episode of a hand and the agent's from the same start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Round {
    pub yours: f64,
    pub agents: f64,
}

/// What the policy would do and the critic expects all over the plane of [`Environment::plane`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Numbers a point: a probability for each choice, or one mean action from -1 to 1.
    pub channels: u32,
    /// `[height][width][channels]`, the lowest y first.
    #[serde(with = "serde_bytes_f32")]
    #[cfg_attr(feature = "typescript", ts(type = "Float32Array"))]
    pub policy: Vec<f32>,
    /// `[height][width]`, the discounted return that the critic expects.
    #[serde(with = "serde_bytes_f32")]
    #[cfg_attr(feature = "typescript", ts(type = "Float32Array"))]
    pub values: Vec<f32>,
}

/// A small sweep: the same run under several values of a knob and several seeds, all learning at once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct SweepSpec {
    pub config: Config,
    pub knob: String,
    pub values: Vec<f64>,
    /// Seeds from the config's on.
    pub seeds: u32,
    /// Environment steps after which each learner stops.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub steps: u64,
}

/// One learner of a small sweep as it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct SweepCell {
    pub value: f64,
    pub seed: u32,
    pub progress: Progress,
    /// `[environment steps, mean return]` of its evaluations, oldest first.
    pub curve: Vec<[f64; 2]>,
    /// Environment steps at which it was solved.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub solved_at: Option<u64>,
    pub done: bool,
    /// Why it stopped early: its weights are no longer numbers.
    pub diverged: bool,
}

/// The network as its plan has it, for a drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct PlanView {
    pub nodes: Vec<PlanNode>,
    pub parameters: u32,
    /// Bytes of the one arena that holds every activation and gradient of a training step.
    pub arena_bytes: u32,
    /// Bytes they would take if none shared its place.
    pub unshared_bytes: u32,
}

/// One kernel of the forward plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct PlanNode {
    /// `policy.0`, or the name of an input or output.
    pub name: String,
    /// `linear + bias + tanh`
    pub op: String,
    /// `[batch, features]`
    pub shape: [u32; 2],
    pub parameters: u32,
    /// Indices of the nodes it reads.
    pub reads: Vec<u32>,
}

/// What is in use and why, for the badge and for bug reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Backend {
    /// `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`
    pub isa: String,
    pub threads: u32,
    pub arithmetic: String,
    pub version: String,
}

/// `Vec<f32>` as bytes, so that a page receives one typed array and not a list of numbers.
mod serde_bytes_f32 {
    use serde::Serializer;
    pub fn serialize<S: Serializer>(values: &[f32], out: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        out.serialize_bytes(&bytes)
    }
}
