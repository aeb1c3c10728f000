//! Runs the instructions of a program, each over all lanes of a block.

use super::super::fold;
use super::super::program::{BLOCK, Code, Instruction, NONE, Op, Program};
use super::faults::{Faults, Operands, find};
use math::{PANEL, Simd, Unfused, poly, rng};

/// A program that runs over a block.
pub struct Run<'a> {
    pub program: &'a Program,
    pub code: &'a Code,
    /// Rows that all blocks share, then the states of all blocks.
    pub rows: &'a mut [[u32; BLOCK]],
    /// Number of rows from the first block's state to this block's state. [`Run::row`] adds this number to each row of the state.
    pub shift: usize,
    /// Key of the random numbers.
    pub key: [u32; 4],
    /// Number of panels of the block that are in use. The instructions compute only the lanes of these panels.
    pub panels: usize,
    pub faults: &'a mut Faults,
    /// Shapes that lane 0 has drawn, each with the bits of its rows; `None` if the program is not `draw`.
    pub drawn: Option<&'a mut Vec<(u32, Vec<u32>)>>,
    /// Place at which the program begins, and at which an interrupted program continues.
    pub place: Place,
    /// Work that is left before the program is interrupted; see [`Vector::step_part`](crate::control::Vector::step_part).
    pub work: &'a mut u64,
}

/// Place between two instructions of a program. The rows contain everything else that the rest of the program needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Index of the next instruction.
    at: usize,
    /// Number of the random block in the rows [`WORDS`](super::super::program::WORDS); [`NONE`] before the first random word.
    block: u32,
}

impl Place {
    pub const START: Place = Place { at: 0, block: NONE };
}

/// Runs `$body` for each vector of a row. `$l` is the vector's first lane.
macro_rules! vectors {
    ($run:ident, $S:ident, $l:ident, $body:expr) => {
        for panel in 0..$run.panels.min(BLOCK / PANEL) {
            let mut vector = 0;
            while vector < PANEL {
                let $l = panel * PANEL + vector;
                $body;
                vector += $S::LANES;
            }
        }
    };
}

/// Computes a row from one, two or three rows.
macro_rules! map {
    ($run:ident, $i:ident, $s:ident: $S:ident, $d:ident, |$($x:ident = $field:ident),+| $body:expr) => {{
        let rows = &mut *$run.rows;
        let d = $d;
        assert!(d < rows.len() $(&& $field < rows.len())+);
        vectors!($run, $S, l, {
            $(let $x = $s.load_u(&rows[$field][l..]);)+
            let y = $body;
            $s.store_u(y, &mut rows[d][l..]);
        });
    }};
}

/// [`map`] with floats as operands and result.
macro_rules! floats {
    ($run:ident, $i:ident, $s:ident: $S:ident, $d:ident, |$($x:ident = $field:ident),+| $body:expr) => {
        map!($run, $i, $s: $S, $d, |$($x = $field),+| {
            $(let $x = $s.f32_from_bits($x);)+
            $s.to_bits($body)
        })
    };
}

/// [`map`] with a check. The second result of `$body` is not 0 in lanes that may have failed.
macro_rules! checked {
    ($run:ident, $at:ident, $i:ident, $s:ident: $S:ident, $d:ident, |$($x:ident = $field:ident),+| $body:expr) => {{
        let mut wrong = $s.splat_u(0);
        map!($run, $i, $s: $S, $d, |$($x = $field),+| {
            let (y, bad) = $body;
            wrong = $s.or_u(wrong, bad);
            y
        });
        if $s.mask_bits($s.eq_u(wrong, $s.splat_u(0))) != (1 << $S::LANES) - 1 {
            $run.find($at, $i);
        }
    }};
}

#[inline(always)]
fn truth<S: Simd>(s: S, mask: S::M) -> S::U {
    s.select_u(mask, s.splat_u(u32::MAX), s.splat_u(0))
}

