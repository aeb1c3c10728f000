// Acrobot: two links with a motor between them. The training environments are drawn as a fan from one pivot and as a grid. The stage shows
// a single environment.

import { palette } from "../../../parts/theme";
import { pen, stroke } from "../../../parts/canvas";
import { Fan, type Rods } from "./fan";
import { classBy, dot, tint, torque, type LargePainter, type Size, type World } from "./world";

/** Heights of the tip above the bar at which the colour of an acrobot changes, in link lengths. */
const HEIGHTS = [-1, 0, 0.8] as const;

const rods: Rods = {
  links: 2,
  classOf(env, player) {
    const [cos1, sin1, cos2, sin2] = [player.seen(env, 0), player.seen(env, 1), player.seen(env, 2), player.seen(env, 3)];
    return classBy(-cos1 - (cos1 * cos2 - sin1 * sin2), HEIGHTS);
  },
  angle: (player, env, link, smooth) => player.angle(env, 2 * link, 2 * link + 1, smooth),
  behind: (c, { x, y, radius }) => drawLine(c, x - radius, x + radius, y - radius / 2),
  fan: { alpha: 0.14, grows: 0.06, width: 1.6 },
  tip: { alpha: 0.65, radius: 2 },
  cell: { link: 0.235, width: 0.07, least: 1.1 },
};

/** Draws the line that the tip must reach. */
function drawLine(c: CanvasRenderingContext2D, from: number, to: number, y: number): void {
  pen(c, palette.agent, 1);
  c.setLineDash(DASH);
  stroke(c, from, y, to, y);
  c.setLineDash(SOLID);
}
const DASH = [4, 4];
const SOLID: number[] = [];

function frame({ width, height }: Size): { x: number; y: number; link: number } {
  const link = Math.min(width / 4, (height - 24) / 4);
  return { x: width / 2, y: height / 2, link };
}

const large: LargePainter = {
  shape: 1,

  scene(c, size) {
    const { x, y, link } = frame(size);
    drawLine(c, x - 2.2 * link, x + 2.2 * link, y - link);
    pen(c, palette.hair, 1);
    stroke(c, x - 0.5 * link, y, x + 0.5 * link, y);
  },

  body(c, size, pose) {
    const { x, y, link } = frame(size);
    const [a = 0, b = 0] = pose.state;
    const { body } = pose;
    const knee = { x: x + link * Math.sin(a), y: y + link * Math.cos(a) };
    const tip = { x: knee.x + link * Math.sin(a + b), y: knee.y + link * Math.cos(a + b) };
    c.lineCap = c.lineJoin = "round";
    pen(c, tint(pose, "ink"), Math.max(4, link * 0.12));
    stroke(c, x, y, knee.x, knee.y, tip.x, tip.y);
    c.fillStyle = tint(pose, "agent");
    dot(c, tip.x, tip.y, Math.max(5, link * 0.1));
    c.fillStyle = palette.raised;
    dot(c, x, y, 2.5);
    dot(c, knee.x, knee.y, 2.5);
    if (pose.ghost || body.over || body.steps === 0 || body.action[0] === 1) return;
    const side = body.action[0]! - 1;
    pen(c, side < 0 ? palette.minus : palette.plus, 2.5);
    // A positive torque turns the lower link counterclockwise.
    torque(c, knee, Math.max(12, link * 0.34), -side * 0.8);
  },

  describe({ state, body }) {
    if (body.over && body.terminated) return "The single acrobot's tip is above the line";
    const [a = 0, b = 0] = state;
    const height = -Math.cos(a) - Math.cos(a + b);
    const links = `${Math.abs(height).toFixed(1)} links ${height < 0 ? "below" : "above"}`;
    return `The single acrobot's tip is ${links} the bar; the line is 1 link above it`;
  },
};

export const acrobot: World = {
  name: "Acrobot",
  title: "An agent that learns to swing acrobots up",
  many: "acrobots",
  one: "acrobot",
  lead: (environments) =>
    `${environments} acrobots share one network. A motor bends only their middle joint. They learn to reach the line.`,
  legend: ["tip far below", "below the bar", "above the bar", "at the line"],
  returns: "here, −1 for each step until the tip is above the line, so −500 is an attempt that never reached it",
  returnsShort: "minus the steps to the line; circles are tests, bars their ranges",
  invite: "The agent acts. Take the controls and reach the line first.",
  controls: { left: 0, right: 2, rest: 1 },
  hues: ["minus", "hair", "plus"],
  turns: [0, 1],
  environments: () => new Fan(rods),
  large,
};
