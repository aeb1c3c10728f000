//! The strong learner's networks. The first layer has `hidden` rectified units, which are sums of integer rows (`math::graded`). Next come
//! `depth` layers of `narrow` rectified units. The output is a softmax over the outcomes of the game that are still possible.
//!
//! One network evaluates boards in contact, the other network evaluates races. Finished games need no network. If the bear-off table is
//! enabled, the positions in the table need no network either.
//!
//! All weights are in one flat vector, network after network. A [`Network`] contains the weights of both networks in a form for inference:
//! tables and packed matrices, which do not change during play. Gradients are summed in a fixed order, which does not depend on the number
//! of threads.

#[cfg(feature = "export")]
pub mod export;
pub mod values;

use super::inputs::{self, Changes, Inputs};
use super::outcomes::{self, OUTCOMES, OutcomeProbs};
use super::{PARTS, bearoff};
use math::graded::{self, Grade};
use math::{AdamStep, Epilogue, Isa, Rng, gemm, ops, par};
use std::ops::Range;
use worlds::backgammon::{Board, Results, Roll};

/// Number of networks. Network 0 evaluates boards in contact, network 1 evaluates races.
pub const NETS: usize = 2;
/// First part of the names of each network's tensors.
const NAMES: [&str; NETS] = ["contact", "race"];

/// Source of a board's value: exact probabilities, or the index of the network that evaluates the board.
#[derive(Clone, Copy, PartialEq)]
pub enum Source {
    Exact(OutcomeProbs),
    Net(usize),
}

/// Chooses the source of a board's value for the player who has just moved. `table` enables the bear-off table.
pub fn source(board: &Board, table: bool) -> Source {
    if board.points() != 0 {
        return Source::Exact(outcomes::ended(board.points()));
    }
    if board.contact() {
        return Source::Net(0);
    }
    let probs = if table { bearoff::outcome_probs(board) } else { None };
    probs.map_or(Source::Net(1), Source::Exact)
}

/// Returns a bit mask of the outcomes that are still possible. Bit i represents outcome i of `Chances`.
pub fn open(board: &Board) -> u8 {
    let contact = board.contact();
    let side = |loser: worlds::backgammon::Side| {
        let gammon = loser.off() == 0;
        let backgammon = gammon && (contact || loser.rear() > 18);
        1 | u8::from(gammon) << 1 | u8::from(backgammon) << 2
    };
    side(board.theirs()) | side(board.mine()) << 3
}

/// Sizes and options of the networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of units of the first layer.
    pub hidden: usize,
    /// Number of units of each layer between the first layer and the output layer.
    pub narrow: usize,
    /// Number of layers between the first layer and the output layer.
    pub depth: usize,
    /// True if the networks read the handmade inputs.
    pub handmade: bool,
    /// True if the bear-off table evaluates the positions that it contains.
    pub bearoff: bool,
}

/// Name and shape of a parameter tensor, and its range `at` in the flat vector of all weights.
pub struct ParamTensor {
    pub name: String,
    pub shape: Vec<usize>,
    pub at: Range<usize>,
}

/// A dense layer above the first layer, with `out` outputs, `inp` inputs, weights `w` and biases `b`.
#[derive(Clone)]
pub struct Layer<W> {
    pub out: usize,
    pub inp: usize,
    pub w: W,
    pub b: W,
}

impl Shape {
    pub fn steps_len(self) -> usize {
        inputs::layout().steps * self.hidden
    }

    /// Returns the number of weights and biases of all layers but the first.
    fn upper_len(self) -> usize {
        self.layers().map(|(out, inp)| out * inp + out).sum()
    }

    /// Returns the number of outputs and the number of inputs of each layer above the first.
    pub fn layers(self) -> impl DoubleEndedIterator<Item = (usize, usize)> + ExactSizeIterator {
        (0..self.depth + 1).map(move |i| {
            let out = if i == self.depth { OUTCOMES } else { self.narrow };
            (out, if i == 0 { self.hidden } else { self.narrow })
        })
    }

