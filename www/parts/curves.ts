// The curves of a room: a large chart, small charts, and a chart of any column for the compared runs. All charts show the same part of the
// axis, and tables show the same data.

import { Chart, type ChartOptions, type Drawn, type Overlay } from "./chart";
import { Charting, type ChartWords, type CurveWords, type Group, type RunData, type Scene, type Split } from "./charting";
import type { ChartPicture } from "./chart-picture";
import { CurveTables } from "./curve-tables";
import { Choice, h, id, labelled } from "./dom";
import { figure, plural } from "./format";
import { Lead } from "./lead";
import { PAST, PRESENT, swatch } from "./looks";
import { touch } from "./loop";
import type { Table } from "./table";
import type { Range } from "./zoom";
import type { Mark, RoomInfo, Variant } from "../run/protocol";

export type { ChartWords, CurveWords } from "./charting";

export const CHART_KEYS = { shown: "← → ↑ ↓", does: "on a large chart: move between values or tests; + and − zoom, 0 shows all" };
/** Maximum width of the smoothing average, as a share of the axis. */
const MOST_SMOOTHING = 0.1;
const LEAST_ZOOM = 1e-4;

type Levels = NonNullable<ChartOptions["levels"]>;
/** Level of the trained agent in a test column. */
type TrainedLevel = { column: string; value: number; label: string };
type Shown = Split & { chart: Chart; levels: Levels };

export class RunCurves {
  readonly main: Chart | undefined;
  /** The leading number of the current run. */
  readonly lead = new Lead();
  /** The large chart and its legend. */
  readonly large: HTMLElement[];
  /** The small charts and their table. */
  readonly small: HTMLElement;
  readonly mainTable: Table;
  readonly title: string;
  /** Chart for the comparison of runs, with controls that select its metric. */
  readonly compare: HTMLElement;
  /** Text that explains the zoom and the keys of charts. */
  readonly help = h("p.small", [
    touch()
      ? "Pinch a chart to zoom. Touch it for its values."
      : "Drag along a chart to zoom, or use Ctrl and the wheel; double-click to show all. With the focus on a chart: " +
        "left and right for values, up and down for tests, + and − to zoom, 0 for all.",
  ]);
  private readonly charting: Charting;
  private readonly learning: Table;
  private readonly compareChart: Shown;
  private readonly compareTable: Table;
  private readonly smoothing = h("input", { type: "range", id: id("smoothing"), min: 0, max: 100, value: 0, step: 1 });
  private readonly logarithmic = h("input", { type: "checkbox", id: id("log") });
  private readonly legends: HTMLElement[] = [];
  private readonly resets: HTMLButtonElement[] = [];
  private readonly charts: Shown[] = [];
  private zoomed: Range | undefined;
  private whole: Range = [0, 1];
  private trained: TrainedLevel | undefined;
  private scene: Scene | undefined;
  /** Cached chart data of stored runs, by chart. */
  private drawn = new WeakMap<RunData, Map<Group, Drawn>>();
  private suited: [Variant, Record<string, ChartWords>] | undefined;

  /** `tools` are placed in the head of the large chart. */
  constructor(
    room: RoomInfo,
    words: CurveWords,
    label: (knob: string) => string,
    back?: (mark: Mark) => (() => void) | undefined,
    tools: Node[] = [],
  ) {
    this.charting = new Charting(room, words, label, back);
    const { main, groups } = this.charting;
    const tables = new CurveTables(this.charting, label, () => this.scene);
    const others = groups.filter((group) => group !== main);
    this.title = main ? this.charting.options(main).title : "Curves";
    this.mainTable = tables.of(this.title, () => main);
    this.learning = tables.ofMetrics(
      "Training metrics",
      others.flatMap(({ metrics }) => metrics),
    );
    this.main = main && this.chart(main, [this.reset(), this.mainTable.button, ...tools], { lead: this.lead }).chart;
    this.large = this.main ? [this.main.element, this.legend()] : [];
    this.small = this.multiples(others, words.front);
    this.compareTable = tables.of("Selected curves", () => this.compareChart.group);
    const choices = this.charting.choices();
    this.compareChart = this.chart(main ?? choices[0]!.groups[0]!, [this.reset(), this.compareTable.button], { main: true });
    this.smoothing.addEventListener("input", () => {
      this.smoothing.style.setProperty("--share", `${this.smoothing.value}%`);
      this.writeSmoothing();
      this.redraw();
    });
    this.writeSmoothing();
    this.logarithmic.addEventListener("change", () => this.choose(this.compareChart.group));
    this.compare = h("div.compare", [this.tools(choices), this.compareChart.chart.element, this.legend(), this.compareTable.element]);
  }

