// Everything that crosses the boundary between the page and an experiment.
// Generated from crates/run/src/protocol.rs by its test; change it there, then run
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

export type Command = { "kind": "start" } | { "kind": "pause" } | { "kind": "step" } | { "kind": "reset", config: Config | null, } | { "kind": "set_knob", name: string, value: number, } | { "kind": "save" } | { "kind": "restore", bytes: Uint8Array, };

export type Event = { "kind": "began", config: Config,
/**
 * Every knob with the value in force.
 */
knobs: { [key in string]: number },
/**
 * History of a restored run, oldest first; empty for a new one.
 */
history: Array<Metrics>, marks: Array<Mark>, evaluations: Array<Evaluation>, progress: Progress, } | { "kind": "running", running: boolean, } | { "kind": "metrics" } & Metrics | { "kind": "mark" } & Mark | { "kind": "evaluation" } & Evaluation | { "kind": "solved", progress: Progress, threshold: number, } | { "kind": "digest" } & Digest | { "kind": "saved", bytes: Uint8Array, } | { "kind": "notice", level: Level, text: string, next_step: string, };

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
 * Share of the iteration spent acting; the rest is learning.
 */
rollout_share: number, };

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
 * `fused` or `unfused`: only digests of the same arithmetic can be equal.
 */
arithmetic: string, };

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
 * Numbers an environment and step: for CartPole the cart's place (m) and the pole's angle (rad).
 */
features: number,
/**
 * `[steps][shown][features]`
 */
states: Float32Array,
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
 * Newtons on the cart, and on the tip of the pole.
 */
cart_force: number, tip_force: number, };

/**
 * The one large environment, stepped in real time by the policy as it is now.
 */
export type Stage = {
/**
 * Cart's place (m) and speed (m/s), pole's angle (rad) and speed (rad/s).
 */
state: [number, number, number, number],
/**
 * The last action, and the probability the policy gave to pushing right.
 */
action: number, push_right: number,
/**
 * The critic's estimate of the return still to come.
 */
value: number,
/**
 * Steps this pole has stayed up, and the best so far.
 */
steps: number, best: number,
/**
 * It fell, and stands up again in a moment.
 */
fallen: boolean, };

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