    pub fn net_len(self) -> usize {
        self.steps_len() + self.upper_len()
    }

    /// Returns an upper estimate of the cost of evaluating a board, in multiply-adds.
    pub fn products(self) -> f64 {
        /// Cost of the rules and of computing the inputs, in multiply-adds.
        const READ: usize = 20_000;
        let upper: usize = self.layers().map(|(out, inp)| out * inp).sum();
        (READ + inputs::INPUTS * self.hidden + upper) as f64
    }

    /// Returns the number of weights and biases of both networks.
    pub fn weights_len(self) -> usize {
        NETS * self.net_len()
    }

    /// Returns the parameter tensors of both networks, in the order of their weights.
    pub fn parts(self) -> Vec<ParamTensor> {
        let (mut parts, mut from) = (Vec::new(), 0);
        let mut add = |name: String, shape: Vec<usize>| {
            let to = from + shape.iter().product::<usize>();
            parts.push(ParamTensor { name, shape, at: from..to });
            from = to;
        };
        for net in NAMES {
            add(format!("{net}.0.weight"), vec![inputs::layout().steps, self.hidden]);
            for (i, (out, inp)) in self.layers().enumerate() {
                add(format!("{net}.{}.weight", i + 1), vec![out, inp]);
                add(format!("{net}.{}.bias", i + 1), vec![out]);
            }
        }
        parts
    }

    pub fn upper(self, mut upper: &[f32]) -> impl Iterator<Item = Layer<&[f32]>> {
        self.layers().map(move |(out, inp)| {
            let (w, rest) = upper.split_at(out * inp);
            let (b, rest) = rest.split_at(out);
            upper = rest;
            Layer { out, inp, w, b }
        })
    }

    pub fn upper_mut(self, mut upper: &mut [f32]) -> impl Iterator<Item = Layer<&mut [f32]>> {
        self.layers().map(move |(out, inp)| {
            let (w, rest) = std::mem::take(&mut upper).split_at_mut(out * inp);
            let (b, rest) = rest.split_at_mut(out);
            upper = rest;
            Layer { out, inp, w, b }
        })
    }

    /// Returns the initial weights of both networks. The weights of the output layer are small, so that training progresses from the first
    /// games.
    pub fn first_weights(self, isa: Isa, seed: u32, stream: u32) -> Vec<f32> {
        let rng = Rng::new(seed, stream);
        let mut weights = vec![0.0; self.weights_len()];
        for (i, net) in weights.chunks_exact_mut(self.net_len()).enumerate() {
            let (steps, upper) = net.split_at_mut(self.steps_len());
            let fill = |place: usize, size: f32, w: &mut [f32]| {
                rng.fill_normal(isa, place as u32, w);
                w.iter_mut().for_each(|w| *w *= size);
            };
            fill(3 * i, 0.1, steps);
            for (at, Layer { inp, w, .. }) in self.upper_mut(upper).enumerate() {
                // `place` is the index of the layer's random numbers, and `size` is the scale of the layer's weights. Indices below `3 *
                // NETS` belong to the first two layers and the output layer of each network. Higher indices belong to the layers between
                // them.
                let (place, size) = match at {
                    _ if at == self.depth => (3 * i + 2, 0.02),
                    0 => (3 * i + 1, (2.0 / inp as f32).sqrt()),
                    between => (3 * NETS + NETS * (between - 1) + i, (2.0 / inp as f32).sqrt()),
                };
                fill(place, size, w);
            }
        }
        weights
    }
}

/// One network, packed for inference.
#[derive(Clone)]
pub struct PackedNet {
    pub table: Vec<u32>,
    pub layers: Vec<Layer<Vec<f32>>>,
}

