//! Logic gates over grids of bits, one bit per cell. One instruction computes a gate's output for as many cells as a vector has bits.
//!
//! A row is a leading word, followed by words of 32 cells each. The lowest bit of a word is its first cell. A row also stores the two cells
//! beyond its ends. The left one is the highest bit of the leading word. The right one is the bit after the last cell; if the last word is
//! full, it is the lowest bit of the next row's leading word. Rows are adjacent in memory. A load at an offset, followed by a shift, gives
//! the neighbours of the cells of a word. The gates process blocks of words, which may span several rows. A slot is memory for one value of
//! a block, such as the output of a gate. Slots are reused, so that they stay in the first-level cache.
//!
//! The rows are divided into bands; the number of bands depends on the sizes of the grid and the program. Each band also stores copies of
//! the rows before and after it. Threads share the bands.

use crate::isa::{Isa, Kernel, Simd, dispatch};
use crate::par;

/// Number of cells in a neighbourhood. The cells are indexed row by row; index 4 is the central cell.
pub const NEIGHBOURS: usize = 9;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Loads one channel of one neighbour of each cell into slot `to`. `neighbour` is an index below [`NEIGHBOURS`].
    Load { channel: u32, neighbour: u8, to: u32 },
    /// Applies an operation to the slots `a` and `b`, and stores the result in slot `to`.
    Gate { op: u8, a: u32, b: u32, to: u32 },
    /// Stores the value of slot `from` as the next state of a channel.
    Store { channel: u32, from: u32 },
}

/// Gates in evaluation order, with the loads of inputs and the stores of outputs. Each value is in a memory slot, which is reused when the
/// value is no longer needed.
#[derive(Clone, Debug)]
pub struct Program {
    steps: Vec<Step>,
    slots: usize,
    channels: usize,
}

impl Program {
    /// Creates a program. An input is (neighbour, channel), a gate is (operation, a, b), and `outputs` has one entry per channel. The
    /// operands a and b and the entries of `outputs` are indices into one list: all inputs, then all gates. Bit 3 - 2p - q of an operation
    /// is its result for the operand values p and q. Gates that no output depends on are omitted.
    pub fn new(inputs: &[(u8, u32)], gates: &[(u8, u32, u32)], outputs: &[u32]) -> Program {
        let (first, channels) = (inputs.len(), outputs.len());
        for &(neighbour, channel) in inputs {
            assert!(usize::from(neighbour) < NEIGHBOURS && (channel as usize) < channels, "an input is of the grid");
        }
        let mut last = vec![usize::MAX; first + gates.len()]; // for each input and gate: the last gate that reads it
        let mut stores = vec![Vec::new(); first + gates.len()];
        for (channel, &wire) in outputs.iter().enumerate() {
            stores[wire as usize].push(channel as u32);
        }
        for (i, &gate) in gates.iter().enumerate().rev() {
            let wire = first + i;
            if stores[wire].is_empty() && last[wire] == usize::MAX {
                continue;
            }
            for end in ends(gate).into_iter().flatten() {
                assert!((end as usize) < wire, "a gate comes after those it reads");
                if last[end as usize] == usize::MAX {
                    last[end as usize] = i;
                }
            }
        }
        let mut program = Program { steps: Vec::new(), slots: 0, channels };
        let mut free: Vec<u32> = Vec::new();
        let mut slot = vec![u32::MAX; first + gates.len()];
        for (i, &(op, a, b)) in gates.iter().enumerate() {
            let wire = first + i;
            if stores[wire].is_empty() && last[wire] == usize::MAX {
                continue;
            }
            let read = ends((op, a, b));
            for end in read.into_iter().flatten().map(|end| end as usize) {
                if end < first && slot[end] == u32::MAX {
                    slot[end] = program.slot(&mut free);
                    let ((neighbour, channel), to) = (inputs[end], slot[end]);
                    program.steps.push(Step::Load { channel, neighbour, to });
                }
            }
            let place = read.map(|end| end.map_or(0, |end| slot[end as usize]));
            for (j, end) in read.into_iter().enumerate().filter_map(|(j, end)| Some((j, end?))) {
                if last[end as usize] == i && !(j == 1 && read[0] == Some(end)) {
                    free.push(slot[end as usize]);
                }
            }
            slot[wire] = program.slot(&mut free);
            program.steps.push(Step::Gate { op, a: place[0], b: place[1], to: slot[wire] });
            for &channel in &stores[wire] {
                program.steps.push(Step::Store { channel, from: slot[wire] });
            }
            if last[wire] == usize::MAX {
                free.push(slot[wire]);
            }
        }
        for (&(neighbour, channel), stores) in inputs.iter().zip(&stores) {
            for &to in stores {
                let slot = program.slot(&mut free);
                program.steps.push(Step::Load { channel, neighbour, to: slot });
                program.steps.push(Step::Store { channel: to, from: slot });
                free.push(slot);
            }
        }
        program
    }

