//! Finds the fastest tile of each class of products on this adapter. One product represents each class and is timed with each candidate
//! tile. Programs that are built later use the fastest tile. Without a measurement, a rule selects the tile.
//!
//! All candidates give the same bits, so the results of a run do not depend on the measured times. An adapter's compiler may fuse
//! operations, so that a candidate gives different bits. This candidate is not used.

use super::dispatch::{append, products};
use super::shape::{Product, Side};
use crate::device::{Gpu, lock};
use crate::program::{Memory, Program, Readback, Region, Space};
use crate::tile::{Class, Tile, Tuned, class};
use learn::Fault;
use std::ops::Range;
use std::sync::Mutex;

/// Measured tiles of this process, by the adapter's name.
static FOUND: Mutex<Vec<(String, Tuned)>> = Mutex::new(Vec::new());

/// Time of one product with one tile.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Sizes (m, n, k) of the product.
    pub shape: [usize; 3],
    pub tile: Tile,
    pub product_s: f64,
    /// True if the tile gave the same bits as the rule's tile.
    pub same_bits: bool,
    /// True if later programs use the tile.
    pub chosen: bool,
}

/// Sizes (m, n, k) of the product that represents each class with several candidates. The first sizes are for hardware adapters, the second
/// for software adapters.
const SHAPES: [([usize; 3], [usize; 3]); 4] = [
    ([4096, 256, 256], [512, 64, 64]),
    ([64, 64, 65_536], [64, 64, 2048]),
    ([65_536, 32, 32], [2048, 32, 32]),
    ([2048, 2048, 1024], [2048, 1536, 32]),
];

/// Length and number of stretches, for a measurement without time limit. A stretch is a timed series of replays.
const THOROUGH: Stretches = Stretches { long_s: 0.02, count: 5 };
/// Length and number of stretches, for a measurement that delays a run.
const BRIEF: Stretches = Stretches { long_s: 0.003, count: 3 };

#[derive(Clone, Copy)]
struct Stretches {
    long_s: f64,
    count: usize,
}

impl Gpu {
    /// Times the candidate tiles and selects the fastest for programs that are built later. `now` returns seconds. The measurement takes
    /// about a second and does not block a browser.
    pub async fn tune(&self, now: &dyn Fn() -> f64) -> Result<Vec<Timing>, Fault> {
        self.tune_within(f64::INFINITY, THOROUGH, now).await
    }

    /// Does the same as [`Gpu::tune`], but once per adapter and process, before a run. The measurement takes at most about 0.3 s. A class
    /// that is not measured in this time keeps the rule's tile. Software adapters are not measured.
    pub async fn tune_once(&self, now: &dyn Fn() -> f64) -> Result<(), Fault> {
        const MOST_S: f64 = 0.3;
        if self.about().software {
            return Ok(());
        }
        let name = format!("{} over {}", self.about().name, self.about().backend);
        let found = lock(&FOUND).iter().find(|(of, _)| *of == name).map(|(_, tuned)| tuned.clone());
        match found {
            Some(tuned) => *lock(&self.shared.tuned) = tuned,
            None => {
                self.tune_within(MOST_S, BRIEF, now).await?;
                let tuned = lock(&self.shared.tuned).clone();
                lock(&FOUND).push((name, tuned));
            }
        }
        Ok(())
    }

    /// Does the same as [`Gpu::tune_once`], but blocks.
    #[cfg(not(target_family = "wasm"))]
    pub fn tune_once_blocking(&self, now: &dyn Fn() -> f64) -> Result<(), Fault> {
        pollster::block_on(self.tune_once(now))
    }

    async fn tune_within(&self, most_s: f64, stretches: Stretches, now: &dyn Fn() -> f64) -> Result<Vec<Timing>, Fault> {
        let (began_s, mut timings) = (now(), Vec::new());
        for (shape, small) in SHAPES {
            let [m, n, k] = if self.about().software { small } else { shape };
            let class = class(m, n, k);
            let begin = timings.len();
            let mut bits = Vec::new();
            for tile in class.candidates() {
                if now() - began_s > most_s {
                    // Discards the times of this class, because not all candidates have been timed.
                    timings.truncate(begin);
                    return Ok(timings);
                }
                let mut timed = Timed::new(self, [m, n, k], Some(tile), None)?;
                let product_s = timed.product_s(stretches, now).await?;
                let found = timed.some_bits().await?;
                let same_bits = bits.is_empty() || bits == found;
                if bits.is_empty() {
                    bits = found;
                }
                timings.push(Timing { shape: [m, n, k], tile, product_s, same_bits, chosen: false });
            }
            let eligible = timings[begin..].iter_mut().filter(|timing| timing.same_bits);
            if let Some(best) = eligible.min_by(|a, b| a.product_s.total_cmp(&b.product_s)) {
                best.chosen = true;
                lock(&self.shared.tuned).set(class, best.tile);
            }
        }
        Ok(timings)
    }
}

/// Times a product with the sizes `shape` (m, n, k). Returns the seconds per product of each round. k is the contiguous index of both
/// factors, except for sizes of the class `Gradient`. With `half`, the factors are rounded to f16.
#[cfg(not(target_family = "wasm"))]
pub fn product_rounds_s(gpu: &Gpu, shape: [usize; 3], half: bool, rounds: usize, now: &dyn Fn() -> f64) -> Result<Vec<f64>, Fault> {
    let timed = Timed::new(gpu, shape, None, half.then_some([1.0; 2]))?;
    pollster::block_on(replay_s(&timed.program, &timed.memory, 0..timed.begin, 1, now))?;
    rounds_s(&timed.program, &timed.memory, timed.begin..timed.program.len(), rounds, now)
}

