// The curves that a room's columns declare: a large chart, small ones, and one beside the runs that are compared, for any
// column. All show the same part of one axis. The same stands in tables.

import { Chart, roundUp, type Axis, type ChartOptions, type Drawn, type Overlay } from "./chart";
import { h, id, write } from "./dom";
import { composed } from "./export";
import { count, figure, percent, seconds, short, valueText } from "./format";
import type { Curves } from "./history";
import { PRESENT, swatch, type Look } from "./looks";
import { touch } from "./loop";
import { Table } from "./table";
import type { Colour } from "./theme";
import type { Range } from "./zoom";
import type { Column, Mark, Progress, RoomInfo, Row, Variant } from "../run/protocol";

const EVENTS = "What happened";
const MOST_TABLED = 80;
/** Colours of the curves of a chart, in turn. */
const COLOURS: Colour[] = ["accent", "plus", "minus", "thrust", "rust"];
/** The least that axes show. */
const LEAST = { count: 100, time: 60 };
/** A past run that nobody solved is of interest up to here, as a multiple of the present one. */
const INTEREST = 8;

/** For the list of keys. */
export const CHART_KEYS = { shown: "← → ↑ ↓", does: "on a large chart: from value to value, from test to test; + and − zoom, 0 shows all" };
/** The longest average, as a share of the axis. */
const MOST_SMOOTHING = 0.1;
/** The least part of the axis that can be zoomed to. */
const LEAST_ZOOM = 1e-4;

const TIME: Axis = {
  tick: (s) => (s < 120 ? `${Math.round(s)} s` : s < 7200 ? `${Number((s / 60).toFixed(1))} min` : `${Number((s / 3600).toFixed(1))} h`),
  close: (s) => `${s.toFixed(2)} s`,
  words: seconds,
  steps: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 72000],
};

/** A room's own words for a chart; the columns declare the rest. */
export type ChartWords = Partial<Pick<ChartOptions, "title" | "about" | "digits" | "span" | "levels">> & {
  /** A short name for each curve, where there are several. */
  labels?: Record<string, string>;
  /** Columns of tests that are drawn as curves beside those of the metrics, and not as circles. */
  lines?: string[];
  /** A test's column that is no curve: what there is to come to, drawn as a level. */
  level?: string;
};

export interface CurveWords {
  axis?: "count" | "time";
  /** What the axis shows at least. */
  least?: number;
  /** Charts in sight from the start, in this order; without it, all are. */
  front?: string[];
  charts?: Record<string, ChartWords>;
}

/** What curves know of a run, be it the present one or one that was kept. */
export interface Lived {
  readonly counts: number[];
  readonly train_s: number[];
  readonly iterations: number[];
  readonly columns: Record<string, (number | null)[]>;
  readonly tests: Row[];
  readonly marks: Mark[];
  readonly notes: { progress: Progress; words: string }[];
  readonly progress: Progress;
  readonly solved: Progress | undefined;
  test(name: string, row?: Row): number | undefined;
}

export type Compared = Look & { name: string; run: Lived };

type Levels = { value: number; label: string }[];
type Group = { name: string; metrics: Column[]; tests: Column[] };
/** `drawn` is the group but for the column that is a level. */
type Shown = { group: Group; drawn: Group; chart: Chart; levels: Levels; level?: Column };

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
const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

