// A bar chart of shares. Outlines show the previous shares, and a table contains the same numbers.

import { h, write } from "../../parts/dom";
import { Table } from "../../parts/table";

export type Bar = { label: string; share: number | undefined; before?: number; words?: string; cells?: string[] };
/** Maximum number of bars that have room for a word at each bar. */
const MANY = 16;

type Column = { element: HTMLElement; fill: HTMLElement; ghost: HTMLElement; top: HTMLElement; label: HTMLElement };

export class Bars {
  readonly element: HTMLElement;
  readonly table: Table;
  private readonly field = h("div.bars-field", { role: "img" });
  private columns: Column[] = [];
  private bars: Bar[] = [];

  /** `titles` are the titles of the table's columns. The first column contains the bars' labels. */
  constructor(
    private readonly name: string,
    titles: string[],
  ) {
    this.table = new Table(name, titles, () => this.bars.map(({ label, cells = [] }) => [label, ...cells]));
    this.element = h("div.bars", this.field);
    this.field.setAttribute("aria-label", `${name}: nothing yet`);
  }

  show(bars: Bar[], spoken: string): void {
    if (bars.length !== this.columns.length) this.make(bars.length);
    this.bars = bars;
    bars.forEach(({ label, share, before, words }, k) => {
      const column = this.columns[k]!;
      const percent = (of: number | undefined): string => `${(100 * Math.max(0, Math.min(1, of ?? 0))).toFixed(1)}%`;
      column.fill.style.height = percent(share);
      column.ghost.style.height = percent(before);
      column.ghost.hidden = !before;
      column.element.classList.toggle("unknown", share === undefined);
      column.element.classList.toggle("full", (share ?? 0) >= 0.9995);
      write(column.top, words ?? "");
      write(column.label, label);
    });
    this.field.setAttribute("aria-label", `${this.name}: ${spoken}`);
    this.table.refresh();
  }

  private make(count: number): void {
    this.element.classList.toggle("many", count > MANY);
    this.columns = Array.from({ length: count }, () => {
      const part = (name: string): HTMLElement => h("span", { class: name });
      const [fill, ghost, top, label] = [part("bar-fill"), part("bar-ghost"), part("bar-top"), part("bar-label")];
      return { element: h("div.bar", top, h("span.bar-well", fill, ghost), label), fill, ghost, top, label };
    });
    this.field.replaceChildren(...this.columns.map(({ element }) => element));
  }
}

/** Formats a share as a percentage, such as `97%`. A share near 0 or 1 has up to two decimals. */
export const percent = (share: number): string => {
  const all = 100 * share;
  if (all >= 99.995 || all <= 0) return `${Math.round(all)}%`;
  return `${all >= 99.5 || all < 0.95 ? all.toFixed(all >= 99.95 || all < 0.095 ? 2 : 1) : Math.round(all)}%`;
};
