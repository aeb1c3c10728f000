// Generates text after the visitor's prompt with the chosen sampling settings. The stage shows the text while it is generated.

import type { Announcer } from "../../parts/announce";
import { button, either, form, h, id, write } from "../../parts/dom";
import { capital } from "../../parts/format";
import { reason, Turns } from "../../parts/requests";
import type { WordsClient } from "./client";
import type { Ended, GenerationView, Sampling } from "./protocol";
import { SamplingFields } from "./sampling";

const MOST_PROMPT = 2000;
/** Intended duration of a request for tokens. Requests are short, so that the training and the page continue between two requests. */
const CALL_MS = 60;
const MOST_TOKENS = 32;
/** Sampling settings of the text that is written before the first sample. */
const FIRST: Sampling = { temperature: 0.8, top_k: 0, top_p: 1, seed: 1 };
const FIRST_TOKENS = 160;

export const ENDED: Record<Ended, string> = { length: "length limit", stop: "stop text", asked: "stopped" };

/**
 * A text that the model is writing or has written. `ms` is the time since the writing began. `own` is true if the prompt is the visitor's.
 */
export type Written = GenerationView & { prompt: string; ms: number; own: boolean };

export class WritingPane {
  readonly element: HTMLFormElement;
  private readonly error = h("p.error", { role: "alert", id: "prompt-error" });
  private readonly prompt = h("textarea", {
    id: id("prompt"),
    rows: 1,
    placeholder: "Prompt",
    maxlength: MOST_PROMPT,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": this.error.id,
  });
  private readonly fields = new SamplingFields();
  private readonly go = h("button.strong", { type: "submit", disabled: true }, "Write");
  private readonly end = button("Stop", () => this.cancel(), { hidden: true });
  /** Marks a generation as stale when a newer generation starts. */
  private readonly turns = new Turns();

  /** `show` is called whenever tokens have been written. */
  constructor(
    private readonly client: WordsClient,
    private readonly announcer: Announcer,
    private readonly show: (written: Written) => void,
  ) {
    const { prompt, fields } = this;
    const row = h("div.row", h("label", { for: prompt.id }, "Prompt"), prompt, this.go, this.end, fields.button);
    this.element = form("writing", () => this.write(), [row, this.error, fields.element]);
    this.element.noValidate = true;
    prompt.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      if (!this.go.hidden && !this.go.disabled) this.element.requestSubmit();
    });
  }

  /** Prepares the form for a new run. */
  begin(): void {
    this.turns.take();
    this.setWriting(false);
    this.go.disabled = true;
    write(this.error, "");
  }

  /**
   * Enables the form. If `first` is true, starts the text that is shown before the first sample, unless a text for the visitor's prompt is
   * being written.
   */
  ready(first: boolean): void {
    this.go.disabled = false;
    if (first && !this.go.hidden) void this.first().catch(() => {}); // the run has ended
  }

  suggest(prompt: string): void {
    if (this.prompt.value === "" && document.activeElement !== this.prompt) this.prompt.value = prompt;
  }

  /** Writes a text after the prompt of the samples, because no sample exists yet. */
  private async first(): Promise<void> {
    const stale = this.turns.take();
    const { client } = this;
    const prompt = await client.ask({ ask: "prompt" });
    if (stale()) return;
    this.suggest(prompt);
    const view = await client.ask({ ask: "generate", prompt, sampling: FIRST, most: FIRST_TOKENS, stop: "" });
    if (!stale()) await this.continue({ prompt, own: false }, view, stale);
  }

  private async write(): Promise<void> {
    const settings = this.fields.read();
    write(this.error, typeof settings === "string" ? settings : "");
    if (typeof settings === "string") return;
    const stale = this.turns.take();
    const prompt = this.prompt.value;
    this.setWriting(true);
    try {
      const begun = await this.client.ask({ ask: "generate", prompt, ...settings, stop: this.fields.stop });
      if (stale()) return;
      const view = await this.continue({ prompt, own: true }, begun, stale);
      if (stale()) return;
      this.announcer.say(`${capital(ENDED[view.ended!])}. Generated text: ${view.text}`, "writing");
    } catch (error) {
      if (stale()) return;
      write(this.error, reason(error));
    }
    this.setWriting(false);
  }

  /** Requests tokens until the text is complete, and shows the text after each request. Returns earlier if `stale` returns true. */
  private async continue(of: Pick<Written, "prompt" | "own">, view: GenerationView, stale: () => boolean): Promise<GenerationView> {
    const beganMs = performance.now();
    for (let tokens = 1; ; ) {
      this.show({ ...of, ...view, ms: performance.now() - beganMs });
      if (view.ended) return view;
      const askedMs = performance.now();
      view = await this.client.ask({ ask: "continue", tokens });
      if (stale()) return view;
      const ms = performance.now() - askedMs;
      tokens = Math.max(1, Math.min(MOST_TOKENS, Math.round((tokens * CALL_MS) / Math.max(1, ms)), 2 * tokens));
    }
  }

  private cancel(): void {
    this.go.focus();
    // The answer to the pending request reports the end.
    void this.client.ask({ ask: "stop" }).catch(() => {}); // generation has already ended
  }

  private setWriting(writing: boolean): void {
    either(writing, this.end, this.go);
  }
}
