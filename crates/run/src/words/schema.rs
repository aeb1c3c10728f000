//! The numbers of the room's runs, and the words for them.

use crate::protocol::Part;
use crate::room::Schema;
use crate::schema::columns;

pub(super) static SCHEMA: Schema = Schema {
    id: "words",
    title: "Words",
    variant_word: "preset",
    iteration_word: "iteration",
    counters: columns! {
        tokens: "Tokens", "Tokens trained on, each as often as it was.", unit("tokens"), brief("tokens");
        steps: "Steps", "Steps of the optimiser.", unit("steps");
    },
    metrics: columns! {
        loss: "Training loss",
            "Cross-entropy: how surprised the model is by the next token of the text it trains on, in nats a token.",
            unit("nats"), chart("loss"), brief("loss");
        bits_per_char: "Training bits a character",
            "The same in bits a character, which tokenizers do not change.", unit("bits"), chart("bits");
        epochs: "Epochs", "How often the whole text was trained on.", chart("epochs");
        lr: "Learning rate", "It warms up, and then falls along a cosine.", chart("lr");
        grad_norm: "Gradient norm", "Length of the gradient before it is clipped.", chart("grad_norm"), log;
        tokens_per_s: "Tokens a second",
            "Trained on: forward, backward and optimiser, tests left out.",
            unit("tokens/s"), chart("speed"), brief("tokens/s"), rate("tokens", 1.0);
    },
    tests: columns! {
        val_loss: "Validation loss",
            "Cross-entropy on text that it does not train on, in nats a token.", unit("nats"), chart("loss"), brief("validation");
        floor: "Entropy floor",
            "The loss that is best possible on the same text with the same context, as the story grammar is known. Of another text it \
             is not known. With byte pairs it is near that, but no strict bound: where a token begins says a little about what stood \
             before, which it does not count.", unit("nats"), chart("loss"), brief("floor");
        val_bits_per_char: "Validation bits a character", "The validation loss in bits a character.", unit("bits"), chart("bits");
        val_bits_per_byte: "Validation bits a byte",
            "The same a byte of the text, which compares with any other tokenizer, and with programs that compress.",
            unit("bits"), chart("bits");
        above: "Above the floor", "How much the validation loss is above the entropy floor.", chart("above"), share, brief("above");
        efficiency: "Coding efficiency",
            "The entropy floor as a share of the validation loss: 100% at the floor, which is an estimate where tokens are byte pairs.",
            chart("efficiency"), share;
    },
    parts: &[
        Part { name: "preparing", label: "Preparing", help: "Writing or reading the text, and turning it into tokens." },
        Part { name: "gradient", label: "Forward and backward", help: "Loss and gradients." },
        Part { name: "update", label: "Update", help: "Clipping, AdamW, and laying out the new weights." },
    ],
};
