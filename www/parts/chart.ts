// A chart of curves. Its axis is a run's first counter or its training time. It also shows live changes, levels, tests with their spread,
// the past run and compared runs. Colours come from the style sheet.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./chart.css";
import { font, outlined, pen, segment, stroke, type Pen } from "./canvas";
import { h, id, write } from "./dom";
import { figure, minus, percent, short } from "./format";
import type { Lead } from "./lead";
import { drawLevels, type Level, type Segment } from "./levels";
import { untilClosed } from "./life";
import { calm, drawing } from "./loop";
import { state, type State } from "./signal";
import { smooth } from "./smooth";
import { onTheme, palette, type Colour } from "./theme";
import { logarithmicTicks } from "./ticks";
import { about, zooming, type Range } from "./zoom";

/**
 * Functions that format a position on the axis: as a tick label (`tick`), as a more exact label for close ticks (`close`), and as a text
 * with the unit (`words`). `end` is the last tick, so that all ticks can have the same unit. `steps` are the allowed distances between
 * ticks.
 */
export type Axis = {
  tick: (at: number, end?: number) => string;
  close: (at: number) => string;
  words: (at: number) => string;
  steps?: number[];
};

/** A test, drawn as a circle in the colour of `column`, with a bar from `low` to `high`. `error` is true if the bar is a standard error. */
export type Test = { at: number; mean: number; column: string; low?: number; high?: number; error?: boolean };

/** Data of a run in a chart. `at` contains increasing positions on the axis; each column has one value per position. */
export interface Drawn {
  readonly at: number[];
  readonly columns: Record<string, (number | null)[]>;
  /** Live changes and notes. `back` undoes the change; `back` is missing if the run's state before the change is not kept. */
  readonly changes: { at: number; words: string; back?: () => void }[];
  readonly tests: Test[];
}

/** A compared run. The letter and the dashes identify its curves. In a chart with a single curve, the colour identifies the run too. */
export type Overlay = { letter: string; name: string; colour: Colour; dash: number[]; curves: Drawn };

export type Shown = {
  present: Drawn;
  past?: Drawn;
  overlays: Overlay[];
  /** Visible part of the axis. */
  range: Range;
  /** Width of the smoothing average, in units of the axis; 0 draws the raw values. */
  smoothing: number;
};

/** A curve of the chart. A `sparse` column has no value in most rows. */
type Series = { column: string; label?: string; colour: Colour; sparse?: boolean };

export type ChartOptions = {
  column: string;
  /** Curves in addition to `column`. */
  others?: Series[];
  /** Label of the curve of `column`, if the chart has several curves. */
  label?: string;
  /** Name of the value of `column` beside a leading number, if the chart has a single curve. */
  name?: string;
  axis: Axis;
  title: string;
  /** Description in one line. */
  about: string;
  digits?: number;
  /** True if values are shown as percentages. */
  share?: boolean;
  log?: boolean;
  /** Range that the vertical scale covers at least. */
  span?: [number, number];
  /** Horizontal lines with labels, by default in a muted colour. */
  levels?: Level[];
  /** True for the large chart, which has an axis, tests, labels of changes and keys. Only this chart can have the focus. */
  main?: boolean;
  /** Changes the visible part of the axis; undefined shows the whole axis. */
  zoom?: (range: Range | undefined) => void;
};

const DRAW_EVERY_MS = 200;
/** Maximum distance in px between the cursor and a test's circle at which the test is selected. */
const NEAR_PX = 9;
/** Minimum distance in px between the rings of two tests of a column. */
const RING_GAP = 8;
/** Maximum number of arrow-key steps from one end of the axis to the other. */
const KEY_STEPS = 120;
const KEY_ZOOM = 0.6;
const FAINT = 0.3;

/** The button that undoes a change, placed over the change's label in the plot. */
type Fork = { words: string; back: () => void; left: number; top: number; width: number };

/** Rounds the end of the axis up, so that the curve does not shift with each row. */
export function roundUp(end: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(end, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((k) => k * size).find((round) => round >= end) ?? end;
}

/** Returns the index of the last row at or before a position on the axis; −1 if there is no such row. */
function rowAt(at: readonly number[], x: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const half = (low + high) >> 1;
    if (at[half]! <= x) low = half + 1;
    else high = half;
  }
  return low - 1;
}

