// Results of a sweep. Each value of the knob has a card with a curve for each seed, the mean curve and the spread.

import type { SweepCell, SweepSpec, Value } from "../run/protocol";
import { button, h, lineThrough, select, svg, write } from "./dom";
import { exactText, figure, short } from "./format";
import "./sweep.css";

const PLOT = { width: 200, height: 84, pad: 4 };
type Card = {
  value: Value;
  element: HTMLElement;
  goal: SVGLineElement;
  band: SVGPathElement;
  mean: SVGPathElement;
  lines: SVGPathElement[];
  marks: SVGCircleElement[];
  done: HTMLProgressElement;
  words: HTMLElement;
};
type Point = { at: number; mean: number; low: number; high: number };

/**
 * The displayed sweep, with the label of its knob. `goal` is the goal of the variant; it is undefined if the variant has no goal. `scale`
 * limits the vertical scale; if it is undefined, the curves determine the limits.
 */
export type Swept = { spec: SweepSpec; label: string; goal: number | undefined; scale: [number, number] | undefined };

/**
 * Returns the mean and the spread of several curves, in the range that all curves cover. The result is empty for fewer than two curves. It
 * has a point at each position at which any curve has a point. If `error` is true, the spread is the standard error. Otherwise it extends
 * from the minimum to the maximum.
 */
export function over(curves: [number, number][][], error: boolean): Point[] {
  const nonEmpty = curves.filter((curve) => curve.length > 0);
  if (nonEmpty.length < 2) return [];
  const from = Math.max(...nonEmpty.map((curve) => curve[0]![0]));
  const to = Math.min(...nonEmpty.map((curve) => curve.at(-1)![0]));
  const places = [...new Set([from, to, ...nonEmpty.flatMap((curve) => curve.map(([at]) => at))])]
    .filter((at) => at >= from && at <= to)
    .sort((a, b) => a - b);
  return places.map((at) => {
    const values = nonEmpty.map((curve) => {
      const next = curve.findIndex(([place]) => place >= at);
      const [x1, y1] = curve[next]!;
      const [x0, y0] = curve[Math.max(0, next - 1)]!;
      return x1 === x0 ? y1 : y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
    });
    const n = values.length;
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const half = error ? Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) / n) : 0;
    return { at, mean, low: error ? mean - half : Math.min(...values), high: error ? mean + half : Math.max(...values) };
  });
}

const median = (numbers: number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
};

export class SweepCards {
  readonly element = h("ul.sweep-grid", { "aria-label": "Results by value" });
  /** Select for the kind of spread that the band around the mean curve shows. */
  readonly spread = select("sweep-band", [
    ["range", "minimum to maximum"],
    ["error", "± standard error"],
  ]);
  private cards: Card[] = [];
  private swept: Swept | undefined;

  constructor(
    private readonly unit: string,
    /** Starts a new run with this value of the knob. */
    private readonly use: (knob: string, value: Value) => void,
  ) {}

  begin(swept: Swept): void {
    this.swept = swept;
    this.cards = swept.spec.values.map((value) => this.card(swept, value));
    this.element.replaceChildren(...this.cards.map(({ element }) => element));
  }

  clear(): void {
    this.swept = undefined;
    this.cards = [];
    this.element.replaceChildren();
  }

  markBest(best: Value | undefined): void {
    for (const card of this.cards) card.element.classList.toggle("best", card.value === best);
  }

  draw(cells: SweepCell[]): void {
    if (!this.swept) return;
    const range = this.range(cells);
    const goal = this.swept.goal ?? range[1];
    const { budget } = this.swept.spec;
    const x = (count: number): number => (PLOT.width * Math.min(1, count / budget)) | 0;
    const path = (points: [number, number][]): string => lineThrough(points.map(([at, value]) => [x(at), this.y(value, range)]));
    for (const card of this.cards) {
      const own = cells.filter((cell) => cell.value === card.value);
      for (const end of ["y1", "y2"]) card.goal.setAttribute(end, String(this.y(goal, range)));
      const seeds = this.over(own);
      const edge = [
        ...seeds.map(({ at, high }): [number, number] => [at, high]),
        ...seeds.map(({ at, low }): [number, number] => [at, low]).reverse(),
      ];
      card.band.setAttribute("d", edge.length ? `${path(edge)}Z` : "");
      card.mean.setAttribute("d", path(seeds.map(({ at, mean }) => [at, mean])));
      card.done.value = this.share(own);
      card.done.hidden = card.done.value >= 1;
      own.forEach((cell, k) => {
        card.lines[k]?.setAttribute("d", path(cell.curve));
        if (cell.solved_at === null) return;
        card.marks[k]?.setAttribute("cx", String(x(cell.solved_at)));
        card.marks[k]?.setAttribute("cy", String(this.y(goal, range)));
      });
      write(card.words, this.words(own));
    }
  }

