// A text field whose tokens show how surprised the model is by each. At the pointer or the caret one sees what it expects there, or what
// one of its heads attends to. It is read anew as the model learns.

import { h, id, write } from "../../parts/dom";
import { figure } from "../../parts/format";
import { animate } from "../../parts/loop";
import { reason, type WordsClient } from "./client";
import { HeadsGrid } from "./heads";
import { LikelyList, percent } from "./likely";
import type { AboutView, ModelView } from "./protocol";
import { attentionOf, readWindows, windowsOf, type Reading, type Window } from "./read";
import { label, ofGuess, pieces, spoken, Tokens, type Piece } from "./tokens";

/** What a field may hold. */
const MOST = 2000;
/** It is read again after so long, and after so many times as long as it took. */
const AGAIN_MS = 900;
const AGAIN_TIMES = 16;
const SETTLE_MS = 120;
const ATTENDED = 10;
/** Heads that are asked for at once. */
const MOST_HEADS = 12;
/** Of the corpus to begin with, about. */
const EXCERPT = 420;

type Shows = "surprise" | "attention";

export class ReadingPane {
  readonly element: HTMLElement;
  private readonly field = h("textarea", {
    id: id("text"),
    maxlength: MOST,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    disabled: true,
  });
  private readonly tokens = new Tokens();
  private readonly figures = h("output", { class: "number" });
  private readonly error = h("p", { class: "error", role: "alert", id: id("text-error") });
  private readonly about = h("p", { class: "about" });
  private readonly heading = h("h3");
  private readonly where = h("p", { class: "small" });
  private readonly list = new LikelyList();
  private readonly told = h("p", { class: "unseen", role: "status" });
  private readonly heads = new HeadsGrid(() => this.show());
  private readonly headsPlace = h("div", { class: "heads-place", hidden: true });
  private shows: Shows = "surprise";
  private model: ModelView | undefined;
  private excerpt = "";
  /** Whether a text may be cut before a piece, so that its tokens stay the same. */
  private opens = (_: Piece): boolean => true;
  private read: { text: string; pieces: Piece[]; windows: Window[]; reading: Reading } | undefined;
  /** Of each head and window that was looked at, who attends to whom. */
  private readonly attention = new Map<string, Float32Array>();
  /** The token under the pointer, until one types or moves the caret. */
  private pointed: number | undefined;
  private nextHead = 0;
  private dueMs = 0;
  private asking = false;
  private runs = 0;
  private closed = false;
  private readonly stop: () => void;
  private readonly caret = (): void => {
    if (document.activeElement !== this.field) return;
    this.pointed = undefined;
    this.show();
    this.tell();
  };

  constructor(private readonly client: WordsClient) {
    const { field, tokens, error } = this;
    field.setAttribute("aria-describedby", `${(this.about.id = id("about"))} ${error.id}`);
    tokens.element.setAttribute("aria-hidden", "true");
    field.addEventListener("input", () => {
      this.pointed = undefined;
      this.soon(SETTLE_MS);
      this.mirror();
    });
    field.addEventListener("pointermove", ({ clientX, clientY }) => this.point(tokens.under(clientX, clientY)));
    field.addEventListener("pointerleave", () => this.point(undefined));
    document.addEventListener("selectionchange", this.caret);
    const title = id("reading");
    const group = id("shows");
    const choice = (value: Shows, words: string): HTMLElement[] => {
      const input = h("input", { type: "radio", name: group, id: `${group}-${value}`, checked: value === this.shows });
      input.addEventListener("change", () => this.turnTo(value));
      return [input, h("label", { for: input.id }, words)];
    };
    this.headsPlace.append(this.heads.element);
    this.element = h(
      "section",
      { class: "reading", "aria-labelledby": title },
      h(
        "div",
        { class: "head" },
        h("h2", { class: "label", id: title }, h("label", { for: field.id }, "What it makes of a text")),
        this.figures,
      ),
      this.about,
      h(
        "div",
        { class: "reading-parts" },
        h(
          "div",
          {},
          h("div", { class: "paper" }, tokens.element, field),
          error,
          h(
            "div",
            { class: "row" },
            h(
              "fieldset",
              { class: "speeds layers" },
              h("legend", { class: "unseen" }, "Tokens show"),
              ...choice("surprise", "Surprise"),
              ...choice("attention", "Attention heads"),
            ),
            h("button", { type: "button", class: "quiet small", onclick: () => this.put(this.excerpt) }, "A piece of the corpus"),
          ),
          this.headsPlace,
        ),
        h("div", { class: "expected" }, this.heading, this.where, this.list.element, this.told),
      ),
    );
    this.stop = animate(this.element, () => void this.refresh(), 100);
    this.show();
  }

  close(): void {
    this.closed = true;
    this.stop();
    this.heads.close();
    document.removeEventListener("selectionchange", this.caret);
  }

