// What a run has lived through, as curves over its training time: each round in numbers, and the games against the
// yardsticks with their standard errors.

import type { Config } from "../../run/protocol";
import type { Frozen, Judged, Mark, Metrics } from "../../run/backgammon/protocol";
import type { Curves } from "../../parts/history";

const MOST_ROWS = 2000;

const ROUNDS = ["loss", "games_per_min", "evals_per_s", "mean_length"] as const;

export class Course {
  readonly judged: Judged[] = [];
  readonly marks: Mark[] = [];
  readonly frozen: Frozen[] = [];
  private readonly train_s: number[] = [];
  private readonly rounds = Object.fromEntries(ROUNDS.map((name) => [name, []])) as unknown as Record<(typeof ROUNDS)[number], number[]>;
  /** So many rounds make one row. */
  private every = 1;
  private skipped = 0;

  constructor(
    readonly config: Config,
    readonly knobs: Record<string, number>,
  ) {}

  push(metrics: Metrics): void {
    if (++this.skipped < this.every) return;
    this.skipped = 0;
    this.train_s.push(metrics.progress.train_s);
    for (const name of ROUNDS) this.rounds[name].push(metrics[name]);
    if (this.train_s.length <= MOST_ROWS) return;
    // Every second row goes; from here on half as many come.
    for (const column of [this.train_s, ...Object.values(this.rounds)]) {
      let kept = 0;
      for (let k = 1; k < column.length; k += 2) column[kept++] = column[k]!;
      column.length = kept;
    }
    this.every *= 2;
  }

  get lastS(): number {
    return Math.max(this.train_s.at(-1) ?? 0, this.judged.at(-1)?.progress.train_s ?? 0);
  }

  private get changes(): Curves["changes"] {
    return this.marks.map(({ progress, knob, to }) => ({ at: progress.train_s, knob, to }));
  }

  /** Rounds, for the small charts. */
  get learning(): Curves {
    return { steps: this.train_s, columns: this.rounds, changes: this.changes, tests: [] };
  }

  /** Games against the yardsticks, for the large one. */
  get strength(): Curves {
    const { judged } = this;
    const test = (column: "random" | "linear"): Curves["tests"] =>
      judged.map(({ progress, [column]: score }) => ({ at: progress.train_s, mean: score.points, error: score.error, column }));
    return {
      steps: judged.map(({ progress }) => progress.train_s),
      columns: { random: judged.map(({ random }) => random.points), linear: judged.map(({ linear }) => linear.points) },
      changes: [...this.changes, ...this.frozen.map(({ progress, minutes }) => ({ at: progress.train_s, knob: "frozen", to: minutes }))],
      tests: [...test("random"), ...test("linear")],
    };
  }
}