    fn slot(&mut self, free: &mut Vec<u32>) -> u32 {
        free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots as u32 - 1
        })
    }

    /// Returns the number of gates that are evaluated. Omitted gates do not count.
    pub fn gates(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Gate { .. })).count()
    }

    /// Returns the number of slots: the maximum number of values that are needed at the same time.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the number of words in a block, for a grid of `words` words. A long block needs fewer branches per word. A short block is
    /// used if the slots of a long block exceed [`FIRST_CACHE`], or if the grid is shorter than a long block.
    fn block(&self, words: usize) -> usize {
        if self.slots * BLOCK <= FIRST_CACHE && words >= BLOCK { BLOCK } else { SHORT_BLOCK }
    }
}

/// Returns the operands a and b of a gate; `None` for an operand that the gate's output does not depend on.
fn ends((op, a, b): (u8, u32, u32)) -> [Option<u32>; 2] {
    let bit = |k: u8| op >> k & 1;
    let (by_a, by_b) = ((bit(3), bit(2)) != (bit(1), bit(0)), (bit(3), bit(1)) != (bit(2), bit(0)));
    [by_a.then_some(a), by_b.then_some(b)]
}

const BLOCK: usize = 128;
const SHORT_BLOCK: usize = 32;
/// Maximum number of words for the slots, so that the slots stay in the first-level cache.
const FIRST_CACHE: usize = 6 << 10;
/// Number of words before the row that precedes a band, so that loads to the left of this row are valid.
const FRONT: usize = 16;
/// Amount of work that justifies another thread: number of words times number of steps of the program. This work takes about 50 µs.
const BAND_WORK: usize = 1 << 20;
const MOST_BANDS: usize = 32;

/// Function `fires(row, words)` that marks the cells of a row that may change, by setting their bits in `words`. All bits of `words` are 0
/// before the call.
pub type Fires<'a> = &'a (dyn Fn(usize, &mut [u32]) + Sync);

/// A grid of cells; each cell has one bit per channel.
pub struct Packed {
    channels: usize,
    width: usize,
    height: usize,
    /// True if opposite borders are joined, so that the grid has no edge.
    periodic: bool,
    /// Number of words of a row, including the leading word.
    stride: usize,
    block: usize,
    bands: Vec<Band>,
    /// Copies of the first and the last row of each band: `[band][channel][2][stride]`.
    edges: Vec<u32>,
}

struct Band {
    first: usize,
    rows: usize,
    /// Current state. Each channel has [`FRONT`] words, the row before the band, the band's rows and the row after the band. The words
    /// after these rows exist because the last block may read beyond them.
    now: Vec<u32>,
    /// Next state, in the layout of `now`.
    next: Vec<u32>,
    slots: Vec<u32>,
    /// Marks of the cells that a step may change, as rows of one channel. Empty until a step uses [`Fires`].
    fires: Vec<u32>,
}

