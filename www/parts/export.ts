// Exports the compared curves with the settings of each run, as CSV, JSON or a picture.

import { font, pen, stroke } from "./canvas";
import type { Compared, RunData } from "./charting";
import type { Look } from "./looks";
import { palette } from "./theme";
import type { Config, RoomInfo, Row, Value } from "../run/protocol";

/** An exported run. `knobs` contains the initial settings that differ from the defaults. */
export type Out = { name: string; variant: string; seed: number; knobs: Record<string, Value>; run: RunData };

const PAD = 20;
const LINE = 18;
const GAP = 18;

/** Quotes a field of a CSV line if necessary. */
const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export const knobsOf = ({ knobs }: Out): string =>
  Object.entries(knobs)
    .map(([knob, value]) => `${knob}=${value}`)
    .join(" ");
/** Formats live changes as in links: `320:lr=0.0001` sets `lr` after iteration 320. */
export const changesOf = ({ run }: Out): string =>
  run.marks.map(({ progress, knob, to }) => `${progress.iteration}:${knob}=${to}`).join(" ");

/** Returns a CSV of all metrics and tests in the order of iterations. Each row contains the settings of its run. */
export function csv(room: RoomInfo, runs: Out[]): string {
  const [counter] = room.counters;
  const head = [
    "run",
    "room",
    "variant",
    "seed",
    "knobs",
    "changes",
    "iteration",
    counter!.name,
    "train_s",
    ...room.metrics.map(({ name }) => name),
    ...room.tests.map(({ name }) => `test_${name}`),
  ];
  const lines = runs.flatMap((out) => {
    const { name, variant, seed, run } = out;
    const what = [name, room.id, variant, String(seed), knobsOf(out), changesOf(out)].map(quoted);
    const metrics = run.counts.map((count, row) => ({
      place: [run.iterations[row]!, count, run.train_s[row]],
      values: room.metrics.map(({ name }) => run.columns[name]?.[row]),
      test: [] as Row["values"],
    }));
    const tests = run.tests.map(({ progress: { iteration, counts, train_s }, values }) => ({
      place: [iteration, counts[0], train_s],
      values: [],
      test: values,
    }));
    return [...metrics, ...tests]
      .sort((a, b) => a.place[0]! - b.place[0]!)
      .map(({ place, values, test }) => {
        const cells = [...place, ...room.metrics.map((_, k) => values[k]), ...room.tests.map((_, k) => test[k])];
        return [...what, ...cells.map((cell) => cell ?? "")].join(",");
      });
  });
  return [head.join(","), ...lines, ""].join("\n");
}

export function json(room: RoomInfo, runs: Out[]): string {
  const exported = runs.map(({ name, variant, seed, knobs, run }) => ({
    name,
    room: room.id,
    variant,
    seed,
    knobs,
    marks: run.marks,
    solved: run.solved ?? null,
    metrics: {
      iteration: run.iterations,
      [room.counters[0]!.name]: run.counts,
      train_s: run.train_s,
      ...Object.fromEntries(room.metrics.map((column) => [column.name, run.columns[column.name] ?? []])),
    },
    tests: run.tests.map(({ progress, values }) => ({
      iteration: progress.iteration,
      [room.counters[0]!.name]: progress.counts[0],
      train_s: progress.train_s,
      ...Object.fromEntries(room.tests.map(({ name }, k) => [name, values[k] ?? null])),
    })),
  }));
  return JSON.stringify({ room: room.id, runs: exported });
}

type Picture = {
  plot(): Promise<HTMLCanvasElement>;
  width: number;
  height: number;
  pixels: number;
  title: string;
  about: string;
  axis: string;
  runs: (Look & { name: string })[];
};

/** Draws a plot with title, description, legend and axis label in the current theme. */
export async function composed({ plot, width, height, pixels, title, about, axis, runs }: Picture): Promise<HTMLCanvasElement> {
  const drawn = await plot();
  const canvas = document.createElement("canvas");
  const c = canvas.getContext("2d")!;
  c.font = font(12);
  // Distributes the entries of the legend over as many lines as necessary.
  let [x, line] = [0, 0];
  const places = runs.map(({ letter, name }) => {
    const text = letter ? `${letter}  ${name}` : name;
    const size = 40 + c.measureText(text).width;
    if (x > 0 && x + size > width) [x, line] = [0, line + 1];
    const place = { text, x, line };
    x += size + GAP;
    return place;
  });
  const top = PAD + 24 + LINE;
  const below = top + height + LINE;
  canvas.width = (width + 2 * PAD) * pixels;
  canvas.height = (below + (line + 1) * LINE + PAD) * pixels;
  c.scale(pixels, pixels);
  c.fillStyle = palette.paper;
  c.fillRect(0, 0, canvas.width, canvas.height);
  c.textBaseline = "middle";
  const write = (
    text: string,
    left: number,
    y: number,
    [size, weight]: [size: number, weight?: number],
    colour: string,
    align: CanvasTextAlign = "left",
  ): void => {
    Object.assign(c, { font: font(size, weight), fillStyle: colour, textAlign: align });
    c.fillText(text, left, y, width);
  };
  write(title, PAD, PAD + 8, [16, 600], palette.ink);
  write(about, PAD, PAD + 28, [12], palette.muted);
  c.drawImage(drawn, PAD, top, width, height);
  write(axis, PAD + width, top + height + 8, [12], palette.muted, "right");
  runs.forEach(({ colour, dash }, k) => {
    const { text, x, line } = places[k]!;
    const y = below + (line + 0.5) * LINE;
    pen(c, palette[colour], 2);
    c.setLineDash(dash);
    stroke(c, PAD + x, y, PAD + x + 32, y);
    write(text, PAD + x + 40, y, [12], palette.ink);
  });
  return canvas;
}

/** Returns the runs to export, the current run first. */
export function out(
  present: { config: Config; settings: Record<string, Value>; run: RunData },
  name: string,
  compared: (Compared & { config: Config; settings: Record<string, Value> })[],
): Out[] {
  return [{ ...present, name }, ...compared].map(({ name, config, settings, run }) => ({
    name,
    variant: config.variant,
    seed: config.seed,
    knobs: settings,
    run,
  }));
}
