// The text on the stage. A new sample appears gradually, as if typed. The pointer or the arrow keys select a token; the default is the next
// token after the text. The fills of the tokens show the model's surprise, or the attention from the selected token. The list beside the
// text shows the predictions for the selected token, or the tokens with the most attention.

import { Choice, h } from "../../parts/dom";
import { placeOf } from "../../parts/keys";
import { animate, calm } from "../../parts/loop";
import { Attention } from "./attention";
import type { WordsClient } from "./client";
import { Expected } from "./expected";
import { SHOWS, surpriseOf, type Shows } from "./fills";
import type { AboutView } from "./protocol";
import type { Reading, Window } from "./read";
import { Reader, type Read } from "./reader";
import { label, Tokens } from "./tokens";

/** Duration of the typing: `TYPE_MS` per character, but at most `MOST_TYPE_MS` for the whole text. */
const TYPE_MS = 14;
const MOST_TYPE_MS = 2800;
/** Maximum wait for the tokens before the typing begins. */
const PATIENCE_MS = 1000;
/** Minimum time between two changes of the list, so that the visitor can read it. */
const LIST_MS = 120;

export class Sheet {
  readonly element: HTMLElement;
  readonly expected = new Expected();
  readonly choice = new Choice("The text shows", SHOWS, "surprise", (shows) => this.turnTo(shows));
  readonly heads: HTMLElement;
  text = "";
  private readonly tokens = new Tokens();
  private readonly reader: Reader;
  private readonly attention = new Attention(() => this.draw());
  private shows: Shows = "surprise";
  /** Number of characters at the beginning of the text that the model did not write, such as the prompt. */
  private given = 0;
  /** Index of the piece that is typed next; undefined if the text is complete. */
  private typed: number | undefined;
  /** Times when the text arrived and when its typing began. */
  private shownMs = 0;
  private beganMs = 0;
  private listedMs = -Infinity;
  /**
   * `pointed` is the index of the piece under the pointer. `chosen` is the index of the piece that a click or a key selected. The index
   * after the last piece means the end of the text.
   */
  private pointed: number | undefined;
  private chosen: number | undefined;

  /** `released` is called when the visitor no longer points at a token and has selected none. */
  constructor(
    private readonly client: WordsClient,
    private readonly released: () => void,
  ) {
    const { tokens } = this;
    this.element = h("div.sheet", { tabindex: 0, role: "group", "aria-label": "Text; arrow keys move between tokens" }, tokens.element);
    const { element } = this;
    element.addEventListener("pointermove", ({ clientX, clientY }) => this.point(tokens.under(clientX, clientY)));
    element.addEventListener("pointerleave", () => this.point(undefined));
    element.addEventListener("click", ({ clientX, clientY }) => this.choose(tokens.under(clientX, clientY)));
    element.addEventListener("blur", () => this.choose(undefined));
    element.addEventListener("keydown", (event) => this.key(event));
    this.heads = h("div.heads-place", { hidden: true }, this.attention.heads.element);
    this.reader = new Reader(client, element, {
      text: () => this.text,
      changed: () => this.mirror(),
      rests: () => this.shows === "attention",
      read: (read, stale) => this.askAttention(read, stale),
    });
    animate(tokens.element, (nowMs) => this.type(nowMs));
  }

  /** True while the visitor points at a token or has selected a token. Meanwhile, no newer text replaces this text. */
  get held(): boolean {
    return (this.pointed ?? this.chosen) !== undefined;
  }

  begin(): void {
    this.show("", "");
    this.reader.begin();
    this.expected.show("Predictions", "", []);
  }

  ready(about: AboutView): void {
    this.reader.ready(about);
    if (about.model) this.attention.heads.begin(about.model.layers, about.model.heads);
  }

  /**
   * Shows the text `given` and `added`. `given` is the beginning that the model did not write. If `types` is true, `added` appears
   * gradually.
   */
  show(given: string, added: string, types = false): void {
    const text = given + added;
    if (text === this.text) return;
    if (!text.startsWith(this.text)) this.pointed = this.chosen = undefined;
    this.text = text;
    this.given = given.length;
    this.shownMs = performance.now();
    this.typed = types && !calm() ? 0 : undefined;
    this.mirror();
    this.type(this.shownMs);
  }