/// Returns 1 in lanes in which the sum overflows, otherwise 0.
#[inline(always)]
fn overflow<S: Simd>(s: S, a: S::U, b: S::U, sum: S::U) -> S::U {
    s.shr_u(s.and_u(s.xor_u(a, sum), s.xor_u(b, sum)), 31)
}

/// Converts a float to an integer, rounded towards 0. The second result is not 0 in lanes in which the value does not fit.
#[inline(always)]
fn integer<S: Simd>(s: S, x: S::F) -> (S::U, S::U) {
    let fits = s.and_mask(s.ge(x, s.splat(-2_147_483_648.0)), s.lt(x, s.splat(2_147_483_648.0)));
    (s.i32_from_f32(s.select(fits, x, s.splat(0.0))), truth(s, s.not_mask(fits)))
}

#[inline(always)]
fn floor<S: Simd>(s: S, x: S::F) -> S::F {
    let near = s.round(x);
    s.sub(near, s.select(s.gt(near, x), s.splat(1.0), s.splat(0.0)))
}

#[inline(always)]
fn is_infinite<S: Simd>(s: S, x: S::F) -> S::U {
    truth(s, s.not_mask(s.lt(s.abs(x), s.splat(f32::INFINITY))))
}

impl Run<'_> {
    /// Returns the number of lanes in use.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        PANEL * self.panels.min(BLOCK / PANEL)
    }

    /// Reports the lanes in which an instruction fails.
    #[cold]
    #[inline(never)]
    fn find(&mut self, at: usize, i: &Instruction) {
        let [a, b, mask] = [i.a, i.b, i.mask].map(|row| if row == NONE { 0 } else { self.row(row) });
        let mask = (i.mask != NONE).then(|| &self.rows[mask]);
        let lanes = self.lanes();
        find(self.faults, at, i, lanes, &Operands { a: &self.rows[a], b: &self.rows[b], mask });
    }

    /// Returns true if no lane is in a mask.
    #[inline(always)]
    fn is_empty<S: Simd>(&self, s: S, mask: u32) -> bool {
        let run = self;
        let (row, mut any) = (&run.rows[run.row(mask)], s.splat_u(0));
        vectors!(run, S, l, any = s.or_u(any, s.load_u(&row[l..])));
        s.mask_bits(s.eq_u(any, s.splat_u(0))) == (1 << S::LANES) - 1
    }

    #[cold]
    fn shape(&mut self, i: &Instruction) {
        let shape = &self.code.shapes[i.n as usize];
        let read = |row: u32| self.rows[self.row(row)][0];
        if i.mask == NONE || read(i.mask) != 0 {
            let count = shape.numbers + usize::from(shape.what.is_some()) + 1;
            let numbers = (0..count as u32).map(|k| read(i.b + k)).collect();
            if let Some(drawn) = &mut self.drawn {
                drawn.push((i.n, numbers));
            }
        }
    }

    /// Runs an integer operation for which there is no vector instruction.
    #[inline(always)]
    fn each(&mut self, at: usize, i: &Instruction, [d, a, b]: [usize; 3]) {
        let mut wrong = false;
        for l in 0..self.lanes() {
            let result = fold::integer(i.op, self.rows[a][l] as i32, self.rows[b][l] as i32);
            wrong |= result.is_none();
            self.rows[d][l] = result.unwrap_or_default() as u32;
        }
        if wrong {
            self.find(at, i);
        }
    }

    #[inline(always)]
    fn floor_division(&mut self, at: usize, i: &Instruction, [d, a, b]: [usize; 3]) {
        let mut wrong = false;
        for l in 0..self.lanes() {
            let [x, y] = [a, b].map(|row| f32::from_bits(self.rows[row][l]));
            wrong |= y == 0.0;
            let pair = fold::floor_division(x, y);
            self.rows[d][l] = pair[usize::from(i.op == Op::ModF)].to_bits();
        }
        if wrong {
            self.find(at, i);
        }
    }

    #[inline(always)]
    fn below(&mut self, at: usize, i: &Instruction, [d, a, b, c]: [usize; 4]) {
        for l in 0..self.lanes() {
            let [word, low, high] = [a, b, c].map(|row| self.rows[row][l]);
            if low as i32 >= high as i32 && (i.mask == NONE || self.rows[self.row(i.mask)][l] != 0) {
                self.faults.report(l, at, low);
            }
            self.rows[d][l] = fold::below(word, low, high);
        }
    }

    /// Subtracts the work of `instructions` instructions from the work that is left.
    #[inline(always)]
    fn spend(&mut self, instructions: usize) {
        *self.work = self.work.saturating_sub((instructions * self.panels) as u64);
    }

    /// Runs the program from its place on. Returns true at its end. Returns false if no work is left before a further pass of a loop.
    #[inline(always)]
    pub fn exec<S: Simd>(&mut self, s: S) -> bool {
        let run = self;
        let Place { mut at, mut block } = run.place;
        let program = run.program;
        while let Some(i) = program.code.get(at) {
            let [d, a, b, c] = [i.d, i.a, i.b, i.c].map(|row| run.row(row));
            match i.op {
                Op::Nothing => {}
                // All jumps without a condition lead back to the beginning of a loop.
                Op::Jump => {
                    run.spend(at.saturating_sub(i.n as usize));
                    at = i.n as usize;
                    if *run.work == 0 {
                        run.place = Place { at, block };
                        return false;
                    }
                    continue;
                }
                Op::JumpNone => {
                    if run.is_empty(s, i.a) {
                        at = i.n as usize;
                        continue;
                    }
                }
                Op::Word => run.word(s, i, &mut block),
                Op::Index => run.index(at, i),
                Op::Gather => run.gather(at, i),
                Op::Table => run.table(at, i),
                Op::Scatter => run.scatter(at, i),
                Op::Store => run.store(s, a, d, i.mask),
                Op::Fill => (0..i.n as usize).for_each(|k| run.store(s, a, d + k, i.mask)),
                Op::Rows => (0..i.n as usize).for_each(|k| run.store(s, b + k, d + k, i.mask)),
                Op::Pass => run.pass(at, i),
                Op::Shape => run.shape(i),
                Op::DivI | Op::ModI => run.each(at, i, [d, a, b]),
                Op::FloorDivF | Op::ModF => run.floor_division(at, i, [d, a, b]),
                Op::Below => run.below(at, i, [d, a, b, c]),
                _ => run.arithmetic(s, at, i, [d, a, b, c]),
            }
            at += 1;
        }
        run.spend(program.code.len());
        true
    }

    /// Runs an operation on whole vectors.
    #[inline(always)]
    fn arithmetic<S: Simd>(&mut self, s: S, at: usize, i: &Instruction, [d, a, b, c]: [usize; 4]) {
        let run = self;
        let u = Unfused(s);
        let sign = s.splat_u(1 << 31);
        match i.op {
            Op::Move => map!(run, i, s: S, d, |x = a| x),
            Op::Select => map!(run, i, s: S, d, |m = a, x = b, y = c| s.xor_u(y, s.and_u(s.xor_u(x, y), m))),
            Op::And => map!(run, i, s: S, d, |x = a, y = b| s.and_u(x, y)),
            Op::Or => map!(run, i, s: S, d, |x = a, y = b| s.or_u(x, y)),
            Op::AndNot => map!(run, i, s: S, d, |x = a, y = b| s.and_u(x, s.xor_u(y, s.splat_u(u32::MAX)))),
            Op::Not => map!(run, i, s: S, d, |x = a| s.xor_u(x, s.splat_u(u32::MAX))),
            Op::AddU => map!(run, i, s: S, d, |x = a, y = b| s.add_u(x, y)),
            Op::MulU => map!(run, i, s: S, d, |x = a, y = b| s.mul_u(x, y)),
            Op::AddI => checked!(run, at, i, s: S, d, |x = a, y = b| {
                let sum = s.add_u(x, y);
                (sum, overflow(s, x, y, sum))
            }),
            Op::SubI => checked!(run, at, i, s: S, d, |x = a, y = b| {
                let rest = s.sub_u(x, y);
                (rest, overflow(s, x, s.xor_u(y, s.splat_u(u32::MAX)), rest))
            }),
            Op::MulI => checked!(run, at, i, s: S, d, |x = a, y = b| {
                // Near 2³¹, the product of the rounded floats differs from the exact product by less than 1000. The check therefore finds
                // every overflow.
                let product = s.abs(s.mul(s.f32_from_i32(x), s.f32_from_i32(y)));
                (s.mul_u(x, y), truth(s, s.ge(product, s.splat(2_147_480_000.0))))
            }),
            Op::AbsI => checked!(run, at, i, s: S, d, |x = a| {
                (s.select_u(s.lt_i(x, s.splat_u(0)), s.sub_u(s.splat_u(0), x), x), truth(s, s.eq_u(x, sign)))
            }),
            Op::MinI => map!(run, i, s: S, d, |x = a, y = b| s.select_u(s.lt_i(y, x), y, x)),
            Op::MaxI => map!(run, i, s: S, d, |x = a, y = b| s.select_u(s.lt_i(x, y), y, x)),
            Op::LtI => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.lt_i(x, y))),
            Op::LtU => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.lt_i(s.xor_u(x, sign), s.xor_u(y, sign)))),
            Op::LeI => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.not_mask(s.lt_i(y, x)))),
            Op::EqI => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.eq_u(x, y))),
            Op::NeI => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.not_mask(s.eq_u(x, y)))),
            Op::AddF => floats!(run, i, s: S, d, |x = a, y = b| s.add(x, y)),
            Op::SubF => floats!(run, i, s: S, d, |x = a, y = b| s.sub(x, y)),
            Op::MulF => floats!(run, i, s: S, d, |x = a, y = b| s.mul(x, y)),
            Op::DivF => checked!(run, at, i, s: S, d, |x = a, y = b| {
                let (x, y) = (s.f32_from_bits(x), s.f32_from_bits(y));
                (s.to_bits(s.div(x, y)), truth(s, s.eq(y, s.splat(0.0))))
            }),
            Op::AbsF => floats!(run, i, s: S, d, |x = a| s.abs(x)),
            Op::NegF => floats!(run, i, s: S, d, |x = a| s.neg(x)),
            Op::MinF => floats!(run, i, s: S, d, |x = a, y = b| s.min(y, x)),
            Op::MaxF => floats!(run, i, s: S, d, |x = a, y = b| s.max(y, x)),
            Op::LtF => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.lt(s.f32_from_bits(x), s.f32_from_bits(y)))),
            Op::LeF => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.le(s.f32_from_bits(x), s.f32_from_bits(y)))),
            Op::EqF => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.eq(s.f32_from_bits(x), s.f32_from_bits(y)))),
            Op::NeF => map!(run, i, s: S, d, |x = a, y = b| truth(s, s.not_mask(s.eq(s.f32_from_bits(x), s.f32_from_bits(y))))),
            Op::MulAdd => floats!(run, i, s: S, d, |x = a, y = b, z = c| s.add(s.mul(x, y), z)),
            Op::MulSub => floats!(run, i, s: S, d, |x = a, y = b, z = c| s.sub(s.mul(x, y), z)),
            Op::SubMul => floats!(run, i, s: S, d, |x = a, y = b, z = c| s.sub(z, s.mul(x, y))),
            Op::BoolToI => map!(run, i, s: S, d, |x = a| s.and_u(x, s.splat_u(1))),
            Op::BoolToF => map!(run, i, s: S, d, |x = a| s.and_u(x, s.to_bits(s.splat(1.0)))),
            Op::IToF => map!(run, i, s: S, d, |x = a| s.to_bits(s.f32_from_i32(x))),
            Op::IToBool => map!(run, i, s: S, d, |x = a| truth(s, s.not_mask(s.eq_u(x, s.splat_u(0))))),
            Op::FToBool => map!(run, i, s: S, d, |x = a| truth(s, s.not_mask(s.eq(s.f32_from_bits(x), s.splat(0.0))))),
            Op::Floor => checked!(run, at, i, s: S, d, |x = a| integer(s, floor(s, s.f32_from_bits(x)))),
            Op::Ceil => checked!(run, at, i, s: S, d, |x = a| integer(s, s.neg(floor(s, s.neg(s.f32_from_bits(x)))))),
            Op::Round => checked!(run, at, i, s: S, d, |x = a| integer(s, s.round(s.f32_from_bits(x)))),
            Op::Truncate => checked!(run, at, i, s: S, d, |x = a| integer(s, s.f32_from_bits(x))),
            Op::Unit => floats!(run, i, s: S, d, |x = a| rng::uniform(s, s.to_bits(x))),
            Op::Sqrt => checked!(run, at, i, s: S, d, |x = a| {
                let x = s.f32_from_bits(x);
                (s.to_bits(s.sqrt(x)), truth(s, s.lt(x, s.splat(0.0))))
            }),
            Op::Exp => checked!(run, at, i, s: S, d, |x = a| {
                let y = poly::exp(u, s.f32_from_bits(x));
                (s.to_bits(y), is_infinite(s, y))
            }),
            Op::Log => checked!(run, at, i, s: S, d, |x = a| {
                let x = s.f32_from_bits(x);
                (s.to_bits(poly::ln(u, x)), truth(s, s.le(x, s.splat(0.0))))
            }),
            Op::Power => checked!(run, at, i, s: S, d, |x = a, y = b| {
                let (x, y) = (s.f32_from_bits(x), s.f32_from_bits(y));
                let z = poly::exp(u, s.mul(y, poly::ln(u, x)));
                (s.to_bits(z), s.or_u(is_infinite(s, z), truth(s, s.not_mask(s.gt(x, s.splat(0.0))))))
            }),
            Op::Sin => floats!(run, i, s: S, d, |x = a| poly::sin_cos(u, x).0),
            Op::Cos => floats!(run, i, s: S, d, |x = a| poly::sin_cos(u, x).1),
            Op::SinCos => vectors!(run, S, l, {
                let (sin, cos) = poly::sin_cos(u, s.f32_from_bits(s.load_u(&run.rows[a][l..])));
                s.store_u(s.to_bits(sin), &mut run.rows[d][l..]);
                s.store_u(s.to_bits(cos), &mut run.rows[c][l..]);
            }),
            Op::Tan => floats!(run, i, s: S, d, |x = a| poly::tan(u, x)),
            Op::Tanh => floats!(run, i, s: S, d, |x = a| poly::tanh(u, x)),
            Op::Atan2 => floats!(run, i, s: S, d, |x = a, y = b| poly::atan2(u, x, y)),
            Op::Finite => {
                let (row, mut wrong) = (&run.rows[a], s.splat_u(0));
                vectors!(run, S, l, {
                    let x = s.f32_from_bits(s.load_u(&row[l..]));
                    wrong = s.or_u(wrong, is_infinite(s, x));
                });
                if s.mask_bits(s.eq_u(wrong, s.splat_u(0))) != (1 << S::LANES) - 1 {
                    run.find(at, i);
                }
            }
            Op::Permits => {
                let (row, mut all) = (&run.rows[a], s.splat_u(u32::MAX));
                vectors!(run, S, l, all = s.and_u(all, s.load_u(&row[l..])));
                if s.mask_bits(s.eq_u(all, s.splat_u(0))) != 0 {
                    run.find(at, i);
                }
            }
            _ => debug_assert!(false, "{:?} has its own method", i.op),
        }
    }
}
