// Single keys for what is used most. They never take a key from a field, a button or a dialog, and can be turned off.

import { Dialog } from "./dialog";
import { h, id } from "./dom";
import { recall, remember } from "./prefs";

export type Shortcut = { key: string; shown: string; does: string; run: () => void };

/** Where a key belongs to the element that has the focus. */
const KEEPS_ALL = "input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable], [role=application], [role=textbox]";
const KEEPS_SPACE = "input, button, a, summary, label, [tabindex]";

export class Shortcuts {
  private readonly dialog: Dialog;
  private on = recall("shortcuts") !== "off";
  private readonly listen = (event: KeyboardEvent): void => this.take(event);

  constructor(private readonly shortcuts: Shortcut[], others: { shown: string; does: string }[]) {
    const boxId = id("keys");
    const box = h("input", { type: "checkbox", id: boxId, role: "switch", checked: this.on });
    box.addEventListener("change", () => {
      this.on = box.checked;
      remember("shortcuts", this.on ? null : "off");
    });
    const help = { shown: "?", does: "this list" };
    this.dialog = new Dialog(
      "Keys",
      h(
        "table",
        { class: "keys" },
        h("caption", { class: "unseen" }, "Keyboard shortcuts"),
        h("thead", { class: "unseen" }, h("tr", {}, h("th", { scope: "col" }, "Key"), h("th", { scope: "col" }, "What it does"))),
        h(
          "tbody",
          {},
          ...[...shortcuts, ...others, help].map((row) =>
            h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, row.shown)), h("td", { class: "text" }, row.does)),
          ),
        ),
      ),
      h("p", { class: "row" }, box, h("label", { for: boxId }, "Single-key shortcuts")),
    );
    document.addEventListener("keydown", this.listen);
  }

  help(): void {
    this.dialog.open();
  }

  close(): void {
    document.removeEventListener("keydown", this.listen);
    this.dialog.remove();
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
