//! Forward and backward pass of a rollout with soft gates. Soft gates compute with real numbers instead of bits. The forward pass keeps
//! only the state before each step. In the backward pass, a thread processes one block of cells at a time: the thread recomputes the
//! activations of the block, then propagates gradients through these activations. The activations of a block fit into the second-level
//! cache.
//!
//! Each row of a block's array has [`CELLS`] lanes, one for each cell of the block. The prefix `d_` marks an array of gradients.

use super::automaton::{Automaton, GateForm};
use super::fire;
use super::rollout::Rollout;
use math::logic::{CELLS, Form, Layer, Rows, Run, SLACK, SUMS, Slopes, backward, between_len, forward, forward_moved};
use math::logic::{gather, scatter};
use math::{Buffer, Isa, par};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Gates of an automaton in the layout of `math::logic`.
pub(super) struct Network {
    channels: usize,
    /// Number of channels processed together in the perception.
    group: usize,
    /// Number of chunks of kernels. The kernels of a chunk are processed together, so that intermediate values stay in the first-level
    /// cache.
    chunks: usize,
    /// Layers of the perception, for the kernels of one chunk.
    perception: Vec<Layer>,
    update: Vec<Layer>,
    /// For each output of the update network, the memory row that contains the output after [`forward_moved`]. In [`forward_moved`], the
    /// outputs of a layer overwrite values that no gate reads any more.
    moved: Vec<u32>,
    /// Number of memory rows that the update network needs in [`forward_moved`].
    rows: usize,
    /// Index of each gate in `coefficients` and in the gradient sums. Both arrays contain first the layers of each chunk, chunk by chunk,
    /// then the layers of the update network.
    pub places: Vec<u32>,
    /// Coefficients of each gate: see [`super::coefficients`].
    pub coefficients: Vec<[f32; 4]>,
    /// Data with which [`math::logic::slopes`] computes the gradient with respect to the parameters.
    pub soft: Vec<f32>,
}

impl Network {
    pub fn new(automaton: &Automaton) -> Network {
        let Automaton { architecture, wirings, form, .. } = automaton;
        let (channels, kernels) = (architecture.channels, architecture.kernels);
        let group = if channels.is_multiple_of(2) { 2 } else { 1 };
        // The number of kernels in a chunk is limited, so that half of the first-level cache remains for the values of the next layer.
        let most = FIRST_CACHE / (architecture.perception[0] * group * CELLS * 4);
        let chunk = (1..=kernels).rev().find(|&n| kernels.is_multiple_of(n) && n <= most).unwrap_or(1);
        let mut perception = Vec::new();
        let mut inputs = 9;
        for (l, wires) in wirings.perception.iter().enumerate() {
            // The first layer of every kernel reads the nine cells. A later layer reads the previous layer's gates of the same kernel.
            let of = |ends: &[u32]| -> Vec<u32> {
                let shift = |kernel| if l == 0 { 0 } else { kernel * inputs as u32 };
                (0..chunk as u32).flat_map(|kernel| ends.iter().map(move |end| end + shift(kernel))).collect()
            };
            let all = if l == 0 { inputs } else { chunk * inputs };
            perception.push(Layer::new(group * CELLS, all, &of(&wires.a), &of(&wires.b)));
            inputs = wires.a.len();
        }
        let outputs = inputs;
        // The update reads the channels, then for each group the kernels' outputs: [kernel][output][channel of the group].
        let place = |input: u32| {
            let i = input as usize;
            let Some(i) = i.checked_sub(channels) else { return input };
            let (c, output, kernel) = (i / (outputs * kernels), i / kernels % outputs, i % kernels);
            let gate = (c / group * kernels + kernel) * outputs + output;
            (channels + gate * group + c % group) as u32
        };
        let mut update = Vec::new();
        let mut inputs = architecture.update_inputs();
        for (l, wires) in wirings.update.iter().enumerate() {
            let of = |ends: &[u32]| -> Vec<u32> { ends.iter().map(|&end| if l == 0 { place(end) } else { end }).collect() };
            update.push(Layer::new(CELLS, inputs, &of(&wires.a), &of(&wires.b)));
            inputs = wires.a.len();
        }
        let mut rows = Rows::new(architecture.update_inputs(), channels);
        let mut moved: Vec<u32> = (0..architecture.update_inputs() as u32).collect();
        for layer in &mut update {
            moved = layer.move_in(&mut rows, &moved);
        }
        let gates = architecture.gates();
        let chunks = kernels / chunk;
        let mut places = vec![0; gates];
        let (mut first, mut placed) = (0, 0);
        let chunk_gates: usize = perception.iter().map(|layer| layer.order().len()).sum();
        for (l, layer) in perception.iter().chain(&update).enumerate() {
            let order = layer.order();
            let times = if l < perception.len() { chunks } else { 1 };
            for chunk in 0..times {
                for (i, &gate) in order.iter().enumerate() {
                    places[first + gate as usize] = (placed + chunk * chunk_gates + i) as u32;
                }
                first += order.len();
            }
            placed += order.len();
            if l + 1 == perception.len() {
                placed = first;
            }
        }
        let soft = vec![0.0; gates.div_ceil(16) * 16 * form.width()];
        let coefficients = vec![[0.0; 4]; gates];
        Network { channels, group, chunks, perception, update, moved, rows: rows.count(), places, coefficients, soft }
    }

