//! Plain data that only the control room exchanges: environments, frames of many environments, the large environment, and the outputs of
//! policy and critic. The large environment is the single environment that the page shows large. A user can push it and take control of it.
//! This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// Returns the first steps, at most 128, that the displayed environments made since the previous `Frame` question. Further steps are
    /// not recorded. The first question returns no steps. The displayed environments are the first of the training environments.
    Frame {} -> Frame,
    /// Returns the policy's output and the critic's values on a grid of `width` by `height` points over the plane of two axes.
    Picture { width: u32, height: u32, axes: [Axis; 2] } -> Picture,
    /// Advances the large environment by the elapsed time, with the user's forces and action.
    Touch { touch: Touch } -> Stage,
    /// Advances the small environments by the elapsed time in seconds, and draws some of them. The current policy acts in them. They do not
    /// affect training. The first question creates them.
    Crowd { dt_s: f64 } -> Crowd,
    /// Advances a preview of an environment's file by the elapsed time in seconds. The actions are random. The preview does not affect the
    /// run.
    Preview { text: String, dt_s: f64 } -> Preview,
    /// Returns the plan of the learner's network, for a drawing.
    Plan {} -> PlanView,
}

plain_data! {
    /// Description of an environment, sufficient to draw it and to control it.
    pub struct Environment {
        /// Gymnasium's id, for example `CartPole-v1`.
        pub id: String,
        /// Description of the task in half a sentence.
        pub summary: String,
        /// Effect of each choice; empty if an action consists of real numbers.
        pub choices: Vec<String>,
        /// Number of numbers in an action; 1 for a choice.
        pub numbers: u32,
        /// Minimum and maximum number of an action: two real numbers, or the indices of the first and the last choice.
        pub range: [f64; 2],
        /// Names of the numbers in an observation, with their units.
        pub observation: Vec<String>,
        /// Names of the numbers in a state, with their units. The states of Gymnasium's environments are Gymnasium's internal states.
        pub state: Vec<String>,
        pub step_limit: u32,
        /// Mean test return at which the task counts as solved; null if no return counts as solved.
        pub solved_at: Option<f64>,
        /// Approximate minimum and maximum return of an episode, for the axis of a chart.
        pub returns: [f64; 2],
        /// Display time in seconds of one step of the environment that the page shows large.
        pub step_s: f64,
        /// Possible axes of the state plane, on which states, policy and values are drawn. The user chooses two of them. The first two are
        /// the default.
        pub axes: Vec<Axis>,
        /// Actions of the user's keys; empty if the environment names no keys.
        pub keys: Vec<KeyAction>,
        /// Width and height of [`Body::shapes`]; null if the environment draws no pictures.
        pub size: Option<[f64; 2]>,
    }

    /// Action that a key chooses.
    pub struct KeyAction {
        /// Name of the key in a browser, for example `ArrowLeft`.
        pub key: String,
        /// Index of a choice, or real numbers.
        pub action: Vec<f64>,
    }

    pub struct Axis {
        pub name: String,
        pub low: f64,
        pub high: f64,
        /// Index of the axis's number in an observation. If the axis is an angle: the indices of its cosine and its sine.
        pub of: Vec<u32>,
        /// True if the range of the number is unknown. The drawing then widens the axis until it contains all observations.
        pub open: bool,
    }

    /// User's input to the environment that the page shows large.
    #[derive(Default)]
    pub struct Touch {
        /// Seconds of real time since the previous touch.
        pub dt_s: f64,
        /// Force on the cart in newtons, for CartPole only.
        pub cart_force: f64,
        /// Force on the tip of the pole in newtons, for CartPole only.
        pub tip_force: f64,
        /// Action of the user: the index of a choice, or real numbers; null leaves control to the agent. When the user takes control, a
        /// round begins: the agent plays a second environment from the same state.
        pub drive: Option<Vec<f64>>,
        /// Number of times that control has passed between the agent and the user. Whenever this number changes, an episode begins.
        pub handovers: u32,
        /// Number of single steps that the user has requested. In a failed state, time stops for the agent, and each single step advances
        /// the environment once.
        pub singles: u32,
    }

    /// State of the environment that the page shows large. The current policy or the user steps it in real time.
    #[derive(Default)]
    pub struct Stage {
        /// Environment of the player in control, who is the agent or the user.
        pub player: Body,
        /// Second environment, in which the agent plays from the same state while the user is in control; null while the agent is in
        /// control.
        pub rival: Option<Body>,
        /// Last finished rounds of the user against the agent, at most twenty, latest last.
        pub rounds: Vec<Round>,
        /// Output of the policy in the state of `player`: the probability of each choice, or the means and then the spreads of the numbers
        /// of an action.
        pub odds: Vec<f64>,
        /// Critic's estimate of the discounted return from the state of `player` on.
        pub value: f64,
        /// Maximum return so far of the agent's episodes in the environment that the page shows large; null before the end of the agent's
        /// first episode.
        pub best: Option<f64>,
        /// Fraction of the next step's display time that has elapsed, from 0 to 1, for smooth drawing.
        pub ahead: f64,
        /// Value of [`Touch::handovers`] in the latest touch.
        pub handovers: u32,
        /// Error that stopped training; null if there was no error, or if the state before the failed step is unknown. After an error,
        /// episodes begin in this state.
        pub failed: Option<String>,
    }

    /// State of one environment of a [`Stage`].
    #[derive(Default)]
    pub struct Body {
        /// Internal state before the latest step; [`Environment::state`] names its numbers.
        pub before: Vec<f64>,
        /// Internal state after the latest step.
        pub state: Vec<f64>,
        pub observation: Vec<f64>,
        /// Last action: the index of a choice, or real numbers.
        pub action: Vec<f64>,
        pub steps: u32,
        /// Return of the episode so far.
        pub total: f64,
        /// True after the end of the episode, until the next episode begins shortly afterwards.
        pub over: bool,
        /// True if the rules ended the episode; false if the step limit ended it or it has not ended.
        pub terminated: bool,
        /// Picture of the state; empty if the environment draws no pictures.
        pub shapes: Vec<Drawn>,
        /// Error that the rules raised in the latest step; null without an error.
        pub fault: Option<String>,
    }

    /// A shape of a picture. A later shape covers an earlier one. The point (0, 0) is the upper left corner, and y points down.
    pub struct Drawn {
        /// Kind of the shape: `rect`, `circle`, `line`, `polygon` or `text`.
        pub kind: String,
        /// Numbers of the shape, in the order of the arguments in docs/worlds.md; for a polygon, x and y of each corner.
        pub numbers: Vec<f64>,
        /// Text of a shape of the kind `text`; null for other kinds.
        pub text: Option<String>,
        /// Name of the colour.
        pub colour: String,
    }

    /// Pictures of the small environments. The number of shapes in an answer is limited. If the pictures have more shapes, an answer
    /// contains only some of the environments, and the next answers contain the others.
    pub struct Crowd {
        /// Number of the small environments; 0 if the environment draws no pictures.
        pub count: u32,
        pub tiles: Vec<Tile>,
    }

    /// Picture of one small environment.
    pub struct Tile {
        pub env: u32,
        /// Number of steps in the episode so far.
        pub steps: u32,
        pub shapes: Vec<Drawn>,
    }

    /// Picture of the file in the editor.
    pub struct Preview {
        /// True if the text has no error. Otherwise, the picture is that of the last text without an error.
        pub current: bool,
        /// Width and height of the picture; null if there is no picture.
        pub size: Option<[f64; 2]>,
        pub shapes: Vec<Drawn>,
        /// Error that the rules raised in the latest step; null without an error.
        pub fault: Option<String>,
    }

    /// Returns of a round: an episode of the user and an episode of the agent, from the same state.
    #[derive(Copy, Default)]
    pub struct Round {
        pub yours: f64,
        pub agents: f64,
    }

    /// Plan of the network, for a drawing.
    #[derive(Default)]
    pub struct PlanView {
        pub nodes: Vec<PlanNode>,
        pub parameters: u32,
        /// Size in bytes of the arena of a training step. It holds all activations and gradients.
        pub arena_bytes: u32,
        /// Total size in bytes of the tensors in the arena. It exceeds `arena_bytes`, because tensors share memory.
        pub unshared_bytes: u32,
    }

    /// Node of the forward plan: a fused operation, an input or an output.
    #[derive(Default)]
    pub struct PlanNode {
        /// Name of the node, for example `policy.0`, or the name of the input or output.
        pub name: String,
        /// Operations that the node fuses, for example `linear + bias + tanh`.
        pub op: String,
        /// Shape of the node's output: `[batch, features]`.
        pub shape: [u32; 2],
        pub parameters: u32,
        /// Indices of the nodes whose outputs this node reads.
        pub reads: Vec<u32>,
    }
}

sent_data! {
    /// First steps of the displayed environments since the previous frame, at most 128, for a drawing.
    #[derive(Default)]
    pub struct Frame {
        /// Number of displayed environments, which are the first of the training environments.
        pub shown: u32,
        /// Number of recorded steps of each environment.
        pub steps: u32,
        /// Number of values in an observation.
        pub features: u32,
        /// Observations before each step, in panels of 32 environments. The shape is `[steps][shown/32, rounded up][features][32]`.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub observations: Vec<f32>,
        /// 1 if the environment's episode ended at the step, else 0. The shape is `[steps][shown]`.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ended: Vec<u8>,
    }

    /// Policy's output and critic's values over a plane of two axes.
    #[derive(Default)]
    pub struct Picture {
        pub width: u32,
        pub height: u32,
        /// Number of values of `policy` per point: one probability per choice, or the mean of each number of an action, scaled to -1 to 1.
        pub channels: u32,
        /// Policy's output at each point, as `[height][width][channels]`. The row with the lowest y is first.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub policy: Vec<f32>,
        /// Discounted return that the critic expects at each point, as `[height][width]`.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<f32>,
    }
}
