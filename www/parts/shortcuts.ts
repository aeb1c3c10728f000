// Single-key shortcuts. They do not apply in a text field or a dialog, and the space key does not apply while a control has the focus. The
// visitor can turn shortcuts off.

import { pageLife } from "./life";
import { recall, remember } from "./prefs";

export type Shortcut = { key: string; shown: string; does: string; run: () => void };
/** A key or gesture and its effect, for the lists in the help dialog. */
export type Gesture = { shown: string; does: string };

/** Elements that handle all keys themselves while they have the focus. */
const KEEPS_ALL = "input:not([type=radio], [type=checkbox]), select, textarea, [contenteditable], [role=application], [role=textbox]";
/** Elements that handle the space key themselves while they have the focus. */
const KEEPS_SPACE = "input, button, a, summary, label, [tabindex]";

export class Shortcuts {
  private on = recall("shortcuts") !== "off";

  /** `help` opens the help dialog. */
  constructor(
    private readonly shortcuts: Shortcut[],
    private readonly help: () => void,
  ) {
    document.addEventListener("keydown", (event) => this.take(event), { signal: pageLife() });
  }

  get areOn(): boolean {
    return this.on;
  }

  turn(on: boolean): void {
    this.on = on;
    remember("shortcuts", on ? null : "off");
  }

  private take(event: KeyboardEvent): void {
    if (!this.on || event.defaultPrevented || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    // For a field in a shadow tree, `event.target` would be the tree's host instead of the field.
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
