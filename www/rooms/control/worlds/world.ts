// A world contains the drawings, keys and texts of an environment; each world is one file. `any.ts` is the default for other environments.

import type { Body, Environment, Touch } from "../protocol";
import type { Explanation } from "../../../parts/room";
import { segment } from "../../../parts/canvas";
import { palette } from "../../../parts/theme";
import type { Player } from "../player";

export type Colour = keyof typeof palette;
/** Colours of the classes of progress, from 0 (just begun, or low) to 3 (goal). */
export const CLASSES: Colour[] = ["young", "muted", "grown", "accent"];

export type Size = { width: number; height: number };
export type Point = { x: number; y: number };

/** Draws all training environments. It may keep state (a fall, a trail) and must not allocate while drawing. */
export interface EnvironmentsPainter {
  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void;
  /** Called when an episode ended in the step just played. */
  ended?(env: number, player: Player, nowMs: number): void;
  /** Class of an environment, for its colour and for the counts in the aria label. */
  classOf(env: number, player: Player): number;
}

/** One environment to draw; `state` is interpolated between two steps. */
export type Pose = {
  state: readonly number[];
  body: Body;
  /** True for the agent while the visitor has the controls; drawn as a shadow. */
  ghost: boolean;
};

/** Parts that a pointer can drag, and the resulting forces. */
export interface Grips {
  reach(at: Point, near: number, size: Size, pose: Pose): string | undefined;
  /** Forces of a pointer at `hand` (in pixels); `from` is the gripped point. */
  pull(what: string, hand: Point, size: Size, pose: Pose): { force: Partial<Touch>; from: Point; words: string };
}

/** Draws the single environment, in CSS pixels. */
export interface LargePainter {
  /** Draws the background. */
  scene(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  body(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  describe(pose: Pose): string;
  grips?: Grips;
  /** Forces of the arrow keys while the agent acts; `side` is −1 or 1. */
  push?(side: number, shift: boolean): Partial<Touch>;
}

/** Choices of the arrow keys. For a continuous action, left and right are its two ends. */
export type Controls = {
  left?: number;
  right?: number;
  up?: number;
  /** Choice while no key is held. If absent, left and right alternate, which is almost neutral. */
  rest?: number;
};

export interface World {
  /** Label in the variant switch. */
  name: string;
  title: string;
  /** Plural and singular noun: `poles`, `pole`. */
  many: string;
  one: string;
  /** Lead sentence; `environments` is the formatted number of environments. */
  lead(environments: string): string;
  /** Sentence about the recent mean return. */
  soFar(mean: string, environment: Environment): string;
  legend: [string, string, string, string];
  returns: string;
  /** One line under the chart's title. */
  returnsShort: string;
  /** Invitation at the single environment. */
  invite: string;
  /** Invitation on a touch screen; `invite` if absent. */
  inviteTouch?: string;
  explanation: Explanation;
  controls: Controls;
  /** Colours of the choices, by name in the palette. */
  hues: Colour[];
  /** Indices of state numbers that are periodic angles. */
  turns: number[];
  environments(): EnvironmentsPainter;
  large: LargePainter;
}

/** Class of a number: 0 below the first bound, 3 from the last bound on. */
export const classBy = (n: number, [a, b, c]: readonly [number, number, number]): number => (n < a ? 0 : n < b ? 1 : n < c ? 2 : 3);

/** Number of environments in class `from` or a higher one. */
export function tally(player: Player, painter: EnvironmentsPainter, from: number): number {
  let sum = 0;
  for (let env = 0; env < player.shown; env++) if (painter.classOf(env, player) >= from) sum++;
  return sum;
}

/** The given colour; for a ghost, the colour of shadows. */
export const tint = (pose: Pose, own: Colour): string => (pose.ghost ? palette.ghost : palette[own]);

/** Draws an arrow from a point by `dx` and `dy`. */
export function arrow(c: CanvasRenderingContext2D, from: Point, dx: number, dy: number, head = 4): void {
  const size = Math.hypot(dx, dy);
  if (size < 1) return;
  const [ux, uy] = [dx / size, dy / size];
  const to = { x: from.x + dx, y: from.y + dy };
  c.beginPath();
  segment(c, from.x, from.y, to.x, to.y);
  c.moveTo(to.x - head * (ux - uy), to.y - head * (uy + ux));
  c.lineTo(to.x, to.y);
  c.lineTo(to.x - head * (ux + uy), to.y - head * (uy - ux));
  c.stroke();
}

/** Draws a torque about a point as an arc with a head, clockwise if positive. */
export function torque(c: CanvasRenderingContext2D, at: Point, radius: number, share: number): void {
  if (Math.abs(share) < 0.02) return;
  const sweep = share * 2.2;
  const end = -Math.PI / 2 + sweep;
  c.beginPath();
  c.arc(at.x, at.y, radius, -Math.PI / 2, end, share < 0);
  const side = Math.sign(share);
  const [x, y] = [at.x + radius * Math.cos(end), at.y + radius * Math.sin(end)];
  const back = end - side * Math.min(0.5, 6 / radius);
  c.moveTo(at.x + (radius + 4) * Math.cos(back), at.y + (radius + 4) * Math.sin(back));
  c.lineTo(x, y);
  c.lineTo(at.x + (radius - 4) * Math.cos(back), at.y + (radius - 4) * Math.sin(back));
  c.stroke();
}

export function dot(c: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.fill();
}

/** Number of paths per picture. Overlapping strokes within a path do not darken each other, so crowds darken only across paths. */
export const PATHS = 256;
/** Opacity of each of `shown` figures, so that a few figures are visible and a crowd is not solid. */
export const veil = (alpha: number, shown: number): number => alpha * Math.min(1.2, Math.sqrt(PATHS / Math.max(1, shown)));