impl Packed {
    /// Creates a grid for this program, with all bits 0. Cells beyond the border are 0, unless `periodic` joins opposite borders.
    pub fn new(program: &Program, width: usize, height: usize, periodic: bool) -> Packed {
        assert!(width > 0 && height > 0 && program.channels > 0, "a grid has cells, and these channels");
        let shape = Shape::of(program, width, height);
        let Shape { stride, block, bands: count } = shape;
        let bands: Vec<Band> = (0..count)
            .map(|i| {
                let (first, end) = (i * height / count, (i + 1) * height / count);
                let planes = program.channels * shape.plane(end - first);
                Band {
                    first,
                    rows: end - first,
                    now: vec![0; planes],
                    next: vec![0; planes],
                    slots: vec![0; program.slots * block + ALIGNED],
                    fires: Vec::new(),
                }
            })
            .collect();
        let edges = vec![0; count * program.channels * 2 * stride];
        Packed { channels: program.channels, width, height, periodic, stride, block, bands, edges }
    }

    /// Returns the approximate number of bytes of a grid of this size. `fires` is true if steps will use [`Fires`].
    pub fn bytes(program: &Program, width: usize, height: usize, fires: bool) -> u64 {
        let shape = Shape::of(program, width, height);
        let (channels, bands) = (program.channels as u64, shape.bands as u64);
        let rows = (height as u64 + 2 * bands).saturating_mul(shape.stride as u64);
        let words = rows.saturating_mul(2 * channels + u64::from(fires))
            + bands * (2 * channels * (FRONT + shape.block + 1) as u64 + (program.slots * shape.block) as u64);
        words.saturating_mul(4)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns one channel of a row, in words of 32 cells. The bits beyond the grid's width have no meaning.
    pub fn row(&self, channel: usize, row: usize) -> &[u32] {
        let band = self.bands.partition_point(|band| band.first + band.rows <= row);
        let band = &self.bands[band];
        let at = self.place(band, channel, row - band.first);
        &band.now[at..at + self.stride - 1]
    }

    /// Calls `write(channel, row, words)` for every row of every channel; the function may change the words.
    pub fn edit(&mut self, mut write: impl FnMut(usize, usize, &mut [u32])) {
        for i in 0..self.bands.len() {
            for channel in 0..self.channels {
                for row in 0..self.bands[i].rows {
                    let at = self.place(&self.bands[i], channel, row);
                    let band = &mut self.bands[i];
                    write(channel, band.first + row, &mut band.now[at..at + self.stride - 1]);
                }
            }
        }
        self.join();
    }

    /// Returns the offset in `band.now` of the word with the row's first cell. `row` is counted from the band's first row.
    fn place(&self, band: &Band, channel: usize, row: usize) -> usize {
        channel * (band.now.len() / self.channels) + FRONT + (row + 1) * self.stride + 1
    }

    /// Performs one step. If `fires` is given, only the cells that it marks may change; otherwise all cells may change.
    pub fn step(&mut self, isa: Isa, program: &Program, fires: Option<Fires>) {
        assert_eq!(program.channels, self.channels, "the grid is one for this program");
        assert_eq!(self.block, Shape::of(program, self.width, self.height).block, "the grid is one for this program");
        let (stride, block) = (self.stride, self.block);
        par::each_mut(&mut self.bands, |_, band| {
            if let Some(fires) = fires {
                band.fires.clear();
                band.fires.resize(band.rows * stride + block, 0);
                for row in 0..band.rows {
                    fires(band.first + row, &mut band.fires[row * stride + 1..(row + 1) * stride]);
                }
            }
            let aligned = band.slots.as_ptr().align_offset(4 * ALIGNED).min(ALIGNED);
            let run = Run {
                program,
                stride,
                rows: band.rows,
                now: &band.now,
                next: &mut band.next,
                slots: &mut band.slots[aligned..],
                fires: fires.is_some().then_some(&*band.fires),
            };
            match block {
                BLOCK => dispatch(isa, Blocks::<BLOCK>(run)),
                _ => dispatch(isa, Blocks::<SHORT_BLOCK>(run)),
            }
            std::mem::swap(&mut band.now, &mut band.next);
        });
        self.join();
    }

    /// Copies into each band the rows before and after it from other bands, and sets the bits beyond the ends of each row.
    fn join(&mut self) {
        let (channels, stride, height) = (self.channels, self.stride, self.height);
        for (i, band) in self.bands.iter().enumerate() {
            let plane = band.now.len() / channels;
            for channel in 0..channels {
                for (edge, row) in [1, band.rows].into_iter().enumerate() {
                    let to = ((i * channels + channel) * 2 + edge) * stride;
                    let from = channel * plane + FRONT + row * stride;
                    self.edges[to..to + stride].copy_from_slice(&band.now[from..from + stride]);
                }
            }
        }
        let (edges, width, periodic, count) = (&self.edges, self.width, self.periodic, self.bands.len());
        par::each_mut(&mut self.bands, |i, band| {
            let plane = band.now.len() / channels;
            for (channel, cells) in band.now.chunks_mut(plane).enumerate() {
                let edge = |band: usize, edge: usize| {
                    let at = ((band * channels + channel) * 2 + edge) * stride;
                    &edges[at..at + stride]
                };
                let (before, after) = (FRONT, FRONT + (band.rows + 1) * stride);
                match periodic || band.first > 0 {
                    true => cells[before..before + stride].copy_from_slice(edge((i + count - 1) % count, 1)),
                    false => cells[before..before + stride].fill(0),
                }
                match periodic || band.first + band.rows < height {
                    true => cells[after..after + stride].copy_from_slice(edge((i + 1) % count, 0)),
                    false => cells[after..after + stride].fill(0),
                }
                ends_of_rows(cells, width, stride, band.rows + 2, periodic);
            }
        });
    }
}

/// Writes the bits before the first cell and after the last cell of each row: copies of the cells at the other end if the grid is periodic,
/// otherwise 0.
fn ends_of_rows(cells: &mut [u32], width: usize, stride: usize, rows: usize, periodic: bool) {
    let (beyond, joined) = (width % 32, u32::from(periodic));
    cells[FRONT] = 0;
    for at in (0..rows).map(|row| FRONT + row * stride) {
        let (first, last) = (cells[at + 1] & joined, cells[at + stride - 1] >> ((width - 1) % 32) & joined);
        cells[at] |= last << 31;
        if beyond == 0 {
            cells[at + stride] = first;
        } else {
            let word = cells[at + stride - 1] & ((1 << beyond) - 1);
            cells[at + stride - 1] = word | first << beyond;
            cells[at + stride] = 0;
        }
    }
}

/// Division of a grid into rows, blocks and bands.
struct Shape {
    stride: usize,
    block: usize,
    bands: usize,
}

impl Shape {
    fn of(program: &Program, width: usize, height: usize) -> Shape {
        let stride = width.div_ceil(32) + 1;
        let words = stride.saturating_mul(height);
        let bands = words.saturating_mul(program.steps.len()) / BAND_WORK;
        Shape { stride, block: program.block(words), bands: bands.clamp(1, MOST_BANDS).min(height) }
    }

