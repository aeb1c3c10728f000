// Texts of the words room.

import type { ChartWords } from "../../parts/curves";
import { figure } from "../../parts/format";
import type { PreparingPart, TokenizerKind } from "./protocol";

export const title = "A transformer that learns to write";

export const tokenizers: Record<TokenizerKind, string> = { chars: "characters", bytes: "bytes", bpe: "byte-pair encoding (BPE)" };

export const parts: Record<PreparingPart, string> = {
  text: "Preparing the text",
  merges: "Learning byte-pair merges",
  tokens: "Tokenizing the text",
};

/** A validation loss above the training loss by this factor counts as overfitting. */
const OVERFITTED = 1.25;

/** Returns the result of a test as a perplexity, with a warning if the model overfits. `floor` is the minimum possible loss, if known. */
export function result(loss: number, training: number | undefined, floor: number | undefined): string {
  const least = floor === undefined ? "" : ` (minimum possible: ${figure(Math.exp(floor))})`;
  const perplexity = `Perplexity ${figure(Math.exp(loss))}${least}: the model chooses as if among that many equally likely tokens.`;
  if (training === undefined || loss < OVERFITTED * training) return perplexity;
  return (
    `${perplexity} Overfitting: the loss on unseen text, ${figure(loss)}, is far above the training loss, ${figure(training)}. ` +
    "Use a longer text, more dropout, or stop earlier."
  );
}

export const charts: Record<string, ChartWords> = {
  loss: {
    title: "Loss",
    about: "cross-entropy in nats per token, on training text and on unseen text",
    labels: { loss: "training", val_loss: "validation" },
    lines: ["val_loss"],
    level: "floor",
  },
  bits: {
    title: "Bits per character",
    about: "the loss in bits per character, comparable across tokenizers",
    labels: { bits_per_char: "train", val_bits_per_char: "val" },
    lines: ["val_bits_per_char"],
  },
};
