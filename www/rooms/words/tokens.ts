// Tokens of a text as one sees them: where each stands in it, a fill at its foot that says how much of something it has, and how one
// points at it.

import { h } from "../../parts/dom";
import type { TokenView } from "./protocol";

/** A token in a text; of tokens that are parts of a character, all that make it. */
export type Piece = { text: string; from: number; to: number; at: number };

/** A token that is no text by itself, as it is told: all of its bytes. */
const BYTES = /^(?:\\x[0-9A-F]{2})+$/;
/** One whose first byte only ever goes on with a character. */
const GOES_ON = /^\\x[89AB]/;
const utf8 = new TextEncoder();

/** The bytes that a token is of. */
export const bytesOf = ({ text }: TokenView): Uint8Array =>
  BYTES.test(text) ? Uint8Array.from(text.match(/[0-9A-F]{2}/g)!, (byte) => parseInt(byte, 16)) : utf8.encode(text);

/**
 * Where tokens stand in the text that they are of, which has U+FFFD for bytes that are none; what has not come to a whole character is
 * left out.
 */
export function pieces(text: string, tokens: TokenView[]): Piece[] {
  const found: Piece[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Of the tokens since `from`: their bytes, and the text that they come to. */
  let bytes: number[] = [];
  let [from, at, whole, part] = [0, 0, "", ""];
  const close = (to: number): void => {
    const end = at + whole.length + part.length;
    if (end > at && at < text.length) found.push({ text: text.slice(at, end), from, to, at });
    [from, at, bytes, whole, part] = [to, end, [], "", ""];
  };
  tokens.forEach((token, k) => {
    if (part && !GOES_ON.test(token.text)) close(k);
    if (!part && text.startsWith(token.text, at)) whole = token.text;
    else {
      bytes.push(...bytesOf(token));
      whole = decoder.decode(Uint8Array.from(bytes), { stream: true });
      part = decoder.decode(); // U+FFFD where a character is still to be whole
    }
    if (!part) close(k + 1);
  });
  close(tokens.length);
  return found;
}

/** A token by itself: spaces at its ends and line breaks are seen. */
export const label = (text: string): string =>
  text
    .replaceAll("\n", "↵")
    .replaceAll("\t", "⇥")
    .replaceAll(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length)) || "nothing";

const NAMES: Record<string, string> = {
  " ": "space",
  "\n": "new line",
  "\t": "tab",
  ".": "full stop",
  ",": "comma",
  '"': "quotation mark",
  "'": "apostrophe",
};
/** The same for a screen reader. */
export const spoken = (text: string): string => NAMES[text] ?? (text.trim() ? `“${text.trim()}”` : "white space");

/** How surprising a token is as a share of a blind guess among all: 1 is no better than that. */
export const ofGuess = (nats: number, vocabulary: number): number => Math.min(1, nats / Math.log(Math.max(2, vocabulary)));

export class Tokens {
  readonly element = h("div.tokens");
  pieces: Piece[] = [];
  private spans: HTMLElement[] = [];
  private fills: string[] = [];
  private chosen: number | undefined;

  /** Keeps what stands where it stood, with its fills. */
  show(pieces: Piece[]): void {
    let same = 0;
    while (same < pieces.length && same < this.pieces.length && pieces[same]!.text === this.pieces[same]!.text) same++;
    this.pieces = pieces;
    for (const span of this.spans.splice(same)) span.remove();
    this.fills.length = same;
    for (const { text } of pieces.slice(same)) {
      const span = h("span", text);
      this.spans.push(span);
      this.fills.push("");
      this.element.append(span);
    }
    if (this.chosen !== undefined && this.chosen >= pieces.length) this.choose(undefined);
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
    if (k !== undefined) this.spans[k]?.classList.add("here");
  }

  /** The piece that has a token. */
  pieceOf(token: number): number | undefined {
    const k = this.pieces.findIndex(({ from, to }) => token >= from && token < to);
    return k < 0 ? undefined : k;
  }

  /** The piece at a place of the screen, also where something transparent lies over it. */
  under(x: number, y: number): number | undefined {
    const span = document.elementsFromPoint(x, y).find((element) => element.parentElement === this.element);
    const k = span ? this.spans.indexOf(span as HTMLElement) : -1;
    return k < 0 ? undefined : k;
  }
}
