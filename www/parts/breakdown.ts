// Shares of an iteration's time, as a segmented bar and as a table. The shares are means of recent rows, so that the numbers do not change
// too fast to read.

import { h, id, write } from "./dom";
import { untilClosed } from "./life";
import { drawing } from "./loop";
import { Operations, type Look } from "./operations";
import type { Colour } from "./theme";
import { Table } from "./table";
import type { TimePart } from "../run/protocol";
import type { History } from "./history";

/** Number of the latest rows whose mean is shown. */
const RECENT = 40;
const WRITE_EVERY_MS = 500;
/** Space beside a label and greatest mean width of its characters, in px. A label that does not fit into its segment is left out. */
const [BESIDE_PX, CHARACTER_PX] = [12, 7.4];

/** Colours of the time parts that a room defines, assigned in turn. */
const COLOURS: Colour[] = ["training", "agent", "soft", "opponent", "test", "error"];
/** Colours of the time parts that every room has. */
const COMMON: Record<string, Colour> = { tests: "ink", rest: "muted" };

const NOTHING = "No time measured yet";

const percent = (share: number): string => `${Math.round(100 * share)}%`;

export class Breakdown {
  readonly element: HTMLElement;
  private readonly bar = h("div.breakdown-bar", { role: "img" });
  private readonly segments: HTMLElement[];
  private readonly table: Table;
  private readonly operations: Operations;

  /** `time` turns the timing of operations on or off and returns the measurements. */
  constructor(
    private readonly parts: readonly TimePart[],
    private readonly present: () => History | undefined,
    time: Look,
  ) {
    // The parts that every room has come last and have fixed colours.
    const own = parts.length - Object.keys(COMMON).length;
    const look = (k: number): string => `background:var(--${k < own ? COLOURS[k % COLOURS.length] : COMMON[parts[k]!.name]})`;
    this.segments = parts.map((_, k) => h("span", { style: look(k) }));
    const titleId = id("breakdown");
    this.table = new Table(
      "Where the time goes",
      ["Part", "Share", "What happens"],
      () => {
        const parts = this.measured();
        const isMeasured = parts.some(({ share }) => share > 0);
        return parts.map(({ label, help, share }, k) => {
          const heading = h("span", h("i.swatch", { style: look(k), "aria-hidden": "true" }), label);
          return [heading, isMeasured ? percent(share) : "", help];
        });
      },
      ["What happens"],
    );
    this.table.caption.textContent = "Recent shares of time";
    this.operations = new Operations(time);
    this.bar.append(...this.segments);
    this.bar.setAttribute("aria-label", NOTHING);
    this.element = h("figure.breakdown", { "aria-labelledby": titleId }, [
      h("figcaption", h("h3", { id: titleId }, "Where the time goes"), this.table.button, this.operations.table.button),
      this.bar,
      this.table.element,
      this.operations.table.element,
    ]);
    drawing(this.element, () => this.draw(), WRITE_EVERY_MS);
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(this.bar);
    untilClosed(() => observer.disconnect());
  }

  private measured(): { label: string; help: string; share: number }[] {
    const columns = this.present()?.columns ?? {};
    const sum = (values: (number | null)[]): number => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
    const shares = this.parts.map(({ name }) => sum(columns[name]?.slice(-RECENT) ?? []));
    const whole = sum(shares);
    return this.parts.map(({ label, help }, k) => ({ label, help, share: whole > 0 ? shares[k]! / whole : 0 }));
  }

  private draw(): void {
    const parts = this.measured();
    const width = this.bar.clientWidth;
    parts.forEach(({ label, share }, k) => {
      this.segments[k]!.style.flexGrow = String(share);
      const text = `${label} ${percent(share)}`;
      write(this.segments[k]!, share * width < BESIDE_PX + CHARACTER_PX * text.length ? "" : text);
    });
    this.table.refresh();
    const longest = parts.filter(({ share }) => share >= 0.005).sort((a, b) => b.share - a.share);
    this.bar.setAttribute(
      "aria-label",
      longest.length ? longest.map(({ label, share }) => `${label} ${percent(share)}`).join(", ") : NOTHING,
    );
  }
}
