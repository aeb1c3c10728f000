// Help dialog and single-key shortcuts. A shortcut does not apply in a field, a button or a dialog. The visitor can turn shortcuts off.

import { Dialog } from "./dialog";
import { button, h, id } from "./dom";
import { pageLife } from "./life";
import { recall, remember } from "./prefs";

export type Shortcut = { key: string; shown: string; does: string; run: () => void };
/** A key or gesture that a picture handles, for the list in the help dialog. */
export type Gesture = { shown: string; does: string };

/** Content of the help dialog, except the keys. */
export type Help = { about: string; can: string[]; gestures: Gesture[]; tour: () => void };

/** Elements that handle all keys themselves while they have the focus. */
const KEEPS_ALL = "input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable], [role=application], [role=textbox]";
/** Elements that handle the space key themselves while they have the focus. */
const KEEPS_SPACE = "input, button, a, summary, label, [tabindex]";

const table = (caption: string, column: string, rows: Gesture[]): HTMLElement =>
  h("table.keys", [
    h("caption.unseen", caption),
    h("thead.unseen", h("tr", h("th", { scope: "col" }, column), h("th", { scope: "col" }, "Action"))),
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
    { about, can, gestures, tour }: Help,
  ) {
    const boxId = id("keys");
    const box = h("input", { type: "checkbox", id: boxId, role: "switch", checked: this.on });
    box.addEventListener("change", () => {
      this.on = box.checked;
      remember("shortcuts", this.on ? null : "off");
    });
    this.dialog = new Dialog(
      "Help",
      h("p", about),
      h("h3", "Features"),
      h("ul.can", ...can.map((words) => h("li", words))),
      h("p.row", [button("Take the tour", () => (this.dialog.close(), tour()))]),
      // The style sheet shows the section for the present type of screen, keyboard or touch.
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
    // Outside a shadow tree, the target is the tree's host instead of the field.
    const [source] = event.composedPath();
    const target = source instanceof Element ? source : document.body;
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
