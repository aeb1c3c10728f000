// Acrobot: two links with a motor only between them. All from one bar as a fan, one by one in a grid, and a single one.

import { equation } from "../../../parts/equation";
import { palette } from "../../../parts/theme";
import { stroke } from "../../shared/canvas";
import type { Player } from "../player";
import {
  CLASSES,
  classBy,
  dot,
  fanAndGrid,
  MOST_RODS,
  PATHS,
  tint,
  torque,
  veil,
  type EnvironmentsPainter,
  type LargePainter,
  type Size,
  type World,
} from "./world";

/** Heights of the tip over the bar, in links, from which it takes the next colour. */
const HEIGHTS = [-1, 0, 0.8] as const;

class Fan implements EnvironmentsPainter {
  /** Directions of the two links, from hanging. */
  private first = new Float32Array(0);
  private second = new Float32Array(0);

  classOf(env: number, player: Player): number {
    const [cos1, sin1, cos2, sin2] = [player.seen(env, 0), player.seen(env, 1), player.seen(env, 2), player.seen(env, 3)];
    return classBy(-cos1 - (cos1 * cos2 - sin1 * sin2), HEIGHTS);
  }

  draw(c: CanvasRenderingContext2D, player: Player, size: Size, _nowMs: number, smooth: boolean): void {
    const { fan, columns, cell, x: left, y: top } = fanAndGrid(size, player.shown);
    if (this.first.length !== player.shown) [this.first, this.second] = [new Float32Array(player.shown), new Float32Array(player.shown)];
    const { first, second } = this;
    for (let env = 0; env < player.shown; env++) {
      first[env] = player.angle(env, 0, 1, smooth);
      second[env] = first[env]! + player.angle(env, 2, 3, smooth);
    }
    const link = fan.radius / 2;
    drawLine(c, fan.x - fan.radius, fan.x + fan.radius, fan.y - link);
    c.lineCap = c.lineJoin = "round";
    const small = cell * 0.235;
    for (let kind = 0; kind < 4; kind++) {
      c.strokeStyle = c.fillStyle = palette[CLASSES[kind]!];
      c.globalAlpha = veil(0.14 + 0.06 * kind, Math.min(player.shown, MOST_RODS));
      c.lineWidth = 1.6;
      for (let path = 0; path < PATHS; path++) {
        c.beginPath();
        // Beyond some, more rods tell no more; their tips do.
        for (let env = path; env < Math.min(player.shown, MOST_RODS); env += PATHS) {
          if (this.classOf(env, player) !== kind) continue;
          const [x, y] = [fan.x + link * Math.sin(first[env]!), fan.y + link * Math.cos(first[env]!)];
          c.moveTo(fan.x, fan.y);
          c.lineTo(x, y);
          c.lineTo(x + link * Math.sin(second[env]!), y + link * Math.cos(second[env]!));
        }
        c.stroke();
      }
      c.globalAlpha = veil(0.65, player.shown);
      c.beginPath();
      for (let env = 0; env < player.shown; env++) {
        if (this.classOf(env, player) !== kind) continue;
        const x = fan.x + link * (Math.sin(first[env]!) + Math.sin(second[env]!));
        const y = fan.y + link * (Math.cos(first[env]!) + Math.cos(second[env]!));
        c.moveTo(x + 2, y);
        c.arc(x, y, 2, 0, 7);
      }
      c.fill();
      c.globalAlpha = 1;
      c.lineWidth = Math.max(1.1, cell * 0.07);
      c.beginPath();
      for (let env = 0; env < player.shown; env++) {
        if (this.classOf(env, player) !== kind) continue;
        const x = left + ((env % columns) + 0.5) * cell;
        const y = top + (Math.floor(env / columns) + 0.5) * cell;
        const [kneeX, kneeY] = [x + small * Math.sin(first[env]!), y + small * Math.cos(first[env]!)];
        c.moveTo(x, y);
        c.lineTo(kneeX, kneeY);
        c.lineTo(kneeX + small * Math.sin(second[env]!), kneeY + small * Math.cos(second[env]!));
      }
      c.stroke();
    }
    c.fillStyle = palette.ink;
    dot(c, fan.x, fan.y, 3);
  }
}

