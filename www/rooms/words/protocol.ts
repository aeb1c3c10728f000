// Questions, answers and events of the words room.
// Generated from crates/run/src/words/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "about", } | { "ask": "samples", } | { "ask": "tokens", text: string, } | { "ask": "read", text: string, next: number, } | { "ask": "attention", text: string, layer: number, head: number, } | { "ask": "prompt", } | { "ask": "generate", prompt: string | null, sampling: Sampling, most: number, stop: string, } | { "ask": "continue", tokens: number, } | { "ask": "stop", };

/** Events of this room, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "preparing" } & Preparing | { "kind": "ready" } & AboutView | { "kind": "sample" } & Sample;

/** Description of a variant, in [`crate::protocol::Variant::about`]. */
export type Preset = { width: number, layers: number, heads: number, context: number, tokenizer: TokenizerKind, };

export type TokenizerKind = "chars" | "bytes" | "bpe";

export type Preparing = { part: PreparingPart,
/** Completed share of this part, from 0 to 1. */
done: number,
/** Estimated seconds until this part is complete; null before there is an estimate. */
left_s: number | null, };

export type PreparingPart = "text" | "merges" | "tokens";

export type AboutView = {
/** Progress of the preparation; null once it is complete. */
preparing: Preparing | null,
/** The model; null until the preparation is complete. */
model: ModelView | null,
/** The text; null until the preparation is complete. */
corpus: CorpusView | null, };

export type ModelView = { vocabulary: number, width: number, layers: number, heads: number,
/** Number of tokens that the model sees at once. */
context: number,
/** Number of trained parameters. */
parameters: number,
/** Number of parameters that embed tokens and positions. */
embeddings: number,
/** Floating-point operations per token in training (forward and backward), in matrix products and attention. */
flops_per_token: number,
/** Tensors as stored in a checkpoint. */
tensors: Array<TensorView>, };

export type TensorView = {
/** Name, for example `transformer.h.0.attn.c_attn.weight`. */
name: string, shape: Array<number>, };

export type CorpusView = {
/** Name of the user's text, or `story grammar`. */
name: string,
/** The text was provided by the user. */
own: boolean, characters: number, tokens: number,
/** Number of tokens for training. */
training_tokens: number,
/** Number of tokens for validation. */
validation_tokens: number, tokenizer: TokenizerKind, vocabulary: number,
/** Characters per token of the validation text. */
characters_per_token: number,
/** Entropy of the grammar in nats per character, given all previous text; null for a user's text. */
entropy: number | null,
/**
 * Entropy floor of the grammar on the validation text with this context, in nats per token; null for a user's text, and before the
 * first test. For characters it bounds the mean loss; for byte pairs it is an estimate.
 */
floor: number | null,
/** Beginning of the text. */
excerpt: string, };

/** Text written after the prompt at a test. */
export type Sample = { iteration: number,
/** Number of tokens trained on before the test. */
tokens: number, val_loss: number, prompt: string, text: string, };

export type TokenView = { id: number,
/** Text of the token; bytes that are not valid text appear as numbers, as in `\xE2`. */
text: string, };

export type ReadView = {
/** Number of iterations after which the weights were taken. */
iteration: number, tokens: Array<TokenView>,
/** Surprise at each token in nats, given the tokens before it; null for the first token. */
surprise: Array<number | null>,
/** Entropy of the prediction after each token, in nats. */
entropy: Array<number>,
/** Most likely next tokens after each token, in descending order. */
next: Array<Array<NextView>>,
/** Mean surprise in nats per token; null for a single token. */
loss: number | null,
/** Mean surprise in bits per character; null for a single token. */
bits_per_char: number | null, };

export type NextView = { id: number, text: string, probability: number, };

export type AttentionView = { iteration: number, layer: number, head: number, tokens: Array<TokenView>,
/** Attention weights as floats, `[from][to]`: a row for each token, with the sum 1, and 0 for later tokens. */
weights: Uint8Array, };

/** Method for choosing the next token. */
export type Sampling = {
/** Temperature; 0 always takes the most likely token. */
temperature: number,
/** Number of most likely tokens to choose from; 0 for all. */
top_k: number,
/** Least total probability of the most likely tokens to choose from; 1 for all. */
top_p: number, seed: number, };

export type GenerationView = {
/** Number of iterations after which the weights were taken. */
iteration: number,
/** Tokens so far, without the prompt. */
tokens: number,
/** Text so far, without the prompt. Until the text has ended, an incomplete character or stop text at its end is left out. */
text: string,
/** Tokens added by this call. */
added: Array<Generated>, ended: Ended | null, };

export type Generated = { id: number, text: string,
/** Probability by the model, before temperature and cuts. */
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
