// The speed of training that the visitor selects, in rooms whose simulations have a real-time speed.

import type { Client } from "../run/client";
import { SPEEDS } from "./transport";

export class Pace {
  private speed = SPEEDS.length - 1;

  constructor(
    private readonly client: Client,
    /** Returns the growth of the first counter per second at real-time speed. */
    private readonly realTime: () => number,
  ) {}

  choose(speed: number): void {
    this.speed = speed;
    this.keep();
  }

  /** Applies the selected speed. Called again when a run begins, because `realTime` may have changed. */
  keep(): void {
    const { times } = SPEEDS[this.speed]!;
    this.client.setSpeed(times === null ? null : times * this.realTime());
  }

  /** Removes the speed limit before a save. The save waits for the end of the iteration, which would take long at a limited speed. */
  hurry(): void {
    this.client.setSpeed(null);
  }
}
