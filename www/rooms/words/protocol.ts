// Questions, answers and events of the words room.
// Generated from crates/run/src/words/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "about", } | { "ask": "samples", } | { "ask": "tokens", text: string, } | { "ask": "read", text: string, next: number, } | { "ask": "attention", text: string, layer: number, head: number, } | { "ask": "prompt", } | { "ask": "generate", prompt: string | null, sampling: Sampling, most: number, stop: string, } | { "ask": "continue", tokens: number, } | { "ask": "stop", };

/** Event of this room, which [`crate::protocol::Event::Room`] contains. */
export type RoomEvent = { "kind": "preparing" } & Preparing | { "kind": "ready" } & AboutView | { "kind": "sample" } & Sample;

/** Description of a variant: the value of [`crate::protocol::Variant::about`]. */
export type Preset = { width: number, layers: number, heads: number, context: number, tokenizer: TokenizerKind, };

export type TokenizerKind = "chars" | "bytes" | "bpe";

export type Preparing = { part: PreparingPart,
/** Share of this part that is complete, from 0 to 1. */
done: number,
/** Estimated seconds until this part is complete; null before there is an estimate. */
left_s: number | null, };

export type PreparingPart = "text" | "merges" | "tokens";

export type AboutView = {
/** Progress of the preparation; null after its end. */
preparing: Preparing | null,
/** Description of the model; null until the preparation is complete. */
model: ModelView | null,
/** Description of the text; null until the preparation is complete. */
corpus: CorpusView | null, };

export type ModelView = { vocabulary: number, width: number, layers: number, heads: number,
/** Maximum number of tokens that a prediction depends on. */
context: number,
/** Number of trained parameters. */
parameters: number,
/** Number of trained parameters in the embeddings of tokens and positions. */
embeddings: number,
/** Floating-point operations in the forward and backward pass per training token. Only matrix products and attention are counted. */
flops_per_token: number,
/** Tensors of the model, with the names and shapes that a checkpoint contains. */
tensors: Array<TensorView>, };

export type TensorView = {
/** Name of the tensor, for example `transformer.h.0.attn.c_attn.weight`. */
name: string, shape: Array<number>, };

export type CorpusView = {
/** Name of the user's text, or `story grammar`. */
name: string,
/** True if the user provided the text. */
own: boolean, characters: number, tokens: number,
/** Number of tokens for training. */
training_tokens: number,
/** Number of tokens for validation. */
validation_tokens: number, tokenizer: TokenizerKind, vocabulary: number,
/** Mean number of characters per token of the text. */
characters_per_token: number,
/** Entropy of the grammar in nats per character, given all previous text; null for a user's text. */
entropy: number | null,
/**
 * Mean loss of the best possible predictor on the validation text, in nats per token. The predictor knows the grammar and the
 * context, but no earlier text. For characters, no model can have a lower mean loss. For byte pairs, the floor is an estimate.
 * Null for a user's text and before the first test.
 */
floor: number | null,
/** Excerpt from the beginning of the text. */
excerpt: string, };

/** Text that the model wrote after the prompt during a test. */
export type Sample = { iteration: number,
/** Number of training tokens before the test. */
tokens: number, val_loss: number, prompt: string, text: string, };

export type TokenView = { id: number,
/** Text of the token. Bytes that are not valid text appear as escapes, for example `\xE2`. */
text: string, };

export type ReadView = {
/** Number of iterations after which the predicting weights were copied. */
iteration: number, tokens: Array<TokenView>,
/** Surprise at each token in nats, given the tokens before it; null for the first token. */
surprise: Array<number | null>,
/** For each token, the entropy in nats of the predicted distribution of the next token. */
entropy: Array<number>,
/** For each token, the most likely next tokens, in descending order of probability. */
next: Array<Array<NextView>>,
/** Mean surprise in nats per token; null for a text of a single token. */
loss: number | null,
/** Mean surprise in bits per character; null for a text of a single token. */
bits_per_char: number | null, };

export type NextView = { id: number, text: string, probability: number, };

export type AttentionView = { iteration: number, layer: number, head: number, tokens: Array<TokenView>,
/**
 * Attention weights as 32-bit floats, in the order `[from][to]`. For each token `from`, the weights have the sum 1, and the
 * weights of later tokens are 0.
 */
weights: Uint8Array, };

/** Settings of the random choice of the next token. */
export type Sampling = {
/** Temperature. At 0, the most likely token is always chosen. */
temperature: number,
/** Number of most likely tokens from which the next token is chosen; 0 for all tokens. */
top_k: number,
/** Limits the choice to the most likely tokens that together have this probability; 1 means all tokens. */
top_p: number, seed: number, };

export type GenerationView = {
/** Number of iterations after which the weights were copied. */
iteration: number,
/** Number of tokens so far, without the prompt. */
tokens: number,
/**
 * Text so far, without the prompt. While the text is in progress, two ends are left out: an incomplete character, and a possible
 * beginning of the stop text.
 */
text: string,
/** Tokens that the current call added. */
added: Array<Generated>, ended: Ended | null, };

export type Generated = { id: number, text: string,
/** Probability that the model gives this token, before temperature, top-k and top-p. */
probability: number, };

export type Ended = "length" | "stop" | "asked";

export interface Answers {
  about: AboutView;
  samples: Array<Sample>;
  tokens: Array<TokenView>;
  read: ReadView;
  attention: AttentionView;
  prompt: string;
  generate: GenerationView;
  continue: GenerationView;
  stop: GenerationView;
}
