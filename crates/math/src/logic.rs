//! Layers of soft logic gates. A gate is f(a, b) = c0 + c1 a + c2 b + c3 ab, the only shape that a mixture of the 16 operations
//! of two bits can have; its four coefficients are made once a step, from whatever its parameters are.
//!
//! Activations are `[feature][width]`, the width being cells that share the gates: [`CELLS`] cells of a grid, or those of
//! several channels. Widths are 32, 64 or 128.

use crate::isa::{Isa, Kernel, Simd, dispatch};
use crate::poly;

/// Cells of a block.
pub const CELLS: usize = 32;
/// How many sums a gate has of the slopes of its coefficients: [`slopes`] adds up four of each.
pub const SUMS: usize = 16;
/// Floats that a gather may write, and read, beyond the last.
pub const SLACK: usize = 16;

/// The wires of a layer, in an order that is good for the caches: inputs that are next to each other are read one after the
/// other, and gates that are the first to say something of the slopes of their inputs come first, so that those need not
/// be cleared.
#[derive(Clone, Debug)]
pub struct Layer {
    width: usize,
    inputs: usize,
    gates: Vec<Gate>,
    /// The first so many are the first for both of their inputs.
    fresh: usize,
    /// Inputs that no fresh gate has.
    stale: Vec<u32>,
    /// Which of the gates given each of them is.
    order: Vec<u32>,
}

/// Where inputs and output begin.
#[derive(Clone, Copy, Debug)]
struct Gate {
    a: u32,
    b: u32,
    y: u32,
}

impl Layer {
    pub fn new(width: usize, inputs: usize, a: &[u32], b: &[u32]) -> Layer {
        assert!(matches!(width, 32 | 64 | 128) && a.len() == b.len());
        assert!(a.iter().chain(b).all(|&i| (i as usize) < inputs));
        assert!(inputs.max(a.len()) * width < u32::MAX as usize);
        let mut sorted: Vec<usize> = (0..a.len()).collect();
        sorted.sort_by_key(|&g| (a[g].min(b[g]), g));
        let mut seen = vec![false; inputs];
        let (first, second): (Vec<usize>, Vec<usize>) = sorted.into_iter().partition(|&g| {
            let [a, b] = [a[g] as usize, b[g] as usize];
            let fresh = a != b && !seen[a] && !seen[b];
            if fresh {
                (seen[a], seen[b]) = (true, true);
            }
            fresh
        });
        let fresh = first.len();
        let order: Vec<u32> = first.into_iter().chain(second).map(|g| g as u32).collect();
        let at = |i: u32| i * width as u32;
        let gates = order.iter().map(|&g| Gate { a: at(a[g as usize]), b: at(b[g as usize]), y: at(g) });
        let stale = (0..inputs as u32).filter(|&i| !seen[i as usize]).map(at);
        Layer { width, inputs, gates: gates.collect(), fresh, stale: stale.collect(), order }
    }

    /// Which gate comes when: the order of coefficients and slopes.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    pub fn inputs_len(&self) -> usize {
        self.inputs * self.width
    }

    pub fn outputs_len(&self) -> usize {
        self.gates.len() * self.width
    }

    /// y from x.
    pub fn forward(&self, isa: Isa, coefficients: &[[f32; 4]], x: &[f32], y: &mut [f32]) {
        assert!(x.len() >= self.inputs_len() && y.len() >= self.outputs_len());
        assert_eq!(coefficients.len(), self.gates.len());
        dispatch(isa, Forward { layer: self, coefficients, x, y });
    }

    /// The slopes of x from those of y, and to `sums` those of the coefficients. What `dx` had is lost.
    pub fn backward(
        &self,
        isa: Isa,
        coefficients: &[[f32; 4]],
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        sums: &mut [f32],
    ) {
        assert!(x.len() >= self.inputs_len() && dx.len() >= self.inputs_len());
        assert!(dy.len() >= self.outputs_len());
        assert!(coefficients.len() == self.gates.len() && sums.len() == SUMS * self.gates.len());
        dispatch(isa, Backward { layer: self, coefficients, x, dy, dx, sums });
    }
}

struct Forward<'a> {
    layer: &'a Layer,
    coefficients: &'a [[f32; 4]],
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Forward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        match self.layer.width {
            32 => self.gates::<S, 32>(s),
            64 => self.gates::<S, 64>(s),
            _ => self.gates::<S, 128>(s),
        }
    }
}

