//! Gates over a grid of packed bits, compared with the same gates on one cell at a time.

use math::packed::{Packed, Program};
use math::rng::Sequence;
use math::{Isa, Rng, par};
use testkit::test;

struct Gates {
    channels: usize,
    inputs: Vec<(u8, u32)>,
    gates: Vec<(u8, u32, u32)>,
    outputs: Vec<u32>,
}

impl Gates {
    fn random(channels: usize, gates: usize, random: &mut Sequence) -> Gates {
        let inputs: Vec<(u8, u32)> = (0..channels as u32).flat_map(|channel| (0..9).map(move |neighbour| (neighbour, channel))).collect();
        let first = inputs.len();
        let gates = (0..gates).map(|i| {
            let mut end = || random.below((first + i) as u32);
            let (a, b) = (end(), end());
            (random.below(16) as u8, a, b)
        });
        let gates: Vec<_> = gates.collect();
        // An output may be an input or a gate, and several outputs may be the same.
        let outputs = (0..channels as u32)
            .map(|channel| if channel % 3 == 2 { random.below(9) } else { (first + gates.len()) as u32 - 1 - channel / 2 })
            .collect();
        Gates { channels, inputs, gates, outputs }
    }

    fn program(&self) -> Program {
        Program::new(&self.inputs, &self.gates, &self.outputs)
    }

    fn step(&self, cells: &[u8], shape: (usize, usize, bool), fires: impl Fn(usize) -> bool) -> Vec<u8> {
        let (width, height, periodic) = shape;
        let at = |channel: u32, x: i64, y: i64| {
            let (w, h) = (width as i64, height as i64);
            let inside = (0..w).contains(&x) && (0..h).contains(&y);
            let (x, y) = (x.rem_euclid(w), y.rem_euclid(h));
            if inside || periodic { cells[((i64::from(channel) * h + y) * w + x) as usize] } else { 0 }
        };
        let mut next = cells.to_vec();
        for cell in (0..width * height).filter(|&cell| fires(cell)) {
            let (x, y) = ((cell % width) as i64, (cell / width) as i64);
            let mut values: Vec<u8> = Vec::new();
            for &(neighbour, channel) in &self.inputs {
                values.push(at(channel, x + i64::from(neighbour % 3) - 1, y + i64::from(neighbour / 3) - 1));
            }
            for &(op, a, b) in &self.gates {
                values.push(op >> (3 - (2 * values[a as usize] + values[b as usize])) & 1);
            }
            for (channel, &wire) in self.outputs.iter().enumerate() {
                next[channel * width * height + cell] = values[wire as usize];
            }
        }
        next
    }
}

fn set(grid: &mut Packed, cells: &[u8]) {
    let (width, height) = (grid.width(), grid.height());
    grid.edit(|channel, row, words| {
        words.fill(0);
        for x in 0..width {
            words[x / 32] |= u32::from(cells[(channel * height + row) * width + x]) << (x % 32);
        }
    });
}

fn get(grid: &Packed) -> Vec<u8> {
    let mut cells = Vec::new();
    for channel in 0..grid.channels() {
        for row in 0..grid.height() {
            let words = grid.row(channel, row);
            cells.extend((0..grid.width()).map(|x| (words[x / 32] >> (x % 32) & 1) as u8));
        }
    }
    cells
}

#[test]
fn packed_grids_equal_single_cells_for_every_shape_and_border() {
    let mut random = Rng::new(5, 1).sequence(0);
    let shapes = [(1, 1), (1, 5), (3, 3), (16, 16), (31, 4), (32, 1), (32, 7), (33, 5), (64, 3), (65, 2), (100, 40), (513, 9)];
    for (number, (width, height)) in shapes.into_iter().enumerate() {
        for periodic in [false, true] {
            let gates = Gates::random(1 + number % 4, 10 + 30 * number, &mut random);
            let start: Vec<u8> = (0..gates.channels * width * height).map(|_| random.below(2) as u8).collect();
            let fire = |step: usize, cell: usize| Rng::new(step as u32, 2).block([cell as u32, 0, 0, 0])[0] % 5 < 3;
            for asynchronous in [false, true] {
                let mut cells = start.clone();
                for step in 0..3 {
                    cells = gates.step(&cells, (width, height, periodic), |cell| !asynchronous || fire(step, cell));
                }
                for isa in Isa::available() {
                    let program = gates.program();
                    let mut grid = Packed::new(&program, width, height, periodic);
                    set(&mut grid, &start);
                    assert!(get(&grid) == start);
                    for step in 0..3 {
                        let row = |row: usize, words: &mut [u32]| {
                            for x in 0..width {
                                words[x / 32] |= u32::from(fire(step, row * width + x)) << (x % 32);
                            }
                        };
                        grid.step(isa, &program, if asynchronous { Some(&row) } else { None });
                    }
                    assert!(get(&grid) == cells, "{width}x{height} {periodic} {asynchronous} {isa:?}");
                }
            }
        }
    }
}

/// The grid is large enough to be divided into several bands.
#[test]
fn packed_grids_do_not_depend_on_threads() {
    let mut random = Rng::new(6, 1).sequence(0);
    let gates = Gates::random(2, 400, &mut random);
    let (width, height) = (1000, 301);
    let start: Vec<u8> = (0..2 * width * height).map(|_| random.below(2) as u8).collect();
    let mut twin = start.clone();
    for _ in 0..2 {
        twin = gates.step(&twin, (width, height, true), |_| true);
    }
    for threads in [1, 3] {
        let Some(threads) = par::Threads::of(threads) else { continue };
        let program = gates.program();
        let mut grid = Packed::new(&program, width, height, true);
        set(&mut grid, &start);
        threads.run(|| (0..2).for_each(|_| grid.step(Isa::best(), &program, None)));
        assert!(get(&grid) == twin);
    }
}

#[test]
fn programs_reuse_slots_and_omit_unused_gates() {
    // The gates form a chain: each gate reads the previous gate and a cell.
    let inputs: Vec<(u8, u32)> = (0..9).map(|neighbour| (neighbour, 0)).collect();
    let mut gates: Vec<(u8, u32, u32)> = (0..1000).map(|i| (6, if i == 0 { 0 } else { 8 + i }, 1)).collect();
    gates.push((1, 2, 3));
    let program = Program::new(&inputs, &gates, &[8 + 1000]);
    assert_eq!((program.gates(), program.slots()), (1000, 2));
}
