// MountainCar, with a throttle of three positions or a continuous one. All training environments are cars on one hill; the stage shows a
// single car.

import { minus } from "../../../parts/format";
import { palette } from "../../../parts/theme";
import { fill, font, pen, segment, stroke, strokes } from "../../../parts/canvas";
import type { Player } from "../player";
import { arrow, classBy, CLASSES, dot, tint, type EnvironmentsPainter, type LargePainter, type Size, type World } from "./world";

const [LEFT, RIGHT] = [-1.2, 0.6];
const hill = (x: number): number => 0.45 * Math.sin(3 * x) + 0.55;
const slope = (x: number): number => 1.35 * Math.cos(3 * x);
/**
 * Gravity accelerates a car at x by −GRAVITY cos(3x) road units per step². The potential energy in `energy` is the integral of this
 * acceleration.
 */
const GRAVITY = 0.0025;
const energy = (x: number, speed: number): number => (speed * speed) / 2 + (GRAVITY / 3) * Math.sin(3 * x);
const LEAST = -GRAVITY / 3;
/** Thresholds at which the colour of a car changes, as shares of the energy that is needed to reach the flag. */
const SHARES = [0.3, 0.6, 0.98] as const;
/**
 * Lanes above the road, so that cars do not hide each other. `each` is the number of cars per lane; `least` and `most` limit the number of
 * lanes. `share` is the height of all lanes as a share of the canvas's height.
 */
const LANES = { each: 24, least: 6, most: 40, share: 0.32 };
const BINS = 90;
/** Depth of the band that shows the density of cars: a share of the canvas's height, and a limit in px. */
const DEPTH = { share: 0.16, mostPx: 38 };
const ARRIVED_MS = 700;

/**
 * Returns functions that convert positions on the hill to pixels. The vertical scale is 0.9 of the horizontal scale, or less if there is
 * little room. `above` and `below` are the heights of the free space above and below the hill, in px.
 */
function road(
  { width, height }: Size,
  above: number,
  below: number,
): { px: (x: number) => number; py: (x: number) => number; tilt: (x: number) => number } {
  const across = (width - 28) / (RIGHT - LEFT);
  const up = Math.min(across * 0.9, (height - above - below) / 1.0);
  const base = height - below;
  return {
    px: (x) => 14 + (x - LEFT) * across,
    py: (x) => base - (hill(x) - 0.1) * up,
    tilt: (x) => -Math.atan((slope(x) * up) / across),
  };
}

function drawRoad(c: CanvasRenderingContext2D, size: Size, { px, py }: ReturnType<typeof road>, flag: number): void {
  pen(c, palette.ghost, 1.5);
  strokes(c, 121, (k) => {
    const x = LEFT + ((RIGHT - LEFT) * k) / 120;
    c.lineTo(px(x), py(x));
  });
  c.lineTo(px(RIGHT), size.height);
  c.lineTo(px(LEFT), size.height);
  c.closePath();
  c.globalAlpha = 0.45;
  c.fillStyle = palette.hair;
  c.fill();
  c.globalAlpha = 1;
  // Draws the flag.
  const [x, y] = [px(flag), py(flag)];
  c.strokeStyle = palette.ink;
  stroke(c, x, y, x, y - 30);
  c.fillStyle = palette.agent;
  fill(c, x, y - 30, x + 15, y - 25.5, x, y - 21);
}

class Hill implements EnvironmentsPainter {
  private readonly density = new Float32Array(BINS);
  private arrivedMs = new Float64Array(0);

  constructor(private readonly flag: number) {}

  classOf(env: number, player: Player): number {
    const share = (energy(player.seen(env, 0), player.seen(env, 1)) - LEAST) / (energy(this.flag, 0) - LEAST);
    return classBy(share, SHARES);
  }

  ended(env: number, player: Player, nowMs: number): void {
    if (this.arrivedMs.length !== player.shown) this.arrivedMs = new Float64Array(player.shown).fill(-Infinity);
    // The observation is from before the step that reached the flag, so a car that is almost at the flag counts as arrived.
    if (player.seen(env, 0) > this.flag - 0.08) this.arrivedMs[env] = nowMs;
  }

