//! Layers of soft logic gates. A gate is f(a, b) = c0 + c1 a + c2 b + c3 ab; every mixture of the 16 operations of two bits has this form.
//! The four coefficients of a gate are computed from the gate's parameters, once per training step. A slope is the derivative of the loss
//! with respect to a value.
//!
//! Activations are `[feature][width]`. The layers process a block of [`CELLS`] cells at a time. A feature has one value for each cell of
//! the block, in one channel or in two, so the width is 32 or 64.

use crate::isa::{Isa, Simd, kernel};
use crate::poly;
use std::ops::Range;

/// Number of cells in a block.
pub const CELLS: usize = 32;
/// Number of partial sums per gate in [`backward`]: four for the slope of each of the four coefficients. [`slopes`] adds up the four
/// partial sums of a slope.
pub const SUMS: usize = 16;
/// Number of additional floats at the ends of x and y, which [`gather`] may read or overwrite.
pub const SLACK: usize = 16;

/// Gates of a layer, ordered in walks. A walk is a sequence of gates that are evaluated together. An input that consecutive gates read
/// stays in a register, and so does the sum of the input's slopes.
#[derive(Clone, Debug)]
pub struct Layer {
    width: usize,
    inputs: usize,
    walks: Vec<Walk>,
    gates: Vec<Gate>,
    /// The same gates with offsets in the memory that all layers of a network share (see [`Rows`]). Empty until [`Layer::move_in`] is
    /// called.
    moved: Vec<Gate>,
    /// Required length of the shared memory in floats.
    moved_len: usize,
    /// Offsets in floats of the inputs that no gate reads.
    unread: Vec<u32>,
    /// Index of each gate of `gates` in the lists that [`Layer::new`] received.
    order: Vec<u32>,
}

/// A walk: consecutive gates of a layer that are evaluated together.
#[derive(Clone, Debug)]
struct Walk {
    kind: u8,
    /// `stale[0]` is true if the slope of the first gate's input a was written before this walk. `stale[1]` is true if the slope of every
    /// gate's input b was written before its gate, and false if none of these slopes was written. The walk adds to a slope that was
    /// written, and overwrites any other slope.
    stale: [bool; 2],
    gates: Range<usize>,
}

/// Kind of a walk in which input b of each gate is input a of the next gate.
const PATH: u8 = 0;
/// Kind of a walk in which all gates have the same two inputs.
const FAN: u8 = 1;
/// Kind of a walk in which each gate has its own inputs.
const PAIRS: u8 = 2;

/// Offsets in floats of a gate's inputs and output.
#[derive(Clone, Copy, Debug)]
struct Gate {
    a: u32,
    b: u32,
    y: u32,
}

/// Allocator of the rows of a memory that all layers of a network share. A row holds one feature. The outputs of a layer overwrite inputs
/// that no gate reads any more, so that the memory fits into the first-level cache.
#[derive(Debug)]
pub struct Rows {
    keeps: u32,
    free: Vec<u32>,
    count: u32,
}

impl Rows {
    /// Creates an allocator whose first `inputs` rows hold the network's inputs. The first `keeps` of these rows are never overwritten.
    pub fn new(inputs: usize, keeps: usize) -> Rows {
        Rows { keeps: keeps as u32, free: Vec::new(), count: inputs as u32 }
    }

    pub fn count(&self) -> usize {
        self.count as usize
    }

    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn give(&mut self, row: u32) {
        if row >= self.keeps {
            self.free.push(row);
        }
    }
}

/// Maximum number of gates in a walk.
const LONGEST: usize = 16;

