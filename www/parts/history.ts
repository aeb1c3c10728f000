// What a run has lived through, in columns that charts and tables share. It thins itself: a run of days stays a few
// thousand rows, evenly spread.

import type { Config, Evaluation, Mark, Metrics, Progress } from "../run/protocol";

const MOST_ROWS = 2400;

/** The columns a chart can show. */
export const COLUMNS = [
  "mean_return",
  "policy_loss",
  "value_loss",
  "entropy",
  "approx_kl",
  "clip_fraction",
  "explained_variance",
  "lr",
] as const;
export type Column = (typeof COLUMNS)[number];

/** What charts draw: columns over an axis that only grows, with what was changed and tested along it. */
export interface Curves {
  /** Where each row stands on the axis. */
  readonly steps: number[];
  readonly columns: Record<string, (number | null)[]>;
  readonly changes: { at: number; knob: string; to: number }[];
  /** Tests of the column that a large chart shows; `error` is the standard error of `mean`. */
  readonly tests: { at: number; mean: number; column?: string; error?: number }[];
}

export class History implements Curves {
  readonly steps: number[] = [];
  readonly iterations: number[] = [];
  readonly train_s: number[] = [];
  readonly columns: Record<Column, (number | null)[]>;
  readonly evaluations: Evaluation[] = [];
  readonly marks: Mark[] = [];
  /** Where and when it was first solved. */
  solved: Progress | undefined;
  private every = 1;
  private skipped = 0;
  /** The newest row stands for itself until the next one is due. */
  private loose = false;

  constructor(readonly config: Config, readonly knobs: Record<string, number>) {
    this.columns = Object.fromEntries(COLUMNS.map((name) => [name, []])) as unknown as Record<Column, number[]>;
  }

  get length(): number {
    return this.steps.length;
  }

  get changes(): Curves["changes"] {
    return this.marks.map(({ progress, knob, to }) => ({ at: progress.env_steps, knob, to }));
  }

  get tests(): Curves["tests"] {
    return this.evaluations.map(({ progress, mean_return }) => ({ at: progress.env_steps, mean: mean_return }));
  }

  push(metrics: Metrics): void {
    if (this.loose) this.cut(this.length - 1);
    this.steps.push(metrics.progress.env_steps);
    this.iterations.push(metrics.progress.iteration);
    this.train_s.push(metrics.progress.train_s);
    for (const name of COLUMNS) this.columns[name].push(metrics[name]);
    this.loose = ++this.skipped < this.every;
    if (this.loose) return;
    this.skipped = 0;
    if (this.length > MOST_ROWS) this.thin();
  }

  /** Every second row goes; from here on half as many come. */
  private thin(): void {
    for (const column of this.all()) {
      let kept = 0;
      for (let row = 1; row < column.length; row += 2) column[kept++] = column[row]!;
      column.length = kept;
    }
    this.every *= 2;
  }

  private cut(length: number): void {
    for (const column of this.all()) column.length = length;
  }

  private all(): (number | null)[][] {
    return [this.steps, this.iterations, this.train_s, ...Object.values(this.columns)];
  }

  /** At most `most` row numbers, evenly spread, the last always among them. */
  rows(most: number): number[] {
    const every = Math.max(1, Math.ceil(this.length / most));
    const rows: number[] = [];
    for (let row = this.length - 1; row >= 0; row -= every) rows.push(row);
    return rows.reverse();
  }
}