  draw(c: CanvasRenderingContext2D, player: Player, size: Size, nowMs: number, smooth: boolean): void {
    const lanes = Math.min(LANES.most, Math.max(LANES.least, Math.round(player.shown / LANES.each)));
    const apart = Math.min(6.5, (size.height * LANES.share) / lanes);
    const depth = Math.min(DEPTH.mostPx, size.height * DEPTH.share);
    const view = road(size, 8 + lanes * apart, depth + 8);
    drawRoad(c, size, view, this.flag);
    this.drawDensity(c, player, view, depth, smooth);
    const [length, thick] = [Math.max(4, size.width / (player.shown > 600 ? 150 : 90)), Math.max(1.4, apart * 0.55)];
    for (let kind = 0; kind < 4; kind++) {
      c.strokeStyle = palette[CLASSES[kind]!];
      c.globalAlpha = kind === 0 ? 0.75 : 0.8;
      c.lineWidth = thick;
      c.lineCap = "round";
      strokes(c, player.shown, (env) => {
        if (this.classOf(env, player) !== kind) return;
        const x = player.value(env, 0, smooth);
        const tilt = view.tilt(x);
        const lift = 4 + (env % lanes) * apart;
        const [cx, cy] = [view.px(x) + lift * Math.sin(tilt), view.py(x) - lift * Math.cos(tilt)];
        const [dx, dy] = [(length / 2) * Math.cos(tilt), (length / 2) * Math.sin(tilt)];
        segment(c, cx - dx, cy - dy, cx + dx, cy + dy);
      });
    }
    c.globalAlpha = 1;
    if (smooth && this.arrivedMs.length === player.shown) this.drawArrivals(c, player, view, lanes, apart, nowMs);
  }

  /** Draws the density of cars as a band below the road. */
  private drawDensity(
    c: CanvasRenderingContext2D,
    player: Player,
    { px, py }: ReturnType<typeof road>,
    depth: number,
    smooth: boolean,
  ): void {
    const { density } = this;
    const keep = smooth ? 0.94 : 0.6;
    for (let bin = 0; bin < BINS; bin++) density[bin]! *= keep;
    for (let env = 0; env < player.shown; env++) {
      const bin = Math.floor(((player.seen(env, 0) - LEFT) / (RIGHT - LEFT)) * BINS);
      if (bin >= 0 && bin < BINS) density[bin]! += ((1 - keep) * BINS) / player.shown;
    }
    // The densest bin has the full depth of the band. `most` is at least 5, so that the band stays thin if no bin is dense.
    let most = 5;
    for (let bin = 0; bin < BINS; bin++) most = Math.max(most, density[bin]!);
    c.beginPath();
    for (let bin = 0; bin < BINS; bin++) {
      const x = LEFT + ((RIGHT - LEFT) * (bin + 0.5)) / BINS;
      c.lineTo(px(x), py(x));
    }
    for (let bin = BINS - 1; bin >= 0; bin--) {
      const x = LEFT + ((RIGHT - LEFT) * (bin + 0.5)) / BINS;
      const around = ((density[bin - 1] ?? 0) + 2 * density[bin]! + (density[bin + 1] ?? 0)) / 4;
      c.lineTo(px(x), py(x) + (depth * around) / most);
    }
    c.closePath();
    c.fillStyle = palette.agent;
    c.globalAlpha = 0.22;
    c.fill();
    c.globalAlpha = 1;
  }

  private drawArrivals(
    c: CanvasRenderingContext2D,
    player: Player,
    { px, py }: ReturnType<typeof road>,
    lanes: number,
    apart: number,
    nowMs: number,
  ): void {
    c.fillStyle = palette.agent;
    for (let env = 0; env < player.shown; env++) {
      const share = (nowMs - this.arrivedMs[env]!) / ARRIVED_MS;
      if (share >= 1) continue;
      c.globalAlpha = 0.8 * (1 - share);
      dot(c, px(this.flag) + 6 + share * 14, py(this.flag) - 4 - (env % lanes) * apart - share * 18, 2.2);
    }
    c.globalAlpha = 1;
  }
}

