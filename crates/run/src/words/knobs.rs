//! The presets of the room, and its knobs; see `crate::knobs`.

use super::protocol::{Preset, Sampling, TokenizerKind};
use crate::RunError;
use crate::knobs::{Access, Table, choice, float, int};
use crate::protocol::{Goal, KnobKind, Named, Variant};
use crate::{count, text};
use learn::words::{Config, Mlp, Norm, Positions, Shape};
use math::Isa;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    F32,
    Bf16,
    Amx,
    /// On a GPU; the processor computes in f32.
    F16,
}

/// The settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub config: Config,
    /// What products are computed with.
    pub precision: Precision,
    pub tokenizer: TokenizerKind,
    /// Tokens of byte-pair encoding at most.
    pub vocab: usize,
    /// Of the grammar's text.
    pub characters: usize,
    /// What is written at each test, and so many tokens behind it.
    pub prompt: String,
    pub sample: usize,
    pub temperature: f32,
    pub top_k: usize,
}

impl Settings {
    /// Whether a run with these settings can go on with others.
    pub fn can_become(&self, other: &Settings) -> bool {
        let Settings { prompt, sample, temperature, top_k, .. } = other.clone();
        let config = self.config.can_become(&other.config);
        config
            && *other == Settings { config: other.config, prompt, sample, temperature, top_k, ..self.clone() }
    }

    /// What the run computes with on a processor that has this set.
    pub fn isa(&self, host: Isa) -> Isa {
        match self.precision {
            Precision::F32 | Precision::F16 => host,
            Precision::Bf16 => Isa::Bf16,
            Precision::Amx => Isa::Amx,
        }
    }

    /// Refuses what the processor does not have.
    pub fn check_precision(&self, host: Isa) -> Result<(), RunError> {
        let isa = self.isa(host);
        let (products, needs, instead) = match self.precision {
            Precision::F32 | Precision::F16 => return Ok(()),
            _ if host == Isa::Avx512 && isa.is_available() => return Ok(()),
            Precision::Bf16 => ("products of bf16", "AVX512-BF16", "Leave precision at f32"),
            Precision::Amx if host == Isa::Avx512 && Isa::Bf16.is_available() => {
                ("tiles of bf16", "AMX", "Set precision to bf16")
            }
            Precision::Amx => ("tiles of bf16", "AMX", "Leave precision at f32"),
        };
        Err(RunError::refused(
            format!(
                "there are no {products} here: they need a processor with {needs}, and the native program"
            ),
            instead,
        ))
    }

    pub fn sampling(&self, seed: u32) -> Sampling {
        Sampling { temperature: self.temperature, top_k: self.top_k as u32, top_p: 1.0, seed }
    }
}

const PRESETS: [&str; 5] = ["char", "text", "d256", "d384", "d512"];

/// Of this name; the default where there is none.
pub fn preset(id: &str) -> Settings {
    let large = |width, heads| (width, 6, heads, 128, TokenizerKind::Bpe, 4);
    let (width, layers, heads, context, tokenizer, micro) = match id {
        "d256" => large(256, 8),
        "d384" => large(384, 6),
        "d512" => large(512, 8),
        _ => (128, 4, 4, 64, TokenizerKind::Chars, 2),
    };
    let small = tokenizer == TokenizerKind::Chars;
    if id == "text" {
        return own_text();
    }
    // The small one as LLaMA has it, which learns the stories in less than half of the tokens; the others as GPT-2.
    let (norm, positions, mlp) = match small {
        true => (Norm::Rms, Positions::Rotary, Mlp::SwiGlu),
        false => (Norm::Layer, Positions::Learned, Mlp::Gelu),
    };
    // Of the vocabulary there is a bound before there is a text.
    let shape =
        Shape { vocab: 2, width, layers, heads, context, norm, positions, mlp, tied: true, bias: !small };
    Settings {
        config: Config {
            shape,
            dropout: 0.0,
            // Small batches: what is wanting are steps, not steadier ones.
            batch: if small { 8 } else { 32 },
            micro,
            steps: if small { 32 } else { 1 },
            half: false, // as `precision` has it
            lr: if small { 2e-3 } else { 1e-3 },
            min_lr: if small { 2e-4 } else { 1e-4 },
            warmup: if small { 100 } else { 50 },
            decay_steps: if small { 4000 } else { 2000 },
            weight_decay: 0.1,
            beta1: 0.9,
            beta2: 0.99,
            clip: 1.0,
        },
        precision: Precision::F32,
        tokenizer,
        vocab: 8192,
        characters: if small { 2_000_000 } else { 8_000_000 },
        prompt: "Once upon a time, a ".into(),
        sample: if small { 200 } else { 64 },
        temperature: 0.8,
        top_k: 0,
    }
}

