// Tables with the data of the charts.

import { columnText, LOST, type Charting, type Group, type RunData, type Scene } from "./charting";
import { write } from "./dom";
import { capital, seconds, short, valueText } from "./format";
import { Table } from "./table";
import type { Column, Progress, Row } from "../run/protocol";

const EVENTS = "Events";
const MOST_TABLED = 80;

/** Returns at most `most` evenly spaced indices below `length`; the last index is `length - 1`. */
export function spread(length: number, most: number): number[] {
  const every = Math.max(1, Math.ceil(length / most));
  return Array.from({ length: Math.ceil(length / every) }, (_, k) => length - 1 - k * every).reverse();
}

export class CurveTables {
  constructor(
    private readonly charting: Charting,
    private readonly label: (knob: string) => string,
    private readonly scene: () => Scene | undefined,
  ) {}

  of(name: string, group: () => Group | undefined): Table {
    const metrics = (): Column[] => group()?.metrics ?? [];
    const tests = (): boolean => metrics().length === 0 && (group()?.tests.length ?? 0) > 0;
    const table: Table = new Table(
      name,
      () => (tests() ? this.testTitles() : this.metricTitles(metrics(), true)),
      () => (tests() ? this.testRows(table) : this.metricRows(table, metrics(), true)),
      [EVENTS],
    );
    return table;
  }

  /** Returns a table of the current run's metrics, without columns for other runs and for events. */
  ofMetrics(name: string, columns: Column[]): Table {
    const table: Table = new Table(
      name,
      () => this.metricTitles(columns, false),
      () => this.metricRows(table, columns, false),
    );
    return table;
  }

  /** Returns the past run and the compared runs. The table of a chart has a column for each of them. */
  private otherRuns(): { name: string; run: RunData | undefined }[] {
    return [
      { name: "Past run", run: this.scene()?.past },
      ...(this.scene()?.compared ?? []).map(({ letter, name, run }) => ({ name: `${letter}: ${name}`, run })),
    ];
  }

  private metricTitles(columns: Column[], events: boolean): string[] {
    return [
      this.charting.counter,
      "Time",
      ...columns.map(({ label }) => label),
      ...(events ? [...this.otherRuns().map(({ name }) => name), EVENTS] : []),
    ];
  }

  /**
   * Returns the rows of the current run's metrics. With `events`, a row also contains the events since the previous row. It then also
   * contains the first metric of every other run at the same count.
   */
  private metricRows(table: Table, columns: Column[], events: boolean): string[][] {
    const present = this.scene()?.present;
    if (!present) return [];
    const rows = spread(present.counts.length, MOST_TABLED);
    const every = rows.length > 1 ? present.iterations[rows[1]!]! - present.iterations[rows[0]!]! : 1;
    const word = this.charting.room.iteration_word;
    write(table.caption, `${table.name}, ${every > 1 ? `every ${every} ${word}s` : `each ${word}`}, latest first.`);
    const happened = events ? this.eventsOf(present) : [];
    const [first] = columns;
    const others = events ? this.otherRuns() : [];
    const cell = (run: RunData, column: Column, row: number): string => columnText(column, run.columns[column.name]?.[row]);
    const otherAt = (run: RunData | undefined, count: number): string => {
      const row = run?.counts.findIndex((at) => at >= count) ?? -1;
      return run && first && row >= 0 ? cell(run, first, row) : "";
    };
    return rows
      .map((row, k) => {
        const from = k > 0 ? present.counts[rows[k - 1]!]! : -1;
        const to = present.counts[row]!;
        const recent = happened.filter(({ count }) => count > from && count <= to).map(({ words }) => words);
        return [
          short(to),
          seconds(present.train_s[row]!),
          ...columns.map((column) => cell(present, column, row)),
          ...others.map(({ run }) => otherAt(run, to)),
          ...(events ? [recent.join("; ")] : []),
        ];
      })
      .reverse();
  }

  private get tested(): Column[] {
    const spreads = this.charting.room.tests.flatMap(({ spread }) => spread);
    return this.charting.room.tests.filter((column) => !spreads.includes(column.name));
  }

  private testTitles(): string[] {
    return [...(this.scene()?.compared.length ? ["Run"] : []), "Time", this.charting.counter, ...this.tested.map(({ label }) => label)];
  }

  /** Returns the rows of tests with standard errors: first the current run's tests, then those of the compared runs. */
  private testRows(table: Table): string[][] {
    const scene = this.scene();
    if (!scene) return [];
    const { present, compared } = scene;
    const errors = this.charting.room.tests.some(({ spread }) => spread.length > 0);
    write(table.caption, `${table.name}: tests, latest first${errors ? "; ± is one standard error" : ""}.`);
    const cell = (run: RunData, column: Column, row: Row): string => {
      const value = run.test(column.name, row);
      const error = column.spread.length === 1 ? run.test(column.spread[0]!, row) : undefined;
      return `${columnText(column, value)}${error === undefined ? "" : ` ± ${columnText(column, error)}`}`;
    };
    return [{ letter: "", name: "Current run", run: present }, ...compared].flatMap(({ letter, name, run }) =>
      run.tests
        .slice(-MOST_TABLED)
        .map((row) => [
          ...(compared.length ? [letter ? `${letter}: ${name}` : name] : []),
          seconds(row.progress.train_s),
          short(row.progress.counts[0] ?? 0),
          ...this.tested.map((column) => cell(run, column, row)),
        ])
        .reverse(),
    );
  }

  private eventsOf(run: RunData): { count: number; words: string }[] {
    const count = (progress: Progress): number => progress.counts[0] ?? 0;
    const tested = (row: Row): string =>
      this.charting.room.tests
        .flatMap((column, k) => (row.values[k] == null ? [] : [`${column.label.toLowerCase()} ${columnText(column, row.values[k])}`]))
        .join(", ");
    return [
      ...run.marks.map(({ progress, knob, from, to }) => ({
        count: count(progress),
        words: `${this.label(knob)} changed from ${valueText(from)} to ${valueText(to)}`,
      })),
      ...run.notes.map(({ progress, words }) => ({ count: count(progress), words })),
      ...run.tests.map((row) => ({ count: count(row.progress), words: tested(row) })),
      ...(run.solved ? [{ count: count(run.solved), words: "Solved" }] : []),
      ...(run.lost ? [{ count: count(run.lost), words: capital(LOST) }] : []),
    ];
  }
}
