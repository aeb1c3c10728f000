// Builds a room's charts from the declarations of its columns. A chart has a group of columns, texts, and the data of each run.

import { roundUp, type Axis, type ChartOptions, type Drawn, type Test } from "./chart";
import { capital, count, figure, percent, plural, seconds, short, valueText } from "./format";
import type { Look } from "./looks";
import type { Colour } from "./theme";
import type { Column, Mark, Progress, RoomInfo, Row } from "../run/protocol";

const COLOURS: Colour[] = ["training", "agent", "opponent", "test", "error"];
/** Minimum length of the axis: `count` in units of the first counter, `time` in seconds. */
const LEAST = { count: 100, time: 60 };
/** Maximum part of an unsolved past run on the axis, as a multiple of the current run's length. The axis has at least length `LEAST`. */
const INTEREST = 8;

/** Text at the test with which a solved run is lost again. */
export const LOST = "lost again";

const TIME: Axis = {
  tick: (s, end = s) =>
    end < 180 ? `${Math.round(s)} s` : end < 7200 ? `${Number((s / 60).toFixed(2))} min` : `${Number((s / 3600).toFixed(1))} h`,
  close: (s) => `${s.toFixed(2)} s`,
  words: seconds,
  steps: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 72000],
};

/** Texts that a room sets for a chart. Other texts are derived from the declarations of the columns. */
export type ChartWords = Partial<Pick<ChartOptions, "title" | "about" | "digits" | "span" | "levels">> & {
  /** Short label of each curve, for a chart with several curves. */
  labels?: Record<string, string>;
  /** Test columns that are drawn as curves instead of circles. */
  lines?: string[];
  /** Test columns that the current variant has, if it does not have all. */
  columns?: string[];
  /** Test column that is drawn as a level (a horizontal line), such as a best possible value. */
  level?: string;
};

export interface CurveWords {
  axis?: "count" | "time";
  /** Name of the large chart. By default it is the first chart with a test column. */
  main?: string;
  least?: number;
  /** Names of the charts that are visible at first, in this order. If undefined, all charts are visible. */
  front?: string[];
  charts?: Record<string, ChartWords>;
}

/** Data of the current run or of a stored run, for the curves. */
export interface RunData {
  readonly counts: number[];
  readonly train_s: number[];
  readonly iterations: number[];
  readonly columns: Record<string, (number | null)[]>;
  readonly tests: Row[];
  readonly marks: Mark[];
  readonly notes: { progress: Progress; words: string }[];
  readonly progress: Progress;
  readonly solved: Progress | undefined;
  /** Progress at the test with which a solved run was lost again; undefined for other runs and for stored runs. */
  readonly lost: Progress | undefined;
  test(name: string, row?: Row): number | undefined;
}

export type Compared = Look & { name: string; run: RunData };

export type Scene = { present: RunData; past: RunData | undefined; compared: Compared[] };

export type Group = { name: string; metrics: Column[]; tests: Column[] };
/** A group of columns for a chart. `level` is the column that is shown as a level; `drawn` contains the others. */
export type Split = { group: Group; drawn: Group; level?: Column };

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

export class Charting {
  readonly groups: Group[];
  /** Group of the large chart: the room's choice, the first group with a test column, or the first group. */
  readonly main: Group | undefined;
  /** True if the axis is the training time; false if it is the first counter. */
  time: boolean;

  constructor(
    readonly room: RoomInfo,
    readonly words: CurveWords,
    private readonly label: (knob: string) => string,
    /** Returns a function that undoes a change, or undefined if the run's state before the change is not kept. */
    private readonly back: (mark: Mark) => (() => void) | undefined = () => undefined,
  ) {
    this.time = words.axis === "time";
    this.groups = groupsOf(room);
    this.main = this.groups.find(({ name }) => name === words.main) ?? this.groups.find(({ tests }) => tests.length > 0) ?? this.groups[0];
  }

  get counter(): string {
    return capital(plural(this.room.counters[0]!));
  }

  get axis(): Axis {
    const unit = plural(this.room.counters[0]!);
    return this.time ? TIME : { tick: short, close: count, words: (at) => `${short(at)} ${unit}` };
  }

  options(group: Group): ChartOptions {
    const { metrics, tests, name } = group;
    const own = this.words.charts?.[name] ?? {};
    const curves = metrics.length > 0 ? [...metrics, ...this.lines(group)] : tests;
    const [first, ...others] = curves as [Column, ...Column[]];
    const label = (column: Column): string => own.labels?.[column.name] ?? (column.brief || column.label.toLowerCase());
    return {
      column: first.name,
      label: others.length ? label(first) : undefined,
      name: first.label.toLowerCase(),
      others: others.map((column, k) => ({
        column: column.name,
        label: label(column),
        colour: COLOURS[(k + 1) % COLOURS.length]!,
        sparse: metrics.length > 0 && tests.includes(column),
      })),
      axis: this.axis,
      title: own.title ?? (others.length ? capital(name).replaceAll("_", " ") : first.label),
      about: own.about ?? this.about(group),
      digits: own.digits,
      share: first.share,
      log: first.log,
      span: own.span,
    };
  }

  about({ metrics, tests }: Group): string {
    const [first] = [...metrics, ...tests];
    return first ? first.help.charAt(0).toLowerCase() + first.help.slice(1).replace(/\.$/, "") : "";
  }

  split(group: Group): Split {
    const level = group.tests.find(({ name }) => name === this.words.charts?.[group.name]?.level);
    return { group, drawn: { ...group, tests: group.tests.filter((column) => column !== level) }, level };
  }

