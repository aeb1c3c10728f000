// CartPole: the training environments are rows of poles. On the stage, the visitor can drag the cart and the tip of the pole.

import { minus } from "../../../parts/format";
import { palette } from "../../../parts/theme";
import { font, pen, segment, stroke, strokes } from "../../../parts/canvas";
import type { Player } from "../player";
import {
  arrow,
  CLASSES,
  classBy,
  dot,
  tint,
  type EnvironmentsPainter,
  type LargePainter,
  type Point,
  type Pose,
  type Size,
  type World,
} from "./world";

const LIMIT_M = 2.4;
const LIMIT_RAD = (12 * Math.PI) / 180;
const POLE_M = 1;
/** Ages of an episode, in steps, at which the pole's colour changes. */
const AGES = [25, 100, 250] as const;
/** Time for which a fallen pole is drawn. */
const FALL_MS = 320;
/**
 * Minimum lean of the pole in the last observation for which the end of an episode counts as a fall. It is less than the limit of 12
 * degrees, because the pole crosses the limit only in the step after this observation.
 */
const FALLING_RAD = 0.1;
/**
 * Minimum distance of the cart from the middle in the last observation for which the end of an episode also counts as a fall. It is less
 * than the limit of 2.4 m, because the cart crosses the limit only in the step after this observation.
 */
const EDGE_M = 2.2;
const MOST_STEPS = 499;
/**
 * Forces of the keys on the cart and on the tip of the pole. For comparison, the policy pushes the cart with 10 N. The policy's push can
 * balance a force of about 0.4 N on the tip.
 */
const KEY_CART_N = 6;
const KEY_TIP_N = 0.25;
const CART_SPRING = { newtonPerM: 20, newtonPerMps: 4, mostN: 16 };
const TIP_SPRING = { newtonPerM: 1.2, newtonPerMps: 0.1, mostN: 0.7 };

type Row = { y: number; scale: number; first: number; columns: number; cell: number; pole: number };

