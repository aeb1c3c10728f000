// A search at the worker, which answers between two slices of training: it begins, goes on question by question, and is told as
// it stands. There is one at a time; a new one ends the one before.

import type { CubeClient } from "./client";
import { moves } from "./opinion";
import type { SearchKind, Solution, SolveMethod, SolveView } from "./protocol";
import { count, seconds } from "../../parts/format";

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

export const msText = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms / 1000));

export function outcomeOf({ moves: made, optimal }: Solution, { search }: SolveMethod): string {
  if (made.length === 0) return "It is solved.";
  if (search === "exact") return `Optimal is ${made.length}.`;
  return optimal === null ? `The agent needs ${moves(made.length)}.` : `Optimal is ${optimal}, the agent needs ${made.length}.`;
}

export class Solver {
  private searches = 0;

  constructor(private readonly client: CubeClient) {}

  /** Undefined where another search took its place. */
  async solve(facelets: string, method: SolveMethod, progress: (view: SolveView) => void = () => {}): Promise<Found | undefined> {
    const own = ++this.searches;
    const beganMs = performance.now();
    let view = await this.client.ask({ ask: "solve", facelets, method });
    while (own === this.searches && !view.done) {
      progress(view);
      view = await this.client.ask({ ask: "solve_more" });
    }
    return own === this.searches ? { ...view, ms: performance.now() - beganMs } : undefined;
  }

  stop(): void {
    this.searches++;
  }
}
