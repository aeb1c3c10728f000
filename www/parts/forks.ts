// The live changes of a run, with the way back to just before each.

import type { Mark } from "../run/protocol";
import { h } from "./dom";
import { short, valueText } from "./format";
import { sameMark } from "./history";

const MOST_FORKS = 12;
const MOST_BYTES = 100e6;

type Fork = { mark: Mark; bytes: Uint8Array };

export class Forks {
  readonly element: HTMLElement;
  private readonly list = h("ol.forks");
  private forks: Fork[] = [];
  /** Saves made just before a change, until the run's own mark of it arrives. */
  private readonly saved = new Map<string, Uint8Array>();

  constructor(
    private readonly unit: string,
    private readonly label: (knob: string) => string,
    private readonly goBack: (bytes: Uint8Array) => void,
  ) {
    this.element = h("section.knob-group", { "aria-labelledby": "forks", hidden: true }, [
      h("h3", { id: "forks" }, "Changes in this run"),
      h("p.small", "Go back to just before a change and try something else; what came of it stays as a ghost."),
      this.list,
    ]);
  }

  /** A run has begun: of what one may go back to, only what lies in its own past. */
  begin(marks: Mark[]): void {
    this.forks = this.forks.filter(({ mark }) => marks.some((own) => sameMark(own, mark)));
    this.write();
  }

  save(knob: string, bytes: Uint8Array): void {
    this.saved.set(knob, bytes);
  }

  add(mark: Mark): void {
    const bytes = this.saved.get(mark.knob);
    this.saved.delete(mark.knob);
    if (!bytes) return;
    this.forks = [...this.forks, { mark, bytes }].slice(-MOST_FORKS);
    while (this.forks.length > 1 && this.forks.reduce((sum, fork) => sum + fork.bytes.length, 0) > MOST_BYTES) this.forks.shift();
    this.write();
  }

  /** The way back to before a change, as long as what was saved then is there. */
  before(mark: Mark): (() => void) | undefined {
    const fork = this.forks.find((fork) => sameMark(fork.mark, mark));
    return fork && (() => this.goBack(fork.bytes));
  }

  private write(): void {
    this.element.hidden = this.forks.length === 0;
    this.list.replaceChildren(...this.forks.map((fork) => this.row(fork)));
  }

  private row({ mark, bytes }: Fork): HTMLElement {
    const what = `${this.label(mark.knob)} ${valueText(mark.from)} → ${valueText(mark.to)}`;
    const label = `Go back to before ${what}`;
    return h("li", [
      h("span", what),
      h("span.small", `after ${short(mark.progress.counts[0] ?? 0)} ${this.unit}`),
      h("button.small", { "aria-label": label, onclick: () => this.goBack(bytes) }, "Go back to before it"),
    ]);
  }
}