    /// Computes the coefficients from the parameters of `automaton`. `noise` is added to the logits of gates with Gumbel noise. If `noise`
    /// is empty, these gates are computed as softmax gates.
    pub fn prepare(&mut self, isa: Isa, automaton: &Automaton, noise: &[f32]) {
        let form = form(automaton.form, noise);
        let Network { places, soft, coefficients, .. } = self;
        math::logic::coefficients(isa, form, &automaton.params, places, soft, coefficients);
    }

    fn width(&self) -> usize {
        self.group * CELLS
    }

    /// Returns the number of gate evaluations per cell and step.
    fn work(&self) -> usize {
        self.channels * self.chunks * self.chunk(0).len() + self.update_gates().len()
    }

    /// Returns the range of a chunk's gates in `coefficients`.
    fn chunk(&self, chunk: usize) -> Range<usize> {
        let len: usize = self.perception.iter().map(|layer| layer.order().len()).sum();
        chunk * len..(chunk + 1) * len
    }

    fn update_gates(&self) -> Range<usize> {
        self.chunks * self.chunk(0).len()..self.coefficients.len()
    }
}

pub(super) fn form(form: GateForm, noise: &[f32]) -> Form<'_> {
    match form {
        GateForm::Four => Form::Four,
        GateForm::Gumbel { temperature } if !noise.is_empty() => Form::StraightThrough { noise, temperature },
        GateForm::Softmax | GateForm::Gumbel { .. } => Form::Softmax,
    }
}

/// Layout of the grids of a batch, `[sample][channel][line][cell]`. Each grid has a border of one cell. The cells of all samples are split
/// into blocks of [`CELLS`] cells.
struct Grids {
    width: usize,
    height: usize,
    periodic: bool,
    batch: usize,
    channels: usize,
    /// Runs of adjacent cells in a line, in the order of the blocks.
    runs: Vec<Run>,
    /// For each block, the range of its runs in `runs`.
    blocks: Vec<Range<usize>>,
}

impl Grids {
    fn new(rollout: &Rollout, channels: usize) -> Grids {
        let &Rollout { width, height, periodic, batch, .. } = rollout;
        let mut it = Grids { width, height, periodic, batch, channels, runs: vec![], blocks: vec![] };
        let cells = it.cells();
        for first in (0..cells).step_by(CELLS) {
            let begin = it.runs.len();
            let mut cell = first;
            while cell < cells.min(first + CELLS) {
                let (line, x) = (cell / width, cell % width);
                let (sample, y) = (line / height, line % height);
                let len = (width - x).min(first + CELLS - cell);
                let at = sample * channels * it.plane() + (y + 1) * it.stride() + x + 1;
                it.runs.push(Run { lane: (cell - first) as u32, at: at as u32, len: len as u32 });
                cell += len;
            }
            it.blocks.push(begin..it.runs.len());
        }
        it
    }

