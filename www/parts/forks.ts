// List of a run's live changes that can be undone. For each change, a button restores the run's state before the change.

import type { Mark } from "../run/protocol";
import { h } from "./dom";
import { short, valueText } from "./format";
import { sameMark } from "./history";

export class Forks {
  readonly element: HTMLElement;
  private readonly list = h("ol.forks");
  private forks: { mark: Mark; place: number }[] = [];

  constructor(
    private readonly unit: string,
    private readonly label: (knob: string) => string,
    /** Restores the run's state immediately before a live change. `place` is the index of the change. */
    private readonly goBack: (place: number) => unknown,
  ) {
    this.element = h("section.knob-group", { "aria-labelledby": "forks", hidden: true }, [
      h("h3", { id: "forks" }, "Changes in this run"),
      h("p.small", "Restore the run before a change and try something else. The current curve stays in grey."),
      this.list,
    ]);
  }

  /** Shows the changes that can be undone. `kept` contains their indices in `marks`. */
  show(marks: Mark[], kept: number[]): void {
    this.forks = kept.flatMap((place) => (marks[place] ? [{ mark: marks[place], place }] : []));
    this.element.hidden = this.forks.length === 0;
    this.list.replaceChildren(...this.forks.map(({ mark, place }) => this.row(mark, place)));
  }

  /** Returns a function that undoes a change, or undefined if the run's state before the change is not kept. */
  before(mark: Mark): (() => void) | undefined {
    const fork = this.forks.find((fork) => sameMark(fork.mark, mark));
    return fork && (() => this.goBack(fork.place));
  }

  private row(mark: Mark, place: number): HTMLElement {
    const what = `${this.label(mark.knob)} ${valueText(mark.from)} → ${valueText(mark.to)}`;
    const label = `Restore the run before ${what}`;
    return h("li", [
      h("span", what),
      h("span.small", `after ${short(mark.progress.counts[0] ?? 0)} ${this.unit}`),
      h("button.small", { "aria-label": label, onclick: () => this.goBack(place) }, "Restore"),
    ]);
  }
}
