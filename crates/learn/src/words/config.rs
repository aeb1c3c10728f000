//! Settings of a transformer and its training.

use crate::settings::{SWITCH, SettingError, Settings, between, count, linear, log, one_of, whole};
use crate::state::SavedError;
use crate::{choices, settings};
use graph::{Adam, PlanError};
use math::ops::HEAD;

choices! {
    pub enum Norm {
        /// Layer normalisation (Ba et al. 2016).
        Layer = "layer", "Layer norm";
        /// Normalisation by the root mean square (Zhang and Sennrich 2019).
        Rms = "rms", "RMS norm";
    }
}

choices! {
    pub enum Positions {
        /// A learned vector per position is added to the embeddings.
        Learned = "learned", "Learned";
        /// Queries and keys are rotated by their position (Su et al. 2021).
        Rotary = "rotary", "Rotary";
    }
}

choices! {
    pub enum Mlp {
        Gelu = "gelu", "GELU";
        /// Gated: silu(gate)·up, with one linear layer each for gate and up (Shazeer 2020).
        SwiGlu = "swiglu", "SwiGLU";
    }
}

settings! {
    /// Shape of the model.
    #[derive(Copy, Eq)]
    pub struct Shape {
        fixed vocab: usize = 2;
        fixed width: usize = 128, [count(16.0, 2048.0), "Width: d_model", "units",
            "Size of the vector for each token. Must be a multiple of the number of heads, or of twice that number with rotary \
             positions."];
        fixed layers: usize = 4, [whole(1.0, 32.0), "Layers", "layers", "Number of blocks, each with attention and an MLP."];
        fixed heads: usize = 4, [whole(1.0, 32.0), "Attention heads", "heads",
            "Each head attends to the text separately and uses an equal part of the width."];
        fixed context: usize = 64, [count(8.0, 1024.0).down_to(2.0), "Context: tokens seen at once", "tokens",
            "Number of tokens that the model sees. A longer context takes more time and lowers the entropy floor."];
        fixed norm: Norm = Norm::Rms, [one_of::<Norm>(), "Norm", "",
            "Normalisation of each layer's input. RMS norm is simpler."];
        fixed positions: Positions = Positions::Rotary, [one_of::<Positions>(), "Positions: how order is encoded", "",
            "Learned: a vector for each position. Rotary: queries and keys are rotated by their position, which encodes distances."];
        fixed mlp: Mlp = Mlp::SwiGlu, [one_of::<Mlp>(), "MLP", "",
            "The network that each layer applies to every token. SwiGLU adds a gate at about the same number of parameters."];
        fixed tied: bool = true, [SWITCH, "Tied head", "",
            "The output layer uses the weights of the token embedding."];
        fixed bias: bool = false, [SWITCH, "Biases", "",
            "Linear layers and layer norms have bias terms."];
    }
}

impl Shape {
    /// Returns the number of hidden units of an MLP: 4 times the width. A gated MLP has three matrices instead of two. Its number of hidden
    /// units is therefore only 8/3 times the width, rounded up to a multiple of 32.
    pub fn hidden(&self) -> usize {
        match self.mlp {
            Mlp::Gelu => 4 * self.width,
            Mlp::SwiGlu => (8 * self.width).div_ceil(3).next_multiple_of(32),
        }
    }

    /// Returns the number of parameters in matrix products. In a forward pass, each of these parameters takes two operations per token: a
    /// multiplication and an addition.
    pub fn products(&self) -> u64 {
        let matrices = if self.mlp == Mlp::SwiGlu { 3 } else { 2 };
        let [width, hidden, layers, vocab] = [self.width, self.hidden(), self.layers, self.vocab].map(|n| n as u64);
        layers * (4 * width * width + matrices * width * hidden) + vocab * width
    }

    /// Returns the number of floating-point operations per token in a forward and backward pass, for matrix products and attention. A token
    /// attends to half of the context on average.
    pub fn flops_per_token(&self) -> f64 {
        let attention = 2 * self.layers * self.width * self.context.div_ceil(2);
        6.0 * (self.products() + attention as u64) as f64
    }
}

