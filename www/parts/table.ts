// Table with the data of a picture, and a button that opens it. The table updates while it is open.

import { h, id } from "./dom";

const WRITE_EVERY_MS = 2000;

export class Table {
  readonly button: HTMLButtonElement;
  readonly element: HTMLElement;
  readonly caption = h("caption");
  private readonly head = h("tr");
  private readonly body = h("tbody");
  private titled = "";
  private wroteMs = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * `rows` returns the cells of each row; the first cell is the heading of the row. `texts` lists the titles of the columns that contain
   * text.
   */
  constructor(
    readonly name: string,
    private readonly titles: string[] | (() => string[]),
    private readonly rows: () => (string | Node)[][],
    private readonly texts: string[] = [],
  ) {
    const tableId = id("table");
    this.element = h("div.scroll.box", { id: tableId, hidden: true, tabindex: 0, role: "region", "aria-label": `${name} as a table` }, [
      h("table", this.caption, h("thead", this.head), this.body),
    ]);
    this.button = h("button.quiet.small", { "aria-expanded": "false", "aria-controls": tableId, "aria-label": `${name} as a table` }, [
      "Table",
    ]);
    this.button.addEventListener("click", () => this.open(Boolean(this.element.hidden)));
  }

  open(open: boolean): void {
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    this.renew();
  }

  /** Rewrites an open table immediately, after a change of its data. */
  renew(): void {
    this.wroteMs = -Infinity;
    if (!this.element.hidden) this.write();
  }

  /** Updates an open table soon, but not while the table has the focus. */
  refresh(): void {
    if (this.element.hidden) return;
    const now = performance.now();
    const waitMs = this.wroteMs + WRITE_EVERY_MS - now;
    // Waits while the table has the focus, because a screen reader may be reading the table.
    if (waitMs > 0 || this.element.contains(document.activeElement)) {
      this.timer ??= setTimeout(
        () => {
          this.timer = undefined;
          this.refresh();
        },
        Math.max(waitMs, 500),
      );
      return;
    }
    this.write();
  }

  private write(): void {
    this.wroteMs = performance.now();
    const titles = typeof this.titles === "function" ? this.titles() : this.titles;
    const classes = titles.map((title) => this.texts.includes(title) && "text");
    if (titles.join("\n") !== this.titled) {
      this.titled = titles.join("\n");
      this.head.replaceChildren(...titles.map((title, k) => h("th", { scope: "col", class: classes[k] }, title)));
    }
    this.body.replaceChildren(
      ...this.rows().map(([heading, ...cells]) =>
        h("tr", h("th", { scope: "row" }, heading), ...cells.map((cell, k) => h("td", { class: classes[k + 1] }, cell))),
      ),
    );
  }

  clear(): void {
    this.open(false);
    this.body.replaceChildren();
  }
}