impl Layer {
    pub fn new(width: usize, inputs: usize, a: &[u32], b: &[u32]) -> Layer {
        assert!(matches!(width, 32 | 64) && a.len() == b.len());
        assert!(a.iter().chain(b).all(|&i| (i as usize) < inputs));
        assert!(inputs.max(a.len()) * width < u32::MAX as usize);
        let at = |i: u32| i * width as u32;
        let (mut walks, mut gates, mut order) = (Vec::new(), Vec::with_capacity(a.len()), Vec::new());
        let mut seen = vec![false; inputs];
        // For each input: the gates outside fans that read the input as a, in descending order of their b.
        let mut left: Vec<Vec<u32>> = vec![Vec::new(); inputs];
        let mut sorted: Vec<u32> = (0..a.len() as u32).collect();
        sorted.sort_by_key(|&g| (a[g as usize], b[g as usize], g));
        let mut push = |walk: &[u32], kind: u8, stale: [bool; 2]| {
            let gate = |&g: &u32| Gate { a: at(a[g as usize]), b: at(b[g as usize]), y: at(g) };
            let first = gates.len();
            gates.extend(walk.iter().map(gate));
            order.extend_from_slice(walk);
            let last = walks
                .last_mut()
                .filter(|last: &&mut Walk| kind == PAIRS && (last.kind, last.stale) == (PAIRS, stale) && last.gates.len() < LONGEST);
            match last {
                Some(last) => last.gates.end = gates.len(),
                None => walks.push(Walk { kind, stale, gates: first..gates.len() }),
            }
        };
        for same in sorted.chunk_by(|&g, &h| (a[g as usize], b[g as usize]) == (a[h as usize], b[h as usize])) {
            let ends = [a[same[0] as usize] as usize, b[same[0] as usize] as usize];
            if same.len() == 1 || ends[0] == ends[1] {
                left[ends[0]].extend(same);
                continue;
            }
            for fan in same.chunks(LONGEST) {
                push(fan, FAN, ends.map(|end| seen[end]));
                ends.iter().for_each(|&end| seen[end] = true);
            }
        }
        left.iter_mut().for_each(|gates| gates.reverse());
        let mut path = Vec::with_capacity(LONGEST);
        for first in 0..inputs {
            while let Some(mut gate) = left[first].pop() {
                let mut stale = [seen[first], false];
                seen[first] = true;
                stale[1] = seen[b[gate as usize] as usize];
                path.clear();
                loop {
                    let to = b[gate as usize] as usize;
                    path.push(gate);
                    seen[to] = true;
                    let next = left[to].last().filter(|&&next| path.len() < LONGEST && seen[b[next as usize] as usize] == stale[1]);
                    if next.is_none() {
                        break;
                    }
                    gate = left[to].pop().unwrap_or(gate);
                }
                push(&path, if path.len() == 1 && stale[0] == stale[1] { PAIRS } else { PATH }, stale);
            }
        }
        let unread = (0..inputs as u32).filter(|&i| !seen[i as usize]).map(at).collect();
        Layer { width, inputs, walks, gates, moved: Vec::new(), moved_len: 0, unread, order }
    }

    /// Returns, for each gate in the order of the coefficients and their slopes, the gate's index in the lists that [`Layer::new`]
    /// received.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    pub fn inputs_len(&self) -> usize {
        self.inputs * self.width
    }

    pub fn outputs_len(&self) -> usize {
        self.gates.len() * self.width
    }

    /// Chooses the memory rows of the outputs for [`forward_moved`]. Outputs may overwrite inputs that are no longer needed. `inputs` are
    /// the rows of the inputs. Returns the rows of the outputs.
    pub fn move_in(&mut self, rows: &mut Rows, inputs: &[u32]) -> Vec<u32> {
        // Inputs a and b that the walk loads immediately before gate g writes its output; `None` for an input that is already in registers.
        let reads = |walk: &Walk, g: usize| {
            let Gate { a, b, .. } = self.gates[walk.gates.start + g];
            let [a, b] = [a, b].map(|at| at as usize / self.width);
            [(g == 0 || walk.kind == PAIRS).then_some(a), (g == 0 || walk.kind != FAN).then_some(b)]
        };
        let all = |walk: &Walk| 0..walk.gates.len();
        let mut left = vec![0; self.inputs];
        for walk in &self.walks {
            all(walk).flat_map(|g| reads(walk, g)).flatten().for_each(|input| left[input] += 1);
        }
        left.iter().zip(inputs).filter(|(left, _)| **left == 0).for_each(|(_, &row)| rows.give(row));
        let mut outputs = vec![0; self.gates.len()];
        let mut moved = Vec::with_capacity(self.gates.len());
        let width = self.width as u32;
        for walk in &self.walks {
            for g in all(walk) {
                for input in reads(walk, g).into_iter().flatten() {
                    left[input] -= 1;
                    if left[input] == 0 {
                        rows.give(inputs[input]);
                    }
                }
                let row = rows.take();
                let Gate { a, b, y } = self.gates[walk.gates.start + g];
                outputs[(y / width) as usize] = row;
                let [a, b] = [a, b].map(|at| inputs[(at / width) as usize] * width);
                moved.push(Gate { a, b, y: row * width });
            }
        }
        (self.moved, self.moved_len) = (moved, rows.count() * self.width);
        outputs
    }
}

fn gates(layers: &[Layer]) -> usize {
    layers.iter().map(|layer| layer.gates.len()).sum()
}

/// Returns the length in floats of the argument `between` of [`forward`]: the outputs of all layers but the last.
pub fn between_len(layers: &[Layer]) -> usize {
    layers.iter().rev().skip(1).map(Layer::outputs_len).sum()
}

