//! The soft rollout, forward and backward. Only the states of the steps are kept; going back, a block of cells computes its
//! activations of a step again, all of which fit the second-level cache, and goes back through them at once.

use super::automaton::{Automaton, GateForm};
use super::fire;
use super::train::Rollout;
use graph::Buffer;
use math::logic::{CELLS, Form, Layer, Run, SLACK, SUMS, gather, scatter};
use math::{Isa, par};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The gates of an automaton as kernels want them.
pub(super) struct Network {
    channels: usize,
    /// Channels that pass the perception together.
    group: usize,
    perception: Vec<Layer>,
    update: Vec<Layer>,
    /// The gates of each layer, in `coefficients` and in sums of slopes.
    ranges: Vec<Range<usize>>,
    /// Where each gate is there.
    pub places: Vec<u32>,
    pub coefficients: Vec<[f32; 4]>,
    /// What their slopes need: see [`math::logic::slopes`].
    pub soft: Vec<f32>,
}

impl Network {
    pub fn new(automaton: &Automaton) -> Network {
        let Automaton { architecture, wirings, form, .. } = automaton;
        let (channels, kernels) = (architecture.channels, architecture.kernels);
        let group = if channels.is_multiple_of(2) { 2 } else { 1 };
        let mut perception = Vec::new();
        let mut inputs = 9;
        for (l, wires) in wirings.perception.iter().enumerate() {
            // All kernels read the nine cells, then each its own gates.
            let of = |ends: &[u32]| -> Vec<u32> {
                let shift = |kernel| if l == 0 { 0 } else { kernel * inputs as u32 };
                (0..kernels as u32)
                    .flat_map(|kernel| ends.iter().map(move |end| end + shift(kernel)))
                    .collect()
            };
            let all = if l == 0 { inputs } else { kernels * inputs };
            perception.push(Layer::new(group * CELLS, all, &of(&wires.a), &of(&wires.b)));
            inputs = wires.a.len();
        }
        let said = inputs;
        // The channels, then of each group what its kernels say: [kernel][output][channel of the group].
        let place = |input: u32| {
            let i = input as usize;
            let Some(i) = i.checked_sub(channels) else { return input };
            let (c, output, kernel) = (i / (said * kernels), i / kernels % said, i % kernels);
            let gate = (c / group * kernels + kernel) * said + output;
            (channels + gate * group + c % group) as u32
        };
        let mut update = Vec::new();
        let mut inputs = architecture.update_inputs();
        for (l, wires) in wirings.update.iter().enumerate() {
            let of = |ends: &[u32]| -> Vec<u32> {
                ends.iter().map(|&end| if l == 0 { place(end) } else { end }).collect()
            };
            update.push(Layer::new(CELLS, inputs, &of(&wires.a), &of(&wires.b)));
            inputs = wires.a.len();
        }
        let gates = architecture.gates();
        let mut places = vec![0; gates];
        let mut ranges = Vec::new();
        let mut first = 0;
        for layer in perception.iter().chain(&update) {
            let order = layer.order();
            for (i, &gate) in order.iter().enumerate() {
                places[first + gate as usize] = (first + i) as u32;
            }
            ranges.push(first..first + order.len());
            first += order.len();
        }
        let soft = vec![0.0; gates.div_ceil(16) * 16 * form.width()];
        let coefficients = vec![[0.0; 4]; gates];
        Network { channels, group, perception, update, ranges, places, coefficients, soft }
    }

    /// From the parameters; `noise` is for gates that have some, and without it those are plain mixtures.
    pub fn prepare(&mut self, isa: Isa, automaton: &Automaton, noise: &[f32]) {
        let form = form(automaton.form, noise);
        let Network { places, soft, coefficients, .. } = self;
        math::logic::coefficients(isa, form, &automaton.params, places, soft, coefficients);
    }

    fn width(&self) -> usize {
        self.group * CELLS
    }