impl PackedNet {
    fn bytes(shape: Shape) -> usize {
        let packed: usize = shape.layers().map(|(out, inp)| gemm::packed_rows_len(out, inp) + out).sum();
        4 * (inputs::layout().rows() * shape.hidden + packed)
    }

    fn new(shape: Shape) -> PackedNet {
        PackedNet {
            table: vec![0; inputs::layout().rows() * shape.hidden],
            layers: shape
                .layers()
                .map(|(out, inp)| {
                    let w = vec![0.0; gemm::packed_rows_len(out, inp)];
                    Layer { out, inp, w, b: vec![0.0; out] }
                })
                .collect(),
        }
    }

    fn load_upper(&mut self, isa: Isa, shape: Shape, upper: &[f32]) {
        for (to, from) in self.layers.iter_mut().zip(shape.upper(upper)) {
            gemm::pack_rows(isa, from.w, to.out, to.inp, &mut to.w);
            to.b.copy_from_slice(from.b);
        }
    }

    /// Computes the outcome logits of `rows` boards from `hidden`, which has the outputs of the first layer. Writes the outputs of the
    /// layers in between to `narrow`, layer after layer.
    fn forward_upper(&self, isa: Isa, hidden: &[f32], rows: usize, narrow: &mut [f32], logits: &mut [f32]) {
        let (mut x, mut narrow, mut logits) = (hidden, narrow, Some(logits));
        for (i, Layer { out, inp, w, b }) in self.layers.iter().enumerate() {
            let last = i + 1 == self.layers.len();
            let (y, rest) = match logits.take_if(|_| last) {
                Some(logits) => (logits, Default::default()),
                None => std::mem::take(&mut narrow).split_at_mut(rows * out),
            };
            let act = if last { math::Act::None } else { math::Act::Relu };
            gemm::linear_rows(isa, rows, *out, *inp, x, w, y, Epilogue { bias: Some(b), act, ..Epilogue::default() });
            (x, narrow) = (y, rest);
        }
    }
}

/// Weights of both networks, prepared for inference.
#[derive(Clone)]
pub struct Network {
    pub isa: Isa,
    pub shape: Shape,
    pub nets: [PackedNet; NETS],
}

impl Network {
    pub fn bytes(shape: Shape) -> usize {
        size_of::<Network>() + NETS * PackedNet::bytes(shape)
    }

    pub fn new(isa: Isa, shape: Shape, weights: &[f32]) -> Network {
        let mut network = Network { isa, shape, nets: std::array::from_fn(|_| PackedNet::new(shape)) };
        network.load(weights);
        network
    }

    pub fn load(&mut self, weights: &[f32]) {
        let (isa, shape) = (self.isa, self.shape);
        for (net, weights) in self.nets.iter_mut().zip(weights.chunks_exact(shape.net_len())) {
            let (steps, upper) = weights.split_at(shape.steps_len());
            graded::fill(isa, shape.hidden, &inputs::layout().grades, steps, &mut net.table);
            net.load_upper(isa, shape, upper);
        }
    }
}

/// Stopwatch that divides the time among the parts in [`PARTS`], in seconds. Without a clock, all times are 0.
#[derive(Default)]
pub struct Stopwatch {
    clock: Option<fn() -> f64>,
    since_s: f64,
    pub spent_s: [f64; PARTS.len()],
}

impl Stopwatch {
    pub fn begin(&mut self, clock: Option<fn() -> f64>) {
        self.clock = clock;
        self.spent_s = [0.0; PARTS.len()];
        self.since_s = clock.map_or(0.0, |clock| clock());
    }

    /// Adds the time since the previous call, or since [`Stopwatch::begin`], to the time of `part`.
    pub fn spent(&mut self, part: usize) {
        if let Some(clock) = self.clock {
            let now_s = clock();
            self.spent_s[part] += now_s - self.since_s;
            self.since_s = now_s;
        }
    }
}

