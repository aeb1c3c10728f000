// Functions that build parts of a table.

import { h, type Child } from "../../parts/dom";

type Cell = Child | { class: string; words: Child };
const isPlain = (cell: Cell): cell is Child => !cell || typeof cell === "string" || cell instanceof Node;

/** Returns the row of headings. The class `text` marks the heading of a column that contains words. */
export const headRow = (...titles: Cell[]): HTMLElement =>
  h("thead", [
    h("tr", [
      titles.map((title) =>
        isPlain(title) ? h("th", { scope: "col" }, title) : h("th", { scope: "col", class: title.class }, title.words),
      ),
    ]),
  ]);

/** Returns a row whose first cell is the row's heading. */
export const bodyRow = (kind: string | false, heading: Cell, ...cells: Cell[]): HTMLElement =>
  h("tr", { class: kind }, [
    isPlain(heading) ? h("th", { scope: "row" }, heading) : h("th", { scope: "row", class: heading.class }, heading.words),
    ...cells.map((cell) => (isPlain(cell) ? h("td", cell) : h("td", { class: cell.class }, cell.words))),
  ]);

/**
 * Returns a region that scrolls if its content is too large, also by keys. `named` is the attribute that names the region for screen
 * readers.
 */
export const scrolling = (named: Record<string, string>, ...children: Child[]): HTMLElement =>
  h("div.scroll.box", { tabindex: 0, role: "region", ...named }, ...children);
