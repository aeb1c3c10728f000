// Plays the steps of received frames at their mean rate of arrival. The picture then moves evenly although steps arrive in bursts. The
// player handles observations in panels and does not depend on the environment.

import { floats } from "../../run/floats";
import type { Frame } from "./protocol";

/** Delay between the arrival of a step and its drawing, in seconds. */
const LAG_S = 0.15;
const MOST_WAITING_STEPS = 400;
/** Number of environments per panel. Within a panel, the values of one feature are consecutive, one for each environment. */
const PANEL = 32;
const STEPS_PER_S = 50;

export type Listener = {
  /** Called for each played step. `player.seen` then returns the observations before this step. */
  stepped(): void;
  /**
   * Called when an episode of an environment ended. `player.seen` then returns the observation before the last step of the episode.
   * `player.age` returns the length of the episode in steps.
   */
  ended(env: number): void;
};

export class Player {
  /** Number of environments that are played: the first ones of each frame. */
  shown = 0;
  features = 0;
  /** Number of environments that each frame contains. */
  private carried = 0;
  /** Maximum number of environments to play. */
  private wanted = Infinity;
  /** Steps of each environment since its episode began. */
  age = new Uint16Array(0);
  private at: Float32Array = new Float32Array(0);
  private atFrom = 0;
  private readonly waiting: { steps: number; observations: Float32Array; ended: Uint8Array }[] = [];
  /** Index of the next step to play in the first waiting frame. */
  private head = 0;
  private waitingSteps = 0;
  /** Interpolation between the last played step (0) and the next step (1). */
  private share = 0;
  private stepsPerS = STEPS_PER_S;
  private lastArrivalMs = 0;
  private justReset = new Uint8Array(0);

  constructor(private readonly listeners: Listener[]) {}

  push(frame: Frame, nowMs: number): void {
    if (frame.shown !== this.carried || frame.features !== this.features) this.clear(frame.shown, frame.features);
    if (frame.steps === 0) return;
    this.waiting.push({ steps: frame.steps, observations: floats(frame.observations), ended: frame.ended });
    this.waitingSteps += frame.steps;
    const passedS = Math.min(1, Math.max(0.004, (nowMs - this.lastArrivalMs) / 1000));
    this.lastArrivalMs = nowMs;
    // The rate is averaged over about half a second, because no steps arrive while the learner updates the network.
    const weight = 1 - Math.exp(-passedS / 0.5);
    this.stepsPerS += (frame.steps / passedS - this.stepsPerS) * weight;
  }

  /** Sets the largest number of environments to play. */
  want(most: number): void {
    this.wanted = most;
    this.clear();
  }

  get most(): number {
    return this.carried;
  }

  clear(carried = this.carried, features = this.features): void {
    const shown = Math.min(carried, this.wanted);
    this.carried = carried;
    this.shown = shown;
    this.features = features;
    this.at = new Float32Array(this.stride);
    this.atFrom = 0;
    this.age = new Uint16Array(shown);
    this.justReset = new Uint8Array(shown);
    this.waiting.length = 0;
    this.head = this.waitingSteps = this.share = 0;
  }

  private get stride(): number {
    return Math.ceil(this.carried / PANEL) * PANEL * this.features;
  }

  advance(passedS: number): void {
    if (this.waitingSteps === 0) return;
    const backlog = this.waitingSteps - this.share;
    // The player plays faster if many steps are waiting, and slower if few are waiting.
    const wanted = Math.max(2, this.stepsPerS * LAG_S);
    const pace = this.stepsPerS * Math.min(2.5, Math.max(0.4, backlog / wanted));
    let steps = this.share + pace * passedS;
    if (this.waitingSteps > MOST_WAITING_STEPS) steps += this.waitingSteps - MOST_WAITING_STEPS;
    while (steps >= 1 && this.waitingSteps > 0) {
      this.take();
      steps -= 1;
    }
    this.share = this.waitingSteps === 0 ? 0 : Math.min(steps, 1);
  }

  private take(): void {
    const frame = this.waiting[0]!;
    this.at = frame.observations;
    this.atFrom = this.head * this.stride;
    const ended = this.head * this.carried;
    this.head++;
    this.waitingSteps--;
    if (this.head === frame.steps) {
      this.waiting.shift();
      this.head = 0;
    }
    for (const listener of this.listeners) listener.stepped();
    for (let env = 0; env < this.shown; env++) {
      this.justReset[env] = 0;
      this.age[env]!++;
      if (!frame.ended[ended + env]) continue;
      for (const listener of this.listeners) listener.ended(env);
      this.age[env] = 0;
      this.justReset[env] = 1;
    }
  }

  /** Returns a feature of an environment's observation, as it was before the last played step. */
  seen(env: number, feature: number): number {
    return this.at[this.atFrom + ((env >> 5) * this.features + feature) * PANEL + (env & 31)]!;
  }

  /** Returns a feature of an environment's observation. If `smooth` is true, the value is interpolated towards the next observation. */
  value(env: number, feature: number, smooth: boolean): number {
    const from = this.seen(env, feature);
    if (!smooth || this.waitingSteps === 0 || this.justReset[env]) return from;
    const next = this.waiting[0]!.observations;
    const k = this.head * this.stride + ((env >> 5) * this.features + feature) * PANEL + (env & 31);
    return from + (next[k]! - from) * this.share;
  }

  /** Returns the angle whose cosine and sine are the features `cos` and `sin`. */
  angle(env: number, cos: number, sin: number, smooth: boolean): number {
    return Math.atan2(this.value(env, sin, smooth), this.value(env, cos, smooth));
  }
}