/// Indices into [`PARTS`].
const RULES: usize = 0;
const INPUTS: usize = 1;
const NETWORK: usize = 2;
pub const TARGETS: usize = 4;
pub const LEARNING: usize = 5;

/// Evaluates many boards at once. Contains reusable buffers and the results of the last evaluation.
#[derive(Default)]
pub struct Valuer {
    /// Inputs of each evaluated board.
    pub inputs: Vec<Inputs>,
    pub probs: Vec<OutcomeProbs>,
    /// Index of the network that evaluated each board; `None` for an exact value.
    pub nets: Vec<Option<usize>>,
    /// Results of all rolls in the last call of [`Valuer::value_rolls`], roll after roll.
    pub boards: Vec<Board>,
    /// End index in `boards` of each roll's results.
    ends_of: Vec<usize>,
    results: Results,
    which: Vec<u32>,
    open: Vec<u8>,
    root: Vec<u32>,
    rows: Vec<u16>,
    changes: Changes,
    hidden: Vec<f32>,
    narrow: Vec<f32>,
    logits: Vec<f32>,
    shares: Vec<f32>,
    /// Number of boards that networks have evaluated. Exact values do not count.
    pub evaluations: u64,
    pub stopwatch: Stopwatch,
}

impl Valuer {
    /// Returns the memory of a valuer in bytes, if it evaluates at most `boards` boards at once.
    pub fn bytes(shape: Shape, boards: usize) -> f64 {
        let floats = shape.hidden + shape.depth * shape.narrow + 3 * OUTCOMES;
        let read = size_of::<Board>() + inputs::INPUTS + size_of::<Option<usize>>() + size_of::<u32>() + 1;
        (size_of::<Valuer>() + Results::BYTES) as f64 + boards as f64 * (4 * floats + read) as f64
    }

    /// Evaluates all results of each roll. `board` is the position before the roll.
    pub fn value_rolls(&mut self, network: &Network, board: &Board, rolls: &[Roll]) {
        let mut boards = std::mem::take(&mut self.boards);
        boards.clear();
        self.ends_of.clear();
        for roll in rolls {
            boards.extend_from_slice(board.results(*roll, &mut self.results));
            self.ends_of.push(boards.len());
        }
        self.stopwatch.spent(RULES);
        self.value(network, board, &boards);
        self.boards = boards;
    }

    /// Returns the index in [`Valuer::boards`] of the best result of one roll. `roll` is the index of this roll in the last call of
    /// [`Valuer::value_rolls`].
    pub fn best(&self, roll: usize) -> usize {
        let first = if roll > 0 { self.ends_of[roll - 1] } else { 0 };
        first + outcomes::best(&self.probs[first..self.ends_of[roll]])
    }

    /// Evaluates boards for the player who moved. Writes the results to [`Valuer::probs`]. `root` is the position before the move, from the
    /// same player's point of view.
    ///
    /// The first-layer sum of `root` is computed once. The sums of the boards are computed from it: for each input with a different value,
    /// the row of `root` is removed and the row of the board is added.
    pub fn value(&mut self, network: &Network, root: &Board, boards: &[Board]) {
        self.probs.clear();
        self.nets.clear();
        self.inputs.resize(boards.len().max(self.inputs.len()), [0; inputs::INPUTS]);
        for board in boards {
            let (probs, by) = match source(board, network.shape.bearoff) {
                Source::Exact(probs) => (probs, None),
                Source::Net(net) => ([0.0; OUTCOMES], Some(net)),
            };
            self.probs.push(probs);
            self.nets.push(by);
        }
        inputs::read(network.isa, network.shape.handmade, boards, &mut self.inputs);
        self.stopwatch.spent(INPUTS);
        for (net, packed) in network.nets.iter().enumerate() {
            self.which.clear();
            let by = self.nets.iter().zip(0..).filter(|(by, _)| **by == Some(net));
            self.which.extend(by.map(|(_, i)| i));
            if !self.which.is_empty() {
                self.evaluate_net(network, packed, root, boards);
            }
        }
        self.stopwatch.spent(NETWORK);
    }