/** The line that the tip has to pass. */
function drawLine(c: CanvasRenderingContext2D, from: number, to: number, y: number): void {
  c.strokeStyle = palette.accent;
  c.lineWidth = 1;
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
  scene(c, size) {
    const { x, y, link } = frame(size);
    drawLine(c, x - 2.2 * link, x + 2.2 * link, y - link);
    c.strokeStyle = palette.hair;
    c.lineWidth = 1;
    stroke(c, x - 0.5 * link, y, x + 0.5 * link, y);
  },

  body(c, size, pose) {
    const { x, y, link } = frame(size);
    const [a = 0, b = 0] = pose.state;
    const { body } = pose;
    const knee = { x: x + link * Math.sin(a), y: y + link * Math.cos(a) };
    const tip = { x: knee.x + link * Math.sin(a + b), y: knee.y + link * Math.cos(a + b) };
    c.lineCap = c.lineJoin = "round";
    c.strokeStyle = tint(pose, "ink");
    c.lineWidth = Math.max(4, link * 0.12);
    stroke(c, x, y, knee.x, knee.y, tip.x, tip.y);
    c.fillStyle = tint(pose, "accent");
    dot(c, tip.x, tip.y, Math.max(5, link * 0.1));
    c.fillStyle = palette.paper;
    dot(c, x, y, 2.5);
    dot(c, knee.x, knee.y, 2.5);
    if (pose.ghost || body.over || body.steps === 0 || body.action === 1) return;
    const side = body.action - 1;
    c.strokeStyle = side < 0 ? palette.minus : palette.plus;
    c.lineWidth = 2.5;
    // A positive torque turns the lower link counterclockwise.
    torque(c, knee, Math.max(12, link * 0.34), -side * 0.8);
  },

  describe({ state, body }) {
    if (body.over && body.terminated) return "The single acrobot's tip is above the line";
    const [a = 0, b = 0] = state;
    const height = -Math.cos(a) - Math.cos(a + b);
    return (
      `The single acrobot's tip is ${Math.abs(height).toFixed(1)} links ${height < 0 ? "below" : "above"} the bar; the line is 1 ` + `above`
    );
  },
};

export const acrobot: World = {
  name: "Acrobot",
  title: "Acrobots that learn to reach up",
  many: "acrobots",
  one: "acrobot",
  lead: (environments) => `${environments} acrobots share one network. Moving only at the hip, they learn to reach the line.`,
  soFar: (mean) => `Mean return so far: ${mean}.`,
  legend: ["tip far below", "below the bar", "above it", "at the line"],
  returns: "here, minus one for each step until the tip is above the line, so −500 is one that never got there",
  returnsShort: "minus the steps to the line; circles: tests",
  invite: "The agent bends it. Take the controls, and try to be above the line first.",
  explanation: {
    heading: "What am I seeing?",
    words:
      "At left all acrobots hang from one bar, so that their spread shows; at right each has its own place. Two links of the same " +
      "length, and the only motor sits between them: the network turns it one way, the other way, or lets it rest, five times in a " +
      "simulated second. Each step costs 1 until the tip is a link's length above the bar. Like a child on a swing, it has to bend in " +
      "time with its own swinging.",
    summary: "The goal and the physics",
    equation:
      equation("the goal", "− cos θ_1 − cos (θ_1 + θ_2) > 1") +
      "<p>Each link is 1 m long and weighs 1 kg, its mass in the middle; the torque is −1, 0 or 1 N·m, and a step of 0.2 s is one " +
      "step of Runge and Kutta's fourth order. As in Sutton, <cite>Generalization in reinforcement learning: successful examples " +
      "using sparse coarse coding</cite> (1996), with the equations of Sutton and Barto's book, and Gymnasium's Acrobot-v1.</p>",
  },
  controls: { left: 0, right: 2, rest: 1 },
  hues: ["minus", "hair", "plus"],
  turns: [0, 1],
  environments: () => new Fan(),
  large,
};
