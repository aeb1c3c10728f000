// Help, and single keys for what is used most. Keys are never taken from a field, a button or a dialog, and can be turned off.

import { Dialog } from "./dialog";
import { button, h, id } from "./dom";
import { pageLife } from "./life";
import { recall, remember } from "./prefs";

export type Shortcut = { key: string; shown: string; does: string; run: () => void };
/** A key that belongs to a picture, or a gesture on one. */
export type Gesture = { shown: string; does: string };

/** What help tells beside the keys. */
export type About = { what: string; can: string[]; gestures: Gesture[]; tour: () => void };

/** Where a key belongs to the element that has the focus. */
const KEEPS_ALL = "input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable], [role=application], [role=textbox]";
const KEEPS_SPACE = "input, button, a, summary, label, [tabindex]";

const table = (caption: string, column: string, rows: Gesture[]): HTMLElement =>
  h("table.keys", [
    h("caption.unseen", caption),
    h("thead.unseen", h("tr", h("th", { scope: "col" }, column), h("th", { scope: "col" }, "What it does"))),
    h("tbody", [
      rows.map((row) => h("tr", h("th", { scope: "row" }, column === "Key" ? h("kbd", row.shown) : row.shown), h("td.text", row.does))),
    ]),
  ]);

export class Shortcuts {
  private readonly dialog: Dialog;
  private on = recall("shortcuts") !== "off";

  constructor(
    private readonly shortcuts: Shortcut[],
    others: Gesture[],
    { what, can, gestures, tour }: About,
  ) {
    const boxId = id("keys");
    const box = h("input", { type: "checkbox", id: boxId, role: "switch", checked: this.on });
    box.addEventListener("change", () => {
      this.on = box.checked;
      remember("shortcuts", this.on ? null : "off");
    });
    this.dialog = new Dialog(
      "Help",
      h("p", what),
      h("h3", "What you can do"),
      h("ul.can", ...can.map((words) => h("li", words))),
      h("p.row", [button("Take the tour", () => (this.dialog.close(), tour()))]),
      // A style sheet shows the one that the screen is for.
      h("section.by-keys", { "aria-label": "Keys" }, [
        h("h3", "Keys"),
        table("Keyboard shortcuts", "Key", [...shortcuts, ...others, { shown: "?", does: "this help" }]),
        h("p.row", box, h("label", { for: boxId }, "Single-key shortcuts")),
      ]),
      h("section.by-touch", { "aria-label": "Touch" }, h("h3", "Touch"), table("Gestures", "Gesture", gestures)),
    );
    document.addEventListener("keydown", (event) => this.take(event), { signal: pageLife() });
  }

  help(): void {
    this.dialog.open();
  }

  private take(event: KeyboardEvent): void {
    if (!this.on || event.defaultPrevented || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest(KEEPS_ALL) || document.querySelector("dialog[open]")) return;
    if (event.key === " " && target.closest(KEEPS_SPACE)) return;
    if (event.key === "?") this.help();
    else {
      const shortcut = this.shortcuts.find(({ key }) => key === event.key.toLowerCase());
      if (!shortcut) return;
      shortcut.run();
    }
    event.preventDefault();
  }
}