/// Computes the outputs y of the last layer from the inputs x of the first layer. `coefficients` holds the coefficients of all layers in
/// sequence. `between` receives the outputs of all layers but the last.
pub fn forward(isa: Isa, layers: &[Layer], coefficients: &[[f32; 4]], x: &[f32], between: &mut [f32], y: &mut [f32]) {
    assert_eq!(coefficients.len(), gates(layers));
    kernel!(isa, |s: S, layers: &[Layer], coefficients: &[[f32; 4]], x: &[f32], between: &mut [f32], y: &mut [f32]| {
        let (mut coefficients, mut x, mut between, mut y) = (coefficients, x, between, y);
        for (l, layer) in layers.iter().enumerate() {
            let (these, rest) = coefficients.split_at(layer.gates.len());
            let to = if l + 1 == layers.len() {
                &mut std::mem::take(&mut y)[..layer.outputs_len()]
            } else {
                let (to, rest) = std::mem::take(&mut between).split_at_mut(layer.outputs_len());
                between = rest;
                to
            };
            assert!(x.len() >= layer.inputs_len());
            let pointers = (x.as_ptr(), to.as_mut_ptr());
            Forward { layer, gates: &layer.gates, coefficients: these, x: pointers.0, y: pointers.1 }.all(s);
            (x, coefficients) = (to, rest);
        }
    });
}

/// Runs the layers in one `memory`, in the rows that [`Layer::move_in`] assigned. `coefficients` holds the coefficients of all layers in
/// sequence.
pub fn forward_moved(isa: Isa, layers: &[Layer], coefficients: &[[f32; 4]], memory: &mut [f32]) {
    assert_eq!(coefficients.len(), gates(layers));
    kernel!(isa, |s: S, layers: &[Layer], coefficients: &[[f32; 4]], memory: &mut [f32]| {
        let mut coefficients = coefficients;
        for layer in layers {
            let (these, rest) = coefficients.split_at(layer.gates.len());
            coefficients = rest;
            assert!(memory.len() >= layer.moved_len && layer.moved.len() == layer.gates.len());
            let y = memory.as_mut_ptr();
            Forward { layer, gates: &layer.moved, coefficients: these, x: y, y }.all(s);
        }
    });
}

/// Inputs, outputs and scratch memory of [`backward`].
pub struct Slopes<'a> {
    /// Input: slopes of the last layer's outputs.
    pub dy: &'a [f32],
    /// Scratch memory for the slopes of the outputs of two adjacent layers.
    pub between: [&'a mut [f32]; 2],
    /// Output: slopes of the first layer's inputs. If `adds` is true, the slopes are added to the contents of `dx`, else they replace the
    /// contents.
    pub dx: &'a mut [f32],
    pub adds: bool,
    /// Output: slopes of the coefficients as [`SUMS`] partial sums per gate. The slopes are always added to the contents of `sums`.
    pub sums: &'a mut [f32],
}

/// Runs the backward pass of [`forward`]. `between` holds the outputs of all layers but the last, as [`forward`] has written them.
pub fn backward(isa: Isa, layers: &[Layer], coefficients: &[[f32; 4]], x: &[f32], between: &[f32], slopes: Slopes) {
    assert!(coefficients.len() == gates(layers) && slopes.sums.len() == SUMS * coefficients.len());
    kernel!(isa, |s: S, layers: &[Layer], coefficients: &[[f32; 4]], x: &[f32], between: &[f32], slopes: Slopes<'_>| {
        let Slopes { dy: last, between: [mut dy, mut dx], dx: first, adds, sums } = slopes;
        let mut gates = coefficients.len();
        let mut at = between_len(layers);
        for (l, layer) in layers.iter().enumerate().rev() {
            let these = gates - layer.gates.len()..gates;
            gates = these.start;
            let x = if l == 0 {
                x
            } else {
                at -= layer.inputs_len();
                &between[at..]
            };
            let from = if l + 1 == layers.len() { last } else { &*dy };
            let to = if l == 0 { &mut *first } else { &mut *dx };
            assert!(x.len() >= layer.inputs_len() && to.len() >= layer.inputs_len());
            assert!(from.len() >= layer.outputs_len());
            let sums = &mut sums[SUMS * these.start..SUMS * these.end];
            let coefficients = &coefficients[these];
            Backward { layer, coefficients, x, dy: from, dx: to, sums, adds: adds && l == 0 }.all(s);
            std::mem::swap(&mut dy, &mut dx);
        }
    });
}

/// Forward pass of one layer. A gate reads its inputs before it writes, so x and y may be the same memory.
struct Forward<'a> {
    layer: &'a Layer,
    gates: &'a [Gate],
    coefficients: &'a [[f32; 4]],
    x: *const f32,
    y: *mut f32,
}

/// Maximum number of vectors that a forward walk processes together. With 16 lanes, these vectors hold 64 floats, the larger width of a
/// feature.
const ABREAST: usize = 4;

