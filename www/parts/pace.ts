// How fast a run is wished to go, where its room knows a real time.

import type { Client } from "../run/client";
import { SPEEDS } from "./transport";

export class Pace {
  private speed = SPEEDS.length - 1;

  constructor(
    private readonly client: Client,
    /** How fast the first counter grows in real time. */
    private readonly realTime: () => number,
  ) {}

  choose(speed: number): void {
    this.speed = speed;
    this.keep();
  }

  /** The chosen speed holds again, or anew where another run has another real time. */
  keep(): void {
    const { times } = SPEEDS[this.speed]!;
    this.client.setSpeed(times === null ? null : times * this.realTime());
  }

  /** A save waits for the end of the iteration, which at real time is far. */
  hurry(): void {
    this.client.setSpeed(null);
  }
}