  /** Scrolls to the end of a growing text, unless the visitor looks at a token. */
  follow(): void {
    if (!this.held) this.element.scrollTop = this.element.scrollHeight;
  }

  private mirror(): void {
    this.tokens.mirror(this.text, this.reader.last, this.given);
    this.draw();
  }

  // ---- selection

  private point(piece: number | undefined): void {
    if (piece === this.pointed) return;
    this.pointed = piece;
    this.select();
  }

  private choose(piece: number | undefined): void {
    this.chosen = piece;
    this.select();
  }

  private select(): void {
    if (this.held) this.typed = undefined;
    else this.released();
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const end = this.tokens.pieces.length;
    const to = placeOf(event, this.chosen ?? end, end + 1);
    if (to === undefined) return;
    event.preventDefault();
    this.pointed = undefined;
    this.choose(to);
    if (this.reading) this.expected.say(this.reading, this.placeOf(to, this.reading));
  }

  // ---- drawing

  private type(nowMs: number): void {
    if (this.typed === undefined) return;
    const all = this.text.length - this.given;
    if (this.reader.last?.text !== this.text && nowMs - this.shownMs < PATIENCE_MS) this.beganMs = nowMs;
    const end = this.given + (all * (nowMs - this.beganMs)) / Math.min(MOST_TYPE_MS, TYPE_MS * all);
    const next = this.tokens.pieces.findIndex(({ at, text }) => at + text.length > end);
    this.typed = next < 0 ? undefined : next;
    this.draw(nowMs - this.listedMs > LIST_MS);
  }

  private get reading(): Reading | undefined {
    const { last } = this.reader;
    return last && this.text.startsWith(last.text) ? last.reading : undefined;
  }

  /** Returns the index of the first token of a piece. If there is no such piece, returns the number of tokens. */
  private placeOf(piece: number | undefined, { tokens }: Reading): number {
    const from = piece === undefined ? undefined : this.tokens.pieces[piece]?.from;
    return Math.min(from ?? Infinity, tokens.length);
  }

  private draw(list = this.typed === undefined): void {
    const { tokens, reading, shows } = this;
    const { model } = this.reader;
    const at = this.typed ?? this.pointed ?? this.chosen;
    tokens.element.classList.toggle("typing", this.typed !== undefined);
    tokens.element.classList.toggle("attended", shows === "attention");
    tokens.type(this.typed ?? 0);
    tokens.choose(at);
    if (!reading || !model) return tokens.fill(() => undefined);
    const place = this.placeOf(at, reading);
    if (shows === "surprise") tokens.fill((piece) => surpriseOf(piece, reading.surprise, model.vocabulary));
    if (!list) return;
    this.listedMs = performance.now();
    if (shows === "surprise") this.expected.predictions(reading, place);
    else this.drawAttention(reading, Math.min(place, reading.tokens.length - 1));
  }

  // ---- attention

  private turnTo(shows: Shows): void {
    this.shows = shows;
    this.heads.hidden = shows === "surprise";
    this.reader.soon();
    this.draw();
  }

  /** Returns the window in which the token at `place` has the most context before it. */
  private window(place: number): Window | undefined {
    const windows = this.reader.last?.windows;
    return windows?.find(({ to }) => place < to) ?? windows?.at(-1);
  }

  private async askAttention({ reading }: Read, stale: () => boolean): Promise<void> {
    const window = this.window(this.placeOf(this.pointed ?? this.chosen, reading));
    if (this.shows === "surprise" || !window) return;
    const more = await this.attention.ask(this.client, window, reading.tokens, stale);
    if (stale()) return;
    this.draw();
    if (more) this.reader.soon();
  }

  private drawAttention(reading: Reading, from: number): void {
    const { heads } = this.attention;
    const heading = `Layer ${heads.layer + 1}, head ${heads.head + 1}`;
    const window = this.window(from);
    this.attention.show(window);
    const rows = window && this.attention.from(from, window, this.tokens, reading);
    this.expected.show(heading, rows ? `Attention from ${label(reading.tokens[from]!.text)}` : "Loading.", rows ?? []);
    if (!rows) this.reader.soon();
  }
}