  /** Creates the small charts. Charts named in `front` are visible; the other charts are in a collapsed section. */
  private multiples(groups: Group[], front = groups.map(({ name }) => name)): HTMLElement {
    const visible = front.flatMap((name) => groups.find((group) => group.name === name) ?? []);
    const collapsed = groups.filter((group) => !visible.includes(group));
    const charts = (groups: Group[]): HTMLElement => h("div.multiples", ...groups.map((group) => this.chart(group).chart.element));
    return h("div", [
      charts(visible),
      h("div.more-curves", [collapsed.length > 0 && h("details", h("summary", "More curves"), charts(collapsed)), this.learning.button]),
      this.learning.element,
    ]);
  }

  private tools(choices: { label: string; groups: Group[] }[]): HTMLElement {
    const { charting } = this;
    const { group: first } = this.compareChart;
    const option = (group: Group): HTMLElement => h("option", { value: group.name, selected: group === first }, charting.called(group));
    const chosen = h("select", { id: id("chart-of") });
    chosen.append(...choices.map(({ label, groups }) => h("optgroup", { label }, ...groups.map(option))));
    const all = choices.flatMap(({ groups }) => groups);
    chosen.addEventListener("change", () => this.choose(all.find(({ name }) => name === chosen.value) ?? first));
    const axes: { value: "count" | "time"; words: string }[] = [
      { value: "count", words: `By ${plural(charting.room.counters[0]!)}` },
      { value: "time", words: "By time" },
    ];
    const axis = new Choice("Axis", axes, charting.time ? "time" : "count", (value) => this.setTime(value === "time"));
    return h("div.curve-tools.wrap.foot", [
      labelled("Chart", chosen),
      axis.element,
      labelled("Smoothing", this.smoothing, "field smoothing"),
      h("p.tick", this.logarithmic, h("label", { for: this.logarithmic.id }, "Log scale")),
    ]);
  }

  private chart(group: Group, tools: Node[] = [], { lead, main = lead !== undefined }: { lead?: Lead; main?: boolean } = {}): Shown {
    const one: Shown = {
      ...this.charting.split(group),
      chart: new Chart({ ...this.charting.options(group), main, zoom: (range) => this.zoom(range) }, tools, lead),
      levels: [],
    };
    this.charts.push(one);
    return one;
  }

  private choose(group: Group): void {
    const { compareChart } = this;
    const options = this.charting.options(group);
    Object.assign(compareChart, this.charting.split(group));
    compareChart.chart.suit({ ...options, main: true, log: this.logarithmic.checked || options.log });
    if (this.suited) this.suit(...this.suited);
    this.redraw();
    this.compareTable.renew();
  }

  private setTime(time: boolean): void {
    this.charting.time = time;
    this.zoomed = undefined;
    this.drawn = new WeakMap();
    for (const { chart } of this.charts) chart.suit({ axis: this.charting.axis });
    this.redraw();
  }

  private writeSmoothing(): void {
    const share = 100 * this.smoothingShare();
    this.smoothing.setAttribute("aria-valuetext", share > 0 ? `an average over ${figure(share)}% of the axis` : "none");
  }

  /**
   * Returns the width of the smoothing average as a share of the axis. The width is proportional to the square of the slider's value, so
   * that small widths can be set precisely.
   */
  private smoothingShare(): number {
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
    const button = h("button.quiet.small", { hidden: true, onclick: () => this.unzoom() }, "Whole axis");
    this.resets.push(button);
    return button;
  }

  private legend(): HTMLElement {
    const list = h("ul.curve-legend.wrap.small", { "aria-label": "Runs in the chart", hidden: true });
    this.legends.push(list);
    return list;
  }

