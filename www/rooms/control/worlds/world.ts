// A world contains the drawings, keys and texts for an environment. Each world has its own file; `any.ts` is the default for other
// environments.

import type { Body, Crowd, Touch } from "../protocol";
import { segment } from "../../../parts/canvas";
import { palette } from "../../../parts/theme";
import type { Player } from "../player";

export type Colour = keyof typeof palette;
/**
 * Colours of the classes of progress. In class 0, an episode has begun recently or is far from the goal; in class 3, it has reached the
 * goal.
 */
export const CLASSES: Colour[] = ["young", "growing", "grown", "agent"];

export type Size = { width: number; height: number };
export type Point = { x: number; y: number };

/** Draws all training environments. A painter may keep state, such as a fall or a trail, but must not allocate while drawing. */
export interface EnvironmentsPainter {
  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void;
  /** Called when an episode of environment `env` ended in the step that was played last. */
  ended?(env: number, player: Player, nowMs: number): void;
  /**
   * Returns the class of progress of an environment. The class determines the environment's colour, and the aria label contains the number
   * of environments in a class.
   */
  classOf(env: number, player: Player): number;
}

/** Pictures of small environments, which replace the drawing of the training environments. */
export interface CrowdPictures {
  readonly element: HTMLCanvasElement;
  /** Number of small environments; 0 before the first answer. */
  readonly count: number;
  /** Returns the number of environments whose class of progress is `kind` or higher. */
  from(kind: number): number;
  close(): void;
}

/** An environment on the stage, where a single environment is drawn large. `state` is interpolated between two steps. */
export type Pose = {
  state: readonly number[];
  body: Body;
  /** True for the agent's environment while the visitor plays. This environment is drawn as a shadow. */
  ghost: boolean;
};

/** Pointer input on the stage: the parts of the environment that a pointer can drag, and the resulting forces. */
export interface Grips {
  reach(at: Point, near: number, size: Size, pose: Pose): string | undefined;
  /**
   * Returns the forces while a pointer at `hand` (in px) drags the part `what`. `from` is the gripped point in px, and `words` is the force
   * as text.
   */
  pull(what: string, hand: Point, size: Size, pose: Pose): { force: Partial<Touch>; from: Point; words: string };
}

/** Draws the stage's environment, in CSS pixels. */
export interface LargePainter {
  /** Height of the picture as a share of its width. */
  shape: number;
  /** Draws the background, behind all bodies. */
  scene(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  body(c: CanvasRenderingContext2D, size: Size, pose: Pose): void;
  describe(pose: Pose): string;
  grips?: Grips;
  /** Returns the forces of an arrow key while the agent acts. `side` is −1 for left and 1 for right. */
  push?(side: number, shift: boolean): Partial<Touch>;
}

/** Actions of the arrow keys, as indices of choices. For a continuous action, left and right are the ends of its range. */
export type Controls = {
  left?: number;
  right?: number;
  up?: number;
  /** Action while no key is held. If it is missing, left and right alternate, which has almost no effect. */
  rest?: number;
};

export interface World {
  /** Name of the environment in the choice of variants. */
  name: string;
  title: string;
  /** Nouns for the drawn objects: `many` is the plural (`poles`), `one` the singular (`pole`). */
  many: string;
  one: string;
  /** Returns the first sentence of the page. `environments` is the formatted number of environments. */
  lead(environments: string): string;
  legend: [string, string, string, string];
  returns: string;
  /** Description of the return in one line, below the chart's title. */
  returnsShort: string;
  /** Sentence that invites the visitor to act on the stage. */
  invite: string;
  /** Invitation on a touch screen. If it is missing, `invite` is shown. */
  inviteTouch?: string;
  controls: Controls;
  /**
   * Actions of the keys that an environment's file names, by the name of the key. The empty name has the action for the case that no key is
   * held.
   */
  keys?: Map<string, number[]>;
  /** Colours of the actions, if actions are choices. */
  hues: Colour[];
  /** Indices of the angles in the state. Angles are periodic. */
  turns: number[];
  environments(): EnvironmentsPainter;
  /** Creates the pictures of small environments, if the environment draws its own pictures. `ask` advances them by `dt_s` seconds. */
  crowd?: ((ask: (dt_s: number) => Promise<Crowd>) => CrowdPictures) | undefined;
  large: LargePainter;
}

/** Returns the class of a number by three bounds: 0 below the first bound, and 3 from the last bound upwards. */
export const classBy = (n: number, [a, b, c]: readonly [number, number, number]): number => (n < a ? 0 : n < b ? 1 : n < c ? 2 : 3);

/** Returns the number of environments whose class of progress is `from` or higher. */
export function tally(player: Player, painter: EnvironmentsPainter, from: number): number {
  let sum = 0;
  for (let env = 0; env < player.shown; env++) if (painter.classOf(env, player) >= from) sum++;
  return sum;
}

/** Returns the CSS colour of an environment on the stage: `own`, or the colour of shadows for a ghost. */
export const tint = (pose: Pose, own: Colour): string => (pose.ghost ? palette.ghost : palette[own]);

/** Draws an arrow from a point. `dx` and `dy` are the arrow's components in px. */
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

/**
 * Draws a torque about a point as an arc with an arrowhead. `share` is the torque relative to its maximum, from −1 to 1. The arc is
 * clockwise if `share` is positive.
 */
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

/**
 * Number of paths into which the figures of a picture are divided. Strokes within one path do not darken each other where they overlap;
 * strokes of different paths do.
 */
export const PATHS = 256;
/**
 * Returns the opacity of a figure when `shown` figures are drawn. `alpha` is the opacity for `PATHS` figures. Fewer figures are more
 * opaque. More figures are less opaque, so that they do not merge into a solid area.
 */
export const veil = (alpha: number, shown: number): number => alpha * Math.min(1.2, Math.sqrt(PATHS / Math.max(1, shown)));
