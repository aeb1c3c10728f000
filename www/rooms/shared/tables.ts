// Tables that are built in one call.

import { h, type Child } from "../../parts/dom";

type Cell = Child | { class: string; words: Child };
const isPlain = (cell: Cell): cell is Child => !cell || typeof cell === "string" || cell instanceof Node;

/** The row of headings. A cell with `class: "text"` is the heading of a column of words. */
export const headRow = (...titles: Cell[]): HTMLElement =>
  h("thead", [
    h("tr", [
      titles.map((title) =>
        isPlain(title) ? h("th", { scope: "col" }, title) : h("th", { scope: "col", class: title.class }, title.words),
      ),
    ]),
  ]);

/** A row whose first cell is its heading. */
export const bodyRow = (kind: string | false, heading: Cell, ...cells: Cell[]): HTMLElement =>
  h("tr", { class: kind }, [
    isPlain(heading) ? h("th", { scope: "row" }, heading) : h("th", { scope: "row", class: heading.class }, heading.words),
    ...cells.map((cell) => (isPlain(cell) ? h("td", cell) : h("td", { class: cell.class }, cell.words))),
  ]);

/** A region that scrolls when it is too large, also by keys; `named` holds its label attribute. */
export const scrolling = (named: Record<string, string>, ...children: Child[]): HTMLElement =>
  h("div.scroll.box", { tabindex: 0, role: "region", ...named }, ...children);
