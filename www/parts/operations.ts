// Where the time of a gradient goes, operation by operation: a table that calls are timed for while it is open.

import { untilClosed } from "./life";
import { Table } from "./table";
import type { Operation } from "../run/protocol";

const ASK_EVERY_MS = 1000;
const NO_PLAN = "This learner does not compute its gradients by a plan of operations";

export type Look = (look: boolean) => Promise<Operation[] | null>;

export class Operations {
  readonly table: Table;
  /** Of a learner without a plan there are none. */
  private found: Operation[] | null = [];
  private timer: ReturnType<typeof setInterval> | undefined;

  /** `look` says whether calls are timed from here on, and gives what was found until then. */
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
      () => {}, // the run was closed
    );
  }

  private rows(): string[][] {
    const whole = this.found?.reduce((sum, { seconds }) => sum + seconds, 0) ?? 0;
    this.table.caption.textContent =
      this.found === null
        ? NO_PLAN
        : whole > 0
          ? "Shares of the time of gradients on this processor, since this table was opened"
          : "Nothing was timed yet: gradients are timed where this processor computes them";
    return whole > 0
      ? this.found!.map(({ name, shape, calls, seconds }) => [name, shape, String(calls), `${((100 * seconds) / whole).toFixed(1)}\u00a0%`])
      : [];
  }
}