/** Arranges the environments in rows. Rows at the front are larger. Each environment keeps its position. */
function rowsOf({ width, height }: Size, shown: number): Row[] {
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

class Forest implements EnvironmentsPainter {
  private rows: Row[] = [];
  private layout = "";
  private fallMs = new Float64Array(0);
  private fallX = new Float32Array(0);
  private fallTheta = new Float32Array(0);
  /** Cart positions of the row that is drawn, in px. */
  private readonly x = new Float32Array(1024);
  /** Pole angles of the row that is drawn, in radians. */
  private readonly theta = new Float32Array(1024);

  classOf(env: number, player: Player): number {
    return classBy(player.age[env]!, AGES);
  }

  ended(env: number, player: Player, nowMs: number): void {
    if (this.fallMs.length !== player.shown) {
      this.fallMs = new Float64Array(player.shown).fill(-Infinity);
      this.fallX = new Float32Array(player.shown);
      this.fallTheta = new Float32Array(player.shown);
    }
    const [x, theta] = [player.seen(env, 0), player.seen(env, 2)];
    // The observation is from before the last step. If the pole leaned or the cart was near the edge, the episode ended by a fall. If not,
    // it ended after 500 steps.
    const fell = Math.abs(theta) > FALLING_RAD || Math.abs(x) > EDGE_M;
    if (!fell || player.age[env]! >= MOST_STEPS) return;
    this.fallMs[env] = nowMs;
    this.fallX[env] = x;
    this.fallTheta[env] = theta;
  }

  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void {
    const layout = `${size.width} ${size.height} ${player.shown}`;
    if (layout !== this.layout) {
      this.layout = layout;
      this.rows = rowsOf(size, player.shown);
    }
    c.lineCap = "round";
    for (const row of this.rows) this.drawRow(c, player, row, nowMs, smooth);
  }

  private drawRow(c: CanvasRenderingContext2D, player: Player, row: Row, nowMs: number, smooth: boolean): void {
    const reach = row.cell * 0.4;
    // The lines are thinner if the poles are short, as they are if there are thousands.
    const fine = Math.min(1, Math.max(0.55, row.pole / 24));
    const halfCart = Math.min(4.2 * row.scale, row.cell * 0.19);
    const centre = (column: number): number => (column + 0.5) * row.cell;
    for (let column = 0; column < row.columns; column++) {
      const place = Math.max(-2.6, Math.min(2.6, player.value(row.first + column, 0, smooth)));
      this.x[column] = centre(column) + (place / LIMIT_M) * reach;
      this.theta[column] = player.value(row.first + column, 2, smooth);
    }
    pen(c, palette.hair, 1);
    strokes(c, row.columns, (column) =>
      segment(c, centre(column) - reach - halfCart, row.y + 1.5, centre(column) + reach + halfCart, row.y + 1.5),
    );
    if (smooth && this.fallMs.length === player.shown) this.drawFalls(c, row, nowMs, reach);
    for (let age = 0; age < 4; age++) {
      pen(c, palette[CLASSES[age]!], (1.15 + 0.2 * age) * row.scale * fine);
      strokes(c, row.columns, (column) => {
        if (this.classOf(row.first + column, player) !== age) return;
        const [x, theta] = [this.x[column]!, this.theta[column]!];
        segment(c, x, row.y, x + row.pole * Math.sin(theta), row.y - row.pole * Math.cos(theta));
      });
    }
    c.lineWidth = 2.6 * row.scale * fine;
    c.lineCap = "butt";
    c.strokeStyle = palette.soft;
    strokes(c, row.columns, (column) => segment(c, this.x[column]! - halfCart, row.y, this.x[column]! + halfCart, row.y));
    c.lineCap = "round";
  }

  private drawFalls(c: CanvasRenderingContext2D, row: Row, nowMs: number, reach: number): void {
    pen(c, palette.error, 1.1 * row.scale);
    c.globalAlpha = 0.5;
    strokes(c, row.columns, (column) => {
      const env = row.first + column;
      const fell = (nowMs - this.fallMs[env]!) / FALL_MS;
      if (fell >= 1) return;
      const eased = Math.min(1, fell * 1.6) ** 2;
      const from = this.fallTheta[env]!;
      const angle = from + (Math.sign(from || 1) * (Math.PI / 2) - from) * eased;
      const x = (column + 0.5) * row.cell + (this.fallX[env]! / LIMIT_M) * reach;
      segment(c, x, row.y, x + row.pole * 0.8 * Math.sin(angle), row.y - row.pole * 0.8 * Math.cos(angle));
    });
    c.globalAlpha = 1;
  }
}

// ---- the stage

function frame({ width, height }: Size): { scale: number; floor: number; px: (metres: number) => number } {
  const scale = Math.max(1, Math.min(width / (2 * LIMIT_M + 0.7), (height - 34) / 1.22));
  return { scale, floor: height - 30, px: (metres) => width / 2 + metres * scale };
}

/** Returns the positions of the cart and of the pole's tip, in px. */
function places(size: Size, { state }: Pose): { cart: Point; tip: Point } {
  const { scale, floor, px } = frame(size);
  const [x = 0, , theta = 0] = state;
  const cart = { x: px(x), y: floor };
  return { cart, tip: { x: cart.x + POLE_M * scale * Math.sin(theta), y: floor - POLE_M * scale * Math.cos(theta) } };
}

const large: LargePainter = {
  shape: 0.26,

  scene(c, size, pose) {
    const { scale, floor, px } = frame(size);
    const { cart } = places(size, pose);
    // The sector between the two leans at which the episode ends.
    c.beginPath();
    c.moveTo(cart.x, floor);
    c.arc(cart.x, floor, POLE_M * scale * 1.06, -Math.PI / 2 - LIMIT_RAD, -Math.PI / 2 + LIMIT_RAD);
    c.closePath();
    c.fillStyle = palette.hair;
    c.globalAlpha = 0.55;
    c.fill();
    c.globalAlpha = 1;
    // The track with metre marks and end stops.
    pen(c, palette.ghost, 1);
    c.beginPath();
    const rail = Math.round(floor + 11) + 0.5;
    segment(c, px(-LIMIT_M), rail, px(LIMIT_M), rail);
    for (const end of [-LIMIT_M, LIMIT_M]) segment(c, px(end), rail - 14, px(end), rail + 4);
    for (let metre = -2; metre <= 2; metre++) segment(c, px(metre), rail, px(metre), rail + 4);
    c.stroke();
    c.fillStyle = palette.muted;
    c.font = font(12);
    c.textAlign = "center";
    for (let metre = -2; metre <= 2; metre++) c.fillText(minus(`${metre} m`), px(metre), rail + 16);
  },

  body(c, size, pose) {
    const { scale, floor } = frame(size);
    const { cart, tip } = places(size, pose);
    const { body, ghost } = pose;
    const fallen = body.over && body.terminated;
    const [cartW, cartH] = [0.36 * scale, 16];
    c.fillStyle = palette.raised;
    pen(c, tint(pose, "ink"), 1.5);
    c.beginPath();
    c.roundRect(cart.x - cartW / 2, floor - 6, cartW, cartH, 3);
    if (!ghost) c.fill();
    c.stroke();
    if (!body.over && !ghost && body.steps > 0) {
      const side = body.action[0] === 1 ? 1 : -1;
      pen(c, side < 0 ? palette.minus : palette.plus, 2);
      arrow(c, { x: cart.x + side * (cartW / 2 + 4), y: floor + 2 }, side * 12, 0);
    }
    pen(c, fallen ? palette.error : tint(pose, "ink"), 4);
    c.lineCap = "round";
    stroke(c, cart.x, floor, tip.x, tip.y);
    c.fillStyle = fallen ? palette.error : tint(pose, "agent");
    dot(c, tip.x, tip.y, 6);
    c.fillStyle = tint(pose, "ink");
    dot(c, cart.x, floor, 3);
  },

  describe({ state, body }) {
    if (body.over && body.terminated) return "The single pole has fallen";
    const [x = 0, , theta = 0] = state;
    return (
      `The single pole leans ${Math.abs((theta * 180) / Math.PI).toFixed(0)} degrees ${theta < 0 ? "left" : "right"}, ` +
      `cart at ${minus(x.toFixed(1))} metres`
    );
  },

  grips: {
    reach(at, near, size, pose) {
      const { cart, tip } = places(size, pose);
      const [dx, dy] = [tip.x - cart.x, tip.y - cart.y];
      const along = Math.max(0, Math.min(1, ((at.x - cart.x) * dx + (at.y - cart.y) * dy) / (dx * dx + dy * dy)));
      const offPole = Math.hypot(at.x - cart.x - along * dx, at.y - cart.y - along * dy);
      if (along > 0.3 && offPole < near) return "tip";
      return Math.hypot(at.x - cart.x, at.y - cart.y) < near * 1.6 ? "cart" : undefined;
    },
    pull(what, hand, size, pose) {
      const { scale } = frame(size);
      const { cart, tip } = places(size, pose);
      const [, speed = 0, theta = 0, turn = 0] = pose.body.state;
      const from = what === "tip" ? tip : cart;
      const spring = what === "tip" ? TIP_SPRING : CART_SPRING;
      const heldSpeed = speed + (what === "tip" ? POLE_M * Math.cos(theta) * turn : 0);
      const wanted = (spring.newtonPerM * (hand.x - from.x)) / scale - spring.newtonPerMps * heldSpeed;
      const force = Math.max(-spring.mostN, Math.min(spring.mostN, wanted));
      return {
        force: what === "tip" ? { tip_force: force } : { cart_force: force },
        from,
        words: `${Math.abs(force).toFixed(what === "tip" ? 2 : 1)} N`,
      };
    },
  },

  push: (side, shift) => (shift ? { tip_force: side * KEY_TIP_N } : { cart_force: side * KEY_CART_N }),
};

export const cartPole: World = {
  name: "CartPole",
  title: "An agent that learns to balance poles",
  many: "poles",
  one: "pole",
  lead: (environments) => `${environments} poles share one network, which learns to keep them upright by trial and error.`,
  legend: ["just begun", "½ s", "2 s", "5 s or more upright"],
  returns: "here, the number of steps the pole stayed up, 500 at most",
  returnsShort: "steps upright; circles are tests, bars their ranges",
  invite: "Drag the cart or the pole, or use the arrow keys. Training continues.",
  inviteTouch: "Drag the cart or the pole. Training continues.",
  controls: { left: 0, right: 1 },
  hues: ["minus", "plus"],
  turns: [],
  environments: () => new Forest(),
  large,
};