/// A product that is timed. Its factors contain random numbers.
struct Timed {
    program: Program,
    memory: Memory,
    /// Number of dispatches that fill the factors. The dispatches of the product follow.
    begin: usize,
    c: Region,
}

impl Timed {
    fn new(gpu: &Gpu, [m, n, k]: [usize; 3], tile: Option<Tile>, half: Option<[f32; 2]>) -> Result<Timed, Fault> {
        let (mut space, mut program) = (Space::default(), Program::new(gpu));
        let (a, b, c) = (space.floats(m * k), space.floats(k * n), space.floats(m * n));
        let class = class(m, n, k);
        let across = class == Class::Gradient;
        let side = |of: Region, count: usize| if across { Side::new(of.at, 1, count) } else { Side::new(of.at, k, 1) };
        noise(&mut program, &[a, b]);
        let begin = program.len();
        let p = Product { half, ..Product::new([m, n, k], side(a, m), side(b, n), c.at) };
        match tile {
            Some(tile) => append(&mut program, &mut space, &[p], [tile, class.rule()]),
            None => products(&mut program, &mut space, &[p]),
        }
        let memory = space.allocate(gpu)?;
        program.bind(&memory);
        Ok(Timed { program, memory, begin, c })
    }

    async fn product_s(&mut self, stretches: Stretches, now: &dyn Fn() -> f64) -> Result<f64, Fault> {
        replay_s(&self.program, &self.memory, 0..self.begin, 1, now).await?;
        let range = self.begin..self.program.len();
        let stretches_s = stretches_s(&self.program, &self.memory, range, stretches, now).await?;
        // The shortest time is used, because other work on the machine can only lengthen a stretch.
        Ok(stretches_s.into_iter().fold(f64::INFINITY, f64::min))
    }

    /// Returns the bits of the first and the last numbers of c.
    async fn some_bits(&self) -> Result<Vec<u32>, Fault> {
        const MOST: usize = 1 << 14;
        let len = self.c.len as usize;
        let some = len.min(MOST);
        let ends = [self.c.part(0, some), self.c.part(len - some, some)];
        let (found, _) = Readback::new(&self.memory, &ends, &[]).fetch().await?;
        Ok(found.concat().iter().map(|x| x.to_bits()).collect())
    }
}

/// Appends kernels that fill regions with irregular numbers between -1 and 1. Zeros would falsify a measurement: a GPU that multiplies
/// zeros runs cooler and faster.
pub fn noise(program: &mut Program, regions: &[Region]) {
    const BODY: &str = "var x = i * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28u) + 4u)) ^ x) * 277803737u;
    mem[args.at + i] = f32((x >> 8u) ^ (x >> 30u)) / 8388608.0 - 1.0;";
    for region in regions {
        program.for_each("noise", false, &[("at", region.at)], region.len as usize, BODY);
    }
}

/// Returns the seconds per replay of the dispatches in `range`, for each of `rounds` rounds. A round is long enough for a coarse clock. Its
/// replays share one submit, so the cost of the submit is negligible.
#[cfg(not(target_family = "wasm"))]
pub fn rounds_s(program: &Program, memory: &Memory, range: Range<usize>, rounds: usize, now: &dyn Fn() -> f64) -> Result<Vec<f64>, Fault> {
    let stretches = Stretches { long_s: math::rounds::ROUND_S, count: rounds };
    pollster::block_on(stretches_s(program, memory, range, stretches, now))
}

async fn stretches_s(
    program: &Program,
    memory: &Memory,
    range: Range<usize>,
    Stretches { long_s, count }: Stretches,
    now: &dyn Fn() -> f64,
) -> Result<Vec<f64>, Fault> {
    /// Maximum number of dispatches of one submit: a driver may abort a submit that takes seconds.
    const MOST: usize = 4096;
    let mut repeats = 1;
    replay_s(program, memory, range.clone(), repeats, now).await?;
    let mut took_s = replay_s(program, memory, range.clone(), repeats, now).await?;
    while took_s < long_s && repeats * range.len() < MOST {
        // The first stretches are slower than later stretches, so their time is a poor estimate. Each estimate therefore increases the
        // number of repeats at most eightfold.
        repeats = (repeats as f64 * (1.5 * long_s / took_s).clamp(2.0, 8.0)) as usize;
        took_s = replay_s(program, memory, range.clone(), repeats, now).await?;
    }
    let mut stretches_s = vec![took_s / repeats as f64];
    for _ in 1..count {
        stretches_s.push(replay_s(program, memory, range.clone(), repeats, now).await? / repeats as f64);
    }
    Ok(stretches_s)
}

/// Returns the seconds from the submission of `repeats` replays until the GPU reports their end.
async fn replay_s(program: &Program, memory: &Memory, range: Range<usize>, repeats: usize, now: &dyn Fn() -> f64) -> Result<f64, Fault> {
    let gpu = program.gpu();
    let end = Readback::new(memory, &[Region { at: 0, len: 1 }], &[]);
    let began_s = now();
    let mut encoder = gpu.encoder();
    (0..repeats).for_each(|_| program.encode(&mut encoder, range.clone()));
    gpu.submit(encoder);
    end.fetch().await?;
    Ok(now() - began_s)
}
