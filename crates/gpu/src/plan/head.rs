//! Output head of a language model and its loss, computed for one tile of rows at a time. Only the logits of one tile are stored. A matrix
//! product computes the logits. Another kernel computes the loss and overwrites the logits with their slopes (derivatives of the loss).

use super::by_row::rows;
use crate::product::{Product, Side, products};
use crate::program::{Program, Space};

/// Approximate maximum number of logits in a tile. This number of f32 takes 32 MiB, and is enough work for a large GPU.
const TILE: usize = 1 << 23;
/// The number of rows of a tile is a multiple of this number. The last tile is an exception.
const UNIT: usize = 64;

/// Head with its loss. The head reads x, w, target and, if `upstream` is true, dy. It writes the logits of a tile. It also writes each of
/// loss, dx and dw whose flag is true.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    pub rows: usize,
    pub vocab: usize,
    pub inp: usize,
    /// Factor of the logits' gradient. If `upstream` is true, this gradient is also multiplied by dy.
    pub scale: f32,
    /// True if each row has its own upstream gradient dy.
    pub upstream: bool,
    pub loss: bool,
    pub dx: bool,
    pub dw: bool,
    /// True if the factors of products are rounded to f16.
    pub half: bool,
}

impl Head {
    /// Returns the number of rows of a tile.
    pub fn height(&self) -> usize {
        let most = (TILE / self.vocab).max(UNIT);
        self.rows.div_ceil(self.rows.div_ceil(most)).next_multiple_of(UNIT).min(self.rows)
    }

    /// Returns the power of two by which gradients are multiplied before they are rounded to f16, at least 1. The range of f16 is 2^-24 to
    /// 65,504. A logit's gradient is at most `scale` (for a mean, 1 over the number of tokens). The power maps a `scale` below 256 to the
    /// range 128 to 256. Gradients may therefore be 255 times larger than `scale`, and gradients above a two-millionth of `scale` have the
    /// full precision of f16.
    pub fn lift(&self) -> f32 {
        const MOST: f32 = 256.0;
        let lift = (MOST / self.scale.abs()).clamp(1.0, 1e18);
        f32::from_bits(lift.to_bits() & f32::INFINITY.to_bits())
    }

    /// Appends the kernels of the head. `reads` and `writes` are offsets in `mem`. With `adds`, dw is added to the contents.
    pub fn emit(&self, reads: &[u32], writes: &[u32], adds: bool, space: &mut Space, program: &mut Program) {
        let &Head { vocab, inp, .. } = self;
        let mut rest = writes[1..].iter().copied();
        let [loss, dx, dw] = [self.loss, self.dx, self.dw].map(|is| if is { rest.next() } else { None });
        let (x, w, logits, height) = (reads[0], reads[1], writes[0], self.height());
        let lifts = [1.0, self.lift()];
        let product = |shape: [usize; 3], a: Side, b: Side, c: u32, adds: bool| {
            let half = self.half.then_some([lifts[usize::from(a.at == logits)], 1.0]);
            [Product { adds, half, ..Product::new(shape, a, b, c) }]
        };
        for first in (0..self.rows).step_by(height) {
            let count = height.min(self.rows - first);
            let below = |at: u32, width: usize| at + (first * width) as u32;
            let x = below(x, inp);
            let said = product([count, vocab, inp], Side::new(x, inp, 1), Side::new(w, inp, 1), logits, false);
            products(program, space, &said);
            let at = [Some(reads[2]), loss, reads.get(3).copied()].map(|at| at.map(|at| below(at, 1)));
            self.cross_entropy(count, logits, at, program);
            if let Some(dx) = dx {
                let slopes = Side::new(logits, vocab, 1);
                let dx = product([count, inp, vocab], slopes, Side::new(w, 1, inp), below(dx, inp), false);
                products(program, space, &dx);
            }
            if let Some(dw) = dw {
                let slopes = Side::new(logits, 1, vocab);
                let dw = product([vocab, inp, count], slopes, Side::new(x, 1, inp), dw, adds || first > 0);
                products(program, space, &dw);
            }
        }
    }

    fn cross_entropy(&self, count: usize, logits: u32, [named, loss, upstream]: [Option<u32>; 3], program: &mut Program) {
        let mut names = vec!["logits", "scale"];
        let mut at = vec![logits, self.scale.to_bits()];
        for (name, place) in [("named", named), ("loss", loss), ("upstream", upstream)] {
            if let Some(place) = place {
                names.push(name);
                at.push(place);
            }
        }
        let mut text = String::from(SOFTMAX);
        if loss.is_some() {
            text += LOSS;
        }
        if self.dx || self.dw {
            let upstream = if upstream.is_some() { " * mem[args.upstream + row]" } else { "" };
            text += &SLOPES.replace("UPSTREAM", upstream);
        }
        rows(program, "cross-entropy", [count, self.vocab], &names, &at, &text);
    }
}

/// Text of the softmax of a row. The thread whose columns include the target keeps the target's logit in `said`.
const SOFTMAX: &str = "\
    let named = u32(clamp(mem[args.named + row], 0.0, f32(COLS - 1u)));
    var top = mem[args.logits + first + min(lane, COLS - 1u)];
    var said = 0.0;
    for (var i = lane; i < COLS; i += LANES) {
        let x = mem[args.logits + first + i];
        top = max(top, x);
        if (i == named) { said = x; }
    }
    top = top_of(top, local);
    var sum = 0.0;
    for (var i = lane; i < COLS; i += LANES) { sum += exp(mem[args.logits + first + i] - top); }
    sum = sum_of(sum, local);
";

const LOSS: &str = "\
    if (mine && named % LANES == lane) { mem[args.loss + row] = log(sum) + (top - said); }
";

const SLOPES: &str = "\
    if (mine) {
        let whole = bitcast<f32>(args.scale)UPSTREAM;
        let share = whole / sum;
        for (var i = lane; i < COLS; i += LANES) {
            let slope = exp(mem[args.logits + first + i] - top) * share;
            mem[args.logits + first + i] = select(slope, slope - whole, i == named);
        }
    }
";
