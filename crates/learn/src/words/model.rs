//! Graph of the transformer. Each row of a node belongs to one token; the rows of a sequence are contiguous.

use super::config::{Config, Mlp, Norm, Positions, Shape};
use graph::{Graph, Init, Isa, NodeId, Plan, PlanError};
use math::Rng;

pub(super) const EPS: f32 = 1e-5;
pub(super) const TOKENS: &str = "transformer.wte.weight";
pub(super) const PLACES: &str = "transformer.wpe.weight";
/// First random stream for dropout; each dropout layer has its own stream.
const DROPPED: u32 = 0x4452_4f50;
const HEAD: &str = "lm_head.weight";

impl Shape {
    /// Returns a graph that declares only the parameters. Matrices, which are subject to weight decay, precede vectors.
    pub fn declared(&self) -> Graph {
        let &Shape { vocab, width, layers, context, bias, .. } = self;
        let hidden = self.hidden();
        let mut g = Graph::new();
        // A product with normalised rows initially has a standard deviation of about 1. Layers whose output is added to the residual stream
        // start with smaller weights, because the stream is the sum of many outputs.
        let spread = 1.0 / (width as f32).sqrt();
        let (plain, added) = (Init::Normal(spread), Init::Normal(spread / (2.0 * layers as f32).sqrt()));
        g.param(TOKENS, [vocab, width], plain);
        if self.positions == Positions::Learned {
            g.param(PLACES, [context, width], plain);
        }
        let gate = (self.mlp == Mlp::SwiGlu).then_some(("mlp.c_gate", hidden, width, plain));
        let products = [("attn.c_attn", 3 * width, width, plain), ("attn.c_proj", width, width, added)];
        let products: Vec<_> =
            products.into_iter().chain(gate).chain([("mlp.c_fc", hidden, width, plain), ("mlp.c_proj", width, hidden, added)]).collect();
        for layer in 0..layers {
            for &(name, out, inp, init) in &products {
                g.param(&format!("transformer.h.{layer}.{name}.weight"), [out, inp], init);
            }
        }
        if !self.tied {
            g.param(HEAD, [vocab, width], plain);
        }
        for layer in 0..layers {
            for norm in ["ln_1", "ln_2"] {
                self.declare_norm(&mut g, &format!("transformer.h.{layer}.{norm}"));
            }
            for &(name, out, ..) in products.iter().filter(|_| bias) {
                g.vector(&format!("transformer.h.{layer}.{name}.bias"), out, Init::Zeros);
            }
        }
        self.declare_norm(&mut g, "transformer.ln_f");
        g
    }

    fn declare_norm(&self, g: &mut Graph, name: &str) {
        g.vector(&format!("{name}.weight"), self.width, Init::Ones);
        if self.norm == Norm::Layer && self.bias {
            g.vector(&format!("{name}.bias"), self.width, Init::Zeros);
        }
    }