export class RunCurves {
  /** The large one, and the small ones with their table. */
  readonly large: HTMLElement[];
  readonly small: HTMLElement;
  readonly mainTable: Table;
  readonly title: string;
  /** A chart of any column and what it is drawn by, for whoever compares runs. */
  readonly compare: HTMLElement;
  private readonly compareChart: Shown;
  private readonly compareTable: Table;
  private readonly chosen = h("select", { id: id("chart-of") });
  private readonly smoothing = h("input", { type: "range", id: id("smoothing"), min: 0, max: 100, value: 0, step: 1 });
  private readonly logarithmic = h("input", { type: "checkbox", id: id("log") });
  private readonly byCount: HTMLInputElement;
  private readonly byTime: HTMLInputElement;
  private readonly legends: HTMLElement[] = [];
  private readonly resets: HTMLButtonElement[] = [];
  private readonly groups: Group[];
  private readonly main: Group | undefined;
  private readonly charts: Shown[] = [];
  private readonly learning: Table;
  private time: boolean;
  private zoomed: Range | undefined;
  private whole: Range = [0, 1];
  private present: Lived | undefined;
  private past: Lived | undefined;
  private compared: Compared[] = [];
  /** What charts draw of runs that no longer change. */
  private drawn = new WeakMap<Lived, Map<Group, Drawn>>();
  private suited: [Variant, Record<string, ChartWords>] | undefined;

  constructor(
    private readonly room: RoomInfo,
    private readonly words: CurveWords,
    private readonly label: (knob: string) => string,
    /** The way back to before a change, where there is one. */
    private readonly back: (mark: Mark) => (() => void) | undefined = () => undefined,
  ) {
    this.time = words.axis === "time";
    this.groups = groupsOf(room);
    // What is tested is what counts.
    this.main = this.groups.find(({ tests }) => tests.length > 0) ?? this.groups[0];
    const { main } = this;
    const others = this.groups.filter((group) => group !== main);
    const front = words.front ?? others.map(({ name }) => name);
    const inFront = front.flatMap((name) => others.find((group) => group.name === name) ?? []);
    const behind = others.filter((group) => !inFront.includes(group));

    const title = (this.title = main ? this.options(main).title : "Curves");
    this.mainTable = this.table(title, () => main);
    const learned = others.flatMap(({ metrics }) => metrics);
    this.learning = new Table(
      "How it learns",
      () => this.metricTitles(learned, false),
      () => this.metricRows(this.learning, learned, false),
    );
    this.large = main ? [this.chart(main, [this.reset(), this.mainTable.button]).chart.element, this.legend()] : [];
    this.small = h(
      "div",
      {},
      h("div", { class: "multiples" }, ...inFront.map((group) => this.chart(group).chart.element)),
      behind.length > 0 &&
        h(
          "details",
          { class: "more-curves" },
          h("summary", {}, "More curves"),
          h("div", { class: "multiples" }, ...behind.map((group) => this.chart(group).chart.element)),
        ),
      h("div", { class: "row" }, this.learning.button),
      this.learning.element,
    );

    const all = this.choices();
    const first = main ?? all[0]!.groups[0]!;
    this.compareTable = this.table("The chosen curves", () => this.compareChart.group);
    this.compareChart = this.chart(first, [this.reset(), this.compareTable.button], true);
    this.chosen.append(
      ...all.map(({ label, groups }) =>
        h(
          "optgroup",
          { label },
          ...groups.map((group) => h("option", { value: group.name, selected: group === first }, this.called(group))),
        ),
      ),
    );
    const find = (name: string): Group => all.flatMap(({ groups }) => groups).find((group) => group.name === name) ?? first;
    this.chosen.addEventListener("change", () => this.choose(find(this.chosen.value)));
    const axisName = id("axis");
    const radio = (time: boolean): HTMLInputElement =>
      h("input", {
        type: "radio",
        name: axisName,
        id: `${axisName}-${time ? "time" : "count"}`,
        checked: time === this.time,
        onchange: () => this.setTime(time),
      });
    [this.byCount, this.byTime] = [radio(false), radio(true)];
    this.smoothing.addEventListener("input", () => {
      this.smoothing.style.setProperty("--share", `${this.smoothing.value}%`);
      this.writeSmoothing();
      this.redraw();
    });
    this.writeSmoothing();
    this.logarithmic.addEventListener("change", () => this.choose(this.compareChart.group));
    const unit = plural(room.counters[0]!);
    this.compare = h(
      "div",
      { class: "compare" },
      h(
        "div",
        { class: "curve-tools" },
        h("p", { class: "field" }, h("label", { for: this.chosen.id }, "Chart"), this.chosen),
        h(
          "fieldset",
          { class: "speeds layers", "aria-label": "Axis" },
          this.byCount,
          h("label", { for: this.byCount.id }, `by ${unit}`),
          this.byTime,
          h("label", { for: this.byTime.id }, "by time"),
        ),
        h("p", { class: "field smoothing" }, h("label", { for: this.smoothing.id }, "Smoothing"), this.smoothing),
        h("p", { class: "tick" }, this.logarithmic, h("label", { for: this.logarithmic.id }, "logarithmic, above 0")),
      ),
      this.compareChart.chart.element,
      this.legend(),
      this.compareTable.element,
      h(
        "p",
        { class: "small" },
        touch()
          ? "Spread two fingers on a chart to zoom, and bring them together to see more again. Touch it for its values."
          : "Drag along a chart to zoom, or use the wheel with Ctrl; a double click shows all again. With the focus on a chart: " +
              "arrows for values, up and down for tests, + and − to zoom, 0 for all.",
      ),
    );
  }