    /// Returns the number of words that a band with `rows` rows stores for one channel.
    fn plane(&self, rows: usize) -> usize {
        FRONT + (rows + 2) * self.stride + self.block + 1
    }
}

/// Number of words in a cache line.
const ALIGNED: usize = 16;

struct Run<'a> {
    program: &'a Program,
    stride: usize,
    rows: usize,
    now: &'a [u32],
    next: &'a mut [u32],
    slots: &'a mut [u32],
    fires: Option<&'a [u32]>,
}

/// A [`Run`] whose blocks have a constant number of words.
struct Blocks<'a, const WORDS: usize>(Run<'a>);

impl<const WORDS: usize> Kernel for Blocks<'_, WORDS> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, s: S) {
        let Run { program, stride, rows, now, next, slots, fires } = self.0;
        let (words, plane) = (rows * stride, now.len() / program.channels);
        let most = words.div_ceil(WORDS) * WORDS;
        // All accesses below are within the asserted bounds, because a program's channel and slot indices are below the numbers of channels
        // and slots.
        assert!(now.len() == program.channels * plane && next.len() == now.len());
        assert!(plane > FRONT + 2 * stride + most);
        assert!(slots.len() >= program.slots * WORDS);
        assert!(fires.is_none_or(|fires| fires.len() >= most));
        let ones = s.splat_u(u32::MAX);
        let values = slots.as_mut_ptr();
        for block in (0..words).step_by(WORDS) {
            for step in &program.steps {
                // SAFETY: as asserted above.
                unsafe {
                    match *step {
                        Step::Load { channel, neighbour, to } => {
                            let row = FRONT + usize::from(neighbour / 3) * stride + block;
                            let from = now.as_ptr().add(channel as usize * plane + row);
                            let to = values.add(to as usize * WORDS);
                            macro_rules! load {
                                (|$v:ident| $e:expr) => {
                                    for v in (0..WORDS).step_by(S::LANES) {
                                        let $v = from.add(v);
                                        s.store_u_ptr($e, to.add(v));
                                    }
                                };
                            }
                            match neighbour % 3 {
                                0 => load!(|p| s.or_u(s.shl_u(s.load_u_ptr(p), 1), s.shr_u(s.load_u_ptr(p.sub(1)), 31))),
                                1 => load!(|p| s.load_u_ptr(p)),
                                _ => load!(|p| s.or_u(s.shr_u(s.load_u_ptr(p), 1), s.shl_u(s.load_u_ptr(p.add(1)), 31))),
                            }
                        }
                        Step::Gate { op, a, b, to } => {
                            let (a, b) = (values.add(a as usize * WORDS), values.add(b as usize * WORDS));
                            let to = values.add(to as usize * WORDS);
                            macro_rules! gate {
                                (|$a:ident, $b:ident| $e:expr) => {
                                    for v in (0..WORDS).step_by(S::LANES) {
                                        let ($a, $b) = (s.load_u_ptr(a.add(v)), s.load_u_ptr(b.add(v)));
                                        s.store_u_ptr($e, to.add(v));
                                    }
                                };
                                (|$a:ident of $p:ident| $e:expr) => {
                                    for v in (0..WORDS).step_by(S::LANES) {
                                        let $a = s.load_u_ptr($p.add(v));
                                        s.store_u_ptr($e, to.add(v));
                                    }
                                };
                                ($e:expr) => {
                                    for v in (0..WORDS).step_by(S::LANES) {
                                        s.store_u_ptr($e, to.add(v));
                                    }
                                };
                            }
                            match op & 15 {
                                0 => gate!(s.splat_u(0)),
                                1 => gate!(|a, b| s.and_u(a, b)),
                                2 => gate!(|a, b| s.and_u(a, s.xor_u(b, ones))),
                                3 => gate!(|a of a| a),
                                4 => gate!(|a, b| s.and_u(s.xor_u(a, ones), b)),
                                5 => gate!(|b of b| b),
                                6 => gate!(|a, b| s.xor_u(a, b)),
                                7 => gate!(|a, b| s.or_u(a, b)),
                                8 => gate!(|a, b| s.xor_u(s.or_u(a, b), ones)),
                                9 => gate!(|a, b| s.xor_u(s.xor_u(a, b), ones)),
                                10 => gate!(|b of b| s.xor_u(b, ones)),
                                11 => gate!(|a, b| s.or_u(a, s.xor_u(b, ones))),
                                12 => gate!(|a of a| s.xor_u(a, ones)),
                                13 => gate!(|a, b| s.or_u(s.xor_u(a, ones), b)),
                                14 => gate!(|a, b| s.xor_u(s.and_u(a, b), ones)),
                                _ => gate!(ones),
                            }
                        }
                        Step::Store { channel, from } => {
                            let at = channel as usize * plane + FRONT + stride + block;
                            let (old, to) = (now.as_ptr().add(at), next.as_mut_ptr().add(at));
                            let from = values.add(from as usize * WORDS);
                            let Some(fires) = fires else {
                                for v in (0..WORDS).step_by(S::LANES) {
                                    s.store_u_ptr(s.load_u_ptr(from.add(v)), to.add(v));
                                }
                                continue;
                            };
                            let fires = fires.as_ptr().add(block);
                            for v in (0..WORDS).step_by(S::LANES) {
                                let mask = s.load_u_ptr(fires.add(v));
                                let (new, old) = (s.load_u_ptr(from.add(v)), s.load_u_ptr(old.add(v)));
                                let kept = s.and_u(old, s.xor_u(mask, ones));
                                s.store_u_ptr(s.or_u(s.and_u(new, mask), kept), to.add(v));
                            }
                        }
                    }
                }
            }
        }
    }
}
