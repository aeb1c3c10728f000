// Texts of the words room.

import type { ChartWords } from "../../parts/curves";
import type { PreparingPart, TokenizerKind } from "./protocol";

export const title = "A transformer that learns to write";

export const tokenizers: Record<TokenizerKind, string> = { chars: "characters", bytes: "bytes", bpe: "byte-pair encoding (BPE)" };

export const parts: Record<PreparingPart, string> = {
  text: "Preparing the text",
  merges: "Learning byte-pair merges",
  tokens: "Tokenizing the text",
};

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