export class Chart {
  readonly element: HTMLElement;
  /** The plot; undefined until the chart is first visible. */
  private plot: uPlot | undefined;
  private readonly area = h("div.plot");
  private readonly now: HTMLElement;
  private readonly heading: HTMLElement;
  /** Position of the cursor on the axis; without a cursor, the chart's note. */
  private readonly where = h("span.where.small");
  private noted = "";
  /** Elements above the plot, one for the value of each curve. With several curves, a value has the label and the colour of its curve. */
  private values: HTMLElement[] = [];
  /** Box with the values of every run at the cursor. */
  private readonly tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
  private readonly forks = h("div.fork-marks");
  private forksShown = "";
  private readonly showing = state<Shown | undefined>(undefined);
  private readonly settings: State<ChartOptions>;
  /** Draws immediately, even if the chart is off-screen. */
  readonly drawNow: () => void;
  /** Row at the cursor, which the pointer or the keys move; null without a cursor. */
  private hovered: number | null = null;
  /** Tests at the cursor. */
  private tests: Test[] = [];
  /** True if this chart has the pointer or the focus. The cursors of all charts move together. */
  private own = false;
  private readonly about: HTMLElement;

  /** `lead` is placed above the title, beside the values of the curves. */
  constructor(
    options: ChartOptions,
    tools: Node[] = [],
    private readonly lead?: Lead,
  ) {
    this.settings = state(options);
    this.about = h("span.about", options.about);
    this.now = h(lead ? "output.latest" : "output.number");
    const titleId = id("chart");
    this.heading = h("h3", { id: titleId }, options.title);
    const head = h("div.chart-head", this.heading, this.where, ...tools);
    this.element = h("figure", { class: options.main ? "chart main-chart" : "chart", "aria-labelledby": titleId }, [
      h("figcaption", lead ? [lead.element, this.now, head] : [head, this.now], this.about),
      this.area,
      this.forks,
    ]);
    this.area.setAttribute("role", options.main ? "slider" : "img");
    if (options.main) {
      this.area.tabIndex = 0;
      for (const [name, value] of Object.entries({ valuemin: 0, valuemax: 0, valuenow: 0, valuetext: "nothing yet" }))
        this.area.setAttribute(`aria-${name}`, String(value));
      this.area.addEventListener("keydown", (event) => this.key(event));
      this.area.addEventListener("blur", () => ((this.own = false), this.plot?.setCursor({ left: -10, top: -10 })));
    }
    this.area.setAttribute("aria-label", `${options.title}: nothing yet`);
    this.writeHead();
    this.area.append(this.tip);
    this.area.addEventListener("pointerenter", () => (this.own = true));
    this.area.addEventListener("pointerleave", () => {
      this.own = false;
      this.writeTip();
    });
    zooming(this.area, {
      box: () => this.over.getBoundingClientRect(),
      range: () => this.shown?.range ?? [0, 1],
      zoom: (range) => this.zoom(range),
      point: (x, y) => {
        this.own = true;
        const { left, top } = this.over.getBoundingClientRect();
        this.plot?.setCursor({ left: x - left, top: y - top });
      },
    });
    let first = 0;
    const sizes = new ResizeObserver(([{ contentRect: size }]) => {
      const [width, height] = [Math.round(size.width), Math.round(size.height)];
      clearTimeout(first);
      if (width === 0 || height === 0) return;
      if (this.plot) this.plot.setSize({ width, height });
      // The first plot takes long, so it has a task of its own.
      else first = setTimeout(() => this.make(width, height));
    });
    sizes.observe(this.area);
    this.drawNow = drawing(this.area, () => this.draw(), DRAW_EVERY_MS);
    onTheme(() => this.plot?.redraw(false));
    untilClosed(() => (clearTimeout(first), sizes.disconnect(), this.plot?.destroy()));
  }

  /** Writes the labels of the values above the plot. */
  private writeHead(): void {
    const series = this.series();
    this.values = series.map(() => h("span"));
    this.now.classList.toggle("several", series.length > 1);
    this.now.replaceChildren(
      ...series.map(({ label, colour }, k) => {
        const name = label ?? (this.lead && this.options.name);
        return h("span.value", { style: label && `color:var(--${colour})` }, name && h("span.unit", `${name} `), this.values[k]);
      }),
    );
  }

  private make(width: number, height: number): void {
    this.plot?.destroy();
    this.plot = new uPlot(this.uplot(width, height), this.data(), (plot, ready) => {
      this.area.prepend(plot.root);
      ready();
    });
  }

  /** Element of the plot's area inside the axes. Before the plot exists, the element in which the plot will be. */
  private get over(): HTMLElement {
    return this.plot?.over ?? this.area;
  }

