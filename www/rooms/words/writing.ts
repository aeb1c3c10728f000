// Generates text from the visitor's prompt with sampling settings. The text appears as it is generated.

import type { Announcer } from "../../parts/announce";
import { button, either, form, h, id, labelled, write } from "../../parts/dom";
import { reason, Turns } from "../shared/asking";
import type { WordsClient } from "./client";
import { ENDED, Output } from "./output";
import type { ModelView } from "./protocol";
import { SamplingFields } from "./sampling";

const MOST_PROMPT = 2000;
/** Target duration of a request for tokens. Requests are short, so that training and page continue between them. */
const CALL_MS = 60;
const MOST_TOKENS = 32;

export class WritingPane {
  readonly element: HTMLElement;
  private readonly error = h("p.error", { role: "alert", id: "prompt-error" });
  private readonly prompt = h("textarea", {
    id: id("prompt"),
    rows: 2,
    maxlength: MOST_PROMPT,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": this.error.id,
  });
  private readonly fields = new SamplingFields();
  private readonly go = h("button.strong", { type: "submit" }, "Write");
  private readonly end = button("Stop", () => this.cancel(), { hidden: true });
  private readonly output: Output;
  private model: ModelView | undefined;
  /** Marks a generation as stale when a newer one starts. */
  private readonly turns = new Turns();

  constructor(
    private readonly client: WordsClient,
    private readonly announcer: Announcer,
    inspect: (text: string) => void,
  ) {
    this.output = new Output(inspect);
    const writing = form("", () => this.write(), [
      labelled("Prompt", this.prompt, "field grow"),
      this.fields.element,
      this.error,
      h("p.row", this.go, this.end),
    ]);
    writing.noValidate = true;
    this.element = h("div.writing", [
      h("p.small", [
        "The model writes token by token, sampling from its predictions. Taller fill = less likely token. Training continues.",
      ]),
      writing,
      ...this.output.elements,
    ]);
  }

  /** Prepares the form for a new run. Text that the previous run generated stays visible. */
  begin(): void {
    this.turns.take();
    this.model = undefined;
    this.setWriting(false);
    this.go.disabled = true;
    write(this.error, "");
  }

  ready(model: ModelView): void {
    this.model = model;
    this.go.disabled = false;
  }

  suggest(prompt: string): void {
    if (this.prompt.value === "" && document.activeElement !== this.prompt) this.prompt.value = prompt;
  }

  private async write(): Promise<void> {
    const settings = this.fields.read();
    write(this.error, typeof settings === "string" ? settings : "");
    if (typeof settings === "string") return;
    const stale = this.turns.take();
    const prompt = this.prompt.value;
    this.setWriting(true);
    try {
      let view = await this.client.ask({ ask: "generate", prompt, ...settings, stop: this.fields.stop });
      if (stale()) return;
      this.output.begin(prompt);
      const beganMs = performance.now();
      let tokens = 1;
      for (;;) {
        this.output.take(view, performance.now() - beganMs, this.model?.vocabulary ?? 2);
        if (view.ended) break;
        const askedMs = performance.now();
        view = await this.client.ask({ ask: "continue", tokens });
        if (stale()) return;
        const ms = performance.now() - askedMs;
        tokens = Math.max(1, Math.min(MOST_TOKENS, Math.round((tokens * CALL_MS) / Math.max(1, ms)), 2 * tokens));
      }
      this.announcer.say(`${ENDED[view.ended]} Generated text: ${view.text}`, "writing");
    } catch (error) {
      if (stale()) return;
      write(this.error, reason(error));
    }
    this.setWriting(false);
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
