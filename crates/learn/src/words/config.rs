//! The settings of a transformer and of its training.

use crate::settings::{SWITCH, SettingError, Settings, between, count, linear, log, one_of, whole};
use crate::state::SavedError;
use crate::{choices, settings};
use graph::{Adam, PlanError};
use math::ops::HEAD;

choices! {
    pub enum Norm {
        /// Ba et al. 2016
        Layer = "layer", "Layer norm";
        /// Zhang and Sennrich 2019
        Rms = "rms", "RMS norm";
    }
}

choices! {
    pub enum Positions {
        /// A row for each is added to the embeddings.
        Learned = "learned", "Learned";
        /// Queries and keys are turned by them (Su et al. 2021).
        Rotary = "rotary", "Rotary";
    }
}

choices! {
    pub enum Mlp {
        Gelu = "gelu", "GELU";
        /// A gate beside it, silu(gate)·up (Shazeer 2020).
        SwiGlu = "swiglu", "SwiGLU";
    }
}

settings! {
    /// What the parameters are.
    #[derive(Copy, Eq)]
    pub struct Shape {
        fixed vocab: usize = 2;
        fixed width: usize = 128, [count(16.0, 2048.0), "Width: d_model", "units",
            "Numbers that stand for a token on its way through the model. A multiple of the heads, with rotary positions of twice as \
             many."];
        fixed layers: usize = 4, [whole(1.0, 32.0), "Layers", "layers", "Blocks of attention and MLP, one after the other."];
        fixed heads: usize = 4, [whole(1.0, 32.0), "Attention heads", "heads",
            "Each looks back at the text in a way of its own, with its share of the width."];
        fixed context: usize = 64, [count(8.0, 1024.0).down_to(2.0), "Context: tokens seen at once", "tokens",
            "How far the model looks back. Longer costs more, and the entropy floor falls."];
        fixed norm: Norm = Norm::Rms, [one_of::<Norm>(), "Norm", "",
            "What keeps the numbers in each layer of one size. RMS norm is the simpler one."];
        fixed positions: Positions = Positions::Rotary, [one_of::<Positions>(), "Positions: how order is seen", "",
            "Learned: a row of numbers for each place. Rotary: queries and keys are turned by their place, so that distances count."];
        fixed mlp: Mlp = Mlp::SwiGlu, [one_of::<Mlp>(), "MLP", "",
            "What each layer does with every token by itself. SwiGLU has a gate beside it, and as many parameters."];
        fixed tied: bool = true, [SWITCH, "Tied head", "",
            "The weights that tell tokens apart at the end are those of the embedding at the beginning."];
        fixed bias: bool = false, [SWITCH, "Biases", "",
            "Whether linear layers and layer norms add a number of their own to each output."];
    }
}

impl Shape {
    /// Units between the two products of an MLP. With a gate a multiple of 32 near 8/3 of the width, so that three matrices have
    /// about as many parameters as two of 4 times it.
    pub fn hidden(&self) -> usize {
        match self.mlp {
            Mlp::Gelu => 4 * self.width,
            Mlp::SwiGlu => (8 * self.width).div_ceil(3).next_multiple_of(32),
        }
    }

    /// Parameters in products, of which a token costs two operations each.
    pub fn products(&self) -> u64 {
        let matrices = if self.mlp == Mlp::SwiGlu { 3 } else { 2 };
        let [width, hidden, layers, vocab] = [self.width, self.hidden(), self.layers, self.vocab].map(|n| n as u64);
        layers * (4 * width * width + matrices * width * hidden) + vocab * width
    }

    /// Operations that a token takes in training, forward and backward: of products, and of attention to the half of the context
    /// that it sees in the mean.
    pub fn flops_per_token(&self) -> f64 {
        let attention = 2 * self.layers * self.width * self.context.div_ceil(2);
        6.0 * (self.products() + attention as u64) as f64
    }
}

