// Curves over a run's first counter or its time. Marks, levels of interest, tests with their spread and a past run are drawn
// around the present one. Colours come from the style sheet.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Curves } from "./history";
import { h, id, write } from "./dom";
import { figure, minus, short } from "./format";
import { animate } from "./loop";
import { onTheme, palette, type Colour } from "./theme";

/** How the axis is told: its ticks, a place on it in words, and how far apart ticks may be. */
export type Axis = { tick: (at: number) => string; words: (at: number) => string; steps?: number[] };

export type ChartOptions = {
  column: string;
  /** Drawn beside the first, each with its name at its end. */
  others?: { column: string; label: string; colour: Colour }[];
  /** The name of the first where there are others. */
  label?: string;
  axis: Axis;
  title: string;
  /** One plain line on what the curve tells. */
  about: string;
  digits?: number;
  /** Shown as percentages. */
  share?: boolean;
  log?: boolean;
  /** What the scale shows at least. */
  span?: [number, number];
  /** Levels of interest, with words. */
  levels?: { value: number; label: string }[];
  /** The large chart: its axis, tests, the past run and what was changed, in words. */
  main?: boolean;
};

const DRAW_EVERY_MS = 200;
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

/** The end of an axis: a round number, so that the curve does not creep. */
export function roundUp(end: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(end, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((k) => k * size).find((round) => round >= end) ?? end;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly plot: uPlot;
  private readonly area = h("div", { class: "plot" });
  private readonly now = h("output", { class: "number" });
  /** Of each curve, in its colour where there are several; then where. */
  private readonly told: HTMLElement[];
  private present: Curves | undefined;
  private past: Curves | undefined;
  private span = 1;
  private dirty = true;
  private hovered: number | null = null;
  private readonly about: HTMLElement;
  private readonly stops: (() => void)[];

  constructor(
    private options: ChartOptions,
    tools: Node[] = [],
  ) {
    this.about = h("span", { class: "about" }, options.about);
    const series = this.series();
    this.told = [...series, undefined].map((one) => h("span", { style: one && series.length > 1 && `color:var(--${one.colour})` }));
    this.now.append(...this.told);
    const titleId = id("chart");
    this.element = h(
      "figure",
      { class: options.main ? "chart main-chart" : "chart", "aria-labelledby": titleId },
      h(
        "figcaption",
        {},
        h("h3", { id: titleId }, options.title),
        this.now,
        this.about,
        ...tools,
      ),
      this.area,
    );
    this.area.setAttribute("role", "img");
    this.area.setAttribute("aria-label", `${options.title}: nothing yet`);
    this.plot = new uPlot(this.uplot(), [[], ...this.series().map(() => [])], this.area);
    const sizes = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = this.area;
      if (width > 0 && height > 0) this.plot.setSize({ width, height });
    });
    sizes.observe(this.area);
    this.stops = [
      animate(this.area, () => this.draw(), DRAW_EVERY_MS),
      onTheme(() => this.plot.redraw(false)),
      () => sizes.disconnect(),
      () => this.plot.destroy(),
    ];
  }

  /** Another task has other words, another scale and other levels. */
  suit(options: Partial<ChartOptions>): void {
    this.options = { ...this.options, ...options };
    write(this.about, this.options.about);
  }

  show(present: Curves, past: Curves | undefined, span: number): void {
    this.present = present;
    this.past = past;
    this.span = span;
    this.dirty = true;
    this.writeNow();
  }

  close(): void {
    for (const stop of this.stops) stop();
  }

  private draw(): void {
    const { present, options } = this;
    if (!this.dirty || !present) return;
    this.dirty = false;
    this.plot.setData([present.at, ...this.series().map(({ column }) => present.columns[column] ?? [])] as uPlot.AlignedData);
    const told = this.series().flatMap(({ column, label }) => {
      const last = present.columns[column]?.at(-1);
      return last == null ? [] : [label ? `${label} ${this.number(last)}` : this.number(last)];
    });
    const { words } = options.axis;
    this.area.setAttribute("aria-label", `${options.title}: ${told.length ? `${told.join(", ")} after ${words(present.at.at(-1)!)}` : "nothing yet"}`);
  }

  /** All that is drawn as a curve. */
  private series(): { column: string; label?: string; colour: Colour }[] {
    const { column, label, others = [], main } = this.options;
    return [{ column, label, colour: main ? "accent" : "ink" }, ...others];
  }

  private number(value: number): string {
    const { digits, share } = this.options;
    if (share) return `${figure(100 * value)}%`;
    return digits === undefined ? figure(value) : minus(value.toFixed(digits));
  }

  private writeNow(): void {
    const { present, hovered } = this;
    const row = hovered ?? (present?.at.length ?? 0) - 1;
    const where = hovered !== null && present ? ` at ${this.options.axis.tick(present.at[row] ?? 0)}` : "";
    let any = false;
    this.series().forEach(({ column, label }, k) => {
      const value = present?.columns[column]?.[row];
      any ||= value != null;
      write(this.told[k]!, value == null ? "" : `${k > 0 ? "\u2002" : ""}${label ? `${label} ` : ""}${this.number(value)}`);
    });
    write(this.told.at(-1)!, any ? where : "");
  }

  private tick(value: number | null): string {
    if (value === null) return ""; // of a logarithmic scale most have no words
    if (this.options.share) return `${Number((100 * value).toPrecision(4))}%`;
    const size = Math.abs(value);
    return size >= 1000 ? short(value) : size > 0 && size < 1e-3 ? figure(value) : minus(String(Number(value.toPrecision(4))));
  }

  private uplot(): uPlot.Options {
    const { main } = this.options;
    const thin = { width: 1, size: 4 };
    const pad = (_: uPlot, from: number | null, to: number | null): [number, number] => {
      const { options } = this;
      let low = Math.min(from ?? Infinity, options.span?.[0] ?? (from === null ? 0 : Infinity));
      let high = Math.max(to ?? -Infinity, options.span?.[1] ?? (to === null ? 1 : -Infinity));
      // Without a scale of its own, what there is to reach is in sight.
      if (!options.span) for (const { value } of options.levels ?? []) [low, high] = [Math.min(low, value), Math.max(high, value)];
      if (options.main)
        for (const test of this.present?.tests ?? []) {
          low = Math.min(low, (test.error ? test.low : undefined) ?? test.mean);
          high = Math.max(high, (test.error ? test.high : undefined) ?? test.mean);
        }
      if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
      if (options.log) return [(low > 0 ? low : Math.max(high, 1e-9) / 1000) / 1.2, Math.max(high, 1e-9) * 1.2];
      const room = (high - low) * 0.06;
      return [low === options.span?.[0] ? low : low - room, high + room];
    };
    return {
      width: 300,
      height: main ? 220 : 90,
      padding: [main ? 16 : 6, main ? 18 : 10, main ? 0 : 4, 0],
      legend: { show: false },
      cursor: { sync: { key: "steps" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: false, range: () => [0, this.span] }, y: { range: pad, ...(this.options.log && { distr: 3 as const }) } },
      axes: [
        {
          show: main ?? false,
          font: FONT,
          stroke: () => palette.muted,
          grid: { show: false },
          ticks: { stroke: () => palette.hair, ...thin },
          border: { show: true, stroke: () => palette.hair, width: 1 },
          values: (_, ticks) => ticks.map(this.options.axis.tick),
          ...(this.options.axis.steps && { incrs: this.options.axis.steps }),
          space: 64,
          size: 26,
          gap: 3,
        },
        {
          font: FONT,
          stroke: () => palette.muted,
          grid: { stroke: () => palette.line, width: 1 },
          ticks: { show: false },
          values: (_, ticks) => ticks.map((tick) => this.tick(tick)),
          space: main ? 40 : 24,
          size: 44,
          gap: 6,
        },
      ],
      series: [
        {},
        ...this.series().map(({ colour }) => ({
          stroke: () => palette[colour],
          width: main ? 2 : 1.25,
          points: { show: false },
          spanGaps: true,
        })),
      ],
      hooks: {
        drawAxes: [(plot) => this.drawBehind(plot)],
        draw: [(plot) => this.drawAround(plot)],
        setCursor: [
          (plot) => {
            this.hovered = plot.cursor.left != null && plot.cursor.left >= 0 ? (plot.cursor.idx ?? null) : null;
            this.writeNow();
          },
        ],
      },
    };
  }

  /** The past run and the levels, behind the curve. */
  private drawBehind(plot: uPlot): void {
    const { ctx: c, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const { past, options } = this;
    c.save();
    c.beginPath();
    c.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    c.clip();
    for (const { value, label } of options.levels ?? []) {
      const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
      c.strokeStyle = palette.muted;
      c.lineWidth = ratio;
      c.setLineDash([2 * ratio, 4 * ratio]);
      c.beginPath();
      c.moveTo(bbox.left, y);
      c.lineTo(bbox.left + bbox.width, y);
      c.stroke();
      c.setLineDash([]);
      c.fillStyle = palette.muted;
      c.font = `${11 * ratio}px system-ui, sans-serif`;
      c.textAlign = "left";
      const width = c.measureText(label).width;
      c.fillText(label, this.roomBelow(plot, y, width, 18 * ratio), y + 13 * ratio);
    }
    if (past) {
      c.strokeStyle = palette.ghost;
      c.lineWidth = (options.main ? 1.5 : 1) * ratio;
      c.beginPath();
      const column = past.columns[options.column] ?? [];
      column.forEach((value, row) => {
        if (value != null) c.lineTo(plot.valToPos(past.at[row]!, "x", true), plot.valToPos(value, "y", true));
      });
      c.stroke();
    }
    c.restore();
  }

  /** Where, below `y`, words of that size cover no curve and no circle: at right, or else where they cover the least. */
  private roomBelow(plot: uPlot, y: number, width: number, height: number): number {
    const { left, width: whole } = plot.bbox;
    const gap = 4 * uPlot.pxRatio;
    const places = [1, 0.75, 0.5, 0.25, 0].map((share) => left + gap + (whole - width - 2 * gap) * share);
    const covered = places.map(() => 0);
    const cover = (x0: number, y0: number, x1: number, y1: number): void => {
      if (Math.max(y0, y1) < y - gap || Math.min(y0, y1) > y + height) return;
      places.forEach((x, k) => (covered[k]! += x1 > x - gap && x0 < x + width + gap ? 1 : 0));
    };
    for (const run of [this.present, this.past]) {
      let [x0, y0] = [NaN, NaN];
      run?.columns[this.options.column]?.forEach((value, row) => {
        const [x1, y1] = [plot.valToPos(run.at[row]!, "x", true), value == null ? NaN : plot.valToPos(value, "y", true)];
        if (!Number.isNaN(y0 + y1)) cover(x0, y0, x1, y1);
        [x0, y0] = [x1, y1];
      });
    }
    for (const test of this.present?.tests ?? []) {
      const at = [plot.valToPos(test.at, "x", true), plot.valToPos(test.mean, "y", true)] as const;
      cover(...at, ...at);
    }
    return places[covered.indexOf(Math.min(...covered))]!;
  }

  /** Marks of what was changed, and tests, over the curve. */
  private drawAround(plot: uPlot): void {
    const { ctx: c, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const { present, options } = this;
    if (!present) return;
    const right = bbox.left + bbox.width;
    c.save();
    c.font = `${11 * ratio}px system-ui, sans-serif`;
    c.textAlign = "left";
    const endOf: number[] = [];
    for (const mark of present.changes) {
      const x = Math.round(plot.valToPos(mark.at, "x", true)) + 0.5;
      c.strokeStyle = palette.soft;
      c.lineWidth = ratio;
      c.setLineDash([ratio, 2 * ratio]);
      c.beginPath();
      c.moveTo(x, bbox.top - (options.main ? 4 * ratio : 0));
      c.lineTo(x, bbox.top + bbox.height);
      c.stroke();
      c.setLineDash([]);
      if (!options.main) continue;
      const { words } = mark;
      const width = c.measureText(words).width;
      const from = x + width + 4 * ratio > right ? x - width - 4 * ratio : x + 4 * ratio;
      // The first of a few lines on which it covers no other.
      let line = endOf.findIndex((end) => end < from);
      if (line < 0) line = endOf.length;
      if (line > 5) continue;
      endOf[line] = from + width + 8 * ratio;
      const y = bbox.top + (2 + 13 * line) * ratio;
      c.fillStyle = palette.paper;
      c.globalAlpha = 0.85;
      c.fillRect(from - 2 * ratio, y - 10 * ratio, width + 4 * ratio, 13 * ratio);
      c.globalAlpha = 1;
      c.fillStyle = palette.ink;
      c.fillText(words, from, y);
    }
    if (options.main) {
      c.fillStyle = palette.paper;
      for (const { at, mean, low, high, error, column } of present.tests) {
        const x = plot.valToPos(at, "x", true);
        if (x > right) continue;
        c.strokeStyle = palette[this.series().find((series) => series.column === column)?.colour ?? "accent"];
        if (low !== undefined && high !== undefined) {
          const [bottom, top] = [low, high].map((value) => Math.max(bbox.top, Math.min(bbox.top + bbox.height, plot.valToPos(value, "y", true)))) as [number, number];
          const half = error ? 3 * ratio : 0;
          c.lineWidth = ratio;
          c.globalAlpha = error ? 1 : 0.35;
          c.beginPath();
          for (const y of half ? [bottom, top] : []) {
            c.moveTo(x - half, y);
            c.lineTo(x + half, y);
          }
          c.moveTo(x, bottom);
          c.lineTo(x, top);
          c.stroke();
          c.globalAlpha = 1;
        }
        c.lineWidth = 1.5 * ratio;
        c.beginPath();
        c.arc(x, plot.valToPos(mean, "y", true), (error ? 2 : 3.2) * ratio, 0, 7);
        c.fill();
        c.stroke();
      }
    }
    c.restore();
  }
}
