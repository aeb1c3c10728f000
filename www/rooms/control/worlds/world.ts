// What the room needs to know of an environment beyond what the run says: how one and how many of it are drawn, which
// keys drive it, and its words. One file for each beside this one; `any.ts` serves those that have none.

import type { Body, Environment, Touch } from "../protocol";
import type { Explanation } from "../../../parts/room";
import { segment } from "../../../parts/canvas";
import { palette } from "../../../parts/theme";
import type { Player } from "../player";

export type Colour = keyof typeof palette;
/** How far along an environment is, from 0 (just begun, or low) to 3 (as it should be). */
export const CLASSES: Colour[] = ["young", "muted", "grown", "accent"];

export type Size = { width: number; height: number };
export type Point = { x: number; y: number };

/** Draws all environments that train. It may remember (a fall, a trail), and must not allocate while it draws. */
export interface EnvironmentsPainter {
  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void;
  /** An episode ended at the step just played. */
  ended?(env: number, player: Player, nowMs: number): void;
  /** The class that an environment is drawn in: what a screen reader is told is counted from it. */
  classOf(env: number, player: Player): number;
}

/** One environment as it is drawn: its state, carried on between two steps. */
export type Pose = {
  state: readonly number[];
  body: Body;
  /** The agent, while a hand has the controls: drawn as a shadow. */
  ghost: boolean;
};

/** What a pointer may take hold of, and what comes of it. */
export interface Grips {
  reach(at: Point, near: number, size: Size, pose: Pose): string | undefined;
  /** The forces of a hand at `hand` (in pixels); `from` is where its string is tied. */
  pull(what: string, hand: Point, size: Size, pose: Pose): { force: Partial<Touch>; from: Point; words: string };
}

/** Draws the single one, in CSS pixels. */
export interface LargePainter {
  /** What stands still, behind everyone. */
  scene(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  body(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  describe(pose: Pose): string;
  grips?: Grips;
  /** Forces by the arrow keys while the agent drives; `side` is −1 or 1. */
  push?(side: number, shift: boolean): Partial<Touch>;
}

/** The choices that arrow keys stand for. Where an action is a number, left and right are its two ends. */
export type Controls = {
  left?: number;
  right?: number;
  up?: number;
  /** What is done while no key is held; without one left and right take turns, step by step, which about rests. */
  rest?: number;
};

export interface World {
  /** As the switch names it. */
  name: string;
  title: string;
  /** Of what there are many: `poles`; and one of them: `pole`. */
  many: string;
  one: string;
  /** The lead sentence: so many share one network. */
  lead(environments: string): string;
  /** How well it does by the mean return of late, as a sentence. */
  soFar(mean: string, environment: Environment): string;
  legend: [string, string, string, string];
  returns: string;
  /** One line under the chart's title. */
  returnsShort: string;
  /** An invitation at the single one, and its help for screen readers. */
  invite: string;
  /** The same on a touch screen, where it differs. */
  inviteTouch?: string;
  explanation: Explanation;
  controls: Controls;
  /** Colours of the choices, by name in the palette. */
  hues: Colour[];
  /** Numbers of the state that are angles and go round. */
  turns: number[];
  environments(): EnvironmentsPainter;
  large: LargePainter;
}

/** The class of a number, by the bounds between the four. */
export const classBy = (n: number, [a, b, c]: readonly [number, number, number]): number => (n < a ? 0 : n < b ? 1 : n < c ? 2 : 3);

/** How many environments are in a class or a higher one. */
export function tally(player: Player, painter: EnvironmentsPainter, from: number): number {
  let sum = 0;
  for (let env = 0; env < player.shown; env++) if (painter.classOf(env, player) >= from) sum++;
  return sum;
}

/** The colour of the drawn one: its own, or a shadow's. */
export const tint = (pose: Pose, own: Colour): string => (pose.ghost ? palette.ghost : palette[own]);

/** An arrow from a point, `length` long to the right (or left). */
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

/** A torque about a point: an arc of a turn with a head, clockwise for a positive one. */
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

/** Strokes of one path cover each other once: so many paths a picture are enough for a throng to darken. */
export const PATHS = 256;
/** How see-through one of many is, so that few show and a throng does not drown. */
export const veil = (alpha: number, shown: number): number => alpha * Math.min(1.2, Math.sqrt(PATHS / Math.max(1, shown)));
