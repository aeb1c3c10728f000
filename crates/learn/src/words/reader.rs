//! Inference with fixed weights. A key-value cache ensures that each token of a text is processed only once. The results are bit-identical
//! to those of the training graph.

use super::config::{Mlp, Norm, Positions, Shape};
use super::model::{EPS, PLACES, TOKENS};
use graph::Params;
use math::gemm::{Epilogue, linear_rows, pack_rows, packed_rows_len};
use math::{Act, Isa, Unary, ops};

pub struct Reader {
    shape: Shape,
    isa: Isa,
    /// Token embeddings, `[vocab][width]`.
    tokens: Vec<f32>,
    /// Position embeddings, `[context][width]`; empty with rotary positions.
    places: Vec<f32>,
    layers: Vec<Layer>,
    norm: Scale,
    head: Product,
    /// Rotation table for [`ops::rotary`]; empty with learned positions.
    turns: Vec<f32>,
    /// Number of tokens in the cache.
    len: usize,
    /// Input of the output head for each token of the latest [`Reader::read`], `[tokens][width]`.
    x: Vec<f32>,
    /// Output of the latest [`Reader::logits`].
    logits: Vec<f32>,
    scratch: Scratch,
}

struct Layer {
    norms: [Scale; 2],
    qkv: Product,
    attended: Product,
    gate: Option<Product>,
    up: Product,
    down: Product,
    /// Queries of all tokens in the cache, `[context][width]`. `keys` and `values` have the same layout.
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
}

/// A linear layer, packed for [`linear_rows`].
struct Product {
    inp: usize,
    out: usize,
    packed: Vec<f32>,
    bias: Option<Vec<f32>>,
}

struct Scale {
    gamma: Vec<f32>,
    /// Offset after the scaling by `gamma`; `None` for RMS norm.
    beta: Option<Vec<f32>>,
}

#[derive(Default)]
struct Scratch {
    a: Vec<f32>,
    b: Vec<f32>,
    wide: Vec<f32>,
    gate: Vec<f32>,
}

impl Reader {
    /// Returns an estimate of the memory of a reader, in bytes.
    pub fn bytes(shape: &Shape) -> u64 {
        let [vocab, width, layers, context] = [shape.vocab, shape.width, shape.layers, shape.context].map(|n| n as u64);
        let rows = vocab + context;
        4 * (shape.products() + rows * width + context * width * (3 * layers + 8) + context * vocab)
    }

