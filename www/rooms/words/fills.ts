// What the fills of tokens show: the model's surprise at each token, or the attention from the selected token.

import type { Piece } from "./tokens";
import { ofGuess } from "./tokens";

export type Shows = "surprise" | "attention";
export const SHOWS: { value: Shows; words: string }[] = [
  { value: "surprise", words: "Surprise" },
  { value: "attention", words: "Attention" },
];

/**
 * Returns the mean surprise of a piece's tokens, as a share of the surprise of a uniform guess. Returns undefined if no surprise is known.
 */
export function surpriseOf({ from, to }: Piece, surprise: (number | undefined)[], vocabulary: number): number | undefined {
  const known = surprise.slice(from, to).filter((nats) => nats !== undefined);
  return known.length ? ofGuess(known.reduce((sum, nats) => sum + nats, 0) / known.length, vocabulary) : undefined;
}
