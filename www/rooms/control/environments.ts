// The training environments on one canvas, drawn by the painter of their world (see `worlds/world.ts`).

import type { Frame } from "./protocol";
import { animate, calm, Surface } from "../../parts/loop";
import { onTheme } from "../../parts/theme";
import { Asker } from "../../parts/requests";
import { Player, type Listener } from "./player";
import { tally, type EnvironmentsPainter, type World } from "./worlds/world";

const CALM_MS = 500;

export class EnvironmentsView {
  readonly element = document.createElement("canvas");
  private readonly surface: Surface;
  private readonly player: Player;
  private painter: EnvironmentsPainter | undefined;
  private readonly asker = new Asker();
  private lastMs = 0;
  private drewMs = -Infinity;

  /** `visits` is called after each played step. `next` requests the frame with the steps since the previous call of `next`. */
  constructor(
    visits: (player: Player) => void,
    private readonly next: () => Promise<Frame>,
  ) {
    this.element.setAttribute("role", "img");
    this.element.setAttribute("aria-label", "Training environments; none yet");
    const own: Listener = {
      stepped: () => visits(this.player),
      ended: (env) => this.painter?.ended?.(env, this.player, this.lastMs),
    };
    this.player = new Player([own]);
    this.surface = new Surface(this.element, () => this.redraw());
    animate(this.element, (nowMs) => this.draw(nowMs));
    onTheme(() => this.redraw());
  }

  /** Prepares the canvas for a new run, whose world may differ from the previous one. Drops frames that have not been played. */
  begin(world: World): void {
    this.painter = world.environments();
    this.player.clear();
    this.redraw();
  }

  /** Requests the next frame, unless a request is pending. */
  private pull(): void {
    this.asker.ask(this.next, (frame) => this.player.push(frame, performance.now()));
  }

  get shown(): number {
    return this.player.shown;
  }

  want(most: number): void {
    this.player.want(most);
    this.redraw();
  }

  get most(): number {
    return this.player.most;
  }

  /** Returns the number of environments whose class is `kind` or higher. */
  from(kind: number): number {
    return this.painter ? tally(this.player, this.painter, kind) : 0;
  }

  private redraw(): void {
    this.drewMs = -Infinity;
  }

  /** Requests frames and plays their steps. Called before each drawing of a view that shows the environments. */
  play(nowMs: number): void {
    const passedS = Math.min(0.1, (nowMs - this.lastMs) / 1000);
    this.lastMs = nowMs;
    this.pull();
    this.player.advance(passedS);
  }

  private draw(nowMs: number): void {
    this.play(nowMs);
    if (this.surface.width === 0) return; // the tab has just been hidden
    const still = calm();
    // With reduced motion, the canvas is drawn twice a second and without interpolation.
    if (still && nowMs - this.drewMs < CALM_MS) return;
    this.drewMs = nowMs;
    const c = this.surface.begin();
    if (this.player.shown > 0) this.painter?.draw(c, this.player, this.surface, nowMs, !still);
  }
}