  /** Changes some options, for another variant or another column. */
  suit(options: Partial<ChartOptions>): void {
    const made = (): string => JSON.stringify([this.series(), this.options.name, this.options.log]);
    const before = made();
    this.settings.value = { ...this.options, ...options };
    write(this.about, this.options.about);
    write(this.heading, this.options.title);
    if (made() === before) return;
    this.writeHead();
    if (this.plot) this.make(this.plot.width, this.plot.height);
  }

  show(shown: Shown): void {
    this.showing.value = shown;
    this.writeNow();
  }

  private get shown(): Shown | undefined {
    return this.showing.value;
  }

  private get options(): ChartOptions {
    return this.settings.value;
  }

  /** Zooms to `range` and redraws immediately. */
  private zoom(range: Range | undefined): void {
    this.options.zoom?.(range);
    this.drawNow();
  }

  /**
   * Draws the chart outside the page and passes the drawing to `take`. `pixels` is the number of device pixels per CSS pixel. `tune`
   * changes uPlot's options.
   */
  async offscreen(
    { width, height, pixels }: { width: number; height: number; pixels: number },
    take: (plot: uPlot) => void,
    tune: (options: uPlot.Options) => void = () => {},
  ): Promise<void> {
    const unit = pixels / uPlot.pxRatio;
    const options = this.uplot(width * unit, height * unit, unit);
    tune(options);
    const plot = new uPlot(options, this.data(), h("div"));
    // uPlot draws in a microtask after its construction.
    await new Promise((resolve) => setTimeout(resolve));
    take(plot);
    plot.destroy();
  }

  /**
   * Returns the columns for uPlot: the positions on the axis, then the faint curves, then the strong curves. With smoothing, the faint
   * curves are the raw values, and the strong curves are the averages. Without smoothing, the faint curves are empty, and the strong curves
   * are the raw values.
   */
  private data(): uPlot.AlignedData {
    const { present, smoothing } = this.shown ?? {};
    const series = this.series();
    if (!present) return [[], ...series.flatMap(() => [[], []])] as unknown as uPlot.AlignedData;
    const raw = series.map(({ column }) => this.drawable(present.columns[column] ?? []));
    const strong = smoothing ? raw.map((values) => smooth(present.at, values, smoothing)) : raw;
    const none = present.at.map(() => null);
    return [present.at, ...raw.map((values) => (smoothing ? values : none)), ...strong] as unknown as uPlot.AlignedData;
  }

  /** Replaces each value that a logarithmic scale cannot show with null. */
  private drawable(values: (number | null)[]): (number | null)[] {
    return this.options.log ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
  }

  private draw(): void {
    const { shown, options } = this;
    if (!shown) return;
    const { present } = shown;
    this.plot?.setData(this.data());
    const values = this.series().flatMap((series) => {
      const last = this.value(present, series, present.at.length - 1);
      return last == null ? [] : [this.named(series, last)];
    });
    const { words } = options.axis;
    this.area.setAttribute(
      "aria-label",
      `${options.title}: ${values.length ? `${values.join(", ")} after ${words(present.at.at(-1)!)}` : "nothing yet"}`,
    );
    if (options.main) this.area.setAttribute("aria-valuemax", String(Math.max(0, present.at.length - 1)));
  }

  private series(): Series[] {
    const { column, label, others = [], main } = this.options;
    return [{ column, label, colour: main ? "training" : "ink" }, ...others];
  }

  /** Returns the value of a curve in a row. For a sparse column, returns the latest value up to that row. */
  private value(run: Drawn | undefined, { column, sparse }: Series, row: number): number | null | undefined {
    const values = run?.columns[column];
    if (sparse) while (row > 0 && values?.[row] == null) row--;
    return values?.[row];
  }

  private number(value: number): string {
    const { digits, share } = this.options;
    if (share) return percent(value);
    return digits === undefined ? figure(value) : minus(value.toFixed(digits));
  }

  /** Formats a value, after the label of its curve if the curve has a label. */
  private named({ label }: Series, value: number): string {
    return `${label ? `${label} ` : ""}${this.number(value)}`;
  }

  /** Shows a short note beside the title. */
  note(words: string): void {
    if (words === this.noted) return;
    this.noted = words;
    this.writeNow();
  }

