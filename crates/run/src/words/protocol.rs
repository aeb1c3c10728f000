//! What crosses the boundary in the room of words alone: what is trained and on which text, what the model makes of a text, and texts
//! that it writes. What is asked stands beside the training and leaves no trace in it; it is answered with the weights of the newest
//! step, and a text that has begun is written to its end with those that it began with. This file refuses to hold behaviour.

use crate::plain_data::{plain_data, sent_data};
pub use crate::questions::floats;
use learn::choices;
use serde::{Deserialize, Serialize};

crate::questions! {
    /// The model, the text that it learns from, and what there is left to prepare. Nothing else is answered before that is done.
    About {} -> AboutView,
    /// Samples that were told so far, oldest first; of a long run every second one was dropped, and so on.
    Samples {} -> Vec<Sample>,
    /// The tokens of a text. Refused where it has characters that the tokenizer does not know, which are named.
    Tokens { text: String } -> Vec<TokenView>,
    /// What the model makes of a text: how surprised it is by each token, and what it expects behind each, so many at most.
    /// Refused where it is empty or longer than the context.
    Read { text: String, next: u32 } -> ReadView,
    /// What the tokens of a text attend to in a head of a layer.
    Attention { text: String, layer: u32, head: u32 } -> AttentionView,
    /// What samples go on from: what is wished, or where the text has no tokens for that, how the part of it begins that is not
    /// trained on.
    Prompt {} -> String,
    /// Begins a text behind a prompt, or where there is none behind that of samples, in place of any other; its tokens follow when
    /// [`Question::Continue`] asks for them.
    Generate { prompt: Option<String>, sampling: Sampling, most: u32, stop: String } -> GenerationView,
    /// Goes on with it by so many tokens at most.
    Continue { tokens: u32 } -> GenerationView,
    /// Ends it where it is.
    Stop {} -> GenerationView,
}

plain_data! {
    /// What only this room tells, in [`crate::protocol::Event::Room`].
    #[serde(tag = "kind", rename_all = "snake_case")]
    pub enum RoomEvent {
        /// Before the first step: how far a part of the preparation has come.
        Preparing(Preparing),
        /// All is prepared, and training begins.
        Ready(Box<AboutView>),
        /// What the model writes behind the same prompt, at each test.
        Sample(Sample),
    }

    /// What a variant is, in [`crate::protocol::Variant::about`].
    #[derive(Copy)]
    pub struct Preset {
        pub width: u32,
        pub layers: u32,
        pub heads: u32,
        pub context: u32,
        pub tokenizer: TokenizerKind,
    }
}

choices! {
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
    #[serde(rename_all = "snake_case")]
    pub enum TokenizerKind {
        Chars = "chars", "Characters";
        Bytes = "bytes", "Bytes";
        Bpe = "bpe", "Byte pairs";
    }
}