impl Forward<'_> {
    #[inline(always)]
    fn all<S: Simd>(mut self, s: S) {
        let layer = self.layer;
        for first in (0..layer.width).step_by(ABREAST * S::LANES) {
            if layer.width < ABREAST * S::LANES {
                self.walks::<S, 2>(s, first);
            } else {
                self.walks::<S, ABREAST>(s, first);
            }
        }
    }

    #[inline(always)]
    fn walks<S: Simd, const VECTORS: usize>(&mut self, s: S, first: usize) {
        for walk in &self.layer.walks {
            match walk.kind {
                PATH => self.walk::<S, VECTORS, PATH>(s, walk, first),
                FAN => self.walk::<S, VECTORS, FAN>(s, walk, first),
                _ => self.walk::<S, VECTORS, PAIRS>(s, walk, first),
            }
        }
    }

    #[inline(always)]
    fn walk<S: Simd, const VECTORS: usize, const KIND: u8>(&mut self, s: S, walk: &Walk, first: usize) {
        // SAFETY: walks index the layer's gates, and every gate has its coefficients. `Layer::new` ensures that a and b are inputs of the
        // layer. The constructor of `self` ensures that x and y have the lengths of the inputs and gates.
        unsafe {
            let (x, y) = (self.x.add(first), self.y.add(first));
            let gates = self.gates.get_unchecked(walk.gates.clone());
            let coefficients = self.coefficients.get_unchecked(walk.gates.clone());
            let (mut a, mut b) = ([s.splat(0.0); VECTORS], [s.splat(0.0); VECTORS]);
            let Gate { a: from, b: to, .. } = *gates.get_unchecked(0);
            for i in 0..VECTORS {
                a[i] = s.load_ptr(x.add(from as usize + i * S::LANES));
                b[i] = s.load_ptr(x.add(to as usize + i * S::LANES));
            }
            for (&gate, c) in gates.iter().zip(coefficients) {
                let c = [s.splat(c[0]), s.splat(c[1]), s.splat(c[2]), s.splat(c[3])];
                for i in 0..VECTORS {
                    if KIND == PAIRS {
                        a[i] = s.load_ptr(x.add(gate.a as usize + i * S::LANES));
                    }
                    if KIND != FAN {
                        b[i] = s.load_ptr(x.add(gate.b as usize + i * S::LANES));
                    }
                    let with_b = s.mul_add(c[3], a[i], c[2]);
                    let value = s.mul_add(b[i], with_b, s.mul_add(c[1], a[i], c[0]));
                    s.store_ptr(value, y.add(gate.y as usize + i * S::LANES));
                    if KIND == PATH {
                        a[i] = b[i];
                    }
                }
            }
        }
    }
}

/// Sums over the cells of the slopes of a gate's four coefficients, in 16 virtual lanes.
type Sums<F> = [[F; 4]; 4];

struct Backward<'a> {
    layer: &'a Layer,
    coefficients: &'a [[f32; 4]],
    x: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    sums: &'a mut [f32],
    adds: bool,
}

