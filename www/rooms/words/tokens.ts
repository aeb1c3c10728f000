// Tokens of a text as elements. A fill of an element shows a value of the token. The class also finds the token under the pointer.

import { h } from "../../parts/dom";
import type { TokenView } from "./protocol";

/**
 * A token in a text, or several tokens that together form one character. `from` is the index of the first token, and `to` is the index
 * after the last token. `at` is the position in the text.
 */
export type Piece = { text: string; from: number; to: number; at: number };

/** Matches the text of a token whose bytes are not valid UTF-8. Such a text is the hexadecimal form of all bytes. */
const BYTES = /^(?:\\x[0-9A-F]{2})+$/;
/** Matches the hexadecimal form of a token whose first byte is a UTF-8 continuation byte. */
const CONTINUES = /^\\x[89AB]/;
const utf8 = new TextEncoder();

/** Returns the bytes of a token. The text of the token may have the hexadecimal form of `BYTES`. */
export const bytesOf = ({ text }: TokenView): Uint8Array =>
  BYTES.test(text) ? Uint8Array.from(text.match(/[0-9A-F]{2}/g)!, (byte) => parseInt(byte, 16)) : utf8.encode(text);

/**
 * Finds the positions of the tokens in `text`. In `text`, U+FFFD replaces invalid bytes, and an incomplete character at the end is omitted.
 */
export function pieces(text: string, tokens: TokenView[]): Piece[] {
  const found: Piece[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Bytes of the tokens since `from`. */
  let bytes: number[] = [];
  // `from` is the index of a token, and `at` is its position in the text. `whole` is the text of the complete characters since `from`;
  // `part` is U+FFFD if an incomplete character follows.
  let [from, at, whole, part] = [0, 0, "", ""];
  const close = (to: number): void => {
    const end = at + whole.length + part.length;
    if (end > at && at < text.length) found.push({ text: text.slice(at, end), from, to, at });
    [from, at, bytes, whole, part] = [to, end, [], "", ""];
  };
  tokens.forEach((token, k) => {
    if (part && !CONTINUES.test(token.text)) close(k);
    if (!part && text.startsWith(token.text, at)) whole = token.text;
    else {
      bytes.push(...bytesOf(token));
      whole = decoder.decode(Uint8Array.from(bytes), { stream: true });
      part = decoder.decode(); // U+FFFD for an incomplete character
    }
    if (!part) close(k + 1);
  });
  close(tokens.length);
  return found;
}

/** Returns the visible form of a token. Marks replace tabs, line breaks, and spaces at its ends. */
export const label = (text: string): string =>
  text
    .replaceAll("\n", "↵")
    .replaceAll("\t", "⇥")
    .replaceAll(/^ +| +$/g, (spaces) => "·".repeat(spaces.length)) || "nothing";

const NAMES: Record<string, string> = {
  " ": "space",
  "\n": "new line",
  "\t": "tab",
  ".": "full stop",
  ",": "comma",
  '"': "quotation mark",
  "'": "apostrophe",
};
/** Returns the text of a token for screen readers. */
export const spoken = (text: string): string => NAMES[text] ?? (text.trim() ? `“${text.trim()}”` : "white space");

/** Returns a surprise as a share of the surprise of a uniform guess among all tokens, at most 1. */
export const ofGuess = (nats: number, vocabulary: number): number => Math.min(1, nats / Math.log(Math.max(2, vocabulary)));

export class Tokens {
  readonly element = h("div.tokens.at-end");
  pieces: Piece[] = [];
  private spans: HTMLElement[] = [];
  private fills: string[] = [];
  private chosen: number | undefined;
  private given = 0;
  /** Number of pieces that are marked as typed. */
  private typed = 0;

  /**
   * Shows new pieces. Unchanged pieces at the beginning keep their fills. Pieces that begin within the first `given` characters are marked.
   */
  show(pieces: Piece[], given = 0): void {
    let same = 0;
    while (same < pieces.length && same < this.pieces.length && pieces[same]!.text === this.pieces[same]!.text) same++;
    this.pieces = pieces;
    for (const span of this.spans.splice(same)) span.remove();
    this.fills.length = same;
    this.typed = Math.min(this.typed, same);
    for (const { text } of pieces.slice(same)) {
      const span = h("span", text);
      this.spans.push(span);
      this.fills.push("");
    }
    this.element.append(...this.spans.slice(same));
    if (given || this.given) this.spans.forEach((span, k) => span.classList.toggle("given", pieces[k]!.at < given));
    this.given = given;
    if (this.chosen !== undefined && this.chosen >= pieces.length) this.chosen = undefined;
    this.mark();
  }

  /**
   * Shows a text. If `read` has the same text, its pieces are shown. Otherwise, the unchanged pieces at the beginning remain, and the rest
   * of the text is one piece. The rest is two pieces if the first `given` characters end within it.
   */
  mirror(text: string, read?: { text: string; pieces: Piece[] }, given = 0): void {
    if (read?.text === text) return this.show(read.pieces, given);
    let same = 0;
    const kept = this.pieces.filter((piece) => {
      const unchanged = piece.at === same && text.startsWith(piece.text, same);
      if (unchanged) same += piece.text.length;
      return unchanged;
    });
    for (const end of [given, text.length])
      if (end > same) {
        kept.push({ text: text.slice(same, end), from: kept.length, to: kept.length + 1, at: same });
        same = end;
      }
    this.show(kept, given);
  }

  fill(share: (piece: Piece, k: number) => number | undefined): void {
    this.pieces.forEach((piece, k) => {
      const of = share(piece, k);
      const fill = of === undefined ? "" : Math.max(0, Math.min(1, of)).toFixed(3);
      if (fill === this.fills[k]) return;
      this.fills[k] = fill;
      this.spans[k]!.style.setProperty("--fill", fill || "0");
    });
  }

  choose(k: number | undefined): void {
    if (k === this.chosen) return;
    if (this.chosen !== undefined) this.spans[this.chosen]?.classList.remove("here");
    this.chosen = k;
    this.mark();
  }

  /** Marks the chosen piece. Without such a piece, marks the end of the text. */
  private mark(): void {
    const here = this.spans[this.chosen ?? -1];
    here?.classList.add("here");
    this.element.classList.toggle("at-end", !here);
  }

  /** Marks the first `count` pieces as typed. */
  type(count: number): void {
    const { spans } = this;
    while (this.typed < Math.min(count, spans.length)) spans[this.typed++]!.classList.add("typed");
    while (this.typed > count) spans[--this.typed]!.classList.remove("typed");
  }

  /** Returns the index of the piece that contains a token, or undefined if there is none. */
  pieceOf(token: number): number | undefined {
    const k = this.pieces.findIndex(({ from, to }) => token >= from && token < to);
    return k < 0 ? undefined : k;
  }

  /**
   * Returns the index of the piece at a point of the browser's window. Finds a piece below other elements too. Returns undefined if there
   * is no piece.
   */
  under(x: number, y: number): number | undefined {
    const span = document.elementsFromPoint(x, y).find((element) => element.parentElement === this.element);
    const k = span ? this.spans.indexOf(span as HTMLElement) : -1;
    return k < 0 ? undefined : k;
  }
}
