// Questions and answers of the control room.
// Generated from crates/run/src/control/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "frame", } | { "ask": "picture", width: number, height: number, } | { "ask": "touch", touch: Touch, } | { "ask": "plan", };

/** An environment of the room, described well enough to draw it and to take its controls. */
export type Environment = {
/** `CartPole-v1` */
id: string,
/** What there is to do, in half a sentence. */
summary: string,
/** What each choice does; empty where an action is a number. */
choices: Array<string>,
/** Least and greatest action where it is a number, else the first and last choice. */
range: [number, number],
/** The numbers of an observation and of a state, with their units. */
observation: Array<string>, state: Array<string>, step_limit: number,
/** Mean return of an evaluation from which on the task counts as solved. */
solved_at: number,
/** About the least and the greatest return of an episode, for an axis. */
returns: [number, number],
/** Seconds in which a step of the large environment is shown. */
step_s: number,
/** The plane through the observations over which states, policy and values are drawn. */
plane: [Axis, Axis], };

/** One axis of the plane. */
export type Axis = { name: string, low: number, high: number,
/** The number of the observation that it is of, or those of a cosine and a sine whose angle it is. */
of: Array<number>, };

/** What many environments lived through since the last frame, for a shell that draws them. */
export type Frame = {
/** Environments shown: the first of those that train. */
shown: number,
/** Environment steps in this frame; 0 when nothing happened. */
steps: number,
/** Numbers of an observation. */
features: number,
/** What they showed before each step, in panels of 32: `[steps][shown/32, rounded up][features][32]` */
observations: Uint8Array,
/** `[steps][shown]`: 1 where the episode ended at this step. */
ended: Uint8Array, };

/** What a hand does to the one large environment. */
export type Touch = {
/** Seconds of the real world since the last touch. */
dt_s: number,
/** CartPole alone: newtons on the cart, and on the tip of the pole. */
cart_force: number, tip_force: number,
/**
 * The action of whoever has taken the controls; null leaves them to the agent. Taking them begins
 * an episode, in which the agent plays beside from the same start.
 */
drive: number | null, };

/** The one large environment, stepped in real time by the policy as it is now or by a hand. */
export type Stage = {
/** Who has the controls is in `player`: the agent, or the hand that took them. */
player: Body,
/** While a hand has the controls: the agent, which began where the hand did. */
rival: Body | null,
/** Finished rounds against the agent, newest last, twenty at most. */
rounds: Array<Round>,
/**
 * What the policy thinks of the player's state: the probability of each choice, or, where an action
 * is a number, its mean and spread.
 */
odds: Array<number>,
/** The critic's estimate of the return still to come, discounted. */
value: number,
/** The agent's best return on this stage so far. */
best: number | null,
/** The part of a step that has passed since the state was taken, from 0 to 1, for a smooth drawing. */
ahead: number, };

/** One environment on the stage. */
export type Body = {
/** Gymnasium's internal state before and after the newest step, named by [`Environment::state`]. */
before: Array<number>, state: Array<number>, observation: Array<number>,
/** The last action: a choice, or a number. */
action: number, steps: number,
/** The return so far. */
total: number,
/** The episode has ended; another begins in a moment. */
over: boolean,
/** It ended by the rules, not by the time limit. */
terminated: boolean, };

/** A finished episode of a hand and the agent's from the same start. */
export type Round = { yours: number, agents: number, };

/** What the policy would do and the critic expects all over the plane of [`Environment::plane`]. */
export type Picture = { width: number, height: number,
/** Numbers a point: a probability for each choice, or one mean action from -1 to 1. */
channels: number,
/** `[height][width][channels]`, the lowest y first. */
policy: Uint8Array,
/** `[height][width]`, the discounted return that the critic expects. */
values: Uint8Array, };

/** The network as its plan has it, for a drawing. */
export type PlanView = { nodes: Array<PlanNode>, parameters: number,
/** Bytes of the one arena that holds every activation and gradient of a training step. */
arena_bytes: number,
/** Bytes they would take if none shared its place. */
unshared_bytes: number, };

/** One kernel of the forward plan. */
export type PlanNode = {
/** `policy.0`, or the name of an input or output. */
name: string,
/** `linear + bias + tanh` */
op: string,
/** `[batch, features]` */
shape: [number, number], parameters: number,
/** Indices of the nodes it reads. */
reads: Array<number>, };

export interface Answers {
  frame: Frame;
  picture: Picture;
  touch: Stage;
  plan: PlanView;
}
