// State of the current run: its history, whether it is training, and its rates.

import type { Began, Event as RunEvent, Progress, RoomInfo, Row } from "../run/protocol";
import { History } from "./history";
import { Rates } from "./rates";
import { state } from "./signal";

/** Name of the entry in `RoomInfo.parts` that is the share of time for tests. */
const TESTS = "tests";
/** Minimum time of a test that the page reports, in ms. */
const LEAST_TEST_MS = 400;

export class Present {
  /** The current run; undefined until the first run has begun. */
  readonly run = state<History | undefined>(undefined);
  readonly running = state(true);
  readonly rates: Rates;
  /**
   * Time (of `performance.now()`, in ms) by which the counters should have changed. If they have not, the agent is probably being tested.
   */
  private dueMs = Infinity;

  constructor(private readonly room: RoomInfo) {
    this.rates = new Rates(room);
  }

  begin(began: Began): History {
    const run = new History(this.room, began);
    this.rates.begin();
    this.dueMs = Infinity;
    this.run.value = run;
    return run;
  }

  take(event: RunEvent): void {
    if (event.kind === "running") {
      this.running.value = event.running;
      this.dueMs = Infinity;
    }
    const run = this.run.value;
    if (!run) return;
    if (event.kind === "metrics") {
      this.dueMs = performance.now() + LEAST_TEST_MS + 2000 * this.trained(event, run.progress);
      run.push(event);
      this.rates.push(event);
    } else if (event.kind === "mark") run.mark(event);
    else if (event.kind === "test") run.pushTest(event);
    else if (event.kind === "standing") run.setStanding(event);
    else if (event.kind === "solved") run.solved = event.progress;
  }

  /**
   * Returns true if the agent is probably being tested. The run sends no event when a test begins. The page therefore assumes a test if the
   * counters have not changed for a long time after the end of an iteration: `LEAST_TEST_MS` and twice the duration of the iteration.
   */
  isTesting({ iteration, counts }: Progress): boolean {
    const ended = this.run.value?.progress;
    if (!ended || !this.running.value || performance.now() < this.dueMs) return false;
    return iteration === ended.iteration && counts.every((count, k) => count === ended.counts[k]);
  }

  /** Returns the seconds of training in an iteration, without tests. `before` is the progress at the start of the iteration. */
  private trained({ progress, values }: Row, before: Progress): number {
    const { metrics, parts } = this.room;
    const tested = values[metrics.length + parts.findIndex(({ name }) => name === TESTS)] ?? 0;
    return (progress.train_s - before.train_s) * (1 - tested);
  }
}
