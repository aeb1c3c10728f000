// Questions and answers of the control room.
// Generated from crates/run/src/control/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "frame", } | { "ask": "picture", width: number, height: number, axes: [Axis, Axis], } | { "ask": "touch", touch: Touch, } | { "ask": "crowd", dt_s: number, } | { "ask": "preview", text: string, dt_s: number, } | { "ask": "plan", };

/** Description of an environment, sufficient to draw it and to control it. */
export type Environment = {
/** Gymnasium's id, for example `CartPole-v1`. */
id: string,
/** Description of the task in half a sentence. */
summary: string,
/** Effect of each choice; empty if an action consists of real numbers. */
choices: Array<string>,
/** Number of numbers in an action; 1 for a choice. */
numbers: number,
/** Minimum and maximum number of an action: two real numbers, or the indices of the first and the last choice. */
range: [number, number],
/** Names of the numbers in an observation, with their units. */
observation: Array<string>,
/** Names of the numbers in a state, with their units. The states of Gymnasium's environments are Gymnasium's internal states. */
state: Array<string>, step_limit: number,
/** Mean test return at which the task counts as solved; null if no return counts as solved. */
solved_at: number | null,
/** Approximate minimum and maximum return of an episode, for the axis of a chart. */
returns: [number, number],
/** Display time in seconds of one step of the environment that the page shows large. */
step_s: number,
/**
 * Possible axes of the state plane, on which states, policy and values are drawn. The user chooses two of them. The first two are
 * the default.
 */
axes: Array<Axis>,
/** Actions of the user's keys; empty if the environment names no keys. */
keys: Array<KeyAction>,
/** Width and height of [`Body::shapes`]; null if the environment draws no pictures. */
size: [number, number] | null, };

/** Action that a key chooses. */
export type KeyAction = {
/** Name of the key in a browser, for example `ArrowLeft`. */
key: string,
/** Index of a choice, or real numbers. */
action: Array<number>, };

export type Axis = { name: string, low: number, high: number,
/** Index of the axis's number in an observation. If the axis is an angle: the indices of its cosine and its sine. */
of: Array<number>,
/** True if the range of the number is unknown. The drawing then widens the axis until it contains all observations. */
open: boolean, };

/** First steps of the displayed environments since the previous frame, at most 128, for a drawing. */
export type Frame = {
/** Number of displayed environments, which are the first of the training environments. */
shown: number,
/** Number of recorded steps of each environment. */
steps: number,
/** Number of values in an observation. */
features: number,
/** Observations before each step, in panels of 32 environments. The shape is `[steps][shown/32, rounded up][features][32]`. */
observations: Uint8Array,
/** 1 if the environment's episode ended at the step, else 0. The shape is `[steps][shown]`. */
ended: Uint8Array, };

/** User's input to the environment that the page shows large. */
export type Touch = {
/** Seconds of real time since the previous touch. */
dt_s: number,
/** Force on the cart in newtons, for CartPole only. */
cart_force: number,
/** Force on the tip of the pole in newtons, for CartPole only. */
tip_force: number,
/**
 * Action of the user: the index of a choice, or real numbers; null leaves control to the agent. When the user takes control, a
 * round begins: the agent plays a second environment from the same state.
 */
drive: Array<number> | null,
/** Number of times that control has passed between the agent and the user. Whenever this number changes, an episode begins. */
handovers: number,
/**
 * Number of single steps that the user has requested. In a failed state, time stops for the agent, and each single step advances
 * the environment once.
 */
singles: number, };

/** State of the environment that the page shows large. The current policy or the user steps it in real time. */
export type Stage = {
/** Environment of the player in control, who is the agent or the user. */
player: Body,
/**
 * Second environment, in which the agent plays from the same state while the user is in control; null while the agent is in
 * control.
 */
rival: Body | null,
/** Last finished rounds of the user against the agent, at most twenty, latest last. */
rounds: Array<Round>,
/**
 * Output of the policy in the state of `player`: the probability of each choice, or the means and then the spreads of the numbers
 * of an action.
 */
odds: Array<number>,
/** Critic's estimate of the discounted return from the state of `player` on. */
value: number,
/**
 * Maximum return so far of the agent's episodes in the environment that the page shows large; null before the end of the agent's
 * first episode.
 */
best: number | null,
/** Fraction of the next step's display time that has elapsed, from 0 to 1, for smooth drawing. */
ahead: number,
/** Value of [`Touch::handovers`] in the latest touch. */
handovers: number,
/**
 * Error that stopped training; null if there was no error, or if the state before the failed step is unknown. After an error,
 * episodes begin in this state.
 */
failed: string | null, };