    /// Gates that are evaluated for a cell.
    fn work(&self) -> usize {
        let gates = |layers: &[Layer]| layers.iter().map(|layer| layer.order().len()).sum::<usize>();
        self.channels * gates(&self.perception) + gates(&self.update)
    }
}

pub(super) fn form(form: GateForm, noise: &[f32]) -> Form<'_> {
    match form {
        GateForm::Four => Form::Four,
        GateForm::Gumbel { temperature } if !noise.is_empty() => Form::StraightThrough { noise, temperature },
        GateForm::Softmax | GateForm::Gumbel { .. } => Form::Softmax,
    }
}

/// Grids of a batch, `[sample][channel][line][cell]` with a cell more on each side, in blocks of cells.
struct Grids {
    width: usize,
    height: usize,
    periodic: bool,
    batch: usize,
    channels: usize,
    runs: Vec<Run>,
    /// Of each block.
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

    /// Lines of a block and of the grid beside each other, for each channel.
    fn each_run(&self, block: usize, mut f: impl FnMut(Range<usize>, Range<usize>)) {
        for c in 0..self.channels {
            for run in self.runs(block) {
                let (lane, at) = (c * CELLS + run.lane as usize, c * self.plane() + run.at as usize);
                f(lane..lane + run.len as usize, at..at + run.len as usize);
            }
        }
    }

    /// From `[sample][channel][height][width]`.
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

    /// Copies the edges of a periodic grid to where they meet.
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

    /// The opposite for slopes: adds those of the copies to where they came from.
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

/// Gates times cells of a step that another thread is worth.
const PIECE: usize = 1 << 19;

/// What one thread does at a time: some blocks, with sums of its own, so that results do not depend on who did what.
struct Piece {
    blocks: Range<usize>,
    /// The next state: `[block][channel][CELLS]`.
    out: Vec<f32>,
    /// Slopes of the state before, and where in each channel of a sample they are not zero.
    d_grids: Vec<f32>,
    touched: Vec<(usize, Range<usize>)>,
    sums: Buffer,
    loss: f64,
}

/// What a thread needs while it is at a block; what is in it counts no longer than that.
struct Workspace {
    patches: Buffer,
    /// All layers of the perception but the last, of each group.
    inner: Buffer,
    /// What the update reads: the channels, then what the kernels say.
    features: Buffer,
    layers: Buffer,
    d_features: Buffer,
    /// Slopes of the cells that did not fire.
    passed: Buffer,
    /// Slopes of two layers next to each other; where nothing is kept, the activations of such.
    pair: [Buffer; 2],
}

/// What is to be said of the last state.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    /// `[sample][channels][height][width]`
    pub values: &'a [f32],
    pub channels: usize,
}

/// Rollouts of one shape.
pub(super) struct Roller {
    isa: Isa,
    grids: Grids,
    steps: usize,
    fire_rate: Option<f32>,
    /// After so many steps.
    states: Vec<Vec<f32>>,
    /// Which cells fire: of each step, in lanes.
    masks: Vec<Vec<f32>>,
    d_grids: Vec<f32>,
    pieces: Vec<Piece>,
    /// As many as pieces; a piece takes one that is free.
    workspaces: Vec<Mutex<Workspace>>,
}