/// For any text: byte pairs, so that none has a character it does not know, few enough to be learned from a short one; LLaMA's parts; and
/// some dropout, as a text of one's own is read many times over.
fn own_text() -> Settings {
    let base = preset("char");
    let shape = Shape { width: 192, layers: 4, heads: 6, context: 128, ..base.config.shape };
    Settings {
        config: Config {
            shape,
            dropout: 0.1,
            batch: 16,
            micro: 4,
            steps: 8,
            lr: 2e-3,
            min_lr: 2e-4,
            warmup: 100,
            decay_steps: 3000,
            ..base.config
        },
        tokenizer: TokenizerKind::Bpe,
        vocab: 2048,
        // Samples go on from how the part begins that is not trained on.
        prompt: String::new(),
        ..base
    }
}

pub fn variants() -> Vec<Variant> {
    PRESETS.map(variant).into()
}

fn variant(id: &'static str) -> Variant {
    let Settings { config: Config { shape, .. }, tokenizer, .. } = preset(id);
    let (name, summary, sweep_budget) = match id {
        "text" => (
            "Any text",
            "2 million parameters that read byte pairs of any text or folder of texts that you bring, 128 at a time.",
            4e6,
        ),
        "d256" => ("256 wide", "7 million parameters that read byte pairs, 128 at a time.", 4e6),
        "d384" => ("384 wide", "14 million parameters that read byte pairs, 128 at a time.", 4e6),
        "d512" => ("512 wide", "23 million parameters that read byte pairs, 128 at a time.", 4e6),
        _ => ("Characters", "800,000 parameters that read letter by letter, 64 at a time.", 4e6),
    };
    let [width, layers, heads, context] =
        [shape.width, shape.layers, shape.heads, shape.context].map(|count| count as u32);
    let about = Preset { width, layers, heads, context, tokenizer };
    Variant {
        id,
        name,
        summary,
        // Within 5% of the floor.
        goal: Some(Goal { column: "efficiency", at: 1.0 / 1.05 }),
        sweep_budget,
        about: serde_json::to_value(about).expect("plain data with string keys"),
    }
}

const NORMS: [Named; 2] =
    [Named { name: "layer", label: "Layer norm" }, Named { name: "rms", label: "RMS norm" }];
const NORM_VALUES: [Norm; 2] = [Norm::Layer, Norm::Rms];
const POSITIONS: [Named; 2] =
    [Named { name: "learned", label: "Learned" }, Named { name: "rotary", label: "Rotary" }];
const POSITION_VALUES: [Positions; 2] = [Positions::Learned, Positions::Rotary];
const MLPS: [Named; 2] = [Named { name: "gelu", label: "GELU" }, Named { name: "swiglu", label: "SwiGLU" }];
const MLP_VALUES: [Mlp; 2] = [Mlp::Gelu, Mlp::SwiGlu];
const PRECISIONS: [Named; 4] = [
    Named { name: "f32", label: "32 bits" },
    Named { name: "bf16", label: "bf16" },
    Named { name: "amx", label: "bf16 by AMX tiles" },
    Named { name: "f16", label: "f16" },
];
const PRECISION_VALUES: [Precision; 4] = [Precision::F32, Precision::Bf16, Precision::Amx, Precision::F16];
const TOKENIZERS: [Named; 3] = [
    Named { name: "chars", label: "Characters" },
    Named { name: "bytes", label: "Bytes" },
    Named { name: "bpe", label: "Byte pairs" },
];
const TOKENIZER_VALUES: [TokenizerKind; 3] = [TokenizerKind::Chars, TokenizerKind::Bytes, TokenizerKind::Bpe];