    fn evaluate_net(&mut self, network: &Network, net: &PackedNet, root: &Board, boards: &[Board]) {
        let (isa, shape, rows) = (network.isa, network.shape, self.which.len());
        let wide = shape.hidden;
        let layout = inputs::layout();
        let mut at_root = [0; inputs::INPUTS];
        let root_inputs = std::slice::from_mut(&mut at_root);
        inputs::read(isa, shape.handmade, std::slice::from_ref(root), root_inputs);
        self.root.resize(wide, 0);
        self.hidden.resize((rows * wide).max(self.hidden.len()), 0.0);
        self.narrow.resize((rows * shape.depth * shape.narrow).max(self.narrow.len()), 0.0);
        self.logits.resize((rows * OUTCOMES).max(self.logits.len()), 0.0);
        self.shares.resize((rows * OUTCOMES).max(self.shares.len()), 0.0);
        self.open.clear();
        layout.all(&at_root, &mut self.rows);
        graded::sums(isa, wide, &net.table, &[], &self.rows, &[], &mut self.root, &mut []);
        for (i, y) in self.which.iter().zip(self.hidden.chunks_exact_mut(wide)) {
            let board = &boards[*i as usize];
            let inputs = &self.inputs[*i as usize];
            self.open.push(open(board));
            layout.changes(isa, &at_root, inputs, &mut self.changes);
            graded::sums(isa, wide, &net.table, &self.root, self.changes.added(), self.changes.taken(), &mut [], y);
        }
        net.forward_upper(isa, &self.hidden[..rows * wide], rows, &mut self.narrow, &mut self.logits);
        graded::softmax_open(isa, OUTCOMES, OUTCOMES, &self.logits, &self.open, &mut self.shares);
        for (i, shares) in self.which.iter().zip(self.shares.as_chunks::<OUTCOMES>().0) {
            self.probs[*i as usize] = *shares;
        }
        self.evaluations += rows as u64;
    }
}

/// Training sample: the inputs of a board, the mask of its possible outcomes (`open`), the index of its network (`net`), and the target.
#[derive(Clone, Copy)]
pub struct Sample {
    pub inputs: Inputs,
    pub open: u8,
    pub net: u8,
    pub target: OutcomeProbs,
}

/// Number of samples in a block. A thread processes one block at a time.
const BLOCK: usize = 64;
/// Number of groups of first-layer rows that are updated in parallel.
const GROUPS: usize = 8;

/// Buffers and gradients of a block of samples.
#[derive(Default)]
pub struct Block {
    /// Indices of the active first-layer rows of all samples, sample after sample.
    rows: Vec<u16>,
    /// Indices of the active first-layer rows of the current sample.
    spare: Vec<u16>,
    /// Start of each sample's rows in `rows`, followed by the end of the last sample's rows.
    starts: Vec<usize>,
    open: Vec<u8>,
    pub hidden: Vec<f32>,
    pub narrow: Vec<f32>,
    pub logits: Vec<f32>,
    pub shares: Vec<f32>,
    pub d_narrow: Vec<f32>,
    pub d_hidden: Vec<f32>,
    /// Gradients of the weights and biases of all layers but the first.
    pub upper: Vec<f32>,
    loss: f64,
}

/// A range of first-layer rows, and the range of their learned steps. Rows that share a learned step are in the same group, so groups can
/// be updated in parallel.
struct Group {
    rows: std::ops::Range<usize>,
    steps: std::ops::Range<usize>,
    /// Grades of the rows. Step indices are relative to the start of `steps`.
    grades: Vec<Grade>,
    d_rows: Vec<f32>,
}

/// Trainer of the networks. Each call of `learn` trains one network.
pub struct Trainer {
    shape: Shape,
    isa: Isa,
    pub blocks: Vec<Block>,
    groups: Vec<Group>,
    pub grads: Vec<f32>,
    /// Weights of each layer above the first, transposed and packed.
    transposed: Vec<Vec<f32>>,
}