    fn cells(&self) -> usize {
        self.batch * self.height * self.width
    }

    fn stride(&self) -> usize {
        self.width + 2
    }

    fn plane(&self) -> usize {
        self.stride() * (self.height + 2)
    }

    fn len(&self) -> usize {
        self.batch * self.channels * self.plane() + SLACK
    }

    fn runs(&self, block: usize) -> &[Run] {
        &self.runs[self.blocks[block].clone()]
    }

    /// Calls `f` for each channel and each run of a block. The arguments of `f` are the run's range in the block's arrays and the run's
    /// range in the grids.
    fn each_run(&self, block: usize, mut f: impl FnMut(Range<usize>, Range<usize>)) {
        for c in 0..self.channels {
            for run in self.runs(block) {
                let (lane, at) = (c * CELLS + run.lane as usize, c * self.plane() + run.at as usize);
                f(lane..lane + run.len as usize, at..at + run.len as usize);
            }
        }
    }

    /// Copies cells from `[sample][channel][height][width]` to the grids' layout.
    fn load(&self, from: &[f32], to: &mut [f32]) {
        for (i, line) in from.chunks_exact(self.width).enumerate() {
            let at = i / self.height * self.plane() + (i % self.height + 1) * self.stride() + 1;
            to[at..at + self.width].copy_from_slice(line);
        }
        self.close(to);
    }

    fn unload(&self, from: &[f32], to: &mut [f32]) {
        for (i, line) in to.chunks_exact_mut(self.width).enumerate() {
            let at = i / self.height * self.plane() + (i % self.height + 1) * self.stride() + 1;
            line.copy_from_slice(&from[at..at + self.width]);
        }
    }

    /// Copies the edges of periodic grids to the opposite borders.
    fn close(&self, grids: &mut [f32]) {
        if !self.periodic {
            return;
        }
        let (w, h, stride) = (self.width, self.height, self.stride());
        for plane in grids.chunks_exact_mut(self.plane()) {
            for line in plane[stride..(h + 1) * stride].chunks_exact_mut(stride) {
                (line[0], line[w + 1]) = (line[w], line[1]);
            }
            plane.copy_within(h * stride..(h + 1) * stride, 0);
            plane.copy_within(stride..2 * stride, (h + 1) * stride);
        }
    }

    /// Transpose of [`Self::close`] for gradients: adds each border value to the cell from which [`Self::close`] copies it.
    fn fold(&self, grids: &mut [f32]) {
        if !self.periodic {
            return;
        }
        let (w, h, stride) = (self.width, self.height, self.stride());
        for plane in grids.chunks_exact_mut(self.plane()) {
            for x in 0..stride {
                plane[h * stride + x] += plane[x];
                plane[stride + x] += plane[(h + 1) * stride + x];
            }
            for line in plane[stride..(h + 1) * stride].chunks_exact_mut(stride) {
                line[w] += line[0];
                line[1] += line[w + 1];
            }
        }
    }
}

/// Maximum size, in bytes, of the outputs of the perception's first layer for one chunk of kernels.
const FIRST_CACHE: usize = 1 << 14;

/// Minimum number of gate evaluations of a piece in one step. Less work does not justify another thread.
const PIECE: usize = 1 << 19;