const large = (flag: number, throttle: (action: number) => number): LargePainter => ({
  shape: 0.5,

  scene(c, size) {
    const view = road(size, 34, 26);
    drawRoad(c, size, view, flag);
    c.fillStyle = palette.muted;
    c.font = font(12);
    c.textAlign = "center";
    for (const x of [-1.2, -0.9, -0.6, -0.3, 0, 0.3, 0.6]) c.fillText(minus(String(x)), view.px(x), size.height - 6);
  },

  body(c, size, pose) {
    const view = road(size, 34, 26);
    const [x = 0] = pose.state;
    const { body } = pose;
    const unit = Math.max(0.6, Math.min(1.3, size.height / 210));
    c.save();
    c.translate(view.px(x), view.py(x));
    c.rotate(view.tilt(x));
    c.scale(unit, unit);
    c.fillStyle = palette.raised;
    pen(c, tint(pose, "ink"), 1.6);
    c.lineJoin = "round";
    c.beginPath();
    c.roundRect(-20, -20, 40, 12, 4);
    c.moveTo(-11, -20);
    c.lineTo(-6, -29);
    c.lineTo(7, -29);
    c.lineTo(13, -20);
    if (!pose.ghost) c.fill();
    c.stroke();
    c.fillStyle = tint(pose, "ink");
    dot(c, -11, -5.5, 5.5);
    dot(c, 11, -5.5, 5.5);
    c.fillStyle = tint(pose, "agent");
    dot(c, -11, -5.5, 2);
    dot(c, 11, -5.5, 2);
    const push = throttle(body.action[0]!);
    if (!pose.ghost && !body.over && body.steps > 0 && Math.abs(push) > 0.03) {
      pen(c, push < 0 ? palette.minus : palette.plus, 2);
      const side = Math.sign(push);
      arrow(c, { x: side * 24, y: -13 }, side * (4 + 16 * Math.abs(push)), 0);
    }
    c.restore();
  },

  describe({ state, body }) {
    const [x = 0, speed = 0] = state;
    if (body.over && body.terminated) return "The single car is at the flag";
    const going = Math.abs(speed) < 0.002 ? "is at rest" : speed < 0 ? "rolls left" : "rolls right";
    return `The single car ${going} at ${minus(x.toFixed(2))}; the flag is at ${flag}`;
  },
});

const LEGEND: World["legend"] = ["little energy", "half the energy", "most of the energy", "enough for the flag"];

export const mountainCar: World = {
  name: "MountainCar",
  title: "An agent that learns to swing cars uphill",
  many: "cars",
  one: "car",
  lead: (environments) => `${environments} cars share one network. Their motor is weaker than the hill, so they must learn to swing.`,
  legend: LEGEND,
  returns: "here, −1 for each step until the flag, so −200 is a car that never arrived",
  returnsShort: "minus the steps to the flag; circles are tests, bars their ranges",
  invite: "The agent drives. Take the controls and reach the flag first.",
  controls: { left: 0, right: 2, rest: 1 },
  hues: ["minus", "hair", "plus"],
  turns: [],
  environments: () => new Hill(0.5),
  large: large(0.5, (action) => action - 1),
};

export const mountainCarContinuous: World = {
  ...mountainCar,
  name: "MountainCar, continuous",
  title: "An agent that learns to save throttle",
  lead: (environments) => `${environments} cars share one network. They must swing up to the flag with little throttle.`,
  returns: "here, 100 for the flag, minus a tenth of the throttle squared at each step",
  returnsShort: "100 minus the throttle used; circles are tests, bars their ranges",
  controls: {},
  hues: [],
  environments: () => new Hill(0.45),
  large: large(0.45, (action) => Math.max(-1, Math.min(1, action))),
};