  private writeNow(): void {
    const { hovered } = this;
    const present = this.shown?.present;
    const row = hovered ?? (present?.at.length ?? 0) - 1;
    const values = this.series().map((series) => this.value(present, series, row));
    values.forEach((value, k) => {
      const shown = this.values[k]!;
      // The labels of several curves are a legend, also before the first values.
      write(shown, value != null ? this.number(value) : values.length > 1 ? "\u200b" : "–");
      // A column may have no value in a variant.
      shown.parentElement!.hidden = value == null && values.some((other) => other != null);
    });
    write(this.where, hovered !== null && present ? `at ${this.options.axis.tick(present.at[row] ?? 0)}` : this.noted);
  }

  /** Emphasises the leading number and the chart for a moment. */
  celebrate(): void {
    if (calm()) return;
    const grown = { transform: "scale(1.12)", textShadow: "0 0 24px var(--brand)", offset: 0.3 };
    this.lead?.number.animate([{}, grown, {}], { duration: 1400, easing: "ease-out" });
    this.element.parentElement?.animate([{}, { boxShadow: "0 0 0 4px var(--brand)", offset: 0.3 }, {}], 1400);
  }

  // ---- cursor

  private cursorMoved(): void {
    const { plot, options, shown } = this;
    if (!plot) return;
    const { left = -10, idx } = plot.cursor;
    const present = shown?.present;
    this.hovered = left >= 0 && present?.at.length ? (idx ?? null) : null;
    this.tests = options.main && left >= 0 && present ? this.nearest(plot, present.tests, left) : [];
    this.writeNow();
    this.writeTip();
  }

  /**
   * Returns the tests at the position nearest to `left`, a horizontal position in the plot in px. Returns none beyond a distance of
   * `NEAR_PX`.
   */
  private nearest(plot: uPlot, tests: Test[], left: number): Test[] {
    const apart = (test: Test): number => Math.abs(plot.valToPos(test.at, "x") - left);
    const near = tests.reduce<Test | undefined>((best, test) => (best && apart(best) <= apart(test) ? best : test), undefined);
    return near && apart(near) <= NEAR_PX ? tests.filter(({ at }) => at === near.at) : [];
  }

  /** Returns the values at the cursor, one line per run. The current run is first. */
  private readings(): { letter: string; name: string; text: string }[] {
    const { shown, plot, options } = this;
    const { left = -10 } = plot?.cursor ?? {};
    if (!shown || !plot || left < 0) return [];
    const x = this.tests[0]?.at ?? (this.hovered !== null ? shown.present.at[this.hovered]! : plot.posToVal(left, "x"));
    const of = (run: Drawn): string => {
      // A run has no value after its end.
      const row = x <= (run.at.at(-1) ?? -Infinity) ? rowAt(run.at, x) : -1;
      const curves = this.series().flatMap((series) => {
        const value = row < 0 ? null : this.value(run, series, row);
        if (value == null) return [];
        const mean = shown.smoothing ? smooth(run.at, run.columns[series.column]!, shown.smoothing)[row] : undefined;
        return [mean == null ? this.named(series, value) : `${this.named(series, mean)} smoothed, ${this.number(value)} raw`];
      });
      const tests = !options.main ? [] : run === shown.present ? this.tests : this.nearest(plot, run.tests, left);
      return [...curves, ...tests.map((test) => this.testWords(test))].join("; ");
    };
    const lines = [{ letter: "", name: shown.overlays.length ? "Current run" : "", text: of(shown.present) }];
    for (const { letter, name, curves } of shown.overlays) lines.push({ letter, name, text: of(curves) || "no value" });
    return lines.filter(({ text }) => text);
  }

  private testWords({ at, mean, low, high, error, column }: Test): string {
    const series = this.series();
    const label = series.length > 1 ? series.find((one) => one.column === column)?.label : undefined;
    const spread =
      low === undefined || high === undefined
        ? ""
        : error
          ? ` ± ${this.number((high - low) / 2)}`
          : `, ${this.number(low)} to ${this.number(high)}`;
    return `${label ? `${label} in the test` : "test"} ${this.number(mean)}${spread} at ${this.options.axis.tick(at)}`;
  }