/// Piece of the work of a step. A single thread processes a whole piece. A piece consists of some blocks. Each piece has its own sums, so
/// that results do not depend on the number of threads.
struct Piece {
    blocks: Range<usize>,
    /// Next state of the blocks, `[block][channel][CELLS]`.
    out: Vec<f32>,
    /// Contribution of this piece to the gradient with respect to the state before the step.
    d_grids: Vec<f32>,
    /// Index of each sample that has cells in the blocks, and the range within each channel's grid in which `d_grids` can be nonzero.
    touched: Vec<(usize, Range<usize>)>,
    sums: Buffer,
    loss: f64,
}

/// Scratch memory for one block at a time; no contents are kept between blocks.
struct Workspace {
    patches: Buffer,
    /// Outputs of all layers of the perception except the last.
    inner: Buffer,
    /// Input of the update network: the channels, then the kernels' outputs. If no activations are kept, the outputs of the update
    /// network's layers overwrite the kernels' outputs.
    features: Buffer,
    layers: Buffer,
    /// Output of the update network; in the backward pass, the gradient with respect to this output.
    ends: Buffer,
    d_features: Buffer,
    /// Gradient with respect to the inputs of the perception (the nine cells), for one group of channels.
    d_patch: Buffer,
    /// Gradient with respect to the state before the step, for cells that do not fire.
    passed: Buffer,
    /// Gradients with respect to the outputs of two successive layers. The backward pass alternates between the two buffers.
    pair: [Buffer; 2],
}

/// Target for the last state of a rollout.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    /// Cell values, `[sample][channels][height][width]`.
    pub values: &'a [f32],
    /// Number of channels that are compared with the last state.
    pub channels: usize,
}

/// Executor of rollouts of one shape.
pub(super) struct Roller {
    rolls: Vec<Roll>,
}

/// Rollout of some samples. If every sample has its own pieces, each `Roll` has one sample; otherwise, one `Roll` has the whole batch. A
/// `Roll` never waits for another `Roll` between two steps, because with few cells such a wait would take longer than a step.
struct Roll {
    isa: Isa,
    grids: Grids,
    steps: usize,
    fire_rate: Option<f32>,
    /// Index of this rollout's first sample in the whole batch.
    first: usize,
    /// State before each step. Without training, only the current state is kept.
    states: Vec<Vec<f32>>,
    /// One array per step, with 1 in the lanes of cells that fire and 0 in other lanes. There are no arrays if all cells fire.
    masks: Vec<Vec<f32>>,
    d_grids: Vec<f32>,
    pieces: Vec<Piece>,
    /// One workspace per piece. A thread uses any free workspace.
    workspaces: Vec<Mutex<Workspace>>,
}

impl Roller {
    /// Creates a roller. If `trains` is false, the roller stores only one state and no gradients.
    pub fn new(isa: Isa, network: &Network, rollout: &Rollout, trains: bool) -> Roller {
        let &Rollout { width, height, batch, .. } = rollout;
        let cells = width * height;
        let pieces = (network.work() * cells * batch / PIECE).clamp(1, (cells * batch).div_ceil(CELLS).max(1));
        // `apart` is true if every sample has its own pieces.
        let apart = batch > 0 && cells.is_multiple_of(CELLS) && pieces.is_multiple_of(batch);
        let count = if apart { batch } else { 1 };
        let part = Rollout { batch: batch / count, ..rollout.clone() };
        let roll = |i| Roll::new(isa, network, &part, i * part.batch, pieces / count, trains);
        Roller { rolls: (0..count).map(roll).collect() }
    }

    /// Writes the state at the end of a rollout to `out`. `seed` and `draw` determine which cells fire.
    pub fn roll(&mut self, network: &Network, start: &[f32], out: &mut [f32], seed: u32, draw: u64) {
        let len = start.len() / self.rolls.len();
        par::each_mut(&mut self.rolls, |i, roll| {
            roll.load(&start[i * len..][..len], seed, draw);
            for step in 0..roll.steps {
                roll.forward(network, step, 0);
                roll.place(0);
            }
        });
        for (roll, out) in self.rolls.iter().zip(out.chunks_mut(len.max(1))) {
            roll.grids.unload(&roll.states[0], out);
        }
    }

