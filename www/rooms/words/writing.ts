// The model goes on with a prompt of one's own: how the next token is chosen is set beside it, the text streams in, and each token shows
// how likely the model found it.

import type { Announcer } from "../../parts/announce";
import { copy } from "../../parts/dialog";
import { h, id, write } from "../../parts/dom";
import { count, figure, short } from "../../parts/format";
import { Table } from "../../parts/table";
import { reason, type WordsClient } from "./client";
import { percent } from "./likely";
import type { Ended, Generated, GenerationView, ModelView, Sampling } from "./protocol";
import { label, ofGuess, pieces, spoken, Tokens } from "./tokens";

const MOST_PROMPT = 2000;
/** One call writes for about so long, so that training and the page go on between. */
const CALL_MS = 60;
const MOST_TOKENS = 32;

const ENDED: Record<Ended, string> = {
  length: "It has the length that you asked for.",
  stop: "It came to the text to stop at.",
  asked: "Stopped.",
};

/** A number with its name and what it does. */
function setting(
  name: string,
  about: string,
  attributes: Record<string, string | number>,
): { name: string; input: HTMLInputElement; element: HTMLElement } {
  const input = h("input", { type: "number", id: id("setting"), ...attributes });
  return {
    name,
    input,
    element: h("div", { class: "field", title: about }, h("label", { for: input.id }, name), h("span", { class: "row" }, input)),
  };
}

export class WritingPane {
  readonly element: HTMLElement;
  private readonly prompt = h("textarea", {
    id: id("prompt"),
    rows: 2,
    maxlength: MOST_PROMPT,
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": "prompt-error",
  });
  private readonly temperature = setting(
    "Temperature",
    "Below 1 it keeps to what is likely, above 1 it dares more; 0 always takes the likeliest.",
    { min: 0, max: 5, step: 0.05, value: 0.8, inputmode: "decimal" },
  );
  private readonly topK = setting("Top-k (0: all)", "It chooses among so many of the likeliest tokens.", {
    min: 0,
    max: 100_000,
    step: 1,
    value: 0,
    inputmode: "numeric",
  });
  private readonly topP = setting("Top-p (1: all)", "It chooses among the likeliest tokens that together have this probability.", {
    min: 0.01,
    max: 1,
    step: 0.01,
    value: 1,
    inputmode: "decimal",
  });
  private readonly length = setting("Length, tokens", "It ends after so many.", {
    min: 1,
    max: 10_000,
    step: 1,
    value: 200,
    inputmode: "numeric",
  });
  private readonly seed = setting("Seed", "The same seed, prompt and weights write the same text.", {
    min: 0,
    max: 4294967295,
    step: 1,
    value: 1,
    inputmode: "numeric",
  });
  private readonly stopAt = h("input", { type: "text", id: id("stop"), autocomplete: "off", spellcheck: "false", placeholder: "nothing" });
  private readonly error = h("p", { class: "error", role: "alert", id: "prompt-error" });
  private readonly go = h("button", { type: "submit", class: "strong" }, "Write");
  private readonly end = h("button", { type: "button", hidden: true, onclick: () => this.cancel() }, "Stop");
  private readonly copied = h("button", { type: "button", class: "small", onclick: () => void this.copy() }, "Copy");
  private readonly look = h("button", { type: "button", class: "small", onclick: () => this.readIt(this.whole) }, "Read it above");
  private readonly tools = h("div", { class: "row", hidden: true });
  private readonly tokens = new Tokens();
  private readonly given = h("span", { class: "given" });
  private readonly output = h("div", {
    class: "output",
    tabindex: 0,
    role: "group",
    "aria-label": "What it wrote; arrows go from token to token",
    hidden: true,
  });
  private readonly where = h("p", { class: "small" });
  private readonly told = h("p", { class: "unseen", role: "status" });
  private readonly table: Table;
  private model: ModelView | undefined;
  private all: Generated[] = [];
  private text = "";
  private begun = "";
  private cursor = -1;
  /** The text that is being written; another number where it was ended or a new one has begun. */
  private turn = 0;
  private closed = false;