impl Backward<'_> {
    #[inline(always)]
    fn all<S: Simd>(self, s: S) {
        match self.layer.width {
            32 => self.walks::<S, 2>(s),
            _ => self.walks::<S, 4>(s),
        }
    }

    #[inline(always)]
    fn walks<S: Simd, const WIDTH: usize>(mut self, s: S) {
        for &at in self.layer.unread.iter().filter(|_| !self.adds) {
            self.dx[at as usize..][..16 * WIDTH].fill(0.0);
        }
        let mut sums = [[[s.splat(0.0); 4]; 4]; LONGEST];
        for walk in &self.layer.walks {
            match (walk.kind, walk.stale[1] || self.adds) {
                (PATH, false) => self.walk::<S, WIDTH, PATH, false>(s, walk, &mut sums),
                (PATH, true) => self.walk::<S, WIDTH, PATH, true>(s, walk, &mut sums),
                (FAN, false) => self.walk::<S, WIDTH, FAN, false>(s, walk, &mut sums),
                (FAN, true) => self.walk::<S, WIDTH, FAN, true>(s, walk, &mut sums),
                (_, false) => self.walk::<S, WIDTH, PAIRS, false>(s, walk, &mut sums),
                (_, true) => self.walk::<S, WIDTH, PAIRS, true>(s, walk, &mut sums),
            }
        }
    }

    /// Computes the slopes of one walk for features of 16·`WIDTH` floats. `STALE` is true if `adds` or the walk's `stale[1]` is true. If
    /// vectors have fewer than 16 lanes, the walk is repeated for each vector of the sums' 16 virtual lanes, so that the sums stay in
    /// registers.
    #[inline(always)]
    fn walk<S: Simd, const WIDTH: usize, const KIND: u8, const STALE: bool>(
        &mut self,
        s: S,
        walk: &Walk,
        sums: &mut [Sums<S::F>; LONGEST],
    ) {
        // SAFETY: walks index the layer's gates, at most [`LONGEST`] each, and every gate has its coefficients and sums. `Layer::new`
        // ensures that a and b are inputs of the layer. [`backward`] ensures that x, dx and dy have the lengths of the inputs and gates.
        unsafe {
            let gates = self.layer.gates.get_unchecked(walk.gates.clone());
            let coefficients = self.coefficients.get_unchecked(walk.gates.clone());
            let all = self.sums.as_chunks_mut().0.get_unchecked_mut(walk.gates.clone());
            for part in 0..S::PARTS {
                let (x, dy) = (self.x.as_ptr().add(part * S::LANES), self.dy.as_ptr().add(part * S::LANES));
                let dx = self.dx.as_mut_ptr().add(part * S::LANES);
                let Gate { a: from, b: to, .. } = *gates.get_unchecked(0);
                let (mut from, to) = (from as usize, to as usize);
                let zero = [s.splat(0.0); WIDTH];
                let (mut a, mut b, mut da, mut db) = (zero, zero, zero, zero);
                for i in 0..if KIND == PAIRS { 0 } else { WIDTH } {
                    a[i] = s.load_ptr(x.add(from + 16 * i));
                    if walk.stale[0] || self.adds {
                        da[i] = s.load_ptr(dx.add(from + 16 * i));
                    }
                    if KIND == FAN {
                        b[i] = s.load_ptr(x.add(to + 16 * i));
                        if STALE {
                            db[i] = s.load_ptr(dx.add(to + 16 * i));
                        }
                    }
                }
                for (g, (&gate, c)) in gates.iter().zip(coefficients).enumerate() {
                    let c = [s.splat(0.0), s.splat(c[1]), s.splat(c[2]), s.splat(c[3])];
                    let mut sum = [s.splat(0.0); 4];
                    for i in 0..WIDTH {
                        if KIND == PAIRS {
                            from = gate.a as usize;
                            a[i] = s.load_ptr(x.add(from + 16 * i));
                        }
                        if KIND != FAN {
                            b[i] = s.load_ptr(x.add(gate.b as usize + 16 * i));
                        }
                        let dy = s.load_ptr(dy.add(gate.y as usize + 16 * i));
                        let dy_a = s.mul(dy, a[i]);
                        if i == 0 {
                            sum = [dy, dy_a, s.mul(dy, b[i]), s.mul(dy_a, b[i])];
                        } else {
                            sum[0] = s.add(sum[0], dy);
                            sum[1] = s.add(sum[1], dy_a);
                            sum[2] = s.mul_add(dy, b[i], sum[2]);
                            sum[3] = s.mul_add(dy_a, b[i], sum[3]);
                        }
                        let (by_a, by_b) = (s.mul_add(c[3], b[i], c[1]), s.mul_add(c[3], a[i], c[2]));
                        if KIND == PAIRS && STALE {
                            da[i] = s.load_ptr(dx.add(from + 16 * i));
                        }
                        da[i] = match KIND == PAIRS && !STALE {
                            true => s.mul(dy, by_a),
                            false => s.mul_add(dy, by_a, da[i]),
                        };
                        if KIND == FAN {
                            db[i] = s.mul_add(dy, by_b, db[i]);
                            continue;
                        }
                        // The slope of input a is stored before the slope of input b is loaded, because both inputs may be the same row.
                        s.store_ptr(da[i], dx.add(from + 16 * i));
                        let to = dx.add(gate.b as usize + 16 * i);
                        let db = match STALE {
                            true => s.mul_add(dy, by_b, s.load_ptr(to)),
                            false => s.mul(dy, by_b),
                        };
                        if KIND == PATH {
                            (a[i], da[i]) = (b[i], db);
                        } else {
                            s.store_ptr(db, to);
                        }
                    }
                    if KIND == PATH {
                        from = gate.b as usize;
                    }
                    if S::PARTS == 1 {
                        let [x, y, z, w] = sum;
                        s.add_sums([[x; 4], [y; 4], [z; 4], [w; 4]], all.get_unchecked_mut(g));
                    } else {
                        let sums = sums.get_unchecked_mut(g);
                        for i in 0..4 {
                            sums[i][part] = sum[i];
                        }
                    }
                }
                for i in 0..if KIND == PAIRS { 0 } else { WIDTH } {
                    s.store_ptr(da[i], dx.add(from + 16 * i));
                    if KIND == FAN {
                        s.store_ptr(db[i], dx.add(to + 16 * i));
                    }
                }
            }
            if S::PARTS > 1 {
                for (sums, all) in sums.iter().zip(all) {
                    s.add_sums(*sums, all);
                }
            }
        }
    }
}

/// A sequence of cells that are adjacent both in a grid and in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Lane of the first cell, in the block.
    pub lane: u32,
    /// Index of the first cell, in the array of the grid.
    pub at: u32,
    pub len: u32,
}

