//! Columns of the words room's runs, with their labels.

use crate::protocol::TimePart;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "words",
    title: "Words",
    variant_word: "preset",
    iteration_word: "iteration",
    counters: columns! {
        tokens: "Tokens", "Training tokens, counted with repetition.", unit("tokens"), brief("tokens");
        steps: "Steps", "Optimiser steps.", unit("steps");
    },
    metrics: columns! {
        loss: "Training loss",
            "Cross-entropy: mean surprise at the next token of the training text, in nats per token.",
            unit("nats"), chart("loss"), brief("loss");
        bits_per_char: "Training bits per character",
            "Training loss in bits per character, which is comparable between tokenizers.", unit("bits"), chart("bits");
        epochs: "Epochs", "Number of passes over the training text.", chart("epochs");
        lr: "Learning rate", "Rises during warm-up, then falls along a cosine.", chart("lr");
        grad_norm: "Gradient norm", "Norm of the gradient before clipping.", chart("grad_norm"), log;
        tokens_per_s: "Tokens per second",
            "Training tokens per second (forward, backward and optimiser), without tests.",
            unit("tokens/s"), chart("speed"), brief("tokens/s"), rate("tokens", 1.0);
    },
    tests: columns! {
        val_loss: "Validation loss",
            "Cross-entropy on held-out text, in nats per token.", unit("nats"), chart("loss"), brief("validation"),
            lead("validation loss in nats per token");
        floor: "Entropy floor",
            "Best possible loss on the same text with the same context, computed from the story grammar; unknown for other text. With \
             byte pairs it is an estimate, not a strict bound: the start of a token reveals a little about the text before, which \
             the estimate ignores.", unit("nats"), chart("loss"), brief("floor");
        val_bits_per_char: "Validation bits per character", "Validation loss in bits per character.", unit("bits"), chart("bits");
        val_bits_per_byte: "Validation bits per byte",
            "Validation loss in bits per byte, which is comparable with any tokenizer and with compression programs.",
            unit("bits"), chart("bits");
        above: "Above the floor", "Excess of the validation loss over the entropy floor.", chart("above"), share, brief("above");
        efficiency: "Coding efficiency",
            "Entropy floor as a share of the validation loss: 100% at the floor. For byte pairs the floor is an estimate.",
            chart("efficiency"), share, lead("coding efficiency on unseen text");
    },
    parts: &[
        TimePart { name: "preparing", label: "Preparing", help: "Generating or reading the text, and converting it to tokens." },
        TimePart { name: "gradient", label: "Forward and backward", help: "Loss and gradients." },
        TimePart { name: "update", label: "Update", help: "Clipping, AdamW, and arranging the new weights in memory." },
    ],
};