plain_data! {
    #[derive(Copy)]
    pub struct Preparing {
        pub part: PreparingPart,
        /// 0 to 1.
        pub done: f32,
        /// Seconds until this part is done, where enough of it is to tell.
        pub left_s: Option<f32>,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum PreparingPart {
        /// Writing the stories, or reading the text that was brought.
        Text,
        /// Learning the merges of byte-pair encoding.
        Merges,
        /// Turning the text into tokens.
        Tokens,
    }

    pub struct AboutView {
        /// Where the text is not tokens yet.
        pub preparing: Option<Preparing>,
        /// Both are there once it is prepared.
        pub model: Option<ModelView>,
        pub corpus: Option<CorpusView>,
    }

    pub struct ModelView {
        pub vocabulary: u32,
        pub width: u32,
        pub layers: u32,
        pub heads: u32,
        /// Tokens that it sees at once.
        pub context: u32,
        /// Numbers that are trained, and those of them that are embeddings of tokens and positions.
        pub parameters: u32,
        pub embeddings: u32,
        /// Operations of one token in training: forward and backward, in products and attention.
        pub flops_per_token: f64,
        /// As they stand in a checkpoint.
        pub tensors: Vec<TensorView>,
    }

    pub struct TensorView {
        /// `transformer.h.0.attn.c_attn.weight`
        pub name: String,
        pub shape: Vec<u32>,
    }

    pub struct CorpusView {
        /// `story grammar`, or the name of what was brought.
        pub name: String,
        /// It was brought, and is not the grammar's.
        pub own: bool,
        pub characters: f64,
        pub tokens: f64,
        /// Of them, those that are trained on and those that it is tested on.
        pub training_tokens: f64,
        pub validation_tokens: f64,
        pub tokenizer: TokenizerKind,
        pub vocabulary: u32,
        /// Of the text that it is tested on.
        pub characters_per_token: f64,
        /// Of the grammar, in nats a character: what it surprises by whoever knows it and remembers all that was before.
        pub entropy: Option<f64>,
        /// Entropy floor of the grammar with this context, on the text that it is tested on, in nats a token. It bounds the mean loss
        /// where tokens are characters; where they are byte pairs it is an estimate.
        pub floor: Option<f64>,
        /// How it begins.
        pub excerpt: String,
    }

    /// What was written behind the prompt at a test.
    pub struct Sample {
        pub iteration: u32,
        /// Tokens trained on by then.
        pub tokens: f64,
        pub val_loss: f64,
        pub prompt: String,
        pub text: String,
    }

    pub struct TokenView {
        pub id: u32,
        /// Bytes that are no text stand by their numbers, as in `\xE2`.
        pub text: String,
    }

    pub struct ReadView {
        /// Of the weights that read.
        pub iteration: u32,
        pub tokens: Vec<TokenView>,
        /// Nats, of each token after those before it; of the first there is none.
        pub surprise: Vec<Option<f32>>,
        /// Behind each token: how unsure the model is of the next, in nats.
        pub entropy: Vec<f32>,
        /// Behind each token: the likeliest next ones, the likeliest first.
        pub next: Vec<Vec<NextView>>,
        /// Mean surprise of a token, in nats, and of a character, in bits; nothing of a single token.
        pub loss: Option<f32>,
        pub bits_per_char: Option<f32>,
    }

    pub struct NextView {
        pub id: u32,
        pub text: String,
        pub probability: f32,
    }

    /// How the next token is chosen.
    #[derive(Copy)]
    pub struct Sampling {
        /// 0 always takes the likeliest.
        pub temperature: f32,
        /// Among so many of the likeliest; 0 for all.
        pub top_k: u32,
        /// Among the likeliest that together have this probability; 1 for all.
        pub top_p: f32,
        pub seed: u32,
    }

    pub struct GenerationView {
        /// Of the weights that write.
        pub iteration: u32,
        /// Tokens so far, without the prompt's.
        pub tokens: u32,
        /// All that was written so far, without the prompt. A character of which a part is still to come is held back.
        pub text: String,
        /// Those of this call.
        pub added: Vec<Generated>,
        pub ended: Option<Ended>,
    }

    pub struct Generated {
        pub id: u32,
        pub text: String,
        /// As the model gave it, before temperature and cuts.
        pub probability: f32,
    }

    #[derive(Copy, Eq)]
    #[serde(rename_all = "snake_case")]
    pub enum Ended {
        /// As many tokens as were asked for.
        Length,
        /// The text to stop at came, which is left out.
        Stop,
        /// It was asked to end.
        Asked,
    }
}

sent_data! {
    pub struct AttentionView {
        pub iteration: u32,
        pub layer: u32,
        pub head: u32,
        pub tokens: Vec<TokenView>,
        /// `[from][to]`, a row for each token that looks, which sums to 1; 0 for those behind it. Floats.
        #[serde(serialize_with = "floats")]
        #[cfg_attr(feature = "typescript", ts(type = "Uint8Array"))]
        pub weights: Vec<f32>,
    }
}