  /** A run has begun that has nothing to say yet. */
  begin(): void {
    this.runs++;
    this.model = this.read = undefined;
    this.field.disabled = true;
    this.tokens.fill(() => 0);
    this.mirror();
  }

  /** The model is there, and the text that it learns from. */
  ready({ model, corpus }: AboutView): void {
    if (!model || !corpus) return;
    const before = this.excerpt;
    this.model = model;
    // Up to the end of a sentence.
    this.excerpt = /^.*[.!?]"?(?=\s)/s.exec(corpus.excerpt.slice(0, EXCERPT))?.[0] ?? corpus.excerpt.slice(0, EXCERPT);
    this.opens = corpus.tokenizer === "bpe" ? ({ text }) => /^\s/.test(text) : () => true;
    this.field.disabled = false;
    this.heads.begin(model.layers, model.heads);
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

  // ---- asking

  private soon(ms = 0): void {
    this.dueMs = performance.now() + ms;
  }

  private async refresh(): Promise<void> {
    if (this.asking || this.closed || !this.model || document.hidden || performance.now() < this.dueMs) return;
    this.asking = true;
    const [run, text, beganMs] = [this.runs, this.field.value, performance.now()];
    const current = (): boolean => !this.closed && run === this.runs;
    this.dueMs = Infinity;
    try {
      await this.ask(text, this.model, current);
      if (current()) this.refuse("");
    } catch (error) {
      if (current() && text === this.field.value) this.refuse(reason(error));
    }
    this.asking = false;
    // What was typed meanwhile is due already.
    if (this.dueMs === Infinity) this.soon(text === this.field.value ? Math.max(AGAIN_MS, AGAIN_TIMES * (performance.now() - beganMs)) : 0);
  }

  private async ask(text: string, model: ModelView, current: () => boolean): Promise<void> {
    const { client, heads } = this;
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
      if (!current() || text !== this.field.value) return;
      if (!before) this.attention.clear();
      this.read = { text, pieces: all, windows, reading };
      this.mirror();
    }
    const window = this.window(this.place);
    if (this.shows === "surprise" || !this.read || !window) return;
    const tokens = this.read.reading.tokens.slice(window.from, window.to);
    // The chosen head, and another one each time for its picture; those that are missing at once.
    const all = Array.from({ length: heads.count }, (_, k) => heads.at(k));
    const missing = all.filter((one) => !this.attention.has(key(window, one)));
    const wanted = [
      { layer: heads.layer, head: heads.head },
      ...(missing.length ? missing.slice(0, MOST_HEADS) : [heads.at(this.nextHead++ % heads.count)]),
    ];
    const views = await Promise.all(wanted.map((one) => client.ask({ ask: "attention", text: window.text, ...one })));
    if (!current()) return;
    views.forEach((view, k) => this.attention.set(key(window, wanted[k]!), attentionOf(tokens, view)));
    this.show();
    if (missing.length > MOST_HEADS) this.soon();
  }

  private refuse(words: string): void {
    write(this.error, words);
    if (words) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
    if (!words) return;
    this.read = undefined;
    this.mirror();
  }

  // ---- where one looks

  private point(piece: number | undefined): void {
    const token = piece === undefined ? undefined : this.tokens.pieces[piece]?.from;
    if (token === this.pointed) return;
    this.pointed = token;
    this.show();
  }

  /** The token that is looked at, or one more: the place behind the last. */
  private get place(): number {
    const { selectionStart: at } = this.field;
    const end = this.read?.reading.tokens.length;
    // What was pointed at may be gone since.
    if (this.pointed !== undefined) return Math.min(this.pointed, end ?? this.pointed);
    const piece = this.tokens.pieces.find((one) => at < one.at + one.text.length);
    return piece?.from ?? end ?? 0;
  }

  /** Which window shows a place with most before it. */
  private window(place: number): Window | undefined {
    return this.read?.windows.find(({ to }) => place < to) ?? this.read?.windows.at(-1);
  }

  private turnTo(shows: Shows): void {
    this.shows = shows;
    this.headsPlace.hidden = shows === "surprise";
    this.soon();
    this.show();
  }

  // ---- showing

  /** The tokens stand exactly below the letters of the field: what was read keeps its fills, what was typed since has none. */
  private mirror(): void {
    const { read, field } = this;
    const text = field.value;
    if (read?.text === text) this.tokens.show(read.pieces);
    else {
      let same = 0;
      const kept = this.tokens.pieces.filter((piece) => {
        const stands = piece.at === same && text.startsWith(piece.text, same);
        if (stands) same += piece.text.length;
        return stands;
      });
      const rest = text.slice(same);
      this.tokens.show(rest ? [...kept, { text: rest, from: kept.length, to: kept.length + 1, at: same }] : kept);
    }
    this.show();
  }