impl Forward<'_> {
    #[inline(always)]
    fn gates<S: Simd, const WIDTH: usize>(self, s: S) {
        let (x, y) = (self.x.as_ptr(), self.y.as_mut_ptr());
        for (gate, c) in self.layer.gates.iter().zip(self.coefficients) {
            let c = [s.splat(c[0]), s.splat(c[1]), s.splat(c[2]), s.splat(c[3])];
            // SAFETY: `Layer::new` saw to it that wires end within the inputs, `Layer::forward` that x and y are as long
            // as those and the gates take.
            unsafe {
                let (a, b) = (x.add(gate.a as usize), x.add(gate.b as usize));
                let y = y.add(gate.y as usize);
                for i in (0..WIDTH).step_by(S::LANES) {
                    let (a, b) = (s.load_ptr(a.add(i)), s.load_ptr(b.add(i)));
                    let with_b = s.mul_add(c[3], a, c[2]);
                    s.store_ptr(s.mul_add(b, with_b, s.mul_add(c[1], a, c[0])), y.add(i));
                }
            }
        }
    }
}

struct Backward<'a> {
    layer: &'a Layer,
    coefficients: &'a [[f32; 4]],
    x: &'a [f32],
    dy: &'a [f32],
    dx: &'a mut [f32],
    sums: &'a mut [f32],
}

impl Kernel for Backward<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        match self.layer.width {
            32 => self.gates::<S, 32>(s),
            64 => self.gates::<S, 64>(s),
            _ => self.gates::<S, 128>(s),
        }
    }
}

impl Backward<'_> {
    #[inline(always)]
    fn gates<S: Simd, const WIDTH: usize>(mut self, s: S) {
        for &at in &self.layer.stale {
            self.dx[at as usize..][..WIDTH].fill(0.0);
        }
        let fresh = self.layer.fresh;
        for g in 0..fresh {
            self.gate::<S, WIDTH, true>(s, g);
        }
        for g in fresh..self.layer.gates.len() {
            self.gate::<S, WIDTH, false>(s, g);
        }
    }

    /// Sums of the coefficients' slopes have 16 virtual lanes. Sets of fewer lanes pass once over the width for each part
    /// of those, so that the sums stay in registers.
    #[inline(always)]
    fn gate<S: Simd, const WIDTH: usize, const FRESH: bool>(&mut self, s: S, g: usize) {
        // SAFETY: g is one of the gates, of which there are as many coefficients and sums. `Layer::new` saw to it that
        // wires end within the inputs, `Layer::backward` that x, dx and dy are as long as those and the gates take.
        unsafe {
            let gate = self.layer.gates.get_unchecked(g);
            let c = self.coefficients.get_unchecked(g);
            let c = [s.splat(0.0), s.splat(c[1]), s.splat(c[2]), s.splat(c[3])];
            let (x, dx) = (self.x.as_ptr(), self.dx.as_mut_ptr());
            let (a, b) = (x.add(gate.a as usize), x.add(gate.b as usize));
            let (da, db) = (dx.add(gate.a as usize), dx.add(gate.b as usize));
            let dy = self.dy.as_ptr().add(gate.y as usize);
            let mut sums = [[s.splat(0.0); 4]; 4];
            for part in 0..S::PARTS {
                let mut sum = [s.splat(0.0); 4];
                for i in (part * S::LANES..WIDTH).step_by(16) {
                    let (a, b) = (s.load_ptr(a.add(i)), s.load_ptr(b.add(i)));
                    let dy = s.load_ptr(dy.add(i));
                    let dy_a = s.mul(dy, a);
                    sum[0] = s.add(sum[0], dy);
                    sum[1] = s.add(sum[1], dy_a);
                    sum[2] = s.mul_add(dy, b, sum[2]);
                    sum[3] = s.mul_add(dy_a, b, sum[3]);
                    let (by_a, by_b) = (s.mul_add(c[3], b, c[1]), s.mul_add(c[3], a, c[2]));
                    if FRESH {
                        s.store_ptr(s.mul(dy, by_a), da.add(i));
                        s.store_ptr(s.mul(dy, by_b), db.add(i));
                    } else {
                        s.store_ptr(s.mul_add(dy, by_a, s.load_ptr(da.add(i))), da.add(i));
                        s.store_ptr(s.mul_add(dy, by_b, s.load_ptr(db.add(i))), db.add(i));
                    }
                }
                for j in 0..4 {
                    sums[j][part] = sum[j];
                }
            }
            s.add_sums(sums, self.sums.as_chunks_mut().0.get_unchecked_mut(g));
        }
    }
}

