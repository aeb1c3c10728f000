// A text field whose tokens show the model's surprise. The pointer or the caret selects a token. The pane then shows the predictions for
// this token, or a head's attention weights from this token. The text is read again as the model learns.

import { button, Choice, h, id, markInvalid, pane, write } from "../../parts/dom";
import { count, figure } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { Table } from "../../parts/table";
import { Attention } from "./attention";
import type { WordsClient } from "./client";
import { Expected } from "./expected";
import { SHOWS, surpriseOf, type Shows } from "./fills";
import { percent } from "./likely";
import type { AboutView } from "./protocol";
import type { Reading, Window } from "./read";
import { Reader, type Read } from "./reader";
import { label, Tokens } from "./tokens";

const MOST = 2000;
/** Maximum length of the excerpt of the corpus that the field contains at first, in characters. */
const EXCERPT = 420;

export class ReadingPane {
  readonly element: HTMLElement;
  private readonly error = h("p.error", { role: "alert", id: id("text-error") });
  private readonly about = h("p.about", { id: id("about") });
  private readonly field = h("textarea", {
    id: id("text"),
    maxlength: MOST,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    disabled: true,
    "aria-describedby": `${this.about.id} ${this.error.id}`,
  });
  private readonly tokens = new Tokens();
  private readonly figures = h("output.number");
  private readonly expected = new Expected();
  private readonly attention = new Attention(() => this.show());
  private readonly headsPlace = h("div.heads-place", { hidden: true }, this.attention.heads.element);
  private shows: Shows = "surprise";
  private readonly table = new Table("Tokens", ["Number", "Token", "Probability", "Surprise"], () => this.rows());
  private readonly reader: Reader;
  private excerpt = "";
  /** Index of the token under the pointer. Typing and caret movements reset it to undefined. */
  private pointed: number | undefined;

  constructor(private readonly client: WordsClient) {
    const { field, tokens } = this;
    tokens.element.setAttribute("aria-hidden", "true");
    field.addEventListener("input", () => {
      this.pointed = undefined;
      this.mirror();
    });
    field.addEventListener("pointermove", ({ clientX, clientY }) => this.point(tokens.under(clientX, clientY)));
    field.addEventListener("pointerleave", () => this.point(undefined));
    document.addEventListener("selectionchange", () => this.caret(), { signal: pageLife() });
    const shows = new Choice("Tokens show", SHOWS, this.shows, (value) => this.turnTo(value));
    this.element = pane(
      "reading",
      h("label", { for: field.id }, "Inspect a text"),
      [this.figures],
      [
        this.about,
        h("div.reading-parts", [
          h("div.stack", [
            h("div.paper", tokens.element, field),
            this.error,
            h("div.row", [
              shows.element,
              button("Training sample", () => this.put(this.excerpt), { class: "quiet small" }),
              this.table.button,
            ]),
            this.table.element,
            this.headsPlace,
          ]),
          this.expected.element,
        ]),
      ],
    );
    this.reader = new Reader(client, this.element, {
      text: () => field.value,
      changed: () => this.mirror(),
      refused: (words) => this.refuse(words),
      rests: () => this.shows === "attention",
      read: (read, stale) => this.askAttention(read, stale),
    });
  }

  begin(): void {
    this.field.disabled = true;
    this.tokens.fill(() => 0);
    this.reader.begin();
  }

  ready(about: AboutView): void {
    const { model, corpus } = about;
    if (!model || !corpus) return;
    this.reader.ready(about);
    const before = this.excerpt;
    // The excerpt is shortened to end with a complete sentence.
    const excerpt = corpus.excerpt.slice(0, EXCERPT);
    this.excerpt = /^.*[.!?]"?(?=\s)/s.exec(excerpt)?.[0] ?? excerpt;
    this.field.disabled = false;
    this.attention.heads.begin(model.layers, model.heads);
    if (this.field.value === before) this.field.value = this.excerpt;
    this.mirror();
  }

