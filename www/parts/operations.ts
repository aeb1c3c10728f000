// Table of the time that each operation takes in the computation of gradients. Operations are timed only while the table is open.

import { untilClosed } from "./life";
import { Table } from "./table";
import type { Operation } from "../run/protocol";

const ASK_EVERY_MS = 1000;
const NO_PLAN = "This learner has no plan of operations to measure";

export type Look = (look: boolean) => Promise<Operation[] | null>;

export class Operations {
  readonly table: Table;
  /** Measured operations; null if the learner has no plan. */
  private found: Operation[] | null = [];
  private timer: ReturnType<typeof setInterval> | undefined;

  /** `look` turns timing on or off and returns the measurements. */
  constructor(private readonly look: Look) {
    this.table = new Table("Time by operation", ["Operation", "Shape", "Calls", "Share"], () => this.rows(), ["Shape"]);
    this.table.button.textContent = "By operation";
    this.table.button.addEventListener("click", () => this.follow());
    untilClosed(() => clearInterval(this.timer));
  }

  private follow(): void {
    clearInterval(this.timer);
    const open = !this.table.element.hidden;
    this.found = [];
    if (open) this.timer = setInterval(() => this.ask(true), ASK_EVERY_MS);
    this.ask(open);
  }

  private ask(look: boolean): void {
    this.look(look).then(
      (found) => {
        if (!look) return;
        this.found = found;
        this.table.renew();
      },
      () => {}, // the run has been closed
    );
  }

  private rows(): string[][] {
    const whole = this.found?.reduce((sum, { seconds }) => sum + seconds, 0) ?? 0;
    this.table.caption.textContent =
      this.found === null
        ? NO_PLAN
        : whole > 0
          ? "Shares of gradient time on the CPU since the table was opened"
          : "No time measured yet. Gradients are timed on the CPU only.";
    return whole > 0
      ? this.found!.map(({ name, shape, calls, seconds }) => [name, shape, String(calls), `${((100 * seconds) / whole).toFixed(1)}%`])
      : [];
  }
}