  share(cells: SweepCell[]): number {
    const budget = this.swept?.spec.budget ?? 0;
    const done = cells.reduce((sum, cell) => sum + (cell.done ? budget : Math.min(budget, cell.progress.counts[0] ?? 0)), 0);
    return done / Math.max(1, cells.length * budget);
  }

  overSeeds(cells: SweepCell[], value: Value): string {
    const last = this.over(cells.filter((cell) => cell.value === value)).at(-1);
    if (!last) return "";
    const { at, mean, low, high } = last;
    const about = this.spread.value === "error" ? ` ± ${figure(high - mean)}` : `, ${figure(low)} to ${figure(high)}`;
    return `${figure(mean)}${about} at ${short(at)}`;
  }

  /**
   * Returns the best value of the knob. The first criterion is the number of solved seeds. For equal numbers, the smaller median count of
   * the solutions is better, then the larger median of the last tests.
   */
  best(cells: SweepCell[]): Value | undefined {
    const scores = (this.swept?.spec.values ?? []).map((value) => {
      const own = cells.filter((cell) => cell.value === value);
      const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
      const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
      return {
        value,
        solved: solved.length,
        steps: solved.length ? median(solved) : Infinity,
        last: last.length ? median(last) : -Infinity,
      };
    });
    scores.sort((a, b) => b.solved - a.solved || (a.steps === b.steps ? b.last - a.last : a.steps - b.steps));
    return scores[0]?.value;
  }

  private card({ spec, label }: Swept, value: Value): Card {
    const { width, height } = PLOT;
    const drawing = svg("svg", {
      class: "drawing",
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Curves of ${exactText(value)}`,
    });
    const goal = svg("line", { class: "threshold", x1: 0, y1: 0, x2: width, y2: 0 });
    drawing.append(svg("line", { class: "floor", x1: 0, y1: height - 0.5, x2: width, y2: height - 0.5 }), goal);
    goal.toggleAttribute("hidden", this.swept?.goal === undefined);
    const [band, mean] = [svg("path", { class: "seeds" }), svg("path", { class: "mean" })];
    const lines = Array.from({ length: spec.seeds }, () => svg("path", { class: "curve" }));
    const marks = Array.from({ length: spec.seeds }, () => svg("circle", { class: "solved", r: 3.4, cx: -20, cy: 0 }));
    drawing.append(band, ...lines, mean, ...marks);
    drawing.classList.toggle("several", spec.seeds > 1);
    const done = h("progress", { max: 1, value: 0, "aria-label": `Progress of ${exactText(value)}` });
    const words = h("p.small");
    const spoken = `Use ${label} ${exactText(value)} in a new run`;
    const use = button("Use this value", () => this.use(spec.knob, value), { class: "small", "aria-label": spoken });
    return {
      value,
      goal,
      band,
      mean,
      lines,
      marks,
      done,
      words,
      element: h("li", h("p.sweep-value", h("span.small", label), " ", h("strong", exactText(value))), drawing, done, words, use),
    };
  }

  private y(value: number, [low, high]: [number, number]): number {
    const share = Math.max(-0.04, Math.min(1.02, (value - low) / Math.max(1e-9, high - low)));
    return PLOT.pad + (PLOT.height - 2 * PLOT.pad) * (1 - share);
  }

  private range(cells: SweepCell[]): [number, number] {
    if (this.swept?.scale) return this.swept.scale;
    const goal = this.swept?.goal;
    const all = [...cells.flatMap(({ curve }) => curve.map(([, value]) => value)), ...(goal === undefined ? [] : [goal])];
    return all.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  }

  private over(own: SweepCell[]): Point[] {
    return over(
      own.map(({ curve }) => curve),
      this.spread.value === "error",
    );
  }

  private words(own: SweepCell[]): string {
    if (own.length && own.every(({ curve, diverged }) => curve.length === 0 && !diverged))
      return (
        `${short(Math.max(...own.map(({ progress }) => progress.counts[0] ?? 0)))} of ` +
        `${short(this.swept?.spec.budget ?? 0)} ${this.unit}; no test yet`
      );
    const solved = own.flatMap((cell) => (cell.solved_at === null ? [] : [cell.solved_at]));
    const diverged = own.filter((cell) => cell.diverged).length;
    const last = own.flatMap((cell) => cell.curve.at(-1)?.[1] ?? []);
    const parts = [
      solved.length
        ? `${solved.length} of ${own.length} solved, median ${short(median(solved))} ${this.unit}`
        : last.length
          ? `median ${figure(median(last))}`
          : "",
      diverged ? `${diverged} diverged` : "",
    ];
    return parts.filter(Boolean).join("; ");
  }
}
