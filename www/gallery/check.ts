// Comparison of a run with the claims of the link that opened it: the link's digest, and everything that an entry of the gallery states.

import type { Digest, Event, Progress, RoomInfo, Row } from "../run/protocol";
import { digestsOf, type Entry, type Named } from "./entry";

/**
 * State of the comparison. `partial`: all compared values are equal, but the run did not show some of the stated values. `void`: the
 * visitor changed the run, so it is no longer the run of the link.
 */
export type State = "checking" | "reproduced" | "partial" | "different" | "incomparable" | "void";

/** Values of an entry that are compared together. */
type Group = "end" | "test" | "solved";

const DIGEST = /[?&]digest=(\d+)\.([0-9a-f]+)\.(\w+)/;

/** Returns the digest in a link; undefined if there is none. */
export function digestIn(link: string): Digest | undefined {
  const [, iteration, weights, arithmetic] = DIGEST.exec(link) ?? [];
  return weights && arithmetic ? { iteration: Number(iteration), weights, arithmetic } : undefined;
}

export class Check {
  state: State = "checking";
  /** Reason for the state, as a sentence. Empty while all compared values are equal. */
  reason = "";
  /** Latest iteration of the run. */
  iteration = 0;
  /** Number of equal digests so far, number of equal points of the curve, and the groups whose values are equal. */
  readonly equal = { digests: 0, points: 0, groups: new Set<Group>() };
  readonly digests: Digest[];
  /** Number of stated points of the curve. */
  readonly points: number;
  /** True if the run has trained beyond the last comparison. */
  private isPast = false;
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
    this.points = Object.keys(entry?.curve.points ?? {}).length;
    this.changes = link.split(/[?&]at=/).length - 1;
    this.word = room.iteration_word;
  }

  /** Iteration of the last comparison. */
  get last(): number {
    return this.digests.at(-1)!.iteration;
  }

  take(event: Event): void {
    if (event.kind === "metrics") this.iteration = event.progress.iteration;
    if (this.state !== "checking") return;
    if (event.kind === "metrics" || event.kind === "test") this.row(event.kind, event);
    else if (event.kind === "digest") this.digest(event);
    else if (event.kind === "solved") this.solution(event.progress);
    else if (event.kind === "mark" && this.changes-- <= 0) this.end("void", "A knob was changed.");
  }

  /**
   * Ends the check if the run has shown all stated values, or if it has trained beyond the last comparison. The worker sends rows before
   * the other events of the same time, so the caller must pass all events that arrived together to `take` first. On the CPU, the test and
   * the confirmation of an iteration end before the next iteration.
   */
  settle(): void {
    if (this.state !== "checking") return;
    const unseen = this.unseen();
    if (unseen.length === 0) this.end("reproduced", "");
    else if (!this.isPast) return;
    else if (this.entry?.solved && unseen.includes("solved"))
      this.end("different", "The entry states a solution, and the run is not solved.");
    else this.end("partial", `All that the page saw is equal. It did not see ${unseen.join(", ")}, which hothouse verify compares.`);
  }

  private end(state: State, reason: string): void {
    this.state = state;
    this.reason = reason;
  }

  private differ(iteration: number, what: string, found: unknown, stated: unknown): void {
    this.end("different", `After ${iteration} ${this.word}s ${what} ${found ?? "unknown"}, not ${stated ?? "unknown"}.`);
  }

  private unseen(): string[] {
    const { entry, equal } = this;
    const unseen: string[] = equal.digests < this.digests.length ? ["digests"] : [];
    if (!entry) return unseen;
    if (equal.points < this.points) unseen.push("points of the curve");
    if (this.isPast && !entry.solved) equal.groups.add("solved");
    return [...unseen, ...(["end", "test", "solved"] as const).filter((group) => !equal.groups.has(group))];
  }

  private digest({ iteration, weights, arithmetic }: Digest): void {
    const stated = this.digests.find((digest) => digest.iteration === iteration);
    if (!stated) return;
    if (stated.arithmetic !== arithmetic)
      this.end("incomparable", `The stated digests need ${stated.arithmetic} arithmetic, and this run uses ${arithmetic}.`);
    else if (stated.weights !== weights) this.differ(iteration, "the digest is", weights, stated.weights);
    else this.equal.digests++;
  }

  private row(kind: "metrics" | "test", { progress, values }: Row): void {
    const { entry, last, room } = this;
    const { iteration } = progress;
    if (iteration > last) this.isPast = true;
    if (!entry || iteration > last) return;
    const names = (kind === "test" ? room.tests : room.metrics).map(({ name }) => name);
    const stated = entry.curve.points[iteration];
    const column = names.findIndex((name) => `${kind}.${name}` === entry.curve.column);
    if (stated !== undefined && column >= 0) {
      if (values[column] === stated) this.equal.points++;
      else return this.differ(iteration, "the curve has", values[column], stated);
    }
    if (iteration < last) return;
    if (kind === "test") this.compare("test", iteration, named(names, values));
    else this.compare("end", iteration, this.counters(progress));
  }

  private solution(progress: Progress): void {
    const { entry, last } = this;
    if (entry?.solved) this.compare("solved", progress.iteration, this.counters(progress));
    // The test after the last iteration also runs if training would not have tested there. The entry does not count it as a solution.
    else if (entry && progress.iteration < last)
      this.end("different", `The run is solved after ${progress.iteration} ${this.word}s, and the entry states no solution.`);
  }

  private counters({ iteration, counts }: Progress): Named {
    return {
      iteration,
      ...named(
        this.room.counters.map(({ name }) => name),
        counts,
      ),
    };
  }

  /** Compares a group of stated values with the values that the run reached after an iteration. The first difference ends the check. */
  private compare(group: Group, iteration: number, reached: Named): void {
    const stated = this.entry?.[group] ?? {};
    const name = Object.keys({ ...reached, ...stated }).find((name) => reached[name] !== stated[name]);
    if (name === undefined) this.equal.groups.add(group);
    else this.differ(iteration, `${group}.${name} is`, reached[name], stated[name]);
  }
}

const named = (names: string[], values: (number | null)[]): Named => Object.fromEntries(names.map((name, k) => [name, values[k] ?? null]));
