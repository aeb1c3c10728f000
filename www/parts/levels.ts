// Levels of a chart: horizontal lines with labels. Each label is near its line, at the place where it covers the least of the chart.

import { font, outlined, pen, stroke, type Pen } from "./canvas";
import { palette, type Colour } from "./theme";

export type Level = { value: number; label: string; colour?: Colour };
/** A level at a vertical position of the canvas. */
type Line = Level & { y: number };
/** A rectangle of the canvas, for example the area of a label. */
export type Box = { left: number; top: number; right: number; bottom: number };
/** A line between two points of the canvas: `[x0, y0, x1, y1]`. */
export type Segment = readonly [number, number, number, number];

/** Height of the row of a label, in px. */
const ROW = 18;
/** Extent of the text of a label above and below its baseline, with a gap to the next line, in px. */
const [ASCENT, DESCENT] = [12, 6];
/** Minimum distance of two drawn lines, in px. Closer lines would look like one ragged line. */
const APART = 3;
/** Horizontal positions of a label, as fractions from 0 (left end) to 1 (right end). Earlier positions are preferred. */
const SHARES = [1, 0.75, 0.5, 0.25, 0];
/**
 * Costs of a label's place: outside the plot, over a label, over the line of a level, with another line between the label and its line,
 * over a curve, and per px of distance to its line.
 */
const COST = { outside: 1e6, label: 1e4, line: 40, between: 30, curve: 10, away: 0.5 };
/** Minimum distance of a label from a curve, which may have circles, in px. */
const CURVE_GAP = 4;

const overlap = (a: Box, b: Box, gap: number): boolean =>
  a.left < b.right + gap && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom;

const wider = ({ left, top, right, bottom }: Box, by: number): Box => ({ left: left - by, top, right: right + by, bottom });

/**
 * Returns the baseline of a label in a row that begins at `top`. If the label is above its line `y`, the baseline is higher, because the
 * descenders need space.
 */
export const baseline = (top: number, y: number, ratio: number): number => top + (top < y ? 11 : 14) * ratio;

/** Returns true if a segment crosses a box. */
export function crosses([x0, y0, x1, y1]: Segment, { left, top, right, bottom }: Box): boolean {
  if (Math.max(x0, x1) < left || Math.min(x0, x1) > right || Math.max(y0, y1) < top || Math.min(y0, y1) > bottom) return false;
  // The segment does not cross the box if all corners of the box are on the same side of the segment.
  const side = (x: number, y: number): number => Math.sign((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0));
  const sides = [side(left, top), side(right, top), side(left, bottom), side(right, bottom)];
  return !sides.every((one) => one > 0) && !sides.every((one) => one < 0);
}

/**
 * Returns the box of each label. `widths` are the labels' widths, `ys` the positions of their lines, `ratio` the canvas pixels per CSS
 * pixel.
 */
export function placed(widths: number[], ys: number[], plot: Box, segments: readonly Segment[], ratio: number): Box[] {
  const boxes: Box[] = [];
  const gap = 4 * ratio;
  widths.forEach((width, k) => {
    const struck = (y: number, base: number): boolean => y > base - ASCENT * ratio && y < base + DESCENT * ratio;
    const y = ys[k]!;
    const between = (line: number, { top, bottom }: Box): boolean => (line < y ? line >= bottom : line > y && line <= top);
    const cost = (box: Box): number =>
      (box.top < plot.top || box.bottom > plot.bottom || box.left < plot.left ? COST.outside : 0) +
      COST.label * boxes.filter((other) => overlap(box, other, 2 * gap)).length +
      COST.line * ys.filter((line) => struck(line, baseline(box.top, y, ratio))).length +
      COST.between * ys.filter((line) => between(line, box)).length +
      COST.curve * segments.filter((segment) => crosses(segment, wider(box, CURVE_GAP * ratio))).length +
      COST.away * (Math.max(box.top - y, y - box.bottom) / ratio);
    // A label is below or above a line, preferably its own, or in the next row.
    const tops = [y, ...ys, y + ROW * ratio].flatMap((line) => [line, line - ROW * ratio]);
    const places = [...tops, y - 2 * ROW * ratio].flatMap((top) =>
      SHARES.map((share, index) => {
        const left = plot.left + gap + Math.max(0, plot.right - plot.left - width - 2 * gap) * share;
        const box = { left, top, right: left + width, bottom: top + ROW * ratio };
        return { box, cost: cost(box) + index };
      }),
    );
    boxes.push(places.reduce((best, one) => (one.cost < best.cost ? one : best)).box);
  });
  return boxes;
}

/**
 * Draws levels and their labels. The labels cover as little as possible of `segments`. `ratio` is the number of canvas pixels per CSS
 * pixel.
 */
export function drawLevels(c: Pen, levels: Line[], plot: Box, segments: readonly Segment[], ratio: number): void {
  for (const [k, { y, colour = "muted" }] of levels.entries()) {
    if (levels.slice(0, k).some((other) => Math.abs(other.y - y) < APART * ratio)) continue;
    pen(c, palette[colour], ratio);
    c.setLineDash(colour === "muted" ? [2 * ratio, 4 * ratio] : [6 * ratio, 3 * ratio]);
    stroke(c, plot.left, y, plot.right, y);
  }
  c.setLineDash([]);
  c.fillStyle = palette.muted;
  c.font = font(12 * ratio);
  c.textAlign = "left";
  const widths = levels.map(({ label }) => c.measureText(label).width);
  const ys = levels.map(({ y }) => y);
  placed(widths, ys, plot, segments, ratio).forEach(({ left, top }, k) => {
    outlined(c, levels[k]!.label, left, baseline(top, ys[k]!, ratio), ratio);
  });
}
