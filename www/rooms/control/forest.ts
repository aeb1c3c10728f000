// Hundreds of the poles that train, drawn on one canvas. It draws what frames bring and refuses to know physics:
// frames carry a short history, which is played over the time until the next one.

import type { Frame } from "../../run/protocol";
import { animate, calm, Surface } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";

/** A step of an environment lasts this long in real time. */
const STEP_S = 0.02;
/** How far the drawing may stay behind what the worker has sent. */
const LAG_S = 0.15;
const MOST_WAITING_STEPS = 400;
/** A pole that fell stays in sight this long. */
const FALL_MS = 320;
/** Steps upright from which a pole takes the next colour. */
const AGES = [25, 100, 250];
const CART_LIMIT_M = 2.4;
/** One step before the limits of 12 degrees and 2.4 m. */
const FALLING_RAD = 0.1;
const EDGE_M = 2.2;
const MOST_STEPS = 499;

/** Plays the history that frames carry at the pace at which they come. */
class Player {
  shown = 0;
  features = 2;
  /** The step reached, `[shown][features]`, and the one after it. */
  private at: Float32Array = new Float32Array(0);
  private next: { states: Float32Array; ended: Uint8Array } | undefined;
  private readonly waiting: { states: Float32Array; ended: Uint8Array }[] = [];
  /** How far from `at` to `next`. */
  private share = 0;
  private stepsPerS = 1 / STEP_S;
  private lastArrivalMs = 0;
  /** Steps that each environment has stood. */
  age = new Uint16Array(0);
  private justReset = new Uint8Array(0);

  constructor(private readonly onFall: (env: number, x: number, theta: number) => void) {}

  push(frame: Frame, nowMs: number): void {
    if (frame.shown !== this.shown || frame.features !== this.features) this.clear(frame.shown, frame.features);
    if (frame.steps === 0) return;
    const row = frame.shown * frame.features;
    for (let step = 0; step < frame.steps; step++) {
      this.waiting.push({
        states: frame.states.subarray(step * row, (step + 1) * row),
        ended: frame.ended.subarray(step * frame.shown, (step + 1) * frame.shown),
      });
    }
    const passedS = Math.min(1, Math.max(0.004, (nowMs - this.lastArrivalMs) / 1000));
    this.lastArrivalMs = nowMs;
    // A mean over about half a second: bursts of acting between updates even out.
    const weight = 1 - Math.exp(-passedS / 0.5);
    this.stepsPerS += (frame.steps / passedS - this.stepsPerS) * weight;
  }

  clear(shown = this.shown, features = this.features): void {
    this.shown = shown;
    this.features = features;
    this.at = new Float32Array(shown * features);
    this.age = new Uint16Array(shown);
    this.justReset = new Uint8Array(shown);
    this.next = undefined;
    this.waiting.length = 0;
    this.share = 0;
  }

  advance(passedS: number): void {
    const backlog = this.waiting.length + (this.next ? 1 - this.share : 0);
    if (backlog === 0) return;
    // Somewhat faster when much waits, somewhat slower when little does.
    const wanted = Math.max(2, this.stepsPerS * LAG_S);
    const pace = this.stepsPerS * Math.min(2.5, Math.max(0.4, backlog / wanted));
    let steps = this.share + pace * passedS;
    if (this.waiting.length > MOST_WAITING_STEPS) steps += this.waiting.length - MOST_WAITING_STEPS;
    while (steps >= 1 || !this.next) {
      if (this.next) {
        this.take(this.next);
        steps -= 1;
      }
      this.next = this.waiting.shift();
      if (!this.next) {
        steps = 0;
        break;
      }
    }
    this.share = Math.min(steps, 1);
  }

  private take(step: { states: Float32Array; ended: Uint8Array }): void {
    for (let env = 0; env < this.shown; env++) {
      this.justReset[env] = 0;
      this.age[env]!++;
      if (!step.ended[env]) continue;
      const [x, theta] = [step.states[env * this.features]!, step.states[env * this.features + 1]!];
      // States are from before the step, so a fall shows by a lean; the others reached their 500 steps.
      const fell = Math.abs(theta) > FALLING_RAD || Math.abs(x) > EDGE_M;
      if (fell && this.age[env]! < MOST_STEPS) this.onFall(env, x, theta);
      this.age[env] = 0;
      this.justReset[env] = 1;
    }
    this.at = step.states;
  }

  /** Where an environment's number `feature` stands now, between two steps. */
  value(env: number, feature: number, smooth: boolean): number {
    const k = env * this.features + feature;
    const from = this.at[k]!;
    if (!smooth || !this.next || this.justReset[env]) return from;
    return from + (this.next.states[k]! - from) * this.share;
  }
}

type Row = { y: number; scale: number; first: number; columns: number; cell: number; pole: number };

/** Rows of environments, larger to the front; every environment has its place. */
function rowsOf(width: number, height: number, shown: number): Row[] {
  if (shown === 0 || width === 0) return [];
  const rows = Math.max(3, Math.round(Math.sqrt((shown * height * 0.62) / width)));
  const scales = Array.from({ length: rows }, (_, r) => 0.74 + (0.5 * r) / Math.max(1, rows - 1));
  const weights = scales.map((scale) => 1 / scale);
  const weightSum = weights.reduce((a, b) => a + b);
  const scaleSum = scales.reduce((a, b) => a + b);
  const unit = (height - 12) / (scaleSum + 0.35 * scales[0]!);
  let y = 2 + unit * 0.35 * scales[0]!;
  let first = 0;
  let due = 0;
  return scales.map((scale, r) => {
    y += unit * scale;
    due += (shown * weights[r]!) / weightSum;
    const columns = Math.round(due) - first;
    const cell = width / columns;
    const row = { y, scale, first, columns, cell, pole: Math.min(unit * scale * 0.84, cell * 1.6) };
    first += columns;
    return row;
  });
}

