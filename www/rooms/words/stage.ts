// The stage of the room. It shows the latest sample, or the text for the visitor's prompt, in large type. The predictions are beside the
// text, earlier samples are below it, and the stage contains a field for a prompt.

import { copyButton } from "../../parts/dialog";
import { button, h, write } from "../../parts/dom";
import { count, figure, short } from "../../parts/format";
import type { RoomPage } from "../../parts/room";
import type { WordsClient } from "./client";
import type { AboutView, Preparing, Sample } from "./protocol";
import { Samples } from "./samples";
import { Sheet } from "./sheet";
import * as text from "./text";
import { ENDED, WritingPane, type Written } from "./writing";

export class TextStage {
  readonly element: HTMLElement;
  private readonly samples: Samples;
  private readonly sheet: Sheet;
  private readonly writing: WritingPane;
  private readonly heading = h("h2.label");
  private readonly where = h("p.small");
  private readonly back = button("Back to the samples", () => this.showSamples(), { class: "small", hidden: true });
  private readonly preparing = h("div.preparing", { hidden: true });
  private readonly part = h("p", { role: "status" });
  private readonly bar = h("progress", { max: 1, value: 0, "aria-label": "Preparation" });
  /**
   * Text that the model writes outside the tests. The text for the visitor's prompt is shown until the visitor returns to the samples. The
   * text for the default prompt is shown only before the first sample.
   */
  private written: Written | undefined;
  /** A sample that has arrived and has not been shown. */
  private fresh: Sample | undefined;

  /** `inspect` opens a text in the reading pane. `own` opens the form for the visitor's own text. */
  constructor(
    private readonly page: RoomPage<WordsClient>,
    inspect: (text: string) => void,
    own: () => void,
  ) {
    this.samples = new Samples(
      (sample) => this.after(sample),
      () => this.show(),
    );
    this.sheet = new Sheet(page.client, () => this.show());
    this.writing = new WritingPane(page.client, page.announcer, (written) => this.write(written));
    this.preparing.append(this.part, this.bar);
    const { samples, sheet, writing } = this;
    this.element = h("section.text-stage", { "aria-label": "Text" }, [
      h("div.head", [h("div.row", this.heading, this.where), samples.history, button("Your own text", own, { class: "small" }), this.back]),
      writing.element,
      h("div.texts", this.preparing, sheet.element, samples.list),
      h("div.stack.beside-text", [
        sheet.expected.element,
        sheet.heads,
        h("div.row", [
          sheet.choice.element,
          copyButton("Copy", () => sheet.text, "Copied", "Select and copy"),
          button("Inspect", () => inspect(sheet.text), { class: "small" }),
        ]),
      ]),
    ]);
    this.show();
  }

  get newest(): Sample | undefined {
    return this.samples.newest;
  }

  begin(): void {
    this.written = undefined;
    this.sheet.begin();
    this.writing.begin();
    this.restore([]);
    this.prepare(undefined);
  }

  /** Shows the samples of a run that has begun. */
  restore(samples: Sample[]): void {
    this.samples.begin(samples);
    if (samples[0]) this.writing.suggest(samples[0].prompt);
    this.show();
  }

  ready(about: AboutView): void {
    this.prepare(undefined);
    this.sheet.ready(about);
    if (about.model) this.writing.ready(!this.newest && !this.written);
  }

  /** Shows the progress of the preparation of the training text. If `state` is undefined, shows the texts again. */
  prepare(state: Preparing | undefined): void {
    this.preparing.hidden = !state;
    this.show();
    if (!state) return;
    this.bar.value = state.done;
    const left = state.left_s !== null && state.left_s >= 3 ? ` About ${Math.round(state.left_s)} s left.` : "";
    write(this.part, `${text.parts[state.part]}.${left}`);
  }

  take(sample: Sample): void {
    this.samples.take(sample);
    this.writing.suggest(sample.prompt);
    this.fresh = sample;
    this.show();
  }

  /**
   * Shows a text while it grows. The text before the first sample is shown only when it is complete, because growing lines would shift the
   * layout.
   */
  private write(written: Written): void {
    if (!written.own && !written.ended) return;
    this.written = written;
    this.show();
    this.sheet.follow();
  }

  /** Shows the samples again in place of the visitor's text. */
  private showSamples(): void {
    this.written = undefined;
    this.show();
    this.sheet.element.focus();
  }

  private show(): void {
    const { samples, sheet, preparing } = this;
    const own = this.written?.own;
    samples.show(sheet.held, Boolean(own));
    const { selected } = samples;
    const written = own || !selected ? this.written : undefined;
    if (written) sheet.show(written.prompt, written.text, !own);
    else if (selected) sheet.show(selected.prompt, selected.text, selected === this.fresh);
    if (!written && selected === this.fresh) this.fresh = undefined;
    write(this.heading, own ? "Your prompt" : selected ? samples.name : "First text");
    const awaited = preparing.hidden ? "the model is writing…" : "";
    write(this.where, written ? noteOf(written) : selected ? this.after(selected) : awaited);
    const waits = !preparing.hidden || !(written ?? selected);
    sheet.element.hidden = samples.list.hidden = waits;
    samples.history.hidden = Boolean(own);
    this.back.hidden = !own;
  }

  private after({ tokens, val_loss }: Sample): string {
    return `${short(tokens)} ${this.page.unit}, loss ${figure(val_loss)}`;
  }
}

/**
 * Describes the length of a text, the speed of writing, and why the writing ended. Returns `before training` for the text before the first
 * sample.
 */
function noteOf({ own, tokens, ms, ended }: Written): string {
  if (!own) return "before training";
  const rate = ms > 0 && tokens > 1 ? `, ${short((1000 * tokens) / ms)} a second` : "";
  return `${count(tokens)} tokens${rate}${ended ? `, ${ENDED[ended]}` : ""}`;
}
