// LunarLander: the training environments are landers with short trails, which are divided among several pads side by side. On the stage,
// the single lander has its own ground.

import { palette } from "../../../parts/theme";
import { fill, pen, segment, stroke } from "../../../parts/canvas";
import type { Player } from "../player";
import { CLASSES, dot, PATHS, tint, veil, type EnvironmentsPainter, type LargePainter, type Size, type World } from "./world";

/** Half of the view's width, and the view's height above the pad, in units of the observation. */
const [ACROSS, UP] = [1, 1.5];
/** Ratio of the units of the observation: a y unit is 6⅔ m, an x unit 10 m. */
const Y_OVER_X = 2 / 3;
const NEAR = 0.25;
const SLOW = 0.35;
const ENDED_MS = 900;
/** Share of a trail's opacity that remains after 0.1 s. */
const TRAIL = 0.72;

type Sky = { pads: number; px: (x: number, env: number) => number; py: (y: number) => number; unit: number };

/** Returns the number of pads that fill the width of the canvas, and functions that convert an observation to pixels. */
function sky({ width, height }: Size): Sky {
  // Space below the pads, in px, for landers in the valleys.
  const below = Math.min(32, height * 0.16);
  const [across, up] = [2 * ACROSS + 0.1, (UP + 0.05) * Y_OVER_X];
  const pads = Math.max(1, Math.round((width * up) / (across * (height - below))));
  const unit = Math.min(width / pads / across, (height - below) / up);
  return {
    pads,
    px: (x, env) => (((env % pads) + 0.5) * width) / pads + x * unit,
    py: (y) => height - below - y * Y_OVER_X * unit,
    unit,
  };
}

function drawPad(c: CanvasRenderingContext2D, px: (x: number) => number, y: number): void {
  pen(c, palette.ink, 2);
  stroke(c, px(-0.2), y, px(0.2), y);
  c.lineWidth = 1;
  for (const x of FLAGS) {
    stroke(c, px(x), y, px(x), y - 15);
    c.fillStyle = palette.agent;
    fill(c, px(x), y - 15, px(x) + 8, y - 12, px(x), y - 9);
  }
}
const FLAGS = [-0.2, 0.2];

/** Corners of a lander's hull and legs, as alternating x and y. y points down, and the feet are about 46 units apart. */
const CRAFT = [-14, -17, 14, -17, 17, 0, 17, 10, -17, 10, -17, 0, -14, -17, -14, 8, -23, 22, 14, 8, 23, 22];
/** Index in `CRAFT` of the x of each leg's first corner. */
const LEGS = [14, 18];

class Swarm implements EnvironmentsPainter {
  private readonly trail = document.createElement("canvas");
  private readonly trailContext = this.trail.getContext("2d")!;
  private endedMs = new Float64Array(0);
  private endedX = new Float32Array(0);
  private endedY = new Float32Array(0);
  private landed = new Uint8Array(0);
  private drewMs = 0;

  classOf(env: number, player: Player): number {
    if (player.seen(env, 6) > 0.5 && player.seen(env, 7) > 0.5) return 3;
    const away = Math.hypot(player.seen(env, 0), player.seen(env, 1));
    const slow = Math.hypot(player.seen(env, 2), player.seen(env, 3)) < SLOW && Math.abs(player.seen(env, 4)) < 0.4;
    return slow ? (away < NEAR ? 2 : 1) : 0;
  }

