//! The presets of the room, and its settings.

use super::protocol::{Preset, Sampling, TokenizerKind};
use crate::RunError;
use crate::plain_data::json;
use crate::protocol::{Goal, Variant};
use learn::settings::{count, linear, one_of, text, whole};
use learn::words::{Config, Mlp, Norm, Positions, Shape};
use learn::{choices, settings};
use math::Isa;

choices! {
    pub enum Precision {
        F32 = "f32", "32 bits";
        Bf16 = "bf16", "bf16";
        Amx = "amx", "bf16 by AMX tiles";
        /// On a GPU; the processor computes in f32.
        F16 = "f16", "f16";
    }
}

settings! {
    /// The settings of a run; by default of a small model of letters as LLaMA has it, in small batches, since steps are scarce and not
    /// steadier ones.
    pub struct Settings {
        nest config: Config = Config::default();
        live temperature: f32 = 0.8, [linear(0.0, 5.0), "Temperature of the samples", "",
            "0 always writes the likeliest token; 1 writes as the model has learned; more is bolder. It changes what is shown, not what \
             is learned."];
        live prompt: String = "Once upon a time, a ".into(), [text(400), "Prompt of the samples", "",
            "What the model goes on from at each test."];
        live sample: usize = 200, [whole(0.0, 2000.0), "Length of the samples", "tokens",
            "How much the model writes at each test; 0 for nothing."];
        live top_k: usize = 0, [whole(0.0, 65_536.0), "Top-k of the samples", "tokens",
            "Samples are written with so many of the likeliest tokens alone; 0 for all."];
        fixed precision: Precision = Precision::F32, [one_of::<Precision>(), "Precision of products", "",
            "bf16 keeps 8 bits of each factor and 24 of each sum, and of the weights: up to twice as fast on processors that have it; \
             AMX tiles, of newer Intel servers, do the same many at a time. f16 is for GPUs that have it and keeps 11 bits of each \
             factor; the processor computes with 32 all the same. Only runs of the same precision have the same digests."];
        fixed tokenizer: TokenizerKind = TokenizerKind::Chars, [one_of::<TokenizerKind>(), "Tokenizer: what a token is", "",
            "A character, a byte, or a part of a word that byte-pair encoding found to be frequent."];
        fixed vocab: usize = 8192, [count(256.0, 65_536.0), "Vocabulary of byte pairs", "tokens",
            "Tokens that byte-pair encoding makes at most."];
        fixed characters: usize = 2_000_000, [count(10_000.0, 64e6), "Length of the text", "characters",
            "How much the story grammar writes to learn from."];
    }
}

impl Settings {
    /// The learner's, for a vocabulary of so many tokens.
    pub fn learner(&self, vocab: usize) -> Config {
        let half = self.precision == Precision::F16;
        Config { shape: Shape { vocab, ..self.config.shape }, half, ..self.config }
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
            Precision::Amx if host == Isa::Avx512 && Isa::Bf16.is_available() => ("tiles of bf16", "AMX", "Set precision to bf16"),
            Precision::Amx => ("tiles of bf16", "AMX", "Leave precision at f32"),
        };
        Err(RunError::refused(format!("there are no {products} here: they need a processor with {needs}, and the native program"), instead))
    }

    pub fn sampling(&self, seed: u32) -> Sampling {
        Sampling { temperature: self.temperature, top_k: self.top_k as u32, top_p: 1.0, seed }
    }
}

const PRESETS: [&str; 5] = ["char", "text", "d256", "d384", "d512"];

/// Of this name; the default where there is none.
pub fn preset(id: &str) -> Settings {
    match id {
        "text" => own_text(),
        "d256" => byte_pairs(256, 8),
        "d384" => byte_pairs(384, 6),
        "d512" => byte_pairs(512, 8),
        _ => Settings::default(),
    }
}

/// The larger ones are as GPT-2, which learns the stories in more than twice as many tokens as LLaMA.
fn byte_pairs(width: usize, heads: usize) -> Settings {
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    let shape = Shape { width, layers: 6, heads, context: 128, norm, positions, mlp, bias: true, ..Shape::default() };
    let rate = Config { lr: 1e-3, min_lr: 1e-4, warmup: 50, decay_steps: 2000, ..Config::default() };
    let config = Config { shape, batch: 32, micro: 4, steps: 1, ..rate };
    Settings { config, tokenizer: TokenizerKind::Bpe, characters: 8_000_000, sample: 64, ..Settings::default() }
}

/// For any text: byte pairs, so that none has a character it does not know, few enough to be learned from a short one; LLaMA's parts; and
/// some dropout, as a text of one's own is read many times over.
fn own_text() -> Settings {
    let shape = Shape { width: 192, heads: 6, context: 128, ..Shape::default() };
    let config = Config { shape, dropout: 0.1, batch: 16, micro: 4, steps: 8, decay_steps: 3000, ..Config::default() };
    // Samples go on from how the part begins that is not trained on.
    Settings { config, tokenizer: TokenizerKind::Bpe, vocab: 2048, prompt: String::new(), ..Settings::default() }
}

pub fn variants() -> Vec<Variant> {
    PRESETS.map(variant).into()
}

fn variant(id: &'static str) -> Variant {
    let Settings { config: Config { shape, .. }, tokenizer, .. } = preset(id);
    let (name, summary, sweep_budget) = match id {
        "text" => {
            ("Any text", "2 million parameters that read byte pairs of any text or folder of texts that you bring, 128 at a time.", 4e6)
        }
        "d256" => ("256 wide", "7 million parameters that read byte pairs, 128 at a time.", 4e6),
        "d384" => ("384 wide", "14 million parameters that read byte pairs, 128 at a time.", 4e6),
        "d512" => ("512 wide", "23 million parameters that read byte pairs, 128 at a time.", 4e6),
        _ => ("Characters", "800,000 parameters that read letter by letter, 64 at a time.", 4e6),
    };
    let [width, layers, heads, context] = [shape.width, shape.layers, shape.heads, shape.context].map(|count| count as u32);
    let about = Preset { width, layers, heads, context, tokenizer };
    Variant {
        id,
        name,
        summary,
        // Within 5% of the floor.
        goal: Some(Goal { column: "efficiency", at: 1.0 / 1.05 }),
        sweep_budget,
        about: json(&about),
    }
}
