// Records how often the environments recently visited each cell of the state plane.

import { rgb } from "../../parts/theme";
import { along, share, type Box } from "./axes";
import type { Player } from "./player";
import type { Axis } from "./protocol";

const CELLS = { width: 96, height: 72 };
/** Half-life of a visit's weight, in seconds. */
const FADE_S = 1.6;

export class Density {
  private readonly counts = new Float32Array(CELLS.width * CELLS.height);
  private readonly pixels = new ImageData(CELLS.width, CELLS.height);
  private readonly canvas = Object.assign(document.createElement("canvas"), CELLS);
  private fadedMs = 0;

  clear(): void {
    this.counts.fill(0);
  }

  count([x, y]: [Axis, Axis], player: Player): void {
    for (let env = 0; env < player.shown; env++) {
      const column = Math.floor(share(x, along(x, player, env)) * CELLS.width);
      const row = Math.floor(share(y, along(y, player, env)) * CELLS.height);
      if (column >= 0 && column < CELLS.width && row >= 0 && row < CELLS.height) this.counts[row * CELLS.width + column]!++;
    }
  }

  fade(nowMs: number): void {
    const passedS = Math.min(2, (nowMs - this.fadedMs) / 1000);
    this.fadedMs = nowMs;
    const kept = 0.5 ** (passedS / FADE_S);
    for (let cell = 0; cell < this.counts.length; cell++) this.counts[cell]! *= kept;
  }

  /**
   * Formats the percentage of visits for one point of a table. Each visit belongs to the nearest point of the table. The table has `points`
   * rows and columns. `across` and `up` are the point's position, from 0 to 1. Returns an empty string if there are no visits.
   */
  near(across: number, up: number, points: number): string {
    const nearest = (k: number, of: number): number => Math.round(((k + 0.5) / of) * (points - 1));
    let [here, all] = [0, 0];
    this.counts.forEach((count, cell) => {
      all += count;
      const [column, row] = [cell % CELLS.width, Math.floor(cell / CELLS.width)];
      const inside = nearest(column, CELLS.width) === across * (points - 1) && nearest(row, CELLS.height) === up * (points - 1);
      if (inside) here += count;
    });
    return all > 0 ? `${Math.round((100 * here) / all)}%` : "";
  }

  draw(c: CanvasRenderingContext2D, box: Box): void {
    const { data } = this.pixels;
    let most = 4;
    for (const count of this.counts) most = Math.max(most, count);
    const [red, green, blue] = rgb("agent");
    this.counts.forEach((count, cell) => {
      const at = 4 * ((CELLS.height - 1 - Math.floor(cell / CELLS.width)) * CELLS.width + (cell % CELLS.width));
      data[at] = red;
      data[at + 1] = green;
      data[at + 2] = blue;
      // The square root makes rarely visited cells visible.
      data[at + 3] = 255 * Math.sqrt(count / most);
    });
    this.canvas.getContext("2d")!.putImageData(this.pixels, 0, 0);
    c.imageSmoothingEnabled = true;
    c.drawImage(this.canvas, box.left, box.top, box.width, box.height);
  }
}
