//! Presets and settings of the words room.

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
        /// Half precision on a GPU. The CPU computes in f32.
        F16 = "f16", "f16";
    }
}

settings! {
    /// Settings of a run. The default is a small LLaMA-style character model. Its batches are small, because the model learns more from
    /// many steps than from exact gradients.
    pub struct Settings {
        nest config: Config = Config::default();
        live temperature: f32 = 0.8, [linear(0.0, 5.0), "Sample temperature", "",
            "0 always writes the most likely token; 1 uses the model's own probabilities; higher values are bolder. It changes the \
             samples, not the training."];
        live prompt: String = "Once upon a time, a ".into(), [text(400), "Sample prompt", "",
            "Text that the model continues at each test."];
        live sample: usize = 200, [whole(0.0, 2000.0), "Sample length", "tokens",
            "Length of the text that the model writes at each test; 0 for none."];
        live top_k: usize = 0, [whole(0.0, 65_536.0), "Sample top-k", "tokens",
            "Samples use only this number of the most likely tokens; 0 for all."];
        fixed precision: Precision = Precision::F32, [one_of::<Precision>(), "Precision of products", "",
            "bf16 keeps 8 bits of each factor, and 24 bits of sums and weights: up to twice as fast on CPUs that support it. \
             AMX, on newer Intel servers, computes bf16 in tiles. f16 keeps 11 bits of each factor on GPUs that support it; the \
             CPU still computes with 32 bits. Digests are equal only between runs of the same precision."];
        fixed tokenizer: TokenizerKind = TokenizerKind::Chars, [one_of::<TokenizerKind>(), "Tokenizer: what a token is", "",
            "A character, a byte, or a frequent part of a word (byte-pair encoding)."];
        fixed vocab: usize = 8192, [count(256.0, 65_536.0), "Vocabulary of byte pairs", "tokens",
            "Maximum number of different tokens in byte-pair encoding."];
        fixed characters: usize = 2_000_000, [count(10_000.0, 64e6), "Length of the text", "characters",
            "Length of the training text that the story grammar generates."];
    }
}

impl Settings {
    /// Returns the configuration of the learner for a vocabulary of `vocab` tokens.
    pub fn learner(&self, vocab: usize) -> Config {
        let half = self.precision == Precision::F16;
        Config { shape: Shape { vocab, ..self.config.shape }, half, ..self.config }
    }

    /// Returns the instruction set that the run uses. `host` is the instruction set of the host.
    pub fn isa(&self, host: Isa) -> Isa {
        match self.precision {
            Precision::F32 | Precision::F16 => host,
            Precision::Bf16 => Isa::Bf16,
            Precision::Amx => Isa::Amx,
        }
    }

    /// Returns an error if the CPU or this build of the program does not support the chosen precision.
    pub fn check_precision(&self, host: Isa) -> Result<(), RunError> {
        let isa = self.isa(host);
        let (products, needs, instead) = match self.precision {
            Precision::F32 | Precision::F16 => return Ok(()),
            _ if host == Isa::Avx512 && isa.is_available() => return Ok(()),
            Precision::Bf16 => ("products of bf16", "AVX512-BF16", "Leave precision at f32"),
            Precision::Amx if host == Isa::Avx512 && Isa::Bf16.is_available() => ("tiles of bf16", "AMX", "Set precision to bf16"),
            Precision::Amx => ("tiles of bf16", "AMX", "Leave precision at f32"),
        };
        Err(RunError::refused(format!("{products} are not available here: they need a CPU with {needs} and the native program"), instead))
    }

    pub fn sampling(&self, seed: u32) -> Sampling {
        Sampling { temperature: self.temperature, top_k: self.top_k as u32, top_p: 1.0, seed }
    }
}

const PRESETS: [&str; 5] = ["char", "text", "d256", "d384", "d512"];

/// Returns the preset with the given id, or the default preset if the id is unknown.
pub fn preset(id: &str) -> Settings {
    match id {
        "text" => own_text(),
        "d256" => byte_pairs(256, 8),
        "d384" => byte_pairs(384, 6),
        "d512" => byte_pairs(512, 8),
        _ => Settings::default(),
    }
}

/// Returns the preset of a larger model with GPT-2's architecture. To learn the default text (generated stories), this architecture needs
/// more than twice as many tokens as an architecture like LLaMA's.
fn byte_pairs(width: usize, heads: usize) -> Settings {
    let (norm, positions, mlp) = (Norm::Layer, Positions::Learned, Mlp::Gelu);
    let shape = Shape { width, layers: 6, heads, context: 128, norm, positions, mlp, bias: true, ..Shape::default() };
    let rate = Config { lr: 1e-3, min_lr: 1e-4, warmup: 50, decay_steps: 2000, ..Config::default() };
    let config = Config { shape, batch: 32, micro: 4, steps: 1, ..rate };
    Settings { config, tokenizer: TokenizerKind::Bpe, characters: 8_000_000, sample: 64, ..Settings::default() }
}

/// Returns the preset for a user's text. The tokens are byte pairs, because they can represent every character, and because a small
/// vocabulary can be learned from a short text. The architecture is like LLaMA's. Dropout is used, because training reads the text many
/// times.
fn own_text() -> Settings {
    let shape = Shape { width: 192, heads: 6, context: 128, ..Shape::default() };
    let config = Config { shape, dropout: 0.1, batch: 16, micro: 4, steps: 8, decay_steps: 3000, ..Config::default() };
    // With an empty prompt, samples continue the beginning of the validation text.
    Settings { config, tokenizer: TokenizerKind::Bpe, vocab: 2048, prompt: String::new(), ..Settings::default() }
}

pub fn variants() -> Vec<Variant> {
    PRESETS.map(variant).into()
}

fn variant(id: &'static str) -> Variant {
    let Settings { config: Config { shape, .. }, tokenizer, .. } = preset(id);
    let (name, summary, sweep_budget) = match id {
        "text" => ("Any text", "Your own text: paste or open it. 2 million parameters; reads byte pairs, 128 at a time.", 4e6),
        "d256" => ("256 wide", "7 million parameters; reads byte pairs, 128 at a time.", 4e6),
        "d384" => ("384 wide", "14 million parameters; reads byte pairs, 128 at a time.", 4e6),
        "d512" => ("512 wide", "23 million parameters; reads byte pairs, 128 at a time.", 4e6),
        _ => ("Characters", "800,000 parameters; reads characters, 64 at a time.", 4e6),
    };
    let [width, layers, heads, context] = [shape.width, shape.layers, shape.heads, shape.context].map(|count| count as u32);
    let about = Preset { width, layers, heads, context, tokenizer };
    Variant {
        id: id.into(),
        name: name.into(),
        summary: summary.into(),
        // The goal is a loss at most 5% above the entropy floor, which is the loss of the best possible model.
        goal: Some(Goal { column: "efficiency", at: 1.0 / 1.05 }),
        sweep_budget,
        about: json(&about),
    }
}