/// Gathers the 3 by 3 neighbourhood of each cell of a block: y is `[9][group][CELLS]`. The `group` channels of x are `plane` floats apart,
/// and rows of the grid are `stride` floats apart. The values of lanes that belong to no run are unspecified. They are finite if x and the
/// old contents of y are finite.
pub fn gather(isa: Isa, runs: &[Run], [stride, plane, group]: [usize; 3], x: &[f32], y: &mut [f32]) {
    let last = runs.iter().map(|run| (run.at + run.len) as usize).max().unwrap_or(0);
    assert!(runs.iter().all(|run| run.at as usize > stride && (run.lane + run.len) as usize <= CELLS));
    assert!(x.len() >= last + (group - 1) * plane + stride + 1 + SLACK);
    assert!(y.len() >= 9 * group * CELLS + SLACK);
    kernel!(isa, |s: S, runs: &[Run], stride: usize, plane: usize, group: usize, x: &[f32], y: &mut [f32]| {
        // Whole vectors are copied. The next run overwrites the lanes that the previous run wrote in excess.
        for k in 0..9 {
            for c in 0..group {
                let to = (k * group + c) * CELLS;
                for run in runs {
                    let from = run.at as usize + c * plane + (k / 3) * stride + k % 3 - stride - 1;
                    let to = to + run.lane as usize;
                    for i in (0..run.len as usize).step_by(S::LANES) {
                        // SAFETY: `gather` has checked the lengths of x and y, each with room for an additional vector.
                        unsafe { s.store_ptr(s.load_ptr(x.as_ptr().add(from + i)), y.as_mut_ptr().add(to + i)) };
                    }
                }
            }
        }
    });
}

/// Runs the backward pass of [`gather`]: adds the slopes of the neighbourhoods, `[9][group][CELLS]`, to the slopes of the grid's cells.
pub fn scatter(isa: Isa, runs: &[Run], [stride, plane, group]: [usize; 3], dy: &[f32], dx: &mut [f32]) {
    let last = runs.iter().map(|run| (run.at + run.len) as usize).max().unwrap_or(0);
    assert!(runs.iter().all(|run| run.at as usize > stride && (run.lane + run.len) as usize <= CELLS));
    assert!(dx.len() > last + (group - 1) * plane + stride);
    assert!(dy.len() >= 9 * group * CELLS);
    kernel!(isa, |s: S, runs: &[Run], stride: usize, plane: usize, group: usize, dy: &[f32], dx: &mut [f32]| {
        // The neighbours are processed column by column. In row order, a load would overlap the latest store at an offset of one float,
        // which is slow.
        for k in [0, 3, 6, 1, 4, 7, 2, 5, 8] {
            for c in 0..group {
                for run in runs {
                    let from = (k * group + c) * CELLS + run.lane as usize;
                    let to = run.at as usize + c * plane + (k / 3) * stride + k % 3 - stride - 1;
                    let (dy, dx) = (&dy[from..][..run.len as usize], &mut dx[to..][..run.len as usize]);
                    let whole = dy.len() / S::LANES * S::LANES;
                    for i in (0..whole).step_by(S::LANES) {
                        s.store(s.add(s.load(&dx[i..]), s.load(&dy[i..])), &mut dx[i..]);
                    }
                    for i in whole..dy.len() {
                        dx[i] += dy[i];
                    }
                }
            }
        }
    });
}

/// Form of a gate's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form<'a> {
    /// 16 logits. The gate is a mixture of the 16 operations, weighted by the softmax of the logits.
    Softmax,
    /// 16 logits. The gate is the operation whose logit plus noise is largest. The slopes are those of a softmax at this temperature.
    StraightThrough { noise: &'a [f32], temperature: f32 },
    /// 4 logits, one for each input pair (0, 0), (0, 1), (1, 0) and (1, 1): the logit of the probability that the output is 1.
    Four,
}

impl Form<'_> {
    /// Returns the number of parameters of a gate.
    pub fn width(self) -> usize {
        if self == Form::Four { 4 } else { 16 }
    }
}

/// Number of gates that are processed together.
const TILE: usize = 16;

/// Returns the length in floats of the argument `soft` of [`coefficients`].
pub fn soft_len(form: Form, gates: usize) -> usize {
    gates.div_ceil(TILE) * TILE * form.width()
}

/// Transposes the rows of up to 16 gates from `[gate][column]` to `[column][gate]`. Missing gates are zeros.
#[inline(always)]
fn turn<S: Simd>(s: S, columns: usize, rows: &[f32], turned: &mut [f32; TILE * 16]) {
    let mut padded = [0.0; TILE * 16];
    let rows = if rows.len() == TILE * columns {
        rows
    } else {
        padded[..rows.len()].copy_from_slice(rows);
        &padded[..TILE * columns]
    };
    for r in (0..TILE).step_by(4) {
        for c in (0..columns).step_by(4) {
            // SAFETY: `columns` is 4 or 16, so a block of 4 by 4 lies within the 16 rows.
            unsafe {
                s.transpose4(rows.as_ptr().add(r * columns + c), columns, turned.as_mut_ptr().add(c * TILE + r), TILE);
            }
        }
    }
}

