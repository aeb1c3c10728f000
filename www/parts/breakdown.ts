// Where the time of an iteration goes: one bar in parts, and the same as a table. It calms the numbers, iteration by
// iteration, so that one can read them while they come.

import { h, id, write } from "./dom";
import { animate } from "./loop";

/** Of one iteration: calm to look at, and soon true again after a change. */
const WEIGHT = 0.05;
const WRITE_EVERY_MS = 500;
/** Narrower segments stand without their name. */
const NAMED_PX = 92;

const NOTHING = "Nothing has taken any time yet";

const percent = (share: number): string => `${Math.round(100 * share)}\u00a0%`;

export class Breakdown {
  readonly element: HTMLElement;
  private shares: number[] | undefined;
  private dirty = true;
  private readonly bar = h("div", { class: "breakdown-bar", role: "img" });
  private readonly segments: HTMLElement[];
  private readonly cells: HTMLElement[];
  private readonly stop: () => void;

  /** Parts in the order of their shares, each with what happens in it. */
  constructor(
    private readonly parts: readonly string[],
    words: Record<string, string>,
  ) {
    this.segments = parts.map((name) => h("span", { class: `part-${name}` }));
    this.cells = parts.map(() => h("td"));
    const [titleId, tableId] = [id("breakdown"), id("table")];
    const rows = parts.map((name, i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("i", { class: `swatch part-${name}`, "aria-hidden": "true" }), name),
        this.cells[i],
        h("td", { class: "text" }, words[name] ?? ""),
      ),
    );
    const titles = h("tr", {}, h("th", { scope: "col" }, "Part"), h("th", { scope: "col" }, "Share"), h("th", { scope: "col", class: "text" }, "What happens"));
    const table = h(
      "div",
      { class: "scroll", id: tableId, hidden: true, tabindex: 0, role: "region", "aria-label": "Where the time goes as a table" },
      h("table", {}, h("caption", {}, "Shares of the time lately"), h("thead", {}, titles), h("tbody", {}, ...rows)),
    );
    const button = h(
      "button",
      { type: "button", class: "quiet small", "aria-expanded": "false", "aria-controls": tableId, "aria-label": "Where the time goes as a table" },
      "Table",
    );
    button.addEventListener("click", () => {
      table.hidden = !table.hidden;
      button.setAttribute("aria-expanded", String(!table.hidden));
      button.textContent = table.hidden ? "Table" : "Close table";
    });
    this.bar.append(...this.segments);
    this.bar.setAttribute("aria-label", NOTHING);
    this.element = h(
      "figure",
      { class: "breakdown", "aria-labelledby": titleId },
      h("figcaption", {}, h("h3", { id: titleId }, "Where the time goes"), button),
      this.bar,
      table,
    );
    this.stop = animate(this.element, () => this.draw(), WRITE_EVERY_MS);
  }

  push({ shares }: { shares: number[] }): void {
    const before = this.shares;
    this.shares = before ? before.map((share, i) => share + (shares[i]! - share) * WEIGHT) : [...shares];
    this.dirty = true;
  }

  /** Another run takes other times. */
  clear(): void {
    this.shares = undefined;
    this.dirty = true;
  }

  close(): void {
    this.stop();
  }

  private draw(): void {
    if (!this.dirty) return;
    this.dirty = false;
    const whole = this.shares?.reduce((sum, share) => sum + share, 0) ?? 0;
    const parts = this.parts.map((name, i) => ({ name, share: whole > 0 ? this.shares![i]! / whole : 0 }));
    const width = this.bar.clientWidth;
    parts.forEach(({ name, share }, i) => {
      this.segments[i]!.style.flexGrow = String(share);
      write(this.segments[i]!, share * width < NAMED_PX ? "" : `${name} ${percent(share)}`);
      write(this.cells[i]!, whole > 0 ? percent(share) : "");
    });
    const longest = parts.filter(({ share }) => share >= 0.005).sort((a, b) => b.share - a.share);
    this.bar.setAttribute(
      "aria-label",
      longest.length ? longest.map(({ name, share }) => `${name} ${percent(share)}`).join(", ") : NOTHING,
    );
  }
}
