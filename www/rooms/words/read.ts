// Reads a text of any length with a model of limited context. The text is cut into windows that overlap by half, so that most tokens have
// many earlier tokens as context.

import { floats } from "../../run/floats";
import type { WordsClient } from "./client";
import type { AttentionView, NextView, TokenView } from "./protocol";
import { bytesOf, type Piece } from "./tokens";

/** Number of predictions per token. A list shows at most this many rows. */
const NEXT = 20;

/** A section of a text with its tokens, from the index `from` to before the index `to`. */
export type Window = { from: number; to: number; text: string };

export interface Reading {
  tokens: TokenView[];
  /**
   * Surprise of each token in nats. Undefined for the first token. Also undefined for a token that the model has not read, because a cut
   * between windows splits its word.
   */
  surprise: (number | undefined)[];
  /**
   * Predictions of the next token, most probable first. `expected[k]` contains the predictions for token `k`, and the last entry those for
   * the token after the text. `expected[0]` is empty.
   */
  expected: NextView[][];
  loss: number | undefined;
}

/**
 * Cuts a text into windows that are read separately. If possible, a cut is before a piece for which `opens` is true, because such a cut
 * does not change the tokens. If no such piece is near, for example in a text without blanks, the cut is before another piece.
 */
export function windowsOf(text: string, pieces: Piece[], context: number, opens: (piece: Piece) => boolean): Window[] {
  const windows: Window[] = [];
  const cut = (first: number, end: number): Window => ({
    from: pieces[first]!.from,
    to: pieces[end - 1]!.to,
    text: text.slice(pieces[first]!.at, pieces[end]?.at),
  });
  for (let first = 0; first < pieces.length; ) {
    // If a window begins within a word, its text may have a few more tokens. The spare part of the context is reserved for them.
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

/**
 * Returns, for each token, the index of the same token in `read`. Returns undefined for a token that `read` does not have, because a cut
 * splits its word into other tokens.
 */
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

/** Reads all windows. If a token is in several windows, its first result is used. */
export async function readWindows(client: WordsClient, tokens: TokenView[], windows: Window[]): Promise<Reading> {
  const reading: Reading = { tokens, surprise: tokens.map(() => undefined), expected: [[], ...tokens.map(() => [])], loss: undefined };
  // All requests are sent at once, because each request waits for the end of a training slice.
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

/**
 * Returns the attention weights between the tokens of a window, as a square matrix stored row by row. If the window cuts a word, the model
 * reads other tokens there, and some tokens of the text are missing in `view`. All weights from and to a missing token are 0.
 */
export function attentionOf(tokens: TokenView[], view: AttentionView): Float32Array {
  const weights = floats(view.weights);
  const at = places(tokens, view.tokens);
  const side = view.tokens.length;
  if (at.length === side && !at.includes(undefined)) return weights;
  return Float32Array.from(at.flatMap((from) => at.map((to) => (from === undefined || to === undefined ? 0 : weights[from * side + to]!))));
}
