//! Plain data that only the control room exchanges: environments, frames of many environments, the large environment, and the outputs of
//! policy and critic. The large environment is drawn large, and a user can push and drive it. This file contains no behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// The steps of the first training environments since the previous `Frame` question.
    Frame {} -> Frame,
    /// The policy's actions and the critic's values on a grid over the plane [`Environment::plane`].
    Picture { width: u32, height: u32 } -> Picture,
    /// Advances the large environment by the elapsed time, with the user's forces and action.
    Touch { touch: Touch } -> Stage,
    /// The learner's network, for a drawing.
    Plan {} -> PlanView,
}

plain_data! {
    /// Description of an environment, sufficient to draw and control it.
    pub struct Environment {
        /// Gymnasium's id, for example `CartPole-v1`.
        pub id: String,
        /// Task, in half a sentence.
        pub summary: String,
        /// Effect of each choice; empty if an action is a number.
        pub choices: Vec<String>,
        /// Least and greatest action if an action is a number, else the first and the last choice.
        pub range: [f64; 2],
        /// Names of the numbers in an observation, with their units.
        pub observation: Vec<String>,
        /// Names of the numbers in a state (Gymnasium's internal state), with their units.
        pub state: Vec<String>,
        pub step_limit: u32,
        /// Mean test return at which the task counts as solved.
        pub solved_at: f64,
        /// Approximate least and greatest return of an episode, for an axis.
        pub returns: [f64; 2],
        /// Display time of one step of the large environment, in seconds.
        pub step_s: f64,
        /// Plane through the observations, on which states, policy and values are drawn.
        pub plane: [Axis; 2],
    }

    pub struct Axis {
        pub name: String,
        pub low: f64,
        pub high: f64,
        /// Index of the axis's number in the observation, or the indices of a cosine and a sine if the axis is their angle.
        pub of: Vec<u32>,
    }

    /// Input of the user to the large environment.
    #[derive(Copy, Default)]
    pub struct Touch {
        /// Seconds of real time since the last touch.
        pub dt_s: f64,
        /// CartPole only: force on the cart, in newtons.
        pub cart_force: f64,
        /// CartPole only: force on the tip of the pole, in newtons.
        pub tip_force: f64,
        /// Action of the user; null leaves control to the agent. When the user takes control, an episode begins, and the agent plays a
        /// second environment from the same state.
        pub drive: Option<f64>,
    }

    /// The large environment, stepped in real time by the present policy or by the user.
    #[derive(Default)]
    pub struct Stage {
        /// The environment of the player in control: the agent or the user.
        pub player: Body,
        /// The agent's environment while the user is in control, which began in the same state; null while the agent is in control.
        pub rival: Option<Body>,
        /// Finished rounds against the agent, newest last, at most twenty.
        pub rounds: Vec<Round>,
        /// Output of the policy for the player's state: the probability of each choice, or the mean and spread of a numeric
        /// action.
        pub odds: Vec<f64>,
        /// The critic's estimate of the discounted return from the player's state on.
        pub value: f64,
        /// The agent's best return in the large environment so far; null before the end of its first episode.
        pub best: Option<f64>,
        /// Elapsed fraction of the next step, from 0 to 1, for smooth drawing.
        pub ahead: f64,
    }

    /// An environment of a [`Stage`].
    #[derive(Default)]
    pub struct Body {
        /// Gymnasium's internal state before the newest step; [`Environment::state`] names its numbers.
        pub before: Vec<f64>,
        /// Gymnasium's internal state after the newest step.
        pub state: Vec<f64>,
        pub observation: Vec<f64>,
        /// The last action: a choice or a number.
        pub action: f64,
        pub steps: u32,
        /// Return of the episode so far.
        pub total: f64,
        /// The episode has ended; the next one begins shortly.
        pub over: bool,
        /// The episode ended by the rules, not by the step limit.
        pub terminated: bool,
    }

    /// A round: an episode of the user and one of the agent, from the same state. The fields are their returns.
    #[derive(Copy, Default)]
    pub struct Round {
        pub yours: f64,
        pub agents: f64,
    }

    /// The nodes of the network's plan, for a drawing.
    #[derive(Default)]
    pub struct PlanView {
        pub nodes: Vec<PlanNode>,
        pub parameters: u32,
        /// Size in bytes of the arena that holds all activations and gradients of a training step.
        pub arena_bytes: u32,
        /// Size in bytes that the tensors of the arena would need without sharing memory.
        pub unshared_bytes: u32,
    }

    /// A kernel of the forward plan.
    #[derive(Default)]
    pub struct PlanNode {
        /// For example `policy.0`, or the name of an input or output.
        pub name: String,
        /// Fused operations, for example `linear + bias + tanh`.
        pub op: String,
        /// `[batch, features]`
        pub shape: [u32; 2],
        pub parameters: u32,
        /// Indices of the nodes whose output this node reads.
        pub reads: Vec<u32>,
    }
}

sent_data! {
    /// Steps of the first environments since the last frame, for a drawing.
    #[derive(Default)]
    pub struct Frame {
        /// Number of environments shown: the first ones of those that train.
        pub shown: u32,
        /// Number of recorded steps of each environment.
        pub steps: u32,
        /// Number of values in an observation.
        pub features: u32,
        /// Observations before each step, in panels of 32 environments: `[steps][shown/32, rounded up][features][32]`
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub observations: Vec<f32>,
        /// `[steps][shown]`: 1 if the episode ended at this step.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ended: Vec<u8>,
    }

    /// The policy's actions and the critic's values over the plane [`Environment::plane`].
    #[derive(Default)]
    pub struct Picture {
        pub width: u32,
        pub height: u32,
        /// Numbers per point of `policy`: the probability of each choice, or one mean action from -1 to 1.
        pub channels: u32,
        /// `[height][width][channels]`, the lowest y first: the output of the policy.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub policy: Vec<f32>,
        /// `[height][width]`: the discounted return that the critic expects.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<f32>,
    }
}