pub fn tokenizer_name(kind: TokenizerKind) -> &'static str {
    let at = TOKENIZER_VALUES.iter().position(|&value| value == kind);
    TOKENIZERS[at.expect("one of them")].name
}

/// A field of a field.
macro_rules! whole {
    ($($field:ident).+) => {
        Access::Number(|c: &Settings| c.$($field).+ as f64, |c, v| c.$($field).+ = v as usize)
    };
}
macro_rules! real {
    ($($field:ident).+) => {
        Access::Number(|c: &Settings| f64::from(c.$($field).+), |c, v| c.$($field).+ = v as f32)
    };
}
macro_rules! flag {
    ($($field:ident).+) => {
        Access::Number(|c: &Settings| f64::from(u8::from(c.$($field).+)), |c, v| c.$($field).+ = v != 0.0)
    };
}
/// A choice between values that stand beside their names.
macro_rules! one_of {
    ($names:ident, $values:ident, $($field:ident).+) => {
        Access::Text(
            |c: &Settings| $names[$values.iter().position(|v| *v == c.$($field).+).expect("one of them")].name.into(),
            |c, name| {
                let at = $names.iter().position(|option| option.name == name);
                c.$($field).+ = $values[at.expect("one of the choices")];
            },
        )
    };
}

const NONE_TO: fn(f64) -> KnobKind = |max| KnobKind::Int { min: 0.0, max, log: false };

