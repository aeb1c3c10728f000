// History of a run in columns, for charts and tables. It keeps at most a few thousand evenly spaced rows, even of a run of days.

import type { Began, Column, Config, Mark, Progress, RoomInfo, Row, Standing, Value } from "../run/protocol";
import { state } from "./signal";

const MOST_ROWS = 2400;
const MOST_TESTS = 2048;
/** Maximum number of values of a knob that a text lists. If a knob had more values, the text contains only the first and the last. */
const MOST_VALUES = 4;

export class History {
  /** Values of the first counter, by row. */
  readonly counts: number[] = [];
  /** Values of the other counters, one list per counter. */
  private readonly others: number[][];
  readonly iterations: number[] = [];
  readonly train_s: number[] = [];
  /** Metrics and shares of time, by name. Each list has one value per row. */
  readonly columns: Record<string, (number | null)[]>;
  readonly tests: Row[] = [];
  readonly marks: Mark[] = [];
  /** Notes of the room, which charts show along the curves. */
  readonly notes: { progress: Progress; words: string }[] = [];
  readonly config: Config;
  readonly knobs: Record<string, Value>;
  /** Number that increases with each change, so that views are redrawn. */
  readonly revision = state(1);
  private readonly solving = state<Progress | undefined>(undefined);
  /** Leading number and state; undefined for a short time after the beginning. */
  readonly standing = state<Standing | undefined>(undefined);
  progress: Progress;
  private every = 1;
  private skipped = 0;
  /** True if the last row is not one of the evenly spaced rows. The next row then replaces it. */
  private temporary = false;

  constructor(
    readonly room: RoomInfo,
    { config, knobs, progress, solved, history, tests, marks }: Began,
  ) {
    this.config = config;
    this.knobs = knobs;
    this.progress = progress;
    this.solved = solved ?? undefined;
    this.others = room.counters.slice(1).map(() => []);
    this.columns = Object.fromEntries([...room.metrics, ...room.parts].map(({ name }) => [name, []]));
    for (const row of history) this.push(row);
    this.progress = progress;
    this.tests.push(...tests);
    this.marks.push(...marks);
  }

  get length(): number {
    return this.counts.length;
  }

  push({ progress, values }: Row): void {
    this.bumpRevision();
    if (this.temporary) this.cut(this.length - 1);
    this.progress = progress;
    this.counts.push(progress.counts[0] ?? 0);
    this.others.forEach((counts, k) => counts.push(progress.counts[k + 1] ?? 0));
    this.iterations.push(progress.iteration);
    this.train_s.push(progress.train_s);
    Object.values(this.columns).forEach((column, k) => column.push(values[k] ?? null));
    this.temporary = ++this.skipped < this.every;
    if (this.temporary) return;
    this.skipped = 0;
    if (this.length > MOST_ROWS) this.thin();
  }

  pushTest(row: Row): void {
    this.tests.push(row);
    this.bumpRevision();
    if (this.tests.length <= MOST_TESTS) return;
    // Drops every second test. The latest test and the one that solved the task are kept.
    const kept = this.tests.filter(
      ({ progress }, k) => k % 2 === (this.tests.length - 1) % 2 || progress.iteration === this.solved?.iteration,
    );
    this.tests.splice(0, this.tests.length, ...kept);
  }

  mark(mark: Mark): void {
    this.marks.push(mark);
    this.bumpRevision();
  }

  get solved(): Progress | undefined {
    return this.solving.value;
  }
  set solved(progress: Progress | undefined) {
    this.solving.value = progress;
    this.bumpRevision();
  }

  setStanding(standing: Standing): void {
    this.standing.value = standing;
    this.bumpRevision();
  }

  get lost(): Progress | undefined {
    const { state, since } = this.standing.value ?? {};
    return (state === "lost_again" && since) || undefined;
  }

  bumpRevision(): void {
    this.revision.value++;
  }

  latest(name: string): number | undefined {
    return this.columns[name]?.at(-1) ?? undefined;
  }

  /** Returns the value of a test column in `row`. Without `row`, returns the value in the latest test. */
  test(name: string, row: Row | undefined = this.tests.at(-1)): number | undefined {
    return row?.values[this.room.tests.findIndex((column) => column.name === name)] ?? undefined;
  }

  /** Current settings. `startOf` computes the initial settings from them. */
  get settings(): Record<string, Value> {
    return { ...this.knobs, ...Object.fromEntries(this.marks.map((mark) => [mark.knob, mark.to])) };
  }

  /** Drops every second row. From then on, only half as many new rows are kept. */
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
    return [this.iterations, this.counts, ...this.others, this.train_s, ...Object.values(this.columns)];
  }

  /**
   * Returns the history as CSV, in the format of the terminal's `--csv`. The line of an iteration contains its metrics and the test after
   * the iteration.
   */
  csv(): string {
    const { counters, metrics, tests, parts } = this.room;
    const title = ({ name, unit }: Column): string => (unit ? `${name} [${unit}]` : name);
    const columns = [...metrics, ...parts].map(({ name }) => this.columns[name]!);
    const places = [this.iterations, this.counts, ...this.others, this.train_s];
    const rows = new Map(
      this.iterations.map((iteration, row) => [
        iteration,
        { place: places.map((column) => column[row]!), values: columns.map((column) => column[row] ?? null), test: [] as Row["values"] },
      ]),
    );
    for (const { progress, values } of this.tests) {
      const { iteration, counts, train_s } = progress;
      // The row of this iteration may have been dropped by thinning.
      const row = rows.get(iteration) ?? { place: [iteration, ...counts, train_s], values: [], test: [] };
      rows.set(iteration, { ...row, test: values });
    }
    const head = [
      "iteration",
      ...counters.map(title),
      "train_s [s]",
      ...metrics.map(title),
      ...tests.map((column) => `test_${title(column)}`),
      ...parts.map(({ name }) => `share_${name}`),
    ];
    const lines = [...rows.values()]
      .sort((a, b) => a.place[0]! - b.place[0]!)
      .map(({ place, values, test }) => {
        const cells = [
          ...place,
          ...metrics.map((_, k) => values[k]),
          ...tests.map((_, k) => test[k]),
          ...parts.map((_, k) => values[metrics.length + k]),
        ];
        return cells.map((cell) => cell ?? "").join(",");
      });
    return [head.join(","), ...lines, ""].join("\n");
  }
}

export const sameMark = (a: Mark, b: Mark): boolean => a.knob === b.knob && a.to === b.to && a.progress.iteration === b.progress.iteration;

/** Computes the initial settings of a run from the current settings and the live changes. */
export const startOf = (settings: Record<string, Value>, marks: Mark[]): Record<string, Value> => ({
  ...settings,
  ...Object.fromEntries(marks.toReversed().map((mark) => [mark.knob, mark.from])),
});

/**
 * Returns the values of a knob during a run as a text, such as `0.01 → 0.001`. If there are more than `MOST_VALUES` values, the text
 * contains only the first and the last.
 */
export function valuesOf(knob: string, start: Value, marks: Mark[], text: (value: Value) => string): string {
  const values = [start, ...marks.filter((mark) => mark.knob === knob).map(({ to }) => to)].map(text);
  return (values.length > MOST_VALUES ? [values[0], "…", values.at(-1)] : values).join(" → ");
}
