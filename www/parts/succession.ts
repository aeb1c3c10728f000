// Replaces the current run by another run. Only one replacement is in progress at a time. Each replacement saves the previous run.

import type { Client } from "../run/client";
import type { Command, Value } from "../run/protocol";
import type { SavedRun } from "../run/store";
import { pageLife } from "./life";
import type { Pace } from "./pace";

/** Notice that offers to undo a replacement. `follow` is true if games and other interactions continue in the restored run. */
export type Ends = { words: string; follow: boolean };
/**
 * Options of a replacement. With `start` the new run trains even if the previous run was paused. With `ends` a notice offers to undo the
 * replacement.
 */
export type Replacing = { start?: boolean; ends?: Ends | undefined };

export const NEW_RUN: Ends = { words: "A new run began.", follow: true };

export class Succession {
  /** Save of the run that is being replaced; undefined if it could not be saved. */
  private leaving: SavedRun | undefined;
  private ends: Ends | undefined;
  private changing: Promise<unknown> = Promise.resolve();
  private readonly life = pageLife();

  constructor(
    private readonly client: Client,
    private readonly pace: Pace,
    /** Called after each replacement, even if the worker refused the replacement. */
    private readonly done: () => void,
  ) {}

  replace(command: Command, how: Replacing = {}): Promise<void> {
    return this.replaceBy(() => this.client.command(command), how);
  }

  replaceBy(begin: () => void | Promise<void>, { start, ends }: Replacing): Promise<void> {
    const done = this.changing
      .then(async () => {
        this.pace.hurry();
        this.leaving = await this.client.snapshot();
      })
      .catch(() => (this.leaving = undefined))
      .then(async () => {
        if (this.life.aborted) return;
        this.pace.keep();
        this.ends = ends;
        await begin();
        if (start) this.client.command({ kind: "start" });
        this.done();
      });
    this.changing = done.catch(() => {}); // the caller handles the rejection
    return done;
  }

  /** Changes a knob live, after all requested replacements. */
  change(name: string, value: Value): void {
    this.changing = this.changing.then(() => this.life.aborted || this.client.command({ kind: "set_knob", name, value }));
  }

  /** Returns the save of the previous run with the notice that offers to undo the replacement, and clears both. */
  take(): { left: SavedRun | undefined; ends: Ends | undefined } {
    const { leaving: left, ends } = this;
    this.leaving = this.ends = undefined;
    return { left, ends };
  }
}
