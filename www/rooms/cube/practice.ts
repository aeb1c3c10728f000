// Its own tries: fresh scrambles, near ones first and farther ones as it gets better.

import { MOST_DISTANCE } from "./controls";
import { DEEPEST, type Tries } from "./depths";
import type { Puzzle, SolveMethod } from "./protocol";

export const REST_MS = 1800;
const FAILED_REST_MS = 2600;
/** The share at a depth from which on it counts as able there. */
const ABLE = 0.8;
/** So many of the greatest depths it tries in turn once it has come to the end. */
const FAR = 6;
/** With which it tries by itself on a cube whose distances are not known. */
const SMALL_BEAM = { width: 64, nodes: 60_000 };

export class Practice {
  readonly tries: Tries = new Map();
  depth = 1;
  trying = false;
  dueMs = 0;

  /** `able` is the greatest depth at which it solves so large a share, as the newest test found. */
  constructor(private readonly able: (share: number) => number) {}

  begin(): void {
    this.depth = 1;
    this.tries.clear();
    this.trying = false;
    this.rest(REST_MS);
  }

  rest(ms: number): void {
    this.dueMs = Math.max(this.dueMs, performance.now() + ms);
  }

  methodOf({ exact, method }: Puzzle): SolveMethod {
    return exact ? { ...method, search: "greedy" } : { ...method, search: "beam", ...SMALL_BEAM };
  }

  /** Further out as it gets better; once it is at the end, now here, now there. */
  tried(solved: boolean, { exact }: Puzzle): void {
    const { depth } = this;
    const so = this.tries.get(depth) ?? { solved: 0, of: 0 };
    this.tries.set(depth, { solved: so.solved + Number(solved), of: so.of + 1 });
    if (!solved) return this.failed();
    const most = exact ? MOST_DISTANCE : DEEPEST;
    this.depth = depth < most ? Math.min(most, Math.max(depth + 1, this.able(ABLE))) : most - Math.floor(FAR * Math.random());
    this.rest(REST_MS);
  }

  failed(): void {
    this.depth = Math.max(1, this.depth - 1);
    this.rest(FAILED_REST_MS);
  }
}