/// Loss of one minibatch, and gradient norm before clipping.
#[derive(Clone, Copy, Default, Debug)]
pub struct StepStats {
    pub loss: f32,
    pub grad_norm: f32,
}

/// Maximum gradient norm. Gradients with a larger norm are scaled down to this norm.
const MOST_NORM: f32 = 1.0;

impl Block {
    /// Returns the memory of a block with allocated buffers, in bytes.
    pub fn bytes(shape: Shape) -> usize {
        // Outputs of all layers, and the gradients of the outputs.
        let floats = 2 * (shape.hidden + shape.depth * shape.narrow + OUTCOMES) + OUTCOMES;
        // About one row index for each input, and a few more.
        let sample = 4 * floats + 2 * (inputs::INPUTS + 8) + size_of::<usize>() + 1;
        size_of::<Block>() + BLOCK * sample + 4 * shape.upper_len()
    }
}

impl Trainer {
    /// Returns the memory of a trainer for minibatches of `batch` samples, in bytes.
    pub fn bytes(shape: Shape, batch: usize) -> f64 {
        let layout = inputs::layout();
        let rows = layout.rows() * shape.hidden * 4 + layout.grades.len() * size_of::<Grade>();
        // A minibatch may be almost twice as large as `batch`, because the last minibatch includes the remainder of the samples.
        let blocks = (2 * batch).div_ceil(BLOCK);
        let once = rows + 4 * shape.net_len() + 8 * shape.upper_len();
        once as f64 + blocks as f64 * Block::bytes(shape) as f64
    }

    pub fn new(isa: Isa, shape: Shape) -> Trainer {
        let layout = inputs::layout();
        let grades = &layout.grades;
        let mut groups: Vec<Group> = Vec::new();
        let mut first = 0;
        for row in 1..=grades.len() {
            let whole = row == grades.len() || !grades[row].onward && grades[row].step > grades[row - 1].step;
            let due = row == grades.len() || row >= (groups.len() + 1) * grades.len() / GROUPS;
            if whole && due {
                let start = grades[first].step as usize;
                let end = grades.get(row).map_or(layout.steps, |next| next.step as usize);
                let own = |g: &Grade| Grade { step: g.step - start as u32, ..*g };
                groups.push(Group {
                    rows: first..row,
                    steps: start..end,
                    grades: grades[first..row].iter().map(own).collect(),
                    d_rows: vec![0.0; (row - first) * shape.hidden],
                });
                first = row;
            }
        }
        Trainer {
            shape,
            isa,
            blocks: Vec::new(),
            groups,
            grads: vec![0.0; shape.net_len()],
            transposed: shape.layers().map(|(out, inp)| vec![0.0; gemm::packed_rows_t_len(out, inp)]).collect(),
        }
    }

    /// Computes the mean cross-entropy of the samples and returns it. Writes its gradient to [`Trainer::grads`]. `weights` must be the
    /// weights of network `net` that `network` contains.
    pub fn gradients(&mut self, network: &Network, net: usize, weights: &[f32], samples: &[Sample]) -> f32 {
        let (shape, isa, ready) = (self.shape, self.isa, &network.nets[net]);
        for (transposed, layer) in self.transposed.iter_mut().zip(shape.upper(&weights[shape.steps_len()..])) {
            gemm::pack_rows_t(isa, layer.w, layer.out, layer.inp, transposed);
        }
        let count = samples.len().div_ceil(BLOCK);
        if self.blocks.len() < count {
            self.blocks.resize_with(count, Block::default);
        }
        let transposed = &self.transposed;
        let share = 1.0 / samples.len() as f32;
        par::each_mut(&mut self.blocks[..count], |i, block| {
            let samples = &samples[i * BLOCK..samples.len().min((i + 1) * BLOCK)];
            block.gradients(isa, shape, ready, transposed, samples, share);
        });
        let (steps, upper) = self.grads.split_at_mut(shape.steps_len());
        upper.fill(0.0);
        let mut loss = 0.0;
        for block in &self.blocks[..count] {
            ops::add_scaled(isa, 1.0, &block.upper, upper);
            loss += block.loss;
        }
        let blocks = &self.blocks[..count];
        let mut parts = split_by(steps, self.groups.iter().map(|g| g.steps.len() * shape.hidden));
        let mut pairs = self.groups.iter_mut().zip(&mut parts);
        let mut work: [_; GROUPS + 1] = std::array::from_fn(|_| pairs.next());
        par::each_mut(&mut work, |_, work| {
            if let Some((group, gradients)) = work {
                group.gather(isa, shape.hidden, blocks, gradients);
            }
        });
        (loss / samples.len() as f64) as f32
    }

