// Notices for the visitor, each with a next step. An error interrupts a screen reader; any other notice waits until the reader is idle. A
// notice that only informs disappears after a while; a warning or an error stays until the visitor dismisses it.

import type { Level } from "../run/protocol";
import { sentence } from "../run/notice";
import { h, icon } from "./dom";

/** Button of a notice. */
export type Action = { label: string; run: () => void };

const INFO_MS = 30_000;

export class Notices {
  private readonly calm = h("div", { role: "status", "aria-label": "Notices" });
  private readonly urgent = h("div", { role: "alert", "aria-label": "Errors" });
  readonly element = h("div.notices", this.urgent, this.calm);
  private readonly shown = new Map<string, HTMLElement>();

  /** Removes all notices. Called before another run opens. */
  clear(): void {
    this.shown.clear();
    this.calm.replaceChildren();
    this.urgent.replaceChildren();
  }

  withdraw(text: string): void {
    this.shown.get(text)?.remove();
    this.shown.delete(text);
  }

  /** Reports that a run or a game was replaced, with an undo button. */
  offerUndo(text: string, undo: () => void, kept = "The previous run is saved"): void {
    this.show("info", text, kept, { label: "Undo", run: undo });
  }

  /** Shows a notice. The notice replaces a notice with the same text. */
  show(level: Level, text: string, nextStep: string, action?: Action): void {
    this.shown.get(text)?.remove();
    const card = h("div", { class: `notice ${level}` });
    const close = (): void => {
      if (this.shown.get(text) === card) this.shown.delete(text);
      card.remove();
    };
    // A notice does not expire while the pointer is over it or the focus is in it.
    const expire = (): void => void (card.matches(":hover, :focus-within") ? setTimeout(expire, INFO_MS) : close());
    if (level === "info") setTimeout(expire, INFO_MS);
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
