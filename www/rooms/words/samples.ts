// Samples that the model writes after the same prompt at each test. A slider selects a sample; a list shows the samples before it.

import { h, id } from "../../parts/dom";
import type { Sample } from "./protocol";

/**
 * Maximum number of samples in memory. If there are more, every second sample is dropped. The run drops samples from its own list in the
 * same way. The selected sample is never dropped.
 */
const MOST = 400;
const LISTED = 12;

export class Samples {
  readonly list = h("ol.older", { tabindex: 0, "aria-label": "Earlier samples, latest first" });
  readonly history: HTMLElement;
  private readonly slider = h("input", { type: "range", id: id("sample"), min: 0, max: 0, value: 0, step: 1 });
  private all: Sample[] = [];
  /** True if the selection moves to each newer sample. */
  private following = true;
  private listed: Sample | undefined;

  /** `after` returns a text about the training before a sample. `moved` is called when the visitor selects a sample. */
  constructor(
    private readonly after: (sample: Sample) => string,
    moved: () => void,
  ) {
    this.slider.addEventListener("input", () => {
      this.following = this.at === this.all.length - 1;
      moved();
    });
    this.history = h("div.history", h("label.small", { for: this.slider.id }, "History"), this.slider);
  }

  get newest(): Sample | undefined {
    return this.all.at(-1);
  }

  get selected(): Sample | undefined {
    return this.all[this.at];
  }

  /** `Latest sample`, or the position of the selected sample, such as `Sample 3 of 12`. */
  get name(): string {
    return this.selected === this.newest ? "Latest sample" : `Sample ${this.at + 1} of ${this.all.length}`;
  }

  begin(samples: Sample[]): void {
    this.all = samples;
    this.following = true;
  }

  take(sample: Sample): void {
    this.all.push(sample);
    const last = this.all.length - 1;
    if (last < MOST) return;
    const { selected } = this;
    this.all = this.all.filter((one, k) => k % 2 === last % 2 || one === selected);
    if (selected) this.slider.value = String(this.all.indexOf(selected));
  }

  /**
   * Updates the slider and the list. If `stays` is true, the selection remains although a newer sample may exist. If `whole` is true, the
   * list includes the selected sample.
   */
  show(stays: boolean, whole: boolean): void {
    const { slider, all } = this;
    slider.max = String(Math.max(0, all.length - 1));
    slider.disabled = all.length < 2;
    if (this.following && !stays) slider.value = slider.max;
    const { at, selected } = this;
    slider.style.setProperty("--share", `${all.length > 1 ? (100 * at) / (all.length - 1) : 0}%`);
    slider.setAttribute("aria-valuetext", selected ? `${this.name}, ${this.after(selected)}` : "none yet");
    this.showList(all.slice(0, whole ? at + 1 : at).slice(-LISTED));
  }

  private get at(): number {
    return Number(this.slider.value);
  }

  private showList(samples: Sample[]): void {
    const newest = samples.at(-1);
    if (newest === this.listed) return;
    this.listed = newest;
    this.list.replaceChildren(
      ...samples.toReversed().map((one) => h("li", h("p.small", this.after(one)), h("p.prose", h("b", one.prompt), one.text))),
    );
  }
}
