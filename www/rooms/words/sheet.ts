// The text on the stage. A new sample appears gradually, as if typed. The pointer or the arrow keys select a token; the default is the next
// token after the text. The list beside the text shows the predictions for the selected token.

import { h } from "../../parts/dom";
import { placeOf } from "../../parts/keys";
import { animate, calm } from "../../parts/loop";
import type { WordsClient } from "./client";
import { Expected } from "./expected";
import type { AboutView } from "./protocol";
import type { Reading } from "./read";
import { Reader } from "./reader";
import { Tokens } from "./tokens";

/** Duration of the typing: `TYPE_MS` per character, but at most `MOST_TYPE_MS` for the whole text. */
const TYPE_MS = 14;
const MOST_TYPE_MS = 2800;
/** Longest wait for the tokens before the typing begins. */
const PATIENCE_MS = 1000;
/** Minimum time between two changes of the list, so that the visitor can read it. */
const LIST_MS = 120;

export class Sheet {
  readonly element: HTMLElement;
  readonly expected = new Expected();
  text = "";
  private readonly tokens = new Tokens();
  private readonly reader: Reader;
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
    client: WordsClient,
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
    this.reader = new Reader(client, element, { text: () => this.text, changed: () => this.mirror() });
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
    const { tokens, reading } = this;
    const at = this.typed ?? this.pointed ?? this.chosen;
    tokens.element.classList.toggle("typing", this.typed !== undefined);
    tokens.type(this.typed ?? 0);
    tokens.choose(at);
    if (!list || !reading) return;
    this.listedMs = performance.now();
    this.expected.predictions(reading, this.placeOf(at, reading));
  }
}
