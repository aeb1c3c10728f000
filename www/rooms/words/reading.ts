// A text field whose tokens show the model's surprise. The pointer or the caret selects a token. The pane then shows the predictions for
// this token, or a head's attention weights from this token. The text is read again as the model learns.

import { button, Choice, h, id, markInvalid, pane, write } from "../../parts/dom";
import { figure } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { animate } from "../../parts/loop";
import { reason, Turns } from "../shared/asking";
import { Attention } from "./attention";
import type { WordsClient } from "./client";
import { LikelyList, percent, type Likely } from "./likely";
import type { AboutView, ModelView } from "./protocol";
import { readWindows, windowsOf, type Reading, type Window } from "./read";
import { label, ofGuess, pieces, spoken, Tokens, type Piece } from "./tokens";

const MOST = 2000;
/** Least pause before the same text is read again. */
const AGAIN_MS = 900;
/** Least pause as a multiple of the time that the last reading took. The longer of the two pauses applies. */
const AGAIN_TIMES = 16;
const SETTLE_MS = 120;
/** Greatest length of the excerpt that the field contains at first, in characters. */
const EXCERPT = 420;

type Shows = "surprise" | "attention";
const SHOWS: { value: Shows; words: string }[] = [
  { value: "surprise", words: "Surprise" },
  { value: "attention", words: "Attention heads" },
];

/** The list beside the text: predictions at the selected token, or the tokens with the largest attention weights. */
class Expected {
  readonly list = new LikelyList();
  private readonly heading = h("h3");
  private readonly where = h("p.small");
  readonly message = h("p.unseen", { role: "status" });
  readonly element = h("div.expected", this.heading, this.where, this.list.element, this.message);

