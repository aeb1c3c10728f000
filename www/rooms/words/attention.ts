// Attention weights of the heads. The weights are requested for a window of the text and shown for one token.

import type { WordsClient } from "./client";
import { HeadsGrid } from "./heads";
import type { Likely } from "./likely";
import type { TokenView } from "./protocol";
import { attentionOf, type Reading, type Window } from "./read";
import type { Tokens } from "./tokens";

const ATTENDED = 10;
const MOST_HEADS = 12;

export class Attention {
  readonly heads: HeadsGrid;
  /** Attention weights by window, layer and head (see `key`). */
  private readonly known = new Map<string, Float32Array>();
  private next = 0;

  constructor(chosen: () => void) {
    this.heads = new HeadsGrid(chosen);
  }

  clear(): void {
    this.known.clear();
  }

  /**
   * Requests attention weights. One request is for the chosen head. The others are for up to `MOST_HEADS` heads whose weights are unknown.
   * If all weights are known, one other head is requested instead, a different one in each call. Returns true if further heads have unknown
   * weights.
   */
  async ask(client: WordsClient, window: Window, tokens: TokenView[], stale: () => boolean): Promise<boolean> {
    const { heads } = this;
    const all = Array.from({ length: heads.count }, (_, k) => heads.at(k));
    const missing = all.filter((one) => !this.known.has(key(window, one)));
    const wanted = [
      { layer: heads.layer, head: heads.head },
      ...(missing.length ? missing.slice(0, MOST_HEADS) : [heads.at(this.next++ % heads.count)]),
    ];
    const views = await Promise.all(wanted.map((one) => client.ask({ ask: "attention", text: window.text, ...one })));
    if (stale()) return false;
    const own = tokens.slice(window.from, window.to);
    views.forEach((view, k) => this.known.set(key(window, wanted[k]!), attentionOf(own, view)));
    return missing.length > MOST_HEADS;
  }

  /** Shows pictures of the heads whose weights in `window` are known, and clears the pictures of the others. */
  show(window: Window | undefined): void {
    const { heads } = this;
    for (let k = 0; k < heads.count; k++) heads.show(k, window && this.known.get(key(window, heads.at(k))));
  }

  /**
   * Fills each token in proportion to its attention weight from the token at `place`. Returns the tokens with the largest weights, or
   * undefined if the weights are unknown.
   */
  from(place: number, window: Window, tokens: Tokens, reading: Reading): Likely[] | undefined {
    const weights = this.known.get(key(window, this.heads));
    if (!weights) return undefined;
    const side = window.to - window.from;
    const at = place - window.from;
    const row = weights.subarray(at * side, at * side + at + 1);
    const most = Math.max(1e-9, ...row);
    tokens.fill((piece) => (piece.from < window.from || piece.from > place ? 0 : (row[piece.from - window.from] ?? 0) / most));
    const order = [...row.keys()].sort((a, b) => row[b]! - row[a]!).slice(0, ATTENDED);
    return order.map((k) => ({
      text: reading.tokens[window.from + k]!.text,
      share: row[k]!,
      mark: k === at ? "itself" : `${at - k} before`,
    }));
  }
}

const key = (window: Window, { layer, head }: { layer: number; head: number }): string => `${window.from} ${layer} ${head}`;