  focus(): void {
    this.field.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  put(text: string): void {
    this.field.value = text.slice(0, MOST);
    this.field.dispatchEvent(new Event("input"));
  }

  // ---- requests

  private async askAttention({ reading }: Read, stale: () => boolean): Promise<void> {
    const window = this.window(this.place);
    if (this.shows === "surprise" || !window) return;
    const more = await this.attention.ask(this.client, window, reading.tokens, stale);
    if (stale()) return;
    this.show();
    if (more) this.reader.soon();
  }

  private refuse(words: string): void {
    write(this.error, words);
    markInvalid(this.field, words !== "");
  }

  // ---- selection

  private point(piece: number | undefined): void {
    const token = piece === undefined ? undefined : this.tokens.pieces[piece]?.from;
    if (token === this.pointed) return;
    this.pointed = token;
    this.show();
  }

  /** Shows the token at the caret. Also announces the token to screen readers, unless the tokens show attention. */
  private caret(): void {
    if (document.activeElement !== this.field) return;
    this.pointed = undefined;
    this.show();
    const { reading, place } = this;
    if (!reading || this.shows === "attention") return;
    this.expected.say(reading, place);
  }

  private get reading(): Reading | undefined {
    const { last } = this.reader;
    return last?.text === this.field.value ? last.reading : undefined;
  }

  /** Index of the selected token. If the caret is at the end of the text, the index is the number of tokens. */
  private get place(): number {
    const { selectionStart: at } = this.field;
    const end = this.reader.last?.reading.tokens.length;
    // The token under the pointer may no longer exist.
    if (this.pointed !== undefined) return Math.min(this.pointed, end ?? this.pointed);
    const piece = this.tokens.pieces.find((one) => at < one.at + one.text.length);
    return piece?.from ?? end ?? 0;
  }

  /** Returns the window in which the token at `place` has the most context before it. */
  private window(place: number): Window | undefined {
    const windows = this.reader.last?.windows;
    return windows?.find(({ to }) => place < to) ?? windows?.at(-1);
  }

  private turnTo(shows: Shows): void {
    this.shows = shows;
    this.headsPlace.hidden = shows === "surprise";
    this.reader.soon();
    this.show();
  }

  // ---- drawing

  /** Copies the text of the field to the elements that draw its fills. Tokens that have been read keep their fills; new text has none. */
  private mirror(): void {
    this.tokens.mirror(this.field.value, this.reader.last);
    this.show();
    this.table.refresh();
  }

  private show(): void {
    const { shows, tokens, reading, place } = this;
    const { last, model } = this.reader;
    tokens.choose(tokens.pieceOf(place));
    tokens.element.classList.toggle("attended", shows === "attention");
    write(
      this.about,
      shows === "surprise"
        ? `A taller fill is a greater surprise. A full one is that of a random guess among ${model?.vocabulary ?? ""} tokens.`
        : "A taller fill is more attention from the selected token, in the chosen head." +
            (last && last.windows.length > 1 ? ` The context is ${model?.context} tokens.` : ""),
    );
    write(
      this.figures,
      reading?.loss === undefined ? "" : `loss ${figure(reading.loss)}\u2002perplexity ${figure(Math.exp(reading.loss))}`,
    );
    if (shows === "surprise") this.showExpected(reading, place);
    else this.showAttention(reading, place);
  }

  private showExpected(reading: Reading | undefined, place: number): void {
    const { model } = this.reader;
    if (!reading || !model) return this.expected.show("Predictions", model ? "" : "The model is not ready.", []);
    this.tokens.fill((piece) => surpriseOf(piece, reading.surprise, model.vocabulary));
    this.expected.predictions(reading, place);
  }

  private showAttention(reading: Reading | undefined, place: number): void {
    const { heads } = this.attention;
    const heading = `Layer ${heads.layer + 1}, head ${heads.head + 1}`;
    const from = Math.min(place, (reading?.tokens.length ?? 1) - 1);
    const window = this.window(place);
    this.attention.show(window);
    const rows = reading && window && this.attention.from(from, window, this.tokens, reading);
    if (rows) return this.expected.show(heading, `Attention from ${label(reading.tokens[from]!.text)}`, rows);
    this.tokens.fill(() => 0);
    this.expected.show(heading, reading ? "Loading." : "", []);
    if (reading) this.reader.soon();
  }

  private rows(): string[][] {
    const { tokens = [], surprise = [] } = this.reading ?? {};
    return tokens.map(({ text }, k) => {
      const own = surprise[k];
      return [count(k + 1), label(text), ...(own === undefined ? ["", ""] : [percent(Math.exp(-own)), figure(own)])];
    });
  }
}
