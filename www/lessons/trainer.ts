// Trains the runs of a lesson in the open room, and keeps the visitor's predictions and the runs' results for this visit.

import type { Client } from "../run/client";
import type { Config, Event as RunEvent, Mark, Row } from "../run/protocol";
import type { History } from "../parts/history";
import { untilClosed } from "../parts/life";
import type { PageContext } from "../parts/room";
import { ROOMS } from "../rooms";
import type { Results, Values } from "./claims";
import type { Lesson, Run } from "./lesson";

export interface LessonSources {
  client: Client;
  around: PageContext;
  present(): History | undefined;
  /** Begins a run of the open room. */
  begin(config: Config): void;
}

/** Prediction of the visitor in a lesson, and results of the lesson's runs. */
export interface Work {
  /** Index of the prediction to which the visitor committed. */
  committed: number | undefined;
  /** Results by the names of the runs. */
  results: Record<string, Results>;
}

type Training = { lesson: Lesson; run: Run };

const works = new Map<string, Work>();
/** Run that was requested and has not begun. The page of another room or module may begin it. */
let requested: Training | undefined;

export function workOf({ name }: Lesson): Work {
  const work = works.get(name) ?? { committed: undefined, results: {} };
  works.set(name, work);
  return work;
}

export class Trainer {
  /** The lesson's run that trains now. */
  training: Training | undefined;

  /** `changed` is called when a run of a lesson begins, advances or ends. */
  constructor(
    private readonly sources: LessonSources,
    private readonly changed: () => void,
  ) {
    let open = true;
    untilClosed(() => (open = false));
    sources.client.onEvent((event) => open && this.take(event));
    if (sources.present()) this.began();
  }

  /** Share of the run that is done, from 0 to 1. */
  get done(): number {
    const { training, sources } = this;
    return training ? Math.min(1, (sources.present()?.counts.at(-1) ?? 0) / training.run.steps) : 0;
  }

  /** Begins a run in the open room, or opens the room or the module that has the run's variant. */
  begin(lesson: Lesson, run: Run): void {
    const { client, around, begin } = this.sources;
    const config = this.configOf(run);
    requested = { lesson, run };
    delete workOf(lesson).results[run.name];
    if (client.room.id === run.room && client.has(config.variant)) begin(config);
    else around.open({ room: run.room, variant: config.variant, config });
  }

  private configOf({ room, variant, seed, knobs, changes, world }: Run): Config {
    const { client, present } = this.sources;
    const { version = 2 } = present()?.config ?? {};
    const chosen = world ? ROOMS.find(({ id }) => id === room)?.own : variant;
    const config = { version, room, variant: chosen ?? client.room.variants[0]!.id, seed, knobs, changes };
    if (!world) return config;
    const content = new TextEncoder().encode(world.text);
    return { ...config, data: { name: world.name, bytes: content.length, hash: "", content } };
  }

  private take(event: RunEvent): void {
    if (event.kind === "began") this.began();
    else if (event.kind === "mark" && this.training && !isPlanned(event, this.training.run)) this.training = undefined;
    else if (event.kind === "metrics" && this.training && event.progress.counts[0]! >= this.training.run.steps) void this.end();
    else if (event.kind !== "metrics") return;
    this.changed();
  }

  private began(): void {
    this.training = requested;
    requested = undefined;
  }

  /** Pauses the run, tests the agent, and stores the results. */
  private async end(): Promise<void> {
    const { client, around, present } = this.sources;
    const { lesson, run } = this.training!;
    this.training = undefined;
    client.command({ kind: "pause" });
    const history = present()!;
    const test = await client.test();
    workOf(lesson).results[run.name] = resultsOf(history, test, run.steps);
    around.announcer.say(`Run ${run.name} of the lesson is done.`);
    this.changed();
  }
}

/** Returns true if the lesson's command contains this live change. */
const isPlanned = ({ knob, progress }: Mark, { changes }: Run): boolean =>
  changes.some((change) => change.knob === knob && change.iteration === progress.iteration);

/**
 * Returns the results of a run up to its end. Later rows are omitted, because the run may have trained further. `last` is the test after
 * the end.
 */
function resultsOf(history: History, last: Row, steps: number): Results {
  const { room, counts, columns } = history;
  const counter = room.counters[0]!.name;
  const reached = counts.findIndex((count) => count >= steps);
  const metrics = counts.slice(0, reached < 0 ? counts.length : reached + 1).map(
    (count, k): Values => ({
      ...Object.fromEntries(room.metrics.map(({ name }) => [name, columns[name]![k] ?? null])),
      [counter]: count,
    }),
  );
  const tests = [...history.tests.filter(({ progress }) => progress.counts[0]! < steps), last].map(
    ({ progress, values }): Values => ({
      ...Object.fromEntries(room.tests.map(({ name }, k) => [name, values[k] ?? null])),
      [counter]: progress.counts[0] ?? null,
    }),
  );
  return { counter, metrics, tests };
}
