// Draws the training environments of a pendulum with one or more links. A rod is the chain of links of one environment. On the left, all
// rods form a fan from one pivot. On the right, the same rods are separate in a grid.

import { palette } from "../../../parts/theme";
import type { Player } from "../player";
import { CLASSES, dot, PATHS, veil, type EnvironmentsPainter, type Size } from "./world";

/** Maximum number of rods whose lines are drawn in the fan. The tips of all rods are drawn. */
const MOST_RODS = 768;

export type Circle = { x: number; y: number; radius: number };

export interface Rods {
  links: number;
  classOf: EnvironmentsPainter["classOf"];
  /** Returns the angle between a link and the previous link. The angle of the first link is measured from the hanging position. */
  angle(player: Player, env: number, link: number, smooth: boolean): number;
  behind(c: CanvasRenderingContext2D, fan: Circle): void;
  /** Style of the rods in the fan: opacity of class 0, increase of the opacity per class, and line width in px. */
  fan: { alpha: number; grows: number; width: number };
  tip: { alpha: number; radius: number };
  /** Style of the rods in the grid: link length and line width as shares of a cell, and the minimum line width in px. */
  cell: { link: number; width: number; least: number };
}

export class Fan implements EnvironmentsPainter {
  readonly classOf: EnvironmentsPainter["classOf"];
  /** Angles of all links, measured from the hanging position, in radians. The angles of one environment are consecutive. */
  private angles = new Float32Array(0);

  constructor(private readonly rods: Rods) {
    this.classOf = rods.classOf;
  }

  draw(c: CanvasRenderingContext2D, player: Player, size: Size, _nowMs: number, smooth: boolean): void {
    const { fan, columns, cell, x, y } = fanAndGrid(size, player.shown);
    const { rods } = this;
    this.pose(player, smooth);
    rods.behind(c, fan);
    c.lineCap = c.lineJoin = "round";
    for (let kind = 0; kind < 4; kind++) {
      c.strokeStyle = c.fillStyle = palette[CLASSES[kind]!];
      this.drawFan(c, player, fan, kind);
      c.globalAlpha = 1;
      c.lineWidth = Math.max(rods.cell.least, cell * rods.cell.width);
      c.beginPath();
      for (let env = 0; env < player.shown; env++)
        if (this.classOf(env, player) === kind)
          this.trace(c, env, x + ((env % columns) + 0.5) * cell, y + (Math.floor(env / columns) + 0.5) * cell, cell * rods.cell.link);
      c.stroke();
    }
    c.fillStyle = palette.ink;
    dot(c, fan.x, fan.y, 3);
  }

  private pose(player: Player, smooth: boolean): void {
    const { links } = this.rods;
    if (this.angles.length !== links * player.shown) this.angles = new Float32Array(links * player.shown);
    for (let env = 0; env < player.shown; env++) {
      let angle = 0;
      for (let link = 0; link < links; link++) this.angles[env * links + link] = angle += this.rods.angle(player, env, link, smooth);
    }
  }

  private drawFan(c: CanvasRenderingContext2D, player: Player, fan: Circle, kind: number): void {
    const { rods } = this;
    const link = fan.radius / rods.links;
    const drawn = Math.min(player.shown, MOST_RODS);
    c.globalAlpha = veil(rods.fan.alpha + rods.fan.grows * kind, drawn);
    c.lineWidth = rods.fan.width;
    for (let path = 0; path < PATHS; path++) {
      c.beginPath();
      for (let env = path; env < drawn; env += PATHS) if (this.classOf(env, player) === kind) this.trace(c, env, fan.x, fan.y, link);
      c.stroke();
    }
    c.globalAlpha = veil(rods.tip.alpha, player.shown);
    c.beginPath();
    for (let env = 0; env < player.shown; env++) {
      if (this.classOf(env, player) !== kind) continue;
      const [x, y] = [fan.x + link * this.reach(env, Math.sin), fan.y + link * this.reach(env, Math.cos)];
      c.moveTo(x + rods.tip.radius, y);
      c.arc(x, y, rods.tip.radius, 0, 7);
    }
    c.fill();
  }

  private trace(c: CanvasRenderingContext2D, env: number, x: number, y: number, length: number): void {
    const { links } = this.rods;
    c.moveTo(x, y);
    for (let link = 0; link < links; link++) {
      const angle = this.angles[env * links + link]!;
      c.lineTo((x += length * Math.sin(angle)), (y += length * Math.cos(angle)));
    }
  }

  /**
   * Returns one coordinate of a rod's tip relative to the pivot, in link lengths. `way` is the sine for the horizontal coordinate, or the
   * cosine for the vertical one.
   */
  private reach(env: number, way: (angle: number) => number): number {
    const { links } = this.rods;
    let sum = 0;
    for (let link = 0; link < links; link++) sum += way(this.angles[env * links + link]!);
    return sum;
  }
}

function fanAndGrid({ width, height }: Size, shown: number): { fan: Circle; columns: number; cell: number; x: number; y: number } {
  const side = Math.min(height, width * 0.46);
  const room = width - side - 16;
  let columns = Math.max(1, Math.round(Math.sqrt((shown * room) / Math.max(1, height))));
  while (columns < shown && Math.ceil(shown / columns) * (room / columns) > height) columns++;
  const cell = room / columns;
  const y = Math.max(0, (height - Math.ceil(shown / columns) * cell) / 2);
  return { fan: { x: side / 2, y: height / 2, radius: side / 2 - 8 }, columns, cell, x: side + 16, y };
}
