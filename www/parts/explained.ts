// The explanations of the open variant. They are loaded when the visitor first opens their tab.

import { h, markup } from "./dom";
import type { Explanation } from "./room";

export class Explained {
  readonly element = h("div.explain");
  private load: (() => Promise<Explanation[]>) | undefined;

  /** Sets the function that loads the explanations, after a change of variant. */
  suit(load: () => Promise<Explanation[]>): void {
    this.load = load;
    this.element.replaceChildren();
    if (!this.element.closest("[hidden]")) this.show();
  }

  /** Loads and shows the explanations. Called when their tab is shown. */
  show(): void {
    const { load, element } = this;
    if (!load || element.childElementCount > 0) return;
    load().then(
      (explanations) => this.load === load && element.replaceChildren(...explanations.map(article)),
      () => this.load === load && element.replaceChildren(h("p", UNREACHED, h("button", { onclick: () => this.again() }, "Try again"))),
    );
  }

  private again(): void {
    this.element.replaceChildren();
    this.show();
  }
}

const UNREACHED = "The explanations could not be loaded. Check the network. ";

function article({ heading, words, equation, summary = "The equation" }: Explanation): HTMLElement {
  const details = equation && h("details", h("summary", summary), markup(equation));
  return h("article", h("h3", heading), h("p", words), details);
}
