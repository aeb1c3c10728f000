// The trained run, which exists beside the run of the page. It is a checkpoint whose agent answers questions and never trains.

import type { Command, Event, Shared } from "./protocol";

/**
 * The functions of a run in wasm that the trained run uses. A restored run is paused. A paused run advances searches but does not train.
 */
export interface Answering {
  ask(question: { ask: string }): unknown;
  advance(nowS: number): boolean;
  events(): Event[] | undefined;
  command(command: Command): void;
  shared(): Shared;
  free(): void;
}

/** Run that answers a question: the run of the page, or the trained run. */
export type Answerer = "own" | "trained";

/** Notice that refuses a question to the trained run if no trained run is loaded. */
const MISSING: Event = {
  kind: "notice",
  level: "warning",
  text: "The trained agent is not loaded.",
  next_step: "Choose your own agent.",
};

export class TrainedRun {
  private run: Answering | undefined;
  /** True from a question until a slice finds no work to do. */
  private busy = false;

  /** `post` receives the room's events of the trained run, such as the progress of a search. */
  constructor(private readonly post: (events: Event[]) => void) {}

  load(run: Answering): Shared {
    this.drop();
    this.run = run;
    run.events(); // the events of the beginning
    return run.shared();
  }

  drop(): void {
    this.run?.free();
    this.run = undefined;
    this.busy = false;
  }

  ask(question: { ask: string }): unknown {
    if (!this.run) throw MISSING;
    this.busy = true;
    return this.run.ask(question);
  }

  /** Returns a save of the trained run with the room's interactions, such as a match. */
  save(): Uint8Array {
    const { run } = this;
    if (!run) throw MISSING;
    run.command({ kind: "save" });
    const events = run.events() ?? [];
    this.pass(events);
    for (const event of events) {
      if (event.kind === "saved") return event.bytes as Uint8Array;
      if (event.kind === "not_saved") throw event;
    }
    throw MISSING;
  }

  /** Advances a search by one slice. Returns false if no search is left to advance. */
  advance(nowS: number): boolean {
    const { run } = this;
    if (!run || !this.busy) return false;
    this.busy = run.advance(nowS);
    this.pass(run.events() ?? []);
    return this.busy;
  }

  private pass(all: Event[]): void {
    const events = all.filter(({ kind }) => kind === "room");
    if (events.length) this.post(events);
  }
}