  private show(): void {
    const { read, model, shows, tokens } = this;
    const reading = read?.text === this.field.value ? read.reading : undefined;
    const { place } = this;
    tokens.choose(tokens.pieceOf(place));
    tokens.element.classList.toggle("attended", shows === "attention");
    const vocabulary = model?.vocabulary ?? 2;
    write(
      this.about,
      shows === "surprise"
        ? `the higher a token is filled, the more it surprises the model: to the top as much as a blind guess among all ` +
            `${model ? vocabulary : ""} tokens`
        : `of the chosen head: the higher a token is filled, the more the one that you look at attends to ` +
            `it${read && read.windows.length > 1 ? `; it sees ${model?.context} tokens at once` : ""}`,
    );
    write(
      this.figures,
      reading?.loss === undefined ? "" : `loss ${figure(reading.loss)}\u2002perplexity ${figure(Math.exp(reading.loss))}`,
    );
    if (shows === "surprise") this.showExpected(reading, place);
    else this.showAttention(reading, place);
  }

  private showExpected(reading: Reading | undefined, place: number): void {
    const { tokens } = this;
    if (reading) tokens.fill(({ from, to }) => mean(reading.surprise.slice(from, to), this.model!.vocabulary));
    const token = reading?.tokens[place];
    const expected = reading?.expected[place] ?? [];
    const own = reading?.surprise[place];
    write(this.heading, "Expected here");
    const before = reading?.tokens[place - 1];
    if (!reading) write(this.where, this.model ? "" : "It has not begun to read.");
    else if (place === 0) write(this.where, "Before the first token it has nothing to go by.");
    else if (token && own !== undefined)
      write(
        this.where,
        `After ${label(before!.text)} comes ${label(token.text)}: ${percent(Math.exp(-own))}, a surprise of ${figure(own)} nats.`,
      );
    else write(this.where, `The next token, after ${label(before!.text)}.`);
    const rows = expected.map(({ id, text, probability }) => ({
      text,
      share: probability,
      mark: id === token?.id ? "is there" : undefined,
    }));
    if (token && own !== undefined && !expected.some(({ id }) => id === token.id))
      rows.push({ text: token.text, share: Math.exp(-own), mark: "is there" });
    this.list.show(rows);
  }

  private showAttention(reading: Reading | undefined, place: number): void {
    const { tokens, heads } = this;
    const from = Math.min(place, (reading?.tokens.length ?? 1) - 1);
    write(this.heading, `Layer ${heads.layer + 1}, head ${heads.head + 1}`);
    const window = this.window(place);
    for (let k = 0; k < heads.count; k++) heads.show(k, window && this.attention.get(key(window, heads.at(k))));
    const weights = window && this.attention.get(key(window, heads));
    if (!reading || !window || !weights) {
      tokens.fill(() => 0);
      this.list.show([]);
      write(this.where, reading ? "Asking." : "");
      if (reading) this.soon();
      return;
    }
    const side = window.to - window.from;
    const row = weights.subarray((from - window.from) * side, (from - window.from) * side + from - window.from + 1);
    const most = Math.max(1e-9, ...row);
    tokens.fill((piece) => (piece.from < window.from || piece.from > from ? 0 : (row[piece.from - window.from] ?? 0) / most));
    write(this.where, `Where ${label(reading.tokens[from]!.text)} looks: the share of its attention.`);
    const order = [...row.keys()].sort((a, b) => row[b]! - row[a]!).slice(0, ATTENDED);
    this.list.show(
      order.map((k) => ({
        text: reading.tokens[window.from + k]!.text,
        share: row[k]!,
        mark: window.from + k === from ? "itself" : `${from - window.from - k} before`,
      })),
    );
  }

  /** Whoever moves the caret hears what they would see. */
  private tell(): void {
    const reading = this.read?.text === this.field.value ? this.read.reading : undefined;
    const { place } = this;
    if (!reading || this.shows === "attention") return;
    const token = reading.tokens[place];
    const own = reading.surprise[place];
    const first = reading.expected[place]?.[0];
    const here = token ? `${spoken(token.text)}${own === undefined ? "" : `, ${percent(Math.exp(-own))}`}` : "The end";
    write(this.told, `${here}.${first ? ` Expected: ${spoken(first.text)}, ${percent(first.probability)}.` : ""}`);
  }
}

const key = (window: Window, { layer, head }: { layer: number; head: number }): string => `${window.from} ${layer} ${head}`;

/** Of the tokens that make a piece, as shares of a guess; nothing where none is known. */
function mean(surprise: (number | undefined)[], vocabulary: number): number | undefined {
  const known = surprise.filter((nats) => nats !== undefined);
  return known.length ? ofGuess(known.reduce((sum, nats) => sum + nats, 0) / known.length, vocabulary) : undefined;
}
