//! What crosses the boundary in the room of control alone: what an environment is, what many of them live through, the one
//! that a person can push and drive, and what policy and critic think. This file refuses to hold behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;

crate::questions! {
    /// What the first environments lived through since this was last asked.
    Frame {} -> Frame,
    /// What the policy would do and the critic expects, at so many points of the environment's plane.
    Picture { width: u32, height: u32 } -> Picture,
    /// Steps the large environment by the time that passed, pushed as the hand pushes it.
    Touch { touch: Touch } -> Stage,
    /// The learner's network, for a drawing.
    Plan {} -> PlanView,
}

plain_data! {
    /// An environment of the room, described well enough to draw it and to take its controls.
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
    pub struct Axis {
        pub name: String,
        pub low: f64,
        pub high: f64,
        /// The number of the observation that it is of, or those of a cosine and a sine whose angle it is.
        pub of: Vec<u32>,
    }

    /// What a hand does to the one large environment.
    #[derive(Copy, Default)]
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
    #[derive(Default)]
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
    #[derive(Default)]
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
    #[derive(Copy, Default)]
    pub struct Round {
        pub yours: f64,
        pub agents: f64,
    }

    /// The network as its plan has it, for a drawing.
    #[derive(Default)]
    pub struct PlanView {
        pub nodes: Vec<PlanNode>,
        pub parameters: u32,
        /// Bytes of the one arena that holds every activation and gradient of a training step.
        pub arena_bytes: u32,
        /// Bytes they would take if none shared its place.
        pub unshared_bytes: u32,
    }

    /// One kernel of the forward plan.
    #[derive(Default)]
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
}

sent_data! {
    /// What many environments lived through since the last frame, for a shell that draws them.
    #[derive(Default)]
    pub struct Frame {
        /// Environments shown: the first of those that train.
        pub shown: u32,
        /// Environment steps in this frame; 0 when nothing happened.
        pub steps: u32,
        /// Numbers of an observation.
        pub features: u32,
        /// What they showed before each step, in panels of 32: `[steps][shown/32, rounded up][features][32]`
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub observations: Vec<f32>,
        /// `[steps][shown]`: 1 where the episode ended at this step.
        #[serde(with = "serde_bytes")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub ended: Vec<u8>,
    }

    /// What the policy would do and the critic expects all over the plane of [`Environment::plane`].
    #[derive(Default)]
    pub struct Picture {
        pub width: u32,
        pub height: u32,
        /// Numbers a point: a probability for each choice, or one mean action from -1 to 1.
        pub channels: u32,
        /// `[height][width][channels]`, the lowest y first.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub policy: Vec<f32>,
        /// `[height][width]`, the discounted return that the critic expects.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub values: Vec<f32>,
    }
}