    /// Creates a reader with a copy of the parameters.
    pub fn new(shape: &Shape, params: &Params, isa: Isa) -> Reader {
        let &Shape { width, heads, context, .. } = shape;
        let vector = |name: &str| params.get(name).map(<[f32]>::to_vec);
        let product = |name: &str| {
            let at = params.table().index(&format!("{name}.weight")).expect("a declared matrix");
            let [out, inp] = params.table().specs()[at].shape;
            let mut packed = vec![0.0; packed_rows_len(out, inp)];
            pack_rows(isa, &params.values()[params.table().specs()[at].range()], out, inp, &mut packed);
            Product { inp, out, packed, bias: vector(&format!("{name}.bias")) }
        };
        let scale = |name: &str| {
            let beta = (shape.norm == Norm::Layer).then(|| vector(&format!("{name}.bias")).unwrap_or_else(|| vec![0.0; width]));
            Scale { gamma: vector(&format!("{name}.weight")).expect("a declared norm"), beta }
        };
        let layer = |i: usize| {
            let name = |part: &str| format!("transformer.h.{i}.{part}");
            Layer {
                norms: [scale(&name("ln_1")), scale(&name("ln_2"))],
                qkv: product(&name("attn.c_attn")),
                attended: product(&name("attn.c_proj")),
                gate: (shape.mlp == Mlp::SwiGlu).then(|| product(&name("mlp.c_gate"))),
                up: product(&name("mlp.c_fc")),
                down: product(&name("mlp.c_proj")),
                queries: vec![0.0; context * width],
                keys: vec![0.0; context * width],
                values: vec![0.0; context * width],
            }
        };
        let rotary = shape.positions == Positions::Rotary;
        Reader {
            tokens: vector(TOKENS).expect("a declared embedding"),
            places: vector(PLACES).unwrap_or_default(),
            layers: (0..shape.layers).map(layer).collect(),
            norm: scale("transformer.ln_f"),
            head: product(shape.head().trim_end_matches(".weight")),
            turns: if rotary { ops::rotary_table(context, width / heads) } else { Vec::new() },
            len: 0,
            x: Vec::new(),
            logits: Vec::new(),
            scratch: Scratch::default(),
            shape: *shape,
            isa,
        }
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Returns the number of tokens read since the cache was cleared.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Clears the cache to start another text.
    pub fn forget(&mut self) {
        self.len = 0;
    }

    /// Reads tokens that continue the text in the cache.
    ///
    /// # Panics
    /// If the text becomes longer than the context, or a token is not in the vocabulary.
    pub fn read(&mut self, tokens: &[u32]) {
        let Reader { shape, isa, layers, scratch, x, .. } = self;
        let (isa, width, rows, first) = (*isa, shape.width, tokens.len(), self.len);
        assert!(first + rows <= shape.context, "{} tokens in a context of {}", first + rows, shape.context);
        let size = rows * width;
        x.clear();
        for (i, &token) in tokens.iter().enumerate() {
            x.extend_from_slice(&self.tokens[token as usize * width..][..width]);
            if let Some(place) = self.places.get((first + i) * width..).filter(|place| !place.is_empty()) {
                ops::add_scaled(isa, 1.0, &place[..width], &mut x[i * width..]);
            }
        }
        let Scratch { a, b, wide, gate } = scratch;
        a.resize(size, 0.0);
        b.resize(size, 0.0);
        for layer in layers {
            layer.norms[0].apply(isa, x, a);
            wide.resize(3 * size, 0.0);
            layer.qkv.apply(isa, a, None, Act::None, wide);
            if !self.turns.is_empty() {
                let turned = [2 * width, 3 * width, width / shape.heads];
                ops::rotary(isa, turned, &self.turns, first, None, wide, false);
            }
            for (i, row) in wide.chunks_exact(3 * width).enumerate() {
                let at = (first + i) * width;
                for (to, from) in [&mut layer.queries, &mut layer.keys, &mut layer.values].into_iter().zip(row.chunks_exact(width)) {
                    to[at..at + width].copy_from_slice(from);
                }
                let (q, seen) = (&layer.queries[at..], at + width);
                let (k, v) = (&layer.keys[..seen], &layer.values[..seen]);
                ops::attend_one(isa, shape.heads, width, q, k, v, &mut a[i * width..][..width]);
            }
            layer.attended.apply(isa, a, Some(x), Act::None, b);
            std::mem::swap(x, b);
            layer.norms[1].apply(isa, x, a);
            wide.resize(rows * layer.up.out, 0.0);
            match &layer.gate {
                None => layer.up.apply(isa, a, None, Act::Gelu, wide),
                Some(product) => {
                    gate.resize(wide.len(), 0.0);
                    product.apply(isa, a, None, Act::None, gate);
                    ops::unary_in_place(isa, Unary::Silu, gate);
                    layer.up.apply(isa, a, None, Act::None, wide);
                    let full = math::Span::Full;
                    ops::binary_in_place(isa, math::Binary::Mul, 1, wide.len(), wide, (gate, full));
                }
            }
            layer.down.apply(isa, wide, Some(x), Act::None, b);
            std::mem::swap(x, b);
        }
        self.norm.apply(isa, x, a);
        std::mem::swap(x, a);
        self.len += rows;
    }

    /// For each of the last `last` tokens of the latest [`Reader::read`], returns the logits of the token that follows, `[last][vocab]`.
    pub fn logits(&mut self, last: usize) -> &mut [f32] {
        let Reader { shape, isa, head, x, logits, .. } = self;
        logits.resize(last * shape.vocab, 0.0);
        head.apply(*isa, &x[x.len() - last * shape.width..], None, Act::None, logits);
        logits
    }

    /// Returns the surprise (-ln p, in nats) of each token of `text` except the first. Clears the cache before reading.
    pub fn surprises(&mut self, text: &[u32]) -> Vec<f32> {
        self.forget();
        self.surprises_after(text)
    }

    /// Returns the surprises of [`Reader::surprises`], but keeps the cache: `text` continues the tokens that were read before. The last
    /// token of `text` is not read.
    pub fn surprises_after(&mut self, text: &[u32]) -> Vec<f32> {
        let next = text.get(1..).unwrap_or_default();
        if next.is_empty() {
            return Vec::new();
        }
        self.read(&text[..next.len()]);
        let (isa, vocab) = (self.isa, self.shape.vocab);
        let mut logs = vec![0.0; next.len() * vocab];
        ops::softmax(isa, next.len(), vocab, self.logits(next.len()), &mut logs, true);
        next.iter().zip(logs.chunks_exact(vocab)).map(|(&next, logs)| -logs[next as usize]).collect()
    }

    /// Returns the attention weights of one head of a layer, `[from][to]`, for all tokens in the cache. Token `from` attends to token `to`.
    pub fn attention(&self, layer: usize, head: usize) -> Vec<f32> {
        let (width, size) = (self.shape.width, self.shape.width / self.shape.heads);
        let (layer, scale) = (&self.layers[layer], 1.0 / (size as f32).sqrt());
        let mut weights = vec![0.0; self.len * self.len];
        for (from, weights) in weights.chunks_exact_mut(self.len.max(1)).enumerate() {
            let part = |rows: &[f32], row: usize| rows[row * width + head * size..][..size].to_vec();
            let query = part(&layer.queries, from);
            let score = |to| query.iter().zip(part(&layer.keys, to)).map(|(q, k)| q * k).sum::<f32>();
            let scores: Vec<f32> = (0..=from).map(|to| scale * score(to)).collect();
            ops::softmax(self.isa, 1, scores.len(), &scores, weights, false);
        }
        weights
    }
}

impl Product {
    fn apply(&self, isa: Isa, x: &[f32], residual: Option<&[f32]>, act: Act, y: &mut [f32]) {
        let tail = Epilogue { bias: self.bias.as_deref(), residual, act, ..Epilogue::default() };
        linear_rows(isa, x.len() / self.inp, self.out, self.inp, x, &self.packed, y, tail);
    }
}

impl Scale {
    fn apply(&self, isa: Isa, x: &[f32], y: &mut [f32]) {
        let (cols, rows) = (self.gamma.len(), x.len() / self.gamma.len());
        ops::norm(isa, rows, cols, x, &self.gamma, self.beta.as_deref(), EPS, y, &mut []);
    }
}