    /// Runs a rollout forward and backward. Returns the loss, which is the sum of the squared errors. Afterwards, [`Roller::sums`] returns
    /// the sums from which [`math::logic::slopes`] computes the gradient.
    pub fn train(&mut self, network: &Network, start: &[f32], target: Target, seed: u32, draw: u64) -> f64 {
        let count = self.rolls.len();
        let (len, target_len) = (start.len() / count, target.values.len() / count);
        par::each_mut(&mut self.rolls, |i, roll| {
            let values = &target.values[i * target_len..][..target_len];
            roll.load(&start[i * len..][..len], seed, draw);
            roll.train(network, Target { values, ..target });
        });
        let mut pieces = self.rolls.iter_mut().flat_map(|roll| &mut roll.pieces);
        if let Some(first) = pieces.next() {
            pieces.for_each(|piece| add(&piece.sums, &mut first.sums));
        }
        self.rolls.iter().flat_map(|roll| &roll.pieces).map(|piece| piece.loss).sum()
    }

    pub fn sums(&self) -> &[f32] {
        &self.rolls[0].pieces[0].sums
    }
}

impl Roll {
    fn new(isa: Isa, network: &Network, rollout: &Rollout, first: usize, count: usize, trains: bool) -> Roll {
        let grids = Grids::new(rollout, network.channels);
        let blocks = grids.blocks.len();
        let d_len = if trains { grids.len() } else { 0 };
        let pieces = (0..count).map(|i| {
            let blocks = i * blocks / count..(i + 1) * blocks / count;
            let mut touched: Vec<(usize, Range<usize>)> = Vec::new();
            for run in blocks.clone().flat_map(|b| grids.runs(b)) {
                let (sample, at) = (run.at as usize / (grids.channels * grids.plane()), run.at as usize);
                let line = at % grids.plane() / grids.stride();
                let range = (line - 1) * grids.stride()..(line + 2) * grids.stride();
                match touched.last_mut() {
                    Some((last, lines)) if *last == sample => lines.end = range.end,
                    _ => touched.push((sample, range)),
                }
            }
            Piece {
                out: vec![0.0; blocks.len() * grids.channels * CELLS],
                d_grids: vec![0.0; d_len],
                sums: Buffer::zeros(if trains { SUMS * network.coefficients.len() } else { 0 }),
                blocks,
                touched,
                loss: 0.0,
            }
        });
        let pieces: Vec<Piece> = pieces.collect();
        let workspaces = pieces.iter().map(|_| Mutex::new(Workspace::new(network, trains)));
        let lanes = blocks * CELLS;
        let masks = if rollout.fire_rate.is_some() { rollout.steps } else { 0 };
        Roll {
            isa,
            steps: rollout.steps,
            fire_rate: rollout.fire_rate,
            first,
            states: vec![vec![0.0; grids.len()]; if trains { rollout.steps.max(1) } else { 1 }],
            masks: vec![vec![0.0; lanes]; masks],
            d_grids: vec![0.0; d_len],
            workspaces: workspaces.collect(),
            pieces,
            grids,
        }
    }

    fn draw_masks(&mut self, seed: u32, draw: u64) {
        let Some(rate) = self.fire_rate else { return };
        let cells = self.grids.width * self.grids.height;
        for (step, mask) in self.masks.iter_mut().enumerate() {
            for (sample, mask) in mask.chunks_exact_mut(cells).take(self.grids.batch).enumerate() {
                let sample = (self.first + sample) as u32;
                fire(self.isa, seed, rate, [draw as u32, step as u32, sample], mask);
            }
        }
    }

    /// Loads the start and draws the cells that fire.
    fn load(&mut self, start: &[f32], seed: u32, draw: u64) {
        self.draw_masks(seed, draw);
        self.grids.load(start, &mut self.states[0]);
    }