  private writeTip(): void {
    const { tip, area, options, plot, shown } = this;
    const lines = this.own || document.activeElement === area ? this.readings() : [];
    const x = this.tests[0]?.at ?? shown?.present.at[this.hovered ?? -1];
    // Hides the box if it would only repeat the single value that is above the plot.
    tip.hidden = lines.length === 0 || (lines.length === 1 && !this.tests.length && !shown?.smoothing);
    if (plot && !tip.hidden) {
      tip.replaceChildren(
        ...(x === undefined ? [] : [h("p.small", options.axis.words(x))]),
        ...lines.map(({ letter, name, text }) => h("p", h("b", letter), h("span.small", letter ? " " : name && `${name} `), text)),
      );
      const { left = 0 } = plot.cursor;
      const from = plot.over.offsetLeft + left;
      tip.style.left = `${Math.max(0, from > area.clientWidth / 2 ? from - tip.offsetWidth - 12 : from + 12)}px`;
    }
    if (!options.main || this.hovered === null) return;
    area.setAttribute("aria-valuenow", String(this.hovered));
    const spoken = lines.map(({ letter, name, text }) => [letter && `${letter}:`, name, text].filter(Boolean).join(" ")).join(". ");
    area.setAttribute("aria-valuetext", `${x === undefined ? "" : `${options.axis.words(x)}: `}${spoken}`);
  }

  /** Handles keys: left and right move along the curve, up and down select a test, plus and minus zoom, and 0 shows the whole axis. */
  private key(event: KeyboardEvent): void {
    const { shown, plot } = this;
    if (!shown || !plot || event.ctrlKey || event.metaKey || event.altKey) return;
    const { at, tests } = shown.present;
    const [from, to] = shown.range;
    const [first, last] = [Math.max(0, rowAt(at, from)), rowAt(at, to)];
    const each = Math.max(1, Math.ceil((last - first) / KEY_STEPS));
    const row = this.hovered ?? last;
    const here = this.tests[0]?.at ?? at[row] ?? to;
    const seen = tests.filter((test) => test.at >= from && test.at <= to);
    const steps: Record<string, () => number | undefined> = {
      ArrowLeft: () => at[Math.max(first, row - (this.hovered === null ? 0 : each))],
      ArrowRight: () => at[Math.min(last, row + each)],
      PageDown: () => at[Math.max(first, row - 10 * each)],
      PageUp: () => at[Math.min(last, row + 10 * each)],
      ArrowUp: () => (seen.find((test) => test.at > here) ?? seen.at(-1))?.at,
      ArrowDown: () => (seen.findLast((test) => test.at < here) ?? seen[0])?.at,
      Home: () => at[first],
      End: () => at[last],
    };
    const zooms: Record<string, Range | undefined> = {
      ...{ "+": about(shown.range, here, KEY_ZOOM), "=": about(shown.range, here, KEY_ZOOM) },
      ...{ "-": about(shown.range, here, 1 / KEY_ZOOM), "0": undefined, Escape: undefined },
    };
    const x = steps[event.key]?.();
    if (event.key in zooms) this.zoom(zooms[event.key]);
    else if (!(event.key in steps)) return;
    event.preventDefault();
    if (x !== undefined) plot.setCursor({ left: plot.valToPos(x, "x"), top: plot.over.clientHeight / 2 });
  }

  private tick(value: number | null): string {
    if (value === null) return ""; // most ticks of a logarithmic scale have no label
    if (this.options.share) return `${Number((100 * value).toPrecision(4))}%`;
    const size = Math.abs(value);
    if (this.options.log && size < 1000) return figure(Number(value.toPrecision(2)));
    return size >= 1000 ? short(value) : size > 0 && size < 1e-4 ? figure(value) : minus(String(Number(value.toPrecision(4))));
  }

  /** Returns the range of the vertical scale for the visible values. `from` and `to` are the limits that uPlot found. */
  private extent(from: number | null, to: number | null): Range {
    const { options, shown } = this;
    let low = Math.min(from ?? Infinity, options.span?.[0] ?? Infinity);
    let high = Math.max(to ?? -Infinity, options.span?.[1] ?? -Infinity);
    const include = (value: number | null | undefined): void => {
      if (value == null || (options.log && value <= 0)) return;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    };
    // Without a given range (`span`), the scale also covers the levels.
    if (!options.span) for (const { value } of options.levels ?? []) include(value);
    const [begin, end] = shown?.range ?? [0, 0];
    for (const { at, columns } of shown?.overlays.map(({ curves }) => curves) ?? [])
      for (const { column } of this.series())
        columns[column]?.forEach((value, row) => at[row]! >= begin && at[row]! <= end && include(value));
    if (options.main)
      for (const { tests } of [...(shown ? [shown.present] : []), ...(shown?.overlays ?? []).map(({ curves }) => curves)])
        for (const test of tests) {
          if (test.at < begin || test.at > end) continue;
          include(test.mean);
          if (test.error) include(test.low), include(test.high);
        }
    return low <= high ? [low, high] : options.log ? [0.1, 1] : [0, 1];
  }