    /// Takes one optimizer step of network `net` on `samples` and loads the new weights into `network`.
    pub fn learn(
        &mut self,
        network: &mut Network,
        net: usize,
        weights: &mut [f32],
        [m, v]: [&mut [f32]; 2],
        step: AdamStep,
        samples: &[Sample],
    ) -> StepStats {
        let (shape, isa) = (self.shape, self.isa);
        let loss = self.gradients(network, net, weights, samples);
        let grad_norm = ops::sum_of_squares(isa, &self.grads).sqrt();
        let step = AdamStep { grad_scale: (MOST_NORM / grad_norm.max(1e-12)).min(1.0), ..step };
        let at = shape.steps_len();
        let [(w_low, w_up), (m_low, m_up), (v_low, v_up)] = [weights, m, v].map(|all| all.split_at_mut(at));
        let (g_low, g_up) = self.grads.split_at(at);
        ops::adam(isa, w_up, g_up, m_up, v_up, &step);
        let ready = &mut network.nets[net];
        ready.load_upper(isa, shape, w_up);
        let lens = || self.groups.iter().map(|g| g.steps.len() * shape.hidden);
        let [mut w, mut m, mut v] = [w_low, m_low, v_low].map(|low| split_by(low, lens()));
        let mut tables = split_by(&mut ready.table, self.groups.iter().map(|g| g.rows.len() * shape.hidden));
        let mut parts = w.iter_mut().zip(&mut m).zip(&mut v).zip(&mut tables).zip(&self.groups);
        let mut work: [_; GROUPS + 1] = std::array::from_fn(|_| parts.next());
        par::each_mut(&mut work, |_, work| {
            if let Some(((((w, m), v), table), group)) = work {
                let g = &g_low[group.steps.start * shape.hidden..group.steps.end * shape.hidden];
                ops::adam(isa, w, g, m, v, &step);
                graded::fill(isa, shape.hidden, &group.grades, w, table);
            }
        });
        StepStats { loss, grad_norm }
    }
}

/// Splits a slice into parts of the given lengths. Parts without a length are empty.
fn split_by<T>(mut all: &mut [T], lens: impl Iterator<Item = usize>) -> [&mut [T]; GROUPS + 1] {
    let mut parts: [&mut [T]; GROUPS + 1] = std::array::from_fn(|_| Default::default());
    for (part, len) in parts.iter_mut().zip(lens) {
        let (first, rest) = std::mem::take(&mut all).split_at_mut(len);
        (*part, all) = (first, rest);
    }
    parts
}