/// Transposes back from `[column][gate]` to `[gate][column]`, for as many gates as `rows` has room for.
#[inline(always)]
fn turn_back<S: Simd>(s: S, columns: usize, turned: &[f32; TILE * 16], rows: &mut [f32]) {
    let mut all = [0.0; TILE * 16];
    for r in (0..TILE).step_by(4) {
        for c in (0..columns).step_by(4) {
            // SAFETY: `columns` is 4 or 16, so a block of 4 by 4 lies within the 16 rows.
            unsafe {
                s.transpose4(turned.as_ptr().add(c * TILE + r), TILE, all.as_mut_ptr().add(r * columns + c), columns);
            }
        }
    }
    let len = rows.len();
    rows.copy_from_slice(&all[..len]);
}

/// Computes the coefficients of the gates from their parameters. The coefficients of gate g are written to index `places[g]`, the position
/// of g in the layer's order. `soft` receives intermediate values, which [`slopes`] reads.
pub fn coefficients(isa: Isa, form: Form, params: &[f32], places: &[u32], soft: &mut [f32], coefficients: &mut [[f32; 4]]) {
    assert!(params.len() == places.len() * form.width() && coefficients.len() == places.len());
    assert_eq!(soft.len(), soft_len(form, places.len()));
    kernel!(isa, |s: S, form: Form<'_>, params: &[f32], places: &[u32], soft: &mut [f32], coefficients: &mut [[f32; 4]]| {
        let width = form.width();
        let mut turned = [0.0; TILE * 16];
        let mut noisy = [0.0; TILE * 16];
        // Coefficients are computed in the order of the parameters, and then written to the indices in `places`.
        let mut tiles = soft.chunks_exact_mut(TILE * width);
        let mut made = [[0.0; 4]; TILE];
        for first in (0..places.len()).step_by(TILE) {
            let gates = TILE.min(places.len() - first);
            let range = first * width..(first + gates) * width;
            turn(s, width, &params[range.clone()], &mut turned);
            let mut scale = 1.0;
            if let Form::StraightThrough { noise, temperature } = form {
                turn(s, width, &noise[range], &mut noisy);
                scale = 1.0 / temperature;
            }
            let Some(tile) = tiles.next() else { break };
            let mut corners = [0.0; TILE * 16];
            for lane in (0..TILE).step_by(S::LANES) {
                let mut x = [s.splat(0.0); 16];
                for i in 0..width {
                    x[i] = s.load(&turned[i * TILE + lane..]);
                }
                let mut w = [s.splat(0.0); 4];
                if form == Form::Four {
                    for v in 0..4 {
                        w[v] = poly::sigmoid(s, x[v]);
                        s.store(w[v], &mut tile[v * TILE + lane..]);
                    }
                } else {
                    let hard = scale_and_shift(s, &mut x, form, &noisy, lane, scale);
                    let mut sum = s.splat(0.0);
                    for i in 0..16 {
                        x[i] = poly::exp(s, x[i]);
                        sum = s.add(sum, x[i]);
                    }
                    let share = s.div(s.splat(1.0), sum);
                    for i in 0..16 {
                        x[i] = s.mul(x[i], share);
                        s.store(x[i], &mut tile[i * TILE + lane..]);
                    }
                    w = if form == Form::Softmax { corner_sums(s, &x) } else { hard };
                }
                // f = w00 (1-a)(1-b) + w01 (1-a)b + w10 a(1-b) + w11 ab
                let c1 = s.sub(w[2], w[0]);
                let c = [w[0], c1, s.sub(w[1], w[0]), s.sub(s.sub(w[3], w[1]), c1)];
                for j in 0..4 {
                    s.store(c[j], &mut corners[j * TILE + lane..]);
                }
            }
            turn_back(s, 4, &corners, made.as_flattened_mut());
            for (i, made) in made[..gates].iter().enumerate() {
                coefficients[places[first + i] as usize] = *made;
            }
        }
    });
}

/// For [`Form::StraightThrough`], adds the noise in `noisy` to the 16 logits in `x` and multiplies the results by `scale`. For every form,
/// then subtracts the largest logit from all logits. Returns the outputs of the operation with the largest logit for the inputs (0, 0), (0,
/// 1), (1, 0) and (1, 1).
#[inline(always)]
fn scale_and_shift<S: Simd>(s: S, x: &mut [S::F; 16], form: Form, noisy: &[f32; TILE * 16], lane: usize, scale: f32) -> [S::F; 4] {
    let mut ahead = [s.splat(0.0); 4];
    if let Form::StraightThrough { .. } = form {
        for i in 0..16 {
            x[i] = s.mul(s.add(x[i], s.load(&noisy[i * TILE + lane..])), s.splat(scale));
        }
    }
    let mut most = x[0];
    for op in 1..16 {
        let better = s.gt(x[op], most);
        most = s.select(better, x[op], most);
        for v in 0..4 {
            ahead[v] = s.select(better, s.splat((op >> (3 - v) & 1) as f32), ahead[v]);
        }
    }
    for i in 0..16 {
        x[i] = s.sub(x[i], most);
    }
    ahead
}