/// Cells next to each other in a grid and in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First in the block.
    pub lane: u32,
    /// First in the grid.
    pub at: u32,
    pub len: u32,
}

/// The cells around those of a block, of `group` channels that lie `plane` apart, the first of which begins x: `[9][group][CELLS]`.
/// Lines of the grid are `stride` apart. Lanes without a cell get anything finite that is there.
pub fn gather(isa: Isa, runs: &[Run], [stride, plane, group]: [usize; 3], x: &[f32], y: &mut [f32]) {
    let last = runs.iter().map(|run| (run.at + run.len) as usize).max().unwrap_or(0);
    assert!(runs.iter().all(|run| run.at as usize > stride && (run.lane + run.len) as usize <= CELLS));
    assert!(x.len() >= last + (group - 1) * plane + stride + 1 + SLACK);
    assert!(y.len() >= 9 * group * CELLS + SLACK);
    dispatch(isa, Gather { runs, stride, plane, group, x, y });
}

struct Gather<'a> {
    runs: &'a [Run],
    stride: usize,
    plane: usize,
    group: usize,
    x: &'a [f32],
    y: &'a mut [f32],
}

impl Kernel for Gather<'_> {
    type Output = ();
    /// Whole vectors are copied: what one writes beyond its run is overwritten by the next.
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Gather { runs, stride, plane, group, x, y } = self;
        for k in 0..9 {
            for c in 0..group {
                let to = (k * group + c) * CELLS;
                for run in runs {
                    let from = run.at as usize + c * plane + (k / 3) * stride + k % 3 - stride - 1;
                    let to = to + run.lane as usize;
                    for i in (0..run.len as usize).step_by(S::LANES) {
                        // SAFETY: `gather` saw to the lengths of x and y, each with a vector to spare.
                        unsafe {
                            s.store_ptr(s.load_ptr(x.as_ptr().add(from + i)), y.as_mut_ptr().add(to + i))
                        };
                    }
                }
            }
        }
    }
}

/// The opposite of [`gather`]: adds the slopes of the nine cells, `[9][group][CELLS]`, to those of the grid.
pub fn scatter(isa: Isa, runs: &[Run], [stride, plane, group]: [usize; 3], dy: &[f32], dx: &mut [f32]) {
    let last = runs.iter().map(|run| (run.at + run.len) as usize).max().unwrap_or(0);
    assert!(runs.iter().all(|run| run.at as usize > stride && (run.lane + run.len) as usize <= CELLS));
    assert!(dx.len() > last + (group - 1) * plane + stride);
    assert!(dy.len() >= 9 * group * CELLS);
    dispatch(isa, Scatter { runs, stride, plane, group, dy, dx });
}

struct Scatter<'a> {
    runs: &'a [Run],
    stride: usize,
    plane: usize,
    group: usize,
    dy: &'a [f32],
    dx: &'a mut [f32],
}

impl Kernel for Scatter<'_> {
    type Output = ();
    /// Column by column of the nine, so that what was just stored is not loaded again with an offset of one.
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Scatter { runs, stride, plane, group, dy, dx } = self;
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
    }
}

/// What the parameters of gates mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form<'a> {
    /// 16 logits: the mixture by their softmax.
    Softmax,
    /// 16 logits, and noise to be added to them: the operation that is ahead, with the slopes of a softmax at a temperature.
    StraightThrough { noise: &'a [f32], temperature: f32 },
    /// 4 logits of what the gate gives for (0, 0), (0, 1), (1, 0) and (1, 1).
    Four,
}

impl Form<'_> {
    /// Parameters of a gate.
    pub fn width(self) -> usize {
        if self == Form::Four { 4 } else { 16 }
    }
}

/// Gates that are done at once.
const TILE: usize = 16;

/// Floats of [`coefficients`]' `soft`.
pub fn soft_len(form: Form, gates: usize) -> usize {
    gates.div_ceil(TILE) * TILE * form.width()
}

