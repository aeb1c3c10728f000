// The words of the room of words, and the equations for whoever wants them.

import type { ChartWords } from "../../parts/curves";
import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";
import type { PreparingPart, TokenizerKind } from "./protocol";

export const title = "A transformer that learns to write";

export const tokenizers: Record<TokenizerKind, string> = { chars: "characters", bytes: "bytes", bpe: "byte-pair encoding (BPE)" };

export const parts: Record<PreparingPart, string> = {
  text: "Preparing the text",
  merges: "Learning the merges of byte-pair encoding",
  tokens: "Turning the text into tokens",
};

export const charts: Record<string, ChartWords> = {
  loss: {
    title: "Loss",
    about: "cross-entropy in nats a token: on the text that it trains on, and on text that it never saw",
    labels: { loss: "training", val_loss: "validation" },
    lines: ["val_loss"],
    level: "floor",
  },
  bits: {
    title: "Bits a character",
    about: "the same in bits a character, so that tokenizers can be compared",
    labels: { bits_per_char: "train", val_bits_per_char: "val" },
    lines: ["val_bits_per_char"],
  },
};

const prediction: Explanation = {
  heading: "What does it learn?",
  words:
    "One thing alone: to say which token comes next. A token is a character, a byte, or a frequent piece of a word. The model reads " +
    "the tokens so far, as many as its context holds, and gives each token of its vocabulary a probability. Its loss is the surprise " +
    "at the one that comes: minus the logarithm of that probability. " +
    "Loss is told in nats a token; e to the loss is the perplexity: among so many tokens, all alike, a guess would be as hard.",
  equation: equation(
    "the loss is minus the mean over positions t of the logarithm of the probability of the token at t given those before it; " +
      "perplexity is e to the loss",
    "loss = − frac 1 T ∑_t ln p (x_t | x_1 … x_{t − 1}), ~ perplexity = e^loss",
  ),
};

const floor: Explanation = {
  heading: "How good can it become?",
  words:
    "Text is never certain, so no loss is zero. The stories here come from a grammar of chance whose probabilities are known, and so is " +
    "the entropy floor, the dashed line. Where tokens are characters, no model with this context has a lower loss on average; where they " +
    "are byte pairs, the floor is an estimate. What is above it is what the model has not learned yet. The floor of your own text is not " +
    "known; there the validation loss shows it: where it rises while the training loss falls, the model learns the text by heart.",
};

const attention: Explanation = {
  heading: "What is attention?",
  words:
    "At each position an attention head compares a query with the keys of all positions before it, and takes the mean of their " +
    "values, weighted by how well they fit. So a head can find the name that a story began with, or the word that followed the last " +
    "time. A layer has several heads, and layers build on each other: choose one above to see where it looks.",
  equation:
    equation(
      "the output of a head is the softmax of queries times keys transposed over the root of the width of a head, times the values",
      "head = softmax (frac{Q K^'T'}{sqrt{d}}) V",
    ) +
    `<p>Vaswani and others, <cite>Attention is all you need</cite> (2017); Radford and others, <cite>Language models are ` +
    `unsupervised multitask learners</cite> (GPT-2, 2019). Positions that come later are left out of the softmax.</p>`,
};

const sampling: Explanation = {
  heading: "How does it write?",
  words:
    "It draws the next token from its probabilities, appends it, and goes on. Temperature divides the logits before the softmax: " +
    "below 1 it keeps to what is likely, above 1 it dares more, and at 0 it always takes the likeliest. Top-k draws among so many of " +
    "the likeliest tokens only, top-p among the likeliest that together have so much probability.",
  equation: equation(
    "the probability of token k is the softmax of its logit over the temperature",
    "p_k = frac{e^{z_k / τ}}{∑_j e^{z_j / τ}}",
  ),
};

const training: Explanation = {
  heading: "How is it trained?",
  words:
    "Batches of windows are drawn from the text; backpropagation gives the gradient of the loss by every parameter, which is clipped " +
    "to a greatest length, and AdamW takes a step: each parameter by its own scale, with weight decay on the matrices. The learning " +
    "rate warms up, then falls along a cosine.",
};

export const explanations: Explanation[] = [prediction, floor, attention, sampling, training];
