// Comparison of a run with the claims of the link that opened it: the link's digest, and everything that an entry of the gallery states.

import type { Digest, Event, Progress, RoomInfo, Row } from "../run/protocol";
import { digestsOf, type Entry } from "./entries";

/** `void` means that the visitor changed the run, so that it is no longer the run of the link. */
export type State = "checking" | "reproduced" | "different" | "incomparable" | "void";

const DIGEST = /[?&]digest=(\d+)\.([0-9a-f]+)\.(\w+)/;

/** Returns the digest in a link; undefined if there is none. */
export function digestIn(link: string): Digest | undefined {
  const [, iteration, weights, arithmetic] = DIGEST.exec(link) ?? [];
  return weights && arithmetic ? { iteration: Number(iteration), weights, arithmetic } : undefined;
}

export class Check {
  state: State = "checking";
  /** Reason for the state, as a sentence; empty while all is as stated. */
  reason = "";
  /** Newest iteration of the run. */
  iteration = 0;
  /** Numbers of digests and of points of the curve that are equal so far. */
  equal = { digests: 0, points: 0 };
  /** True if the run was solved after the stated number of iterations. */
  solved = false;
  readonly digests: Digest[];
  /** Number of live changes that the link contains and the run has not repeated yet. */
  private changes: number;
  private readonly word: string;

  /** Compares with `entry` if it is given, otherwise with the digest in the link. */
  constructor(
    link: string,
    digest: Digest,
    readonly entry: Entry | undefined,
    private readonly room: RoomInfo,
  ) {
    this.digests = entry ? digestsOf(entry) : [digest];
    this.changes = link.split(/[?&]at=/).length - 1;
    this.word = room.iteration_word;
  }

  /** Iteration of the last comparison. */
  get last(): number {
    return this.digests.at(-1)!.iteration;
  }

  take(event: Event): void {
    if (event.kind === "metrics") this.point(event);
    else if (event.kind === "digest") this.digest(event);
    else if (event.kind === "solved") this.solution(event.progress);
    else if (event.kind === "mark" && this.state === "checking" && this.changes-- <= 0) this.end("void", "A knob was changed.");
  }

  private end(state: State, reason: string): void {
    if (this.state === "different") return;
    this.state = state;
    this.reason = reason;
  }

  private digest(reached: Digest): void {
    const stated = this.digests.find(({ iteration }) => iteration === reached.iteration);
    if (!stated || this.state !== "checking") return;
    const place = `After ${reached.iteration} ${this.word}s`;
    if (stated.arithmetic !== reached.arithmetic) {
      const reason = `The stated digests need ${stated.arithmetic} arithmetic, and this run uses ${reached.arithmetic}.`;
      return this.end("incomparable", reason);
    }
    if (stated.weights !== reached.weights)
      return this.end("different", `${place} the digest is ${reached.weights}, not ${stated.weights}.`);
    this.equal.digests++;
    if (reached.iteration === this.last) this.end("reproduced", "");
  }

  private point({ progress, values }: Row): void {
    this.iteration = progress.iteration;
    const stated = this.entry?.curve.points[progress.iteration];
    const column = this.curveColumn;
    if (stated === undefined || column < 0 || this.state === "void" || this.state === "incomparable") return;
    if (values[column] === stated) this.equal.points++;
    else this.end("different", `After ${progress.iteration} ${this.word}s the curve has ${values[column]}, not ${stated}.`);
  }

  /** Index of the curve's metric; -1 if the curve is no metric. The page does not compare curves of tests. */
  get curveColumn(): number {
    const name = this.entry?.curve.column.replace(/^metrics\./, "");
    return this.room.metrics.findIndex((column) => column.name === name);
  }

  private solution(progress: Progress): void {
    if (!this.entry || this.state === "void" || this.state === "incomparable") return;
    const stated = this.entry.solved?.iteration;
    // A run that is not stated to be solved may be solved after the end of the entry.
    if (stated === undefined ? progress.iteration > this.last : stated === progress.iteration) this.solved = stated !== undefined;
    else this.end("different", `The run is solved after ${progress.iteration} ${this.word}s, not ${stated ?? "never"}.`);
  }
}
