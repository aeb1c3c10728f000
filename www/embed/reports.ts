// Reports of the run to the outer page.

import type { Client } from "../run/client";
import type { Standing as Reported } from "../element/messages";
import type { Column, Event as RunEvent, Progress, Standing } from "../run/protocol";
import type { History } from "../parts/history";
import { untilClosed } from "../parts/life";
import { tell } from "./outer";

/** Minimum time between two reports of progress. */
const PROGRESS_MS = 100;

type Numbers = Record<string, number | null>;

export class Reports {
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The class calls `linked` with the address at which the page of Hothouse opens the run. */
  constructor(
    private readonly client: Client,
    private readonly linked: (href: string) => void,
  ) {
    untilClosed(() => clearTimeout(this.timer));
  }

  take(event: RunEvent, present: History | undefined): void {
    if (event.kind === "began") void this.began();
    else if (event.kind === "mark") void this.link();
    else if (event.kind === "metrics" || event.kind === "standing") this.timer ??= setTimeout(() => this.progress(present), PROGRESS_MS);
    else if (event.kind === "solved") tell({ kind: "solved", detail: { ...this.place(event.progress), goal: event.goal } });
  }

  private async began(): Promise<void> {
    const link = await this.link();
    const { backend, room, variant } = this.client;
    const { threads } = backend;
    tell({ kind: "began", detail: { room: room.id, variant: variant.id, link, threads, isolated: crossOriginIsolated } });
  }

  /** Requests the link to the run, passes it to `linked`, and returns it. */
  private async link(): Promise<string> {
    const { address } = await this.client.shared();
    this.linked(`./${address}`);
    return address;
  }

  private progress(present: History | undefined): void {
    this.timer = undefined;
    if (!present) return;
    const { metrics, tests } = this.client.room;
    const test = present.tests.at(-1);
    const standing = present.standing.value;
    tell({
      kind: "progress",
      detail: {
        ...this.place(present.progress),
        metrics: Object.fromEntries(metrics.map(({ name }) => [name, present.latest(name) ?? null])),
        tests: test ? named(tests, test.values) : {},
        standing: standing ? standingOf(standing) : null,
      },
    });
  }

  private place({ iteration, counts, train_s }: Progress): { iteration: number; counts: Record<string, number>; trainSeconds: number } {
    return { iteration, counts: named(this.client.room.counters, counts) as Record<string, number>, trainSeconds: train_s };
  }
}

const standingOf = ({ state, words, name, value, number }: Standing): Reported => ({ state, words, name, value, number });

const named = (columns: Column[], values: (number | null)[]): Numbers =>
  Object.fromEntries(columns.map(({ name }, k) => [name, values[k] ?? null]));
