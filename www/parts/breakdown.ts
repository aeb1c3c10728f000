// Where the time of an iteration goes: one bar in parts, and the same as a table. It calms the numbers, iteration by
// iteration, so that one can read them while they come.

import { PARTS, type Metrics } from "../run/protocol";
import { h, id, write } from "./dom";
import { animate } from "./loop";

type Part = (typeof PARTS)[number];

const WORDS: Record<Part, string> = {
  policy: "The policy chooses actions, the critic estimates what is still to come",
  world: "The environments step",
  advantages: "How much better each action was than expected, looking back from the end",
  gather: "Samples are drawn from the rollout and laid side by side",
  gradient: "Both networks forward, then back through every weight",
  update: "Adam moves the weights, and they are packed for the next use",
  rest: "Judging, telling the page, and waiting for its turn",
  device: "Whole iterations on the GPU, which does not tell where its time goes",
};
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
  private readonly segments = PARTS.map((name) => h("span", { class: `part-${name}` }));
  private readonly cells = PARTS.map(() => h("td"));
  private readonly stop: () => void;

  constructor() {
    const [titleId, tableId] = [id("breakdown"), id("table")];
    const rows = PARTS.map((name, i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("i", { class: `swatch part-${name}`, "aria-hidden": "true" }), name),
        this.cells[i],
        h("td", { class: "text" }, WORDS[name]),
      ),
    );
    const titles = h("tr", {}, h("th", { scope: "col" }, "Part"), h("th", { scope: "col" }, "Share"), h("th", { scope: "col", class: "text" }, "What happens"));
    const table = h(
      "div",
      { class: "scroll", id: tableId, hidden: true, tabindex: 0, role: "region", "aria-label": "Where the time goes as a table" },
      h("table", {}, h("caption", {}, "Shares of the last iterations' time"), h("thead", {}, titles), h("tbody", {}, ...rows)),
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

  push({ shares }: Metrics): void {
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
    const parts = PARTS.map((name, i) => ({ name, share: whole > 0 ? this.shares![i]! / whole : 0 }));
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
