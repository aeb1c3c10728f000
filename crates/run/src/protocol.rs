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
    /// Share of the iteration spent acting; the rest is learning.
    pub rollout_share: f64,
}

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
    /// `fused` or `unfused`: only digests of the same arithmetic can be equal.
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
    /// Numbers an environment and step: for CartPole the cart's place (m) and the pole's angle (rad).
    pub features: u32,
    /// `[steps][shown][features]`
    #[serde(with = "serde_bytes_f32")]
    #[cfg_attr(feature = "typescript", ts(type = "Float32Array"))]
    pub states: Vec<f32>,
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
    /// Newtons on the cart, and on the tip of the pole.
    pub cart_force: f64,
    pub tip_force: f64,
}

/// The one large environment, stepped in real time by the policy as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Stage {
    /// Cart's place (m) and speed (m/s), pole's angle (rad) and speed (rad/s).
    pub state: [f64; 4],
    /// The last action, and the probability the policy gave to pushing right.
    pub action: u32,
    pub push_right: f64,
    /// The critic's estimate of the return still to come.
    pub value: f64,
    /// Steps this pole has stayed up, and the best so far.
    pub steps: u32,
    pub best: u32,
    /// It fell, and stands up again in a moment.
    pub fallen: bool,
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
