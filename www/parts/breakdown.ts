// Where the time of an iteration goes: one bar in parts, and the same as a table. It calms the numbers, iteration by
// iteration, so that one can read them while they come.

import { h, id, write } from "./dom";
import { drawing } from "./loop";
import { Operations, type Look } from "./operations";
import { state } from "./signal";
import type { Colour } from "./theme";
import { Table } from "./table";
import type { Part } from "../run/protocol";

/** Of one iteration: calm to look at, and soon true again after a change. */
const WEIGHT = 0.05;
const WRITE_EVERY_MS = 500;
/** Narrower segments stand without their name. */
const NAMED_PX = 92;

/** Colours of a room's own parts in turn, and of those that every room has. */
const COLOURS: Colour[] = ["accent", "grown", "soft", "rust", "plus", "thrust", "minus"];
const HOUSE: Record<string, Colour> = { tests: "ink", rest: "muted" };

const NOTHING = "Nothing has taken any time yet";

const percent = (share: number): string => `${Math.round(100 * share)}\u00a0%`;

export class Breakdown {
  readonly element: HTMLElement;
  private readonly shares = state<number[] | undefined>(undefined);
  private readonly bar = h("div.breakdown-bar", { role: "img" });
  private readonly segments: HTMLElement[];
  private readonly table: Table;
  private readonly operations: Operations;

  /** Parts in the order of their shares, each with what happens in it; `time` finds the operations of a gradient. */
  constructor(
    private readonly parts: readonly Part[],
    time: Look,
  ) {
    // Those of every room come last, and look the same in all.
    const own = parts.length - Object.keys(HOUSE).length;
    const look = (k: number): string => `background:var(--${k < own ? COLOURS[k % COLOURS.length] : HOUSE[parts[k]!.name]})`;
    this.segments = parts.map((_, k) => h("span", { style: look(k) }));
    const titleId = id("breakdown");
    this.table = new Table(
      "Where the time goes",
      ["Part", "Share", "What happens"],
      () =>
        this.told().map(({ label, help, share }, k) => {
          const heading = h("span", h("i.swatch", { style: look(k), "aria-hidden": "true" }), label);
          return [heading, this.shares.value ? percent(share) : "", help];
        }),
      ["What happens"],
    );
    this.table.caption.textContent = "Shares of the time lately";
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
  }

  push(shares: number[]): void {
    const before = this.shares.value;
    this.shares.value = before ? before.map((share, i) => share + (shares[i]! - share) * WEIGHT) : [...shares];
  }

  clear(): void {
    this.shares.value = undefined;
  }

  private told(): { label: string; help: string; share: number }[] {
    const shares = this.shares.value ?? [];
    const whole = shares.reduce((sum, share) => sum + share, 0);
    return this.parts.map(({ label, help }, k) => ({ label, help, share: whole > 0 ? shares[k]! / whole : 0 }));
  }

  private draw(): void {
    const parts = this.told();
    const width = this.bar.clientWidth;
    parts.forEach(({ label, share }, k) => {
      this.segments[k]!.style.flexGrow = String(share);
      write(this.segments[k]!, share * width < NAMED_PX ? "" : `${label} ${percent(share)}`);
    });
    this.table.refresh();
    const longest = parts.filter(({ share }) => share >= 0.005).sort((a, b) => b.share - a.share);
    this.bar.setAttribute(
      "aria-label",
      longest.length ? longest.map(({ label, share }) => `${label} ${percent(share)}`).join(", ") : NOTHING,
    );
  }
}
