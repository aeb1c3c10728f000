// The live changes of a run, with the way back to just before each.

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
    /** To just before the change whose mark is in this place. */
    private readonly goBack: (place: number) => unknown,
  ) {
    this.element = h("section.knob-group", { "aria-labelledby": "forks", hidden: true }, [
      h("h3", { id: "forks" }, "Changes in this run"),
      h("p.small", "Go back to just before a change and try something else; what came of it stays as a ghost."),
      this.list,
    ]);
  }

  /** The run's marks by now, and the places of those before which it is kept. */
  show(marks: Mark[], kept: number[]): void {
    this.forks = kept.flatMap((place) => (marks[place] ? [{ mark: marks[place], place }] : []));
    this.element.hidden = this.forks.length === 0;
    this.list.replaceChildren(...this.forks.map(({ mark, place }) => this.row(mark, place)));
  }

  /** The way back to before a change, as long as the run as it was then is kept. */
  before(mark: Mark): (() => void) | undefined {
    const fork = this.forks.find((fork) => sameMark(fork.mark, mark));
    return fork && (() => this.goBack(fork.place));
  }

  private row(mark: Mark, place: number): HTMLElement {
    const what = `${this.label(mark.knob)} ${valueText(mark.from)} → ${valueText(mark.to)}`;
    const label = `Go back to before ${what}`;
    return h("li", [
      h("span", what),
      h("span.small", `after ${short(mark.progress.counts[0] ?? 0)} ${this.unit}`),
      h("button.small", { "aria-label": label, onclick: () => this.goBack(place) }, "Go back to before it"),
    ]);
  }
}
