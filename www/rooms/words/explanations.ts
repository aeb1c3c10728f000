// Explanations of the words room, with equations and papers. The page loads them when the visitor opens their tab.

import { equation } from "../../parts/equation";
import type { Explanation } from "../../parts/room";

const prediction: Explanation = {
  heading: "What does it learn?",
  words:
    "To predict the next token. A token is a character, a byte, or a frequent piece of a word. The model reads the tokens so far, up " +
    "to the length of its context, and gives each token of its vocabulary a probability. The loss is the surprise at the actual next " +
    "token: minus the logarithm of its probability, in nats per token. The perplexity is e to the power of the loss: the number of " +
    "equally likely tokens among which a guess would be as hard.",
  equation: equation(
    "the loss is minus the mean over positions t of the logarithm of the probability of the token at t given those before it; " +
      "perplexity is e to the power of the loss",
    "loss = − frac 1 T ∑_t ln p (x_t | x_1 … x_{t − 1}), ~ perplexity = e^loss",
  ),
};

const floor: Explanation = {
  heading: "How good can it become?",
  words:
    "Text is never certain, so the loss never reaches zero. The stories come from a random grammar with known probabilities, which give " +
    "the entropy floor, the dotted line. With characters as tokens, no model with this context has a lower mean loss; with byte pairs, " +
    "the floor is an estimate. The distance to the floor is what the model has not learned yet. The floor of your own text is unknown. " +
    "There, watch the validation loss: if it rises while the training loss falls, the model memorises the text.",
};

const attention: Explanation = {
  heading: "What is attention?",
  words:
    "At each position an attention head compares a query with the keys of this and all earlier positions, and takes the mean of their " +
    "values, weighted by the match. A head can find the name at the start of a story, or the word that followed last time. A layer has " +
    "several heads, and layers build on each other. Choose a head in the tab Explore to see its weights.",
  equation:
    equation(
      "the output of a head is the softmax of queries times keys transposed over the root of the width of a head, times the values",
      "head = softmax (frac{Q K^'T'}{sqrt{d}}) V",
    ) +
    `<p>Vaswani and others, <cite>Attention is all you need</cite> (2017); Radford and others, <cite>Language models are ` +
    `unsupervised multitask learners</cite> (GPT-2, 2019). The softmax excludes later positions.</p>`,
};

const sampling: Explanation = {
  heading: "How does it write?",
  words:
    "It samples the next token from its probabilities, appends it, and repeats. Temperature divides the logits before the softmax: " +
    "below 1 favours likely tokens, above 1 gives more variety, and 0 always takes the likeliest. Top-k samples among the k likeliest " +
    "tokens, top-p among the likeliest tokens whose probabilities add up to p.",
  equation: equation(
    "the probability of token k is the softmax of its logit over the temperature",
    "p_k = frac{e^{z_k / τ}}{∑_j e^{z_j / τ}}",
  ),
};

const training: Explanation = {
  heading: "How is it trained?",
  words:
    "Each step draws a batch of windows from the text. Backpropagation gives the gradient of the loss for every parameter, and its " +
    "norm is clipped. AdamW updates each parameter with its own scale, and applies weight decay to the matrices. The learning rate " +
    "warms up, then falls along a cosine.",
};

export const explanations: Explanation[] = [prediction, floor, attention, sampling, training];