impl Block {
    fn gradients(&mut self, isa: Isa, shape: Shape, net: &PackedNet, transposed: &[Vec<f32>], samples: &[Sample], share: f32) {
        let (layout, wide, n) = (inputs::layout(), shape.hidden, samples.len());
        let len = |x: &mut Vec<f32>, len: usize| x.resize(len.max(x.len()), 0.0);
        len(&mut self.hidden, n * wide);
        len(&mut self.d_hidden, n * wide);
        len(&mut self.narrow, shape.depth * n * shape.narrow);
        len(&mut self.d_narrow, shape.depth * n * shape.narrow);
        len(&mut self.logits, n * OUTCOMES);
        len(&mut self.shares, n * OUTCOMES);
        self.upper.resize(shape.upper_len(), 0.0);
        self.rows.clear();
        self.starts.clear();
        self.open.clear();
        for (sample, y) in samples.iter().zip(self.hidden.chunks_exact_mut(wide)) {
            layout.all(&sample.inputs, &mut self.spare);
            graded::sums(isa, wide, &net.table, &[], &self.spare, &[], &mut [], y);
            self.starts.push(self.rows.len());
            self.rows.extend_from_slice(&self.spare);
            self.open.push(sample.open);
        }
        self.starts.push(self.rows.len());
        net.forward_upper(isa, &self.hidden[..n * wide], n, &mut self.narrow, &mut self.logits);
        graded::softmax_open(isa, OUTCOMES, OUTCOMES, &self.logits, &self.open, &mut self.shares);
        // The gradient of the cross-entropy with respect to a logit is the prediction minus the target.
        self.loss = 0.0;
        for (sample, shares) in samples.iter().zip(self.shares.as_chunks_mut::<OUTCOMES>().0) {
            for (predicted, &target) in shares.iter_mut().zip(&sample.target) {
                if target > 0.0 {
                    let ln = math::poly::ln_1(isa, predicted.max(1e-12));
                    self.loss -= f64::from(target) * f64::from(ln);
                }
                *predicted = (*predicted - target) * share;
            }
        }
        let stretch = n * shape.narrow;
        let mut gradients = &mut self.upper[..];
        for (i, (out, inp)) in shape.layers().enumerate().rev() {
            let (rest, layer) = gradients.split_at_mut(gradients.len() - out * inp - out);
            let (dw, db) = layer.split_at_mut(out * inp);
            gradients = rest;
            let (below, here) = self.d_narrow.split_at_mut(i * stretch);
            let dy = if i == shape.depth { &self.shares[..n * OUTCOMES] } else { &here[..stretch] };
            let (x, dx) = match i.checked_sub(1) {
                None => (&self.hidden[..n * wide], &mut self.d_hidden[..n * wide]),
                Some(i) => (&self.narrow[i * stretch..][..stretch], &mut below[i * stretch..]),
            };
            gemm::linear_rows_dw(isa, n, out, inp, dy, x, dw, false);
            ops::sum_cols(isa, n, out, dy, db, false);
            gemm::linear_rows_dx(isa, n, out, inp, dy, &transposed[i], dx, false);
            ops::unary_backward_in_place(isa, ops::Unary::Relu, x, x, dx);
        }
    }
}

impl Group {
    /// Computes the gradients of the group's learned steps. The gradients of the samples are added in a fixed order.
    fn gather(&mut self, isa: Isa, wide: usize, blocks: &[Block], gradients: &mut [f32]) {
        self.d_rows.fill(0.0);
        let (first, end) = (self.rows.start as u16, self.rows.end as u16);
        let mut here = [0u16; inputs::INPUTS + 1];
        for block in blocks {
            for (i, range) in block.starts.windows(2).enumerate() {
                // Finds the sample's rows in this group by binary search, because the rows of a sample are in ascending order.
                let rows = &block.rows[range[0]..range[1]];
                let rows = &rows[rows.partition_point(|&r| r < first)..rows.partition_point(|&r| r < end)];
                for (here, row) in here.iter_mut().zip(rows) {
                    *here = row - first;
                }
                let d = &block.d_hidden[i * wide..(i + 1) * wide];
                graded::scatter(isa, wide, d, &here[..rows.len()], &mut self.d_rows);
            }
        }
        graded::gather_slopes(isa, wide, &self.grades, &self.d_rows, gradients);
    }
}