export class Forest {
  readonly element = document.createElement("canvas");
  private readonly surface: Surface;
  private readonly player: Player;
  private rows: Row[] = [];
  private rowsFor = -1;
  private fallMs = new Float64Array(0);
  private fallX = new Float32Array(0);
  private fallTheta = new Float32Array(0);
  private lastMs = 0;
  private lastCalmMs = 0;
  private dirty = true;
  private readonly stops: (() => void)[];

  constructor() {
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", "Poles that train; none yet");
    this.player = new Player((env, x, theta) => {
      this.fallMs[env] = this.lastMs;
      this.fallX[env] = x;
      this.fallTheta[env] = theta;
    });
    this.surface = new Surface(this.element, () => {
      this.rowsFor = -1;
      this.dirty = true;
    });
    this.stops = [
      animate(this.element, (nowMs) => this.draw(nowMs)),
      onTheme(() => (this.dirty = true)),
      () => this.surface.close(),
    ];
  }

  push(frame: Frame): void {
    this.player.push(frame, performance.now());
    if (this.fallMs.length !== frame.shown) {
      this.fallMs = new Float64Array(frame.shown).fill(-Infinity);
      this.fallX = new Float32Array(frame.shown);
      this.fallTheta = new Float32Array(frame.shown);
      this.rowsFor = -1;
    }
  }

  /** A new run: nothing that waits is of interest. */
  clear(): void {
    this.player.clear();
    this.fallMs.fill(-Infinity);
  }

  get shown(): number {
    return this.player.shown;
  }

  /** How many poles have stood for at least `steps`. */
  standing(steps: number): number {
    return this.player.age.reduce((sum, age) => sum + (age >= steps ? 1 : 0), 0);
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private draw(nowMs: number): void {
    const passedS = Math.min(0.1, (nowMs - this.lastMs) / 1000);
    this.lastMs = nowMs;
    this.player.advance(passedS);
    const still = calm();
    // Less motion: the picture changes twice a second, with nothing in between.
    if (still && nowMs - this.lastCalmMs < 500 && !this.dirty) return;
    this.lastCalmMs = nowMs;
    this.dirty = false;

    const { width, height } = this.surface;
    if (this.rowsFor !== this.player.shown) {
      this.rows = rowsOf(width, height, this.player.shown);
      this.rowsFor = this.player.shown;
    }
    const c = this.surface.begin();
    c.lineCap = "round";
    for (const row of this.rows) this.drawRow(c, row, nowMs, !still);
  }

  private drawRow(c: CanvasRenderingContext2D, row: Row, nowMs: number, smooth: boolean): void {
    const { player } = this;
    const reach = row.cell * 0.4;
    const tracks = new Path2D();
    const carts = new Path2D();
    const falls = new Path2D();
    const poles = AGES.map(() => new Path2D()).concat(new Path2D());
    const halfCart = Math.min(4.2 * row.scale, row.cell * 0.19);
    for (let column = 0; column < row.columns; column++) {
      const env = row.first + column;
      const centre = (column + 0.5) * row.cell;
      const x = centre + (Math.max(-2.6, Math.min(2.6, player.value(env, 0, smooth))) / CART_LIMIT_M) * reach;
      const theta = player.value(env, 1, smooth);
      tracks.moveTo(centre - reach - halfCart, row.y + 1.5);
      tracks.lineTo(centre + reach + halfCart, row.y + 1.5);
      carts.moveTo(x - halfCart, row.y);
      carts.lineTo(x + halfCart, row.y);
      const age = player.age[env]!;
      const path = poles[AGES.findIndex((from) => age < from)] ?? poles[AGES.length]!;
      path.moveTo(x, row.y);
      path.lineTo(x + row.pole * Math.sin(theta), row.y - row.pole * Math.cos(theta));

      const fell = (nowMs - this.fallMs[env]!) / FALL_MS;
      if (smooth && fell < 1) {
        const eased = Math.min(1, fell * 1.6) ** 2;
        const from = this.fallTheta[env]!;
        const angle = from + (Math.sign(from || 1) * (Math.PI / 2) - from) * eased;
        const fallX = centre + (this.fallX[env]! / CART_LIMIT_M) * reach;
        falls.moveTo(fallX, row.y);
        falls.lineTo(fallX + row.pole * 0.8 * Math.sin(angle), row.y - row.pole * 0.8 * Math.cos(angle));
      }
    }
    c.lineWidth = 1;
    c.strokeStyle = palette.hair;
    c.stroke(tracks);
    c.lineWidth = 1.1 * row.scale;
    c.strokeStyle = palette.rust;
    c.globalAlpha = 0.5;
    c.stroke(falls);
    c.globalAlpha = 1;
    const colours = [palette.young, palette.muted, palette.grown, palette.accent];
    poles.forEach((path, age) => {
      c.lineWidth = (1.15 + 0.2 * age) * row.scale;
      c.strokeStyle = colours[age]!;
      c.stroke(path);
    });
    c.lineWidth = 2.6 * row.scale;
    c.lineCap = "butt";
    c.strokeStyle = palette.soft;
    c.stroke(carts);
    c.lineCap = "round";
  }
}
