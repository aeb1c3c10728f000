// Everything that crosses the boundary between the page and an experiment.
// Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

/**
 * What an experiment is: enough to start the same run anywhere.
 */
export type Config = {
/**
 * The format of this record; see [`crate::CONFIG_VERSION`].
 */
version: number,
/**
 * `control`
 */
room: string,
/**
 * `CartPole-v1`
 */
env: string, seed: number,
/**
 * Knobs by name; those left out have their default.
 */
knobs: { [key in string]: number }, };

/**
 * One setting of a learner, described well enough for a page or a `--help` to present it.
 */
export type Knob = {
/**
 * `lr`: the name in `--set lr=0.003`, in permalinks and in checkpoints.
 */
name: string,
/**
 * `Learning rate`
 */
label: string, kind: KnobKind, default: number,
/**
 * `steps`, `environments`, or empty for a plain number.
 */
unit: string,
/**
 * One or two sentences that a newcomer understands.
 */
help: string,
/**
 * Applies to the running experiment from its next iteration; the others need a reset.
 */
live: boolean, };

export type KnobKind = { "kind": "float", min: number, max: number,
/**
 * Sliders move on a logarithmic scale.
 */
log: boolean, } | { "kind": "int", min: number, max: number, log: boolean, } | { "kind": "bool" };

export type Command = { "kind": "start" } | { "kind": "pause" } | { "kind": "step" } | { "kind": "reset", config: Config | null, } | { "kind": "set_knob", name: string, value: number, } | { "kind": "device", wish: DeviceWish, } | { "kind": "save" } | { "kind": "restore", bytes: Uint8Array, };

export type Event = { "kind": "began", config: Config, environment: Environment,
/**
 * Every knob with the value in force.
 */
knobs: { [key in string]: number },
/**
 * History of a restored run, oldest first; empty for a new one.
 */
history: Array<Metrics>, marks: Array<Mark>, evaluations: Array<Evaluation>, progress: Progress, } | { "kind": "running", running: boolean, } | { "kind": "device" } & Device | { "kind": "metrics" } & Metrics | { "kind": "mark" } & Mark | { "kind": "evaluation" } & Evaluation | { "kind": "solved", progress: Progress, threshold: number, } | { "kind": "digest" } & Digest | { "kind": "saved", bytes: Uint8Array, } | { "kind": "notice", level: Level, text: string, next_step: string, };

export type Level = "info" | "warning" | "error";

/**
 * How far a run has come.
 */
export type Progress = { iteration: number,
/**
 * Steps of all environments together.
 */
env_steps: number, episodes: number,
/**
 * Seconds spent training, pauses left out.
 */
train_s: number, };

export type Metrics = { progress: Progress,
/**
 * Mean return of the last 100 finished training episodes; null before the first.
 */
mean_return: number | null, mean_length: number | null, policy_loss: number, value_loss: number, entropy: number, approx_kl: number, clip_fraction: number, explained_variance: number, grad_norm: number, lr: number, steps_per_s: number,
/**
 * Share of the iteration's time that went to each of [`PARTS`].
 */
shares: [number, number, number, number, number, number, number, number], };

/**
 * A live change of a knob, to be drawn on the curves.
 */
export type Mark = { progress: Progress, knob: string, from: number, to: number, };

export type Evaluation = { progress: Progress, episodes: number, mean_return: number, min_return: number, max_return: number, };

export type Digest = { iteration: number,
/**
 * 16 hexadecimal digits.
 */
weights: string,
/**
 * `fused` or `unfused`: only digests of the same arithmetic can be equal. `gpu` where a GPU did every iteration,
 * whose digests hold on that GPU alone, and `mixed` where a run has been on several: links carry neither.
 */
arithmetic: string, };

/**
 * What trains.
 */
export type Device = { wish: DeviceWish, on_gpu: boolean,
/**
 * The GPU's name, where there is one to use.
 */
gpu: string | null,
/**
 * Work a second on the processor and with the GPU, where both were measured: steps of environments, or boards valued.
 */
rates: [number, number] | null,
/**
 * Why, in a sentence.
 */
why: string, };

/**
 * What should train.
 */
export type DeviceWish = "auto" | "cpu" | "gpu";

/**
 * An environment of the room, described well enough to draw it and to take its controls.
 */
export type Environment = {
/**
 * `CartPole-v1`
 */
id: string,
/**
 * What there is to do, in half a sentence.
 */
summary: string,
/**
 * What each choice does; empty where an action is a number.
 */
choices: Array<string>,
/**
 * Least and greatest action where it is a number, else the first and last choice.
 */
range: [number, number],
/**
 * The numbers of an observation and of a state, with their units.
 */
observation: Array<string>, state: Array<string>, step_limit: number,
/**
 * Mean return of an evaluation from which on the task counts as solved.
 */
solved_at: number,
/**
 * About the least and the greatest return of an episode, for an axis.
 */
returns: [number, number],
/**
 * Seconds in which a step of the large environment is shown.
 */
step_s: number,
/**
 * The plane through the observations over which states, policy and values are drawn.
 */
plane: [Axis, Axis], };

/**
 * One axis of the plane.
 */
export type Axis = { name: string, low: number, high: number,
/**
 * The number of the observation that it is of, or those of a cosine and a sine whose angle it is.
 */
of: Array<number>, };

/**
 * What many environments lived through since the last frame, for a shell that draws them.
 */