    /// Runs all steps forward and backward.
    fn train(&mut self, network: &Network, target: Target) {
        for piece in &mut self.pieces {
            piece.sums.fill(0.0);
            piece.loss = 0.0;
        }
        let Some(last) = self.steps.checked_sub(1) else { return };
        for step in 0..last {
            self.forward(network, step, step);
            self.place(step + 1);
        }
        self.backward(network, last, Some(target));
        for step in (0..last).rev() {
            self.collect();
            self.backward(network, step, None);
        }
    }

    /// Runs a forward step of every block. Reads `states[state]` and writes the next state to the pieces' `out`.
    fn forward(&mut self, network: &Network, step: usize, state: usize) {
        let Roll { isa, grids, states, masks, pieces, workspaces, .. } = self;
        let (isa, grids, state, workspaces) = (*isa, &*grids, &states[state], &*workspaces);
        let mask = masks.get(step);
        let block_len = grids.channels * CELLS;
        par::each_mut(pieces, |_, piece| {
            with_free(workspaces, |workspace| {
                for (block, out) in piece.blocks.clone().zip(piece.out.chunks_exact_mut(block_len)) {
                    workspace.forward(Block { isa, network, grids, block }, state, false);
                    finish(&workspace.ends, &workspace.features, mask.map(|m| &m[block * CELLS..][..CELLS]), out);
                }
            });
        });
    }

    /// Copies the pieces' `out` to `states[state]`.
    fn place(&mut self, state: usize) {
        let Roll { grids, states, pieces, .. } = self;
        let state = &mut states[state];
        for piece in pieces {
            for (block, out) in piece.blocks.clone().zip(piece.out.chunks_exact(grids.channels * CELLS)) {
                grids.each_run(block, |lanes, cells| state[cells].copy_from_slice(&out[lanes]));
            }
        }
        grids.close(state);
    }

    /// Adds up the pieces' gradients with respect to a state, and writes the sum to `d_grids`.
    fn collect(&mut self) {
        let Roll { grids, d_grids, pieces, .. } = self;
        d_grids.fill(0.0);
        for piece in pieces {
            for plane in planes(grids, &piece.touched) {
                add(&piece.d_grids[plane.clone()], &mut d_grids[plane]);
            }
        }
        grids.fold(d_grids);
    }

    /// Runs a backward step of every block. The last step of the rollout computes the gradient with respect to the next state from
    /// `target`. For other steps, `target` is `None`, and `d_grids` contains the gradient with respect to the next state.
    fn backward(&mut self, network: &Network, step: usize, target: Option<Target>) {
        let Roll { isa, grids, states, masks, d_grids, pieces, workspaces, .. } = self;
        let (isa, grids, d_grids, workspaces) = (*isa, &*grids, &*d_grids, &*workspaces);
        let (state, mask) = (&states[step], masks.get(step));
        let block_len = grids.channels * CELLS;
        par::each_mut(pieces, |_, piece| {
            for plane in planes(grids, &piece.touched) {
                piece.d_grids[plane].fill(0.0);
            }
            with_free(workspaces, |workspace| {
                for block in piece.blocks.clone() {
                    let these = Block { isa, network, grids, block };
                    workspace.forward(these, state, true);
                    let mask = mask.map(|m| &m[block * CELLS..][..CELLS]);
                    let (dy, features) = (&mut workspace.ends, &workspace.features);
                    if let Some(target) = target {
                        let out = &mut piece.out[..block_len];
                        finish(dy, features, mask, out);
                        dy.fill(0.0);
                        piece.loss += compare(grids, block, target, out, dy);
                    } else {
                        dy.fill(0.0);
                        grids.each_run(block, |lanes, cells| dy[lanes].copy_from_slice(&d_grids[cells]));
                    }
                    let d_grids = (step > 0).then_some(&mut piece.d_grids[..]);
                    workspace.backward(these, mask, &mut piece.sums, d_grids);
                }
            });
        });
    }
}