  /** Returns the options of uPlot. `unit` scales all sizes. */
  private uplot(width: number, height: number, unit = 1): uPlot.Options {
    const { main } = this.options;
    const thin = { width: unit, size: 4 * unit };
    const small = font(12 * unit);
    const pad = (_: uPlot, from: number | null, to: number | null): [number, number] => {
      const { options } = this;
      let [low, high] = this.extent(from, to);
      // Widens the scale of a nearly constant curve. Otherwise several ticks would have the same label, or the distance of ticks would be
      // below the precision of a number.
      const size = Math.max(Math.abs(low), Math.abs(high));
      if (high - low < 1e-9 * Math.max(1, size)) {
        const room = Math.max(0.5, 1e-6 * size);
        [low, high] = options.log ? [low / 2, high * 2] : [low - room, high + room];
      }
      if (options.log) return [(low > 0 ? low : Math.max(high, 1e-9) / 1000) / 1.2, Math.max(high, 1e-9) * 1.2];
      const room = (high - low) * 0.06;
      return [low === options.span?.[0] ? low : low - room, high + room];
    };
    const ratio = uPlot.pxRatio * unit;
    const line = main ? 2 : 1.25;
    const series = this.series();
    const curve = (colour: Colour, width: number): uPlot.Series => ({
      stroke: () => palette[colour],
      width,
      points: { show: false },
      spanGaps: true,
    });
    return {
      width,
      height,
      padding: [main ? 16 : 6, main ? 24 : 10, main ? 0 : 4, 0].map((side) => side * unit) as [number, number, number, number],
      legend: { show: false },
      cursor: unit === 1 ? { sync: { key: "steps" }, y: false, drag: { x: false, y: false }, points: { size: 6 } } : { show: false },
      scales: {
        x: { time: false, range: () => this.shown?.range ?? [0, 1] },
        y: { range: pad, ...(this.options.log && { distr: 3 as const }) },
      },
      axes: [
        {
          show: main ?? false,
          font: small,
          stroke: () => palette.muted,
          grid: { show: false },
          ticks: { stroke: () => palette.hair, ...thin },
          border: { show: true, stroke: () => palette.hair, width: unit },
          values: (_, ticks) => {
            const { tick, close } = this.options.axis;
            const labels = ticks.map((at) => tick(at, ticks.at(-1)));
            return new Set(labels).size < labels.length ? ticks.map(close) : labels;
          },
          incrs: () => this.options.axis.steps ?? STEPS,
          space: 64 * unit,
          size: 26 * unit,
          gap: 3 * unit,
        },
        {
          font: small,
          stroke: () => palette.muted,
          grid: { stroke: () => palette.line, width: unit },
          ticks: { show: false },
          ...(this.options.log && {
            splits: (_: uPlot, _axis: number, low: number, high: number, step: number) => logarithmicTicks(low, high, step),
          }),
          values: (_, ticks) => ticks.map((tick) => this.tick(tick)),
          space: (main ? 40 : 24) * unit,
          size: (main ? 44 : 52) * unit,
          gap: 6 * unit,
        },
      ],
      series: [
        {},
        ...series.map(({ colour }) => ({ ...curve(colour, unit), alpha: FAINT })),
        ...series.map(({ colour, label }) => ({ ...curve(colour, line * unit), label: `Current run${label ? `: ${label}` : ""}` })),
      ],
      hooks: {
        drawAxes: [(plot) => this.drawBehind(plot, ratio)],
        draw: [(plot) => this.drawAround(plot, ratio)],
        setCursor: [() => this.cursorMoved()],
      },
    };
  }

