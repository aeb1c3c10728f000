// Auto-play: the agent tries to solve random scrambles. The depth of the scrambles grows as the agent improves.

import type { Tries } from "./depths";
import type { Metric } from "./notation";
import type { Puzzle, SolveMethod } from "./protocol";
import { farthest } from "./scrambles";

export const REST_MS = 1800;
const FAILED_REST_MS = 2600;
/** Minimum solve rate at which a depth counts as mastered. */
const ABLE = 0.8;
/** After a success at the greatest depth, the next depth is drawn at random from this number of greatest depths. */
const FAR = 6;
/** Limits of the beam search for a puzzle without known distances. */
const SMALL_BEAM = { width: 64, nodes: 60_000 };

export class Practice {
  readonly tries: Tries = new Map();
  /** Longest solved scramble, with the training time at its first solution; undefined before the first solution. */
  farthest: { depth: number; train_s: number } | undefined;
  depth = 1;
  trying = false;
  dueMs = 0;
  private metric: Metric = "quarter";

  /** `able` returns the greatest depth `d` such that the latest test's solve rate is at least `share` at every depth from 1 to `d`. */
  constructor(private readonly able: (share: number) => number) {}

  begin(metric: Metric): void {
    this.metric = metric;
    this.depth = 1;
    this.tries.clear();
    this.farthest = undefined;
    this.trying = false;
    this.rest(REST_MS);
  }

  rest(ms: number): void {
    this.dueMs = Math.max(this.dueMs, performance.now() + ms);
  }

  methodOf({ exact, method }: Puzzle): SolveMethod {
    return exact ? { ...method, search: "greedy" } : { ...method, search: "beam", ...SMALL_BEAM };
  }

  /**
   * Records a try and sets the depth of the next try. A success increases the depth; at the greatest depth, the next depth is random. A
   * failure decreases the depth by 1, to at least 1. Without known distances, no test shows how far the agent is, so a success
   * increases the depth by a half. `train_s` is the training time.
   */
  tried(solved: boolean, puzzle: Puzzle, train_s: number): void {
    const { depth } = this;
    const before = this.tries.get(depth) ?? { solved: 0, of: 0 };
    this.tries.set(depth, { solved: before.solved + Number(solved), of: before.of + 1 });
    if (!solved) return this.failed();
    if (depth > (this.farthest?.depth ?? 0)) this.farthest = { depth, train_s };
    const most = farthest(puzzle, this.metric);
    const next = puzzle.exact ? Math.max(depth + 1, this.able(ABLE)) : Math.ceil(1.5 * depth) + 1;
    this.depth = depth < most ? Math.min(most, next) : most - Math.floor(FAR * Math.random());
    this.rest(REST_MS);
  }

  failed(): void {
    this.depth = Math.max(1, this.depth - 1);
    this.rest(FAILED_REST_MS);
  }
}
