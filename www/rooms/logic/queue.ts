// Sends requests about a grid to the worker, one at a time. A request for a new grid is sent before damage, and damage is sent before
// steps.

import { Turns } from "../../parts/requests";
import type { Chosen } from "./client";
import type { GridView, Question } from "./protocol";
import { pageLife } from "../../parts/life";

export type Ask<K> = Question & { ask: K };
export type Spot = { x: number; y: number };

/** Maximum number of waiting damage requests. A limit is needed, because a pointer can create requests faster than the worker answers. */
const MOST_DAMAGES = 200;

export class GridQueue {
  renewing = true;
  asking = false;
  private readonly damages: Spot[] = [];
  private steps = 0;
  private readonly grids = new Turns();
  private readonly life = pageLife();

  constructor(
    private readonly chosen: Chosen,
    private readonly callbacks: {
      begin(): Ask<"grid">;
      damage(spot: Spot): Ask<"damage">;
      took(view: GridView, fresh: boolean): void;
      failed(error: unknown): void;
    },
  ) {}

  /** Requests a new grid and drops the waiting requests for the current grid. */
  renew(): void {
    this.grids.take();
    this.damages.length = this.steps = 0;
    this.renewing = true;
    this.pump();
  }

  damage(spot: Spot): void {
    if (this.damages.length < MOST_DAMAGES) this.damages.push(spot);
    this.pump();
  }

  step(steps: number): void {
    this.steps = steps;
    this.pump();
  }

  pump(): void {
    if (this.asking || this.life.aborted) return;
    const damage = this.renewing ? undefined : this.damages.shift();
    if (this.renewing) {
      this.renewing = false;
      this.ask(this.callbacks.begin());
    } else if (damage) this.ask(this.callbacks.damage(damage));
    else if (this.steps > 0) {
      this.ask({ ask: "advance", steps: this.steps });
      this.steps = 0;
    }
  }

  private ask(question: Ask<"grid" | "advance" | "damage">): void {
    this.asking = true;
    const stale = this.grids.stale();
    const fresh = question.ask === "grid";
    this.chosen
      .ask(question)
      .then((view) => (fresh ? !this.life.aborted : !stale()) && this.callbacks.took(view, fresh))
      .catch((error: unknown) => stale() || this.callbacks.failed(error))
      .finally(() => {
        this.asking = false;
        if (this.renewing || this.damages.length) this.pump();
      });
  }
}