    /// Returns the name of the output head's matrix. With tied weights, the head uses the matrix of the token embeddings.
    pub(super) fn head(&self) -> &'static str {
        if self.tied { TOKENS } else { HEAD }
    }

    /// Adds all layers before the output head to `g`. The input is `tokens`, `[rows, 1]`, with one row per token. Returns the head's input,
    /// `[rows, width]`. `drop` is `None` without dropout.
    pub(super) fn body(&self, g: &mut Graph, tokens: NodeId, drop: Option<Drop>) -> NodeId {
        let &Shape { heads, context, .. } = self;
        let rows = g.shape(tokens)[0];
        let mut sites = 0..;
        let mut dropped = |g: &mut Graph, x| match (&drop, sites.next()) {
            (Some(drop), Some(site)) => g.dropout(x, drop.share, Rng::new(drop.seed, DROPPED + site), drop.step),
            _ => x,
        };
        let table = declared(g, TOKENS);
        let mut x = g.embedding_bag(table, tokens);
        if self.positions == Positions::Learned {
            let places: Vec<f32> = (0..rows).map(|row| (row % context) as f32).collect();
            let places = g.constant(&places, [rows, 1]);
            let table = declared(g, PLACES);
            let places = g.embedding_bag(table, places);
            x = g.add(x, places);
        }
        x = dropped(g, x);
        for layer in 0..self.layers {
            let name = |part: &str| format!("transformer.h.{layer}.{part}");
            let y = self.norm(g, x, &name("ln_1"));
            let qkv = self.linear(g, y, &name("attn.c_attn"));
            let y = g.causal_attention(qkv, heads, context, self.positions == Positions::Rotary);
            let y = self.linear(g, y, &name("attn.c_proj"));
            let y = dropped(g, y);
            x = g.add(y, x);
            let y = self.norm(g, x, &name("ln_2"));
            let up = self.linear(g, y, &name("mlp.c_fc"));
            let up = match self.mlp {
                Mlp::Gelu => g.gelu(up),
                Mlp::SwiGlu => {
                    let gate = self.linear(g, y, &name("mlp.c_gate"));
                    let gate = g.silu(gate);
                    g.mul(gate, up)
                }
            };
            let y = self.linear(g, up, &name("mlp.c_proj"));
            let y = dropped(g, y);
            x = g.add(y, x);
        }
        self.norm(g, x, "transformer.ln_f")
    }

    fn norm(&self, g: &mut Graph, x: NodeId, name: &str) -> NodeId {
        let gamma = declared(g, &format!("{name}.weight"));
        match self.norm {
            Norm::Rms => g.rms_norm(x, gamma, EPS),
            Norm::Layer => {
                let beta = match self.bias {
                    true => declared(g, &format!("{name}.bias")),
                    false => g.constant(&vec![0.0; self.width], [1, self.width]),
                };
                g.layer_norm(x, gamma, beta, EPS)
            }
        }
    }

    fn linear(&self, g: &mut Graph, x: NodeId, name: &str) -> NodeId {
        let w = declared(g, &format!("{name}.weight"));
        if !self.bias {
            return g.matmul(x, w, false, true);
        }
        let b = declared(g, &format!("{name}.bias"));
        g.linear(x, w, b)
    }
}

/// Returns the node of a declared parameter.
pub(super) fn declared(g: &mut Graph, name: &str) -> NodeId {
    let at = g.table().index(name).expect("every parameter is declared");
    let spec = g.table().specs()[at].clone();
    if spec.vector { g.vector(name, spec.shape[1], spec.init) } else { g.param(name, spec.shape, spec.init) }
}

pub(super) struct Drop {
    share: f32,
    seed: u32,
    step: NodeId,
}

/// Builds the training plan. A run of the plan processes `micro` sequences. `seed` determines the dropout masks. The input `corpus`,
/// `[1][tokens]`, contains the tokens as whole numbers. The input `starts`, `[micro]`, contains the index in `corpus` of each sequence's
/// first token. With dropout, the input `step` contains the number of the run, which selects the dropout masks. The output `loss` is the
/// contribution of the run to the mean loss of the batch, in nats per token. The gradients are those of `loss`.
pub fn plan_training(config: &Config, tokens: usize, seed: u32, isa: Isa) -> Result<Plan, PlanError> {
    let shape = &config.shape;
    let mut g = shape.declared();
    let corpus = g.input("corpus", [1, tokens]);
    let starts = g.input("starts", [config.micro, 1]);
    let share = config.dropout;
    let drop = (share > 0.0).then(|| Drop { share, seed, step: g.input("step", [1, 1]) });
    let [read, next] = [0, 1].map(|shift| g.windows(corpus, starts, shape.context, shift));
    let x = shape.body(&mut g, read, drop);
    let w = declared(&mut g, shape.head());
    let losses = g.head_loss(x, w, next);
    let mean = g.mean_all(losses);
    let loss = g.affine(mean, config.micro as f32 / config.batch as f32, 0.0);
    let gradients = g.gradients(loss);
    Ok(Plan::training(&g, &[("loss", loss)], &gradients, isa)?.with_half(config.half))
}
