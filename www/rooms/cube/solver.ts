// Sends searches to the run's worker. The worker runs a search beside the training and reports its progress. A new search ends the previous
// search.

import type { Event as RunEvent } from "../../run/protocol";
import { count, seconds } from "../../parts/format";
import type { Answerer } from "../../run/trained";
import type { CubeClient } from "./client";
import type { RoomEvent, SearchKind, SolveMethod, SolveView } from "./protocol";

export const SEARCHES: { search: SearchKind; words: string; about: string }[] = [
  { search: "greedy", words: "Greedy", about: "takes the best move, one move ahead; never undoes the last move" },
  { search: "beam", words: "Beam search", about: "keeps the most promising states of each level" },
  { search: "a_star", words: "A* search", about: "expands the states with the lowest sum of moves made and estimated moves left" },
  { search: "exact", words: "Exact table", about: "uses the true distances of all states; always optimal" },
];
/** Returns the name of a search method. The name mentions the trained agent if `of` is the trained run. */
export const nameOf = ({ search, width }: SolveMethod, of: Answerer = "own"): string => {
  const { words } = SEARCHES.find((one) => one.search === search)!;
  const wide = search === "beam" || search === "a_star" ? `${words}, width ${count(width)}` : words;
  return of === "trained" ? `${wide}, by the trained agent` : wide;
};

/** Returns a text if the search used a wider beam than requested; otherwise returns an empty string. */
export const widened = ({ width }: SolveView, method: SolveMethod): string =>
  width !== null && width > method.width ? `, widened to ${count(width)}` : "";

export type Found = SolveView & { ms: number };

export function costOf(found: Found, method: SolveMethod): string {
  const { nodes, ms } = found;
  const time = msText(ms);
  return method.search === "exact" ? time : `${count(nodes)} states in ${time}${widened(found, method)}`;
}

/** Returns the reason why a search found no solution, and the next step for the visitor. */
export const whyNot = ({ failure }: Found): string => (failure ? `${failure.text}. ${failure.next_step}.` : "No solution found.");

export const msText = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000));

type Search = { of: Answerer; number?: number; progress(view: SolveView): void; end(view: SolveView | undefined): void };

export class Solver {
  private search: Search | undefined;

  constructor(private readonly client: CubeClient) {}

  /** Runs a search by the agent of the run `of`. Returns undefined if a newer search replaced this search or `stop` ended it. */
  async solve(
    facelets: string,
    method: SolveMethod,
    progress: Search["progress"] = () => {},
    of: Answerer = "own",
  ): Promise<Found | undefined> {
    // The worker of a run ends its previous search when a new search begins. A search in the other run must be stopped explicitly.
    if (this.search?.of === of) this.search.end(undefined);
    else this.stop();
    const beganMs = performance.now();
    const own: Search = { of, progress, end: () => {} };
    const ended = new Promise<SolveView | undefined>((end) => (own.end = end));
    this.search = own;
    try {
      const begun = await this.client.ask({ ask: "solve", facelets, method }, of);
      own.number = begun.number;
      if (own === this.search) this.update(begun);
      const view = await ended;
      return view && { ...view, ms: performance.now() - beganMs };
    } catch (error) {
      if (own === this.search) this.search = undefined;
      throw error;
    }
  }

  /** Handles an event of the run `of`, which may report progress or the result of the search. */
  take(event: RunEvent, of: Answerer = "own"): void {
    if (event.kind !== "room") return;
    const view = event.event as RoomEvent;
    if (this.search?.of === of && view.number === this.search.number) this.update(view);
  }

  /** Passes progress or the result to the current search. */
  private update(view: SolveView): void {
    if (!view.done) return this.search?.progress(view);
    this.search?.end(view);
    this.search = undefined;
  }

  stop(): void {
    if (!this.search) return;
    const { of, end } = this.search;
    end(undefined);
    this.search = undefined;
    void this.client.ask({ ask: "cancel" }, of).catch(() => {}); // no worker answers between two runs
  }
}