pub fn table(preset: Settings) -> Table<Settings> {
    Table::new(preset, Settings::can_become)
        .with(
            "lr",
            "Learning rate",
            float(1e-5, 0.1, true),
            "",
            real!(config.lr),
            "How far each step moves the weights at the most. Too small and nothing happens; too large and the loss explodes.",
        )
        .with(
            "min_lr",
            "Least learning rate",
            float(0.0, 0.1, false),
            "",
            real!(config.min_lr),
            "What the learning rate falls to in the end.",
        )
        .with(
            "warmup",
            "Warm-up",
            NONE_TO(1e6),
            "steps",
            whole!(config.warmup),
            "Steps in which the learning rate rises from nothing.",
        )
        .with(
            "decay_steps",
            "Cosine decay",
            int(1.0, 1e7),
            "steps",
            whole!(config.decay_steps),
            "The step at which the learning rate has fallen, along a cosine, to its least.",
        )
        .with(
            "temperature",
            "Temperature of the samples",
            float(0.0, 5.0, false),
            "",
            real!(temperature),
            "0 always writes the likeliest token; 1 writes as the model has learned; more is bolder. It changes what is shown, not what is \
             learned.",
        )
        .with(
            "prompt",
            "Prompt of the samples",
            KnobKind::Text { most: 400 },
            "",
            text!(prompt),
            "What the model goes on from at each test.",
        )
        .with(
            "sample",
            "Length of the samples",
            NONE_TO(2000.0),
            "tokens",
            count!(sample),
            "How much the model writes at each test; 0 for nothing.",
        )
        .with(
            "top_k",
            "Top-k of the samples",
            NONE_TO(65_536.0),
            "tokens",
            count!(top_k),
            "Samples are written with so many of the likeliest tokens alone; 0 for all.",
        )
        .with(
            "width",
            "Width: d_model",
            int(16.0, 2048.0),
            "units",
            whole!(config.shape.width),
            "Numbers that stand for a token on its way through the model. A multiple of the heads, with rotary positions of twice as many.",
        )
        .with(
            "layers",
            "Layers",
            KnobKind::Int { min: 1.0, max: 32.0, log: false },
            "layers",
            whole!(config.shape.layers),
            "Blocks of attention and MLP, one after the other.",
        )
        .with(
            "heads",
            "Attention heads",
            KnobKind::Int { min: 1.0, max: 32.0, log: false },
            "heads",
            whole!(config.shape.heads),
            "Each looks back at the text in a way of its own, with its share of the width.",
        )
        .with(
            "context",
            "Context: tokens seen at once",
            int(8.0, 1024.0),
            "tokens",
            whole!(config.shape.context),
            "How far the model looks back. Longer costs more, and the entropy floor falls.",
        )
        .with(
            "norm",
            "Norm",
            choice(&NORMS),
            "",
            one_of!(NORMS, NORM_VALUES, config.shape.norm),
            "What keeps the numbers in each layer of one size. RMS norm is the simpler one.",
        )
        .with(
            "positions",
            "Positions: how order is seen",
            choice(&POSITIONS),
            "",
            one_of!(POSITIONS, POSITION_VALUES, config.shape.positions),
            "Learned: a row of numbers for each place. Rotary: queries and keys are turned by their place, so that distances count.",
        )
        .with(
            "mlp",
            "MLP",
            choice(&MLPS),
            "",
            one_of!(MLPS, MLP_VALUES, config.shape.mlp),
            "What each layer does with every token by itself. SwiGLU has a gate beside it, and as many parameters.",
        )
        .with(
            "tied",
            "Tied head",
            KnobKind::Bool,
            "",
            flag!(config.shape.tied),
            "The weights that tell tokens apart at the end are those of the embedding at the beginning.",
        )
        .with(
            "bias",
            "Biases",
            KnobKind::Bool,
            "",
            flag!(config.shape.bias),
            "Whether linear layers and layer norms add a number of their own to each output.",
        )
        .with(
            "dropout",
            "Dropout",
            float(0.0, 0.9, false),
            "",
            real!(config.dropout),
            "Share of the numbers that is left out at random in training, against learning a small text by heart.",
        )
        .with(
            "batch",
            "Batch: sequences a step",
            int(1.0, 4096.0),
            "sequences",
            whole!(config.batch),
            "Pieces of text that each step learns from. More make steadier steps that take longer.",
        )
        .with(
            "micro",
            "Micro-batch: sequences at once",
            int(1.0, 4096.0),
            "sequences",
            whole!(config.micro),
            "Sequences whose gradients are computed at once and added up to the batch, which it must divide. Fewer take less memory. In a small model up to four of them are trained on side by side. A GPU takes the whole batch at once where it has room for it.",
        )
        .with(
            "steps",
            "Steps an iteration",
            int(1.0, 10_000.0),
            "steps",
            whole!(config.steps),
            "Steps of the optimiser before the run tells how it stands and takes up new knobs.",
        )
        .with(
            "weight_decay",
            "Weight decay",
            float(0.0, 1.0, false),
            "",
            real!(config.weight_decay),
            "How much each step shrinks the matrices, times the learning rate.",
        )
        .with(
            "beta1",
            "Adam β₁: momentum",
            float(0.0, 0.999, false),
            "",
            real!(config.beta1),
            "How slowly the optimiser forgets where gradients pointed.",
        )
        .with(
            "beta2",
            "Adam β₂: memory of the squared gradient",
            float(0.5, 0.9999, false),
            "",
            real!(config.beta2),
            "How slowly the optimiser forgets how large gradients were.",
        )
        .with(
            "clip",
            "Max gradient norm",
            float(0.01, 1000.0, true),
            "",
            real!(config.clip),
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the model.",
        )
        .with(
            "precision",
            "Precision of products",
            choice(&PRECISIONS),
            "",
            one_of!(PRECISIONS, PRECISION_VALUES, precision),
            "bf16 keeps 8 bits of each factor and 24 of each sum, and of the weights: up to twice as fast on processors that have it; AMX \
             tiles, of newer Intel servers, do the same many at a time. f16 is for GPUs that have it and keeps 11 bits of each factor; the \
             processor computes with 32 all the same. Only runs of the same precision have the same digests.",
        )
        .with(
            "tokenizer",
            "Tokenizer: what a token is",
            choice(&TOKENIZERS),
            "",
            one_of!(TOKENIZERS, TOKENIZER_VALUES, tokenizer),
            "A character, a byte, or a part of a word that byte-pair encoding found to be frequent.",
        )
        .with(
            "vocab",
            "Vocabulary of byte pairs",
            int(256.0, 65_536.0),
            "tokens",
            count!(vocab),
            "Tokens that byte-pair encoding makes at most.",
        )
        .with(
            "characters",
            "Length of the text",
            int(10_000.0, 64e6),
            "characters",
            count!(characters),
            "How much the story grammar writes to learn from.",
        )
}