  suit(variant: Variant, charts: Record<string, ChartWords> = {}): void {
    this.suited = [variant, charts];
    for (const one of this.charts) {
      const { group, chart } = one;
      const own = { ...this.charting.words.charts?.[group.name], ...charts[group.name] };
      const levels = [...(own.levels ?? [])];
      const { goal } = variant;
      const column = group.tests.find(({ name }) => name === goal?.column);
      if (goal && column) levels.push({ value: goal.at, label: `goal ${column.share ? `${figure(100 * goal.at)}%` : figure(goal.at)}` });
      const { trained } = this;
      if (trained && group.tests.some(({ name }) => name === trained.column))
        levels.push({ value: trained.value, label: trained.label, colour: "ghost" });
      one.levels = levels;
      const tests = own.columns ? group.tests.filter(({ name }) => own.columns!.includes(name)) : group.tests;
      one.drawn = this.charting.split({ ...group, tests }).drawn;
      const { column: first, label, name, others } = this.charting.options({ ...group, tests });
      chart.suit({ column: first, label, name, others, about: own.about ?? this.charting.about(group), span: own.span, levels });
    }
  }

  /** Shows the level of the trained agent in the charts of its column; with undefined, removes the level. */
  setTrained(trained: TrainedLevel | undefined): void {
    if (trained?.value === this.trained?.value) return;
    this.trained = trained;
    if (this.suited) this.suit(...this.suited);
    this.redraw();
  }

  show(present: RunData, past: RunData | undefined, compared: Scene["compared"] = []): void {
    const named = (scene: Scene["compared"] = []): string => scene.map(({ letter, name }) => letter + name).join();
    const changed = named(this.scene?.compared) !== named(compared);
    // A new run shows the whole axis.
    if (this.scene?.present !== present) this.zoomed = undefined;
    this.scene = { present, past, compared };
    if (changed) this.writeLegends(compared);
    this.redraw();
    for (const table of [this.mainTable, this.learning, this.compareTable]) changed ? table.renew() : table.refresh();
  }

  private redraw(): void {
    const { charting, scene } = this;
    if (!scene) return;
    const { present, past, compared } = scene;
    this.whole = [0, charting.span(scene)];
    const range = this.zoomed ?? this.whole;
    const smoothing = this.smoothingShare() * this.whole[1];
    for (const button of this.resets) button.hidden = !this.zoomed;
    for (const { drawn, chart, levels, level } of this.charts) {
      const at = level && present.test(level.name);
      if (at !== undefined) chart.suit({ levels: [...levels, { value: at, label: `${level!.label.toLowerCase()} ${figure(at)}` }] });
      const overlays = compared.map(
        ({ run, letter, name, colour, dash }): Overlay => ({ letter, name, colour, dash, curves: this.cached(drawn, run) }),
      );
      chart.show({
        present: charting.curves(drawn, present, true),
        past: past && charting.curves(drawn, past),
        overlays,
        range,
        smoothing,
      });
    }
  }

  private cached(group: Group, run: RunData): Drawn {
    const groups = this.drawn.get(run) ?? new Map<Group, Drawn>();
    this.drawn.set(run, groups);
    const known = groups.get(group) ?? this.charting.curves(group, run);
    groups.set(group, known);
    return known;
  }

  private writeLegends(compared: Scene["compared"]): void {
    for (const legend of this.legends) {
      legend.hidden = compared.length === 0;
      legend.replaceChildren(
        h("li", swatch(PRESENT), "Current run"),
        ...compared.map((one) => h("li", swatch(one), h("b", one.letter), ` ${one.name}`)),
      );
    }
  }

  /** Returns the selected chart and the texts around its picture. */
  get selected(): ChartPicture {
    const { chart, group } = this.compareChart;
    const past = this.scene?.past ? [{ ...PAST, name: "Past run" }] : [];
    return {
      chart,
      title: this.charting.options(group).title,
      axis: this.charting.time ? "Training time" : this.charting.counter,
      runs: [{ ...PRESENT, name: "Current run" }, ...past, ...(this.scene?.compared ?? [])],
    };
  }
}