  ended(env: number, player: Player, nowMs: number): void {
    if (this.endedMs.length !== player.shown) {
      this.endedMs = new Float64Array(player.shown).fill(-Infinity);
      this.endedX = new Float32Array(player.shown);
      this.endedY = new Float32Array(player.shown);
      this.landed = new Uint8Array(player.shown);
    }
    this.endedMs[env] = nowMs;
    this.endedX[env] = player.seen(env, 0);
    this.endedY[env] = player.seen(env, 1);
    // The observation is from before the last step. A lander at rest on both legs has landed.
    const calm = Math.hypot(player.seen(env, 2), player.seen(env, 3)) < 0.1;
    this.landed[env] = calm && player.seen(env, 6) > 0.5 && player.seen(env, 7) > 0.5 ? 1 : 0;
  }

  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void {
    const view = sky(size);
    const { pads, px, py, unit } = view;
    const canvas = c.canvas;
    if (this.trail.width !== canvas.width || this.trail.height !== canvas.height) {
      this.trail.width = canvas.width;
      this.trail.height = canvas.height;
    }
    const t = this.trailContext;
    const ratio = canvas.width / Math.max(1, size.width);
    if (smooth) {
      t.setTransform(1, 0, 0, 1, 0, 0);
      t.globalCompositeOperation = "destination-out";
      t.globalAlpha = 1 - TRAIL ** (Math.min(200, nowMs - this.drewMs) / 100);
      t.fillRect(0, 0, canvas.width, canvas.height);
      t.globalCompositeOperation = "source-over";
      t.globalAlpha = 1;
      t.setTransform(ratio, 0, 0, ratio, 0, 0);
      t.fillStyle = palette.ghost;
      for (let env = 0; env < player.shown; env++) {
        t.fillRect(px(player.value(env, 0, true), env) - 0.6, py(player.value(env, 1, true)) - 0.6, 1.2, 1.2);
      }
      c.drawImage(this.trail, 0, 0, size.width, size.height);
    }
    this.drewMs = nowMs;
    c.fillStyle = palette.hair;
    c.fillRect(0, py(0) + 1, size.width, size.height);
    for (let pad = 0; pad < pads; pad++) drawPad(c, (x) => px(x, pad), py(0));
    const scale = Math.max(0.2, Math.min(0.42, unit / 500)) * (player.shown > 600 ? 0.75 : 1);
    c.lineWidth = 2 * scale;
    for (let kind = 0; kind < 4; kind++) {
      c.strokeStyle = c.fillStyle = palette[CLASSES[kind]!];
      c.globalAlpha = veil(0.6, player.shown / 2);
      for (let path = 0; path < PATHS; path++) {
        c.beginPath();
        for (let env = path; env < player.shown; env += PATHS) {
          if (this.classOf(env, player) !== kind) continue;
          this.outline(c, px(player.value(env, 0, smooth), env), py(player.value(env, 1, smooth)), player.value(env, 4, smooth), scale);
        }
        c.fill();
        c.stroke();
      }
    }
    c.globalAlpha = 1;
    if (smooth && this.endedMs.length === player.shown) this.drawEnds(c, player, view, nowMs);
  }

  /** Adds hull and legs to the path. The corners are rotated here, because thousands of canvas transforms would be slow. */
  private outline(c: CanvasRenderingContext2D, x: number, y: number, angle: number, scale: number): void {
    const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
    for (let k = 0; k < CRAFT.length; k += 2) {
      const [ownX, ownY] = [CRAFT[k]!, CRAFT[k + 1]!];
      const [px, py] = [x + ownX * cos + ownY * sin, y - ownX * sin + ownY * cos];
      if (k === 0 || k === LEGS[0] || k === LEGS[1]) c.moveTo(px, py);
      else c.lineTo(px, py);
    }
  }

  private drawEnds(c: CanvasRenderingContext2D, player: Player, { px, py }: Sky, nowMs: number): void {
    c.lineWidth = 1.4;
    for (let env = 0; env < player.shown; env++) {
      const share = (nowMs - this.endedMs[env]!) / ENDED_MS;
      if (share >= 1) continue;
      const [x, y] = [px(this.endedX[env]!, env), py(this.endedY[env]!)];
      c.globalAlpha = 0.8 * (1 - share);
      c.strokeStyle = this.landed[env] ? palette.agent : palette.error;
      c.beginPath();
      if (this.landed[env]) c.arc(x, y, 4 + 8 * share, 0, 7);
      else {
        segment(c, x - 4, y - 4, x + 4, y + 4);
        segment(c, x + 4, y - 4, x - 4, y + 4);
      }
      c.stroke();
    }
    c.globalAlpha = 1;
  }
}

// ---- the stage; lengths are in metres, as in the state

/**
 * Indices in the state. `bodies` contains the index of the first number of each body: its position, its angle, and their speeds. `touches`
 * is the index of the leg contacts, and `ground` that of the ground heights. `bends` is the number of ground heights.
 */
const STATE = { bodies: [0, 6, 12], touches: 26, ground: 32, bends: 11 };
const WIDTH_M = 20;
const PAD_M = 10 / 3;
const PIECE_M = 2;
/**
 * Minimum and maximum height of the view, in metres. Between these limits, the view extends from a little below the pad to a little above
 * the lander. If the lander is higher, the view moves up with it.
 */
const SEEN_M = [8.5, 20] as const;
const BASE_M = PAD_M - 1.2;
/** Height of the hull's centre of mass above the origin of the hull's outline, in metres. */
const HULL_CENTRE_M = 0.101;
/** Outline of the hull about its centre of mass: x and y of each corner, in metres. */
const HULL = [17, -10, 17, 0, 14, 17, -14, 17, -17, 0, -17, -10].map((part, k) => part / 30 - (k % 2 ? HULL_CENTRE_M : 0));
/** Outline of a leg about its centre: x and y of each corner, in metres. */
const LEG = [-2, -8, 2, -8, 2, 8, -2, 8].map((part) => part / 30);

/** Lower edge of the last drawn view, in metres. */
let floorM = BASE_M;
/** Height of the last drawn view, in metres. */
let seenM: number = SEEN_M[0];

function view({ width, height }: Size): { px: (x: number) => number; py: (y: number) => number; unit: number } {
  const unit = Math.min(width / WIDTH_M, height / seenM);
  return { unit, px: (x) => width / 2 + (x - WIDTH_M / 2) * unit, py: (y) => height - (y - floorM) * unit };
}