impl Roller {
    /// One that only goes forward keeps one state and no slopes.
    pub fn new(isa: Isa, network: &Network, rollout: &Rollout, trains: bool) -> Roller {
        let grids = Grids::new(rollout, network.channels);
        let blocks = grids.blocks.len();
        let count = (network.work() * grids.cells() / PIECE).clamp(1, blocks);
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
        Roller {
            isa,
            steps: rollout.steps,
            fire_rate: rollout.fire_rate,
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
                fire(self.isa, seed, rate, [draw as u32, step as u32, sample as u32], mask);
            }
        }
    }

    /// The state after all steps.
    pub fn roll(&mut self, network: &Network, start: &[f32], out: &mut [f32], seed: u32, draw: u64) {
        self.draw_masks(seed, draw);
        self.grids.load(start, &mut self.states[0]);
        for step in 0..self.steps {
            self.forward(network, step, 0);
            self.place(0);
        }
        self.grids.unload(&self.states[0], out);
    }

    /// The loss, summed squared error; what sums of slopes it has for each gate is in [`Roller::sums`].
    pub fn train(&mut self, network: &Network, start: &[f32], target: Target, seed: u32, draw: u64) -> f64 {
        self.draw_masks(seed, draw);
        self.grids.load(start, &mut self.states[0]);
        for piece in &mut self.pieces {
            piece.sums.fill(0.0);
            piece.loss = 0.0;
        }
        let Some(last) = self.steps.checked_sub(1) else { return 0.0 };
        for step in 0..last {
            self.forward(network, step, step);
            self.place(step + 1);
        }
        self.backward(network, last, Some(target));
        for step in (0..last).rev() {
            self.collect();
            self.backward(network, step, None);
        }
        let (first, rest) = self.pieces.split_at_mut(1);
        for piece in rest {
            add(&piece.sums, &mut first[0].sums);
        }
        self.pieces.iter().map(|piece| piece.loss).sum()
    }

    pub fn sums(&self) -> &[f32] {
        &self.pieces[0].sums
    }

    /// A step of every block, from a state to what pieces have.
    fn forward(&mut self, network: &Network, step: usize, state: usize) {
        let Roller { isa, grids, states, masks, pieces, workspaces, .. } = self;
        let (isa, grids, state, workspaces) = (*isa, &*grids, &states[state], &*workspaces);
        let mask = masks.get(step);
        let block_len = grids.channels * CELLS;
        par::each_mut(pieces, |_, piece| {
            with_free(workspaces, |workspace| {
                for (block, out) in piece.blocks.clone().zip(piece.out.chunks_exact_mut(block_len)) {
                    workspace.forward(isa, network, grids, block, state, false);
                    let new = &workspace.pair[(network.update.len() - 1) % 2][..block_len];
                    finish(new, &workspace.features, mask.map(|m| &m[block * CELLS..][..CELLS]), out);
                }
            });
        });
    }

    /// What pieces have becomes a state.
    fn place(&mut self, state: usize) {
        let Roller { grids, states, pieces, .. } = self;
        let state = &mut states[state];
        for piece in pieces {
            for (block, out) in piece.blocks.clone().zip(piece.out.chunks_exact(grids.channels * CELLS)) {
                grids.each_run(block, |lanes, cells| state[cells].copy_from_slice(&out[lanes]));
            }
        }
        grids.close(state);
    }

    /// The slopes that pieces have become those of a state.
    fn collect(&mut self) {
        let Roller { grids, d_grids, pieces, .. } = self;
        d_grids.fill(0.0);
        for piece in pieces {
            for plane in planes(grids, &piece.touched) {
                add(&piece.d_grids[plane.clone()], &mut d_grids[plane]);
            }
        }
        grids.fold(d_grids);
    }

    /// Back through a step of every block: from the slopes of the state after it, or in the last step from the target.
    fn backward(&mut self, network: &Network, step: usize, target: Option<Target>) {
        let Roller { isa, grids, states, masks, d_grids, pieces, workspaces, .. } = self;
        let (isa, grids, d_grids, workspaces) = (*isa, &*grids, &*d_grids, &*workspaces);
        let (state, mask) = (&states[step], masks.get(step));
        let block_len = grids.channels * CELLS;
        par::each_mut(pieces, |_, piece| {
            for plane in planes(grids, &piece.touched) {
                piece.d_grids[plane].fill(0.0);
            }
            with_free(workspaces, |workspace| {
                for block in piece.blocks.clone() {
                    workspace.forward(isa, network, grids, block, state, true);
                    let mask = mask.map(|m| &m[block * CELLS..][..CELLS]);
                    let dy = &mut workspace.pair[0][..block_len];
                    dy.fill(0.0);
                    if let Some(target) = target {
                        let new = workspace.layers.rchunks_exact(block_len).next().unwrap_or(&[]);
                        let out = &mut piece.out[..block_len];
                        finish(new, &workspace.features, mask, out);
                        piece.loss += compare(grids, block, target, out, dy);
                    } else {
                        grids.each_run(block, |lanes, cells| dy[lanes].copy_from_slice(&d_grids[cells]));
                    }
                    let d_grids = (step > 0).then_some(&mut piece.d_grids[..]);
                    workspace.backward(isa, network, grids, block, mask, &mut piece.sums, d_grids);
                }
            });
        });
    }
}

