// What the visitor should know, each with the step they can take. Errors interrupt a screen reader, the rest wait.

import type { Level } from "../run/protocol";
import { sentence } from "../run/notice";
import { h, icon } from "./dom";

export type Action = { label: string; run: () => void };

export class Notices {
  private readonly calm = h("div", { role: "status", "aria-label": "Notices" });
  private readonly urgent = h("div", { role: "alert", "aria-label": "Errors" });
  readonly element = h("div", { class: "notices" }, this.urgent, this.calm);
  private readonly shown = new Map<string, HTMLElement>();

  /** A new experiment begins: what was said of another no longer holds. */
  clear(): void {
    this.shown.clear();
    this.calm.replaceChildren();
    this.urgent.replaceChildren();
  }

  /** Shows a notice once; the same text again only renews it. */
  show(level: Level, text: string, nextStep: string, action?: Action): void {
    this.shown.get(text)?.remove();
    const card = h("div", { class: `notice ${level}` });
    const close = (): void => {
      this.shown.delete(text);
      card.remove();
    };
    card.append(
      h("p", {}, h("strong", {}, sentence(text)), " ", sentence(nextStep)),
      h(
        "div",
        { class: "row" },
        action && h("button", { type: "button", onclick: () => (close(), action.run()) }, action.label),
        h("button", { type: "button", class: "quiet", "aria-label": `Dismiss: ${text}`, onclick: close }, icon("close")),
      ),
    );
    this.shown.set(text, card);
    (level === "error" ? this.urgent : this.calm).append(card);
  }
}