settings! {
    /// By default a small model of letters.
    #[derive(Copy)]
    pub struct Config {
        live lr: f32 = 2e-3, [log(1e-5, 0.1), "Learning rate", "",
            "How far each step moves the weights at the most. Too small and nothing happens; too large and the loss explodes."];
        live min_lr: f32 = 2e-4, [linear(0.0, 0.1), "Least learning rate", "", "What the learning rate falls to in the end."];
        live warmup: usize = 100, [whole(0.0, 1e6), "Warm-up", "steps", "Steps in which the learning rate rises from nothing."];
        live decay_steps: usize = 4000, [count(1.0, 1e7), "Cosine decay", "steps",
            "The step at which the learning rate has fallen, along a cosine, to its least."];
        nest shape: Shape = Shape::default();
        fixed dropout: f32 = 0.0, [linear(0.0, 0.9), "Dropout", "",
            "Share of the numbers that is left out at random in training, against learning a small text by heart."];
        fixed batch: usize = 8, [count(1.0, 4096.0), "Batch: sequences a step", "sequences",
            "Pieces of text that each step learns from. More make steadier steps that take longer."];
        fixed micro: usize = 2, [count(1.0, 4096.0), "Micro-batch: sequences at once", "sequences",
            "Sequences whose gradients are computed at once and added up to the batch, which it must divide. Fewer take less memory. In \
             a small model up to four of them are trained on side by side. A GPU takes the whole batch at once where it has room for \
             it."];
        live steps: usize = 32, [count(1.0, 10_000.0), "Steps an iteration", "steps",
            "Steps of the optimiser before the run tells how it stands and takes up new knobs."];
        live weight_decay: f32 = 0.1, [linear(0.0, 1.0), "Weight decay", "",
            "How much each step shrinks the matrices, times the learning rate."];
        live beta1: f32 = 0.9, [linear(0.0, 0.999), "Adam β₁: momentum", "",
            "How slowly the optimiser forgets where gradients pointed."];
        live beta2: f32 = 0.99, [linear(0.5, 0.9999), "Adam β₂: memory of the squared gradient", "",
            "How slowly the optimiser forgets how large gradients were."];
        live clip: f32 = 1.0, [log(0.01, 1000.0), "Max gradient norm", "",
            "Longer gradients are shortened to this length, so that one odd batch cannot wreck the model."];
        /// Another machine rounds the factors of products to f16, or says that it cannot.
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

    /// Tokens of a step.
    pub fn step_tokens(&self) -> usize {
        self.batch * self.shape.context
    }

    /// After so many steps.
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

/// cos(πx) for 0 ≤ x ≤ 1, of operations that are rounded alike on every machine, which the library's are not.
fn cos_pi(x: f64) -> f64 {
    // About the middle, where it is an odd function, by Taylor: the last term is below 1e-11.
    let y = std::f64::consts::PI * (0.5 - x);
    let mut sum = 0.0;
    let mut term = y;
    for k in 1..=8 {
        sum += term;
        term *= -y * y / f64::from(2 * k * (2 * k + 1));
    }
    sum
}

/// Settings, a text or a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WordsError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error("a width of {width} cannot be shared by {heads} heads; choose a width that is a multiple of {each}")]
    Heads { width: usize, heads: usize, each: usize },
    #[error(
        "each of {heads} heads would be {} wide, and {most} is the most; choose {least} heads or more",
        width / heads
    )]
    WideHeads { width: usize, heads: usize, least: usize, most: usize },
    #[error(
        "a product of {rows} tokens at once would take seconds without a pause; choose a smaller micro, context, \
         vocabulary or width"
    )]
    Long { rows: usize },
    #[error("a batch of {batch} sequences is no multiple of micro = {micro}; choose a micro that divides it")]
    Micro { batch: usize, micro: usize },
    #[error("the model, its context, batch and dropout stay as they began; begin a new run for others")]
    Fixed,
    #[error(transparent)]
    Saved(#[from] SavedError),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_mlp_has_four_times_the_width_or_with_a_gate_the_multiple_of_32_above_eight_thirds() {
        for (width, gated) in [(4, 32), (12, 32), (64, 192), (120, 320), (384, 1024), (768, 2048), (4096, 10_944)] {
            assert_eq!(Shape { width, mlp: Mlp::Gelu, ..Shape::default() }.hidden(), 4 * width);
            assert_eq!(Shape { width, ..Shape::default() }.hidden(), gated, "{width}");
        }
    }

    #[test]
    fn the_cosine_is_the_library_s() {
        for i in 0..=1000 {
            let x = f64::from(i) / 1000.0;
            assert!((cos_pi(x) - (std::f64::consts::PI * x).cos()).abs() < 1e-10, "{x}");
        }
    }
}