  /** Draws levels, the past run and compared runs behind the curve. */
  drawBehind(plot: uPlot, ratio: number, c: Pen = plot.ctx): void {
    const { bbox } = plot;
    const { shown, options } = this;
    c.save();
    c.textBaseline = "alphabetic"; // the y axis sets another
    c.beginPath();
    c.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    c.clip();
    const levels = (options.levels ?? [])
      .filter(({ value }) => !options.log || value > 0)
      .map((level) => ({ ...level, y: Math.round(plot.valToPos(level.value, "y", true)) + 0.5 }));
    const box = { left: bbox.left, top: bbox.top, right: bbox.left + bbox.width, bottom: bbox.top + bbox.height };
    if (levels.length > 0) drawLevels(c, levels, box, this.segments(plot, ratio), ratio);
    const { past, overlays = [], smoothing = 0 } = shown ?? {};
    const line = (run: Drawn, values: (number | null)[]): [number, number] | undefined => {
      let end: [number, number] | undefined;
      c.beginPath();
      this.drawable(values).forEach((value, row) => {
        if (value == null) return;
        const here: [number, number] = [plot.valToPos(run.at[row]!, "x", true), plot.valToPos(value, "y", true)];
        c.lineTo(...here);
        if (here[0] <= bbox.left + bbox.width) end = here;
      });
      c.stroke();
      return end;
    };
    const both = (run: Drawn, column: string, name: string): [number, number] | undefined => {
      let values = run.columns[column] ?? [];
      if (smoothing) {
        c.globalAlpha = FAINT;
        line(run, values);
        c.globalAlpha = 1;
        values = smooth(run.at, this.drawable(values), smoothing);
      }
      c.named?.(name);
      return line(run, values);
    };
    if (past) {
      pen(c, palette.ghost, (options.main ? 1.5 : 1) * ratio);
      both(past, options.column, "Past run");
    }
    const series = this.series();
    c.font = font(12 * ratio, 600);
    c.textAlign = "right";
    for (const { letter, name, colour, dash, curves } of overlays) {
      for (const one of series) {
        pen(c, palette[series.length > 1 ? one.colour : colour], (options.main ? 1.75 : 1.25) * ratio);
        c.setLineDash(dash.map((part) => part * ratio));
        const end = both(curves, one.column, name);
        c.setLineDash([]);
        if (!end) continue;
        const [x, y] = [
          Math.max(bbox.left + 12 * ratio, Math.min(end[0], bbox.left + bbox.width - 2 * ratio)),
          Math.max(bbox.top + 11 * ratio, end[1] - 4 * ratio),
        ];
        c.fillStyle = palette[colour];
        outlined(c, letter, x, y, ratio);
      }
      if (!options.main) continue;
      c.strokeStyle = palette[colour];
      c.fillStyle = palette.raised;
      c.lineWidth = 1.25 * ratio;
      for (const { at, mean } of curves.tests) {
        if (options.log && mean <= 0) continue;
        ring(c, plot.valToPos(at, "x", true), plot.valToPos(mean, "y", true), 2.4 * ratio);
      }
    }
    c.restore();
  }

  /**
   * Returns line segments of everything that a label should not cover, in canvas pixels: all curves, tests, and live changes with their
   * labels.
   */
  private segments(plot: uPlot, ratio: number): Segment[] {
    const found: Segment[] = [];
    const place = (at: number, value: number): [number, number] => [plot.valToPos(at, "x", true), plot.valToPos(value, "y", true)];
    const { present, past, overlays = [] } = this.shown ?? {};
    for (const run of [present, past, ...overlays.map(({ curves }) => curves)]) {
      if (!run) continue;
      for (const { column } of this.series()) {
        let last: [number, number] | undefined;
        this.drawable(run.columns[column] ?? []).forEach((value, row) => {
          if (value == null) return;
          const here = place(run.at[row]!, value);
          if (last) found.push([...last, ...here]);
          last = here;
        });
      }
      const radius = 4 * ratio;
      for (const { at, mean, low, high, error } of this.options.main ? run.tests : []) {
        const [x, y] = place(at, mean);
        found.push([x - radius, y - radius, x + radius, y + radius]);
        if (error && low !== undefined && high !== undefined) found.push([...place(at, low), ...place(at, high)]);
      }
    }
    const { top, height } = plot.bbox;
    plot.ctx.font = font(12 * ratio);
    for (const { at, words } of this.options.main ? (present?.changes ?? []) : []) {
      const x = plot.valToPos(at, "x", true);
      const { width } = plot.ctx.measureText(words);
      const from = labelAt(plot, x, width, ratio);
      found.push([x, top, x, top + height], [from, top - 8 * ratio, from + width, top + 6 * ratio]);
    }
    return found;
  }

