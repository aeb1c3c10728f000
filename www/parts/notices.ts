// What the visitor should know, each with the step they can take. Errors interrupt a screen reader, the rest wait.

import type { Level } from "../run/protocol";
import { sentence } from "../run/notice";
import { h, icon } from "./dom";

/** What can be done about it; the notice stands for so long, where it is not for as long as nobody dismisses it. */
export type Action = { label: string; run: () => void; forMs?: number };

const UNDO_MS = 30_000;

export class Notices {
  private readonly calm = h("div", { role: "status", "aria-label": "Notices" });
  private readonly urgent = h("div", { role: "alert", "aria-label": "Errors" });
  readonly element = h("div.notices", this.urgent, this.calm);
  private readonly shown = new Map<string, HTMLElement>();

  /** A new experiment begins: what was said of another no longer holds. */
  clear(): void {
    this.shown.clear();
    this.calm.replaceChildren();
    this.urgent.replaceChildren();
  }

  withdraw(text: string): void {
    this.shown.get(text)?.remove();
    this.shown.delete(text);
  }

  /** Tells what ended a run or a game, which is kept for whoever did not mean it. */
  offerUndo(text: string, undo: () => void, kept = "The run before it is kept"): void {
    this.show("info", text, kept, { label: "Undo", run: undo, forMs: UNDO_MS });
  }

  /** Shows a notice once; the same text again only renews it. */
  show(level: Level, text: string, nextStep: string, action?: Action): void {
    this.shown.get(text)?.remove();
    const card = h("div", { class: `notice ${level}` });
    const close = (): void => {
      if (this.shown.get(text) === card) this.shown.delete(text);
      card.remove();
    };
    // Who is about to use it is given time.
    const expire = (): void => void (card.matches(":hover, :focus-within") ? setTimeout(expire, action!.forMs) : close());
    if (action?.forMs) setTimeout(expire, action.forMs);
    card.append(
      h("p", h("strong", sentence(text)), " ", sentence(nextStep)),
      h("div.row", [
        action && h("button", { onclick: () => (close(), action.run()) }, action.label),
        h("button.quiet", { "aria-label": `Dismiss: ${text}`, onclick: close }, icon("close")),
      ]),
    );
    this.shown.set(text, card);
    (level === "error" ? this.urgent : this.calm).append(card);
  }
}