/// The coefficients of gates; those of gate g go to `places[g]`, where a layer wants them. `soft` is kept for [`slopes`].
pub fn coefficients(
    isa: Isa,
    form: Form,
    params: &[f32],
    places: &[u32],
    soft: &mut [f32],
    coefficients: &mut [[f32; 4]],
) {
    assert!(params.len() == places.len() * form.width() && coefficients.len() == places.len());
    assert_eq!(soft.len(), soft_len(form, places.len()));
    dispatch(isa, Coefficients { form, params, places, soft, coefficients });
}

/// Rows of up to 16 gates by columns: `[column][gate]`. Missing gates are zeros.
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
            // SAFETY: blocks of 4 by 4 in 16 rows of `columns`, of which there are 4 or 16.
            unsafe {
                s.transpose4(
                    rows.as_ptr().add(r * columns + c),
                    columns,
                    turned.as_mut_ptr().add(c * TILE + r),
                    TILE,
                );
            }
        }
    }
}

/// And back, as many gates as `rows` holds.
#[inline(always)]
fn turn_back<S: Simd>(s: S, columns: usize, turned: &[f32; TILE * 16], rows: &mut [f32]) {
    let mut all = [0.0; TILE * 16];
    for r in (0..TILE).step_by(4) {
        for c in (0..columns).step_by(4) {
            // SAFETY: blocks of 4 by 4 in 16 rows of `columns`, of which there are 4 or 16.
            unsafe {
                s.transpose4(
                    turned.as_ptr().add(c * TILE + r),
                    TILE,
                    all.as_mut_ptr().add(r * columns + c),
                    columns,
                );
            }
        }
    }
    let len = rows.len();
    rows.copy_from_slice(&all[..len]);
}

struct Coefficients<'a> {
    form: Form<'a>,
    params: &'a [f32],
    places: &'a [u32],
    soft: &'a mut [f32],
    coefficients: &'a mut [[f32; 4]],
}

impl Kernel for Coefficients<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Coefficients { form, params, places, soft, coefficients } = self;
        let width = form.width();
        let mut turned = [0.0; TILE * 16];
        let mut noisy = [0.0; TILE * 16];
        // Of gates as parameters have them; they are put in order at the end.
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
    }
}

/// Subtracts the largest logit, noise added and scaled; gives what the operation that is ahead does at the four corners.
#[inline(always)]
fn scale_and_shift<S: Simd>(
    s: S,
    x: &mut [S::F; 16],
    form: Form,
    noisy: &[f32; TILE * 16],
    lane: usize,
    scale: f32,
) -> [S::F; 4] {
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

/// What a mixture gives for (0, 0), (0, 1), (1, 0) and (1, 1).
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

/// The slopes of parameters from the sums that [`Layer::backward`] made.
pub fn slopes(isa: Isa, form: Form, soft: &[f32], places: &[u32], sums: &[f32], grads: &mut [f32]) {
    assert!(grads.len() == places.len() * form.width() && sums.len() == SUMS * places.len());
    assert_eq!(soft.len(), soft_len(form, places.len()));
    dispatch(isa, Slopes { form, soft, places, sums, grads });
}

struct Slopes<'a> {
    form: Form<'a>,
    soft: &'a [f32],
    places: &'a [u32],
    sums: &'a [f32],
    grads: &'a mut [f32],
}

impl Kernel for Slopes<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Slopes { form, soft, places, sums, grads } = self;
        let width = form.width();
        let mut rows = [0.0; TILE * 16];
        let mut turned = [0.0; TILE * 16];
        let scale =
            if let Form::StraightThrough { temperature, .. } = form { 1.0 / temperature } else { 1.0 };
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
                // of the four corners
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
    }
}

/// No number beyond `most`, above or below.
pub fn clip(isa: Isa, most: f32, x: &mut [f32]) {
    dispatch(isa, Clip { most, x });
}

struct Clip<'a> {
    most: f32,
    x: &'a mut [f32],
}

impl Kernel for Clip<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let (low, high) = (s.splat(-self.most), s.splat(self.most));
        let mut chunks = self.x.chunks_exact_mut(S::LANES);
        for x in &mut chunks {
            // What is no number stays none.
            s.store(s.min(high, s.max(low, s.load(x))), x);
        }
        for x in chunks.into_remainder() {
            *x = x.clamp(-self.most, self.most);
        }
    }
}
