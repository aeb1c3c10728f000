// Questions and answers of the control room.
// Generated from crates/run/src/control/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "frame", } | { "ask": "picture", width: number, height: number, } | { "ask": "touch", touch: Touch, } | { "ask": "plan", };

/** Description of an environment, sufficient to draw and control it. */
export type Environment = {
/** Gymnasium's id, for example `CartPole-v1`. */
id: string,
/** Task, in half a sentence. */
summary: string,
/** Effect of each choice; empty if an action is a number. */
choices: Array<string>,
/** Least and greatest action if an action is a number, else the first and the last choice. */
range: [number, number],
/** Names of the numbers in an observation, with their units. */
observation: Array<string>,
/** Names of the numbers in a state (Gymnasium's internal state), with their units. */
state: Array<string>, step_limit: number,
/** Mean test return at which the task counts as solved. */
solved_at: number,
/** Approximate least and greatest return of an episode, for an axis. */
returns: [number, number],
/** Display time of one step of the large environment, in seconds. */
step_s: number,
/** Plane through the observations, on which states, policy and values are drawn. */
plane: [Axis, Axis], };

export type Axis = { name: string, low: number, high: number,
/** Index of the axis's number in the observation, or the indices of a cosine and a sine if the axis is their angle. */
of: Array<number>, };

/** Steps of the first environments since the last frame, for a drawing. */
export type Frame = {
/** Number of environments shown: the first ones of those that train. */
shown: number,
/** Number of recorded steps of each environment. */
steps: number,
/** Number of values in an observation. */
features: number,
/** Observations before each step, in panels of 32 environments: `[steps][shown/32, rounded up][features][32]` */
observations: Uint8Array,
/** `[steps][shown]`: 1 if the episode ended at this step. */
ended: Uint8Array, };

/** Input of the user to the large environment. */
export type Touch = {
/** Seconds of real time since the last touch. */
dt_s: number,
/** CartPole only: force on the cart, in newtons. */
cart_force: number,
/** CartPole only: force on the tip of the pole, in newtons. */
tip_force: number,
/**
 * Action of the user; null leaves control to the agent. When the user takes control, an episode begins, and the agent plays a
 * second environment from the same state.
 */
drive: number | null, };

/** The large environment, stepped in real time by the present policy or by the user. */
export type Stage = {
/** The environment of the player in control: the agent or the user. */
player: Body,
/** The agent's environment while the user is in control, which began in the same state; null while the agent is in control. */
rival: Body | null,
/** Finished rounds against the agent, newest last, at most twenty. */
rounds: Array<Round>,
/**
 * Output of the policy for the player's state: the probability of each choice, or the mean and spread of a numeric
 * action.
 */
odds: Array<number>,
/** The critic's estimate of the discounted return from the player's state on. */
value: number,
/** The agent's best return in the large environment so far; null before the end of its first episode. */
best: number | null,
/** Elapsed fraction of the next step, from 0 to 1, for smooth drawing. */
ahead: number, };

/** An environment of a [`Stage`]. */
export type Body = {
/** Gymnasium's internal state before the newest step; [`Environment::state`] names its numbers. */
before: Array<number>,
/** Gymnasium's internal state after the newest step. */
state: Array<number>, observation: Array<number>,
/** The last action: a choice or a number. */
action: number, steps: number,
/** Return of the episode so far. */
total: number,
/** The episode has ended; the next one begins shortly. */
over: boolean,
/** The episode ended by the rules, not by the step limit. */
terminated: boolean, };

/** A round: an episode of the user and one of the agent, from the same state. The fields are their returns. */
export type Round = { yours: number, agents: number, };

/** The policy's actions and the critic's values over the plane [`Environment::plane`]. */
export type Picture = { width: number, height: number,
/** Numbers per point of `policy`: the probability of each choice, or one mean action from -1 to 1. */
channels: number,
/** `[height][width][channels]`, the lowest y first: the output of the policy. */
policy: Uint8Array,
/** `[height][width]`: the discounted return that the critic expects. */
values: Uint8Array, };

/** The nodes of the network's plan, for a drawing. */
export type PlanView = { nodes: Array<PlanNode>, parameters: number,
/** Size in bytes of the arena that holds all activations and gradients of a training step. */
arena_bytes: number,
/** Size in bytes that the tensors of the arena would need without sharing memory. */
unshared_bytes: number, };

/** A kernel of the forward plan. */
export type PlanNode = {
/** For example `policy.0`, or the name of an input or output. */
name: string,
/** Fused operations, for example `linear + bias + tanh`. */
op: string,
/** `[batch, features]` */
shape: [number, number], parameters: number,
/** Indices of the nodes whose output this node reads. */
reads: Array<number>, };

export interface Answers {
  frame: Frame;
  picture: Picture;
  touch: Stage;
  plan: PlanView;
}