/** State of one environment of a [`Stage`]. */
export type Body = {
/** Internal state before the latest step; [`Environment::state`] names its numbers. */
before: Array<number>,
/** Internal state after the latest step. */
state: Array<number>, observation: Array<number>,
/** Last action: the index of a choice, or real numbers. */
action: Array<number>, steps: number,
/** Return of the episode so far. */
total: number,
/** True after the end of the episode, until the next episode begins shortly afterwards. */
over: boolean,
/** True if the rules ended the episode; false if the step limit ended it or it has not ended. */
terminated: boolean,
/** Picture of the state; empty if the environment draws no pictures. */
shapes: Array<Drawn>,
/** Error that the rules raised in the latest step; null without an error. */
fault: string | null, };

/** A shape of a picture. A later shape covers an earlier one. The point (0, 0) is the upper left corner, and y points down. */
export type Drawn = {
/** Kind of the shape: `rect`, `circle`, `line`, `polygon` or `text`. */
kind: string,
/** Numbers of the shape, in the order of the arguments in docs/worlds.md; for a polygon, x and y of each corner. */
numbers: Array<number>,
/** Text of a shape of the kind `text`; null for other kinds. */
text: string | null,
/** Name of the colour. */
colour: string, };

/**
 * Pictures of the small environments. The number of shapes in an answer is limited. If the pictures have more shapes, an answer
 * contains only some of the environments, and the next answers contain the others.
 */
export type Crowd = {
/** Number of the small environments; 0 if the environment draws no pictures. */
count: number, tiles: Array<Tile>, };

/** Picture of one small environment. */
export type Tile = { env: number,
/** Number of steps in the episode so far. */
steps: number, shapes: Array<Drawn>, };

/** Picture of the file in the editor. */
export type Preview = {
/** True if the text has no error. Otherwise, the picture is that of the last text without an error. */
current: boolean,
/** Width and height of the picture; null if there is no picture. */
size: [number, number] | null, shapes: Array<Drawn>,
/** Error that the rules raised in the latest step; null without an error. */
fault: string | null, };

/** Returns of a round: an episode of the user and an episode of the agent, from the same state. */
export type Round = { yours: number, agents: number, };

/** Policy's output and critic's values over a plane of two axes. */
export type Picture = { width: number, height: number,
/** Number of values of `policy` per point: one probability per choice, or the mean of each number of an action, scaled to -1 to 1. */
channels: number,
/** Policy's output at each point, as `[height][width][channels]`. The row with the lowest y is first. */
policy: Uint8Array,
/** Discounted return that the critic expects at each point, as `[height][width]`. */
values: Uint8Array, };

/** Plan of the network, for a drawing. */
export type PlanView = { nodes: Array<PlanNode>, parameters: number,
/** Size in bytes of the arena of a training step. It holds all activations and gradients. */
arena_bytes: number,
/** Total size in bytes of the tensors in the arena. It exceeds `arena_bytes`, because tensors share memory. */
unshared_bytes: number, };

/** Node of the forward plan: a fused operation, an input or an output. */
export type PlanNode = {
/** Name of the node, for example `policy.0`, or the name of the input or output. */
name: string,
/** Operations that the node fuses, for example `linear + bias + tanh`. */
op: string,
/** Shape of the node's output: `[batch, features]`. */
shape: [number, number], parameters: number,
/** Indices of the nodes whose outputs this node reads. */
reads: Array<number>, };

export interface Answers {
  frame: Frame;
  picture: Picture;
  touch: Stage;
  crowd: Crowd;
  preview: Preview;
  plan: PlanView;
}