/// The part of each channel that is touched.
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

/// Cells that do not fire stay as they are.
fn finish(new: &[f32], old: &[f32], mask: Option<&[f32]>, out: &mut [f32]) {
    let Some(mask) = mask else { return out.copy_from_slice(new) };
    for ((out, new), old) in out.chunks_exact_mut(CELLS).zip(new.chunks_exact(CELLS)).zip(old.chunks(CELLS)) {
        for i in 0..CELLS {
            out[i] = if mask[i] > 0.0 { new[i] } else { old[i] };
        }
    }
}

/// Loss and slopes of a block's last state.
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

/// There are as many as there are pieces, so one is free.
fn with_free(workspaces: &[Mutex<Workspace>], f: impl FnOnce(&mut Workspace)) {
    let free = workspaces.iter().find_map(|workspace| workspace.try_lock().ok());
    match free {
        Some(mut workspace) => f(&mut workspace),
        None => f(&mut workspaces[0].lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

impl Workspace {
    fn new(network: &Network, trains: bool) -> Workspace {
        let groups = network.channels / network.group;
        let kept = if trains { groups } else { 1 };
        let zeros = Buffer::zeros;
        let inner = network.inner_len();
        let layers = &network.update;
        let all = || network.perception.iter().chain(layers);
        let widest = all().map(|layer| layer.outputs_len()).max().unwrap_or(0).max(9 * network.width());
        let features = layers[0].inputs_len();
        Workspace {
            patches: zeros(kept * 9 * network.width() + SLACK),
            inner: zeros(kept * inner),
            features: zeros(features),
            layers: zeros(if trains { layers.iter().map(Layer::outputs_len).sum() } else { 0 }),
            d_features: zeros(if trains { features } else { 0 }),
            passed: zeros(if trains { network.channels * CELLS } else { 0 }),
            pair: [zeros(widest), zeros(widest)],
        }
    }

    /// What a block becomes. Where all activations are kept, that is the end of `layers`, else of the pair the one that
    /// the last layer's number says.
    fn forward(
        &mut self,
        isa: Isa,
        network: &Network,
        grids: &Grids,
        block: usize,
        state: &[f32],
        keep: bool,
    ) {
        let Network { channels, group, perception, update, ranges, coefficients, .. } = network;
        let width = network.width();
        let runs = grids.runs(block);
        if block == grids.cells() / CELLS {
            self.patches.fill(0.0); // lanes without a cell are zeros, whatever was there before
        }
        let said = perception.last().map_or(0, Layer::outputs_len);
        for g in 0..channels / group {
            let slot = if keep { g } else { 0 };
            let patch = &mut self.patches[slot * 9 * width..];
            let shape = [grids.stride(), grids.plane(), *group];
            gather(isa, runs, shape, &state[g * group * grids.plane()..], patch);
            self.features[g * width..][..width].copy_from_slice(&patch[4 * width..][..width]);
            let inner = &mut self.inner[slot * network.inner_len()..];
            let mut begin = 0;
            for (l, layer) in perception.iter().enumerate() {
                let (before, after) = inner.split_at_mut(begin);
                let x = if l == 0 { &*patch } else { &before[begin - layer.inputs_len()..] };
                let y = if l + 1 == perception.len() {
                    &mut self.features[channels * CELLS + g * said..]
                } else {
                    begin += layer.outputs_len();
                    after
                };
                layer.forward(isa, &coefficients[ranges[l].clone()], x, y);
            }
        }
        let mut begin = 0;
        for (l, layer) in update.iter().enumerate() {
            let coefficients = &coefficients[ranges[perception.len() + l].clone()];
            let (x, y) = if keep {
                let (before, after) = self.layers.split_at_mut(begin);
                let x = if l == 0 { &*self.features } else { &before[begin - layer.inputs_len()..] };
                begin += layer.outputs_len();
                (x, after)
            } else {
                let [even, odd] = &mut self.pair;
                let (x, y) = if l % 2 == 0 { (odd, even) } else { (even, odd) };
                (if l == 0 { &*self.features } else { &**x }, &mut y[..])
            };
            layer.forward(isa, coefficients, x, y);
        }
    }

    /// After a forward pass that kept all: adds to `sums`, and to the slopes of the state before where they are wanted,
    /// from those of the state after, in the first of the pair.
    fn backward(
        &mut self,
        isa: Isa,
        network: &Network,
        grids: &Grids,
        block: usize,
        mask: Option<&[f32]>,
        sums: &mut [f32],
        mut d_grids: Option<&mut [f32]>,
    ) {
        let Network { channels, group, perception, update, ranges, coefficients, .. } = network;
        let width = network.width();
        let [dy, dx] = &mut self.pair;
        let (mut dy, mut dx) = (dy, dx);
        if let Some(mask) = mask {
            for (passed, dy) in self.passed.chunks_exact_mut(CELLS).zip(dy.chunks_exact_mut(CELLS)) {
                for i in 0..CELLS {
                    passed[i] = (1.0 - mask[i]) * dy[i];
                    dy[i] *= mask[i];
                }
            }
        }
        let mut begin = self.layers.len();
        for (l, layer) in update.iter().enumerate().rev() {
            let range = ranges[perception.len() + l].clone();
            begin -= layer.outputs_len();
            let x = if l == 0 { &self.features } else { &self.layers[begin - layer.inputs_len()..] };
            let to = if l == 0 { &mut self.d_features } else { &mut *dx };
            layer.backward(
                isa,
                &coefficients[range.clone()],
                x,
                dy,
                to,
                &mut sums[SUMS * range.start..SUMS * range.end],
            );
            std::mem::swap(&mut dy, &mut dx);
        }
        if mask.is_some() {
            add(&self.passed, &mut self.d_features);
        }
        let said = perception.last().map_or(0, Layer::outputs_len);
        for g in 0..channels / group {
            let patch = &self.patches[g * 9 * width..][..9 * width];
            let inner = &self.inner[g * network.inner_len()..][..network.inner_len()];
            let mut begin = inner.len();
            for (l, layer) in perception.iter().enumerate().rev() {
                let x = if l == 0 {
                    patch
                } else {
                    begin -= layer.inputs_len();
                    &inner[begin..]
                };
                let from = if l + 1 == perception.len() {
                    &self.d_features[channels * CELLS + g * said..]
                } else {
                    &dy[..]
                };
                let range = ranges[l].clone();
                layer.backward(
                    isa,
                    &coefficients[range.clone()],
                    x,
                    from,
                    dx,
                    &mut sums[SUMS * range.start..SUMS * range.end],
                );
                std::mem::swap(&mut dy, &mut dx);
            }
            if let Some(d_grids) = &mut d_grids {
                add(&self.d_features[g * width..][..width], &mut dy[4 * width..]);
                let shape = [grids.stride(), grids.plane(), *group];
                scatter(isa, grids.runs(block), shape, dy, &mut d_grids[g * group * grids.plane()..]);
            }
        }
    }
}

impl Network {
    /// Floats of all layers of the perception but the last, of one group.
    fn inner_len(&self) -> usize {
        self.perception.iter().rev().skip(1).map(Layer::outputs_len).sum()
    }
}