  constructor(
    private readonly client: WordsClient,
    private readonly announcer: Announcer,
    private readonly readIt: (text: string) => void,
  ) {
    const { tokens, output } = this;
    this.table = new Table("Tokens", ["Number", "Token", "Probability"], () =>
      this.all.map(({ text, probability }, k) => [count(k + 1), label(text), percent(probability)]),
    );
    const another = h(
      "button",
      { type: "button", class: "small", onclick: () => (this.seed.input.value = String(Math.floor(Math.random() * 1_000_000))) },
      "Another",
    );
    this.seed.element.lastElementChild!.append(another);
    const form = h(
      "form",
      { novalidate: true },
      h("p", { class: "field grow" }, h("label", { for: this.prompt.id }, "Prompt"), this.prompt),
      h(
        "div",
        { class: "settings" },
        ...[this.temperature, this.topK, this.topP, this.length, this.seed].map(({ element }) => element),
        h("p", { class: "field" }, h("label", { for: this.stopAt.id }, "Stop at this text"), this.stopAt),
      ),
      this.error,
      h("p", { class: "row" }, this.go, this.end),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.write();
    });
    output.append(this.given, tokens.element);
    output.addEventListener("pointermove", ({ clientX, clientY }) => this.point(tokens.under(clientX, clientY)));
    output.addEventListener("pointerleave", () => this.point(undefined));
    output.addEventListener("keydown", (event) => this.key(event));
    this.tools.append(this.copied, this.look, this.table.button);
    this.element = h(
      "div",
      { class: "writing" },
      h(
        "p",
        { class: "small" },
        "It writes token by token, each drawn from the probabilities of what comes next. The more a token is filled, the less likely " +
          "the model found it. Training goes on meanwhile.",
      ),
      form,
      output,
      this.where,
      this.told,
      this.tools,
      this.table.element,
    );
  }

  close(): void {
    this.closed = true;
    this.turn++;
  }

  /** A run has begun; what the one before wrote stays to be read. */
  begin(): void {
    this.turn++;
    this.model = undefined;
    this.writes(false);
    this.go.disabled = true;
    write(this.error, "");
  }

  ready(model: ModelView): void {
    this.model = model;
    this.go.disabled = false;
  }

  /** To begin with, that of the samples. */
  suggest(prompt: string): void {
    if (this.prompt.value === "" && document.activeElement !== this.prompt) this.prompt.value = prompt;
  }

  private get whole(): string {
    return this.begun + this.text;
  }

  // ---- writing

  /** As it is set, or what is wrong with it. */
  private settings(): { sampling: Sampling; most: number } | string {
    for (const { name, input } of [this.temperature, this.topK, this.topP, this.length, this.seed]) {
      const { min, max, step, value } = input;
      const number = Number(value);
      const wholeNumber = Number(step) === 1;
      const good = value.trim() !== "" && number >= Number(min) && number <= Number(max) && (!wholeNumber || Number.isInteger(number));
      input.setAttribute("aria-invalid", String(!good));
      if (good) continue;
      input.focus();
      return `${name.replace(/ ?[(,].*/, "")}: give a ${wholeNumber ? "whole " : ""}number from ${min} to ${max}.`;
    }
    const [temperature, top_k, top_p, most, seed] = [this.temperature, this.topK, this.topP, this.length, this.seed].map(({ input }) =>
      Number(input.value),
    ) as [number, number, number, number, number];
    return { sampling: { temperature, top_k, top_p, seed }, most };
  }

  private async write(): Promise<void> {
    const settings = this.settings();
    write(this.error, typeof settings === "string" ? settings : "");
    if (typeof settings === "string") return;
    const turn = ++this.turn;
    const current = (): boolean => turn === this.turn && !this.closed;
    const prompt = this.prompt.value;
    this.writes(true);
    try {
      let view: GenerationView = await this.client.ask({ ask: "generate", prompt, ...settings, stop: this.stopAt.value });
      if (!current()) return;
      this.all = [];
      this.begun = prompt;
      this.cursor = -1;
      write(this.given, prompt);
      this.output.hidden = this.tools.hidden = false;
      const beganMs = performance.now();
      let tokens = 1;
      for (;;) {
        this.take(view, performance.now() - beganMs);
        if (view.ended) break;
        const askedMs = performance.now();
        view = await this.client.ask({ ask: "continue", tokens });
        if (!current()) return;
        const ms = performance.now() - askedMs;
        tokens = Math.max(1, Math.min(MOST_TOKENS, Math.round((tokens * CALL_MS) / Math.max(1, ms)), 2 * tokens));
      }
      this.announcer.say(`${ENDED[view.ended]} It wrote: ${view.text}`, "writing");
    } catch (error) {
      if (!current()) return;
      write(this.error, reason(error));
    }
    this.writes(false);
  }

  private cancel(): void {
    this.go.focus();
    // Whoever waits for the next tokens takes the end as they come.
    void this.client.ask({ ask: "stop" }).catch(() => {}); // it has ended by itself
  }

  private writes(writing: boolean): void {
    const focused = document.activeElement === this.go || document.activeElement === this.end;
    this.go.hidden = writing;
    this.end.hidden = !writing;
    if (focused) (writing ? this.end : this.go).focus();
  }

  private take(view: GenerationView, ms: number): void {
    const { model, tokens } = this;
    this.all.push(...view.added);
    this.text = view.text;
    tokens.show(pieces(view.text, this.all));
    tokens.fill(({ from }) => ofGuess(-Math.log(Math.max(1e-9, this.all[from]!.probability)), model?.vocabulary ?? 2));
    this.table.refresh();
    const rate = ms > 0 && view.tokens > 1 ? `, ${short((1000 * view.tokens) / ms)} a second` : "";
    write(
      this.where,
      `${count(view.tokens)} tokens${rate}, by the weights after ${count(view.iteration)} ` +
        `iterations.${view.ended ? ` ${ENDED[view.ended]}` : ""}`,
    );
  }

  // ---- looking

  private point(k: number | undefined): void {
    if (k === undefined && document.activeElement === this.output && this.cursor >= 0) k = this.cursor;
    this.tokens.choose(k);
    const piece = k === undefined ? undefined : this.tokens.pieces[k];
    const token = piece && this.all[piece.from];
    if (token)
      write(this.where, `${label(piece.text)}: ${percent(token.probability)}, a surprise of ${figure(-Math.log(token.probability))} nats.`);
  }

  private key(event: KeyboardEvent): void {
    const last = this.tokens.pieces.length - 1;
    const to = { ArrowLeft: this.cursor - 1, ArrowRight: this.cursor + 1, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.cursor = Math.max(0, Math.min(last, to));
    this.point(this.cursor);
    const piece = this.tokens.pieces[this.cursor]!;
    write(this.told, `${spoken(piece.text)}, ${percent(this.all[piece.from]!.probability)}`);
  }

  private async copy(): Promise<void> {
    write(this.copied, (await copy(this.whole)) ? "Copied" : "Select the text and copy it");
    setTimeout(() => write(this.copied, "Copy"), 2000);
  }
}
