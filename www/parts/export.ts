// Exports the compared curves with the settings of each run, as CSV, JSON, or a picture of the chart in PNG or SVG.

import type { ChartPicture } from "./chart-picture";
import type { RunData } from "./charting";
import { download } from "./files";
import type { Config, RoomInfo, Row, Value } from "../run/protocol";

export type CurveFormat = "csv" | "json" | "png" | "svg";
/** A compared run. `settings` contains the initial settings that differ from the defaults. */
type Curve = { name: string; config: Config; settings: Record<string, Value>; run: RunData };
/** An exported run. `knobs` contains the initial settings that differ from the defaults. */
type Out = { name: string; variant: string; seed: number; knobs: Record<string, Value>; run: RunData };

/** Quotes a field of a CSV line if necessary. */
const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const knobsOf = ({ knobs }: Out): string =>
  Object.entries(knobs)
    .map(([knob, value]) => `${knob}=${value}`)
    .join(" ");
/** Formats live changes as in links: `320:lr=0.0001` sets `lr` after iteration 320. */
const changesOf = ({ run }: Out): string => run.marks.map(({ progress, knob, to }) => `${progress.iteration}:${knob}=${to}`).join(" ");

/** Returns a CSV of all metrics and tests in the order of iterations. Each row contains the settings of its run. */
function csv(room: RoomInfo, runs: Out[]): string {
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

function json(room: RoomInfo, runs: Out[]): string {
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

/** Returns the content of a file with the curves of these runs. */
async function contentOf(format: CurveFormat, room: RoomInfo, runs: Out[], picture: ChartPicture): Promise<string | Uint8Array> {
  if (format === "csv") return csv(room, runs);
  if (format === "json") return json(room, runs);
  const { pngOf, svgOf } = await import("./chart-picture");
  const [{ variant, seed }] = runs as [Out];
  const about = [room.title, variant, `seed ${seed}`, knobsOf(runs[0]!), changesOf(runs[0]!)].filter(Boolean).join(", ");
  return (format === "png" ? pngOf : svgOf)(picture, about);
}

/** Downloads the curves of runs, the current run first. `picture` is the chart that shows them. */
export async function exportCurves(format: CurveFormat, room: RoomInfo, curves: Curve[], picture: ChartPicture): Promise<void> {
  const runs = curves.map(({ name, config, settings, run }) => ({
    name,
    variant: config.variant,
    seed: config.seed,
    knobs: settings,
    run,
  }));
  const [{ variant, seed }] = runs as [Out];
  download(`hothouse-${room.id}-${variant}-seed${seed}-curves.${format}`, await contentOf(format, room, runs, picture));
}