  /** Returns all charts that the visitor can choose: the room's groups, then each single column. */
  choices(): { label: string; groups: Group[] }[] {
    const charts = [...(this.main ? [this.main] : []), ...this.groups.filter((group) => group !== this.main)];
    const alone = (group: Group): boolean => group.metrics.length + group.tests.length === 1;
    const single = (column: Column, kind: "metrics" | "tests"): Group[] =>
      charts.some((group) => alone(group) && group[kind].includes(column))
        ? []
        : [{ name: `${kind}.${column.name}`, metrics: [], tests: [], [kind]: [column] }];
    return [
      { label: "Charts", groups: charts },
      { label: "In training", groups: this.room.metrics.flatMap((column) => single(column, "metrics")) },
      { label: "In tests", groups: this.room.tests.flatMap((column) => single(column, "tests")) },
    ].filter(({ groups }) => groups.length > 0);
  }

  /** Returns the name of a group in the list of charts. A column that has the name of another chart is named with its kind. */
  called(group: Group): string {
    const name = this.named(group);
    const others = this.choices().flatMap(({ groups }) => groups.filter((other) => other.name !== group.name));
    const isColumn = group.metrics.length === 0 || group.tests.length === 0;
    if (!isColumn || !others.some((other) => this.named(other) === name)) return name;
    return `${name}, in ${group.tests.length ? "tests" : "training"}`;
  }

  /** Returns the title of a group. An error column is named after its test column. */
  private named(group: Group): string {
    const { title } = this.options(group);
    const [column] = group.tests;
    const of =
      group.metrics.length === 0 &&
      group.tests.length === 1 &&
      this.room.tests.find(({ spread }) => spread.length === 1 && spread[0] === column!.name);
    return of ? `${of.label}: ${title.toLowerCase()}` : title;
  }

  private lines({ name, tests }: Group): Column[] {
    return tests.filter((column) => this.words.charts?.[name]?.lines?.includes(column.name));
  }

  private at(progress: Progress): number {
    return this.time ? progress.train_s : (progress.counts[0] ?? 0);
  }

  curves(group: Group, run: RunData, own = false): Drawn {
    const { metrics, tests } = group;
    const lines = metrics.length > 0 ? this.lines(group) : [];
    const marks = run.marks.map((mark) => ({
      at: this.at(mark.progress),
      words: `${this.label(mark.knob)} ${valueText(mark.to)}`,
      back: own ? this.back(mark) : undefined,
    }));
    const notes = run.notes.map(({ progress, words }) => ({ at: this.at(progress), words }));
    const circles = tests.flatMap((column, k) => {
      if (lines.includes(column)) return [];
      const spread = column.spread;
      return run.tests.flatMap((row): Test[] => {
        const mean = run.test(column.name, row);
        if (mean === undefined) return [];
        const [low, high] = spread.map((name) => run.test(name, row));
        const reach = spread.length === 1 && low !== undefined ? { low: mean - low, high: mean + low, error: true } : { low, high };
        return [{ at: this.at(row.progress), mean, column: (metrics.length ? metrics[k % metrics.length]! : column).name, ...reach }];
      });
    });
    const lost = run.lost ? [{ at: this.at(run.lost), words: LOST }] : [];
    const changes = [...marks, ...notes, ...lost];
    if (metrics.length === 0) {
      const columns = Object.fromEntries(tests.map(({ name }) => [name, run.tests.map((row) => run.test(name, row) ?? null)]));
      return { at: run.tests.map(({ progress }) => this.at(progress)), columns, changes, tests: circles };
    }
    const at = this.time ? run.train_s : run.counts;
    const columns = { ...run.columns };
    for (const { name } of lines)
      columns[name] = sparse(
        at,
        run.tests.map((row) => ({ at: this.at(row.progress), value: run.test(name, row) ?? null })),
      );
    return { at, columns, changes, tests: circles };
  }

  /** Returns the length of the axis, which all charts share. */
  span({ present, past, compared }: Scene): number {
    const end = (run: RunData): number => Math.max(this.at(run.progress), (this.time ? run.train_s : run.counts).at(-1) ?? 0);
    const own = end(present);
    const least = (this.time === (this.words.axis === "time") ? this.words.least : undefined) ?? LEAST[this.time ? "time" : "count"];
    // A past run that was solved is shown until shortly after it was solved.
    const interest = past ? Math.min(end(past), past.solved ? this.at(past.solved) * 1.3 : Math.max(least, INTEREST * own)) : 0;
    // Compared runs are shown in full.
    return roundUp(Math.max(least, own * 1.02, interest, ...compared.map(({ run }) => end(run))));
  }
}

/**
 * Returns a column with one row per position of `axis`. Each value of `known` is in the last row whose position is not beyond the value's
 * position. All other rows are null.
 */
function sparse(axis: number[], known: { at: number; value: number | null }[]): (number | null)[] {
  const values: (number | null)[] = axis.map(() => null);
  let row = 0;
  for (const { at, value } of known) {
    while (row + 1 < axis.length && axis[row + 1]! <= at) row++;
    if (values.length) values[row] = value;
  }
  return values;
}

/** Formats a value of a column; empty text without a value. */
export const columnText = ({ share, unit }: Column, value: number | null | undefined): string =>
  value == null ? "" : share ? percent(value) : unit === "points" ? exactly(value) : figure(value);
const exactly = (value: number): string => value.toFixed(2).replace("-", "−");