  show(heading: string, where: string, rows: Likely[]): void {
    write(this.heading, heading);
    write(this.where, where);
    this.list.show(rows);
  }
}

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
  private model: ModelView | undefined;
  private excerpt = "";
  /** Tests whether a cut before a piece leaves the tokens unchanged. */
  private opens = (_: Piece): boolean => true;
  private read: { text: string; pieces: Piece[]; windows: Window[]; reading: Reading } | undefined;
  /** Index of the token under the pointer. Typing and caret movements reset it to undefined. */
  private pointed: number | undefined;
  private dueMs = 0;
  private asking = false;
  private readonly runs = new Turns();

  constructor(private readonly client: WordsClient) {
    const { field, tokens } = this;
    tokens.element.setAttribute("aria-hidden", "true");
    field.addEventListener("input", () => {
      this.pointed = undefined;
      this.soon(SETTLE_MS);
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
            h("div.row", [shows.element, button("Training sample", () => this.put(this.excerpt), { class: "quiet small" })]),
            this.headsPlace,
          ]),
          this.expected.element,
        ]),
      ],
    );
    animate(this.element, () => void this.refresh(), 100);
    this.show();
  }

  begin(): void {
    this.runs.take();
    this.model = this.read = undefined;
    this.field.disabled = true;
    this.tokens.fill(() => 0);
    this.mirror();
  }

  ready({ model, corpus }: AboutView): void {
    if (!model || !corpus) return;
    const before = this.excerpt;
    this.model = model;
    // The excerpt ends at the end of a sentence.
    const excerpt = corpus.excerpt.slice(0, EXCERPT);
    this.excerpt = /^.*[.!?]"?(?=\s)/s.exec(excerpt)?.[0] ?? excerpt;
    this.opens = corpus.tokenizer === "bpe" ? ({ text }) => /^\s/.test(text) : () => true;
    this.field.disabled = false;
    this.attention.heads.begin(model.layers, model.heads);
    if (this.field.value === before) this.field.value = this.excerpt;
    this.mirror();
    this.soon();
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

  private soon(ms = 0): void {
    this.dueMs = performance.now() + ms;
  }

  private async refresh(): Promise<void> {
    if (this.asking || !this.model || document.hidden || performance.now() < this.dueMs) return;
    this.asking = true;
    const [text, beganMs, stale] = [this.field.value, performance.now(), this.runs.stale()];
    this.dueMs = Infinity;
    try {
      await this.ask(text, this.model, stale);
      if (!stale()) this.refuse("");
    } catch (error) {
      if (!stale() && text === this.field.value) this.refuse(reason(error));
    }
    this.asking = false;
    // A text that has changed during the reading is read again at once.
    if (this.dueMs === Infinity) this.soon(text === this.field.value ? Math.max(AGAIN_MS, AGAIN_TIMES * (performance.now() - beganMs)) : 0);
  }

  private async ask(text: string, model: ModelView, stale: () => boolean): Promise<void> {
    const { client } = this;
    if (text === "") {
      this.read = undefined;
      return this.mirror();
    }
    const before = this.read?.text === text ? this.read : undefined;
    if (!before || this.shows === "surprise") {
      const tokens = before?.reading.tokens ?? (await client.ask({ ask: "tokens", text }));
      const all = before?.pieces ?? pieces(text, tokens);
      const windows = before?.windows ?? windowsOf(text, all, model.context, this.opens);
      const reading = await readWindows(client, tokens, windows);
      if (stale() || text !== this.field.value) return;
      if (!before) this.attention.clear();
      this.read = { text, pieces: all, windows, reading };
      this.mirror();
    }
    const window = this.window(this.place);
    if (this.shows === "surprise" || !this.read || !window) return;
    const more = await this.attention.ask(client, window, this.read.reading.tokens, stale);
    if (stale()) return;
    this.show();
    if (more) this.soon();
  }

  private refuse(words: string): void {
    write(this.error, words);
    markInvalid(this.field, words !== "");
    if (!words) return;
    this.read = undefined;
    this.mirror();
  }

  // ---- selection

  private point(piece: number | undefined): void {
    const token = piece === undefined ? undefined : this.tokens.pieces[piece]?.from;
    if (token === this.pointed) return;
    this.pointed = token;
    this.show();
  }

  /** Shows the token at the caret and announces it to screen readers. */
  private caret(): void {
    if (document.activeElement !== this.field) return;
    this.pointed = undefined;
    this.show();
    const { reading, place } = this;
    if (!reading || this.shows === "attention") return;
    const token = reading.tokens[place];
    const own = reading.surprise[place];
    const first = reading.expected[place]?.[0];
    const here = token ? `${spoken(token.text)}${own === undefined ? "" : `, ${percent(Math.exp(-own))}`}` : "The end";
    write(this.expected.message, `${here}.${first ? ` Expected: ${spoken(first.text)}, ${percent(first.probability)}.` : ""}`);
  }

  private get reading(): Reading | undefined {
    return this.read?.text === this.field.value ? this.read.reading : undefined;
  }

  /** Index of the selected token. At the end of the text it is the number of tokens. */
  private get place(): number {
    const { selectionStart: at } = this.field;
    const end = this.read?.reading.tokens.length;
    // The token under the pointer may no longer exist.
    if (this.pointed !== undefined) return Math.min(this.pointed, end ?? this.pointed);
    const piece = this.tokens.pieces.find((one) => at < one.at + one.text.length);
    return piece?.from ?? end ?? 0;
  }

  /** The window in which a place has most context before it. */
  private window(place: number): Window | undefined {
    return this.read?.windows.find(({ to }) => place < to) ?? this.read?.windows.at(-1);
  }

  private turnTo(shows: Shows): void {
    this.shows = shows;
    this.headsPlace.hidden = shows === "surprise";
    this.soon();
    this.show();
  }

  // ---- drawing

  /** Copies the field's text to the elements below its letters. Tokens that have been read keep their fills; new text has none. */
  private mirror(): void {
    const { read, field } = this;
    const text = field.value;
    if (read?.text === text) this.tokens.show(read.pieces);
    else {
      let same = 0;
      const kept = this.tokens.pieces.filter((piece) => {
        const unchanged = piece.at === same && text.startsWith(piece.text, same);
        if (unchanged) same += piece.text.length;
        return unchanged;
      });
      const rest = text.slice(same);
      this.tokens.show(rest ? [...kept, { text: rest, from: kept.length, to: kept.length + 1, at: same }] : kept);
    }
    this.show();
  }

  private show(): void {
    const { read, model, shows, tokens, reading, place } = this;
    tokens.choose(tokens.pieceOf(place));
    tokens.element.classList.toggle("attended", shows === "attention");
    write(
      this.about,
      shows === "surprise"
        ? `taller = more surprising; full = random guess among ${model?.vocabulary ?? ""} tokens`
        : `taller = more attention from the selected token, in the chosen ` +
            `head${read && read.windows.length > 1 ? `; context: ${model?.context} tokens` : ""}`,
    );
    write(
      this.figures,
      reading?.loss === undefined ? "" : `loss ${figure(reading.loss)}\u2002perplexity ${figure(Math.exp(reading.loss))}`,
    );
    if (shows === "surprise") this.showExpected(reading, place);
    else this.showAttention(reading, place);
  }

  private showExpected(reading: Reading | undefined, place: number): void {
    const heading = "Predictions";
    if (!reading) return this.expected.show(heading, this.model ? "" : "The model is not ready.", []);
    this.tokens.fill(({ from, to }) => mean(reading.surprise.slice(from, to), this.model!.vocabulary));
    const token = reading.tokens[place];
    const own = reading.surprise[place];
    const expected = reading.expected[place] ?? [];
    const rows: Likely[] = expected.map(({ id, text, probability }) => ({
      text,
      share: probability,
      mark: id === token?.id ? "actual" : undefined,
    }));
    if (token && own !== undefined && !expected.some(({ id }) => id === token.id))
      rows.push({ text: token.text, share: Math.exp(-own), mark: "actual" });
    this.expected.show(heading, whereOf(reading, place), rows);
  }

  private showAttention(reading: Reading | undefined, place: number): void {
    const { heads } = this.attention;
    const heading = `Layer ${heads.layer + 1}, head ${heads.head + 1}`;
    const from = Math.min(place, (reading?.tokens.length ?? 1) - 1);
    const window = this.window(place);
    this.attention.show(window);
    const rows = reading && window && this.attention.from(from, window, this.tokens, reading);
    if (rows) return this.expected.show(heading, `Attention from ${label(reading.tokens[from]!.text)}.`, rows);
    this.tokens.fill(() => 0);
    this.expected.show(heading, reading ? "Loading." : "", []);
    if (reading) this.soon();
  }
}

function whereOf({ tokens, surprise }: Reading, place: number): string {
  if (place === 0) return "No predictions before the first token.";
  const after = label(tokens[place - 1]!.text);
  const token = tokens[place];
  const own = surprise[place];
  if (!token || own === undefined) return `Next token after ${after}.`;
  return `${label(token.text)} after ${after}: ${percent(Math.exp(-own))}, surprise ${figure(own)} nats.`;
}

/** Mean surprise of a piece's tokens, as a share of the surprise of a random guess. Undefined if no surprise is known. */
function mean(surprise: (number | undefined)[], vocabulary: number): number | undefined {
  const known = surprise.filter((nats) => nats !== undefined);
  return known.length ? ofGuess(known.reduce((sum, nats) => sum + nats, 0) / known.length, vocabulary) : undefined;
}
