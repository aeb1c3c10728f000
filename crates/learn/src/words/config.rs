//! The settings of a transformer and of its training.

use crate::state::Unusable;
use graph::{Adam, PlanError};
use math::ops::HEAD;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Ba et al. 2016
    Layer,
    /// Zhang and Sennrich 2019
    Rms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// A row for each is added to the embeddings.
    Learned,
    /// Queries and keys are turned by them (Su et al. 2021).
    Rotary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mlp {
    Gelu,
    /// A gate beside it, silu(gate)·up (Shazeer 2020).
    SwiGlu,
}

/// What the parameters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub vocab: usize,
    pub width: usize,
    pub layers: usize,
    pub heads: usize,
    /// Tokens that it sees at once.
    pub context: usize,
    pub norm: Norm,
    pub positions: Positions,
    pub mlp: Mlp,
    /// The head's weights are those of the embedding.
    pub tied: bool,
    /// Linear layers and layer norms have biases.
    pub bias: bool,
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
        let [width, hidden, layers, vocab] =
            [self.width, self.hidden(), self.layers, self.vocab].map(|n| n as u64);
        layers * (4 * width * width + matrices * width * hidden) + vocab * width
    }

    /// Operations that a token takes in training, forward and backward: of products, and of attention to the half of the context
    /// that it sees in the mean.
    pub fn flops_per_token(&self) -> f64 {
        let attention = 2 * self.layers * self.width * self.context.div_ceil(2);
        6.0 * (self.products() + attention as u64) as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    pub shape: Shape,
    /// Share of the numbers that are left out: of embeddings, and of what attention and MLPs add.
    pub dropout: f32,
    /// Sequences of a step.
    pub batch: usize,
    /// Sequences whose gradients are computed at once; those of a batch are added up.
    pub micro: usize,
    /// Steps of an iteration.
    pub steps: usize,
    /// Another machine rounds the factors of products to f16, or says that it cannot.
    pub half: bool,
    pub lr: f32,
    /// What it falls to, along a cosine that ends after so many steps; the first ones warm up.
    pub min_lr: f32,
    pub warmup: usize,
    pub decay_steps: usize,
    /// Of matrices alone.
    pub weight_decay: f32,
    pub beta1: f32,
    pub beta2: f32,
    /// Length of a gradient above which it is scaled down to it.
    pub clip: f32,
}

impl Config {
    /// Settings, and bounds of each.
    pub fn check(&self) -> Result<(), WordsError> {
        let Config { shape, .. } = self;
        for (name, value, min, max) in [
            ("the vocabulary", shape.vocab as f64, 2.0, 1_048_576.0),
            ("width", shape.width as f64, 4.0, 4096.0),
            ("layers", shape.layers as f64, 1.0, 64.0),
            ("heads", shape.heads as f64, 1.0, 64.0),
            ("context", shape.context as f64, 2.0, 4096.0),
            ("dropout", self.dropout.into(), 0.0, 0.9),
            ("batch", self.batch as f64, 1.0, 65_536.0),
            ("micro", self.micro as f64, 1.0, self.batch as f64),
            ("steps", self.steps as f64, 1.0, 100_000.0),
            ("lr", self.lr.into(), 0.0, 1.0),
            ("min_lr", self.min_lr.into(), 0.0, 1.0),
            ("weight_decay", self.weight_decay.into(), 0.0, 10.0),
            ("beta1", self.beta1.into(), 0.0, 0.9999),
            ("beta2", self.beta2.into(), 0.0, 0.99999),
            ("clip", self.clip.into(), 0.0, 1e6),
        ] {
            // Written so that NaN is out of range.
            if !(value >= min && value <= max) {
                return Err(WordsError::Range { name, value, min, max });
            }
        }
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

    /// Whether a learner with these settings can go on with others.
    pub fn can_become(&self, other: &Config) -> bool {
        let &Config { steps, lr, min_lr, warmup, decay_steps, weight_decay, beta1, beta2, clip, .. } = other;
        *other == Config { steps, lr, min_lr, warmup, decay_steps, weight_decay, beta1, beta2, clip, ..*self }
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
    #[error("{name} is {value}, but must lie between {min} and {max}; choose a value in that range")]
    Range { name: &'static str, value: f64, min: f64, max: f64 },
    #[error(
        "a width of {width} cannot be shared by {heads} heads; choose a width that is a multiple of {each}"
    )]
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
    #[error(
        "the checkpoint has no {name} of the right kind and shape; load one saved with the same model and text"
    )]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl From<Unusable> for WordsError {
    fn from(part: Unusable) -> WordsError {
        match part {
            Unusable::Missing { name } => WordsError::Missing { name },
            Unusable::BadValue { name } => WordsError::BadValue { name },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        vocab: 65,
        width: 64,
        layers: 2,
        heads: 4,
        context: 32,
        norm: Norm::Layer,
        positions: Positions::Learned,
        mlp: Mlp::Gelu,
        tied: true,
        bias: true,
    };

    #[test]
    fn an_mlp_has_four_times_the_width_or_with_a_gate_the_multiple_of_32_above_eight_thirds() {
        for (width, gated) in
            [(4, 32), (12, 32), (64, 192), (120, 320), (384, 1024), (768, 2048), (4096, 10_944)]
        {
            assert_eq!(Shape { width, ..SHAPE }.hidden(), 4 * width);
            assert_eq!(Shape { width, mlp: Mlp::SwiGlu, ..SHAPE }.hidden(), gated, "{width}");
        }
    }

    #[test]
    fn rates_and_shares_may_lie_at_their_bounds_and_not_beyond() {
        let config = Config {
            shape: SHAPE,
            dropout: 0.0,
            batch: 4,
            micro: 2,
            steps: 10,
            half: false,
            lr: 1e-3,
            min_lr: 1e-4,
            warmup: 10,
            decay_steps: 100,
            weight_decay: 0.1,
            beta1: 0.9,
            beta2: 0.99,
            clip: 1.0,
        };
        type Set = fn(&mut Config, f32);
        let set: [(&str, Set, f32, f32); 7] = [
            ("dropout", |config, value| config.dropout = value, 0.9, 0.95),
            ("lr", |config, value| config.lr = value, 1.0, 1.01),
            ("min_lr", |config, value| config.min_lr = value, 1.0, 1.01),
            ("weight_decay", |config, value| config.weight_decay = value, 10.0, 10.1),
            ("beta1", |config, value| config.beta1 = value, 0.9998, 1.0),
            ("beta2", |config, value| config.beta2 = value, 0.99998, 1.0),
            ("clip", |config, value| config.clip = value, 1e6, 1.1e6),
        ];
        for (field, set, most, beyond) in set {
            let check = |value: f32| {
                let mut config = config;
                set(&mut config, value);
                config.check()
            };
            assert!(check(0.0).is_ok() && check(most).is_ok(), "{field}");
            for value in [beyond, -0.01, f32::NAN] {
                let refused = check(value).err();
                assert!(
                    matches!(refused, Some(WordsError::Range { name, .. }) if name == field),
                    "{field} of {value}"
                );
            }
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
