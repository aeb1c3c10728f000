// A text of any length read by a model that sees so many tokens at once: cut into windows that overlap by half, so that each token is
// read with what stands before it.

import type { WordsClient } from "./client";
import type { NextView, TokenView } from "./protocol";
import type { Piece } from "./tokens";

/** How many of the likeliest next tokens are asked for. */
const NEXT = 10;

/** Of tokens, and the text that they stand for. */
export type Window = { from: number; to: number; text: string };

export interface Reading {
  tokens: TokenView[];
  /** Nats, of each token after those before it; of the first there is none. */
  surprise: (number | undefined)[];
  /** What is expected at each place, the likeliest first: before the first token nothing, and one more behind the last. */
  expected: NextView[][];
  /** Mean of a token, in nats. */
  loss: number | undefined;
}

/** Windows that are read as if they were texts of their own: `opens` says before which pieces a text may be cut. */
export function windowsOf(text: string, pieces: Piece[], context: number, opens: (piece: Piece) => boolean): Window[] {
  const windows: Window[] = [];
  const cut = (first: number, end: number): Window => ({ from: pieces[first]!.from, to: pieces[end - 1]!.to, text: text.slice(pieces[first]!.at, pieces[end]?.at) });
  for (let first = 0; first < pieces.length; ) {
    const room = pieces[first]!.from + context;
    let end = first + 1;
    for (let k = end + 1; k <= pieces.length && pieces[k - 1]!.to <= room; k++) if (!pieces[k] || opens(pieces[k]!)) end = k;
    windows.push(cut(first, end));
    if (end === pieces.length) break;
    const half = pieces[end]!.from - context / 2;
    let next = pieces.findIndex((piece, k) => k > first && k <= end && piece.from >= half && opens(piece));
    if (next < 0) next = end;
    first = next;
  }
  return windows;
}

/** Reads each window, and takes of it what those before did not see. */
export async function readWindows(client: WordsClient, tokens: TokenView[], windows: Window[]): Promise<Reading> {
  const reading: Reading = { tokens, surprise: tokens.map(() => undefined), expected: [[], ...tokens.map(() => [])], loss: undefined };
  // All at once: each question waits for the end of a slice of training.
  const views = await Promise.all(windows.map(({ text }) => client.ask({ ask: "read", text, next: NEXT })));
  let done = 0;
  windows.forEach(({ from, to }, k) => {
    const view = views[k]!;
    for (let at = done; at < to; at++) {
      reading.surprise[at] = view.surprise[at - from] ?? undefined;
      reading.expected[at + 1] = view.next[at - from] ?? [];
    }
    done = to;
  });
  const known = reading.surprise.filter((nats) => nats !== undefined);
  if (known.length) reading.loss = known.reduce((sum, nats) => sum + nats, 0) / known.length;
  return reading;
}
