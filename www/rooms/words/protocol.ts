// Questions, answers and events of the words room.
// Generated from crates/run/src/words/protocol.rs by a test; change it there, then run
// UPDATE=1 cargo test -p run --features typescript

export type Question = { "ask": "about", } | { "ask": "samples", } | { "ask": "tokens", text: string, } | { "ask": "read", text: string, next: number, } | { "ask": "attention", text: string, layer: number, head: number, } | { "ask": "prompt", } | { "ask": "generate", prompt: string | null, sampling: Sampling, most: number, stop: string, } | { "ask": "continue", tokens: number, } | { "ask": "stop", };

/** What only this room tells, in [`crate::protocol::Event::Room`]. */
export type RoomEvent = { "kind": "preparing" } & Preparing | { "kind": "ready" } & AboutView | { "kind": "sample" } & Sample;

/** What a variant is, in [`crate::protocol::Variant::about`]. */
export type Preset = { width: number, layers: number, heads: number, context: number, tokenizer: TokenizerKind, };

export type TokenizerKind = "chars" | "bytes" | "bpe";

export type Preparing = { part: PreparingPart,
/** 0 to 1. */
done: number,
/** Seconds until this part is done, where enough of it is to tell. */
left_s: number | null, };

export type PreparingPart = "text" | "merges" | "tokens";

export type AboutView = {
/** Where the text is not tokens yet. */
preparing: Preparing | null,
/** Both are there once it is prepared. */
model: ModelView | null, corpus: CorpusView | null, };

export type ModelView = { vocabulary: number, width: number, layers: number, heads: number,
/** Tokens that it sees at once. */
context: number,
/** Numbers that are trained, and those of them that are embeddings of tokens and positions. */
parameters: number, embeddings: number,
/** Operations of one token in training: forward and backward, in products and attention. */
flops_per_token: number,
/** As they stand in a checkpoint. */
tensors: Array<TensorView>, };

export type TensorView = {
/** `transformer.h.0.attn.c_attn.weight` */
name: string, shape: Array<number>, };

export type CorpusView = {
/** `story grammar`, or the name of what was brought. */
name: string,
/** It was brought, and is not the grammar's. */
own: boolean, characters: number, tokens: number,
/** Of them, those that are trained on and those that it is tested on. */
training_tokens: number, validation_tokens: number, tokenizer: TokenizerKind, vocabulary: number,
/** Of the text that it is tested on. */
characters_per_token: number,
/** Of the grammar, in nats a character: what it surprises by whoever knows it and remembers all that was before. */
entropy: number | null,
/**
 * Entropy floor of the grammar with this context, on the text that it is tested on, in nats a token. It bounds the mean loss
 * where tokens are characters; where they are byte pairs it is an estimate.
 */
floor: number | null,
/** How it begins. */
excerpt: string, };

/** What was written behind the prompt at a test. */
export type Sample = { iteration: number,
/** Tokens trained on by then. */
tokens: number, val_loss: number, prompt: string, text: string, };

export type TokenView = { id: number,
/** Bytes that are no text stand by their numbers, as in `\xE2`. */
text: string, };

export type ReadView = {
/** Of the weights that read. */
iteration: number, tokens: Array<TokenView>,
/** Nats, of each token after those before it; of the first there is none. */
surprise: Array<number | null>,
/** Behind each token: how unsure the model is of the next, in nats. */
entropy: Array<number>,
/** Behind each token: the likeliest next ones, the likeliest first. */
next: Array<Array<NextView>>,
/** Mean surprise of a token, in nats, and of a character, in bits; nothing of a single token. */
loss: number | null, bits_per_char: number | null, };

export type NextView = { id: number, text: string, probability: number, };

export type AttentionView = { iteration: number, layer: number, head: number, tokens: Array<TokenView>,
/** `[from][to]`, a row for each token that looks, which sums to 1; 0 for those behind it. Floats. */
weights: Uint8Array, };

/** How the next token is chosen. */
export type Sampling = {
/** 0 always takes the likeliest. */
temperature: number,
/** Among so many of the likeliest; 0 for all. */
top_k: number,
/** Among the likeliest that together have this probability; 1 for all. */
top_p: number, seed: number, };

export type GenerationView = {
/** Of the weights that write. */
iteration: number,
/** Tokens so far, without the prompt's. */
tokens: number,
/** All that was written so far, without the prompt. A character of which a part is still to come is held back. */
text: string,
/** Those of this call. */
added: Array<Generated>, ended: Ended | null, };

export type Generated = { id: number, text: string,
/** As the model gave it, before temperature and cuts. */
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
