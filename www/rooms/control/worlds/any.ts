// World of an environment that has no drawings of its own. The observations of the training environments are drawn as lines. The
// observation of the stage's environment is drawn as bars.

import type { Environment } from "../protocol";
import { figure, minus } from "../../../parts/format";
import { palette } from "../../../parts/theme";
import { font, pen, segment, stroke, strokes } from "../../../parts/canvas";
import type { Player } from "../player";
import { classBy, CLASSES, tint, veil, type EnvironmentsPainter, type LargePainter, type Size, type World } from "./world";

export const AGES = [10, 50, 200] as const;

/** Draws each environment as a line across the features of its observation. Each feature has its own scale. */
class Lines implements EnvironmentsPainter {
  private readonly low: number[] = [];
  private readonly high: number[] = [];

  classOf(env: number, player: Player): number {
    return classBy(player.age[env]!, AGES);
  }

  draw(c: CanvasRenderingContext2D, player: Player, { width, height }: Size, _nowMs: number, smooth: boolean): void {
    const { features } = player;
    for (let env = 0; env < player.shown; env++)
      for (let k = 0; k < features; k++) {
        const value = player.seen(env, k);
        this.low[k] = Math.min(this.low[k] ?? value, value);
        this.high[k] = Math.max(this.high[k] ?? value, value);
      }
    const across = (k: number): number => 1 + (k / Math.max(1, features - 1)) * (width - 2);
    pen(c, palette.hair, 1);
    strokes(c, features, (k) => segment(c, across(k), 8, across(k), height - 8));
    c.lineWidth = 1.2;
    c.lineJoin = "round";
    c.globalAlpha = veil(0.3, player.shown);
    for (let kind = 0; kind < 4; kind++) {
      c.strokeStyle = palette[CLASSES[kind]!];
      for (let env = 0; env < player.shown; env++)
        if (this.classOf(env, player) === kind)
          strokes(c, features, (k) => {
            const share = (player.value(env, k, smooth) - this.low[k]!) / Math.max(1e-9, this.high[k]! - this.low[k]!);
            c.lineTo(across(k), 8 + (height - 16) * (1 - share));
          });
    }
    c.globalAlpha = 1;
  }
}

/** Space above the bars for a message, in px. */
const TOP = 32;
/** Position of zero and maximum length of a bar, as shares of the width. The names of the features are to the left of the bars. */
const [ZERO, REACH] = [0.7, 0.28];

const bars = (environment: Environment): LargePainter => ({
  shape: 0.5,

  scene(c, { width, height }) {
    pen(c, palette.hair, 1);
    stroke(c, width * ZERO, TOP, width * ZERO, height - 8);
  },
  body(c, { width, height }, pose) {
    const { observation } = pose.body;
    const step = (height - TOP - 8) / Math.max(1, observation.length);
    observation.forEach((value, k) => {
      const y = TOP + (k + 0.5) * step;
      const length = Math.tanh(value) * width * REACH;
      c.fillStyle = tint(pose, "agent");
      c.globalAlpha = pose.ghost ? 0.5 : 1;
      c.fillRect(width * ZERO, y - (pose.ghost ? 1 : 4), length, pose.ghost ? 2 : 8);
      c.globalAlpha = 1;
      if (pose.ghost) return;
      c.fillStyle = palette.muted;
      c.font = font(12);
      c.textAlign = "left";
      c.fillText(`${environment.observation[k] ?? k}: ${figure(value)}`, 8, y + 4, width * (ZERO - REACH) - 16);
    });
  },
  describe: (pose) => pose.body.observation.map((value, k) => `${environment.observation[k] ?? k} ${figure(value)}`).join(", "),
});

export function any(environment: Environment): World {
  const name = environment.id.replace(/-v\d+$/, "");
  const last = environment.choices.length - 1;
  return {
    name,
    title: `${name}: many copies learn`,
    many: "environments",
    one: "environment",
    lead: (environments) => `${environments} environments share one network, which learns to ${environment.summary}.`,
    legend: ["just begun", "10 steps", "50 steps", "200 steps or more"],
    returns: `here, from about ${minus(environment.returns.join(" to "))}`,
    returnsShort: "rewards of an episode; circles are tests, bars their ranges",
    invite: "The agent acts. Take the controls with the arrow keys.",
    inviteTouch: "The agent acts. Take the controls.",
    controls: last > 0 ? { left: 0, right: last, ...(last > 1 ? { rest: 1 } : {}) } : {},
    hues: [],
    turns: [],
    environments: () => new Lines(),
    large: bars(environment),
  };
}
