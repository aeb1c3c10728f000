// Curves over environment steps or another axis, and the same numbers as a table. Marks, a threshold, tests with their
// standard errors and a past run are drawn around the present one. Colours come from the style sheet.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Column, Curves, History } from "./history";
import { h, id, write } from "./dom";
import { figure, minus, seconds, short } from "./format";
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
  axis?: Axis;
  title: string;
  /** One plain line on what the curve tells. */
  about: string;
  digits?: number;
  /** What the scale shows at least. */
  span?: [number, number];
  threshold?: { value: number; label: string };
  /** The large chart: step axis, evaluations, the past run and what was changed, in words. */
  main?: boolean;
};

const STEPS: Axis = { tick: short, words: (at) => `${short(at)} steps` };
const EVENTS = "What happened";
const DRAW_EVERY_MS = 200;
const WRITE_EVERY_MS = 2000;
const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';

/** The end of the step axis: a round number, so that the curve does not creep. */
export function roundUp(steps: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(steps, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((k) => k * size).find((end) => end >= steps) ?? steps;
}

/** The steps that the charts of one room show, the same for all. */
export function stepSpan(present: History, past: History | undefined): number {
  const own = present.steps.at(-1) ?? 0;
  // Of a long past run, what is of interest: a little more than it took to solve.
  const pastEnd = past?.steps.at(-1) ?? 0;
  const interest = past?.solved ? Math.min(pastEnd, past.solved.env_steps * 1.3) : Math.min(pastEnd, 2_000_000);
  return roundUp(Math.max(100_000, own * 1.02, interest));
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
  private span = 100_000;
  private dirty = true;
  private hovered: number | null = null;
  private readonly about: HTMLElement;
  private readonly stops: (() => void)[];

  constructor(
    private options: ChartOptions,
    private readonly label: (knob: string) => string,
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

  /** Another task has other words, another scale and another threshold. */
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
    this.plot.setData([present.steps, ...this.series().map(({ column }) => present.columns[column] ?? [])] as uPlot.AlignedData);
    const told = this.series().flatMap(({ column, label }) => {
      const last = present.columns[column]?.at(-1);
      return last == null ? [] : [label ? `${label} ${this.number(last)}` : this.number(last)];
    });
    const { words } = options.axis ?? STEPS;
    this.area.setAttribute("aria-label", `${options.title}: ${told.length ? `${told.join(", ")} after ${words(present.steps.at(-1)!)}` : "nothing yet"}`);
  }

  /** All that is drawn as a curve. */
  private series(): { column: string; label?: string; colour: Colour }[] {
    const { column, label, others = [], main } = this.options;
    return [{ column, label, colour: main ? "accent" : "ink" }, ...others];
  }

  private number(value: number): string {
    return this.options.digits === undefined ? figure(value) : minus(value.toFixed(this.options.digits));
  }

  private writeNow(): void {
    const { present, hovered } = this;
    const row = hovered ?? (present?.steps.length ?? 0) - 1;
    const where = hovered !== null && present ? ` at ${(this.options.axis ?? STEPS).tick(present.steps[row] ?? 0)}` : "";
    let any = false;
    this.series().forEach(({ column, label }, k) => {
      const value = present?.columns[column]?.[row];
      any ||= value != null;
      write(this.told[k]!, value == null ? "" : `${k > 0 ? "\u2002" : ""}${label ? `${label} ` : ""}${this.number(value)}`);
    });
    write(this.told.at(-1)!, any ? where : "");
  }

  private uplot(): uPlot.Options {
    const { main } = this.options;
    const thin = { width: 1, size: 4 };
    const pad = (_: uPlot, from: number | null, to: number | null): [number, number] => {
      const { options } = this;
      let low = Math.min(from ?? Infinity, options.span?.[0] ?? (from === null ? 0 : Infinity));
      let high = Math.max(to ?? -Infinity, options.span?.[1] ?? (to === null ? 1 : -Infinity));
      if (options.main)
        for (const { mean, error = 0 } of this.present?.tests ?? []) {
          low = Math.min(low, mean - error);
          high = Math.max(high, mean + error);
        }
      if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
      const room = (high - low) * 0.06;
      return [low === options.span?.[0] ? low : low - room, high + room];
    };
    return {
      width: 300,
      height: main ? 220 : 90,
      padding: [main ? 16 : 6, main ? 18 : 10, main ? 0 : 4, 0],
      legend: { show: false },
      cursor: { sync: { key: "steps" }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: { x: { time: false, range: () => [0, this.span] }, y: { range: pad } },
      axes: [
        {
          show: main ?? false,
          font: FONT,
          stroke: () => palette.muted,
          grid: { show: false },
          ticks: { stroke: () => palette.hair, ...thin },
          border: { show: true, stroke: () => palette.hair, width: 1 },
          values: (_, ticks) => ticks.map((this.options.axis ?? STEPS).tick),
          ...(this.options.axis?.steps && { incrs: this.options.axis.steps }),
          space: 64,
          size: 26,
          gap: 3,
        },
        {
          font: FONT,
          stroke: () => palette.muted,
          grid: { stroke: () => palette.line, width: 1 },
          ticks: { show: false },
          values: (_, ticks) => ticks.map((tick) => (Math.abs(tick) >= 1000 ? short(tick) : minus(String(Number(tick.toPrecision(4)))))),
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

  /** The past run and the threshold, behind the curve. */
  private drawBehind(plot: uPlot): void {
    const { ctx: c, bbox } = plot;
    const ratio = uPlot.pxRatio;
    const { past, options } = this;
    c.save();
    c.beginPath();
    c.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    c.clip();
    if (options.threshold) {
      const y = Math.round(plot.valToPos(options.threshold.value, "y", true)) + 0.5;
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
      const width = c.measureText(options.threshold.label).width;
      c.fillText(options.threshold.label, this.roomBelow(plot, y, width, 18 * ratio), y + 13 * ratio);
    }
    if (past) {
      c.strokeStyle = palette.ghost;
      c.lineWidth = (options.main ? 1.5 : 1) * ratio;
      c.beginPath();
      const column = past.columns[options.column] ?? [];
      column.forEach((value, row) => {
        if (value != null) c.lineTo(plot.valToPos(past.steps[row]!, "x", true), plot.valToPos(value, "y", true));
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
        const [x1, y1] = [plot.valToPos(run.steps[row]!, "x", true), value == null ? NaN : plot.valToPos(value, "y", true)];
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

  /** Marks of what was changed, and evaluations, over the curve. */
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
      const words = `${this.label(mark.knob)} ${figure(mark.to)}`;
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
      for (const { at, mean, error, column = options.column } of present.tests) {
        const x = plot.valToPos(at, "x", true);
        if (x > right) continue;
        c.strokeStyle = palette[this.series().find((series) => series.column === column)?.colour ?? "accent"];
        if (error) {
          const [low, high] = [mean - error, mean + error].map((value) => plot.valToPos(value, "y", true)) as [number, number];
          const half = 3 * ratio;
          c.lineWidth = ratio;
          c.beginPath();
          for (const y of [low, high]) {
            c.moveTo(x - half, y);
            c.lineTo(x + half, y);
          }
          c.moveTo(x, low);
          c.lineTo(x, high);
          c.stroke();
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

/** A table in place of charts: the button that asks for it, and the table, kept up to date while it is open. */
export class Table {
  readonly button: HTMLButtonElement;
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly caption = h("caption");
  private present: History | undefined;
  private past: History | undefined;
  private wroteMs = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly name: string,
    private readonly columns: { name: Column; title: string }[],
    private readonly label: (knob: string) => string,
    private readonly withEvents: boolean,
  ) {
    const tableId = id("table");
    const titles = ["Steps", "Time", ...columns.map((column) => column.title), ...(withEvents ? ["Past run", EVENTS] : [])];
    this.element = h(
      "div",
      { class: "scroll", id: tableId, tabindex: 0, role: "region", "aria-label": `${name} as a table`, hidden: true },
      h(
        "table",
        {},
        this.caption,
        h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col", class: title === EVENTS && "text" }, title)))),
        this.body,
      ),
    );
    this.button = h(
      "button",
      { type: "button", class: "quiet small", "aria-expanded": "false", "aria-controls": tableId, "aria-label": `${name} as a table` },
      "Table",
    );
    this.button.addEventListener("click", () => {
      this.element.hidden = !this.element.hidden;
      this.button.setAttribute("aria-expanded", String(!this.element.hidden));
      this.button.textContent = this.element.hidden ? "Table" : "Close table";
      this.wroteMs = -Infinity;
      this.refresh();
    });
  }

  show(present: History, past: History | undefined): void {
    this.present = present;
    this.past = past;
    this.refresh();
  }

  private refresh(): void {
    const { present } = this;
    if (this.element.hidden || !present) return;
    const now = performance.now();
    const waitMs = this.wroteMs + WRITE_EVERY_MS - now;
    // Whoever has the focus in the table reads it: it stands still for them.
    if (waitMs > 0 || this.element.contains(document.activeElement)) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.refresh();
      }, Math.max(waitMs, 500));
      return;
    }
    this.wroteMs = now;
    const rows = present.rows(80);
    const every = rows.length > 1 ? present.iterations[rows[1]!]! - present.iterations[rows[0]!]! : 1;
    write(
      this.caption,
      `${this.name}${every > 1 ? `, every ${every} iterations` : ", each iteration"}, newest first. Steps count all environments together.`,
    );
    const events = this.events();
    this.body.replaceChildren(
      ...rows
        .map((row, k) => {
          const from = k > 0 ? present.steps[rows[k - 1]!]! : -1;
          const to = present.steps[row]!;
          const happened = events.filter((event) => event.steps > from && event.steps <= to).map((event) => event.text);
          return h(
            "tr",
            {},
            h("th", { scope: "row" }, short(to)),
            h("td", {}, seconds(present.train_s[row]!)),
            ...this.columns.map(({ name }) => h("td", {}, this.cell(present, name, row))),
            ...(this.withEvents ? [h("td", {}, this.pastAt(to)), h("td", { class: "text" }, happened.join("; "))] : []),
          );
        })
        .reverse(),
    );
  }

  private cell(history: History, column: Column, row: number): string {
    const value = history.columns[column][row];
    return value == null ? "" : figure(value);
  }

  /** The past run's value of the first column at that many steps. */
  private pastAt(steps: number): string {
    const { past } = this;
    if (!past) return "";
    const row = past.steps.findIndex((at) => at >= steps);
    return row < 0 ? "" : this.cell(past, this.columns[0]!.name, row);
  }

  private events(): { steps: number; text: string }[] {
    const { present } = this;
    if (!present || !this.withEvents) return [];
    return [
      ...present.marks.map((mark) => ({
        steps: mark.progress.env_steps,
        text: `${this.label(mark.knob)} changed from ${figure(mark.from)} to ${figure(mark.to)}`,
      })),
      ...present.evaluations.map((evaluation) => ({
        steps: evaluation.progress.env_steps,
        text: `${evaluation.episodes} fresh episodes: mean ${figure(evaluation.mean_return)}, from ${figure(evaluation.min_return)} to ${figure(evaluation.max_return)}`,
      })),
      ...(present.solved ? [{ steps: present.solved.env_steps, text: "Solved" }] : []),
    ];
  }
}
