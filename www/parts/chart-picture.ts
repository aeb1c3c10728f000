// A chart as a file: with its title, axis and legend, as PNG or as SVG.

import type uPlot from "uplot";
import { font, pen, segment, stroke, strokes } from "./canvas";
import type { Chart } from "./chart";
import { drawFramed, outer, pngBytes, type Framed } from "./frame";
import { SvgPen } from "./svg";
import { palette } from "./theme";

/** A chart and the texts around its picture. */
export type ChartPicture = { chart: Chart } & Required<Pick<Framed, "title" | "axis" | "runs">>;
/** Positions of the ticks on an axis, as values, and their labels. */
type Ticks = { at: number[]; labels: string[] };

const SIZE = { width: 960, height: 420 };
const PIXELS = 2;
/** Distance of the labels below the plot, distance of the labels beside it, and length of a tick, in px. */
const [BELOW, BESIDE, TICK] = [13, 6, 4];

export async function pngOf({ chart, ...texts }: ChartPicture, about: string): Promise<Uint8Array> {
  const framed = { ...SIZE, ...texts, about };
  const { width, height } = outer(framed);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: width * PIXELS, height: height * PIXELS });
  const c = canvas.getContext("2d")!;
  c.scale(PIXELS, PIXELS);
  await chart.offscreen({ ...SIZE, pixels: PIXELS }, ({ ctx }) =>
    drawFramed(c, framed, (left, top) => c.drawImage(ctx.canvas, left, top, SIZE.width, SIZE.height)),
  );
  return pngBytes(canvas);
}

export async function svgOf({ chart, ...texts }: ChartPicture, about: string): Promise<string> {
  const framed = { ...SIZE, ...texts, about };
  const c = new SvgPen();
  const ticks: Ticks[] = [];
  await chart.offscreen(
    { ...SIZE, pixels: 1 },
    (plot) => drawFramed(c, framed, (left, top) => c.within(left, top, () => drawChart(c, chart, plot, ticks))),
    (options) => noteTicks(options, ticks),
  );
  return c.file({ ...outer(framed), title: `${texts.title}. ${about}` });
}

/** Replaces the label function of each axis, so that it also writes uPlot's ticks to `ticks`. */
function noteTicks(options: uPlot.Options, ticks: Ticks[]): void {
  options.axes!.forEach((axis, k) => {
    const values = axis.values as uPlot.Axis.DynamicValues;
    axis.values = (...args) => {
      const labels = values(...args).map((label) => String(label ?? ""));
      ticks[k] = { at: args[1], labels };
      return labels;
    };
  });
}

/** Draws a chart as uPlot does on a canvas. */
function drawChart(c: SvgPen, chart: Chart, plot: uPlot, [x, y]: Ticks[]): void {
  drawAxes(c, plot, x!, y!);
  chart.drawBehind(plot, 1, c);
  drawCurves(c, plot);
  chart.drawAround(plot, 1, c);
}

function drawAxes(c: SvgPen, plot: uPlot, x: Ticks, y: Ticks): void {
  const { left, top, width, height } = plot.bbox;
  const bottom = top + height;
  Object.assign(c, { font: font(12), fillStyle: palette.muted, textBaseline: "middle", textAlign: "right" });
  const rows = y.at.map((value) => Math.round(plot.valToPos(value, "y", true)) + 0.5);
  pen(c, palette.line, 1);
  strokes(c, rows.length, (k) => segment(c, left, rows[k]!, left + width, rows[k]!));
  y.labels.forEach((label, k) => c.fillText(label, left - BESIDE, rows[k]!));
  const columns = x.at.map((value) => Math.round(plot.valToPos(value, "x", true)) + 0.5);
  pen(c, palette.hair, 1);
  strokes(c, columns.length, (k) => segment(c, columns[k]!, bottom, columns[k]!, bottom + TICK));
  stroke(c, left, bottom + 0.5, left + width, bottom + 0.5);
  c.textAlign = "center";
  x.labels.forEach((label, k) => c.fillText(label, columns[k]!, bottom + BELOW));
}

/** Draws the curves of the current run. */
function drawCurves(c: SvgPen, plot: uPlot): void {
  const { bbox, series, data } = plot;
  c.save();
  c.beginPath();
  c.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  c.clip();
  series.slice(1).forEach(({ stroke, width, alpha, label }, k) => {
    const values = [...data[k + 1]!];
    if (values.every((value) => value == null)) return;
    pen(c, (stroke as () => string)(), width ?? 1);
    c.globalAlpha = alpha ?? 1;
    c.beginPath();
    values.forEach((value, row) => value == null || c.lineTo(plot.valToPos(data[0][row]!, "x", true), plot.valToPos(value, "y", true)));
    if (c.globalAlpha === 1) c.named(String(label));
    c.stroke();
  });
  c.restore();
}