settings! {
    /// Settings of the model and its training; the defaults are those of a small character model.
    #[derive(Copy)]
    pub struct Config {
        live lr: f32 = 2e-3, [log(1e-5, 0.1), "Learning rate", "",
            "Peak step size. Too small: learning is slow. Too large: the loss diverges."];
        live min_lr: f32 = 2e-4, [linear(0.0, 0.1), "Minimum learning rate", "", "Final value of the learning rate."];
        live warmup: usize = 100, [whole(0.0, 1e6), "Warm-up", "steps", "Steps in which the learning rate rises from 0."];
        live decay_steps: usize = 4000, [count(1.0, 1e7), "Cosine decay", "steps",
            "Step at which the cosine decay reaches the minimum learning rate."];
        nest shape: Shape = Shape::default();
        fixed dropout: f32 = 0.0, [linear(0.0, 0.9), "Dropout", "",
            "Share of activations set to 0 at random in training. It reduces overfitting to a small text."];
        fixed batch: usize = 8, [count(1.0, 4096.0), "Batch: sequences per step", "sequences",
            "Sequences per optimiser step. Larger batches give less noisy but slower steps."];
        fixed micro: usize = 2, [count(1.0, 4096.0), "Micro-batch: sequences at once", "sequences",
            "Sequences whose gradients are computed together; must divide the batch. Smaller values take less memory. For \
             small models, up to four micro-batches run in parallel. A GPU computes the whole batch at once if it has enough \
             memory."];
        live steps: usize = 32, [count(1.0, 10_000.0), "Steps per iteration", "steps",
            "Optimiser steps between reports. Changed knobs take effect at the next iteration."];
        live weight_decay: f32 = 0.1, [linear(0.0, 1.0), "Weight decay", "",
            "Share by which each step shrinks the matrices, times the learning rate."];
        live beta1: f32 = 0.9, [linear(0.0, 0.999), "Adam β₁: momentum", "",
            "Decay rate of the mean gradient."];
        live beta2: f32 = 0.99, [linear(0.5, 0.9999), "Adam β₂: memory of the squared gradient", "",
            "Decay rate of the mean squared gradient."];
        live clip: f32 = 1.0, [log(0.01, 1000.0), "Max gradient norm", "",
            "Longer gradients are scaled down to this length, so that an unusual batch cannot damage the model."];
        /// True if offloaded training rounds the factors of matrix products to f16. A machine without f16 reports an error.
        fixed half: bool = false;
    }
}

impl Config {
    pub fn check(&self) -> Result<(), WordsError> {
        let Config { shape, .. } = self;
        self.in_range()?;
        between("the vocabulary", shape.vocab, 2, 1_048_576)?;
        between("micro", self.micro, 1, self.batch)?;
        let &Shape { width, heads, .. } = shape;
        let each = if shape.positions == Positions::Rotary { 2 * heads } else { heads };
        if !width.is_multiple_of(each) {
            return Err(WordsError::Heads { width, heads, each });
        }
        if width / heads > HEAD {
            return Err(WordsError::WideHeads { width, heads, least: width.div_ceil(HEAD), most: HEAD });
        }
        if !self.batch.is_multiple_of(self.micro) {
            return Err(WordsError::Micro { batch: self.batch, micro: self.micro });
        }
        Ok(())
    }

    /// Returns the number of tokens in an optimiser step.
    pub fn step_tokens(&self) -> usize {
        self.batch * self.shape.context
    }

    /// Returns Adam's settings for the step that follows `steps` completed steps.
    pub fn adam(&self, steps: u64) -> Adam {
        Adam {
            lr: self.lr_after(steps),
            beta1: self.beta1,
            beta2: self.beta2,
            weight_decay: self.weight_decay,
            matrices_only: true,
            max_grad_norm: self.clip,
            ..Adam::default()
        }
    }

    fn lr_after(&self, steps: u64) -> f32 {
        let (step, warmup, decay) = (steps as f64, self.warmup as f64, self.decay_steps as f64);
        let (lr, min_lr) = (f64::from(self.lr), f64::from(self.min_lr).min(f64::from(self.lr)));
        let lr = if step < warmup {
            lr * (step + 1.0) / warmup
        } else if step < decay {
            let along = (step - warmup) / (decay - warmup);
            min_lr + (lr - min_lr) * 0.5 * (1.0 + cos_pi(along))
        } else {
            min_lr
        };
        lr as f32
    }
}

/// Returns cos(πx) for 0 ≤ x ≤ 1. The function uses only operations that round alike on all machines, because the standard library's cosine
/// may round differently.
pub fn cos_pi(x: f64) -> f64 {
    // Taylor series around x = 1/2. cos(πx) is odd about this point, so the series has odd terms only. The first omitted term is below
    // 1e-11.
    let y = std::f64::consts::PI * (0.5 - x);
    let mut sum = 0.0;
    let mut term = y;
    for k in 1..=8 {
        sum += term;
        term *= -y * y / f64::from(2 * k * (2 * k + 1));
    }
    sum
}

/// Error for invalid settings, an invalid plan or an invalid checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum WordsError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("width = {width} does not fit {heads} heads; choose a multiple of {each}")]
    Heads { width: usize, heads: usize, each: usize },
    #[error(
        "each of {heads} heads would have width {}, but the limit is {most}; choose {least} heads or more",
        width / heads
    )]
    WideHeads { width: usize, heads: usize, least: usize, most: usize },
    #[error(
        "a product of {rows} tokens would block for seconds; choose a smaller micro, context, \
         vocabulary or width"
    )]
    Long { rows: usize },
    #[error("batch = {batch} is not a multiple of micro = {micro}; choose a micro that divides the batch")]
    Micro { batch: usize, micro: usize },
    #[error("fixed settings cannot change during a run; start a new run with them")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}