/// Returns the outputs of a mixture of the 16 operations with the weights `p`, for the inputs (0, 0), (0, 1), (1, 0) and (1, 1).
#[inline(always)]
fn corner_sums<S: Simd>(s: S, p: &[S::F; 16]) -> [S::F; 4] {
    let mut w = [s.splat(0.0); 4];
    for v in 0..4 {
        for op in 0..16 {
            if op >> (3 - v) & 1 == 1 {
                w[v] = s.add(w[v], p[op]);
            }
        }
    }
    w
}

/// Computes the slopes of the parameters from the partial sums of [`backward`]. `soft` and `places` are those of [`coefficients`].
pub fn slopes(isa: Isa, form: Form, soft: &[f32], places: &[u32], sums: &[f32], grads: &mut [f32]) {
    assert!(grads.len() == places.len() * form.width() && sums.len() == SUMS * places.len());
    assert_eq!(soft.len(), soft_len(form, places.len()));
    kernel!(isa, |s: S, form: Form<'_>, soft: &[f32], places: &[u32], sums: &[f32], grads: &mut [f32]| {
        let width = form.width();
        let mut rows = [0.0; TILE * 16];
        let mut turned = [0.0; TILE * 16];
        let scale = if let Form::StraightThrough { temperature, .. } = form { 1.0 / temperature } else { 1.0 };
        for (first, tile) in (0..places.len()).step_by(TILE).zip(soft.chunks_exact(TILE * width)) {
            let gates = TILE.min(places.len() - first);
            for i in 0..gates {
                let at = places[first + i] as usize * SUMS;
                rows[SUMS * i..][..SUMS].copy_from_slice(&sums[at..at + SUMS]);
            }
            turn(s, 16, &rows, &mut turned);
            for lane in (0..TILE).step_by(S::LANES) {
                let mut dc = [s.splat(0.0); 4];
                for j in 0..4 {
                    let mut x = [s.splat(0.0); 4];
                    for i in 0..4 {
                        x[i] = s.load(&turned[(4 * j + i) * TILE + lane..]);
                    }
                    dc[j] = s.add(s.add(x[0], x[2]), s.add(x[1], x[3]));
                }
                // Slopes of the outputs for the four input pairs: `none` for (0, 0), `b` for (0, 1), `a` for (1, 0), `ab` for (1, 1).
                let ab = dc[3];
                let (a, b) = (s.sub(dc[1], ab), s.sub(dc[2], ab));
                let none = s.sub(s.sub(dc[0], dc[1]), b);
                let dw = [none, b, a, ab];
                if form == Form::Four {
                    for v in 0..4 {
                        let w = s.load(&tile[v * TILE + lane..]);
                        let slope = s.mul(w, s.sub(s.splat(1.0), w));
                        s.store(s.mul(dw[v], slope), &mut turned[v * TILE + lane..]);
                    }
                    continue;
                }
                let zero = s.splat(0.0);
                let high = [zero, dw[1], dw[0], s.add(dw[0], dw[1])];
                let low = [zero, dw[3], dw[2], s.add(dw[2], dw[3])];
                let mut mean = zero;
                let mut d = [zero; 16];
                for op in 0..16 {
                    d[op] = s.add(high[op >> 2], low[op & 3]);
                    mean = s.mul_add(d[op], s.load(&tile[op * TILE + lane..]), mean);
                }
                for op in 0..16 {
                    let p = s.mul(s.load(&tile[op * TILE + lane..]), s.splat(scale));
                    s.store(s.mul(p, s.sub(d[op], mean)), &mut turned[op * TILE + lane..]);
                }
            }
            turn_back(s, width, &turned, &mut grads[first * width..][..gates * width]);
        }
    });
}

/// Clamps every number to [-most, most].
pub fn clip(isa: Isa, most: f32, x: &mut [f32]) {
    kernel!(isa, |s: S, most: f32, x: &mut [f32]| {
        let (low, high) = (s.splat(-most), s.splat(most));
        let mut chunks = x.chunks_exact_mut(S::LANES);
        for x in &mut chunks {
            // With this order of min and max, NaN stays NaN.
            s.store(s.min(high, s.max(low, s.load(x))), x);
        }
        for x in chunks.into_remainder() {
            *x = x.clamp(-most, most);
        }
    });
}
