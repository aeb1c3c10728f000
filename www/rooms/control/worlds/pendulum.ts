// Pendulum: the training environments are drawn as rods, in a fan from one pivot and again in a grid. The stage shows a single pendulum.

import { palette } from "../../../parts/theme";
import { pen, stroke } from "../../../parts/canvas";
import { Fan, type Rods } from "./fan";
import { classBy, dot, tint, torque, type LargePainter, type Size, type World } from "./world";

const MOST_NM = 2;
/**
 * Angles from upright at which the colour of a rod changes, in radians. They are negative, so that a larger number is nearer to upright.
 */
const ANGLES = [(-3 / 4) * Math.PI, -Math.PI / 2, -0.25] as const;

const rods: Rods = {
  links: 1,
  classOf: (env, player) => classBy(-Math.abs(Math.atan2(player.seen(env, 1), player.seen(env, 0))), ANGLES),
  // The observed angle is measured from upright, but `Fan` needs the angle from the hanging position.
  angle: (player, env, _, smooth) => Math.PI - player.angle(env, 0, 1, smooth),
  behind: (c, { x, y, radius }) => circle(c, x, y, radius, palette.hair),
  fan: { alpha: 0.16, grows: 0.03, width: 2 },
  tip: { alpha: 0.6, radius: 2.2 },
  cell: { link: 0.42, width: 0.08, least: 1.2 },
};

function circle(c: CanvasRenderingContext2D, x: number, y: number, radius: number, colour: string): void {
  pen(c, colour, 1);
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.stroke();
}

function frame({ width, height }: Size): { x: number; y: number; rod: number } {
  return { x: width / 2, y: height / 2, rod: Math.min(width / 2, height / 2) - 14 };
}

const large: LargePainter = {
  shape: 1,

  scene(c, size) {
    const { x, y, rod } = frame(size);
    circle(c, x, y, rod, palette.hair);
    // Marks the goal, the upright position.
    pen(c, palette.agent, 2);
    stroke(c, x, y - rod - 9, x, y - rod - 3);
  },

  body(c, size, pose) {
    const { x, y, rod } = frame(size);
    const [theta = 0] = pose.state;
    const { body } = pose;
    const tip = { x: x + rod * Math.sin(theta), y: y - rod * Math.cos(theta) };
    c.lineCap = "round";
    pen(c, tint(pose, "ink"), Math.max(6, rod * 0.11));
    stroke(c, x, y, tip.x, tip.y);
    c.fillStyle = tint(pose, "agent");
    dot(c, tip.x, tip.y, Math.max(5, rod * 0.075));
    c.fillStyle = palette.raised;
    dot(c, x, y, 3);
    if (pose.ghost || body.over || body.steps === 0) return;
    const share = Math.max(-1, Math.min(1, body.action[0]! / MOST_NM));
    pen(c, share < 0 ? palette.minus : palette.plus, 2.5);
    torque(c, { x, y }, rod * 0.36, share);
  },

  describe({ state }) {
    const [theta = 0] = state;
    const degrees = Math.atan2(Math.sin(theta), Math.cos(theta)) * (180 / Math.PI);
    return `The single rod is ${Math.abs(degrees).toFixed(0)} degrees ${degrees < 0 ? "left" : "right"} of upright`;
  },
};

export const pendulum: World = {
  name: "Pendulum",
  title: "An agent that learns to balance rods",
  many: "rods",
  one: "rod",
  lead: (environments) => `${environments} rods share one network, which learns to swing them up with a weak motor and to hold them.`,
  legend: ["hanging", "lower half", "upper half", "upright"],
  returns: "here, minus the cost of the angle, the speed and the torque over 200 steps; a rod that only hangs gets about −1,200",
  returnsShort: "minus the cost; circles are tests, bars their ranges",
  invite: "The agent acts. Take the controls and hold the rod upright.",
  controls: {},
  hues: [],
  turns: [0],
  environments: () => new Fan(rods),
  large,
};
