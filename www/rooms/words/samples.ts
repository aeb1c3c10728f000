// Samples that the model writes after the same prompt at each test, newest first. A slider selects earlier samples.

import type { WordsClient } from "./client";
import type { RoomPage } from "../../parts/room";
import { h, id, pane, write } from "../../parts/dom";
import { figure, short } from "../../parts/format";
import type { Preparing, Sample } from "./protocol";
import * as text from "./text";

/** Largest number of samples in memory. If there are more, every second sample is dropped, as the run does. */
const MOST = 400;
const SHOWN = 24;

export class SamplesPane {
  readonly element: HTMLElement;
  private readonly list = h("ol.samples-list", { tabindex: 0, "aria-label": "Samples, newest first" });
  private readonly slider = h("input", { type: "range", id: id("sample"), min: 0, max: 0, value: 0, step: 1 });
  private readonly where = h("output.small");
  private readonly preparing = h("div.preparing", { hidden: true });
  private readonly part = h("p", { role: "status" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Preparation" });
  private samples: Sample[] = [];
  private following = true;
  private shown: Sample | undefined;

  constructor(private readonly page: RoomPage<WordsClient>) {
    this.slider.addEventListener("input", () => {
      this.following = Number(this.slider.value) === this.samples.length - 1;
      this.show();
    });
    this.preparing.append(this.part, this.bar);
    this.element = pane(
      "samples stack",
      "Samples",
      [],
      [
        h("p.about", "text after the same prompt at each test, newest first"),
        this.preparing,
        h("p.samples-slider", h("label.small", { for: this.slider.id }, "History"), this.slider, this.where),
        this.list,
      ],
    );
    this.show();
  }

  begin(samples: Sample[]): void {
    this.samples = samples;
    this.following = true;
    this.show();
  }

  /** Shows how far the preparation of the training text is. If `state` is undefined, shows the samples again. */
  prepare(state: Preparing | undefined): void {
    this.preparing.hidden = !state;
    this.list.hidden = Boolean(state);
    if (!state) return;
    this.bar.value = state.done;
    const left = state.left_s !== null && state.left_s >= 3 ? ` About ${Math.round(state.left_s)} s left.` : "";
    write(this.part, `${text.parts[state.part]}.${left}`);
  }

  get newest(): Sample | undefined {
    return this.samples.at(-1);
  }

  take(sample: Sample): void {
    this.samples.push(sample);
    const last = this.samples.length - 1;
    if (last >= MOST) {
      const at = this.samples[Number(this.slider.value)];
      this.samples = this.samples.filter((one, k) => k % 2 === last % 2 || one === at);
      if (at) this.slider.value = String(this.samples.indexOf(at));
    }
    this.show();
  }

  private show(): void {
    const { samples, slider } = this;
    slider.max = String(Math.max(0, samples.length - 1));
    slider.disabled = samples.length < 2;
    if (this.following) slider.value = slider.max;
    const at = Number(slider.value);
    const shown = samples[at];
    slider.style.setProperty("--share", `${samples.length > 1 ? (100 * at) / (samples.length - 1) : 100}%`);
    slider.setAttribute(
      "aria-valuetext",
      shown ? `${shown === this.newest ? "newest" : `sample ${at + 1} of ${samples.length}`}, ${this.after(shown)}` : "none yet",
    );
    write(this.where, !samples.length ? "" : this.following ? "newest" : `${at + 1} of ${samples.length}`);
    // The list does not change while the visitor views an older sample.
    if (shown && shown === this.shown) return;
    this.shown = shown;
    this.list.replaceChildren(
      ...(samples.length ? [] : [h("li.small", "The first sample follows the first test.")]),
      ...samples
        .slice(Math.max(0, at + 1 - SHOWN), at + 1)
        .reverse()
        .map((sample) => h("li", h("p.small", this.after(sample)), h("p.prose", h("b", sample.prompt), sample.text))),
    );
  }

  private after({ tokens, val_loss }: Sample): string {
    return `${short(tokens)} ${this.page.unit}, loss ${figure(val_loss)}`;
  }
}
