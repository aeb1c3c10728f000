// State of the current run: its history, whether it is training, and its rates.

import type { Began, Event as RunEvent, RoomInfo } from "../run/protocol";
import { History } from "./history";
import { Rates } from "./rates";
import { state } from "./signal";

export class Present {
  /** The current run; undefined until the first run has begun. */
  readonly run = state<History | undefined>(undefined);
  readonly running = state(true);
  readonly rates: Rates;

  constructor(private readonly room: RoomInfo) {
    this.rates = new Rates(room);
  }

  begin(began: Began): History {
    const run = new History(this.room, began);
    this.rates.begin();
    this.run.value = run;
    return run;
  }

  take(event: RunEvent): void {
    if (event.kind === "running") this.running.value = event.running;
    const run = this.run.value;
    if (!run) return;
    if (event.kind === "metrics") {
      run.push(event);
      this.rates.push(event);
    } else if (event.kind === "mark") run.mark(event);
    else if (event.kind === "test") run.pushTest(event);
    else if (event.kind === "confirmation" && !event.confirmed) run.attempts++;
    else if (event.kind === "solved") run.solved = event.progress;
  }
}