/// Returns the ranges of the touched cells in the grids' array, one range for each channel of each touched sample.
fn planes(grids: &Grids, touched: &[(usize, Range<usize>)]) -> impl Iterator<Item = Range<usize>> {
    let (channels, plane) = (grids.channels, grids.plane());
    touched.iter().flat_map(move |(sample, range)| {
        (0..channels).map(move |c| {
            let first = (sample * channels + c) * plane;
            first + range.start..first + range.end
        })
    })
}

fn add(from: &[f32], to: &mut [f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Writes the next state of a block to `out`: `new` for cells that fire, otherwise `old`. Without a mask, all cells fire.
fn finish(new: &[f32], old: &[f32], mask: Option<&[f32]>, out: &mut [f32]) {
    let Some(mask) = mask else { return out.copy_from_slice(new) };
    for ((out, new), old) in out.chunks_exact_mut(CELLS).zip(new.chunks_exact(CELLS)).zip(old.chunks(CELLS)) {
        for i in 0..CELLS {
            out[i] = if mask[i] > 0.0 { new[i] } else { old[i] };
        }
    }
}

/// Returns the loss of `out`, a block's last state. Writes the gradient of the loss with respect to `out` to `dy`.
fn compare(grids: &Grids, block: usize, target: Target, out: &[f32], dy: &mut [f32]) -> f64 {
    let plane = grids.width * grids.height;
    let mut loss = 0.0;
    for i in 0..CELLS.min(grids.cells() - block * CELLS) {
        let (sample, cell) = ((block * CELLS + i) / plane, (block * CELLS + i) % plane);
        for c in 0..target.channels {
            let error = out[c * CELLS + i] - target.values[(sample * target.channels + c) * plane + cell];
            loss += f64::from(error) * f64::from(error);
            dy[c * CELLS + i] = 2.0 * error;
        }
    }
    loss
}

/// Calls `f` with a free workspace. At least one workspace is free, because each piece uses at most one workspace, and there are as many
/// workspaces as pieces.
fn with_free(workspaces: &[Mutex<Workspace>], f: impl FnOnce(&mut Workspace)) {
    let free = workspaces.iter().find_map(|workspace| workspace.try_lock().ok());
    match free {
        Some(mut workspace) => f(&mut workspace),
        None => f(&mut workspaces[0].lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// A block of cells, with the network and the layout of the grids.
#[derive(Clone, Copy)]
struct Block<'a> {
    isa: Isa,
    network: &'a Network,
    grids: &'a Grids,
    block: usize,
}

impl Workspace {
    fn new(network: &Network, trains: bool) -> Workspace {
        let groups = network.channels / network.group;
        let kept = if trains { groups } else { 1 };
        let zeros = Buffer::zeros;
        let layers = &network.update;
        let all = || network.perception.iter().chain(layers);
        let widest = if trains { all().map(Layer::outputs_len).max().unwrap_or(0) } else { 0 };
        let features = layers[0].inputs_len();
        Workspace {
            patches: zeros(kept * 9 * network.width() + SLACK),
            inner: zeros(between_len(&network.perception)),
            features: zeros(features.max(network.rows * CELLS)),
            layers: zeros(if trains { between_len(layers) } else { 0 }),
            ends: zeros(network.channels * CELLS),
            d_patch: zeros(if trains { 9 * network.width() } else { 0 }),
            d_features: zeros(if trains { features } else { 0 }),
            passed: zeros(if trains { network.channels * CELLS } else { 0 }),
            pair: [zeros(widest), zeros(widest)],
        }
    }

    /// Computes the next state of a block, and writes it to `ends`. If `keep` is true, keeps the activations that the backward pass needs.
    fn forward(&mut self, of: Block, state: &[f32], keep: bool) {
        let Block { isa, network, grids, block } = of;
        let Network { channels, group, chunks, perception, update, coefficients, .. } = network;
        let width = network.width();
        let runs = grids.runs(block);
        if block == grids.cells() / CELLS {
            self.patches.fill(0.0); // lanes without a cell must be 0
        }
        let outputs = perception.last().map_or(0, Layer::outputs_len);
        for g in 0..channels / group {
            let patch = &mut self.patches[if keep { g * 9 * width } else { 0 }..];
            let shape = [grids.stride(), grids.plane(), *group];
            gather(isa, runs, shape, &state[g * group * grids.plane()..], patch);
            self.features[g * width..][..width].copy_from_slice(&patch[4 * width..][..width]);
            for chunk in 0..*chunks {
                let coefficients = &coefficients[network.chunk(chunk)];
                let y = &mut self.features[channels * CELLS + (g * chunks + chunk) * outputs..];
                forward(isa, perception, coefficients, patch, &mut self.inner, y);
            }
        }
        let coefficients = &coefficients[network.update_gates()];
        if keep {
            forward(isa, update, coefficients, &self.features, &mut self.layers, &mut self.ends);
            return;
        }
        forward_moved(isa, update, coefficients, &mut self.features);
        for (new, &row) in self.ends.chunks_exact_mut(CELLS).zip(&network.moved) {
            new.copy_from_slice(&self.features[row as usize * CELLS..][..CELLS]);
        }
    }

    /// Runs the backward pass of a step, after a forward pass whose `keep` is true. Reads the gradient with respect to the next state from
    /// `ends`. Adds the gradients of the gates to `sums`. If `d_grids` is given, also adds the gradient with respect to the state before
    /// the step to `d_grids`.
    fn backward(&mut self, of: Block, mask: Option<&[f32]>, sums: &mut [f32], mut d_grids: Option<&mut [f32]>) {
        let Block { isa, network, grids, block } = of;
        let Network { channels, group, chunks, perception, update, coefficients, .. } = network;
        let width = network.width();
        if let Some(mask) = mask {
            for (passed, dy) in self.passed.chunks_exact_mut(CELLS).zip(self.ends.chunks_exact_mut(CELLS)) {
                for i in 0..CELLS {
                    passed[i] = (1.0 - mask[i]) * dy[i];
                    dy[i] *= mask[i];
                }
            }
        }
        let these = network.update_gates();
        let [even, odd] = &mut self.pair;
        let slopes =
            Slopes { dy: &self.ends, between: [even, odd], dx: &mut self.d_features, adds: false, sums: &mut sums[SUMS * these.start..] };
        backward(isa, update, &coefficients[these], &self.features, &self.layers, slopes);
        if mask.is_some() {
            add(&self.passed, &mut self.d_features);
        }
        let outputs = perception.last().map_or(0, Layer::outputs_len);
        for g in 0..channels / group {
            let patch = &self.patches[g * 9 * width..][..9 * width];
            for chunk in 0..*chunks {
                let (these, inside) = (network.chunk(chunk), perception.len() - 1);
                let (inner, last) = self.inner.split_at_mut(between_len(&perception[..inside]));
                let before = these.len() - perception[inside].order().len();
                let gates = &coefficients[these.clone()];
                forward(isa, &perception[..inside], &gates[..before], patch, inner, last);
                let [even, odd] = &mut self.pair;
                let slopes = Slopes {
                    dy: &self.d_features[channels * CELLS + (g * chunks + chunk) * outputs..],
                    between: [even, odd],
                    dx: &mut self.d_patch,
                    adds: chunk > 0,
                    sums: &mut sums[SUMS * these.start..SUMS * these.end],
                };
                backward(isa, perception, gates, patch, &self.inner, slopes);
            }
            if let Some(d_grids) = &mut d_grids {
                add(&self.d_features[g * width..][..width], &mut self.d_patch[4 * width..]);
                let shape = [grids.stride(), grids.plane(), *group];
                scatter(isa, grids.runs(block), shape, &self.d_patch, &mut d_grids[g * group * grids.plane()..]);
            }
        }
    }
}
