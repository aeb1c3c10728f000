// A text of any length read by a model that sees so many tokens at once: cut into windows that overlap by half, so that each token is
// read with what stands before it.

import { floats } from "../../run/floats";
import type { WordsClient } from "./client";
import type { AttentionView, NextView, TokenView } from "./protocol";
import { bytesOf, type Piece } from "./tokens";

const NEXT = 10;

/** Of tokens, and the text that they stand for. */
export type Window = { from: number; to: number; text: string };

export interface Reading {
  tokens: TokenView[];
  /** Nats, of each token after those before it; of the first there is none. */
  surprise: (number | undefined)[];
  /** What is expected at each place, the likeliest first: before the first token nothing, and one more behind the last. */
  expected: NextView[][];
  loss: number | undefined;
}

/**
 * Windows that are read as if they were texts of their own. `opens` says before which pieces a text may be cut, so that its tokens stay
 * the same; where there is none nearby, as in a text without blanks, it is cut before any.
 */
export function windowsOf(text: string, pieces: Piece[], context: number, opens: (piece: Piece) => boolean): Window[] {
  const windows: Window[] = [];
  const cut = (first: number, end: number): Window => ({
    from: pieces[first]!.from,
    to: pieces[end - 1]!.to,
    text: text.slice(pieces[first]!.at, pieces[end]?.at),
  });
  for (let first = 0; first < pieces.length; ) {
    // Cut within a long word, it may come to some more tokens.
    const spare = first === 0 || opens(pieces[first]!) ? 0 : Math.floor(context / 8);
    const room = pieces[first]!.from + context - spare;
    let end = first + 1;
    while (end < pieces.length && pieces[end]!.to <= room) end++;
    if (end < pieces.length) {
      const good = pieces.findLastIndex((piece, k) => k > first && k <= end && piece.from >= room - context / 4 && opens(piece));
      if (good > 0) end = good;
    }
    windows.push(cut(first, end));
    if (end === pieces.length) break;
    const after = pieces[end]!.from;
    const next = pieces.findIndex((piece, k) => k > first && piece.from >= after - context / 2);
    const good = pieces.findIndex((piece, k) => k >= next && piece.from <= after - context / 4 && opens(piece));
    first = good < 0 ? next : good;
  }
  return windows;
}

/** Which of the tokens that a window was read in are those of the text there: where a word is cut, others may stand, and there is none. */
function places(tokens: TokenView[], read: TokenView[]): (number | undefined)[] {
  const ends = new Map<number, number>();
  let end = 0;
  read.forEach((token, k) => ends.set((end += bytesOf(token).length), k));
  end = 0;
  return tokens.map((token) => {
    const k = ends.get((end += bytesOf(token).length));
    return k !== undefined && read[k]!.id === token.id ? k : undefined;
  });
}

/** Reads each window, and takes of it what those before did not see. */
export async function readWindows(client: WordsClient, tokens: TokenView[], windows: Window[]): Promise<Reading> {
  const reading: Reading = { tokens, surprise: tokens.map(() => undefined), expected: [[], ...tokens.map(() => [])], loss: undefined };
  // All at once: each question waits for the end of a slice of training.
  const views = await Promise.all(windows.map(({ text }) => client.ask({ ask: "read", text, next: NEXT })));
  windows.forEach(({ from, to }, k) => {
    const view = views[k]!;
    places(tokens.slice(from, to), view.tokens).forEach((place, i) => {
      if (place === undefined) return;
      const at = from + i;
      reading.surprise[at] ??= view.surprise[place] ?? undefined;
      if (!reading.expected[at + 1]!.length) reading.expected[at + 1] = view.next[place]!;
    });
  });
  const known = reading.surprise.filter((nats) => nats !== undefined);
  if (known.length) reading.loss = known.reduce((sum, nats) => sum + nats, 0) / known.length;
  return reading;
}

/** Who attends to whom among the tokens of a window. */
export function attentionOf(tokens: TokenView[], view: AttentionView): Float32Array {
  const weights = floats(view.weights);
  const at = places(tokens, view.tokens);
  const side = view.tokens.length;
  if (at.length === side && !at.includes(undefined)) return weights;
  return Float32Array.from(at.flatMap((from) => at.map((to) => (from === undefined || to === undefined ? 0 : weights[from * side + to]!))));
}