export type Frame = {
/**
 * Environments shown: the first of those that train.
 */
shown: number,
/**
 * Environment steps in this frame; 0 when nothing happened.
 */
steps: number,
/**
 * Numbers of an observation.
 */
features: number,
/**
 * What they showed before each step, in panels of 32: `[steps][shown/32, rounded up][features][32]`
 */
observations: Float32Array,
/**
 * `[steps][shown]`: 1 where the episode ended at this step.
 */
ended: Uint8Array, progress: Progress, };

/**
 * What a hand does to the one large environment.
 */
export type Touch = {
/**
 * Seconds of the real world since the last touch.
 */
dt_s: number,
/**
 * CartPole alone: newtons on the cart, and on the tip of the pole.
 */
cart_force: number, tip_force: number,
/**
 * The action of whoever has taken the controls; null leaves them to the agent. Taking them begins
 * an episode, in which the agent plays beside from the same start.
 */
drive: number | null, };

/**
 * The one large environment, stepped in real time by the policy as it is now or by a hand.
 */
export type Stage = {
/**
 * Who has the controls is in `player`: the agent, or the hand that took them.
 */
player: Body,
/**
 * While a hand has the controls: the agent, which began where the hand did.
 */
rival: Body | null,
/**
 * Finished rounds against the agent, newest last, twenty at most.
 */
rounds: Array<Round>,
/**
 * What the policy thinks of the player's state: the probability of each choice, or, where an action
 * is a number, its mean and spread.
 */
odds: Array<number>,
/**
 * The critic's estimate of the return still to come, discounted.
 */
value: number,
/**
 * The agent's best return on this stage so far.
 */
best: number | null,
/**
 * The part of a step that has passed since the state was taken, from 0 to 1, for a smooth drawing.
 */
ahead: number, };

/**
 * One environment on the stage.
 */
export type Body = {
/**
 * Gymnasium's internal state before and after the newest step, named by [`Environment::state`].
 */
before: Array<number>, state: Array<number>, observation: Array<number>,
/**
 * The last action: a choice, or a number.
 */
action: number, steps: number,
/**
 * The return so far.
 */
total: number,
/**
 * The episode has ended; another begins in a moment.
 */
over: boolean,
/**
 * It ended by the rules, not by the time limit.
 */
terminated: boolean, };

/**
 * A finished episode of a hand and the agent's from the same start.
 */
export type Round = { yours: number, agents: number, };

/**
 * What the policy would do and the critic expects all over the plane of [`Environment::plane`].
 */
export type Picture = { width: number, height: number,
/**
 * Numbers a point: a probability for each choice, or one mean action from -1 to 1.
 */
channels: number,
/**
 * `[height][width][channels]`, the lowest y first.
 */
policy: Float32Array,
/**
 * `[height][width]`, the discounted return that the critic expects.
 */
values: Float32Array, };

/**
 * A small sweep: the same run under several values of a knob and several seeds, all learning at once.
 */
export type SweepSpec = { config: Config, knob: string, values: Array<number>,
/**
 * Seeds from the config's on.
 */
seeds: number,
/**
 * Environment steps after which each learner stops.
 */
steps: number, };

/**
 * One learner of a small sweep as it stands.
 */
export type SweepCell = { value: number, seed: number, progress: Progress,
/**
 * `[environment steps, mean return]` of its evaluations, oldest first.
 */
curve: Array<[number, number]>,
/**
 * Environment steps at which it was solved.
 */
solved_at: number | null, done: boolean,
/**
 * Why it stopped early: its weights are no longer numbers.
 */
diverged: boolean, };

/**
 * The network as its plan has it, for a drawing.
 */
export type PlanView = { nodes: Array<PlanNode>, parameters: number,
/**
 * Bytes of the one arena that holds every activation and gradient of a training step.
 */
arena_bytes: number,
/**
 * Bytes they would take if none shared its place.
 */
unshared_bytes: number, };

/**
 * One kernel of the forward plan.
 */
export type PlanNode = {
/**
 * `policy.0`, or the name of an input or output.
 */
name: string,
/**
 * `linear + bias + tanh`
 */
op: string,
/**
 * `[batch, features]`
 */
shape: [number, number], parameters: number,
/**
 * Indices of the nodes it reads.
 */
reads: Array<number>, };

/**
 * What is in use and why, for the badge and for bug reports.
 */
export type Backend = {
/**
 * `avx512`, `avx2`, `neon`, `relaxed`, `simd128` or `portable`
 */
isa: string, threads: number, arithmetic: string, version: string, };

/**
 * Where a reader that is not of this crate finds what a page draws, in words from the beginning; see
 * `www/run/monitor.ts`.
 */
export type Layout = { words: number, generation: number, epoch: number, heartbeat: number,
/**
 * Iteration, environment steps, episodes, seconds of training: each a number of 64 bits.
 */
progress: number, metrics: TrackLayout, evaluations: TrackLayout,
/**
 * Where what a page needs ends, as long as it keeps up.
 */
histories: number, };

/**
 * A record is its sequence number, its place among all that was told, and its columns.
 */
export type TrackLayout = {
/**
 * Ordinal of the next record.
 */
head: number,
/**
 * Records in the history.
 */
kept: number, ring: number, ring_records: number, history: number, history_records: number,
/**
 * Words of a record, and of them those before its columns.
 */
record: number, record_head: number,
/**
 * `progress.iteration`; where NaN means null, `mean_return?`.
 */
columns: Array<string>, };

/**
 * Where a reader goes on that was told of a run's beginning in another way.
 */
export type Cursor = { epoch: number, metrics: number, evaluations: number, };

/** Where the time of an iteration goes, in the order of Metrics.shares. */
export const PARTS = ["policy", "world", "advantages", "gather", "gradient", "update", "rest", "device"] as const;
