// The crowd of an environment from a file: small pictures side by side, in which the current policy acts.

import { animate, calm, Surface } from "../../../parts/loop";
import { Asker } from "../../../parts/requests";
import { palette } from "../../../parts/theme";
import { paint } from "../own/paint";
import type { Crowd, Tile } from "../protocol";
import { CLASSES, type CrowdPictures } from "./world";

/** Minimum time between two requests, in ms. With reduced motion, the pictures change once a second. */
const EVERY_MS = 50;
const CALM_MS = 1000;
/** Space between two pictures, and width of a picture's frame, in px. */
const GAP = 6;
const FRAME = 2;

/** Returns the number of columns with which `count` pictures of the given proportions are largest. */
function columnsOf(count: number, [w, h]: [number, number], { width, height }: { width: number; height: number }): number {
  const scale = (columns: number): number => Math.min((width / columns - GAP) / w, (height / Math.ceil(count / columns) - GAP) / h);
  let best = 1;
  for (let columns = 2; columns <= count; columns++) if (scale(columns) > scale(best)) best = columns;
  return best;
}

export class Tiles implements CrowdPictures {
  readonly element = document.createElement("canvas");
  count = 0;
  private readonly surface = new Surface(this.element, () => this.draw());
  private readonly asker = new Asker(() => (calm() ? CALM_MS : EVERY_MS));
  private readonly tiles: Tile[] = [];
  private askedMs = 0;
  private readonly stop: () => void;

  /** `classOf` returns the class of progress after a number of steps. `ask` advances the environments by `dt_s` seconds. */
  constructor(
    private readonly size: [number, number],
    private readonly classOf: (steps: number) => number,
    ask: (dt_s: number) => Promise<Crowd>,
  ) {
    this.element.setAttribute("role", "img");
    this.stop = animate(this.element, (nowMs) => {
      const dt_s = (nowMs - this.askedMs) / 1000;
      const question = () => ask(dt_s);
      if (this.asker.ask(question, (crowd) => this.take(crowd))) this.askedMs = nowMs;
    });
  }

  from(kind: number): number {
    return this.tiles.filter(({ steps }) => this.classOf(steps) >= kind).length;
  }

  close(): void {
    this.stop();
    this.surface.close();
  }

  private take({ count, tiles }: Crowd): void {
    this.count = count;
    for (const tile of tiles) this.tiles[tile.env] = tile;
    this.draw();
  }

  private draw(): void {
    const { surface, size } = this;
    if (!this.count || !surface.width || !surface.height) return;
    const c = surface.begin();
    const ratio = this.element.width / surface.width;
    const columns = columnsOf(this.count, size, surface);
    const [width, height] = [surface.width / columns, surface.height / Math.ceil(this.count / columns)];
    const scale = Math.min((width - GAP) / size[0], (height - GAP) / size[1]);
    const [w, h] = [size[0] * scale, size[1] * scale];
    this.tiles.forEach(({ env, steps, shapes }) => {
      const [left, top] = [(env % columns) * width + (width - w) / 2, Math.floor(env / columns) * height + (height - h) / 2];
      c.fillStyle = palette[CLASSES[this.classOf(steps)]!];
      c.fillRect(left - FRAME, top - FRAME, w + 2 * FRAME, h + 2 * FRAME);
      paint(c, { size, shapes }, { left: left * ratio, top: top * ratio, width: w * ratio, height: h * ratio });
    });
  }
}
