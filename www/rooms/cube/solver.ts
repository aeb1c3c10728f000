// A search of the run, which goes on with it beside its training and tells how it stands. There is one at a time; a new one ends the
// one before.

import type { Event as RunEvent } from "../../run/protocol";
import { count, seconds } from "../../parts/format";
import type { CubeClient } from "./client";
import { moves } from "./opinion";
import type { RoomEvent, SearchKind, Solution, SolveMethod, SolveView } from "./protocol";

export const SEARCHES: { search: SearchKind; words: string; about: string }[] = [
  { search: "greedy", words: "Greedy", about: "always the best move that does not take the last one back; looks one move ahead" },
  { search: "beam", words: "Beam search", about: "level by level, keeps the most promising states of each" },
  { search: "a_star", words: "A* search", about: "expands the states whose moves made and moves to go are fewest, many at once" },
  { search: "exact", words: "Exact table", about: "by the distances of all states, as a reference: always optimal" },
];
export const nameOf = ({ search, width }: SolveMethod): string => {
  const { words } = SEARCHES.find((one) => one.search === search)!;
  return search === "beam" || search === "a_star" ? `${words}, width ${count(width)}` : words;
};

/** What became of the width that was asked for. */
export const widened = ({ width }: SolveView, method: SolveMethod): string =>
  width !== null && width > method.width ? `, widened to ${count(width)}` : "";

export type Found = SolveView & { ms: number };

export function costOf(found: Found, method: SolveMethod): string {
  const { nodes, ms } = found;
  const time = msText(ms);
  return method.search === "exact" ? time : `${count(nodes)} states in ${time}${widened(found, method)}`;
}

/** Why it found nothing, and what to try. */
export const whyNot = ({ failure }: Found): string => (failure ? `${failure.text}. ${failure.next_step}.` : "There is none.");

export const msText = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000));

export function outcomeOf({ moves: made, optimal }: Solution, { search }: SolveMethod): string {
  if (made.length === 0) return "It is solved.";
  if (search === "exact") return `Optimal is ${made.length}.`;
  return optimal === null ? `The agent needs ${moves(made.length)}.` : `Optimal is ${optimal}, the agent needs ${made.length}.`;
}

type Search = { number?: number; progress(view: SolveView): void; end(view: SolveView | undefined): void };

export class Solver {
  private search: Search | undefined;

  constructor(private readonly client: CubeClient) {}

  /** Undefined where another search took its place. */
  async solve(facelets: string, method: SolveMethod, progress: Search["progress"] = () => {}): Promise<Found | undefined> {
    this.search?.end(undefined);
    const beganMs = performance.now();
    const own: Search = { progress, end: () => {} };
    const ended = new Promise<SolveView | undefined>((end) => (own.end = end));
    this.search = own;
    try {
      const begun = await this.client.ask({ ask: "solve", facelets, method });
      own.number = begun.number;
      if (own === this.search) this.stand(begun);
      const view = await ended;
      return view && { ...view, ms: performance.now() - beganMs };
    } catch (error) {
      if (own === this.search) this.search = undefined;
      throw error;
    }
  }

  /** What the run tells. */
  take(event: RunEvent): void {
    if (event.kind !== "room") return;
    const told = event.event as RoomEvent;
    if (told.number === this.search?.number) this.stand(told);
  }

  /** How the search under way stands. */
  private stand(view: SolveView): void {
    if (!view.done) return this.search?.progress(view);
    this.search?.end(view);
    this.search = undefined;
  }

  stop(): void {
    if (!this.search) return;
    this.search.end(undefined);
    this.search = undefined;
    void this.client.ask({ ask: "cancel" }).catch(() => {}); // between two runs there is nobody to ask
  }
}