function outline(c: CanvasRenderingContext2D, corners: number[]): void {
  c.beginPath();
  for (let k = 0; k < corners.length; k += 2) c.lineTo(corners[k]!, corners[k + 1]!);
  c.closePath();
}

const large: LargePainter = {
  shape: 0.6,

  scene(c, size, { state }) {
    const top = (state[1] ?? 0) + 2;
    seenM = Math.max(SEEN_M[0], Math.min(SEEN_M[1], top - BASE_M));
    floorM = Math.max(BASE_M, top - size.height / view(size).unit);
    const { px, py } = view(size);
    pen(c, palette.hair, 1);
    c.beginPath();
    for (const edge of [0, WIDTH_M]) segment(c, px(edge), 0, px(edge), size.height);
    c.stroke();
    c.beginPath();
    for (let bend = 0; bend < STATE.bends; bend++) c.lineTo(px(bend * PIECE_M), py(state[STATE.ground + bend] ?? PAD_M));
    pen(c, palette.ghost, 1.5);
    c.stroke();
    c.lineTo(px(WIDTH_M), size.height + 1);
    c.lineTo(px(0), size.height + 1);
    c.closePath();
    c.fillStyle = palette.hair;
    c.fill();
    drawPad(c, (x) => px(WIDTH_M / 2 + (x * WIDTH_M) / 2), py(PAD_M));
  },

  body(c, size, pose) {
    const { px, py, unit } = view(size);
    const { body, state } = pose;
    const legs = [state[STATE.touches] ?? 0, state[STATE.touches + 1] ?? 0];
    const crashed = body.over && body.terminated && !(legs[0]! > 0.5 && legs[1]! > 0.5);
    const ink = crashed ? palette.error : tint(pose, "ink");
    STATE.bodies.forEach((at, part) => {
      c.save();
      c.translate(px(state[at] ?? 0), py(state[at + 1] ?? 0));
      c.scale(unit, -unit);
      c.rotate(state[at + 2] ?? 0);
      c.lineJoin = "round";
      pen(c, part > 0 && legs[part - 1]! > 0.5 && !crashed && !pose.ghost ? palette.agent : ink, 1.6 / unit);
      if (part === 0 && !pose.ghost && !body.over && body.steps > 0) drawFlame(c, body.action[0]!);
      outline(c, part === 0 ? HULL : LEG);
      c.fillStyle = palette.raised;
      if (!pose.ghost) c.fill();
      c.stroke();
      if (part === 0) {
        c.fillStyle = tint(pose, "agent");
        dot(c, 0, 0.2, 0.16);
      }
      c.restore();
    });
  },

  describe({ body }) {
    const [x = 0, y = 0, , speed = 0, , , left = 0, right = 0] = body.observation;
    if (left > 0.5 && right > 0.5) return "The single lander is on both legs";
    return (
      `The single lander is ${Math.abs(x * 10).toFixed(0)} metres ${x < 0 ? "left" : "right"} of the pad and ` +
      `${Math.max(0, (y * 20) / 3).toFixed(0)} metres up, ${speed < -0.05 ? "falling" : speed > 0.05 ? "rising" : "level"}`
    );
  },
};

/**
 * Draws the flame of an engine. The coordinates are metres from the hull's centre, with y upwards. The left engine pushes the hull left, so
 * its flame is on the right.
 */
function drawFlame(c: CanvasRenderingContext2D, action: number): void {
  c.beginPath();
  if (action === 2) {
    c.fillStyle = palette.thrust;
    c.moveTo(-0.22, -0.42);
    c.lineTo(0, -1.15);
    c.lineTo(0.22, -0.42);
  } else if (action === 1 || action === 3) {
    const side = action === 1 ? 1 : -1;
    c.fillStyle = action === 1 ? palette.minus : palette.plus;
    c.moveTo(side * 0.54, 0.3);
    c.lineTo(side * 1.05, 0.16);
    c.lineTo(side * 0.54, 0.02);
  }
  c.fill();
}

export const lunarLander: World = {
  name: "LunarLander",
  title: "An agent that learns to land",
  many: "landers",
  one: "lander",
  lead: (environments) => `${environments} landers share one network, which learns to land them gently between two flags.`,
  legend: ["tumbling", "under control", "near the pad", "on both legs"],
  returns:
    "here, points for approaching the pad slowly and upright, 10 for each leg on the ground, minus the fuel, and at the end 100 for " +
    "coming to rest or −100 for a crash",
  returnsShort: "landing points; circles are tests, bars their ranges",
  invite: "The agent flies it. Take the controls: left, right, and up for the main engine.",
  controls: { left: 1, right: 3, up: 2, rest: 0 },
  hues: ["hair", "minus", "thrust", "plus"],
  turns: [],
  environments: () => new Swarm(),
  large,
};
