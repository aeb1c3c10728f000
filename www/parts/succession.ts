// How one run takes the place of another: one after the other, each with the run before it kept as it was. It refuses to know what is
// shown of them.

import type { Client } from "../run/client";
import type { Command, Value } from "../run/protocol";
import type { Left } from "../run/store";
import { pageLife } from "./life";
import type { Pace } from "./pace";

/** What ends a run that one may go back to, in words; and whether what a person does beside it, as a game, goes on in the new one. */
export type Ends = { words: string; follow: boolean };
/** How a run takes the place of another: it also starts; and what ended the one before, where that can be undone. */
export type Replacing = { start?: boolean; ends?: Ends | undefined };

export const NEW_RUN: Ends = { words: "A new run began.", follow: true };

export class Succession {
  /** The present run as it is about to become the one before, and what ends it. */
  private leaving: Left | undefined;
  private ends: Ends | undefined;
  private changing: Promise<unknown> = Promise.resolve();
  private readonly life = pageLife();

  constructor(
    private readonly client: Client,
    private readonly pace: Pace,
    /** A run took the place of another, or was refused. */
    private readonly done: () => void,
  ) {}

  replace(command: Command, how: Replacing = {}): Promise<void> {
    return this.replaceBy(() => this.client.command(command), how);
  }

  replaceBy(does: () => void | Promise<void>, { start, ends }: Replacing): Promise<void> {
    const done = this.changing
      .then(async () => {
        this.pace.hurry();
        this.leaving = await this.client.whole();
      })
      .catch(() => (this.leaving = undefined))
      .then(async () => {
        if (this.life.aborted) return;
        this.pace.keep();
        this.ends = ends;
        await does();
        if (start) this.client.command({ kind: "start" });
        this.done();
      });
    this.changing = done.catch(() => {}); // who asked for it is told
    return done;
  }

  /** A live change of a knob, in the run that is about to begin where there is one. */
  change(name: string, value: Value): void {
    this.changing = this.changing.then(() => this.life.aborted || this.client.command({ kind: "set_knob", name, value }));
  }

  /** A run has begun: what was kept of the one before, once. */
  take(): { left: Left | undefined; ends: Ends | undefined } {
    const { leaving: left, ends } = this;
    this.leaving = this.ends = undefined;
    return { left, ends };
  }
}
