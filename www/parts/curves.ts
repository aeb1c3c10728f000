// The curves of a run, from what its room declares: columns of one chart together, that of the tests large, and the same
// numbers as tables.

import { Chart, roundUp, type Axis, type ChartOptions } from "./chart";
import { h, write } from "./dom";
import { figure, seconds, short, valueText } from "./format";
import type { Curves, History } from "./history";
import { Table } from "./table";
import type { Colour } from "./theme";
import type { Column, Progress, RoomInfo, Variant } from "../run/protocol";

const EVENTS = "What happened";
const MOST_TABLED = 80;
/** Colours of the curves of a chart, in turn. */
const COLOURS: Colour[] = ["accent", "plus", "minus", "thrust", "rust"];
/** The least that axes show. */
const LEAST = { count: 100, time: 60 };
/** A past run that nobody solved is of interest up to here, as a multiple of the present one. */
const INTEREST = 8;

const TIME: Axis = {
  tick: (s) => (s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Number((s / 60).toFixed(1))} min` : `${Number((s / 3600).toFixed(1))} h`),
  words: seconds,
  steps: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 72000],
};

/** A room's own words for a chart; the columns declare the rest. */
export type ChartWords = Partial<Pick<ChartOptions, "title" | "about" | "digits" | "span" | "levels">> & {
  /** A short name for each curve, where there are several. */
  labels?: Record<string, string>;
};

export interface CurveWords {
  axis?: "count" | "time";
  /** What the axis shows at least. */
  least?: number;
  /** Charts in sight from the start, in this order; without it, all are. */
  front?: string[];
  charts?: Record<string, ChartWords>;
}

type Group = { name: string; metrics: Column[]; tests: Column[] };

function groupsOf(room: RoomInfo): Group[] {
  const groups = new Map<string, Group>();
  for (const kind of ["metrics", "tests"] as const)
    for (const column of room[kind]) {
      if (!column.chart) continue;
      const group = groups.get(column.chart) ?? { name: column.chart, metrics: [], tests: [] };
      groups.set(column.chart, group);
      group[kind].push(column);
    }
  return [...groups.values()];
}

const plural = (column: Column): string => column.unit || column.label.toLowerCase();

export class RunCurves {
  /** The large one, and the small ones with their table. */
  readonly large: HTMLElement[];
  readonly small: HTMLElement;
  readonly mainTable: Table;
  readonly title: string;
  private readonly groups: Group[];
  private readonly main: Group | undefined;
  private readonly charts: { group: Group; chart: Chart }[];
  private readonly learning: Table;
  private readonly axis: Axis;
  private present: History | undefined;
  private past: History | undefined;

  constructor(
    private readonly room: RoomInfo,
    private readonly words: CurveWords,
    private readonly label: (knob: string) => string,
  ) {
    const unit = plural(room.counters[0]!);
    this.axis = words.axis === "time" ? TIME : { tick: short, words: (at) => `${short(at)} ${unit}` };
    this.groups = groupsOf(room);
    // What is tested is what counts.
    this.main = this.groups.find(({ tests }) => tests.length > 0) ?? this.groups[0];
    const { main } = this;
    const others = this.groups.filter((group) => group !== main);
    const front = words.front ?? others.map(({ name }) => name);
    const inFront = front.flatMap((name) => others.find((group) => group.name === name) ?? []);
    const behind = others.filter((group) => !inFront.includes(group));

    const title = (this.title = main ? this.options(main).title : "Curves");
    this.mainTable = main && main.metrics.length === 0 ? this.testTable(title) : this.metricTable(title, main?.metrics ?? [], true);
    this.learning = this.metricTable("How it learns", others.flatMap(({ metrics }) => metrics), false);
    const chart = (group: Group, tools: Node[] = []): Chart => {
      const one = new Chart(this.options(group), tools);
      this.charts.push({ group, chart: one });
      return one;
    };
    this.charts = [];
    this.large = main ? [chart(main, [this.mainTable.button]).element] : [];
    this.small = h(
      "div",
      {},
      h("div", { class: "multiples" }, ...inFront.map((group) => chart(group).element)),
      behind.length > 0 &&
        h("details", { class: "more-curves" }, h("summary", {}, "More curves"), h("div", { class: "multiples" }, ...behind.map((group) => chart(group).element))),
      h("div", { class: "row" }, this.learning.button),
      this.learning.element,
    );
  }

  /** Another variant: its words, its scales and what there is to reach. */
  suit(variant: Variant, charts: Record<string, ChartWords> = {}): void {
    for (const { group, chart } of this.charts) {
      const own = { ...this.words.charts?.[group.name], ...charts[group.name] };
      const levels = [...(own.levels ?? [])];
      const { goal } = variant;
      if (goal && group.tests.some(({ name }) => name === goal.column)) levels.push({ value: goal.at, label: `solved at ${figure(goal.at)}` });
      chart.suit({ about: own.about ?? this.about(group), span: own.span, levels });
    }
  }

  show(present: History, past: History | undefined): void {
    this.present = present;
    this.past = past;
    const span = this.span(present, past);
    for (const { group, chart } of this.charts) chart.show(this.curves(group, present), past && this.curves(group, past), span);
    this.mainTable.refresh();
    this.learning.refresh();
  }

  /** The newest value of the large one. */
  newest(run: History): string | undefined {
    const column = this.main && [...this.main.metrics, ...this.main.tests][0];
    const value = column && (this.main!.metrics.length ? run.latest(column.name) : run.test(column.name));
    return column && value !== undefined ? told(column, value) : undefined;
  }

  close(): void {
    for (const { chart } of this.charts) chart.close();
  }

  private about({ metrics, tests }: Group): string {
    const [first] = [...metrics, ...tests];
    return first ? first.help.charAt(0).toLowerCase() + first.help.slice(1).replace(/\.$/, "") : "";
  }

  private options(group: Group): ChartOptions {
    const { metrics, tests, name } = group;
    const own = this.words.charts?.[name] ?? {};
    const curves = metrics.length > 0 ? metrics : tests;
    const [first, ...others] = curves as [Column, ...Column[]];
    const main = group === this.main;
    const told = (column: Column): string => own.labels?.[column.name] ?? (column.brief || column.label.toLowerCase());
    return {
      column: first.name,
      label: others.length ? told(first) : undefined,
      others: others.map((column, k) => ({ column: column.name, label: told(column), colour: COLOURS[(k + 1) % COLOURS.length]! })),
      axis: this.axis,
      title: own.title ?? (others.length ? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ") : first.label),
      about: own.about ?? this.about(group),
      digits: own.digits,
      share: first.share,
      log: first.log,
      span: own.span,
      main,
    };
  }

  private at(progress: Progress): number {
    return this.words.axis === "time" ? progress.train_s : (progress.counts[0] ?? 0);
  }

  private curves({ metrics, tests }: Group, run: History): Curves {
    const marks = run.marks.map(({ progress, knob, to }) => ({ at: this.at(progress), words: `${this.label(knob)} ${valueText(to)}` }));
    const notes = run.notes.map(({ progress, words }) => ({ at: this.at(progress), words }));
    const circles = tests.flatMap((column, k) => {
      const spread = column.spread;
      return run.tests.flatMap((row): Curves["tests"] => {
        const mean = run.test(column.name, row);
        if (mean === undefined) return [];
        const [low, high] = spread.map((name) => run.test(name, row));
        const reach = spread.length === 1 && low !== undefined ? { low: mean - low, high: mean + low, error: true } : { low, high };
        return [{ at: this.at(row.progress), mean, column: (metrics.length ? metrics[k % metrics.length]! : column).name, ...reach }];
      });
    });
    const changes = [...marks, ...notes];
    if (metrics.length === 0) {
      const columns = Object.fromEntries(tests.map(({ name }) => [name, run.tests.map((row) => run.test(name, row) ?? null)]));
      return { at: run.tests.map(({ progress }) => this.at(progress)), columns, changes, tests: circles };
    }
    return { at: this.words.axis === "time" ? run.train_s : run.counts, columns: run.columns, changes, tests: circles };
  }

  /** What the axes of all charts show. */
  private span(present: History, past: History | undefined): number {
    const end = (run: History): number => Math.max(this.at(run.progress), (this.words.axis === "time" ? run.train_s : run.counts).at(-1) ?? 0);
    const own = end(present);
    const least = this.words.least ?? LEAST[this.words.axis ?? "count"];
    // Of a long past run, what is of interest: a little more than it took to solve.
    const interest = past ? Math.min(end(past), past.solved ? this.at(past.solved) * 1.3 : Math.max(least, INTEREST * own)) : 0;
    return roundUp(Math.max(least, own * 1.02, interest));
  }

  // ---- the same as tables

  /** Rows of metrics, with what happened between them. */
  private metricTable(name: string, columns: Column[], events: boolean): Table {
    const counter = plural(this.room.counters[0]!);
    const titles = [counter.charAt(0).toUpperCase() + counter.slice(1), "Time", ...columns.map(({ label }) => label), ...(events ? ["Past run", EVENTS] : [])];
    const table: Table = new Table(
      name,
      titles,
      () => {
        const { present, past } = this;
        if (!present) return [];
        const rows = present.rows(MOST_TABLED);
        const every = rows.length > 1 ? present.iterations[rows[1]!]! - present.iterations[rows[0]!]! : 1;
        const word = this.room.iteration_word;
        write(table.caption, `${name}, ${every > 1 ? `every ${every} ${word}s` : `each ${word}`}, newest first.`);
        const happened = events ? this.happened(present) : [];
        const cell = (run: History, column: Column, row: number): string => told(column, run.columns[column.name]?.[row]);
        const pastAt = (count: number): string => {
          const row = past?.counts.findIndex((at) => at >= count) ?? -1;
          return past && columns[0] && row >= 0 ? cell(past, columns[0], row) : "";
        };
        return rows
          .map((row, k) => {
            const from = k > 0 ? present.counts[rows[k - 1]!]! : -1;
            const to = present.counts[row]!;
            const lately = happened.filter(({ count }) => count > from && count <= to).map(({ words }) => words);
            return [
              short(to),
              seconds(present.train_s[row]!),
              ...columns.map((column) => cell(present, column, row)),
              ...(events ? [pastAt(to), lately.join("; ")] : []),
            ];
          })
          .reverse();
      },
      [EVENTS],
    );
    return table;
  }

  /** Each test, with its standard errors. */
  private testTable(name: string): Table {
    const spreads = this.room.tests.flatMap(({ spread }) => spread);
    const columns = this.room.tests.filter((column) => !spreads.includes(column.name));
    const counter = plural(this.room.counters[0]!);
    const table: Table = new Table(name, ["Time", counter.charAt(0).toUpperCase() + counter.slice(1), ...columns.map(({ label }) => label)], () => {
      const { present } = this;
      if (!present) return [];
      write(table.caption, `${name}: tests, which do not train it, newest first${spreads.length ? "; ± is one standard error" : ""}.`);
      const cell = (column: Column, row: History["tests"][0]): string => {
        const value = present.test(column.name, row);
        const error = column.spread.length === 1 ? present.test(column.spread[0]!, row) : undefined;
        return `${told(column, value)}${error === undefined ? "" : ` ± ${told(column, error)}`}`;
      };
      return present.tests
        .slice(-MOST_TABLED)
        .map((row) => [seconds(row.progress.train_s), short(row.progress.counts[0] ?? 0), ...columns.map((column) => cell(column, row))])
        .reverse();
    });
    return table;
  }

  private happened(run: History): { count: number; words: string }[] {
    const count = (progress: Progress): number => progress.counts[0] ?? 0;
    const tested = (row: History["tests"][0]): string =>
      this.room.tests.flatMap((column, k) => (row.values[k] == null ? [] : [`${column.label.toLowerCase()} ${told(column, row.values[k])}`])).join(", ");
    return [
      ...run.marks.map(({ progress, knob, from, to }) => ({ count: count(progress), words: `${this.label(knob)} changed from ${valueText(from)} to ${valueText(to)}` })),
      ...run.notes.map(({ progress, words }) => ({ count: count(progress), words })),
      ...run.tests.map((row) => ({ count: count(row.progress), words: tested(row) })),
      ...(run.solved ? [{ count: count(run.solved), words: "Solved" }] : []),
    ];
  }
}

/** A value as its column is read. */
export const told = ({ share, unit }: Column, value: number | null | undefined): string =>
  value == null ? "" : share ? `${Math.round(100 * value)}%` : unit === "points" ? exactly(value) : figure(value);
const exactly = (value: number): string => value.toFixed(2).replace("-", "−");