  private chart(group: Group, tools: Node[] = [], main = group === this.main): Shown {
    const one: Shown = {
      ...this.split(group),
      chart: new Chart({ ...this.options(group), main, zoom: (range) => this.zoom(range) }, tools),
      levels: [],
    };
    this.charts.push(one);
    return one;
  }

  private split(group: Group): Pick<Shown, "group" | "drawn" | "level"> {
    const level = group.tests.find(({ name }) => name === this.words.charts?.[group.name]?.level);
    return { group, drawn: { ...group, tests: group.tests.filter((column) => column !== level) }, level };
  }

  /** All that can be charted: what the room draws together, and each column by itself. */
  private choices(): { label: string; groups: Group[] }[] {
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

  /** In the list of all. What a test's value may be off by is named after it. */
  private called(group: Group): string {
    const { title } = this.options(group);
    const [column] = group.tests;
    const of =
      group.metrics.length === 0 &&
      group.tests.length === 1 &&
      this.room.tests.find(({ spread }) => spread.length === 1 && spread[0] === column!.name);
    return of ? `${of.label}: ${title.toLowerCase()}` : title;
  }

  private choose(group: Group): void {
    const { compareChart } = this;
    const options = this.options(group);
    Object.assign(compareChart, this.split(group));
    compareChart.chart.suit({ ...options, main: true, log: this.logarithmic.checked || options.log });
    if (this.suited) this.suit(...this.suited);
    this.redraw();
    this.compareTable.renew();
  }

  private setTime(time: boolean): void {
    this.time = time;
    this.zoomed = undefined;
    this.drawn = new WeakMap();
    for (const { chart } of this.charts) chart.suit({ axis: this.axis });
    this.redraw();
  }

  private writeSmoothing(): void {
    const share = 100 * this.smoothed();
    this.smoothing.setAttribute("aria-valuetext", share > 0 ? `an average over ${figure(share)}% of the axis` : "none");
  }

  /** As a share of the axis. The slider is finer where it is little. */
  private smoothed(): number {
    return MOST_SMOOTHING * (Number(this.smoothing.value) / 100) ** 2;
  }

  private zoom(range: Range | undefined): void {
    const [low, high] = this.whole;
    let zoomed: Range | undefined;
    if (range) {
      const width = Math.min(high - low, Math.max(range[1] - range[0], (high - low) * LEAST_ZOOM));
      const from = Math.max(low, Math.min(high - width, (range[0] + range[1] - width) / 2));
      if (width < (high - low) * 0.999) zoomed = [from, from + width];
    }
    this.zoomed = zoomed;
    this.redraw();
  }

  private unzoom(): void {
    this.zoom(undefined);
    for (const { chart } of this.charts) chart.drawNow();
  }

  private reset(): HTMLButtonElement {
    const button = h("button", { type: "button", class: "quiet small", hidden: true, onclick: () => this.unzoom() }, "Whole axis");
    this.resets.push(button);
    return button;
  }

  private legend(): HTMLElement {
    const list = h("ul", { class: "curve-legend small", "aria-label": "Runs in the chart", hidden: true });
    this.legends.push(list);
    return list;
  }

  private get axis(): Axis {
    const unit = plural(this.room.counters[0]!);
    return this.time ? TIME : { tick: short, close: count, words: (at) => `${short(at)} ${unit}` };
  }

  /** Another variant: its words, its scales and what there is to reach. */
  suit(variant: Variant, charts: Record<string, ChartWords> = {}): void {
    this.suited = [variant, charts];
    for (const one of this.charts) {
      const { group, chart } = one;
      const own = { ...this.words.charts?.[group.name], ...charts[group.name] };
      const levels = [...(own.levels ?? [])];
      const { goal } = variant;
      const column = group.tests.find(({ name }) => name === goal?.column);
      if (goal && column)
        levels.push({ value: goal.at, label: `solved at ${column.share ? `${figure(100 * goal.at)}%` : figure(goal.at)}` });
      one.levels = levels;
      chart.suit({ about: own.about ?? this.about(group), span: own.span, levels });
    }
  }

  show(present: Lived, past: Lived | undefined, compared: Compared[] = []): void {
    const others = compared.map(({ letter, name }) => letter + name).join();
    const changed = this.compared.map(({ letter, name }) => letter + name).join() !== others;
    // Another run has an axis of its own.
    if (this.present !== present) this.zoomed = undefined;
    Object.assign(this, { present, past, compared });
    if (changed) this.writeLegends();
    this.redraw();
    for (const table of [this.mainTable, this.learning, this.compareTable]) changed ? table.renew() : table.refresh();
  }

  private redraw(): void {
    const { present, past } = this;
    if (!present) return;
    this.whole = [0, this.span(present, past)];
    const range = this.zoomed ?? this.whole;
    const smoothing = this.smoothed() * this.whole[1];
    for (const button of this.resets) button.hidden = !this.zoomed;
    for (const { drawn, chart, levels, level } of this.charts) {
      const at = level && present.test(level.name);
      if (at !== undefined) chart.suit({ levels: [...levels, { value: at, label: `${level!.label.toLowerCase()} ${figure(at)}` }] });
      const overlays = this.compared.map(
        ({ run, letter, name, colour, dash }): Overlay => ({ letter, name, colour, dash, curves: this.still(drawn, run) }),
      );
      chart.show({ present: this.curves(drawn, present, true), past: past && this.curves(drawn, past), overlays, range, smoothing });
    }
  }

  private still(group: Group, run: Lived): Drawn {
    const groups = this.drawn.get(run) ?? new Map<Group, Drawn>();
    this.drawn.set(run, groups);
    const known = groups.get(group) ?? this.curves(group, run);
    groups.set(group, known);
    return known;
  }

  private writeLegends(): void {
    for (const legend of this.legends) {
      legend.hidden = this.compared.length === 0;
      legend.replaceChildren(
        h("li", {}, swatch(PRESENT), "Present run"),
        ...this.compared.map((one) => h("li", {}, swatch(one), h("b", {}, one.letter), ` ${one.name}`)),
      );
    }
  }

  /** The chart of the chosen column, with its legend and in the colours in force. */
  picture(width: number, height: number, pixels: number, about: string): Promise<HTMLCanvasElement> {
    const { chart, group } = this.compareChart;
    const runs = [{ ...PRESENT, name: "Present run" }, ...this.compared];
    const axis = this.time ? "Time of training" : this.counter;
    return composed({
      plot: () => chart.picture(width, height, pixels),
      width,
      height,
      pixels,
      title: this.options(group).title,
      about,
      axis,
      runs,
    });
  }

  /** The newest value of the large one. */
  newest(run: Lived): string | undefined {
    const column = this.main && [...this.main.metrics, ...this.main.tests][0];
    const value = column && (this.main!.metrics.length ? (run.columns[column.name]?.at(-1) ?? undefined) : run.test(column.name));
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
    const curves = metrics.length > 0 ? [...metrics, ...this.lines(group)] : tests;
    const [first, ...others] = curves as [Column, ...Column[]];
    const told = (column: Column): string => own.labels?.[column.name] ?? (column.brief || column.label.toLowerCase());
    return {
      column: first.name,
      label: others.length ? told(first) : undefined,
      others: others.map((column, k) => ({
        column: column.name,
        label: told(column),
        colour: COLOURS[(k + 1) % COLOURS.length]!,
        sparse: metrics.length > 0 && tests.includes(column),
      })),
      axis: this.axis,
      title: own.title ?? (others.length ? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ") : first.label),
      about: own.about ?? this.about(group),
      digits: own.digits,
      share: first.share,
      log: first.log,
      span: own.span,
    };
  }

  private lines({ name, tests }: Group): Column[] {
    return tests.filter((column) => this.words.charts?.[name]?.lines?.includes(column.name));
  }

  private at(progress: Progress): number {
    return this.time ? progress.train_s : (progress.counts[0] ?? 0);
  }

  private curves(group: Group, run: Lived, own = false): Drawn {
    const { metrics, tests } = group;
    const lines = metrics.length > 0 ? this.lines(group) : [];
    const marks: Drawn["changes"] = run.marks.map(({ progress, knob, to }) => ({
      at: this.at(progress),
      words: `${this.label(knob)} ${valueText(to)}`,
    }));
    if (own) run.marks.forEach((mark, k) => (marks[k]!.back = this.back(mark)));
    const notes = run.notes.map(({ progress, words }) => ({ at: this.at(progress), words }));
    const circles = tests.flatMap((column, k) => {
      if (lines.includes(column)) return [];
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
    const at = this.time ? run.train_s : run.counts;
    const columns = { ...run.columns };
    for (const { name } of lines)
      columns[name] = sparse(
        at,
        run.tests.map((row) => ({ at: this.at(row.progress), value: run.test(name, row) ?? null })),
      );
    return { at, columns, changes, tests: circles };
  }

  /** What the axes of all charts show. */
  private span(present: Lived, past: Lived | undefined): number {
    const end = (run: Lived): number => Math.max(this.at(run.progress), (this.time ? run.train_s : run.counts).at(-1) ?? 0);
    const own = end(present);
    const least = (this.time === (this.words.axis === "time") ? this.words.least : undefined) ?? LEAST[this.time ? "time" : "count"];
    // Of a long past run, what is of interest: a little more than it took to solve.
    const interest = past ? Math.min(end(past), past.solved ? this.at(past.solved) * 1.3 : Math.max(least, INTEREST * own)) : 0;
    // A run that was chosen to compare is seen to its end.
    return roundUp(Math.max(least, own * 1.02, interest, ...this.compared.map(({ run }) => end(run))));
  }

  // ---- the same as tables

  /** What a chart shows, as a table. */
  private table(name: string, group: () => Group | undefined): Table {
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

  private get counter(): string {
    return capital(plural(this.room.counters[0]!));
  }

  /** Runs whose values stand beside those of the present one. */
  private beside(): { name: string; run: Lived | undefined }[] {
    return [{ name: "Past run", run: this.past }, ...this.compared.map(({ letter, name, run }) => ({ name: `${letter}: ${name}`, run }))];
  }

  private metricTitles(columns: Column[], events: boolean): string[] {
    return [
      this.counter,
      "Time",
      ...columns.map(({ label }) => label),
      ...(events ? [...this.beside().map(({ name }) => name), EVENTS] : []),
    ];
  }

  /** Rows of metrics, with what happened between them, and the first metric of other runs at the same place of the first counter. */
  private metricRows(table: Table, columns: Column[], events: boolean): string[][] {
    const { present } = this;
    if (!present) return [];
    const rows = spread(present.counts.length, MOST_TABLED);
    const every = rows.length > 1 ? present.iterations[rows[1]!]! - present.iterations[rows[0]!]! : 1;
    const word = this.room.iteration_word;
    write(table.caption, `${table.name}, ${every > 1 ? `every ${every} ${word}s` : `each ${word}`}, newest first.`);
    const happened = events ? this.happened(present) : [];
    const [first] = columns;
    const others = events ? this.beside() : [];
    const cell = (run: Lived, column: Column, row: number): string => told(column, run.columns[column.name]?.[row]);
    const otherAt = (run: Lived | undefined, count: number): string => {
      const row = run?.counts.findIndex((at) => at >= count) ?? -1;
      return run && first && row >= 0 ? cell(run, first, row) : "";
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
          ...others.map(({ run }) => otherAt(run, to)),
          ...(events ? [lately.join("; ")] : []),
        ];
      })
      .reverse();
  }

  private get tested(): Column[] {
    const spreads = this.room.tests.flatMap(({ spread }) => spread);
    return this.room.tests.filter((column) => !spreads.includes(column.name));
  }

  private testTitles(): string[] {
    return [...(this.compared.length ? ["Run"] : []), "Time", this.counter, ...this.tested.map(({ label }) => label)];
  }

  /** Each test, with its standard errors; after those of the present run, those of the others. */
  private testRows(table: Table): string[][] {
    const { present, compared } = this;
    if (!present) return [];
    const errors = this.room.tests.some(({ spread }) => spread.length > 0);
    write(table.caption, `${table.name}: tests, which do not train it, newest first${errors ? "; ± is one standard error" : ""}.`);
    const cell = (run: Lived, column: Column, row: Row): string => {
      const value = run.test(column.name, row);
      const error = column.spread.length === 1 ? run.test(column.spread[0]!, row) : undefined;
      return `${told(column, value)}${error === undefined ? "" : ` ± ${told(column, error)}`}`;
    };
    return [{ letter: "", name: "Present run", run: present }, ...compared].flatMap(({ letter, name, run }) =>
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

  private happened(run: Lived): { count: number; words: string }[] {
    const count = (progress: Progress): number => progress.counts[0] ?? 0;
    const tested = (row: Row): string =>
      this.room.tests
        .flatMap((column, k) => (row.values[k] == null ? [] : [`${column.label.toLowerCase()} ${told(column, row.values[k])}`]))
        .join(", ");
    return [
      ...run.marks.map(({ progress, knob, from, to }) => ({
        count: count(progress),
        words: `${this.label(knob)} changed from ${valueText(from)} to ${valueText(to)}`,
      })),
      ...run.notes.map(({ progress, words }) => ({ count: count(progress), words })),
      ...run.tests.map((row) => ({ count: count(row.progress), words: tested(row) })),
      ...(run.solved ? [{ count: count(run.solved), words: "Solved" }] : []),
    ];
  }
}

/** At most `most` row numbers of so many, evenly spread, the last always among them. */
export function spread(length: number, most: number): number[] {
  const every = Math.max(1, Math.ceil(length / most));
  return Array.from({ length: Math.ceil(length / every) }, (_, k) => length - 1 - k * every).reverse();
}

/** What is known at some places of an axis, at the rows next to them. */
function sparse(axis: number[], known: { at: number; value: number | null }[]): (number | null)[] {
  const values: (number | null)[] = axis.map(() => null);
  let row = 0;
  for (const { at, value } of known) {
    while (row + 1 < axis.length && axis[row + 1]! <= at) row++;
    if (values.length) values[row] = value;
  }
  return values;
}

/** A value as its column is read. */
export const told = ({ share, unit }: Column, value: number | null | undefined): string =>
  value == null ? "" : share ? percent(value) : unit === "points" ? exactly(value) : figure(value);
const exactly = (value: number): string => value.toFixed(2).replace("-", "−");