  /** Draws live changes and tests over the curve. */
  drawAround(plot: uPlot, ratio: number, c: Pen = plot.ctx): void {
    const { bbox } = plot;
    const { options } = this;
    const present = this.shown?.present;
    if (!present) return;
    const right = bbox.left + bbox.width;
    c.save();
    c.textBaseline = "alphabetic"; // the y axis sets another
    c.font = font(12 * ratio);
    c.textAlign = "left";
    const endOf: number[] = [];
    const forks: Fork[] = [];
    for (const mark of present.changes) {
      const x = Math.round(plot.valToPos(mark.at, "x", true)) + 0.5;
      if (x < bbox.left || x > right) continue;
      pen(c, palette.soft, ratio);
      c.setLineDash([ratio, 2 * ratio]);
      stroke(c, x, bbox.top - (options.main ? 4 * ratio : 0), x, bbox.top + bbox.height);
      c.setLineDash([]);
      if (!options.main) continue;
      const { words, back } = mark;
      const width = c.measureText(words).width;
      const from = labelAt(plot, x, width, ratio);
      // Index of the first line in which this label overlaps no other label.
      let line = endOf.findIndex((end) => end < from);
      if (line < 0) line = endOf.length;
      if (line > 5) continue;
      endOf[line] = from + width + 8 * ratio;
      const y = bbox.top + (2 + 13 * line) * ratio;
      c.fillStyle = palette.raised;
      c.globalAlpha = 0.85;
      c.fillRect(from - 2 * ratio, y - 10 * ratio, width + 4 * ratio, 13 * ratio);
      c.globalAlpha = 1;
      c.fillStyle = palette.ink;
      c.fillText(words, from, y);
      if (back) forks.push({ words, back, left: from / ratio - 2, top: y / ratio - 10, width: width / ratio + 4 });
    }
    if (options.main) {
      c.fillStyle = palette.raised;
      /** Place of the last ring of each column. */
      const rings = new Map<string, { x: number; y: number }>();
      for (const { at, mean, low, high, error, column } of present.tests) {
        const x = plot.valToPos(at, "x", true);
        if (x > right || x < bbox.left || (options.log && mean <= 0)) continue;
        c.strokeStyle = palette[this.series().find((series) => series.column === column)?.colour ?? "training"];
        if (low !== undefined && high !== undefined) {
          const place = (value: number): number => (options.log && value <= 0 ? bbox.top + bbox.height : plot.valToPos(value, "y", true));
          const [bottom, top] = [low, high].map((value) => Math.max(bbox.top, Math.min(bbox.top + bbox.height, place(value)))) as [
            number,
            number,
          ];
          const half = error ? 3 * ratio : 0;
          c.lineWidth = ratio;
          c.globalAlpha = error ? 1 : 0.35;
          c.beginPath();
          for (const y of half ? [bottom, top] : []) segment(c, x - half, y, x + half, y);
          segment(c, x, bottom, x, top);
          c.stroke();
          c.globalAlpha = 1;
        }
        // Rings that touch would hide the curve.
        const y = plot.valToPos(mean, "y", true);
        const last = rings.get(column);
        if (last && Math.hypot(x - last.x, y - last.y) < RING_GAP * ratio) continue;
        rings.set(column, { x, y });
        c.lineWidth = 1.5 * ratio;
        ring(c, x, y, (error ? 2 : 3.2) * ratio);
      }
    }
    c.restore();
    if (plot === this.plot && options.main) this.writeForks(forks);
  }

  /** Places a button over the label of each change that can be undone. */
  private writeForks(forks: Fork[]): void {
    const { area, forks: place } = this;
    const shown = JSON.stringify([area.offsetLeft, area.offsetTop, forks]);
    if (shown === this.forksShown) return;
    this.forksShown = shown;
    const focused = place.contains(document.activeElement) ? [...place.children].indexOf(document.activeElement!) : -1;
    place.replaceChildren(
      ...forks.map(({ words, back, left, top, width }) =>
        h("button", {
          title: `Restore the run before ${words}`,
          "aria-label": `In the chart: restore the run before ${words}`,
          style: `left:${area.offsetLeft + left}px;top:${area.offsetTop + top}px;width:${width}px`,
          onclick: back,
        }),
      ),
    );
    (place.children[focused] as HTMLElement | undefined)?.focus();
  }
}

/** Allowed distances of ticks on the axis of a counter. */
const STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((k) => k * 10 ** power)).flat();

/** Returns the horizontal position of a live change's label: right of its line, or left of the line if there is too little space. */
function labelAt({ bbox }: uPlot, x: number, width: number, ratio: number): number {
  const gap = 4 * ratio;
  return x + width + gap > bbox.left + bbox.width ? x - width - gap : x + gap;
}

function ring(c: Pen, x: number, y: number, radius: number): void {
  c.beginPath();
  c.arc(x, y, radius, 0, 7);
  c.fill();
  c.stroke();
}
